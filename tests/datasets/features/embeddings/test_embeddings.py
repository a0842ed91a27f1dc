"""Embeddings, judged by data whose directions are known, by scikit-learn, and by symmetries."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

from prefero.datasets import LIBRARY, BadEpisode, Episode
from prefero.datasets.features.embeddings.embedding import (
    SAMPLES,
    Embedding,
    PrincipalComponents,
    resample,
)
from prefero.datasets.features.embeddings.networks import BATCH, RandomNetwork, TimeContrastive, close_pairs
from prefero.datasets.features.library.library import FEATURE_WORDS

RNG = np.random.default_rng(5)


def walk(number: int, steps: int = 30, states: int = 3) -> Episode:
    rng = np.random.default_rng(number)
    path = np.cumsum(rng.normal(size=(steps, states)), axis=0)
    return Episode(str(number), path, rng.normal(size=(steps, 1)))


def test_resampled_states_are_at_evenly_spaced_times_whatever_the_length() -> None:
    time = np.linspace(0, 1, 200)
    made = resample(Episode("a", np.column_stack([time, time**2]), np.linspace(0, 3, 199)))
    at = np.linspace(0, 1, SAMPLES)
    np.testing.assert_allclose(made, np.concatenate([at, at**2, 3 * at]), atol=1e-4)


def test_the_principal_components_are_those_of_scikit_learn() -> None:
    examples = [walk(i) for i in range(40)]
    extract = PrincipalComponents.fit(examples, 3)
    mine = np.array([list(extract(example).values()) for example in examples])
    resampled = np.stack([resample(example) for example in examples])
    judge = PCA(3, whiten=True).fit_transform((resampled - resampled.mean(axis=0)) / resampled.std(axis=0))
    size = np.sqrt(40 / 39)  # they divide by one less
    np.testing.assert_allclose(np.abs(mine), np.abs(judge) * size, atol=1e-8)
    np.testing.assert_allclose(mine.std(axis=0), 1.0)


def test_one_component_describes_what_differs_in_one_way() -> None:
    heights = RNG.normal(size=25)
    examples = [Episode(str(h), h * np.sin(np.linspace(0, 3, 20)), np.zeros(20)) for h in heights]
    extract = PrincipalComponents.fit(examples, 1)
    found = np.array([extract(example)["pca 1"] for example in examples])
    assert abs(np.corrcoef(found, heights)[0, 1]) == pytest.approx(1.0)
    with pytest.raises(ValueError, match=r"1 principal components.* pca\(2\)"):
        PrincipalComponents.fit(examples, 2)


def test_the_network_is_the_same_for_everybody_and_tells_episodes_apart() -> None:
    examples = [walk(i) for i in range(6)]
    first, again = RandomNetwork.fit(examples, 5), RandomNetwork.fit(examples, 5)
    rows = np.array([list(first(example).values()) for example in examples])
    np.testing.assert_array_equal(rows, [list(again(example).values()) for example in examples])
    assert list(first(examples[0])) == [f"random network {i + 1}" for i in range(5)]
    assert np.linalg.matrix_rank(rows - rows.mean(axis=0)) == 5
    assert np.abs(rows).max() < 1


def test_the_network_does_not_care_in_which_unit_a_state_is() -> None:
    examples = [walk(i) for i in range(6)]
    larger = [Episode(e.id, e.states * [1000.0, 1.0, 0.01] + 7.0, e.actions) for e in examples]
    one, other = RandomNetwork.fit(examples, 4)(examples[2]), RandomNetwork.fit(larger, 4)(larger[2])
    np.testing.assert_allclose(list(one.values()), list(other.values()), atol=1e-9)


def test_an_encoder_of_mine_is_averaged_over_time_unless_it_speaks_of_the_whole() -> None:
    made = Embedding.of("encoder(numpy:square)")
    assert made is not None
    assert not made.needs_examples
    episode = walk(3)
    np.testing.assert_allclose(list(made.fit([])(episode).values()), np.mean(episode.states**2, axis=0))
    whole = Embedding.of("encoder(numpy:ravel)")
    assert whole is not None
    assert len(whole.fit([])(episode)) == episode.states.size


@pytest.mark.parametrize("words", ["pca(0)", "random-network(many)", "random-network()"])
def test_an_embedding_needs_the_number_of_features(words: str) -> None:
    with pytest.raises(ValueError, match=r"number of features.* (pca|random-network)\(4\)"):
        Embedding.of(words)


def test_an_encoder_is_named_by_its_module_and_function() -> None:
    made = Embedding.of("encoder(nobody)")
    assert made is not None
    with pytest.raises(ValueError, match="module:function"):
        made.fit([])


def test_other_words_are_no_embedding() -> None:
    assert Embedding.of("mean") is None
    assert Embedding.of("goal(x=1)") is None


def test_an_encoder_that_fails_or_makes_another_shape_is_named() -> None:
    failing = Embedding.of("encoder(numpy.linalg:cholesky)")
    assert failing is not None
    with pytest.raises(BadEpisode, match=r"^episode 1: .*cholesky fails .*Last 2 dimensions"):
        failing.fit([])(walk(1))
    odd = Embedding.of("encoder(numpy:transpose)")
    assert odd is not None
    with pytest.raises(ValueError, match=r"encoder .*\(T, k\) or \(k,\)"):
        odd.fit([])(walk(1))


def test_an_encoder_that_fails_in_its_own_way_is_named_with_the_episode(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "def boom(states): raise RuntimeError(f'no memory for {type(states).__name__}')", encoding="utf-8"
    )
    made = Embedding.of(f"encoder({tmp_path / 'own.py'}:boom)")
    assert made is not None
    why = r"^episode 1: the encoder boom fails on its states: RuntimeError\('no memory for ndarray'\)"
    with pytest.raises(BadEpisode, match=why):
        made.fit([])(walk(1))


def test_every_word_is_a_feature_or_an_embedding() -> None:
    for word in FEATURE_WORDS:
        assert word in LIBRARY or Embedding.of(word.replace("n)", "4)")) is not None
    assert len(FEATURE_WORDS) == len(LIBRARY) + 8


def test_episodes_with_other_states_than_the_examples_are_named() -> None:
    extract = RandomNetwork.fit([walk(0), walk(1)], 2)
    with pytest.raises(BadEpisode, match=r"episode 9: .*2 states.* 3"):
        extract(walk(9, states=2))
    with pytest.raises(ValueError, match=r"two examples.* 1"):
        PrincipalComponents.fit([walk(0)], 1)


def test_close_pairs_are_of_one_episode_and_close_in_time() -> None:
    steps = [np.column_stack([np.full(40, episode), np.arange(40)]).astype(float) for episode in range(3)]
    first, second = close_pairs(steps, np.random.default_rng(0))
    assert len(first) == len(second) == BATCH
    assert np.array_equal(first[:, 0], second[:, 0])
    assert np.abs(first[:, 1] - second[:, 1]).max() <= 4


def test_a_trained_network_is_made_of_its_arrays_without_torch() -> None:
    """It is evaluated as a random one of the same arrays is."""
    random = RandomNetwork.fit([walk(i) for i in range(6)], 3)
    same = TimeContrastive.from_arrays(random.arrays(), 3)(walk(9))
    assert list(same) == [f"time contrastive {i + 1}" for i in range(3)]
    assert list(same.values()) == list(random(walk(9)).values())


def test_actions_matter_to_every_embedding() -> None:
    examples = [walk(i) for i in range(12)]
    still = Episode("still", examples[3].states, np.zeros((30, 1)))
    for kind in (PrincipalComponents, RandomNetwork):
        extract = kind.fit(examples, 4)
        assert extract(still) != extract(examples[3])
