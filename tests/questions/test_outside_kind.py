"""Kinds of answers of another package: models, files and studies take them, and nothing names them."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from prefero import Learner, Pool, PreferenceGP, Reward, load_reward
from prefero._support.arrays import Array
from prefero.cli import app
from prefero.kernels import RBF
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probabilities import People, answer_probabilities, takes_long
from prefero.models.likelihood.probit import Probit
from prefero.questions import Answer, Comparisons, Question
from prefero.questions.answer_kinds import ANSWER_KINDS, Kind, choices_of, default_kind, items_of, kind_named
from prefero.simulation.test_sets import accuracy_on_answers
from prefero.simulation.users import SimulatedUser
from questions.conformance import check_answer_kind
from questions.follow_recipe import KIND, first_block
from support.install_package import install_package

TOYS = (Path(__file__).parent / "toy_kinds.py").read_text(encoding="utf-8")
CODE = f'{first_block("python")}\n\n{TOYS}\n\nTOP = Top("{KIND}", 4)\n'
NAMES = {KIND: "TOP", "middle-of-3": "MIDDLE", "alike": "ALIKE"}
POINTS = {"prefero.answer_kinds": {name: f"toy_package:{attribute}" for name, attribute in NAMES.items()}}
X = np.random.default_rng(2).uniform(-1.0, 1.0, (40, 2))
POOL = Pool(X, ["angle", "height"])
every_kind = pytest.mark.parametrize("kind", NAMES)


@pytest.fixture(autouse=True)
def toy_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_package(tmp_path / "site", monkeypatch, "toy_package", CODE, POINTS)


def word_of(impressions: Array, kind: Kind, margin: float) -> str:
    """What a person says who has these impressions, by sorting them."""
    order = np.argsort(-impressions) + 1
    if kind == "alike":
        return "alike" if abs(impressions[0] - impressions[1]) < margin else "different"
    return str(order[1]) if kind == "middle-of-3" else "{}+{}".format(*sorted(order[:2]))


def taught(kind: Kind, questions: int = 8) -> Learner:
    """Somebody who likes large angles."""
    user, rng = SimulatedUser(lambda x: x[:, 0], noise=0.1, margin=0.2), np.random.default_rng(0)
    learner = Learner(POOL, model=PreferenceGP(RBF(0.3), noise=0.1, margin=0.2, learn=False))
    for _ in range(questions):
        question = learner.ask(kind=kind)
        learner.tell(question, user.answer_question(question, X, rng))
    return learner


@every_kind
def test_it_is_found_and_conforms(kind: Kind) -> None:
    assert kind in ANSWER_KINDS
    assert default_kind(4) == "best-of-4"
    check_answer_kind(kind_named(kind))


@every_kind
def test_the_probabilities_of_its_answers_are_fractions_of_impressions(kind: Kind) -> None:
    rng, rewards = np.random.default_rng(1), np.array([0.5, 0.1, 0.4, -0.2])[: items_of(kind)]
    people = People(*(np.array([value]) for value in (0.4, 0.25, 0.8, 0.0)))
    found = answer_probabilities(rewards[None], kind, people, ties=True)[0]
    seen = rewards + 0.4 * rng.standard_normal((20_000, len(rewards)))
    said = [word_of(row, kind, 0.25) for row in seen]
    assert found == pytest.approx([said.count(choice) / len(said) for choice in choices_of(kind)], abs=0.015)
    assert found.sum() == pytest.approx(1.0)
    assert takes_long(kind) == (kind != "alike")


def test_the_posterior_is_that_of_people_who_would_have_answered_so() -> None:
    """By brute force: rewards drawn from the prior, and kept if drawn impressions lead to the answers."""
    rng, x, probit = np.random.default_rng(3), np.linspace(-1.5, 1.5, 6)[:, None], Probit(0.4, 0.3)
    answers = [
        Answer(Question(0, 2, 3, 5, kind=KIND), "2+4"),
        Answer(Question(1, 4, 5, kind="middle-of-3"), "2"),
        Answer(Question(0, 3, kind="alike"), "different"),
        Answer(Question(2, 1), "left"),
    ]
    posterior = infer(RBF(0.5), Comparisons.from_answers(x, answers), probit).posterior
    rewards = rng.multivariate_normal(np.zeros(6), RBF(0.5)(x, x) + 1e-9 * np.eye(6), 200_000)
    kept = np.ones(len(rewards), dtype=bool)
    for answer in answers:
        items, kind = list(answer.question.items), answer.question.kind
        seen = rewards[:, items] + 0.4 * rng.standard_normal((len(rewards), len(items)))
        if kind == "pair":
            kept &= seen[:, 0] - seen[:, 1] > 0.3
        else:
            which = np.flatnonzero(kept)
            kept[which] = [word_of(seen[draw], kind, 0.3) == answer.choice for draw in which]
    mean, covariance = posterior(x)
    deviation = np.sqrt(np.diag(covariance))
    assert kept.sum() > 2000
    np.testing.assert_allclose(rewards[kept].mean(axis=0), mean, atol=0.15 * deviation.max())
    np.testing.assert_allclose(rewards[kept].std(axis=0), deviation, rtol=0.1)


@every_kind
def test_a_learner_asks_learns_and_is_stored(kind: Kind, tmp_path: Path) -> None:
    learner = taught(kind)
    learner.save(tmp_path / "learner.json")
    assert Learner.load(tmp_path / "learner.json").answers == learner.answers
    learner.reward().save(tmp_path / "reward.json")
    loaded = load_reward(tmp_path / "reward.json")
    np.testing.assert_allclose(loaded.predict(X), learner.reward().predict(X), atol=1e-6)


def test_it_says_as_much_about_pairs_as_all_its_regions() -> None:
    learner = taught(KIND, 12)
    assert np.corrcoef(learner.reward()(X), X[:, 0])[0, 1] > 0.8
    assert [len(answer.pairs) for answer in learner.answers] == [4] * 12
    assert accuracy_on_answers(learner.reward(), POOL, learner.answers) > 0.8
    assert taught("middle-of-3", 1).answers[0].pairs == []


def test_a_reward_is_loaded_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reward's file holds no answers."""
    reward: Reward = taught(KIND, 1).reward()
    reward.save(tmp_path / "reward.json")
    (tmp_path / "site").rename(tmp_path / "elsewhere")
    monkeypatch.syspath_prepend(tmp_path)
    np.testing.assert_array_equal(load_reward(tmp_path / "reward.json")(X), reward(X))


PROTOCOL = """
world = "driver"
trajectories = 12
answers = "{}"

[[methods]]
method = "Prefero"
questions = 2
"""


def test_a_study_takes_it(tmp_path: Path) -> None:
    protocol, database = tmp_path / "mine.toml", ["--database", str(tmp_path / "study.db")]
    create = ["study", "create", "toy", "--protocol", str(protocol), "--participants", "1", *database]
    for kind, code in (("top-2-of-9", 1), (KIND, 0)):
        protocol.write_text(PROTOCOL.format(kind), encoding="utf-8")
        assert CliRunner().invoke(app, create).exit_code == code
