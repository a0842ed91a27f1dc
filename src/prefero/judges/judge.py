"""What a judge is: it says which of two trajectories of a pool is better, one pair at a time.

A judge makes one attempt, such as one request to a server. What repeats attempts, asks in both orders, keeps
within a budget and remembers answers is `prefero.judges.asking`, the same for all judges.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from prefero.pools.pool import Pool
from prefero.questions import PairChoice


@dataclass(frozen=True)
class Verdict:
    """What a judge says of two trajectories.

    Args:
        choice: "left", "right", "equal", or None if it cannot say.
        reason: Why, in its words.
        tokens: How many tokens this took; 0 for judges that do not count in tokens.
    """

    choice: PairChoice | None
    reason: str = ""
    tokens: int = 0


class JudgeError(RuntimeError):
    """A judge cannot go on: its server refuses, or does not respond any more."""


class TryAgain(Exception):
    """An attempt failed, and another one may not.

    Args:
        reason: What went wrong, in words.
        seconds: The pause before another attempt; None if the judge does not know.
        tokens: How many tokens the failed attempt took.
    """

    def __init__(self, reason: str, seconds: float | None = None, tokens: int = 0) -> None:
        super().__init__(reason)
        self.seconds, self.tokens = seconds, tokens


class MalformedAnswer(ValueError):
    """There was an answer, and it says nothing about the pair.

    Args:
        reason: What is wrong with it, in words.
        tokens: How many tokens it took.
    """

    def __init__(self, reason: str, tokens: int = 0) -> None:
        super().__init__(reason)
        self.tokens = tokens


class Judge(ABC):
    """Somebody beside the person who says which of two trajectories is better.

    It has a `name`, which is that of no person. If what it says may depend on which of the two it sees first,
    it is asked in `both_orders`.
    """

    name: str
    both_orders: bool = True

    @abstractmethod
    def judge(self, pool: Pool, left: int, right: int) -> Verdict:
        """Which of two trajectories is better, in one attempt.

        Args:
            pool: The trajectories.
            left: The number of the one that is shown first.
            right: That of the other one.

        Returns:
            What the judge says.

        Raises:
            TryAgain: If another attempt may succeed.
            MalformedAnswer: If the answer says nothing about the pair.
            JudgeError: If no further attempt makes sense.
        """

    def digest(self, pool: Pool, left: int, right: int) -> str:  # noqa: ARG002
        """A text that differs wherever the answer may differ, under which the answer is remembered.

        Args:
            pool: The trajectories.
            left: The number of the one that is shown first.
            right: That of the other one.

        Returns:
            A digest of what is sent; "" if answers are not remembered.
        """
        return ""

    def sends(self, pool: Pool, pairs: int) -> str:  # noqa: ARG002
        """What goes where, in a sentence that is printed before the first attempt.

        Args:
            pool: The trajectories.
            pairs: How many pairs it is asked about.

        Returns:
            The sentence; "" if nothing leaves this machine.
        """
        return ""

    @property
    def expected_tokens(self) -> int:
        """How many tokens the next attempt takes at most, as far as that is known."""
        return 0
