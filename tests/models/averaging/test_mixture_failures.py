"""When the inference of a candidate fails, the mixture goes on without it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from models.answers_of_known_rewards import (
    answers,
    assert_same,
    first,
    fresh,
    order,
)
from prefero import PreferenceGP
from prefero.models.algebra.linalg import regular_solutions
from prefero.models.averaging import fitter as module
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.inference.infer import infer
from prefero.models.inference.solution import ConvergenceError
from prefero.questions import Answer


def failing_for(fails: Callable[[str], bool]) -> Callable[..., Any]:
    """An inference that never converges for kernels whose description is chosen by `fails`."""

    def run(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        if fails(repr(kernel)):
            raise ConvergenceError("this one never converges")
        return infer(kernel, *args, **kwargs)

    return run


def test_a_candidate_whose_inference_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    data = first(answers("quadratic", 60), 12)
    before = fresh(data)
    monkeypatch.setattr(module, "infer", failing_for(lambda kernel: "Quadratic" in kernel))
    after = fresh(data)
    assert before.structures["quadratic"] > 0.1
    assert after.structures["quadratic"] == 0.0
    rest = 1.0 - before.structures["quadratic"]
    for structure in ("linear", "rbf", "linear+rbf"):
        assert after.structures[structure] == pytest.approx(before.structures[structure] / rest, abs=2e-3)


def test_the_others_go_on_when_the_ard_candidate_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "infer", failing_for(lambda kernel: "theta=(" in kernel))
    belief = fresh(answers("linear", 30))
    assert belief.structures.get("ard", 0.0) == 0.0
    assert order(belief)[0] == "linear"


def test_the_others_go_on_when_one_fails_while_the_margin_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "infer", failing_for(lambda kernel: "Quadratic" in kernel))
    belief = fresh(answers("linear", 15, margin=0.4))
    assert belief.structures["quadratic"] == 0.0
    assert belief.probit.margin > 0.0


def test_a_candidate_that_failed_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    data, fitter = first(answers("quadratic", 60), 12), MixtureFitter(Reference.normal(2))
    with monkeypatch.context() as patch:
        patch.setattr(module, "infer", failing_for(lambda kernel: "Quadratic" in kernel))
        fitter.fit(first(data, 11))
    assert_same(fitter.fit(data), fresh(data))


def test_when_all_fail_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "infer", failing_for(lambda _: True))
    with pytest.raises(ConvergenceError, match=r"did not converge .*any structure"):
        fresh(first(answers("linear", 60), 5))


def test_candidates_that_predict_exactly_the_same_are_reduced() -> None:
    """With one constant feature, every candidate says that all trajectories are the same."""
    fitted = PreferenceGP().fit(np.ones((3, 1)), [(0, 1), (1, 2), (1, 0)])
    assert fitted.predict_proba([[1.0]], [[1.0]]) == pytest.approx(0.5)


def test_an_answer_that_tells_nothing_is_learned_from() -> None:
    fitted = PreferenceGP().fit(np.ones((3, 1)), answers=[Answer.best_of([0, 1, 2], best=2)])
    assert fitted.predict_proba([[1.0]], [[1.0]]) == pytest.approx(0.5)


def test_a_singular_system_does_not_stop_the_others() -> None:
    matrices = np.array([[np.eye(2), np.ones((2, 2))], [2.0 * np.eye(2), np.zeros((2, 2))]])
    found = regular_solutions(matrices, np.ones((2, 2, 2, 1)))
    np.testing.assert_array_equal(found[..., 0], [[[1, 1], [0, 0]], [[0.5, 0.5], [0, 0]]])
