"""Random answers to questions about hostile pools: nothing crashes, and every reward is finite.

    pool       2 to 8 trajectories with 1 to 4 features: enormous, minute, almost constant, repeated, with
               outliers, or copies of one another
    sequence   1 to 8 answers, skips and undos, consistent or not, to questions that were asked or invented

A few sequences are told to Prefero's default model, which is slow; most to single Gaussian processes.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from prefero import Learner, Pool, PreferenceGP, Question
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Linear, Matern, Quadratic
from prefero.learner import Model
from prefero.models.inference.infer import Inference
from prefero.models.linear import LinearPreference
from soak import repetitions

BLOCKS = 20
SEQUENCES = repetitions("sequences", short=300, long=100_000)
SLOW = 200  # one in so many sequences has a slow model
ALWAYS_ASK = 10  # one in so many asks before every answer

Column = Callable[[np.random.Generator, int], Array]
COLUMNS: dict[str, Column] = {
    "ordinary": lambda rng, n: rng.normal(size=n),
    "enormous": lambda rng, n: rng.normal(size=n) * 1e150,
    "minute": lambda rng, n: rng.normal(size=n) * 1e-150,
    "almost constant": lambda rng, n: 1.0 + 1e-8 * rng.normal(size=n),
    "far from zero": lambda rng, n: 1e9 + rng.normal(size=n),
    "few values": lambda rng, n: rng.integers(2, size=n).astype(float),
    "one outlier": lambda rng, n: np.where(np.arange(n) == 0, 1e12, rng.normal(size=n)),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 3,
}


def hostile_pool(rng: np.random.Generator) -> Pool | None:
    """A pool, or None if it is refused with a reason."""
    rows, count = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    features = np.column_stack([COLUMNS[str(rng.choice(list(COLUMNS)))](rng, rows) for _ in range(count)])
    if rng.random() < 0.2:
        features = np.column_stack([features, features[:, :1] * rng.choice([1.0, -1e6])])  # a copy
    if rng.random() < 0.2:
        features[1] = features[0]  # the same trajectory twice
    try:
        return Pool(features)
    except ValueError as error:
        assert "for every trajectory" in str(error)  # noqa: PT017
        return None


def model(rng: np.random.Generator, number: int, features: int) -> Model | None:
    """A model; None for the default."""
    if number % SLOW == 0:
        return None if number % (2 * SLOW) else LinearPreference(draws=100)
    kernels = (RBF(0.5), Matern(1.0), Linear() + Quadratic(), Anchored(RBF(2.0), (0.0,) * features))
    noise = float(10 ** rng.uniform(-3, 1))
    inference: Inference = "laplace" if rng.random() < 0.3 else "ep"
    return PreferenceGP(
        kernels[int(rng.integers(len(kernels)))], noise=noise, margin=0.1, inference=inference, learn=False
    )


def run_sequence(rng: np.random.Generator, number: int) -> None:
    """Teach with random answers, and check all that is learned."""
    pool = hostile_pool(rng)
    if pool is None:
        return
    chosen = model(rng, number, len(pool.names))
    learner = Learner(pool, seed=number, model=chosen)
    choices = ("left", "right") if isinstance(chosen, LinearPreference) else ("left", "right", "equal")
    for _ in range(int(rng.integers(1, 9))):
        act(learner, rng, choices, ask=number % ALWAYS_ASK == 0)
    check(learner, pool)


def act(learner: Learner, rng: np.random.Generator, choices: tuple[str, ...], ask: bool) -> None:
    pool = learner.pool
    a, b = (int(i) for i in rng.choice(len(pool), 2, replace=False))
    roll = rng.random()
    try:
        question = learner.ask() if ask else Question(a, b)
    except ValueError as error:
        assert "nothing is left to ask" in str(error)  # noqa: PT017
        return
    if roll < 0.1 and ask:
        learner.skip(question)
    elif roll < 0.2 and learner.answers:
        learner.undo()
    else:
        learner.tell(question, choices[int(rng.integers(len(choices)))])


def check(learner: Learner, pool: Pool) -> None:
    reward = learner.reward()
    mean, std = reward.predict(pool.features, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert (std >= 0).all()
    probability = reward.predict_proba(pool.features[:1], pool.features[1:2])
    assert ((probability >= 0) & (probability <= 1)).all()
    assert 0 <= reward.best(pool).index < len(pool)
    try:
        asked = learner.ask()
    except ValueError as error:
        assert "nothing is left to ask" in str(error)  # noqa: PT017
        return
    assert len(set(asked.items)) == len(asked.items)
    assert max(asked.items) < len(pool)
    assert np.isfinite(asked.value)


def numbers(block: int) -> Iterator[int]:
    return iter(range(block, SEQUENCES, BLOCKS))


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_answers_to_hostile_pools(block: int) -> None:
    for number in numbers(block):
        try:
            run_sequence(np.random.default_rng([number]), number)
        except Exception as error:
            raise AssertionError(f"sequence {number} fails: {error!r}") from error
