"""A protocol: what people are asked, by which methods, and what else they do. It is a small TOML file.

    title          shown on the page
    world          a world's name, or
    pool           a file, as `Pool.save` writes it
    trajectories   how many are simulated
    consent, instructions, thanks    texts; an empty one is not shown
    target_scores  do participants first give distinct scores to the targets?
    practice       does a question for practice come first?
    [[methods]]    label, method (a name of `prefero.methods`), questions
    tests          random questions that no method learns from
    retests        earlier questions once more, with sides changed: is the person attentive?
    rate           do participants rate what each method thinks best?
    ties           is "about equal" an answer? The paper's methods know none.

The questions of all methods are shuffled together. Every method learns from its own alone.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.learner import Learner, Model
from prefero.methods import RealPerson, method_named
from prefero.pools.pool import Pool

TEST, RETEST = "test", "retest"  # questions that no method learns from


def flowing(text: str) -> str:
    """Paragraphs without the line breaks that a file has for its own sake."""
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))


CONSENT = flowing("""You are about to take part in a study of how people judge a robot's behaviour.

You will compare short animations of a robot and say which you like better. Your answers, the time they take
and nothing else about you are kept. You may stop at any time by closing the page.""")
INSTRUCTIONS = flowing("""A robot plays mini-golf. Two of its shots are shown side by side, again and again.

Say which one you like better: A on the left or B on the right. There is no right or wrong answer. Take the
time you need, and use the keyboard if you like.""")
THANKS = "You have answered all questions."


@dataclass(frozen=True)
class Asker:
    """A method that asks: its name in reports, its name in the registry, and how often it asks."""

    label: str
    method: str
    questions: int

    def __post_init__(self) -> None:
        if self.label in (TEST, RETEST) or not self.label:
            raise ValueError(f"a method needs a label, and one that is not {TEST!r} or {RETEST!r}")
        if type(self.questions) is not int or self.questions < 1:
            raise ValueError(
                f"method {self.label!r} must ask at least once, but questions = {self.questions!r}"
            )
        method_named(self.method)
        try:
            self._model(np.zeros((2, 1)))
        except ValueError as error:
            raise ValueError(f"{self.method!r} cannot learn from real people: {error}") from error

    @property
    def knows_ties(self) -> bool:
        """Can it learn from "about equal"?"""
        asks = method_named(self.method).asks_with_ties
        return asks and getattr(self._model(np.zeros((2, 1))), "margin", None) != 0

    def _model(self, x: Array) -> Model:
        return method_named(self.method).model(RealPerson(), x)

    def learner(self, pool: Pool, seed: int) -> Learner:
        """A learner that knows nothing yet."""
        acquisition = method_named(self.method).acquisition
        return Learner(pool, seed=seed, model=self._model(pool.scaled), acquisition=acquisition)


@dataclass(frozen=True)
class Protocol:
    """What the people of a study do, from first to last."""

    title: str
    methods: tuple[Asker, ...]
    world: str | None = None
    pool: str | None = None
    trajectories: int = 400
    consent: str = CONSENT
    instructions: str = INSTRUCTIONS
    thanks: str = THANKS
    target_scores: bool = False
    practice: bool = True
    tests: int = 0
    retests: int = 0
    rate: bool = False
    ties: bool = False
    endless: bool = field(default=False)  # a teacher goes on as long as they like

    def __post_init__(self) -> None:
        labels = [asker.label for asker in self.methods]
        if not labels:
            raise ValueError("a protocol needs a method that asks: add a [[methods]] table")
        if len(set(labels)) != len(labels):
            raise ValueError(f"every method needs a label of its own, but they are {', '.join(labels)}")
        strict = [asker.method for asker in self.methods if self.ties and not asker.knows_ties]
        if strict:
            raise ValueError(f"{strict[0]!r} knows no 'about equal': set ties = false, or leave it out")
        if self.tests < 0 or self.retests < 0:
            raise ValueError(f"tests and retests are 0 or more, not {self.tests} and {self.retests}")
        if self.retests > self.asked // 2:
            raise ValueError(f"at most half of {self.asked} questions can be asked again, not {self.retests}")

    @property
    def asked(self) -> int:
        """Questions that are asked for the first time."""
        return sum(asker.questions for asker in self.methods) + self.tests

    @property
    def slots(self) -> int:
        """All questions."""
        return self.asked + self.retests

    def asker(self, label: str) -> Asker:
        """The method of this label."""
        return next(asker for asker in self.methods if asker.label == label)

    def plan(self, seed: int) -> tuple[str, ...]:
        """Who asks each question: labels of methods, tests and retests, shuffled; retests come late."""
        rng = np.random.default_rng([seed, 1])
        first = [asker.label for asker in self.methods for _ in range(asker.questions)] + [TEST] * self.tests
        order: list[str] = [first[int(i)] for i in rng.permutation(len(first))]
        for _ in range(self.retests):
            order.insert(int(rng.integers(len(first) // 2, len(order) + 1)), RETEST)
        return tuple(order)

    def to_json(self) -> dict[str, Any]:
        """Plain values for the database."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any], name: str = "the protocol") -> "Protocol":
        """What `to_json` made, or a TOML file's content; `name` is for errors."""
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(document) - known)
        if unknown:
            raise ValueError(f"a protocol has no {unknown[0]!r}: it has {', '.join(sorted(known))}")
        _check_kinds(document, name)
        methods = document.get("methods", [])
        if not isinstance(methods, list | tuple) or not all(isinstance(m, Mapping) for m in methods):
            raise ValueError("methods are tables: [[methods]] with label, method and questions")
        try:
            askers = tuple(Asker(**method) for method in methods)
            return cls(**{**document, "methods": askers})
        except TypeError as error:
            raise ValueError(f"the protocol is not complete: {_plain(error)}") from error

    @classmethod
    def from_toml(cls, path: Path) -> "Protocol":
        """A protocol file."""
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is no TOML file: {error}") from error
        for name in ("consent", "instructions", "thanks"):
            if isinstance(document.get(name), str):
                document[name] = flowing(document[name])
        if "pool" in document:
            document["pool"] = str((path.parent / str(document["pool"])).resolve())
        return cls.from_json(document, str(path))


def _check_kinds(document: Mapping[str, Any], name: str) -> None:
    """Types, which dataclasses do not look at."""
    kinds = {f.name: type(f.default) for f in fields(Protocol) if isinstance(f.default, bool | int | str)}
    kinds |= {"title": str} | {place: str for place in ("world", "pool") if document.get(place) is not None}
    for one, kind in kinds.items():
        if one in document and type(document[one]) is not kind:
            raise ValueError(f"{name}: {one} must be of kind {kind.__name__}, but is {document[one]!r}")


def _plain(error: TypeError) -> str:
    return re.sub(r"^.*__init__\(\) ", "", str(error)).replace("keyword argument", "setting")


PAPER = Protocol(
    title="Mini-golf",
    world="golf",
    methods=(
        Asker("ActiveGP", "ActiveGP 1 0.1", 15),
        Asker("ActiveLinear", "ActiveLinear", 15),
        Asker("RandomGP", "RandomGP 1 0.1", 15),
    ),
    target_scores=True,
    tests=5,
    rate=True,
)
BUILT_IN = {
    "paper": PAPER,
    "paper-and-prefero": replace(PAPER, methods=(*PAPER.methods, Asker("Prefero", "Prefero", 15)), retests=3),
}


def read_protocol(name: str) -> Protocol:
    """One that is built in, or a TOML file."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    if not Path(name).is_file():
        raise ValueError(f"{name!r} is neither a built-in protocol ({', '.join(BUILT_IN)}) nor a file")
    return Protocol.from_toml(Path(name))


def teaching(title: str, questions: int) -> Protocol:
    """One teacher, one method, and no end."""
    return Protocol(
        title=title,
        methods=(Asker("Prefero", "Prefero", questions),),
        consent="",
        instructions="",
        practice=False,
        ties=True,
        endless=True,
    )
