"""What every export target writes: the Gaussian components of a posterior, made of few arrays.

    x                 (M, d)      scaled features
    winners, losers   (r, d)      those of the answers that determine the posterior
    cross             (M, r)      k(x, winners) - k(x, losers)
    mean              (M,)        cross @ alpha, for each Gaussian of the mixture
    variance          (M,)        k(x, x) - |cross @ whitener|^2

Kernels broadcast over all axes but the last, so that one expression is the covariance of two sets (x with an
axis in between) and the variance of one.
"""

from collections.abc import Collection

from prefero.kernels import Kernel
from prefero.kernels.base import kernel_types
from prefero.models.posterior import Posterior
from prefero.rewards.reward import Reward


def gaussian_components(
    reward: Reward, exportable: Collection[type[Kernel]]
) -> list[tuple[float, Posterior]]:
    """Weights and Gaussians of the mixture, or an error if a kernel is not among the exportable ones."""
    parts = [(weight, part) for weight, part in reward.belief.components if isinstance(part, Posterior)]
    unknown = {kind.__name__ for _, part in parts for kind in kernel_types(part.kernel) - set(exportable)}
    if unknown or not parts:
        what = f"kernels {', '.join(sorted(unknown))}" if unknown else type(reward.belief).__name__
        known = ", ".join(kind.__name__ for kind in exportable)
        raise ValueError(f"a reward of {what} cannot be exported: the kernels that can are {known}")
    return parts
