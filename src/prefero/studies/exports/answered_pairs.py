"""Preference pairs of a session or a study: every active answer of everybody, with both trajectories."""

from prefero.datasets import Dataset
from prefero.deploy.training.preference_pairs import PreferencePair, preference_pairs
from prefero.studies.asking.learner_cache import LearnerCache
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.storage.store import Participant, Store, Study


def answered_pairs(store: Store, study: Study, dataset: Dataset) -> list[PreferencePair]:
    """All answers of a study; the strength of each is by what the same person has answered."""
    return [
        pair
        for participant in store.participants(study)
        for pair in _of_participant(store, study, participant, dataset)
    ]


def _of_participant(
    store: Store, study: Study, participant: Participant, dataset: Dataset
) -> list[PreferencePair]:
    log, protocol, pool = store.event_log(participant), Protocol.from_json(study.protocol), store.pool(study)
    if not log.answers:
        return []
    learner = LearnerCache(pool, protocol, participant.seed).learner(protocol.methods[0].label, log)
    answers = [active.answer for active in log.answers]
    return preference_pairs(answers, learner.reward(), pool, dataset, participant.label)
