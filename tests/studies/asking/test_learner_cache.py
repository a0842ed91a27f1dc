"""The learner cache: learners keyed by their answers, found again, built from others, and dropped."""

from typing import Any

import numpy as np
import pytest

from prefero import Answer, Learner, Pool, Question
from prefero.models.explain.learning_progress import CORRECTION
from prefero.models.explain.predictive_accuracy import expected_accuracy
from prefero.questions import CHOICES
from prefero.studies.asking.learner_cache import CAPACITY, LearnerCache
from prefero.studies.log.event_log import AskedQuestion, Event, EventKind, EventLog
from prefero.studies.protocol.protocol import StudyMethod
from studies.fake_study import FAST_METHOD, protocol_of

METHODS = (StudyMethod("Active", "ActiveGP 1 0.1", 9), StudyMethod("Random", FAST_METHOD, 9))


def cache_of(pool: Pool, seed: int = 3, methods: tuple[StudyMethod, ...] = METHODS) -> LearnerCache:
    return LearnerCache(pool, protocol_of(methods=methods), seed)


def log_of(*words: EventKind, method: str = "Active") -> EventLog:
    """Questions of one method, each about the next two trajectories, and their events."""
    questions = tuple(
        AskedQuestion(
            *(n - 1, method, (n % 12, (n + 5) % 12), 0.5, "bits", 0.6), id=n, number=n, based_on=n - 1, at=""
        )
        for n in range(1, len(words) + 1)
    )
    return EventLog(
        questions, tuple(Event(n, n, 0, word, str(n), None, "") for n, word in enumerate(words, 1))
    )


def joined(first: EventLog, second: EventLog) -> EventLog:
    """The events of both, the second after the first."""
    n = len(first.questions)
    questions = [
        AskedQuestion(**{**vars(a), "id": a.id + n, "number": a.number + n}) for a in second.questions
    ]
    told = [Event(**{**vars(t), "id": t.id + n, "question": t.question + n}) for t in second.events]
    return EventLog((*first.questions, *questions), (*first.events, *told))


def by_hand(log: EventLog, pool: Pool, label: str, method: str) -> Learner:
    """A learner with the answers of one method, one by one."""
    learner = StudyMethod(label, method, 1).learner(pool, 0)
    for asked, event in zip(log.questions, log.events, strict=True):
        if asked.method == label and event.kind in CHOICES:
            learner.tell(Question(*asked.items, number=asked.number), event.kind)
    return learner


def rewards(learner: Learner) -> Any:
    return learner.reward()(learner.pool.features)


def test_a_learner_has_the_answers_of_its_own_method_and_no_others(pool: Pool) -> None:
    log = joined(log_of("left", "right", "skip", "right"), log_of("right", "left", method="Random"))
    cache = cache_of(pool)
    for method in METHODS:
        learner = cache.learner(method.label, log)
        wanted = by_hand(log, pool, method.label, method.method)
        assert learner.answers == wanted.answers
        np.testing.assert_allclose(rewards(learner), rewards(wanted), atol=1e-6)
    assert len(cache.learner("Active", log).answers) == 3


def test_the_learner_does_not_depend_on_how_it_was_built(pool: Pool) -> None:
    """From all answers at once, or answer by answer from cached learners."""
    words: tuple[EventKind, ...] = ("left", "right", "skip", "left", "right")
    grown = cache_of(pool)
    for count in range(len(words) + 1):
        grown.learner("Active", log_of(*words[:count]))
    log = log_of(*words)
    in_parallel = cache_of(pool).learner("Active", log)
    step_by_step = grown.learner("Active", log)
    assert step_by_step.answers == in_parallel.answers
    np.testing.assert_allclose(rewards(step_by_step), rewards(in_parallel), atol=1e-9)
    assert grown.next_question("Active", log).question == cache_of(pool).next_question("Active", log).question


def test_after_an_undo_the_learner_from_before_is_found(pool: Pool) -> None:
    cache = cache_of(pool)
    before = cache.learner("Active", log_of("left", "right"))
    cache.learner("Active", log_of("left", "right", "left"))
    taken_back = log_of("left", "right", "left")
    taken_back = EventLog(taken_back.questions, (*taken_back.events, Event(4, 3, 1, "undo", "4", None, "")))
    assert cache.learner("Active", taken_back) is before


def test_another_answer_to_the_same_question_is_another_learner(pool: Pool) -> None:
    cache = cache_of(pool)
    left, right = (cache.learner("Active", log_of("left", word)) for word in ("left", "right"))
    assert left is not right
    assert [learner.answers[1].choice for learner in (left, right)] == ["left", "right"]
    assert not np.allclose(rewards(left), rewards(right))


def test_after_a_restart_all_answers_but_the_last_are_learned_from_once(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, made = cache_of(pool), []
    learner_of = type(cache.protocol).learner

    def counted(*arguments: Any) -> Learner:
        made.append(1)
        return learner_of(*arguments)

    monkeypatch.setattr(type(cache.protocol), "learner", counted)
    for last in ("left", "right"):
        log = log_of("left", "right", "right", last)
        np.testing.assert_allclose(
            rewards(cache.learner("Active", log)), rewards(by_hand(log, pool, "Active", "ActiveGP 1 0.1"))
        )
    assert len(made) == 1


def test_a_skip_that_was_undone_and_answered_is_not_a_skip(pool: Pool) -> None:
    cache = cache_of(pool)
    skipped = log_of("left", "skip")
    assert cache.learner("Active", skipped).reward().diagnostics["skipped"] == 1
    taken_back = EventLog(skipped.questions, (*skipped.events, Event(3, 2, 1, "undo", "3", None, "")))
    assert cache.learner("Active", taken_back).reward().diagnostics["skipped"] == 0
    answered = EventLog(
        skipped.questions,
        (*skipped.events, Event(3, 2, 1, "undo", "3", None, ""), Event(4, 2, 2, "right", "4", None, "")),
    )
    learner = cache.learner("Active", answered)
    assert learner.reward().diagnostics["skipped"] == 0
    assert learner.answers[1] == Answer(Question(2, 7, number=2), "right")


def test_asking_and_what_others_do_with_a_fork_change_nothing(pool: Pool) -> None:
    cache = cache_of(pool)
    log = log_of("left", "right")
    learner = cache.learner("Active", log)
    before = rewards(learner).copy()
    cache.next_question("Active", log)
    assert learner.open_questions == ()
    fork = learner.fork()
    fork.tell(fork.ask(), "left")
    fork.skip(fork.ask())
    cache.learner("Active", log_of("left", "right", "left"))
    assert cache.learner("Active", log) is learner
    assert len(learner.answers) == 2
    np.testing.assert_array_equal(rewards(learner), before)


def test_the_next_question_is_what_the_method_would_ask_with_what_it_expects(pool: Pool) -> None:
    log = log_of("left", "right")
    cache = cache_of(pool)
    assert not cache.has_next("Active", log)
    found = cache.next_question("Active", log)
    assert cache.has_next("Active", log)
    assert not cache.has_next("Random", log)
    wanted = by_hand(log, pool, "Active", "ActiveGP 1 0.1").ask()
    assert set(found.question.items) == set(wanted.items)
    assert found.question.value == pytest.approx(wanted.value, abs=1e-9)
    assert cache.next_question("Active", log) is found


def test_a_skipped_pair_is_not_asked_again(pool: Pool) -> None:
    log = log_of("left", "right")
    cache = cache_of(pool)
    first = cache.next_question("Active", log).question
    asked = AskedQuestion(2, "Active", first.items, id=3, number=3, based_on=2, at="")
    skipped = EventLog((*log.questions, asked), (*log.events, Event(3, 3, 0, "skip", "3", None, "")))
    second = cache.next_question("Active", skipped).question
    assert set(first.items) != set(second.items)


def test_participants_and_methods_have_seeds_of_their_own(pool: Pool) -> None:
    methods = (StudyMethod("A", FAST_METHOD, 9), StudyMethod("B", FAST_METHOD, 9))

    def first(label: str, seed: int) -> tuple[int, ...]:
        return cache_of(pool, seed, methods).next_question(label, EventLog()).question.items

    assert first("A", 3) == first("A", 3)
    assert len({first("A", seed) for seed in range(8)}) > 4
    assert [first("A", seed) for seed in range(4)] != [first("B", seed) for seed in range(4)]


def test_only_the_newest_few_learners_of_each_method_are_kept(pool: Pool) -> None:
    cache = cache_of(pool)
    words: tuple[EventKind, ...] = ("left",) * 9
    logs = [log_of(*words[:count]) for count in range(9)]
    other = cache.learner("Random", EventLog())
    learners = []
    for log in logs:
        learners.append(cache.learner("Active", log))
        cache.next_question("Active", log)
    assert [key.label for key in cache._learners].count("Active") == CAPACITY == 4
    assert [key.label for key in cache._next].count("Active") == CAPACITY
    assert cache.learner("Random", EventLog()) is other
    assert cache.learner("Active", logs[-CAPACITY]) is learners[-CAPACITY]
    assert cache.learner("Active", logs[0]) is not learners[0]
    # Who was asked for last stays: that is how somebody goes back and forth between two answers.
    assert cache.learner("Active", logs[-CAPACITY]) is learners[-CAPACITY]


# --- what it expects of itself ----------------------------------------------------------------------------


def test_the_expected_accuracy_is_the_mean_over_pairs_of_the_likelier_answers_chance(pool: Pool) -> None:
    """Compared with the mean over all pairs, of the public probabilities."""
    words: tuple[EventKind, ...] = ("left", "right") * 4
    learner = by_hand(log_of(*words), pool, "Active", "ActiveGP 1 0.1")
    reward = learner.reward()
    chances = []
    for left in range(len(pool)):
        for right in range(len(pool)):
            if left != right:
                chance = float(reward.predict_proba(pool.features[[left]], pool.features[[right]])[0])
                chances.append(max(chance, 1 - chance))
    assert expected_accuracy(reward.belief, pool.scaled) == pytest.approx(np.mean(chances))
    assert expected_accuracy(reward.belief, pool.scaled) == expected_accuracy(reward.belief, pool.scaled)


def test_before_the_first_answer_it_expects_to_guess(pool: Pool) -> None:
    assert expected_accuracy(Learner(pool).belief(), pool.scaled) == pytest.approx(0.5)
    asked = cache_of(pool).next_question("Active", EventLog())
    assert asked.accuracy == pytest.approx(CORRECTION.accuracy(0.5))


def test_with_two_trajectories_the_expected_accuracy_is_that_of_the_one_pair() -> None:
    pool = Pool(np.array([[0.0, 1.0], [1.0, 0.0]]))
    learner = StudyMethod("A", FAST_METHOD, 1).learner(pool, 0)
    learner.tell(Question(0, 1), "left")
    chance = float(learner.reward().predict_proba(pool.features[:1], pool.features[1:])[0])
    assert chance > 0.6
    assert expected_accuracy(learner.belief(), pool.scaled) == pytest.approx(chance)
