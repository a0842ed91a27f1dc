"""Rewards of the environment `Walk`, for the tests of its wrappers."""

import pytest

from deploy.walk_environment import described_walk_reward, walk_reward
from prefero import Reward


@pytest.fixture(scope="package")
def reward() -> Reward:
    """Learned from features alone."""
    return walk_reward()


@pytest.fixture(scope="package")
def described(tmp_path_factory: pytest.TempPathFactory) -> Reward:
    """From a file that says how its features are computed."""
    return described_walk_reward(tmp_path_factory.mktemp("described") / "reward.json")
