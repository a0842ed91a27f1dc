"""The report: one Markdown file and one HTML page with all figures, tables and answers to the claims."""

import platform
from collections.abc import Sequence
from pathlib import Path

import prefero
from prefero.experiments.claims import claims
from prefero.experiments.figures.base import TUNED, Figure, Scale
from prefero.experiments.results import Results
from prefero.plots import html
from prefero.worlds.mujoco.rollout import version


def write_report(
    figures: Sequence[Figure], results: Results, scale: Scale, folder: Path, command: str, *, whole: bool
) -> None:
    """Beside the images; the claims need the runs of all figures."""
    sections = [
        f"# The paper's experiments with Prefero {prefero.__version__}\n",
        _what_was_run(scale, command),
    ]
    if whole:
        sections.append("## What holds, and what does not\n")
        sections.append("\n".join(f"- {claim}" for claim in claims(results, scale)) + "\n")
    for figure in figures:
        sections.append(f"## {figure.title}\n\n![{figure.title}]({figure.name}.png)\n")
        sections.append(figure.describe(results, scale))
    html.write_report(folder, "\n".join(sections))


def _what_was_run(scale: Scale, command: str) -> str:
    machine = f"Python {platform.python_version()}, {version()}, {platform.system()}"
    return f"""`{command}`

{scale.runs} runs with seeds from {scale.first_seed} on, {scale.questions} questions, training pools of
{scale.trajectories} trajectories from uniformly random actions, test sets of {scale.test_size} diverse
trajectories from pools of their own and all pairs of them with noiseless answers. Simulated users: probit
noise 0.1, rewards with standard normal coefficients on standardized features, divided by their standard
deviation over the training pool. Every method has the same pool, user and test set. "Tuned" is theta
{TUNED[0]:g} and sigma {TUNED[1]:g}, the best over all tasks on other seeds; "best in hindsight" is the best
of the grid (theta {_list(scale.thetas)}; sigma {_list(scale.sigmas)}) on the very runs that are shown. Bands
are standard deviations over the runs. {machine}.
"""


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
