"""A protocol: what the participants of a study do, and which methods ask them. It is a small TOML file.

Every setting has a comment, which `prefero study protocol` prints beside it. A `[[methods]]` table has the
method (a name of `prefero.methods`), the label (if not the same) and the number of questions (if not 15). An
arena has the plan of the arena in place of methods. It is made by `prefero arena`, not by a file.

The questions of all methods are shuffled together. Every method learns from its own questions alone.
"""

import codecs
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.commands import prefero_command
from prefero._support.files import paths_beside
from prefero._support.names import did_you_mean
from prefero._support.sentences import unwrap
from prefero.arena.plan import ArenaPlan, check_arena_kind
from prefero.learner import Learner, Model
from prefero.methods import NAMES, RealPerson, method_named
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import MOST_ITEMS, PAIR, Kind, allowed_kinds, examples, kind_named
from prefero.questions.kinds.base import LEVELS
from prefero.questions.kinds.label import own_words
from prefero.studies.protocol.participant_texts import (
    ARENA_INSTRUCTIONS,
    ARENA_THANKS,
    CONSENT,
    INSTRUCTIONS,
    THANKS,
    general_instructions,
)

MOST_QUESTIONS = 10_000  # of one method: nobody answers as many
MOST_METHODS = 50
LONGEST_TEXT = 20_000
TEXTS = ("title", "consent", "instructions", "thanks", "task_description")
TEST, RETEST = "test", "retest"  # questions that no method learns from
ARENA = "arena"  # questions of an arena
QUESTIONS = 15  # of a method, as in the paper
LONGEST_LABEL = 100  # letters, as many as the database keeps
FORMER = ("answer_times",)  # settings that databases and files may still have, and that change nothing
STUDY_NAMES = [name for name in NAMES if not name.startswith("Oracle")]  # it needs to know the reward


@dataclass(frozen=True)
class StudyMethod:
    """A method that asks: its name in reports, its name in the registry, and how often it asks."""

    label: str
    method: str
    questions: int

    def __post_init__(self) -> None:
        if not self.label.isprintable():
            raise ValueError(f"the label {self.label!r} has characters that cannot be printed")
        if self.label in (TEST, RETEST) or not 0 < len(self.label) <= LONGEST_LABEL:
            raise ValueError(
                f"a method needs a label of 1 to {LONGEST_LABEL} letters other than {TEST!r} and {RETEST!r}, "
                f"but this is {self.label!r}"
            )
        if type(self.questions) is not int or not 1 <= self.questions <= MOST_QUESTIONS:
            raise ValueError(
                f"method {self.label!r} must ask 1 to {MOST_QUESTIONS} questions, but questions = "
                f"{self.questions!r}"
            )
        method_named(self.method, STUDY_NAMES)
        try:
            self._model(np.zeros((2, 1)))
        except ValueError as error:
            raise ValueError(f"{self.method!r} cannot learn from real people: {error}") from error

    @property
    def accepts_ties(self) -> bool:
        """Whether it can learn from "about equal"."""
        asks = method_named(self.method).asks_with_ties
        return asks and getattr(self._model(np.zeros((2, 1))), "margin", None) != 0

    @property
    def accepts_all_kinds(self) -> bool:
        """Whether it can learn from answers other than plain pairs."""
        return bool(getattr(self._model(np.zeros((2, 1))), "learns_from_all_kinds", True))

    def _model(self, x: Array) -> Model:
        return method_named(self.method).model(RealPerson(), x)

    def learner(self, pool: Pool, seed: int, model: Model | None = None) -> Learner:
        """A learner without answers; with another model, if one is given."""
        return Learner(
            pool,
            seed=seed,
            model=model or self._model(pool.scaled),
            acquisition=method_named(self.method).acquisition,
        )


def _setting(default: Any, comment: str) -> Any:
    """A setting of the TOML file, with its comment there."""
    return field(default=default, metadata={"comment": comment})


@dataclass(frozen=True)
class Protocol:
    """What the participants of a study do, from first to last."""

    title: str = _setting("", "shown on the page; empty: the name of the world or of the data")
    methods: tuple[StudyMethod, ...] = ()
    world: str | None = _setting(
        None, 'or  pool = "drives.csv": a pool file or a dataset, by its path from this file'
    )
    pool: str | None = _setting(
        None, 'a pool file or a dataset, by its path from this file; or  world = "driver"'
    )
    trajectories: int | None = _setting(None, "how many are asked about; left out: as many as in teaching")
    consent: str = _setting(CONSENT, "the text that participants agree to; an empty text is not shown")
    instructions: str = _setting(INSTRUCTIONS, "what they read next")
    thanks: str = _setting(THANKS, "what they read at the end")
    task_description: str = _setting("", "above every question; empty: the world's own sentence")
    target_scores: bool = _setting(
        False, "they first give each target a different score; left out where there are no targets"
    )
    practice: bool = _setting(True, "a first question that does not count")
    tests: int = _setting(0, "random questions that no method learns from, to measure its accuracy")
    retests: int = _setting(
        0, "earlier questions asked again with their sides exchanged, to measure attention"
    )
    rate: bool = _setting(False, "they rate the best trajectory of each method from 1 to 9")
    watch_to_end: bool = _setting(
        True, "they answer after the items were shown to their end, or after L, which skips ahead"
    )
    ties: bool = _setting(False, '"about equal" is an answer; ActiveGP and ActiveLinear cannot learn from it')
    answers: str = _setting(
        PAIR,
        f"{', '.join(map(json.dumps, examples()))}, up to {MOST_ITEMS} trajectories and {max(LEVELS)} "
        'levels; "auto", or several: "pair, rate-5"',
    )
    level_words: tuple[str, ...] = _setting(
        (), 'words for the levels of "success" or "rate-5", the lowest first; empty: the usual ones'
    )
    reasons: bool = _setting(
        False, "after an answer about two they may say which feature made them choose so"
    )
    open_ended: bool = False  # a teacher may continue for as long as they like
    goal: float | None = None  # the fraction of predicted answers at which a teacher wants to stop
    arena: ArenaPlan | None = None

    def __post_init__(self) -> None:
        labels = [method.label for method in self.methods]
        if self.arena is not None and (labels or self.tests or self.retests or self.rate):
            raise ValueError("an arena has no methods, tests, retests or ratings")
        if not labels and self.arena is None:
            raise ValueError("a protocol needs a method that asks: add a [[methods]] table")
        if self.world is not None and self.pool is not None:
            raise ValueError(f"a protocol has a world or a pool, not both {self.world!r} and {self.pool!r}")
        if self.trajectories is not None and self.trajectories < 2:
            raise ValueError(f"a study is about 2 trajectories or more, not {self.trajectories}")
        if len(labels) > MOST_METHODS or max(self.tests, self.retests) > MOST_QUESTIONS:
            raise ValueError(
                f"a protocol has at most {MOST_METHODS} methods, and {MOST_QUESTIONS} tests and retests, but "
                f"this one has {len(labels)}, {self.tests} and {self.retests}"
            )
        texts = {name: getattr(self, name) for name in TEXTS}
        long = [name for name, text in texts.items() if len(text) > LONGEST_TEXT or "\0" in text]
        if long:
            raise ValueError(f"{long[0]} is a text of at most {LONGEST_TEXT:,} letters")
        if len(set(labels)) != len(labels):
            raise ValueError(f"every method needs a different label, but they are {', '.join(labels)}")
        strict = [method.method for method in self.methods if self.ties and not method.accepts_ties]
        if strict:
            raise ValueError(
                f"{strict[0]!r} cannot learn from 'about equal': set ties = false, or leave it out"
            )
        self._check_answers()
        if self.reasons and not self.learns_from_reasons:
            raise ValueError(
                "the methods of this protocol cannot learn from reasons: set reasons = false, or leave it out"
            )
        if self.tests < 0 or self.retests < 0:
            raise ValueError(f"tests and retests are 0 or more, not {self.tests} and {self.retests}")
        if self.retests > self.new_questions // 2:
            raise ValueError(
                f"at most half of {self.new_questions} questions can be asked again, not {self.retests}"
            )

    def _check_answers(self) -> None:
        """An error unless all methods learn from this kind of answers, and the words fit it."""
        kinds = [kind_named(kind) for kind in self.kinds]  # an error if there is none
        object.__setattr__(self, "level_words", own_words(self.level_words, kinds))
        if self.kinds == (PAIR,):
            return
        if self.arena is not None:
            check_arena_kind(self.answers)
        plain = [method.method for method in self.methods if not method.accepts_all_kinds]
        if plain:
            raise ValueError(
                f"{plain[0]!r} learns from pairs only, not from {self.answers!r}: set answers = {PAIR!r}, or "
                "leave it out"
            )

    @property
    def learns_from_reasons(self) -> bool:
        """Whether all methods do."""
        return bool(self.methods) and all(method.accepts_all_kinds for method in self.methods)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds of answers that are asked for; the first is that of tests and of the practice."""
        return allowed_kinds(self.answers)

    @property
    def new_questions(self) -> int:
        """Questions that are not retests."""
        if self.arena is not None:
            return self.arena.questions
        return sum(method.questions for method in self.methods) + self.tests

    @property
    def total_questions(self) -> int:
        """All questions."""
        return self.new_questions + self.retests

    def method(self, label: str) -> StudyMethod:
        """The method of this label."""
        return next(method for method in self.methods if method.label == label)

    def learner(self, label: str, pool: Pool, seed: int, model: Model | None = None) -> Learner:
        """A learner of the method of this label, without answers; with another model, if one is given."""
        return self.method(label).learner(pool, seed, model)

    def schedule(self, seed: int) -> tuple[str, ...]:
        """The label of each question's method, "test" or "retest": shuffled, retests in the second half."""
        rng = np.random.default_rng([seed, 1])
        new = [method.label for method in self.methods for _ in range(method.questions)] + [TEST] * self.tests
        order: list[str] = [new[int(i)] for i in rng.permutation(len(new))]
        for _ in range(self.retests):
            order.insert(int(rng.integers(len(new) // 2, len(order) + 1)), RETEST)
        return tuple(order)

    @property
    def shown_instructions(self) -> str:
        """What participants read: the protocol's own text, or the general one for its kind of answers."""
        if self.instructions != INSTRUCTIONS:
            return self.instructions
        return general_instructions(self.kinds, self.level_words)

    def to_json(self) -> dict[str, Any]:
        """Plain values for the database."""
        return asdict(self) | {"level_words": list(self.level_words)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], name: str = "the protocol") -> "Protocol":
        """What `to_json` made, or a TOML file's content; `name` is for errors."""
        document = {setting: value for setting, value in document.items() if setting not in FORMER}
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(document) - known)
        if unknown:
            named = ", ".join(sorted(known - {"arena"}))  # which is in no file
            raise ValueError(f"a protocol has no {unknown[0]!r}: it has {named}")
        _check_types(document, name)
        methods, arena = document.get("methods", []), document.get("arena")
        if not isinstance(methods, list | tuple) or not all(isinstance(m, Mapping) for m in methods):
            raise ValueError("methods are tables: [[methods]] with label, method and questions")
        read = {
            "methods": tuple(_method(method, name) for method in methods),
            "arena": None if arena is None else ArenaPlan.from_json(arena),
            "level_words": _words(document.get("level_words", ()), name),
        }
        return cls(**{**document, **read})

    @classmethod
    def from_toml(cls, path: Path) -> "Protocol":
        """A protocol file."""
        try:
            document = tomllib.loads(_decoded(path.read_bytes()))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not a protocol in TOML ({error}): {_printed()}") from error
        if document.get("answer_times"):
            raise ValueError(
                f"{path}: no method learns from how long answers took, so leave answer_times out: "
                "seconds are recorded in any case"
            )
        for name in ("consent", "instructions", "thanks", "task_description"):
            if isinstance(document.get(name), str):
                document[name] = unwrap(document[name])
        beside = path.parent / str(document.get("pool", ""))
        if "pool" in document and beside.exists():  # otherwise it may be the id of a dataset
            document["pool"] = str(beside.resolve())
        return cls.from_json(document, str(path))


def _decoded(content: bytes) -> str:
    """The text of a file; PowerShell's `>` writes UTF-16."""
    utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if utf_16 else "utf-8-sig").replace("\r\n", "\n")


def _method(table: Mapping[str, Any], name: str) -> StudyMethod:
    """A [[methods]] table; a label and a number of questions need not be given."""
    known = [f.name for f in fields(StudyMethod)]
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ValueError(f"{name}: a method has no {unknown[0]!r}: it has {', '.join(known)}")
    if "method" not in table:
        raise ValueError(f"{name}: a method is missing its name: method = 'Prefero', or another of them")
    for setting in ("method", "label"):
        if not isinstance(table.get(setting, ""), str):
            raise ValueError(f"{name}: {setting} must be of type str, but is {table[setting]!r}")
    return StudyMethod(**{"label": table["method"], "questions": QUESTIONS, **table})


def _words(given: object, name: str) -> tuple[str, ...]:
    """The words for levels."""
    if not isinstance(given, list | tuple) or not all(isinstance(word, str) for word in given):
        raise ValueError(
            f'{name}: level_words must be a list such as ["bad", "okay", "good"], but is {given!r}'
        )
    return tuple(given)


def _check_types(document: Mapping[str, Any], name: str) -> None:
    """Dataclasses do not check types."""
    types = {f.name: type(f.default) for f in fields(Protocol) if isinstance(f.default, bool | int | str)}
    optional = {"world": str, "pool": str, "trajectories": int, "goal": float}
    types |= {setting: kind for setting, kind in optional.items() if document.get(setting) is not None}
    for setting, kind in types.items():
        if setting in document and type(document[setting]) is not kind:
            raise ValueError(
                f"{name}: {setting} must be of type {kind.__name__}, but is {document[setting]!r}"
            )


PAPER = Protocol(
    world="golf",
    methods=tuple(StudyMethod(name, name, QUESTIONS) for name in ("ActiveGP", "ActiveLinear", "RandomGP")),
    target_scores=True,
    tests=5,
    rate=True,
)
BUILT_IN = {
    "paper": PAPER,
    "paper-and-prefero": replace(
        PAPER, methods=(*PAPER.methods, StudyMethod("Prefero", "Prefero", QUESTIONS)), retests=3
    ),
}


def read_protocol(name: str) -> Protocol:
    """A built-in protocol by its name, or a TOML file."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    if not Path(name).is_file():
        guess = did_you_mean(name, [*BUILT_IN, *paths_beside(name)]) or ":"
        raise FileNotFoundError(
            f"no such file or built-in protocol ({', '.join(BUILT_IN)}): {name!r}{guess} {_printed()}"
        )
    return Protocol.from_toml(Path(name))


def _printed() -> str:
    """The command that prints a protocol, as the remedy of an error."""
    return f"{prefero_command('study', 'protocol', 'paper')} > mine.toml  prints one to edit"


def teaching_protocol(
    title: str,
    questions: int,
    task_description: str = "",
    answers: Kind = PAIR,
    level_words: Sequence[str] = (),
) -> Protocol:
    """For a teacher: one method, which likes to show what is good, and no end."""
    return Protocol(
        title=title,
        task_description=unwrap(task_description),
        methods=(StudyMethod("Prefero", "Prefero, good ones", questions),),
        consent="",
        instructions="",
        practice=False,
        ties=True,
        answers=answers,
        level_words=tuple(level_words),
        open_ended=True,
    )


ARENA_TITLE = "Arena"  # the name of an arena may name the policies


def arena_protocol(plan: ArenaPlan, task_description: str = "", answers: Kind = PAIR) -> Protocol:
    """For the judges of an arena, who are not told whose rollouts they see."""
    check_arena_kind(answers)
    return Protocol(
        title=ARENA_TITLE,
        task_description=unwrap(task_description) or ARENA_INSTRUCTIONS[answers],
        consent="",
        instructions="",
        thanks=ARENA_THANKS,
        practice=False,
        ties=True,
        answers=answers,
        arena=plan,
    )
