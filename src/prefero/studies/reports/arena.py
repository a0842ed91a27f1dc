"""The report of an arena: who is better than whom, how sure that is, and every answer.

standings.csv     the policies, the strongest first, with their strengths, results, P(best) and success
better.csv        P(the policy of the row is better than that of the column)
comparisons.csv   every answer: judge, policies and rollouts on both sides, task, choice, seconds, time; the
                  right side is empty where one rollout was labelled
labels.csv        every label that a dataset had: policy, rollout, task, label
report.md, report.html, arena.png
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from prefero._support.files import csv_text, write_atomically
from prefero._support.folders import whole_folder
from prefero._support.sentences import percent, pluralize
from prefero.arena.plan import ArenaPlan
from prefero.arena.standings import Standing, Standings
from prefero.plots.arena import draw_arena
from prefero.plots.html import write_report
from prefero.plots.tables import markdown_table, markdown_text
from prefero.pools.pool import Pool
from prefero.studies.asking.arena_schedule import arena_of
from prefero.studies.log.event_log import ActiveAnswer
from prefero.studies.storage.store import Store, Study

TABLES = ("standings.csv", "better.csv", "comparisons.csv", "labels.csv")
FILES = (*TABLES, "report.md", "report.html", "arena.png")
HEAD = ("policy", "strength", "90% interval", "P(best)", "wins", "losses", "ties", "better than the next")
SUCCESS_HEAD = ("policy", "success, 90% interval", "passes", "fails")
LABEL = ("policy", "rollout", "task", "label")
COMPARISON = ("judge", "left", "right", "left_rollout", "right_rollout", "task", "choice", "seconds", "at")
EXPLANATION = (
    "A strength is relative to the average of the policies: a policy whose strength is 1 higher wins 84% of "
    "the comparisons. It is an average over the tasks and the judges of this arena, and over all rollouts "
    "that the policy could have made, not only those that were shown. Probabilities are those of a Bayesian "
    "model (Thurstone's), given all answers; ties and disagreeing judges are taken into account.\n"
)
SUCCESS_EXPLANATION = (
    "Success is the probability that a new rollout of the policy is found acceptable, on average over the "
    "tasks and over the judges who said what is; labels of a dataset count as a judge if no person did. It "
    "is learned from labels and comparisons together, so it is near the share of passes, and nearer to the "
    "other policies where there are few.\n"
)


@dataclass(frozen=True, eq=False)
class ArenaReport:
    """What a report says, before it is written.

    history   numbers of answers, with how sure the goal was after each
    """

    title: str
    standings: Standings
    history: list[tuple[int, float]]
    comparisons: list[dict[str, Any]]
    labels: list[dict[str, Any]]

    @property
    def table(self) -> list[tuple[str, ...]]:
        """The head of the standings and its rows."""
        after = [*map(percent, self.standings.better.diagonal(1).tolist()), ""]
        return [HEAD, *(_cells(*both) for both in zip(self.standings.rows, after, strict=True))]

    @property
    def success_table(self) -> list[tuple[str, ...]]:
        """The head of the policies' successes and its rows; nothing if nobody said what is acceptable."""
        if self.standings.rows[0].success is None:
            return []
        rows = [(r.policy, r.success_text, str(r.passes), str(r.fails)) for r in self.standings.rows]
        return [SUCCESS_HEAD, *rows]

    @property
    def summary(self) -> str:
        """How much was compared and labelled, and by how many."""
        tasks, found = self.standings.plan.task_names, self.standings
        in_tasks = f" in {len(tasks)} tasks" if len(tasks) > 1 else ""
        labels = found.plan.labels
        known = [labels.describe()] if labels else []
        if found.answers or not labels:
            known.insert(0, f"{found.people_evidence} by {pluralize(found.judges, 'judge')}")
        return f"{len(found.rows)} policies{in_tasks}, {', and '.join(known)}."


def _cells(row: Standing, better: str) -> tuple[str, ...]:
    interval = f"{row.low:+.2f} to {row.high:+.2f}"
    results = map(str, (row.wins, row.losses, row.ties))
    return (row.policy, f"{row.strength:+.2f}", interval, percent(row.best), *results, better)


def arena_report(store: Store, study: Study) -> ArenaReport:
    """What is known about the policies now."""
    arena, pool = arena_of(store, study), store.pool(study)
    standings = arena.standings()
    logs = [(judge.label, store.event_log(judge)) for judge in store.participants(study)]
    given = [(active.event.id, judge, active) for judge, log in logs for active in log.answers]
    given.sort(key=lambda row: row[:2])
    history = [(n, active.asked.accuracy or 0.0) for n, (_, _, active) in enumerate(given)]
    history.append((standings.answers, standings.confidence))
    comparisons = [_comparison(judge, active, arena.plan, pool) for _, judge, active in given]
    return ArenaReport(study.name, standings, history, comparisons, _labels(arena.plan, pool))


def _comparison(judge: str, active: ActiveAnswer, plan: ArenaPlan, pool: Pool) -> dict[str, Any]:
    """A row of comparisons.csv."""
    items = active.asked.items
    none = [""] * (2 - len(items))  # on the right, where one rollout was labelled
    named, ids = [*_policies(items, plan), *none], [*_rollouts(items, pool), *none]
    about = (plan.task_of(items[0]), active.choice, active.event.seconds, active.event.at)
    return dict(zip(COMPARISON, (judge, *named, *ids, *about), strict=True))


def _labels(plan: ArenaPlan, pool: Pool) -> list[dict[str, Any]]:
    """The rows of labels.csv."""
    if plan.labels is None:
        return []
    items, tasks = plan.labels.items, [plan.task_of(item) for item in plan.labels.items]
    rows = zip(_policies(items, plan), _rollouts(items, pool), tasks, plan.labels.choices, strict=True)
    return [dict(zip(LABEL, row, strict=True)) for row in rows]


def _policies(items: Sequence[int], plan: ArenaPlan) -> list[str]:
    return [plan.policies[plan.policy_of[item]] for item in items]


def _rollouts(items: Sequence[int], pool: Pool) -> Sequence[str]:
    return pool.ids_of(items) or [str(item) for item in items]


def write_arena_report(store: Store, study: Study, folder: Path, overwrite: bool = False) -> ArenaReport:
    """Write the report into a new folder, or in place of an earlier report with `overwrite`."""
    report = arena_report(store, study)
    with whole_folder(folder, FILES, overwrite) as new:
        draw_arena(report.standings, report.history, new / "arena.png")
        rows = [asdict(row) for row in report.standings.rows]
        write_atomically(new / "standings.csv", csv_text(list(Standing.__annotations__), rows))
        write_atomically(new / "better.csv", csv_text(["policy", *report.standings.order], _better(report)))
        write_atomically(new / "comparisons.csv", csv_text(list(COMPARISON), report.comparisons))
        write_atomically(new / "labels.csv", csv_text(list(LABEL), report.labels))
        write_report(new, "\n".join(_sections(report)))
    return report


def _better(report: ArenaReport) -> Iterator[dict[str, Any]]:
    order = report.standings.order
    for policy, row in zip(order, report.standings.better.tolist(), strict=True):
        yield {"policy": policy, **dict(zip(order, row, strict=True))}


def _sections(report: ArenaReport) -> Iterator[str]:
    yield f"# Arena: {markdown_text(report.title)}\n"
    yield f"{report.summary}\n"
    yield "\n".join(f"- {markdown_text(sentence)}" for sentence in report.standings.sentences) + "\n"
    yield "![Strengths, who is better than whom, and how the goal became known](arena.png)\n"
    yield _named_table(report.table)
    yield EXPLANATION
    if report.success_table:
        yield _named_table(report.success_table)
        yield SUCCESS_EXPLANATION


def _named_table(table: Sequence[tuple[str, ...]]) -> str:
    """With names of policies in its first column, which may have any letters."""
    head, *rows = table
    return markdown_table(head, [[markdown_text(name), *cells] for name, *cells in rows])
