"""What only the teacher may see: what was learned, the history, and what to take home."""

import io
from typing import Any, Literal

from fastapi import APIRouter, Response

from prefero._support.files import csv_text
from prefero._support.optional import need
from prefero.server.auth import Here, OwnTeaching
from prefero.server.routes.session import Identifier, Key, Sent
from prefero.studies.displays import units_of
from prefero.studies.event_log import Log
from prefero.studies.learning_summary import insight as insight_of
from prefero.studies.learning_summary import sentence
from prefero.studies.session import Moment

router = APIRouter(prefix="/api")

PARQUET = "application/vnd.apache.parquet"
PYTHON = """import prefero

reward = prefero.load_reward("reward.json")
print(reward)                      # {features}

features = {example}  # one row a trajectory
print(reward(features))            # how good each one is

mean, std = reward.predict(features, return_std=True)
print(mean - 2 * std)              # a cautious robot maximises this
print(reward.predict_proba(features[:1], features[1:]))  # P(the first is preferred)
"""


def _content(kind: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {kind: {}}}}


class Change(Sent):
    """An answer of the history is deleted or restored."""

    key: Key
    question: Identifier
    change: Literal["delete", "restore"]


@router.get("/insight")
def insight(own: OwnTeaching, here: Here) -> dict[str, Any]:
    """What was learned so far."""
    log, learner = own.store.log(own.person), own.learner()
    with here.turns.mine():
        units = units_of(here.store.display(own.study))
        return insight_of(log, learner, units, log.open.question if log.open else None)


@router.get("/history")
def history(own: OwnTeaching) -> dict[str, Any]:
    """Every answer, deleted ones too."""
    return {"answers": rows(own.store.log(own.person), deleted=True)}


@router.post("/history")
def change(what: Change, own: OwnTeaching) -> Moment:
    """Delete an answer, or restore it."""
    return own.change(what.question, what.change, what.key)


@router.get("/finish")
def finish(own: OwnTeaching) -> dict[str, Any]:
    """The robot's best, and how to use what was learned."""
    learner = own.learner()
    reward = learner.reward()
    best, names = reward.best(own.pool), ", ".join(own.pool.names)
    example = own.pool.features[[best.index, 0 if best.index else 1]].round(3).tolist()
    return {
        "best": {"index": best.index, "mean": best.mean, "std": best.std},
        "answers": len(learner.answers),
        "python": PYTHON.format(features=names, example=example),
        "looks": sentence(reward.describe()),
    }


@router.get("/export/reward.json", response_class=Response, responses=_content("application/json"))
def export_reward(own: OwnTeaching) -> Response:
    """The learned reward, for `prefero.load_reward`."""
    return _download("reward.json", "application/json", own.learner().reward().to_json().encode())


@router.get("/export/answers.csv", response_class=Response, responses=_content("text/csv"))
def export_csv(own: OwnTeaching) -> Response:
    """The answers in force, one a row."""
    content = csv_text(COLUMNS, rows(own.store.log(own.person)))
    return _download("answers.csv", "text/csv", content.encode())


@router.get("/export/answers.parquet", response_class=Response, responses=_content(PARQUET))
def export_parquet(own: OwnTeaching) -> Response:
    """The same as a Parquet file."""
    arrow, parquet = need("pyarrow", extra="server"), need("pyarrow.parquet", extra="server")
    found, memory = rows(own.store.log(own.person)), io.BytesIO()
    columns = {name: [row[name] for row in found] for name in COLUMNS}
    parquet.write_table(arrow.table(columns, schema=_schema(arrow)), memory)
    return _download("answers.parquet", PARQUET, memory.getvalue())


COLUMNS = ["question", "number", "left", "right", "choice", "seconds", "at"]


def rows(log: Log, deleted: bool = False) -> list[dict[str, Any]]:
    """Answers in force, and deleted ones if wanted, in the order of their questions."""
    found = [(live.asked, live.told, False) for live in log.live]
    if deleted:
        found += [(log.by_id[question], told, True) for question, told in log.deleted.items()]
    ordered = sorted(found, key=lambda row: row[0].number)
    return [
        {
            "question": asked.id,
            "number": number,
            "left": asked.left,
            "right": asked.right,
            "choice": told.said,
            "seconds": told.seconds,
            "at": told.at,
        }
        | ({"deleted": gone} if deleted else {})
        for number, (asked, told, gone) in enumerate(ordered, 1)
    ]


def _schema(arrow: Any) -> Any:
    kinds = {"choice": arrow.string(), "seconds": arrow.float64(), "at": arrow.string()}
    return arrow.schema([(name, kinds.get(name, arrow.int64())) for name in COLUMNS])


def _download(name: str, kind: str, content: bytes) -> Response:
    disposition = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=disposition)
