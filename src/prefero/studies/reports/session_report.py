"""The report of one person's teaching: one HTML page that needs no network and no script.

It says what was asked and answered, what was learned, and how to use the reward. Everything that it says of
the reward is in the learning summary; names, ids, reasons and notes are the user's own and are escaped.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

import prefero
from prefero._support.sentences import capitalize, percent, pluralize
from prefero._support.text import one_line
from prefero.plots import svg
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import item_letter, kind_named
from prefero.questions.kinds.label import levels_of, words_of
from prefero.questions.kinds.or_none import NONE
from prefero.studies.log.annotations import Remarks
from prefero.studies.log.event_log import ActiveAnswer, EventLog
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.reports.learning_summary import FeatureEffect, LearningSummary, RankedTrajectory

FILE = "report.html"
MOST_CURVES = 12
SHOWN, VALUES = 6, 4  # trajectories of the best, and features that are written under each
REWARD = "reward (std above average)"
CURVES = (
    '<p class="soft">0 is the reward of the average trajectory, and 1 is one standard deviation of the '
    "reward over all trajectories. All other features are at their mean; the band is one standard deviation "
    "of the uncertainty to each side.</p>"
)
VALUES_MEAN = (
    "Its values say which of two trajectories is better, and by how much. They are known up to a constant, "
    "and hold for trajectories like these."
)
USAGE = """import prefero

reward = prefero.load_reward("reward.json")
print(reward)                      # {features}

features = {example}  # one row a trajectory
print(reward(features))            # how good each one is

mean, std = reward.predict(features, return_std=True)
print(mean - 2 * std)              # a lower confidence bound
print(reward.predict_proba(features[:1], features[1:]))  # P(the first is preferred)
"""
STYLE = """
:root { color-scheme: light dark; --accent: #0b6e99; --ink: #1c2329; --paper: #fff; --soft: #5c6670;
  --line: #d7dde2; --tint: #f3f6f8 }
@media (prefers-color-scheme: dark) {
  :root { --accent: #5cb8dd; --ink: #e6eaed; --paper: #14191d; --soft: #a3adb5; --line: #37424a;
    --tint: #1d252b }
}
@media print {
  :root { color-scheme: light; --accent: #0b6e99; --ink: #000; --paper: #fff; --soft: #444; --line: #bbb;
    --tint: #fff }
}
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere }
h1 { margin: 0; line-height: 1.2 }
h2 { margin: 2.2rem 0 0.5rem; border-bottom: 1px solid var(--line); break-after: avoid }
.soft { color: var(--soft) }
.big { font-size: 2.6rem; font-weight: 700; color: var(--accent); margin: 0.2rem 0 }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 1.2rem }
.grid.wide { grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)) }
.grid.pictures { grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); gap: 0.8rem }
.grid > * { break-inside: avoid; margin: 0 }
figcaption { font-weight: 600 }
figure img, .scene { display: block; width: 100%; border-radius: 6px; background: var(--tint) }
.frame { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem 0.3rem 0;
  border-bottom: 1px solid var(--line) }
tr { break-inside: avoid }
pre { background: var(--tint); border: 1px solid var(--line); padding: 0.8rem; overflow-x: auto;
  white-space: pre-wrap }
"""


@dataclass(frozen=True)
class Note:
    """What a person wrote about a trajectory or an answer, and how they tagged it."""

    about: str
    note: str
    tags: Sequence[str]


@dataclass(frozen=True)
class SessionReport:
    """What a report says, before it is written.

    words     for the levels of labels, the lowest first
    names     gives a trajectory's name by its index
    picture   gives a picture of a trajectory as an HTML element, or "" where there is none
    usage     how to use the reward, in Python
    """

    title: str
    task: str
    day: str
    summary: LearningSummary
    answers: Sequence[ActiveAnswer]
    words: Sequence[str]
    names: Callable[[int], str]
    picture: Callable[[int], str]
    usage: str
    notes: Sequence[Note] = ()

    @property
    def version(self) -> str:
        """Of Prefero."""
        return prefero.__version__

    def html(self) -> str:
        """The page."""
        sections = (
            *(self._head(), self._accuracy(), self._matters(), self._known(), self._best(), self._worst()),
            *(self._curves(), self._surprises(), self._noted(), self._table(), self._use()),
        )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}: what was taught</title><style>{STYLE}{svg.CSS}</style></head>\n"
            f"<body>\n{chr(10).join(filter(None, sections))}\n</body></html>\n"
        )

    def _head(self) -> str:
        counts = Counter(active.asked.kind for active in self.answers)
        kinds = ", ".join(f"{count} of the kind {name}" for name, count in counts.most_common())
        given = pluralize(len(self.answers), "answer") + (f": {kinds}" if len(counts) > 1 else "")
        return (
            f"<h1>{escape(self.title)}</h1>"
            f'<p class="soft">What was taught, {escape(self.day)}. {escape(given)}.</p>'
            f"<p>The task: {escape(self.task)}</p>"
        )

    def _accuracy(self) -> str:
        accuracy, curve = self.summary.accuracy, self.summary.learning_curve
        if accuracy is None:
            missing = pluralize(self.summary.enough_answers - self.summary.answers, "more answer")
            return _section(
                "What was learned", f"<p>It is too early to say: {missing}, and this says more.</p>"
            )
        chart = ""
        if len(curve) > 1:
            points = [(point.answers, point.accuracy) for point in curve]
            chart = svg.accuracy_chart(points, accuracy.low, accuracy.high, "Accuracy after each answer")
        return _section(
            "How well the answers can be predicted",
            f'<p class="big">{percent(accuracy.mean)}</p><p>of the answers to random pairs are expected to '
            f"be predicted; probably between {percent(accuracy.low)} and {percent(accuracy.high)}. Half "
            f"would be right by chance. {escape(self.summary.hint)}</p>{_grid(_figure(chart), 'wide')}",
        )

    def _matters(self) -> str:
        if self.summary.accuracy is None:
            return ""
        stated = "".join(
            f'<li>{escape(one.sentence)}<br><span class="soft">{escape(one.meaning)}</span></li>'
            for one in self.summary.statements
        )
        effects = [(one.name, one.effect) for one in self._leading(MOST_CURVES) if one.effect is not None]
        bars = [(name, effect.mean, effect.low, effect.high) for name, effect in effects]
        chart = svg.bar_chart(bars, "How much each feature matters") if bars else ""
        return _section("What matters", f"<ul>{stated}</ul>{_grid(_figure(chart), 'wide')}")

    def _leading(self, count: int) -> list[FeatureEffect]:
        """The features that matter most."""
        known = [one for one in self.summary.features if one.effect is not None]
        return sorted(known, key=lambda one: -(one.effect.mean if one.effect else 0.0))[:count]

    def _known(self) -> str:
        items = "".join(
            f"<li>{escape(one.says)}. {_trust(one.support, one.trusted)}</li>" for one in self.summary.known
        )
        return _section("What was known before", f"<ul>{items}</ul>") if items else ""

    def _best(self) -> str:
        best = self.summary.ranking[:SHOWN]
        return _section("The best trajectories, each different from the others", self._trajectories(best))

    def _worst(self) -> str:
        return _section("The worst", self._trajectories(self.summary.worst))

    def _trajectories(self, ranked: Sequence[RankedTrajectory]) -> str:
        return _grid("".join(map(self._trajectory, ranked)), "pictures")

    def _trajectory(self, one: RankedTrajectory) -> str:
        leading = self._leading(VALUES)
        values = ", ".join(f"{feature.name} {_value(feature, one.features)}" for feature in leading)
        acceptable = "" if one.acceptable is None else f"; acceptable: {percent(one.acceptable)}"
        return (
            f"<figure>{self.picture(one.index)}<figcaption>Rank {one.rank}: {escape(self.names(one.index))}"
            f"</figcaption><span>Reward {one.mean:.1f} ± {one.std:.1f}{acceptable}</span><br>"
            f'<span class="soft">{escape(values)}</span></figure>'
        )

    def _curves(self) -> str:
        figures = "".join(_figure(_curve(one), one.name) for one in self._leading(MOST_CURVES))
        return _section("How the reward depends on each feature", CURVES + _grid(figures)) if figures else ""

    def _surprises(self) -> str:
        asked = {active.asked.id: active for active in self.answers}
        items = "".join(
            f"<li>Question {one.number}: {escape(self._said(asked[one.question]))}, which was found "
            f"{percent(one.probability)} likely.</li>"
            for one in self.summary.surprises
            if one.question in asked
        )
        return _section("Answers at odds with the others", f"<ul>{items}</ul>") if items else ""

    def _noted(self) -> str:
        rows = [(one.about, ", ".join(one.tags), one.note) for one in self.notes]
        return _section("Notes and tags", _table(("about", "tags", "note"), rows)) if rows else ""

    def _table(self) -> str:
        if not self.answers:
            return ""
        reasons = any(active.because for active in self.answers)
        head = ("", "trajectories", "answer", *(("because of",) if reasons else ()), "seconds")
        rows = [self._row(number, active, reasons) for number, active in enumerate(self.answers, 1)]
        return _section("Questions and answers", _table(head, rows))

    def _row(self, number: int, active: ActiveAnswer, reasons: bool) -> tuple[str, ...]:
        items = active.asked.items
        lettered = [f"{item_letter(place)} {self.names(item)}" for place, item in enumerate(items)]
        shown = ", ".join(lettered) if len(items) > 1 else self.names(items[0])
        seconds = "" if active.seconds is None else f"{active.seconds:.1f}"
        return (str(number), shown, self._said(active), *((active.because,) if reasons else ()), seconds)

    def _said(self, active: ActiveAnswer) -> str:
        return answer_words(active.asked.kind, active.choice, self.words)

    def _use(self) -> str:
        made = f'<p class="soft">{VALUES_MEAN} Made by Prefero {escape(self.version)}.</p>'
        return _section("How to use the reward", f"<pre>{escape(self.usage)}</pre>{made}")


def session_report(
    pool: Pool,
    protocol: Protocol,
    task: str,
    log: EventLog,
    summary: LearningSummary,
    picture: Callable[[int], str],
) -> SessionReport:
    """The report of a person's answers so far, today."""

    def name(index: int) -> str:
        return f"no. {index}" if pool.ids is None else pool.ids[index]

    return SessionReport(
        title=protocol.title,
        task=task,
        day=datetime.now(UTC).date().isoformat(),
        summary=summary,
        answers=log.answers,
        words=protocol.level_words,
        names=name,
        picture=picture,
        usage=usage_of(pool, summary.ranking[0].index if summary.ranking else 0),
        notes=[*_notes(log.trajectory_remarks, name), *_notes(_numbered(log), "question {}".format)],
    )


def _numbered(log: EventLog) -> dict[int, Remarks]:
    """What was written about answers, by their numbers."""
    return {
        number: log.question_remarks[question]
        for question, number in log.answer_numbers.items()
        if question in log.question_remarks
    }


def _notes(remarks: Mapping[int, Remarks], name: Callable[[int], str]) -> Iterator[Note]:
    for subject, one in sorted(remarks.items()):
        yield Note(name(subject), one.note, one.tags)


def usage_of(pool: Pool, best: int) -> str:
    """Lines of Python that use the reward, with two trajectories of the pool as an example."""
    example = pool.features[[best, 0 if best else 1]].round(3).tolist()
    return USAGE.format(features=one_line(", ".join(pool.names)), example=example)


def answer_words(kind_name: str, choice: str, own: Sequence[str] = ()) -> str:
    """An answer as people read it: "A is better", "about equal", the word of a level."""
    kind = kind_named(kind_name)
    if choice == NONE:
        return "none is acceptable"
    if levels_of(kind):
        return words_of(kind, own)[kind.choices.index(choice)]
    if kind.form == "rank":
        return "".join(item_letter(int(one) - 1) if one.isdigit() else f" {one} " for one in choice)
    place = kind.chosen(choice)
    if place is None:
        return "about equal"
    degree = {"best": "the best", "worst": "the worst"}.get(kind.form, "better")
    much = {"much": "much ", "slightly": "slightly "}.get(choice.partition("-")[2], "")
    return f"{item_letter(place)} is {much}{degree}"


def _trust(support: float | None, trusted: bool) -> str:
    if support is None:
        return "It is too early to say how much of that is right."
    told = f"Given the answers, it is right with {percent(support)}."
    return told if trusted else f"{told} Not trusted: that is little better than chance."


def _curve(feature: FeatureEffect) -> str:
    points = [(point.x, point.mean, point.low, point.high) for point in feature.curve]
    label = f"{feature.name} ({feature.unit})" if feature.unit else feature.name
    title = f"The reward by {feature.name}"
    if feature.levels:
        return svg.level_chart(points, feature.levels, title, label, REWARD)
    return svg.curve_chart(points, title, label, REWARD)


def _value(feature: FeatureEffect, values: dict[str, float]) -> str:
    value = values[feature.name]
    if feature.levels:
        return feature.levels[round(value)]
    return f"{value:.3g} {feature.unit}".strip()


def _figure(content: str, caption: str = "") -> str:
    named = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{named}{content}</figure>" if content else ""


def _grid(figures: str, look: str = "") -> str:
    return f'<div class="{f"grid {look}".strip()}">{figures}</div>' if figures else ""


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(capitalize(title))}</h2>{content}</section>" if content else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="frame"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>'
