"""The trajectories of a teaching session as a table: features, reward, and what was written about each.

index, id            which trajectory it is; no id where there are none
one a feature        by its name; the levels of a category by their names
shown                in how many questions
reward, std          in standard deviations above the average trajectory; nothing while it is too early
acceptable           the probability of that; nothing where no answer has said what is
tags, note           tags as a JSON list
"""

import json
from typing import Any

from prefero.pools.pool import Pool
from prefero.studies.log.annotations import NO_REMARKS
from prefero.studies.log.event_log import EventLog
from prefero.studies.reports.pool_page import PoolRewards, shown_counts

FIRST, LAST = ("index", "id"), ("shown", "reward", "std", "acceptable", "tags", "note")


def trajectory_columns(pool: Pool) -> list[str]:
    """The columns; a feature with the name of another column gets "feature " before it."""
    return [*FIRST, *_feature_columns(pool), *LAST]


def trajectory_rows(pool: Pool, log: EventLog, rewards: PoolRewards | None) -> list[dict[str, Any]]:
    """One row a trajectory, in the order of the pool."""
    columns = [_texts(pool, place) for place in range(len(pool.scaling.variables))]
    shown, found = shown_counts(log, len(pool)), log.trajectory_remarks
    rows = []
    for index in range(len(pool)):
        remarks = found.get(index, NO_REMARKS)
        rows.append(
            {"index": index, "id": "" if pool.ids is None else pool.ids[index]}
            | dict(zip(_feature_columns(pool), (column[index] for column in columns), strict=True))
            | {"shown": int(shown[index]), **_reward(rewards, index)}
            | {"tags": tags_in_csv(remarks.tags), "note": remarks.note}
        )
    return rows


def tags_in_csv(tags: tuple[str, ...] | list[str]) -> str:
    """Tags, which may have commas and spaces, as JSON; nothing without any."""
    return json.dumps(list(tags), ensure_ascii=False) if tags else ""


def _feature_columns(pool: Pool) -> list[str]:
    taken = {*FIRST, *LAST}
    names = [variable.name for variable in pool.scaling.variables]
    return [f"feature {name}" if name in taken else name for name in names]


def _texts(pool: Pool, place: int) -> list[Any]:
    """A feature of all trajectories: numbers, or the names of levels."""
    variable = pool.scaling.variables[place]
    values = variable.values(pool.features).tolist()
    if variable.categories is None:
        return list(values)
    return [variable.categories.levels[round(value)] for value in values]


def _reward(rewards: PoolRewards | None, index: int) -> dict[str, float | None]:
    if rewards is None:
        return {"reward": None, "std": None, "acceptable": None}
    acceptable = None if rewards.acceptable is None else float(rewards.acceptable[index])
    return {"reward": float(rewards.mean[index]), "std": float(rewards.std[index]), "acceptable": acceptable}
