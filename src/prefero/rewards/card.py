"""A reward on the Hugging Face Hub: its file, a model card, and the configuration that LeRobot looks for."""

import json
from collections.abc import Sequence
from typing import Any

from prefero.questions.labels import count_evidence
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.trajectories.features import Scaling

REWARD, CARD, CONFIG = "reward.json", "README.md", "config.json"
TAGS = ("prefero", "reward-model", "preference-learning", "robotics")

TEXT = """---
library_name: prefero
tags:
{tags}
---

# {title}

A reward function that was learned from a person's preferences between trajectories with Prefero. {about}

```python
import prefero

reward = prefero.load_reward("hf://{repository}")
mean, std = reward.predict(features, return_std=True)  # one row a trajectory, a column for each feature below
```

## Features

{features}

{computed}

## What is acceptable

{acceptable}

## Limits

But for what is acceptable, the reward is known only up to a constant, and its scale comes from the prior:
compare its values with each other, not with those of another reward. It was learned from {answers}, and
holds for trajectories like those that were asked about; `std` says how uncertain a value is.
"""


def repository_files(content: str, card: str) -> dict[str, bytes]:
    """The files of a reward's repository, by their names: the reward's own, its card, and a configuration."""
    files = {
        REWARD: content,
        CARD: card,
        CONFIG: json.dumps({"type": "prefero"}, indent=1) + "\n",  # LeRobot's, for its plugin
    }
    return {name: content.encode() for name, content in files.items()}


def model_card(
    repository: str,
    about: str,
    scaling: Scaling,
    spec: FeatureSpec | None,
    diagnostics: dict[str, Any],
    bar: tuple[float, float] | None = None,
) -> str:
    """What the Hub shows of a reward: its features, how they are computed, its use and its limits.

    `about` says what the reward looks like; `bar` is the mean and the standard deviation of what is just
    acceptable, if answers said what is.
    """
    return TEXT.format(
        tags="\n".join(f"- {tag}" for tag in TAGS),
        title=repository.partition("/")[2],
        about=_sentence(about),
        repository=repository,
        features=_feature_table(scaling),
        computed=_computed(spec),
        acceptable=_acceptable(bar),
        answers=_answers(diagnostics),
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _feature_table(scaling: Scaling) -> str:
    rows = zip(scaling.names, scaling.center, scaling.scale, strict=True)
    lines = [f"| {_cell(name)} | {center:.4g} | {scale:.4g} |" for name, center, scale in rows]
    return "\n".join(["| feature | mean | standard deviation |", "|---|---|---|", *lines])


def _cell(name: str) -> str:
    return name.replace("|", "\\|")


def _computed(spec: FeatureSpec | None) -> str:
    """How the features are computed, in a sentence."""
    if spec is None:
        return "The features came from a table; how they were computed is not in the file."
    windows = f" of windows of {spec.window}" if spec.window else ""
    logs = f" Logarithms are taken of {', '.join(spec.log_transform)}." if spec.log_transform else ""
    columns = f" {_listed(spec.columns)} must be a column of the dataset." if spec.columns else ""
    code = [word for word in spec.words if ":" in word]
    needs = (
        f"It needs the code of `{', '.join(code)}`, which is not here"
        if code
        else "The file has all it needs"
    )
    return (
        f"They are computed{windows} from the states {_listed(spec.state_names)} and the actions "
        f"{_listed(spec.action_names)} by `{', '.join(spec.words)}`.{logs}{columns} {needs}: "
        '`reward.extract_features("hf://OWNER/DATASET")` gives them for a dataset.'
    )


def _acceptable(bar: tuple[float, float] | None) -> str:
    """Where the bar lies, in a sentence."""
    if bar is None:
        return "Nobody was asked what is acceptable: the reward only compares trajectories."
    mean, std = bar
    return (
        f"A trajectory with a reward of {mean:.3g} ± {std:.2g} is just acceptable to the person: "
        "`reward.probability_acceptable(features)` says how probably one is above that."
    )


def _listed(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _answers(diagnostics: dict[str, Any]) -> str:
    answers, labels = diagnostics.get("answers"), diagnostics.get("labels", 0)
    return count_evidence(answers, labels) if isinstance(answers, int) else "a person's answers"
