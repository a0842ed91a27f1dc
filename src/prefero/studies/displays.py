"""What a study reads from the display of its pool: the labels of features, and the targets of a scene."""

from typing import Any

from prefero.studies.learning_summary import FeatureLabel


def labels_of(display: dict[str, Any]) -> list[FeatureLabel]:
    """Names and units of the features."""
    return [
        FeatureLabel(feature["name"], feature["unit"], tuple(feature["levels"]))
        for feature in display["features"]
    ]


def targets_of(display: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of the scene that have a name written on them."""
    return [part for part in display.get("scene", {}).get("parts", []) if part["label"]]
