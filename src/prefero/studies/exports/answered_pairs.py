"""Preference pairs of a session or a study: every active answer of everybody, with both trajectories."""

from prefero.datasets import Dataset
from prefero.deploy.training.preference_pairs import PreferencePair, preference_pairs
from prefero.studies.asking.learner_cache import LearnerCache
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.storage.store import Store, Study


def answered_pairs(store: Store, study: Study, dataset: Dataset) -> list[PreferencePair]:
    """All answers of a study; the strength of each is by what the same person has answered."""
    protocol, pool, found = Protocol.from_json(study.protocol), store.pool(study), list[PreferencePair]()
    for participant in store.participants(study):
        log = store.event_log(participant)
        if log.answers:
            learner = LearnerCache(pool, protocol, participant.seed).learner(protocol.methods[0].label, log)
            answers = [active.answer for active in log.answers]
            found += preference_pairs(answers, learner.reward(), pool, dataset, participant.label)
    return found
