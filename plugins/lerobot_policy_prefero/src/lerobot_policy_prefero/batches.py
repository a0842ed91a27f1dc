"""LeRobot's batches as episodes of Prefero; nothing here needs LeRobot or torch.

B, T       trajectories in a batch, and frames of each
padded     (B, T)   frames before the beginning of an episode, which the data loader repeats
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero.datasets import Episode
from prefero.trajectories import FeatureSpec

Numbers = npt.NDArray[np.float64]
PADDED = "_is_pad"


def as_array(values: Any) -> npt.NDArray[Any]:
    """A tensor or anything else as an array on this machine."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def joined(batch: Mapping[str, Any], keys: Sequence[str], several: bool) -> Numbers:
    """Some entries of a batch side by side, (B, T, n).

    LeRobot leaves out an axis of length 1: `several` says whether (B, m) are m frames of one number, or one
    frame of m numbers.
    """
    arrays = [as_array(batch[key]).astype(float) for key in keys]
    return np.concatenate([_with_axes(array, several) for array in arrays], axis=2)


def _with_axes(array: Numbers, several: bool) -> Numbers:
    if array.ndim == 2:
        return array[:, :, None] if several else array[:, None]
    return array[:, None, None] if array.ndim == 1 else array


def episodes_in(
    batch: Mapping[str, Any],
    spec: FeatureSpec,
    state_keys: Sequence[str],
    action_keys: Sequence[str],
    steps: int = 1,
) -> list[Episode]:
    """The trajectories of a batch, without the frames before an episode's beginning."""
    _check_keys(batch, (*state_keys, *action_keys))
    several = steps > 1 or any(as_array(batch[key]).ndim == 3 for key in (*state_keys, *action_keys))
    states, actions = joined(batch, state_keys, several), joined(batch, action_keys, several)
    _check_width("states", states, spec.state_names)
    _check_width("actions", actions, spec.action_names)
    padded = as_array(batch.get(f"{state_keys[0]}{PADDED}", np.zeros(states.shape[:2], dtype=bool)))
    return [
        Episode(
            str(number),
            states[number][~padded[number]],
            actions[number][~padded[number]],
            None,
            spec.step_seconds,
            spec.state_names,
            spec.action_names,
        )
        for number in range(len(states))
    ]


def _check_keys(batch: Mapping[str, Any], keys: Sequence[str]) -> None:
    missing = [key for key in keys if key not in batch]
    if missing:
        raise KeyError(
            f"the reward needs {missing[0]!r}, but the batch has {', '.join(map(str, batch))}: name what it "
            "has with state_keys and action_keys"
        )


def _check_width(what: str, values: Numbers, names: Sequence[str]) -> None:
    if values.shape[2] != len(names):
        raise ValueError(
            f"the reward was taught with {len(names)} {what} ({', '.join(names)}), but the batch has "
            f"{values.shape[2]}: name what they are made of with state_keys and action_keys"
        )
