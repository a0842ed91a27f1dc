"""Which features are components, and which trajectories show what they are."""

import numpy as np

from prefero.trajectories.components import Ends, component_ends, is_component


def test_components_are_known_by_their_names() -> None:
    assert all(map(is_component, ["pca 3", "time contrastive 12", "image 1", "mean x of object 2"]))
    others = ["speed", "pca", "pca 0", "mean image 1", "object 2", "distance of object 2"]
    assert not any(map(is_component, others))


def test_the_ends_are_the_lowest_and_the_highest() -> None:
    features = np.array([[5.0, 2.0, 1.0], [4.0, -1.0, 1.0], [3.0, 7.0, 1.0]])
    names = ("speed", "pca 1", "pca 2")  # pca 2 is the same for all
    assert component_ends(names, features, ["a", "b", "c"]) == {"pca 1": Ends(1, 2, "b", "c")}
    assert component_ends(names, features, None)["pca 1"].low_id == "number 1"
