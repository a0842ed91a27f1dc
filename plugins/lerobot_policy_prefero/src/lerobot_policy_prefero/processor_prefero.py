"""The steps before and after the reward: a batch is used as it is, in the units of its dataset."""

from typing import Any

from lerobot.processor import (
    AddBatchDimensionProcessorStep,
    DeviceProcessorStep,
    PolicyProcessorPipeline,
    policy_action_to_transition,
)
from lerobot.utils.constants import POLICY_POSTPROCESSOR_DEFAULT_NAME, POLICY_PREPROCESSOR_DEFAULT_NAME

from lerobot_policy_prefero.configuration_prefero import PreferoConfig


def make_prefero_pre_post_processors(
    config: PreferoConfig, dataset_stats: dict[str, Any] | None = None
) -> tuple[Any, Any]:
    """LeRobot looks for a function of this name. Nothing is normalized: Prefero scales features itself."""
    del dataset_stats
    before = PolicyProcessorPipeline(
        steps=[AddBatchDimensionProcessorStep(), DeviceProcessorStep(device=config.device or "cpu")],
        name=POLICY_PREPROCESSOR_DEFAULT_NAME,
    )
    after = PolicyProcessorPipeline(
        name=POLICY_POSTPROCESSOR_DEFAULT_NAME, to_transition=policy_action_to_transition
    )
    return before, after
