"""What Prefero requires of a judge; one function per requirement."""

from prefero.judges import Judge, MalformedAnswer, TryAgain, Verdict
from prefero.pools.pool import Pool
from prefero.questions import CHOICES
from prefero.questions.answer import SOURCES


def check_judge(judge: Judge, pool: Pool) -> None:
    """All requirements; the first two trajectories of the pool can be judged, and differ."""
    check_name(judge)
    check_verdict(judge, pool)
    check_digest(judge, pool)
    check_sends(judge, pool)


def check_name(judge: Judge) -> None:
    """It has a name of its own, which is no source's."""
    assert judge.name
    assert judge.name not in SOURCES


def check_verdict(judge: Judge, pool: Pool) -> None:
    """What it says is one of the choices, and costs no less than nothing."""
    try:
        verdict = judge.judge(pool, 0, 1)
    except (TryAgain, MalformedAnswer) as error:
        raise AssertionError(f"it could not judge the first two trajectories: {error}") from error
    assert isinstance(verdict, Verdict)
    assert verdict.choice is None or verdict.choice in CHOICES
    assert verdict.tokens >= 0
    assert judge.expected_tokens >= 0


def check_digest(judge: Judge, pool: Pool) -> None:
    """It is the same for the same pair, and differs for the other order and other features; or empty."""
    digest = judge.digest(pool, 0, 1)
    assert judge.digest(pool, 0, 1) == digest
    if digest:
        assert judge.digest(pool, 1, 0) != digest
        other = Pool(pool.features + 1.0, pool.names)
        assert pool.source is not None or pool.clips is not None or judge.digest(other, 0, 1) != digest


def check_sends(judge: Judge, pool: Pool) -> None:
    """It says in one line what is sent."""
    assert "\n" not in judge.sends(pool, 60)
