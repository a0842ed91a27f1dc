"""The benchmark of real people: splits, methods and tables, on people whose answers are known."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks.people import __main__ as people
from benchmarks.people import methods
from benchmarks.people.judgements import Judgements, Trial, joined, ranked
from benchmarks.people.sets import CROWDS, SETS
from benchmarks.people.splits import FOLDS, MOST_TESTED, Split, people_of, split_of
from benchmarks.people.tables import MEASURES, all_tables, by_person, save_curves, score, table_at
from benchmarks.rows import Row
from scipy.special import expit

from prefero._support.arrays import Array
from prefero.pools.pool import Pool

ITEMS, RANKED = 40, 4


def judged(people: int = 3, trials: int = 8, seed: int = 0) -> Judgements:
    """Rankings of four items by the first of two features; the last person has one ranking only."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((ITEMS, 2))
    shown = [
        (person, rng.choice(ITEMS, RANKED, replace=False))
        for person in range(people)
        for _ in range(trials if person < people - 1 else 1)
    ]
    return joined(features, ("a", "b"), [Trial(who, ranked(some, features[some, 0])) for who, some in shown])


def easy_split(count: int = 30) -> Split:
    """One person, who prefers the larger first feature."""
    features = np.random.default_rng(1).standard_normal((ITEMS, 3))
    pairs = np.array([np.random.default_rng(n).choice(ITEMS, 2, replace=False) for n in range(2 * count)])
    first = features[pairs[:, 0], 0] > features[pairs[:, 1], 0]
    pairs = np.where(first[:, None], pairs, pairs[:, ::-1])
    return Split(Pool(features), pairs[:count], pairs[count:])


# --- splits -----------------------------------------------------------------------------------------------


def test_who_has_too_few_trials_is_left_out() -> None:
    assert people_of(judged(), most=10) == [0, 1]
    assert len(people_of(judged(people=6), most=2)) == 2


def test_every_answer_is_tested_once_and_no_trial_is_on_both_sides() -> None:
    judgements = judged()
    mine = judgements.answers[:, 0] == 1
    pairs = [frozenset(pair) for pair in judgements.answers[mine, 1:3].tolist()]
    trial_of = dict(zip(pairs, judgements.trials[mine].tolist(), strict=True))
    tested: list[frozenset[int]] = []
    for fold in range(FOLDS):
        split = split_of(judgements, 1, fold)
        learned = [frozenset(pair) for pair in split.learned.tolist()]
        tested += (held := [frozenset(pair) for pair in split.tested.tolist()])
        assert not {trial_of[pair] for pair in learned} & {trial_of[pair] for pair in held}
        assert {*learned, *held} == {*pairs}
    assert sorted(map(sorted, tested)) == sorted(map(sorted, pairs))


def test_the_preferred_item_comes_first_and_equal_ones_are_left_out() -> None:
    judgements = judged()
    judgements.answers[::5, 3] = 2
    for fold in range(FOLDS):
        preferred, other = split_of(judgements, 0, fold).sides
        assert np.all(preferred[:, 0] > other[:, 0])
    asked = sum(len(split_of(judgements, 0, fold).tested) for fold in range(FOLDS))
    assert asked == np.count_nonzero((judgements.answers[:, 0] == 0) & (judgements.answers[:, 3] != 2))


def test_of_very_many_answers_some_are_tested() -> None:
    assert len(split_of(judged(trials=160), 0, 0).tested) == MOST_TESTED < 40 * 6


# --- methods ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [methods.DEFAULT, methods.CHOSEN, methods.LOGISTIC])
def test_methods_learn_what_an_easy_person_wants(name: str) -> None:
    curve = dict(methods.METHODS[name](easy_split(), (5, 12)))
    assert list(curve) == [5, 12]
    assert np.mean(curve[12] > 0.5) > 0.85
    assert all(np.all((found > 0.0) & (found < 1.0)) for found in curve.values())


def test_chosen_answers_leave_half_of_the_recorded_ones() -> None:
    split = easy_split(14)
    assert [answers for answers, _ in methods.replayed(split, (5, 7, 10))] == [5, 7]


def test_the_first_chosen_answer_has_the_most_informative_question() -> None:
    from prefero import Learner
    from prefero.acquisition.scorers import score_questions

    split = easy_split(20)
    learner = Learner(split.pool)
    values = [
        score_questions(learner.belief(), split.pool, [pair], acquisition=learner.acquisition)[0]
        for pair in split.learned.tolist()
    ]
    assert methods._most_informative(learner, split.learned) == int(np.argmax(values))


def test_the_regression_is_that_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    split = easy_split()
    (_, found), *_ = methods.logistic(split, (20,))
    winning = split.pool.scaled[split.learned[:20, 0]] - split.pool.scaled[split.learned[:20, 1]]
    tested = split.pool.scaled[split.tested[:, 0]] - split.pool.scaled[split.tested[:, 1]]
    both, won = np.vstack([winning, -winning]), np.repeat([1, 0], 20)
    model = LogisticRegression(C=methods.STRENGTH / 2, fit_intercept=False, tol=1e-10).fit(both, won)
    np.testing.assert_allclose(found, expit(tested @ model.coef_[0]), atol=1e-3)


def test_probabilities_of_a_pairwise_gp_are_those_of_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge: draws of both rewards, and of a probit answer with noise 1 in each impression."""
    split, rng = easy_split(), np.random.default_rng(0)
    root = rng.standard_normal((ITEMS, ITEMS)) / np.sqrt(ITEMS)
    mean, cov = rng.standard_normal(ITEMS), root @ root.T
    places = {tuple(row): place for place, row in enumerate(split.pool.scaled.tolist())}

    def predict(x: Array) -> tuple[Array, Array]:
        rows = [places[tuple(row)] for row in x.tolist()]
        return mean[rows], cov[np.ix_(rows, rows)]

    monkeypatch.setattr(methods, "botorch", lambda **_: lambda *_: predict)
    ((_, found),) = methods.pairwise_gp(split, (5,))
    rewards = rng.multivariate_normal(mean, cov, 40_000)
    seen = rewards[:, split.tested] + rng.standard_normal((40_000, *split.tested.shape))
    np.testing.assert_allclose(found, np.mean(seen[..., 0] > seen[..., 1], axis=0), atol=0.015)


def test_a_network_learns_what_an_easy_person_wants() -> None:
    pytest.importorskip("torch", reason="it comes with the group bench")
    ((_, found),) = methods.network(easy_split(), (30,))
    assert np.mean(found > 0.5) > 0.8


# --- tables -----------------------------------------------------------------------------------------------


def test_predictions_are_scored() -> None:
    found = score(np.array([0.9, 0.5, 0.2]))
    assert found["accuracy"] == 0.5
    assert found["log_likelihood"] == pytest.approx(np.log(0.9 * 0.5 * 0.2) / 3)


def measured_rows() -> list[Row]:
    """Two sets and two people; the default is ahead of the regression by .1 and .3."""
    values = {"Prefero": (0.8, 0.9), "logistic regression": (0.7, 0.6), "Prefero, chosen": (0.85, 0.9)}
    return [
        {"set": name, "method": method, "person": who, "fold": fold, "answers": 5}
        | dict.fromkeys(MEASURES, value[who] + shift * fold)
        for name, shift in (("x", 0.0), ("y", 0.01))
        for method, value in values.items()
        for who in (0, 1)
        for fold in range(FOLDS)
    ]


def test_tables_average_folds_people_and_sets() -> None:
    rows = measured_rows()
    assert by_person(rows, "y", "Prefero", 5, "accuracy") == pytest.approx({0: 0.815, 1: 0.915})
    table = table_at(rows, 5, "accuracy")
    assert "| x | 2 | 0.850 | 0.650 | +0.200 ± 0.100 |" in table
    assert "| mean of the sets |  | 0.858 | 0.657 | +0.200 ± 0.000 |" in table
    replay = list(all_tables(rows, (5, 10)))[1]
    assert "| x | +0.025 ± 0.025 |" in replay


def test_who_lacks_answers_in_a_fold_is_left_out() -> None:
    rows = measured_rows()[1:]  # without a fold of the first person
    assert by_person(rows, "x", "Prefero", 5, "accuracy") == pytest.approx({1: 0.9})


def test_curves_are_drawn(tmp_path: Path) -> None:
    save_curves(measured_rows(), tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes()[:4] == b"\x89PNG"


# --- the command ------------------------------------------------------------------------------------------


def test_the_command_measures_and_continues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(name: str, folder: Path) -> Judgements:
        assert (name, folder) == ("trains", tmp_path)
        return judged()

    monkeypatch.setattr(people, "read_set", read)
    people.judgements_of.cache_clear()
    words = [str(tmp_path), "--sets", "trains", "--rows", str(tmp_path / "rows.parquet")]
    words += ["--methods", "logistic regression", "Prefero"]
    people.main(words)
    told = capsys.readouterr().out
    assert "| trains | choices between two train journeys | 2 of 3 |" in told
    assert "mean log-likelihood after 20" in told
    monkeypatch.setattr(people, "work", _refuse)
    people.main(words)
    assert capsys.readouterr().out == told
    people.judgements_of.cache_clear()


def _refuse(*_: object, **__: object) -> Array:
    raise AssertionError("what is measured is not measured again")


def test_the_list_says_how_to_get_each_set(capsys: pytest.CaptureFixture[str]) -> None:
    people.main(["--list"])
    told = capsys.readouterr().out
    assert told.count("git clone") == len(SETS | CROWDS)
    assert "licence: CC-BY-4.0" in told


def test_without_clones_it_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], [str(tmp_path)]):
        with pytest.raises(SystemExit):
            people.main(words)
    told = capsys.readouterr().err
    assert "--list says how to make it" in told
    assert "git clone" in told


def test_it_is_a_benchmark_by_name() -> None:
    assert command.benchmarks()["people"].module == "benchmarks.people"
