"""When the inference of a candidate fails, the mixture goes on without it."""

from collections.abc import Callable
from typing import Any

import pytest

from models.answers_of_known_rewards import (
    answers,
    assert_same,
    first,
    fresh,
    order,
)
from prefero.models import mixture_fitter as module
from prefero.models.inference import infer
from prefero.models.mixture_fitter import MixtureFitter
from prefero.models.reference import Reference
from prefero.models.solution import ConvergenceError


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
    with pytest.raises(ConvergenceError, match="inference did not converge for any structure"):
        fresh(first(answers("linear", 60), 5))
