"""The plan of an arena: whose rollout each trajectory of a pool is, and when the arena ends.

    policies      the names of the policies that are compared
    policy_of     by trajectory: the index of the policy whose rollout it is
    tasks         by trajectory: the task of the rollout; empty if there is only one
    starts        by trajectory: the start of the rollout, "" where it is not known; empty if none is
    labels        which trajectories are successes and failures, if datasets say so
    goal          what is to be known: the "order" of all policies, or which one is the "best"
    confidence    the arena ends when that is known with this probability
    least_difference   smaller ones do not matter: the fraction of comparisons won beyond one half
    questions     the arena ends after so many answers at the latest

Rollouts are compared within a task only, and from the same start where both policies have one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, Self, get_args

from prefero._support.names import listed
from prefero.questions.answer_kinds import PAIR, Kind
from prefero.questions.labels import Labels

Goal = Literal["order", "best"]
GOALS: tuple[Goal, ...] = get_args(Goal)
SUCCESS, PAIR_OR_NONE = "success", "pair-or-none"
ARENA_KINDS: tuple[Kind, ...] = (PAIR, SUCCESS, PAIR_OR_NONE)  # what judges may be asked
CONFIDENCE = 0.95
LEAST_DIFFERENCE = 0.15  # of two policies without a difference, some 80 comparisons show that there is none
QUESTIONS_PER_POLICY = 60  # that an arena has at most, unless it is said
MOST_POLICIES = 50
MOST_TRAJECTORIES = 100_000
LONGEST_NAME = 200  # letters


def check_arena_kind(kind: Kind) -> None:
    """An error unless the judges of an arena can be asked for answers of this kind."""
    if kind not in ARENA_KINDS:
        raise ValueError(f"the judges of an arena are asked for {listed(ARENA_KINDS)}, but not for {kind!r}")


@dataclass(frozen=True)
class ArenaPlan:
    """Whose rollout each trajectory is, and when the arena ends.

    Args:
        policies: The names of the policies.
        policy_of: For each trajectory, the index of its policy.
        tasks: The task of each trajectory; empty if there is only one.
        starts: The start of each trajectory, "" where it is not known; empty if none is.
        goal: What is to be known: the "order" of all policies, or the "best".
        confidence: The probability with which that is known at the end.
        questions: The largest number of answers.
        recorded: False if every comparison has new rollouts, so that nothing about one rollout can be learned
            from another comparison of it.
        labels: Of success, by trajectory, that datasets have; None if they have none.
        least_difference: The least difference of two policies that matters, as the fraction of comparisons
            that the better one wins beyond one half.
    """

    policies: tuple[str, ...]
    policy_of: tuple[int, ...]
    tasks: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    goal: Goal = "order"
    confidence: float = CONFIDENCE
    questions: int = 0
    recorded: bool = True
    labels: Labels | None = None
    least_difference: float = LEAST_DIFFERENCE

    def __post_init__(self) -> None:
        self._check_policies()
        self._check_rollouts()
        self._check_labels()
        if self.goal not in GOALS:
            raise ValueError(f"the goal of an arena is {' or '.join(GOALS)}, but this is {self.goal!r}")
        if not 0.5 < self.confidence < 1:
            raise ValueError(f"the confidence is between 0.5 and 1, as 0.95, but is {self.confidence!r}")
        if not 0 < self.least_difference < 0.5:
            raise ValueError(
                f"the least difference that matters is between 0 and 0.5, as {LEAST_DIFFERENCE} (wins of "
                f"{0.5 + LEAST_DIFFERENCE:.0%}), but is {self.least_difference!r}"
            )
        if self.questions < 0:
            raise ValueError(f"an arena has one question or more, but this one has {self.questions}")
        if self.questions == 0:
            object.__setattr__(self, "questions", QUESTIONS_PER_POLICY * len(self.policies))

    @classmethod
    def of_policies(cls, policies: Sequence[str], **settings: Any) -> Self:
        """An arena in which every comparison has new rollouts, for example on a real robot.

        Args:
            policies: The names of the policies.
            **settings: `goal`, `confidence` and `questions`.

        Returns:
            The plan; the trajectories of its questions are the policies.
        """
        names = tuple(policies)
        return cls(names, tuple(range(len(names))), recorded=False, **settings)

    def _check_policies(self) -> None:
        names = self.policies
        if not 2 <= len(names) <= MOST_POLICIES:
            raise ValueError(
                f"an arena compares 2 to {MOST_POLICIES} policies, but this one has {len(names)}"
            )
        if len(set(names)) != len(names):
            raise ValueError(f"every policy needs a name of its own, but they are {listed(names)}")
        bad = [name for name in names if not (0 < len(name) <= LONGEST_NAME and name.isprintable())]
        if bad:
            raise ValueError(f"a policy has a name of 1 to {LONGEST_NAME} letters, but one is {bad[0]!r}")

    def _check_rollouts(self) -> None:
        count = len(self.policy_of)
        if count > MOST_TRAJECTORIES:
            raise ValueError(
                f"an arena has at most {MOST_TRAJECTORIES:,} rollouts, but this one has {count:,}"
            )
        missing = set(range(len(self.policies))) ^ set(self.policy_of)
        if missing:
            unknown = sorted(missing)[0]
            name = self.policies[unknown] if 0 <= unknown < len(self.policies) else unknown
            raise ValueError(f"every policy needs a rollout, and every rollout a policy, but not so {name!r}")
        for what, each in (("tasks", self.tasks), ("starts", self.starts)):
            if each and len(each) != count:
                raise ValueError(f"there are {count} rollouts, but {len(each)} {what}")
        if not self.pairs:
            raise ValueError("no two policies have rollouts of the same task, so none can be compared")

    def _check_labels(self) -> None:
        if self.labels is None:
            return
        if self.labels.kind != SUCCESS:
            raise ValueError(
                f"the labels of an arena say of a rollout that it passed or failed, but {self.labels.name!r} "
                f"has {len(self.labels.words)} levels: take a column of two, or --label-levels 2"
            )
        if max(self.labels.items, default=0) >= len(self.policy_of):
            last = max(self.labels.items)
            raise ValueError(f"there are {len(self.policy_of)} rollouts, but a label is of number {last}")

    @property
    def task_names(self) -> tuple[str, ...]:
        """The different tasks; one without a name if none is given."""
        return tuple(dict.fromkeys(self.tasks)) or ("",)

    @cached_property
    def rollouts(self) -> dict[tuple[int, str], tuple[int, ...]]:
        """The trajectories of each policy in each task."""
        found: dict[tuple[int, str], list[int]] = {}
        for trajectory, policy in enumerate(self.policy_of):
            found.setdefault((policy, self.task_of(trajectory)), []).append(trajectory)
        return {key: tuple(indices) for key, indices in found.items()}

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of policies that have rollouts of the same task."""
        return tuple(pair for pair in combinations(range(len(self.policies)), 2) if self.common_tasks(*pair))

    @property
    def unlabelled(self) -> tuple[str, ...]:
        """The policies of which no rollout has a label, where there are labels."""
        labelled = {self.policy_of[item] for item in self.labels.items} if self.labels else set()
        return tuple(n for policy, n in enumerate(self.policies) if self.labels and policy not in labelled)

    def common_tasks(self, *policies: int) -> list[str]:
        """The tasks of which all of these policies, given by their indices, have rollouts."""
        return [t for t in self.task_names if all((policy, t) in self.rollouts for policy in policies)]

    def task_of(self, trajectory: int) -> str:
        """The task of a trajectory."""
        return self.tasks[trajectory] if self.tasks else ""

    def start_of(self, trajectory: int) -> str:
        """The start of a trajectory; "" if it is not known."""
        return self.starts[trajectory] if self.starts else ""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """What `to_json` made.

        Args:
            document: The plain values.

        Returns:
            The plan.

        Raises:
            ValueError: If they are not those of a plan.
        """
        _check_document(document, [f.name for f in fields(cls)])
        values: dict[str, Any] = {name: tuple(v) if name in LISTS else v for name, v in document.items()}
        if values.get("labels") is not None:
            values["labels"] = _labels(values["labels"])
        return cls(**values)


LISTS = {"policies": str, "policy_of": int, "tasks": str, "starts": str}
VALUES = {"goal": str, "confidence": float, "least_difference": float, "questions": int, "recorded": bool}


def _labels(document: Any) -> Labels:
    try:
        return Labels.from_json(document)
    except (KeyError, TypeError) as error:
        raise ValueError(f"the labels of an arena are not what they should be: {document!s:.100}") from error


def _check_document(document: Any, known: Sequence[str]) -> None:
    """Dataclasses do not check types."""
    if not isinstance(document, Mapping) or not {"policies", "policy_of"} <= set(document) <= set(known):
        raise ValueError(f"the plan of an arena has {', '.join(known)}, but this is {document!s:.100}")
    for name, kind in LISTS.items():
        values = document.get(name, ())
        if not isinstance(values, list | tuple) or any(type(value) is not kind for value in values):
            raise ValueError(f"{name} of an arena is a list of {kind.__name__}, but is {values!s:.100}")
    for name, kind in VALUES.items():
        if name in document and type(document[name]) is not kind:
            raise ValueError(f"{name} of an arena is of type {kind.__name__}, but is {document[name]!r}")
