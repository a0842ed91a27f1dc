"""Posteriors as they were recorded: evidence, means, deviations and gradients for answers of every kind.

Other tests have judges of their own; this one says whether a change of the code changed any result. Where
that is meant, record them again:  PYTHONPATH=tests python tests/models/inference/test_golden_record.py
"""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Kernel, Linear, Matern, Quadratic
from prefero.models.inference.evidence import log_evidence
from prefero.models.inference.infer import Inference, infer
from prefero.models.likelihood.probabilities import People, answer_probabilities
from prefero.models.likelihood.probit import Probit
from prefero.questions import Answer, Comparisons, Question
from prefero.questions.answer_kinds import Kind, choices_of, items_of

RECORD = Path(__file__).with_name("golden_record.json")
KERNELS: tuple[Kernel, ...] = (
    RBF(theta=0.3),
    Linear() + 0.5 * Quadratic(),
    Anchored(2.0 * Matern(lengthscale=(1.0, 1.5, 0.7), nu=2.5), (0.1, 0.0, -0.2)),
)
KINDS: dict[str, tuple[list[Kind], float]] = {  # with the margin
    "pairs": (["pair"], 0.0),
    "ties": (["pair"], 0.25),
    "strengths": (["strength"], 0.25),
    "best of three": (["best-of-3"], 0.0),
    "worst of four": (["worst-of-4"], 0.0),
    "rankings": (["rank-3"], 0.25),
    "all kinds": (["pair", "strength", "best-of-3", "rank-3", "worst-of-5"], 0.25),
}


class Case(NamedTuple):
    """Answers about a pool, and a model of them."""

    data: Comparisons
    kernel: Kernel
    probit: Probit
    inference: Inference
    x: Array


def cases() -> Iterator[tuple[str, Case]]:
    """All kinds, sizes and lapse rates; Laplace's method; and very many answers."""
    for number, (name, count, lapse) in enumerate(product(KINDS, (4, 15, 45), (0.0, 0.05))):
        kinds, margin = KINDS[name]
        probit = Probit(0.3, margin, lapse, 0.9 if margin else 0.0)
        yield f"{name}, {count}, {lapse}", case(number, kinds, count, KERNELS[number % 3], probit)
    for count in (15, 120):
        probit = Probit(0.2, 0.2)
        yield f"laplace, {count}", case(count, ["pair"], count, KERNELS[0], probit, "laplace")
    for lapse in (0.0, 0.05):
        yield f"many, {lapse}", case(600, ["pair"], 600, RBF(theta=0.2), Probit(0.3, 0.2, lapse))


def case(
    seed: int, kinds: list[Kind], count: int, kernel: Kernel, probit: Probit, inference: Inference = "ep"
) -> Case:
    """Random questions about forty trajectories, answered by somebody whose reward is curved."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((40, 3))
    reward = x @ rng.standard_normal(3) + 0.5 * np.sin(2.0 * x[:, 0]) + 0.3 * x[:, 1] ** 2
    values = 0.3, probit.margin, probit.strong_margin, 0.05
    people, answers = People(*(np.array([value]) for value in values)), []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        items, ties = rng.choice(40, items_of(kind), replace=False).tolist(), probit.margin > 0
        chances = np.maximum(answer_probabilities(reward[None, items], kind, people, ties)[0], 0.0)
        choice = str(rng.choice(choices_of(kind, ties), p=chances / chances.sum()))
        answers.append(Answer(Question(*items, kind=kind), choice))
    return Case(Comparisons.from_answers(x, answers), kernel, probit, inference, rng.standard_normal((5, 3)))


def found(problem: Case) -> dict[str, Any]:
    data, kernel, probit, inference, x = problem
    posterior = infer(kernel, data, probit, inference).posterior
    mean, variance = posterior.marginals(x)
    at = log_evidence(kernel, data, probit, inference)
    gradient = [*at.kernel_gradient, at.noise_gradient, at.margin_gradient, at.strong_margin_gradient]
    return {
        "evidence": float(posterior.log_evidence),
        "mean": [float(value) for value in mean],
        "std": [float(value) for value in np.sqrt(variance)],
        "gradient": [float(value) for value in gradient],
    }


@pytest.mark.rounding
@pytest.mark.parametrize(("name", "problem"), [pytest.param(*both, id=both[0]) for both in cases()])
def test_posteriors_are_as_they_were(name: str, problem: Case) -> None:
    wanted, now = json.loads(RECORD.read_text(encoding="utf-8"))[name], found(problem)
    # EP stops within 1e-5 standard deviations, and very many answers within 1e-3, of its fixed point
    close = 3e-3 if name.startswith("many") else 1e-4
    assert now["evidence"] == pytest.approx(wanted["evidence"], abs=10 * close)
    std = np.array(wanted["std"])
    assert np.max(np.abs(np.array(now["mean"]) - wanted["mean"]) / std) < close
    assert np.max(np.abs(np.array(now["std"]) - std) / std) < close
    np.testing.assert_allclose(now["gradient"], wanted["gradient"], rtol=10 * close, atol=10 * close)


def test_every_problem_is_recorded() -> None:
    assert set(json.loads(RECORD.read_text(encoding="utf-8"))) == {name for name, _ in cases()}


if __name__ == "__main__":
    record = {name: found(problem) for name, problem in cases()}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
