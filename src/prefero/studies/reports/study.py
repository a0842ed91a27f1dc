"""A study's report: the paper's table and figure from real answers, response times, sides and attention.

outcomes.csv       participant, method, accuracy on the participant's own test questions, rating
participants.csv   label, stage, answers, median seconds, fraction of left answers, agreement on retests, and
                   signs of carelessness
people.csv         label, noise with an interval, probability of carelessness, agreement with the group
report.md, report.html, study.png, times.png, agreement.png
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import compress, permutations
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.commands import prefero_command
from prefero._support.files import csv_text, write_atomically
from prefero._support.folders import whole_folder
from prefero._support.progress_bar import progress
from prefero.learner import Learner
from prefero.plots.html import write_report
from prefero.plots.style import name_bars, new_figure, save_figure, style_axis
from prefero.plots.tables import markdown_table, markdown_text
from prefero.plots.user_study import StudyOutcome, StudyTable, draw_study, study_table
from prefero.pools.pool import Pool
from prefero.questions import Answer
from prefero.questions.answer_kinds import item_letter, kind_named
from prefero.questions.kinds.label import levels_of, words_of
from prefero.questions.kinds.or_none import NONE
from prefero.rewards.plots import plot_agreement
from prefero.rewards.reward import BestTrajectory
from prefero.simulation.test_sets import accuracy_on_answers
from prefero.studies.asking.group import GroupSummary, group_summary
from prefero.studies.asking.stage_rules import stage_of
from prefero.studies.log.event_log import ActiveAnswer, EventLog
from prefero.studies.log.selections import selection_counts, selection_sentence
from prefero.studies.protocol.protocol import TEST, Protocol
from prefero.studies.reports.known_before import checked_sources, known_section
from prefero.studies.reports.participant_progress import ParticipantProgress, progress_of
from prefero.studies.storage.store import Participant, Refused, Store, Study

Color = str | tuple[float, ...]
FILES = (
    *("outcomes.csv", "participants.csv", "people.csv", "report.md", "report.html"),
    *("study.png", "times.png", "agreement.png"),
)
PARTICIPANT_HEAD = (
    *("participant", "stage", "answers", "median seconds", "fraction of A"),
    *("retests agree", "careless"),
)
PEOPLE_HEAD = (
    *("participant", "answers", "noise", "noise from", "noise to"),
    *("at random", "agrees with the group"),
)
RULES = (
    "Signs of carelessness: fast, half of the answers or 10 in a row in less than 1 second; one side, "
    "alternating or one level, 9 of 10 answers or 15 in a row; retests, more answers otherwise than before "
    "than 1 in 20 people would give who agree with themselves in 7 of 10 questions. They are reasons to look "
    "at the answers, and no proof.\n"
)
COLORS = {  # of what was chosen, as they are stacked
    "A": "#0b6e99",
    "about equal": "#bbbbbb",
    "B": "#d1662c",
    "C": "#3b8a4f",
    "D": "#8457a5",
    "E": "#b0892b",
    "several": "#666666",
    "none": "#222222",
}
LOWEST, HIGHEST = (0.82, 0.40, 0.17), (0.04, 0.43, 0.60)  # the colors of the levels of labels


def outcomes_of(store: Store, study: Study) -> list[StudyOutcome]:
    """What every method learned from every participant who is done."""
    protocol, pool = Protocol.from_json(study.protocol), store.pool(study)
    logs = [(participant, store.event_log(participant)) for participant in store.participants(study)]
    measured = protocol.tests or protocol.rate
    done = [(one, log) for one, log in logs if measured and stage_of(log, protocol) == "done"]
    found: list[StudyOutcome] = []
    with progress("learning as each method did", len(done)) as advance:
        for participant, log in done:
            found += [_outcome(pool, protocol, participant, log, method.label) for method in protocol.methods]
            advance(1)
    return found


def _outcome(
    pool: Pool, protocol: Protocol, participant: Participant, log: EventLog, label: str
) -> StudyOutcome:
    rated = log.stage_event("rate", label)
    rating = float(rated.data["rating"]) if rated else float("nan")
    return StudyOutcome(participant.label, label, accuracy_of(pool, protocol, log, label), rating)


def accuracy_of(pool: Pool, protocol: Protocol, log: EventLog, label: str) -> float:
    """The fraction of the participant's test answers that a method predicts after its own questions.

    Of labels, the fraction of pairs with different levels that it orders in the same way.
    """
    answers = [a.answer for a in log.answers if a.asked.method == TEST and not a.answer.tied]
    tests = [*answers, *ordered_labels(answers)]
    if not tests:
        return float("nan")
    learner: Learner = protocol.learner(label, pool, 0)
    for active in log.answers:
        if active.asked.method == label:
            learner.tell(active.asked.question, active.choice, seconds=active.seconds, because=active.because)
    return accuracy_on_answers(learner.reward(), pool, tests)


def ordered_labels(answers: Sequence[Answer]) -> list[Answer]:
    """What labels say about pairs: of two with different levels, which trajectory is the better one."""
    labels = [answer for answer in answers if levels_of(answer.kind)]
    return [
        Answer.preferred(better.question.items[0], worse.question.items[0])
        for better, worse in permutations(labels, 2)
        if better.kind == worse.kind
        and better.question.items != worse.question.items
        and better.kind.choices.index(better.choice) > worse.kind.choices.index(worse.choice)
    ]


@dataclass(frozen=True)
class StudyReport:
    """What a report says, before it is written.

    paper        whether the study is about golf, as the paper's, so that its numbers stand beside these
    selections   how many questions there are of each selection
    """

    name: str
    title: str
    paper: bool
    participants: Sequence[ParticipantProgress]
    outcomes: Sequence[StudyOutcome]
    selections: Counter[str] = field(default_factory=Counter)

    @property
    def table(self) -> StudyTable | None:
        """What the methods learned, if that was measured."""
        return study_table(self.outcomes, self.paper) if self.outcomes else None

    @property
    def careless(self) -> list[ParticipantProgress]:
        """The participants with signs of carelessness."""
        return [participant for participant in self.participants if participant.careless_signs]

    @property
    def table_of_careful(self) -> StudyTable | None:
        """What the methods learned from the other participants; None if these are all, or none."""
        doubted = {participant.label for participant in self.careless}
        careful = [outcome for outcome in self.outcomes if outcome.participant not in doubted]
        changed = 0 < len(careful) < len(self.outcomes)
        return study_table(careful, self.paper) if changed else None

    @property
    def summary(self) -> str:
        """How many came, how they answered the retests, and whether questions were ready in time."""
        done = sum(participant.stage == "done" for participant in self.participants)
        begun = sum(participant.started is not None for participant in self.participants)
        agreement = [p.retest_agreement for p in self.participants if p.retest_agreement is not None]
        attention = (
            f" Of the retest questions {np.mean(agreement):.0%} were answered as before." if agreement else ""
        )
        came = f"{len(self.participants)} invited, {begun} began, {done} finished.{attention}"
        return f"{came} {selection_sentence(self.selections)}".rstrip()

    @property
    def no_outcomes(self) -> str:
        """What is said in place of the table of methods."""
        if any(participant.stage == "done" for participant in self.participants):
            return f"{self.name!r} has neither tests nor ratings, so the methods cannot be compared."
        return "No participant has answered all questions yet, so the methods cannot be compared."

    @property
    def participant_table(self) -> list[tuple[str, ...]]:
        """The head of the participants' table and its rows, without columns that are empty."""
        rows = [PARTICIPANT_HEAD, *map(_participant_cells, self.participants)]
        filled = [any(row[column] for row in rows[1:]) for column in range(len(PARTICIPANT_HEAD))]
        return [tuple(compress(row, filled)) for row in rows]


def _participant_cells(participant: ParticipantProgress) -> tuple[str, ...]:
    """Under `PARTICIPANT_HEAD`."""
    return (
        participant.label,
        participant.stage or "invited",
        f"{participant.answered} of {participant.total}",
        _number(participant.median_seconds, ".1f"),
        _number(participant.left_fraction, ".0%"),
        _number(participant.retest_agreement, ".0%"),
        _kinds(participant),
    )


def _kinds(participant: ParticipantProgress) -> str:
    return ", ".join(sign.kind for sign in participant.careless_signs)


def study_report(store: Store, study: Study) -> StudyReport:
    """What can be said about a study now."""
    protocol = study.protocol
    return StudyReport(
        study.name,
        str(protocol["title"]),
        protocol["world"] == "golf",
        progress_of(store, study),
        outcomes_of(store, study),
        selection_counts(map(store.event_log, store.participants(study))),
    )


def write_study_report(store: Store, study: Study, folder: Path, overwrite: bool = False) -> StudyReport:
    """Write the report into a new folder, or in place of an earlier report with `overwrite`."""
    if study.protocol.get("arena"):
        command = prefero_command("arena", "report", study.name)
        raise Refused("arena", f"{study.name!r} is an arena, whose report is written by  {command}")
    with whole_folder(folder, FILES, overwrite) as new:
        report = study_report(store, study)
        logs = [store.event_log(participant) for participant in store.participants(study)]
        answered = [active for log in logs for active in log.answers]
        if report.outcomes:
            draw_study(report.outcomes, new / "study.png", report.paper)
        if answered:
            _draw_times(answered, new / "times.png", study.protocol.get("level_words", ()))
        together = group_summary(store, study)
        if together is not None:
            plot_agreement(together.agreement, together.labels).savefig(new / "agreement.png", dpi=120)
            write_atomically(new / "people.csv", csv_text(list(PEOPLE_HEAD), _people_rows(together)))
        sections = [*_methods_section(report), *(_participants_section(report) if answered else ())]
        sections += known_section(checked_sources(store, study))
        text = "\n".join([*sections, *(people_section(together) if together else ())])
        write_atomically(new / "outcomes.csv", _csv(StudyOutcome, map(asdict, report.outcomes)))
        write_atomically(
            new / "participants.csv", _csv(ParticipantProgress, map(_participant_row, report.participants))
        )
        write_report(new, text)
    return report


def _csv(kind: type, rows: Iterator[dict[str, object]]) -> str:
    return csv_text(list(kind.__annotations__), rows)


def _participant_row(participant: ParticipantProgress) -> dict[str, object]:
    return asdict(participant) | {"careless_signs": _kinds(participant)}


def _methods_section(report: StudyReport) -> Iterator[str]:
    yield f"# {markdown_text(report.title)}: the study {markdown_text(repr(report.name))}\n"
    yield f"{report.summary}\n"
    if report.table is None:
        yield f"{markdown_text(report.no_outcomes)}\n"
        return
    yield from ("## What the methods learned\n", "![Accuracy and ratings](study.png)\n")
    yield report.table.markdown
    if report.table_of_careful is not None:
        yield "Without the participants who show signs of carelessness:\n"
        yield report.table_of_careful.markdown


def _participants_section(report: StudyReport) -> Iterator[str]:
    yield from ("## How participants answered\n", "![Times and sides](times.png)\n")
    head, *rows = report.participant_table
    yield markdown_table(head, [[markdown_text(label), *cells] for label, *cells in rows])
    reasons = [(p.label, sign) for p in report.careless for sign in p.careless_signs]
    if reasons:
        yield (
            "\n".join(f"- {markdown_text(label)}, {sign.kind}: {sign.reason}." for label, sign in reasons)
            + "\n"
        )
        yield RULES


def people_section(together: GroupSummary) -> Iterator[str]:
    """What participants have in common, and how each one answers."""
    yield from ("## Participants together\n", "![How alike participants are](agreement.png)\n")
    pairs = together.agreement[np.triu_indices(len(together.labels), 1)]
    yield (
        "One model has learned from all answers: the reward that participants share, and each one's own. "
        f"Two participants are expected to agree on {pairs.mean():.0%} of pairs of trajectories (chance: "
        f"50%), and {together.share:.0%} of the variance of their rewards is shared. By the shared reward, "
        f"the best trajectory is {_named(together.best)}.\n"
    )
    rows = [
        (markdown_text(row["participant"]), *(str(row[name]) for name in PEOPLE_HEAD[1:]), _named(best))
        for row, best in zip(_people_rows(together), together.best_of_each, strict=True)
    ]
    yield markdown_table([*PEOPLE_HEAD, "best trajectory"], rows)
    yield (
        "Noise is in standard deviations of the reward, with an interval of 90 %. At random is the "
        "probability that all of a participant's answers are; they count for as much less.\n"
    )


def _people_rows(together: GroupSummary) -> Iterator[dict[str, Any]]:
    for label, style, agrees in zip(
        together.labels, together.styles, together.group_agreement.tolist(), strict=True
    ):
        cells = (f"{style.noise:.2g}", f"{style.low:.2g}", f"{style.high:.2g}", f"{style.careless:.0%}")
        yield dict(zip(PEOPLE_HEAD, (label, style.answers, *cells, f"{agrees:.0%}"), strict=True))


def _named(best: BestTrajectory) -> str:
    name = f"number {best.index}" if best.id is None else f"{best.id} (number {best.index})"
    return f"{markdown_text(name)}, {best.probability:.0%} sure"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _chosen(active: ActiveAnswer, words: Sequence[str]) -> str:
    """The letter of the trajectory that was preferred to all others, or called the worst; a label's word."""
    kind = kind_named(active.asked.kind)
    if levels_of(kind):
        return words_of(kind, words)[kind.choices.index(active.choice)]
    place = kind.chosen(active.choice)
    if active.choice == NONE:
        return NONE
    if place is None:
        return "about equal" if kind.is_tied(active.choice) else "several"
    return item_letter(place)


def _colors(answered: Sequence[ActiveAnswer], words: Sequence[str]) -> dict[str, Color]:
    """Of everything that was chosen, as they are stacked: levels from the lowest to the highest."""
    colors: dict[str, Color] = dict(COLORS)
    for name in sorted({active.asked.kind for active in answered}):
        of_kind = words_of(kind_named(name), words)
        for word, part in zip(of_kind, np.linspace(0.0, 1.0, len(of_kind)), strict=True):
            colors[word] = tuple((1 - part) * np.array(LOWEST) + part * np.array(HIGHEST))
    return colors


def _draw_times(answered: Sequence[ActiveAnswer], path: Path, words: Sequence[str] = ()) -> None:
    """Response times, and how often each side was chosen by the method that asked."""
    figure, axes = new_figure(2, width=4.6, height=3.4)
    seconds = [active.event.seconds for active in answered if active.event.seconds is not None]
    if seconds:
        axes[0].hist(np.minimum(seconds, 60.0), bins=30, color="#0b6e99")
    style_axis(axes[0], xlabel="seconds to answer (60 or more in the last bar)", ylabel="answers")
    methods = sorted({active.asked.method for active in answered})
    shown = {_chosen(active, words) for active in answered}
    if any(len(active.asked.items) > 1 for active in answered):
        shown |= {"A", "B"}
    for place, method in enumerate(methods):
        chosen = [_chosen(active, words) for active in answered if active.asked.method == method]
        bottom = 0.0
        for choice, color in _colors(answered, words).items():
            fraction = chosen.count(choice) / len(chosen)
            named = choice in shown and place == 0
            axes[1].bar(place, fraction, bottom=bottom, color=color, label=choice if named else None)
            bottom += fraction
    name_bars(axes[1], methods)
    axes[1].legend(frameon=False, fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.14))
    style_axis(axes[1], ylabel="fraction of answers")
    save_figure(figure, path)
