"""A study's report: the paper's table and figure from real answers, response times, sides and attention.

outcomes.csv       participant, method, accuracy on the participant's own test questions, rating
participants.csv   label, stage, answers, median seconds, share of left answers, agreement on retests
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
from prefero.plots.tables import markdown_table, markdown_text
from prefero.plots.user_study import StudyOutcome, draw_study, study_table
from prefero.pools.pool import Pool
from prefero.questions import Choice
from prefero.simulation.test_sets import accuracy_on_answers
from prefero.studies.event_log import ActiveAnswer, EventLog
from prefero.studies.participant_progress import ParticipantProgress, progress_of
from prefero.studies.protocol import TEST, Protocol
from prefero.studies.stage_rules import stage_of
from prefero.studies.storage.store import Participant, Store, Study

COLORS: dict[Choice, str] = {"left": "#0b6e99", "equal": "#bbbbbb", "right": "#d1662c"}  # as they are stacked


def outcomes_of(store: Store, study: Study) -> list[StudyOutcome]:
    """What every method learned from every participant who is done."""
    protocol, pool = Protocol.from_json(study.protocol), store.pool(study)
    found: list[StudyOutcome] = []
    for participant in store.participants(study):
        log = store.event_log(participant)
        if (protocol.tests or protocol.rate) and stage_of(log, protocol) == "done":
            found += [_outcome(pool, protocol, participant, log, method.label) for method in protocol.methods]
    return found


def _outcome(
    pool: Pool, protocol: Protocol, participant: Participant, log: EventLog, label: str
) -> StudyOutcome:
    rated = log.stage_event("rate", label)
    rating = float(rated.data["rating"]) if rated else float("nan")
    return StudyOutcome(participant.label, label, accuracy_of(pool, protocol, log, label), rating)


def accuracy_of(pool: Pool, protocol: Protocol, log: EventLog, label: str) -> float:
    """The share of the participant's test answers that a method predicts after its own questions."""
    tests = [a.answer for a in log.answers if a.asked.method == TEST and a.choice in ("left", "right")]
    if not tests:
        return float("nan")
    learner: Learner = protocol.method(label).learner(pool, 0)
    for active in log.answers:
        if active.asked.method == label:
            learner.tell(active.asked.question, active.choice)
    return accuracy_on_answers(learner.reward(), pool, tests)


def write_study_report(store: Store, study: Study, folder: Path) -> list[StudyOutcome]:
    """Write the report into a folder; the outcomes."""
    folder.mkdir(parents=True, exist_ok=True)
    participants, outcomes = progress_of(store, study), outcomes_of(store, study)
    logs = [store.event_log(participant) for participant in store.participants(study)]
    answered = [active for log in logs for active in log.answers]
    parts = [
        f"# {markdown_text(study.protocol['title'])}: the study {_name(study)}\n",
        _summary(participants),
    ]
    if outcomes:
        draw_study(outcomes, folder / "study.png")
        parts += [
            "## What the methods learned\n",
            "![Accuracy and ratings](study.png)\n",
            study_table(outcomes),
        ]
    else:
        parts.append(_no_outcomes(study, participants))
    if answered:
        _draw_times(answered, folder / "times.png")
        parts += [
            "## How participants answered\n",
            "![Times and sides](times.png)\n",
            _participants_table(participants),
        ]
    text = "\n".join(parts)
    write_atomically(
        folder / "outcomes.csv", csv_text(list(StudyOutcome.__annotations__), map(asdict, outcomes))
    )
    columns = list(ParticipantProgress.__annotations__)
    write_atomically(folder / "participants.csv", csv_text(columns, map(asdict, participants)))
    write_atomically(folder / "report.md", text)
    write_atomically(folder / "report.html", markdown_to_html(text, folder))
    return outcomes


def _name(study: Study) -> str:
    return markdown_text(repr(study.name))


def _no_outcomes(study: Study, participants: Sequence[ParticipantProgress]) -> str:
    """What is written in place of the table of methods."""
    if any(participant.stage == "done" for participant in participants):
        return f"{_name(study)} has neither tests nor ratings, so the methods cannot be compared.\n"
    return "No participant has answered all questions yet, so the methods cannot be compared.\n"


def _summary(participants: Sequence[ParticipantProgress]) -> str:
    done = sum(participant.stage == "done" for participant in participants)
    begun = sum(participant.started is not None for participant in participants)
    agreement = [p.retest_agreement for p in participants if p.retest_agreement is not None]
    attention = (
        f" Of the retest questions {np.mean(agreement):.0%} were answered as before." if agreement else ""
    )
    return f"{len(participants)} invited, {begun} began, {done} finished.{attention}\n"


def _participants_table(participants: Sequence[ParticipantProgress]) -> str:
    head = ["participant", "stage", "answers", "median seconds", "share of A", "retests agree"]
    rows = [
        [
            markdown_text(participant.label),
            participant.stage or "invited",
            f"{participant.answered} of {participant.total}",
            _number(participant.median_seconds, ".1f"),
            _number(participant.left_share, ".0%"),
            _number(participant.retest_agreement, ".0%"),
        ]
        for participant in participants
    ]
    return markdown_table(head, rows)


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _draw_times(answered: Sequence[ActiveAnswer], path: Path) -> None:
    """Response times, and how often each side was chosen by the method that asked."""
    figure, axes = new_figure(2, width=4.6, height=3.4)
    seconds = [active.event.seconds for active in answered if active.event.seconds is not None]
    if seconds:
        axes[0].hist(np.minimum(seconds, 60.0), bins=30, color="#0b6e99")
    style_axis(axes[0], xlabel="seconds to answer (60 or more in the last bar)", ylabel="answers")
    methods = sorted({active.asked.method for active in answered})
    for place, method in enumerate(methods):
        chosen = [active.choice for active in answered if active.asked.method == method]
        bottom = 0.0
        for choice, color in COLORS.items():
            share = chosen.count(choice) / len(chosen)
            axes[1].bar(place, share, bottom=bottom, color=color, label=choice if place == 0 else None)
            bottom += share
    axes[1].set_xticks(range(len(methods)), methods, fontsize=7)
    axes[1].legend(frameon=False, fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.14))
    style_axis(axes[1], ylabel="share of answers")
    save_figure(figure, path)
