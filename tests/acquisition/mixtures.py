"""Draw questions under random mixtures of Gaussians, from well known to hardly known, near and far."""

import numpy as np
from hypothesis import strategies as st

from prefero.acquisition.base import PairMoments
from prefero.models.likelihood.probit import Probit

LENGTH = 12


@st.composite
def mixtures(
    draw: st.DrawFn, margins: tuple[float, ...], lapses: tuple[float, ...] = (0.0,)
) -> list[PairMoments]:
    """Twelve questions under one to three components; margins are in units of the noise."""
    count = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    weights = rng.dirichlet(np.ones(count)) if count > 1 else np.ones(1)
    noise = 10 ** draw(st.floats(-3, 2))
    probits = [
        Probit(noise * f, noise * f * draw(st.sampled_from(margins)), draw(st.sampled_from(lapses)))
        for f in (1.0, 0.5, 3.0)[:count]
    ]
    center, far = draw(st.floats(-100, 100)), 10 ** draw(st.floats(-3, 2))
    left = [noise * (center + far * rng.standard_normal(LENGTH)) for _ in range(count)]
    right = [noise * (center + far * rng.standard_normal(LENGTH)) for _ in range(count)]
    sizes = [10 ** rng.uniform(-6, 5, LENGTH) * rng.integers(0, 2, LENGTH) for _ in range(count)]
    return [
        PairMoments(float(weights[k]), probits[k], left[k], right[k], noise**2 * sizes[k])
        for k in range(count)
    ]
