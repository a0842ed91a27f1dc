"""What labels tell: against draws of whole rewards, against quadrature, and as pairs with an item."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import entropy as nats
from scipy.stats import norm

from prefero import Learner, Pool, PreferenceGP
from prefero._support.arrays import Array
from prefero.acquisition import PredictiveInformation
from prefero.acquisition.base import PairMoments
from prefero.acquisition.label_scorers import MANY, information_label_scorer, label_information
from prefero.acquisition.scorers import score_questions
from prefero.acquisition.searches.best_question import best_question
from prefero.kernels import RBF, Anchored
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probabilities import People, answer_probabilities
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.bar import with_bar
from prefero.models.posterior.draws import draw_rewards
from prefero.models.posterior.gaussian import Posterior
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Answer, Comparisons
from prefero.questions.answer_kinds import Kind, kind_named
from prefero.questions.comparisons import bar_features

X = np.random.default_rng(1).standard_normal((12, 2))
ANSWERS = [Answer.preferred(0, 3), Answer.preferred(5, 2), Answer.preferred(8, 1)]
TARGETS = np.array([[0, 5], [2, 9], [4, 7]])
labels = pytest.mark.parametrize("kind", ["success", "rate-3", "rate-5"])


def posterior(lapse: float = 0.0, answers: Sequence[Answer] = ANSWERS) -> Posterior:
    kernel = Anchored(RBF(theta=0.3), (0.0, 0.0))
    return infer(kernel, Comparisons.from_answers(X, answers), Probit(0.3, lapse=lapse)).posterior


def bits(p: Array) -> Array:
    return np.asarray(nats(p, base=2, axis=-1))


@labels
@pytest.mark.parametrize("lapse", [0.0, 0.1])
def test_the_information_about_targets_is_that_of_draws(kind: Kind, lapse: float) -> None:
    belief = posterior(lapse)
    function = PredictiveInformation(targets=TARGETS, mutual_information_weight=0.0)
    items = np.array([[1], [6], [10]])
    found = score_questions(belief, X, items, acquisition=function, kind=kind)
    drawn = draw_rewards(with_bar(belief), np.vstack([X, bar_features(2)]), 60_000)
    for (item,), value in zip(items, found, strict=True):
        rewards = drawn.rewards[:, [item, -1]]
        people = People(drawn.noise, drawn.margin, drawn.strong_margin, drawn.lapse, drawn.cut_points)
        p = answer_probabilities(rewards, kind, people, ties=False)
        told = []
        for first, second in TARGETS:
            better = drawn.rewards[:, first] > drawn.rewards[:, second]
            joint = np.stack([p[side].sum(axis=0) / len(p) for side in (better, ~better)])
            told.append(bits(joint.sum(axis=0)) + bits(joint.sum(axis=1)) - bits(joint.ravel()))
        assert value == pytest.approx(np.mean(told), abs=1.5e-3)


@labels
def test_the_information_about_the_reward_is_that_of_quadrature(kind: Kind) -> None:
    belief, asked = with_bar(posterior(0.05)), kind_named(kind)
    (found,) = information_label_scorer(belief, X, kind).scores(np.array([[6]]))
    mean, variance = belief.difference(X[[6]], bar_features(2))
    probit = belief.probit
    people = [np.array([value]) for value in (probit.noise, 0.0, 0.0, probit.lapse)]

    def chances(d: float) -> Array:
        return np.asarray(answer_probabilities(np.array([[d, 0.0]]), kind, People(*people), ties=False)[0])

    def expected(place: int) -> float:
        def weighted(d: float) -> float:
            at = chances(d)
            return float((bits(at) if place < 0 else at[place]) * norm.pdf(d, mean[0], np.sqrt(variance[0])))

        return float(quad(weighted, mean[0] - 9, mean[0] + 9, limit=200)[0])

    marginal = np.array([expected(place) for place in range(len(asked.choices))])
    assert found == pytest.approx(float(bits(marginal)) - expected(-1), abs=1e-5)


def test_a_label_of_a_known_distance_tells_nothing() -> None:
    known = PairMoments(1.0, Probit(0.3), np.array([0.4]), np.array([0.0]), np.array([0.0]))
    found = label_information([known], lambda probit: np.array(probit.cut_points[5:9]), MANY)
    assert found == pytest.approx(0.0, abs=1e-12)


@labels
def test_the_best_trajectory_to_label_is_found(kind: Kind) -> None:
    belief = posterior()
    for acquisition in ("predictive-information", "mutual-information", "best-information"):
        found = best_question(belief, X, acquisition=acquisition, kind=kind, exclude=[(3,)])
        every = [[item] for item in range(12) if item != 3]
        values = score_questions(belief, X, every, acquisition=acquisition, kind=kind)
        assert found.kind == kind
        assert found.value == pytest.approx(values.max(), rel=0.02)


def test_what_was_labelled_is_not_asked_again_while_there_are_others() -> None:
    learner = Learner(Pool(X), model=PreferenceGP(RBF(0.3), noise=0.1, learn=False))
    for _ in range(12):
        learner.tell(learner.ask(kind="success"), "pass")
    assert len({answer.question.items for answer in learner.answers}) == 12
    assert learner.ask(kind="success").items[0] in range(12)


def test_functions_that_compare_refuse_labels_in_words() -> None:
    learner = Learner(Pool(X), acquisition="expected-utility")
    with pytest.raises(ValueError, match=r"'rate-5' is about one trajectory.*predictive-information"):
        learner.ask(kind="rate-5")


@pytest.mark.parametrize("kind", ["pair", "success", "rate-5"])
def test_estimates_are_near_the_scores_also_where_components_lapse_differently(kind: Kind) -> None:
    opposite = [Answer(answer.question, "right") for answer in ANSWERS]
    components = ((0.6, posterior(0.0)), (0.4, posterior(0.5, opposite)))
    belief = MixturePosterior(components, {"rbf": 1.0}, 0.0)
    targets = np.array([[a, b] for a in range(12) for b in range(a)])
    function = PredictiveInformation(targets=targets, mutual_information_weight=0.0)
    pairs = [[a, b] for a in range(12) for b in range(a)]
    items = np.array(pairs if kind == "pair" else [[item] for item in range(12)])
    scorer = function.scorer(belief, X, kind).about(np.arange(12))
    estimates, scores = scorer.estimates(items), scorer.scores(items)
    assert np.median(estimates / scores) == pytest.approx(1.0, abs=0.25)
    assert np.corrcoef(estimates, scores)[0, 1] > 0.95
