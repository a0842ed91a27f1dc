"""A study's report: the paper's table and figure from real answers, times, sides and attention.

outcomes.csv   person, method, accuracy on the person's own test questions, rating
people.csv     person, stage, answers, median seconds, share of left answers, agreement on retests
report.md, report.html, study.png, times.png
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from prefero._support.files import csv_text, write_atomically
from prefero.learner import Learner
from prefero.plots.html import markdown_to_html
from prefero.plots.style import new_figure, save_figure, style_axis
from prefero.plots.tables import markdown_table
from prefero.plots.user_study import StudyOutcome, draw_study, study_table
from prefero.pools.pool import Pool
from prefero.simulation.test_sets import accuracy_on_answers
from prefero.studies.event_log import Live, Log
from prefero.studies.participant_progress import ParticipantProgress, progress_of, stage_of
from prefero.studies.protocol import RETEST, TEST, Protocol
from prefero.studies.storage.store import Person, Store, Study


def outcomes_of(store: Store, study: Study) -> list[StudyOutcome]:
    """What every method learned from everybody who is done."""
    protocol, pool = Protocol.from_json(study.protocol), store.pool(study)
    found: list[StudyOutcome] = []
    for person in store.people(study):
        log = store.log(person)
        if (protocol.tests or protocol.rate) and stage_of(log, protocol) == "done":
            found += [_outcome(pool, protocol, person, log, asker.label) for asker in protocol.methods]
    return found


def _outcome(pool: Pool, protocol: Protocol, person: Person, log: Log, label: str) -> StudyOutcome:
    rated = log.step("rate", label)
    rating = float(rated.data["rating"]) if rated else float("nan")
    return StudyOutcome(person.label, label, accuracy_of(pool, protocol, log, label), rating)


def accuracy_of(pool: Pool, protocol: Protocol, log: Log, label: str) -> float:
    """The share of the person's test questions that a method foretells after its own questions."""
    tests = [live.answer for live in log.live if live.asked.method == TEST and live.told.said != "equal"]
    if not tests:
        return float("nan")
    learner: Learner = protocol.asker(label).learner(pool, 0)
    for live in log.live:
        if live.asked.method == label:
            learner.tell(live.asked.question, live.answer.choice)
    return accuracy_on_answers(learner.reward(), pool, tests)


def write_study_report(store: Store, study: Study, folder: Path) -> list[StudyOutcome]:
    """Everything, in a folder; the outcomes."""
    folder.mkdir(parents=True, exist_ok=True)
    people, outcomes = progress_of(store, study), outcomes_of(store, study)
    logs = [store.log(person) for person in store.people(study)]
    answered = [live for log in logs for live in log.live]
    parts = [f"# {study.protocol['title']}: the study {study.name!r}\n", _summary(people)]
    if outcomes:
        draw_study(outcomes, folder / "study.png")
        parts += [
            "## What the methods learned\n",
            "![Accuracy and ratings](study.png)\n",
            study_table(outcomes),
        ]
    else:
        parts.append(_why_nothing(study, people))
    if answered:
        _draw_times(answered, folder / "times.png")
        parts += ["## How people answered\n", "![Times and sides](times.png)\n", _people_table(people)]
    text = "\n".join(parts)
    write_atomically(
        folder / "outcomes.csv", csv_text(list(StudyOutcome.__annotations__), map(asdict, outcomes))
    )
    write_atomically(
        folder / "people.csv", csv_text(list(ParticipantProgress.__annotations__), map(asdict, people))
    )
    write_atomically(folder / "report.md", text)
    write_atomically(folder / "report.html", markdown_to_html(text, folder))
    return outcomes


def _why_nothing(study: Study, people: Sequence[ParticipantProgress]) -> str:
    """In place of the table about the methods."""
    if any(person.stage == "done" for person in people):
        return f"{study.name!r} neither tests nor rates, so nothing can be said about the methods.\n"
    return "Nobody has answered all questions yet, so nothing can be said about the methods.\n"


def _summary(people: Sequence[ParticipantProgress]) -> str:
    done = sum(person.stage == "done" for person in people)
    begun = sum(person.started is not None for person in people)
    agreement = [p.retest_agreement for p in people if p.retest_agreement is not None]
    attention = (
        f" Questions asked again were answered alike in {np.mean(agreement):.0%}." if agreement else ""
    )
    return f"{len(people)} invited, {begun} began, {done} finished.{attention}\n"


def _people_table(people: Sequence[ParticipantProgress]) -> str:
    head = ["person", "stage", "answers", "median seconds", "share of A", "answered alike again"]
    rows = [
        [
            person.label,
            person.stage or "invited",
            f"{person.answered} of {person.total}",
            _number(person.median_seconds, ".1f"),
            _number(person.left_share, ".0%"),
            _number(person.retest_agreement, ".0%"),
        ]
        for person in people
    ]
    return markdown_table(head, rows)


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _draw_times(answered: Sequence[Live], path: Path) -> None:
    """Response times by position, and which side was chosen by whom was asked."""
    figure, axes = new_figure(2, width=4.6, height=3.4)
    seconds = [live.told.seconds for live in answered if live.told.seconds is not None]
    if seconds:
        axes[0].hist(np.minimum(seconds, 60.0), bins=30, color="#0b6e99")
    style_axis(axes[0], xlabel="seconds to answer (60 or more in the last bar)", ylabel="answers")
    methods = sorted({live.asked.method for live in answered})
    for place, method in enumerate(methods):
        said: list[str] = [live.told.said for live in answered if live.asked.method == method]
        bottom = 0.0
        for side, color in (("left", "#0b6e99"), ("equal", "#bbbbbb"), ("right", "#d1662c")):
            share = said.count(side) / len(said)
            axes[1].bar(place, share, bottom=bottom, color=color, label=side if place == 0 else None)
            bottom += share
    axes[1].set_xticks(range(len(methods)), ["again" if m == RETEST else m for m in methods], fontsize=7)
    axes[1].legend(frameon=False, fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.14))
    style_axis(axes[1], ylabel="share of answers")
    save_figure(figure, path)
