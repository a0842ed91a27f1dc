"""Asks a judge about pairs of trajectories: in both orders, within a budget, and never twice the same.

    call        one attempt of a judge, such as a request to its server; repeated ones count too
    answer      what a judge says of a pair in one order
    pair        two trajectories; its choice is what the answers in both orders agree on, or "equal" where
                they contradict each other

Answers lie in Prefero's cache, under the digest of what was sent. So an interrupted run continues where it
was, and a second one asks nothing.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from prefero._support.files import cache_folder, make_private_folder, write_atomically
from prefero._support.progress_bar import progress as progress_bar
from prefero._support.sentences import percent, pluralize
from prefero.judges.judge import Judge, JudgeError, MalformedAnswer, TryAgain, Verdict
from prefero.pools.pool import Pool
from prefero.questions import PairChoice
from prefero.questions.prior_knowledge import Judgements
from prefero.trajectories.diversity import sample_diverse

PAIRS = 60
ATTEMPTS = 5  # at one answer
PAUSE, LONGEST_PAUSE = 1.0, 300.0  # seconds: the first one, which doubles, and what a server may ask for
MOST_MALFORMED = 10  # answers one after the other that say nothing
LONGEST_REASON = 600  # letters that are kept
OPPOSITE: dict[PairChoice, PairChoice] = {"left": "right", "right": "left", "equal": "equal"}
PREFERS_ONE = 0.8  # of the choices are the first one that was shown, or the second: its place decides

Pair = tuple[int, int]


@dataclass(frozen=True)
class Budget:
    """How much a judge may be asked.

    Args:
        calls: Attempts, such as requests to a server; None is no limit.
        tokens: Tokens, sent and received; None is no limit. No call begins that could take more than is left.
    """

    calls: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("calls", self.calls), ("tokens", self.tokens)):
            if value is not None and value < 1:
                raise ValueError(
                    f"a budget of {name} is 1 or more, but is {value}: leave it out for no limit"
                )


@dataclass(frozen=True)
class JudgedPair:
    """Two trajectories and what a judge says of them.

    Args:
        left: The number of one trajectory.
        right: The number of the other one.
        choice: Which one is better: "left", "right" or "equal".
        reason: Why, as the judge said it.
        straight: Which one it chose when the left one was shown first.
        swapped: Which one it chose when the right one was shown first; None if it was not asked.
    """

    left: int
    right: int
    choice: PairChoice
    reason: str = ""
    straight: PairChoice | None = None
    swapped: PairChoice | None = None


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """All that a judge said, and how it said it.

    Args:
        judgements: For `Learner.judge`.
        pairs: Those with a choice.
        wanted: How many pairs it was to be asked about.
        calls: Attempts in this run.
        tokens: Tokens of this run.
        remembered: Answers that were known from earlier runs.
        malformed: Answers that said nothing, and are left out.
        unsure: Answers that it cannot say, which are left out.
        stopped: Why it was not asked about the other pairs; "" if it was.
    """

    judgements: Judgements
    pairs: tuple[JudgedPair, ...]
    wanted: int
    calls: int = 0
    tokens: int = 0
    remembered: int = 0
    malformed: int = 0
    unsure: int = 0
    stopped: str = ""

    @property
    def in_both_orders(self) -> tuple[JudgedPair, ...]:
        """The pairs that it saw in both orders."""
        return tuple(pair for pair in self.pairs if pair.straight is not None and pair.swapped is not None)

    @property
    def consistent(self) -> int:
        """How many pairs it judged the same in both orders."""
        return sum(pair.straight == pair.swapped for pair in self.in_both_orders)

    @property
    def contradicting(self) -> int:
        """How many pairs it judged the opposite in the other order."""
        return sum({pair.straight, pair.swapped} == {"left", "right"} for pair in self.in_both_orders)

    @property
    def first_chosen(self) -> tuple[int, int]:
        """How often it chose what was shown first, and out of how many choices that were no ties."""
        places = [pair.straight for pair in self.pairs] + [
            None if pair.swapped is None else OPPOSITE[pair.swapped] for pair in self.pairs
        ]
        counts = Counter(places)
        return counts["left"], counts["left"] + counts["right"]

    def describe(self) -> list[str]:
        """In sentences: the choices, how consistent they are, what was left out, and what it cost."""
        name, counts = self.judgements.judge, Counter(pair.choice for pair in self.pairs)
        better = counts["left"] + counts["right"]
        found = [
            f"{name} judged {len(self.pairs)} of {pluralize(self.wanted, 'pair')}: {better} with a better "
            f"one, {counts['equal']} about equal."
        ]
        found += self._about_orders()
        left_out = [f"{self.malformed} malformed"] * bool(self.malformed)
        left_out += [f'{self.unsure} times "cannot say"'] * bool(self.unsure)
        if left_out:
            found.append(f"Answers that were left out: {', '.join(left_out)}.")
        if self.calls or self.remembered:
            found.append(self._cost())
        if better == 0:
            found.append(f"Nothing can be learned from {name}: it prefers no trajectory to another.")
        return [*found, f"Not all pairs were judged: {self.stopped}."] if self.stopped else found

    def _about_orders(self) -> list[str]:
        both = len(self.in_both_orders)
        if not both:
            return []
        opposite = f" and the opposite about {self.contradicting}, which count as about equal"
        found = [
            f"In both orders it said the same about {self.consistent} of {pluralize(both, 'pair')}"
            f"{opposite if self.contradicting else ''}."
        ]
        first, choices = self.first_chosen
        for place, chosen in (("first", first), ("second", choices - first)):
            if choices and chosen >= PREFERS_ONE * choices and self.contradicting > both / 2:
                found.append(
                    f"It chose the one that was shown {place} in {percent(chosen / choices)} of its choices: "
                    "the place decides, not the trajectory."
                )
        return found

    def _cost(self) -> str:
        tokens = f", {self.tokens:,} tokens" if self.tokens else ""
        kept = pluralize(self.remembered, "answer")
        known = f"; {kept} of earlier runs {'was' if self.remembered == 1 else 'were'} kept"
        return f"{pluralize(self.calls, 'call')}{tokens}{known if self.remembered else ''}."


def spread_pairs(pool: Pool, count: int = PAIRS, seed: int = 0) -> list[Pair]:
    """Different pairs of trajectories that differ most, each trajectory in as few of them as possible.

    Args:
        pool: The trajectories.
        count: How many pairs; fewer if there are not so many.
        seed: Of the pairs and of the order in which they are shown.

    Returns:
        The numbers of both trajectories of each pair.
    """
    if count < 1:
        raise ValueError(f"the number of pairs is 1 or more, but is {count}")
    rng = np.random.default_rng(seed)
    rows = sample_diverse(pool.scaled, min(2 * count, len(pool)), seed=seed)
    if len(rows) * (len(rows) - 1) // 2 <= 2 * count:  # too few to be matched at random again and again
        every: list[Pair] = [(int(a), int(b)) for a, b in combinations(rows, 2)]
        return [every[place] for place in rng.permutation(len(every))[:count]]
    found: dict[frozenset[int], Pair] = {}
    while len(found) < count:
        order = rng.permutation(rows).tolist()
        for pair in zip(order[::2], order[1::2], strict=False):
            found.setdefault(frozenset(pair), pair)
    return list(found.values())[:count]


def judge_pairs(
    pool: Pool,
    judge: Judge,
    pairs: Sequence[Pair] | None = None,
    *,
    budget: Budget | None = None,
    seed: int = 0,
    cache: bool = True,
    progress: bool | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> JudgedPairs:
    """Ask a judge about pairs of a pool's trajectories.

    Args:
        pool: The trajectories.
        judge: Who is asked, in both orders where the order may matter.
        pairs: The numbers of both trajectories of each pair; by default 60 that are spread over the pool.
        budget: How much may be asked.
        seed: Of the pairs, if none are given.
        cache: Whether to read answers from the cache, and to store them there.
        progress: Show a progress bar; None shows it on a terminal.
        pause: Waits so many seconds before another attempt.

    Returns:
        What the judge said, for `Learner.judge(found.judgements)`. If it could not be asked about all pairs,
        `stopped` says why.

    Raises:
        JudgeError: If there is no answer at all.
    """
    chosen = spread_pairs(pool, seed=seed) if pairs is None else [(int(a), int(b)) for a, b in pairs]
    for index in (index for pair in chosen for index in pair):
        pool.check_index(index)
    judgements_of(pool, judge.name, [])  # an error before anything is asked if the name is taken
    asker = _Asker(pool, judge, budget or Budget(), cache, pause)
    found: list[JudgedPair] = []
    with progress_bar(f"asking {judge.name}", len(chosen), progress) as advance:
        try:
            for left, right in chosen:
                pair = asker.pair(left, right)
                found += [] if pair is None else [pair]
                advance(1)
        except JudgeError as error:
            if not found:
                raise
            asker.stopped = str(error)
    return asker.result(found, len(chosen))


def judgements_of(pool: Pool, judge: str, pairs: Sequence[JudgedPair]) -> Judgements:
    """The pairs as a pool's knowledge has them."""
    better = [pair.right if pair.choice == "right" else pair.left for pair in pairs]
    worse = [pair.left if pair.choice == "right" else pair.right for pair in pairs]
    rows = np.array([better, worse], dtype=np.intp).reshape(2, len(pairs))
    tied = np.array([pair.choice == "equal" for pair in pairs], dtype=bool)
    return Judgements(judge, pool.features[rows[0]], pool.features[rows[1]], tied)


@dataclass
class _Asker:
    """One run: what was asked so far, and what that cost."""

    pool: Pool
    judge: Judge
    budget: Budget
    cache: bool
    pause: Callable[[float], None]
    stopped: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    largest: int = 0  # tokens of one call
    malformed_in_a_row: int = 0

    def pair(self, left: int, right: int) -> JudgedPair | None:
        """What the judge says of a pair; None if it says nothing in one of the orders."""
        straight = self.answer(left, right)
        if straight is None or not self.judge.both_orders:
            return None if straight is None else _judged(left, right, straight, None)
        swapped = self.answer(right, left)
        return None if swapped is None else _judged(left, right, straight, swapped)

    def answer(self, first: int, second: int) -> Verdict | None:
        """What the judge says in this order: remembered, or asked now; None if it says nothing."""
        place = self._place(first, second)
        known = None if place is None else _read(place)
        if known is not None:
            self.counts["remembered"] += 1
        else:
            known = self._asked(first, second)
            if known is not None and place is not None:
                _write(place, known)
        if known is not None and known.choice is None:
            self.counts["unsure"] += 1
            return None
        return known

    def _asked(self, first: int, second: int) -> Verdict | None:
        try:
            verdict = self._attempts(first, second)
        except MalformedAnswer as error:
            self._pay(error.tokens)
            self.counts["malformed"] += 1
            self.malformed_in_a_row += 1
            if self.malformed_in_a_row == MOST_MALFORMED:
                raise JudgeError(
                    f"{self.judge.name} gave {MOST_MALFORMED} answers one after the other that say nothing, "
                    f"the last because {error}: check the model"
                ) from error
            return None
        self._pay(verdict.tokens)
        self.malformed_in_a_row = 0
        return verdict

    def _attempts(self, first: int, second: int) -> Verdict:
        wait = PAUSE
        for attempt in range(1, ATTEMPTS + 1):
            self._take()
            try:
                return self.judge.judge(self.pool, first, second)
            except TryAgain as error:
                self._pay(error.tokens)
                seconds = wait if error.seconds is None else error.seconds
                if attempt == ATTEMPTS:
                    raise JudgeError(f"after {ATTEMPTS} attempts, {error}") from error
                if seconds > LONGEST_PAUSE:
                    raise JudgeError(f"{error}, and wants a pause of {seconds:.0f} s: try later") from error
                if seconds > 0.0:
                    self.pause(seconds)
                    wait *= 2
        raise AssertionError("the last attempt returns or raises")

    def _take(self) -> None:
        """Count a call; an error if the budget has none left."""
        calls, tokens = self.budget.calls, self.budget.tokens
        if calls is not None and self.counts["calls"] >= calls:
            raise JudgeError(f"the budget of {pluralize(calls, 'call')} is spent")
        next_call = max(self.judge.expected_tokens, self.largest)
        if tokens is not None and self.counts["tokens"] + next_call > tokens:
            raise JudgeError(
                f"of the budget of {tokens:,} tokens {self.counts['tokens']:,} are spent, and the next call "
                f"may take {next_call:,}"
            )
        self.counts["calls"] += 1

    def _pay(self, tokens: int) -> None:
        self.counts["tokens"] += tokens
        self.largest = max(self.largest, tokens)

    def _place(self, first: int, second: int) -> Path | None:
        """The file that remembers an answer, if there is one."""
        text = self.judge.digest(self.pool, first, second)
        if not text or not self.cache:
            return None
        return cache_folder() / "judges" / f"{hashlib.sha256(text.encode()).hexdigest()[:40]}.json"

    def result(self, pairs: list[JudgedPair], wanted: int) -> JudgedPairs:
        """All of it."""
        if not pairs and (self.counts["malformed"] or self.counts["unsure"]):
            raise JudgeError(
                f"{self.judge.name} said nothing about {pluralize(wanted, 'pair')}: "
                f"{self.counts['malformed']} answers were malformed, and {self.counts['unsure']} times it "
                "could not say"
            )
        return JudgedPairs(
            judgements_of(self.pool, self.judge.name, pairs),
            tuple(pairs),
            wanted,
            **{name: self.counts[name] for name in ("calls", "tokens", "remembered", "malformed", "unsure")},
            stopped=self.stopped,
        )


def _judged(left: int, right: int, straight: Verdict, swapped: Verdict | None) -> JudgedPair:
    """The pair with its choice; both verdicts have one."""
    assert straight.choice is not None
    if swapped is None or swapped.choice is None:
        return JudgedPair(left, right, straight.choice, straight.reason, straight.choice)
    other = OPPOSITE[swapped.choice]
    agreed = straight.choice if straight.choice == other else "equal"
    return JudgedPair(left, right, agreed, straight.reason, straight.choice, other)


def _read(place: Path) -> Verdict | None:
    """A damaged file counts as none."""
    try:
        known = json.loads(place.read_text(encoding="utf-8"))
        if known["choice"] not in (*OPPOSITE, None):
            return None
        return Verdict(known["choice"], str(known["reason"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(place: Path, verdict: Verdict) -> None:
    make_private_folder(place.parent)
    known = {"choice": verdict.choice, "reason": verdict.reason[:LONGEST_REASON], "tokens": verdict.tokens}
    write_atomically(place, json.dumps(known), private=True)
