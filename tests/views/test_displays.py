"""What the page gets of a pool has the types that the page's own are generated from."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from prefero import Pool
from prefero.pools.displays import details_of, display_of
from prefero.views.displays import Display, TrajectoryDetails


@pytest.mark.parametrize("world", ["driver", "tosser", ""])
def test_a_display_and_its_trajectories_have_every_field_of_their_types(world: str) -> None:
    features = np.random.default_rng(0).normal(size=(4, 2))
    pool = Pool.simulate(world, 4, seed=0) if world else Pool(features, ["speed", "height"])
    display: TypeAdapter[Display] = TypeAdapter(Display)
    shown = display_of(pool)
    assert display.dump_python(display.validate_python(shown), mode="json") == shown
    details = TypeAdapter(TrajectoryDetails)
    told = details_of(pool, shown, 2)
    assert details.dump_python(details.validate_python(told), mode="json") == told
