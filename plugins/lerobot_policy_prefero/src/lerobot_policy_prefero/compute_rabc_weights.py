"""The progress of every frame of a dataset, for LeRobot's reward-aligned behavior cloning.

    python -m lerobot_policy_prefero.compute_rabc_weights --dataset-repo-id ID --reward-model-path reward.json

LeRobot's own reward models have modules of this name with these options. `prefero score --rabc` is the same
without LeRobot.
"""

import argparse
from pathlib import Path
from typing import get_args

from lerobot.datasets.lerobot_dataset import LeRobotDataset

from prefero import load_reward
from prefero.datasets import FeatureOptions, open_dataset
from prefero.datasets.formats.lerobot.dataset import LeRobotDataset as Opened
from prefero.datasets.scores.progress import write_progress
from prefero.deploy.scoring.frame_progress import FrameProgress, ProgressKind, frame_progress

FILE = "sarm_progress.parquet"  # where LeRobot looks for it in a dataset's folder


def compute_progress(
    dataset_repo_id: str,
    reward_path: str,
    root: str | None,
    output: str | None,
    kind: ProgressKind = "auto",
    cut: float | None = None,
) -> tuple[Path, FrameProgress]:
    """Write the progress of every frame of a dataset that LeRobot has, or downloads."""
    reward = load_reward(reward_path)
    there = LeRobotDataset(dataset_repo_id, root=root, download_videos=False)
    dataset = open_dataset(f"lerobot:{there.root}")
    assert isinstance(dataset, Opened)
    table = reward.extract_features(dataset, FeatureOptions(skip_bad=True))
    found = frame_progress(reward, table, kind, cut)
    path = Path(there.root) / FILE if output is None else Path(output)
    write_progress(path, dataset, found.values)
    return path, found


def main() -> None:
    """Parse the options, write the file, and say how to train with it."""
    parser = argparse.ArgumentParser(description="The progress of every frame by a reward of Prefero.")
    parser.add_argument("--dataset-repo-id", required=True, help="The id of the dataset.")
    about = "The reward: its file, a folder that has one, or OWNER/NAME of one on the Hub."
    parser.add_argument("--reward-model-path", required=True, help=about)
    parser.add_argument("--root", help="The dataset's folder, if LeRobot does not have it by its id.")
    parser.add_argument("--output-path", help=f"The file to write; {FILE} in the dataset's folder.")
    about = "A ramp by the quality of episodes, the reward so far, or what tells good from bad."
    parser.add_argument("--progress", choices=get_args(ProgressKind), default="auto", help=about)
    parser.add_argument("--cut", type=float, help="The quality above which episodes are learned from.")
    given = parser.parse_args()
    try:
        path, found = compute_progress(
            given.dataset_repo_id,
            given.reward_model_path,
            given.root,
            given.output_path,
            given.progress,
            given.cut,
        )
    except (OSError, ValueError) as error:
        parser.exit(2, f"prefero: {error}\n")
    print(f"The progress is by {found.kind}: {found.reason}.")
    print(f"The progress of every frame is in {path}. To train with it:")
    print(f"  lerobot-train --sample_weighting.type=rabc --sample_weighting.progress_path={path}")


if __name__ == "__main__":
    main()
