"""What every export target writes: the Gaussian components of a posterior, made of few arrays."""

from prefero.models.posterior.gaussian import Posterior
from prefero.rewards.reward import Reward


def gaussian_components(reward: Reward) -> list[tuple[float, Posterior]]:
    """Weights and Gaussians of the mixture, or an error if it is none."""
    found = [(weight, one) for weight, one in reward.belief.components if isinstance(one, Posterior)]
    if not found:
        name = type(reward.belief).__name__
        raise ValueError(f"a reward of {name} cannot be exported: it is no mixture of Gaussians")
    return found
