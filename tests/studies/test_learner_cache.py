"""Minds: learners by what they were told; found again, built from others, forgotten when there are many."""

from typing import Any

import numpy as np
import pytest

from prefero import Answer, Learner, Pool, Question
from prefero.studies.event_log import Asked, Log, Said, Told
from prefero.studies.learner_cache import KEPT, Minds, expected_accuracy
from prefero.studies.protocol import Asker
from studies.pretended import QUICK, protocol_of

METHODS = (Asker("Active", "ActiveGP 1 0.1", 9), Asker("Random", QUICK, 9))


def minds_of(pool: Pool, seed: int = 3, methods: tuple[Asker, ...] = METHODS) -> Minds:
    return Minds(pool, protocol_of(methods=methods), seed)


def log_of(*words: Said, method: str = "Active") -> Log:
    """Questions of one method, each about the next two trajectories, and what was said to them."""
    questions = tuple(
        Asked(n, n, n - 1, n - 1, method, n % 12, (n + 5) % 12, 0.5, 0.6, "")
        for n in range(1, len(words) + 1)
    )
    return Log(questions, tuple(Told(n, n, 0, word, str(n), None, "") for n, word in enumerate(words, 1)))


def joined(first: Log, second: Log) -> Log:
    """Both, the second after the first."""
    n = len(first.questions)
    questions = [Asked(**{**vars(a), "id": a.id + n, "number": a.number + n}) for a in second.questions]
    told = [Told(**{**vars(t), "id": t.id + n, "question": t.question + n}) for t in second.told]
    return Log((*first.questions, *questions), (*first.told, *told))


def by_hand(log: Log, pool: Pool, label: str, method: str) -> Learner:
    """A learner that was told the rows of one method, one by one."""
    learner = Asker(label, method, 1).learner(pool, 0)
    for asked, told in zip(log.questions, log.told, strict=True):
        if asked.method == label and told.said != "skip":
            learner.tell(Question(asked.left, asked.right, number=asked.number), told.said)  # type: ignore[arg-type]
    return learner


def rewards(learner: Learner) -> Any:
    return learner.reward()(learner.pool.features)


def test_a_learner_knows_what_its_own_method_was_told_and_nothing_else(pool: Pool) -> None:
    log = joined(log_of("left", "right", "skip", "right"), log_of("right", "left", method="Random"))
    minds = minds_of(pool)
    for asker in METHODS:
        learner = minds.learner(asker.label, log)
        wanted = by_hand(log, pool, asker.label, asker.method)
        assert learner.answers == wanted.answers
        np.testing.assert_allclose(rewards(learner), rewards(wanted), atol=1e-6)
    assert len(minds.learner("Active", log).answers) == 3


def test_one_way_or_another_the_learner_is_the_same(pool: Pool) -> None:
    """Built at once, or answer by answer from the learners before it."""
    words: tuple[Said, ...] = ("left", "right", "skip", "left", "right")
    grown = minds_of(pool)
    for count in range(len(words) + 1):
        grown.learner("Active", log_of(*words[:count]))
    log = log_of(*words)
    at_once = minds_of(pool).learner("Active", log)
    step_by_step = grown.learner("Active", log)
    assert step_by_step.answers == at_once.answers
    np.testing.assert_allclose(rewards(step_by_step), rewards(at_once), atol=1e-9)
    assert grown.next("Active", log).question == minds_of(pool).next("Active", log).question


def test_after_an_undo_the_learner_from_before_is_found(pool: Pool) -> None:
    minds = minds_of(pool)
    before = minds.learner("Active", log_of("left", "right"))
    minds.learner("Active", log_of("left", "right", "left"))
    taken_back = log_of("left", "right", "left")
    taken_back = Log(taken_back.questions, (*taken_back.told, Told(4, 3, 1, "undo", "4", None, "")))
    assert minds.learner("Active", taken_back) is before


def test_another_answer_to_the_same_question_is_another_learner(pool: Pool) -> None:
    minds = minds_of(pool)
    left, right = (minds.learner("Active", log_of("left", word)) for word in ("left", "right"))
    assert left is not right
    assert [learner.answers[1].choice for learner in (left, right)] == ["left", "right"]
    assert not np.allclose(rewards(left), rewards(right))


def test_a_skip_that_became_an_answer_is_not_a_skip_any_more(pool: Pool) -> None:
    minds = minds_of(pool)
    skipped = log_of("left", "skip")
    assert minds.learner("Active", skipped).reward().diagnostics["skipped"] == 1
    taken_back = Log(skipped.questions, (*skipped.told, Told(3, 2, 1, "undo", "3", None, "")))
    assert minds.learner("Active", taken_back).reward().diagnostics["skipped"] == 0
    answered = Log(
        skipped.questions,
        (*skipped.told, Told(3, 2, 1, "undo", "3", None, ""), Told(4, 2, 2, "right", "4", None, "")),
    )
    learner = minds.learner("Active", answered)
    assert learner.reward().diagnostics["skipped"] == 0
    assert learner.answers[1] == Answer(Question(2, 7, number=2), "right")


def test_asking_and_what_others_do_with_a_fork_change_nothing(pool: Pool) -> None:
    minds = minds_of(pool)
    log = log_of("left", "right")
    learner = minds.learner("Active", log)
    before = rewards(learner).copy()
    minds.next("Active", log)
    assert learner.open_questions == ()
    fork = learner.fork()
    fork.tell(fork.ask(), "left")
    fork.skip(fork.ask())
    minds.learner("Active", log_of("left", "right", "left"))
    assert minds.learner("Active", log) is learner
    assert len(learner.answers) == 2
    np.testing.assert_array_equal(rewards(learner), before)


def test_the_next_question_is_what_the_method_would_ask_with_what_it_expects(pool: Pool) -> None:
    log = log_of("left", "right")
    minds = minds_of(pool)
    assert not minds.is_ready("Active", log)
    found = minds.next("Active", log)
    assert minds.is_ready("Active", log)
    assert not minds.is_ready("Random", log)
    wanted = by_hand(log, pool, "Active", "ActiveGP 1 0.1").ask()
    assert {found.question.left, found.question.right} == {wanted.left, wanted.right}
    assert found.question.value == pytest.approx(wanted.value, abs=1e-9)
    assert minds.next("Active", log) is found


def test_a_skipped_pair_is_not_asked_again(pool: Pool) -> None:
    log = log_of("left", "right")
    minds = minds_of(pool)
    first = minds.next("Active", log).question
    asked = Asked(3, 3, 2, 2, "Active", first.left, first.right, None, None, "")
    skipped = Log((*log.questions, asked), (*log.told, Told(3, 3, 0, "skip", "3", None, "")))
    second = minds.next("Active", skipped).question
    assert {first.left, first.right} != {second.left, second.right}


def test_people_and_methods_have_chances_of_their_own(pool: Pool) -> None:
    methods = (Asker("A", QUICK, 9), Asker("B", QUICK, 9))

    def first(label: str, seed: int) -> tuple[int, int]:
        question = minds_of(pool, seed, methods).next(label, Log()).question
        return question.left, question.right

    assert first("A", 3) == first("A", 3)
    assert len({first("A", seed) for seed in range(8)}) > 4
    assert [first("A", seed) for seed in range(4)] != [first("B", seed) for seed in range(4)]


def test_only_the_newest_few_learners_of_each_method_are_kept(pool: Pool) -> None:
    minds = minds_of(pool)
    words: tuple[Said, ...] = ("left",) * 9
    logs = [log_of(*words[:count]) for count in range(9)]
    other = minds.learner("Random", Log())
    learners = []
    for log in logs:
        learners.append(minds.learner("Active", log))
        minds.next("Active", log)
    assert [known.label for known in minds._learners].count("Active") == KEPT == 6
    assert [known.label for known in minds._next].count("Active") == KEPT
    assert minds.learner("Random", Log()) is other
    assert minds.learner("Active", logs[-KEPT]) is learners[-KEPT]
    assert minds.learner("Active", logs[0]) is not learners[0]
    # Who was asked for last stays: that is how somebody goes back and forth between two answers.
    assert minds.learner("Active", logs[-KEPT]) is learners[-KEPT]


# --- what it expects of itself ----------------------------------------------------------------------------


def test_the_expected_accuracy_is_the_mean_over_pairs_of_the_likelier_answers_chance(pool: Pool) -> None:
    """Against every pair there is, one by one; the sample of 400 pairs errs by a few thousandths."""
    words: tuple[Said, ...] = ("left", "right") * 4
    learner = by_hand(log_of(*words), pool, "Active", "ActiveGP 1 0.1")
    reward = learner.reward()
    chances = []
    for left in range(len(pool)):
        for right in range(len(pool)):
            if left != right:
                chance = float(reward.predict_proba(pool.features[[left]], pool.features[[right]])[0])
                chances.append(max(chance, 1 - chance))
    error = float(np.std(chances)) / 20  # of the mean of 400
    assert expected_accuracy(reward.belief, pool) == pytest.approx(np.mean(chances), abs=4 * error)
    assert expected_accuracy(reward.belief, pool) == expected_accuracy(reward.belief, pool)


def test_before_the_first_answer_it_expects_to_guess(pool: Pool) -> None:
    assert minds_of(pool).next("Active", Log()).accuracy == pytest.approx(0.5)


def test_with_two_trajectories_the_expected_accuracy_is_that_of_the_one_pair() -> None:
    pool = Pool(np.array([[0.0, 1.0], [1.0, 0.0]]))
    learner = Asker("A", QUICK, 1).learner(pool, 0)
    learner.tell(Question(0, 1), "left")
    chance = float(learner.reward().predict_proba(pool.features[:1], pool.features[1:])[0])
    assert chance > 0.6
    assert expected_accuracy(learner.belief(), pool) == pytest.approx(chance)
