"""The reward of single steps as exports have it: `StepReward` with everything multiplied out.

    steps      (n, d)      states and actions side by side; of one step (d,)
    numbers    (n, d + 1)  the steps, and the effort of each
    reward     (n,)        constant + linear . numbers + numbers . quadratic . numbers + cosines of the waves

Python files hold this code, and graphs the operations that it calls. The constants in capitals are empty
here, and filled in a file.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import AnyArray, Array, namespace_of
from prefero.deploy.compiled.step_reward import StepReward

STATES: tuple[str, ...] = ()
ACTIONS: tuple[str, ...] = ()
STEP: dict[str, Any] = {}
STEP_END = 0.0
CONSTANTS = ("STATES", "ACTIONS", "STEP", "STEP_END")


def reward_of_steps(
    steps: AnyArray,
    to_numbers: AnyArray,
    to_effort: AnyArray,
    constant: AnyArray,
    linear: AnyArray,
    quadratic: AnyArray,
    frequencies: AnyArray,
    phases: AnyArray,
    amplitudes: AnyArray,
) -> AnyArray:
    """The expected reward of each step."""
    xp = namespace_of(steps)
    numbers = steps @ to_numbers + steps**2 @ to_effort
    forms = xp.sum(numbers * (numbers @ quadratic + linear), axis=-1)
    return xp.cos(numbers @ frequencies + phases) @ amplitudes + forms + constant


def step_reward(state: npt.ArrayLike, action: npt.ArrayLike, ended: npt.ArrayLike = False) -> Any:
    """The expected reward of a step from a state (s,) with an action (a,), or of n steps (n, s), (n, a).

    `ended` says whether the trajectory ended with the step, as by a fall.
    """
    both = [np.asarray(values, dtype=float) for values in (state, action)]
    if [one.shape[-1:] for one in both] != [(len(STATES),), (len(ACTIONS),)]:
        raise ValueError(
            f"wanted states of {STATES} and actions of {ACTIONS}, but their shapes are "
            f"{both[0].shape} and {both[1].shape}"
        )
    return reward_of_steps(np.concatenate(both, axis=-1), **STEP) + STEP_END * np.asarray(ended)


def constants_of(reward: StepReward) -> dict[str, Array]:
    """The arguments of `reward_of_steps` besides the steps."""
    compiled, effort = reward.compiled, reward.features.effort
    d = len(effort)
    to_effort = np.zeros((d, d + 1))
    to_effort[:, -1] = effort
    return {
        "to_numbers": np.eye(d, d + 1),
        "to_effort": to_effort,
        "constant": np.asarray(compiled.constant),
        "linear": compiled.linear,
        "quadratic": compiled.quadratic,
        "frequencies": compiled.frequencies,
        "phases": compiled.phases,
        "amplitudes": compiled.amplitudes,
    }
