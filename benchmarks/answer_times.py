"""Answer times in the likelihood: what they bring when people obey the law, and when they obey another one.

Simulated users answer random questions with noise. Their times follow one of these laws:

    lognormal   the model's own: the mean of log t falls with the size of the difference of rewards
    diffusion   EZ-diffusion: evidence drifts at a rate of the difference to one of two bounds; the time of
                the decision, simulated step by step, is added to a fixed one
    none        times have nothing to do with differences

The accuracy on held-out pairs and the log-likelihood are those with times minus those without, for the same
answers.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.real_people import score
from benchmarks.rows import mean_and_error
from prefero._support.arrays import Array
from prefero.models.answer_times import with_answer_times
from prefero.models.mixture import MixturePosterior
from prefero.models.preference_gp import PreferenceGP
from prefero.plots.style import new_figure, save_figure, style_axis
from prefero.plots.tables import markdown_table
from prefero.simulation.users import REWARD_KINDS, with_unit_std

LAWS = ("lognormal", "diffusion", "none")
ANSWERS = (10, 20, 40)
TRAJECTORIES, FEATURES, NOISE, TESTED = 80, 3, 0.15, 300
BOUND, DRIFT, STEP, OTHER = 1.0, 1.5, 0.01, 0.4  # of the diffusion: half the distance, rate, seconds, seconds


def lognormal(gaps: Array, rng: np.random.Generator) -> Array:
    return np.exp(rng.normal(1.3 - 0.6 * np.abs(gaps), 0.35))


def diffusion(gaps: Array, rng: np.random.Generator) -> Array:
    """Until one of two bounds is reached; the answer itself is taken from the noise model."""
    position, times, going = np.zeros(len(gaps)), np.zeros(len(gaps)), np.full(len(gaps), True)
    while going.any() and times.max() < 20.0:
        moved = DRIFT * np.abs(gaps) * STEP + np.sqrt(STEP) * rng.standard_normal(len(gaps))
        position[going] += moved[going]
        times[going] += STEP
        going &= np.abs(position) < BOUND
    return times + OTHER


def none(gaps: Array, rng: np.random.Generator) -> Array:
    return np.exp(rng.normal(1.0, 0.4, len(gaps)))


DRAW = {"lognormal": lognormal, "diffusion": diffusion, "none": none}


def gains(law: str, answers: int, seed: int) -> dict[str, float]:
    """With times minus without."""
    rng = np.random.default_rng([seed, answers, *law.encode()])
    x = rng.standard_normal((TRAJECTORIES, FEATURES))
    value = with_unit_std(REWARD_KINDS[("linear", "quadratic")[seed % 2]](FEATURES, rng), x)(x)
    pairs = np.array([rng.choice(TRAJECTORIES, 2, replace=False) for _ in range(answers + TESTED)])
    gaps = value[pairs[:, 0]] - value[pairs[:, 1]]
    seen = gaps + np.sqrt(2.0) * NOISE * rng.standard_normal(len(gaps))
    ordered = np.where((seen > 0)[:, None], pairs, pairs[:, ::-1])
    seconds, tested = DRAW[law](gaps[:answers], rng), ordered[answers:]
    plain = PreferenceGP().fit(x, ordered[:answers]).posterior_
    assert isinstance(plain, MixturePosterior)
    timed, _ = with_answer_times(plain, seconds)
    before, after = (score(p.probability(x[tested[:, 0]], x[tested[:, 1]])) for p in (plain, timed))
    return {name: after[name] - before[name] for name in before}


def draw(path: Path, rows: dict[tuple[str, int], tuple[float, float]]) -> None:
    figure, axes = new_figure(1, width=5.0, height=3.4)
    for law, color in zip(LAWS, ("#0b6e99", "#d1662c", "#8a8a8a"), strict=True):
        found = [rows[law, answers] for answers in ANSWERS]
        axes[0].errorbar(
            ANSWERS, [f[0] for f in found], yerr=[f[1] for f in found], color=color, marker="o", label=law
        )
    axes[0].axhline(0.0, color="#8a8a8a", linewidth=1)
    axes[0].axhline(-0.005, color="#8a8a8a", linewidth=1, linestyle=":")
    axes[0].legend(frameon=False, fontsize=8, title="times follow", title_fontsize=8, loc="upper left")
    style_axis(axes[0], xlabel="answers", ylabel="accuracy with times minus without")
    save_figure(figure, path)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.answer_times", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--people", type=int, default=20, help="simulated users of each row (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="of the first; from 1000 on, to choose a design")
    parser.add_argument("--out", type=Path, default=Path("results/answer-times.png"), help="the figure")
    options = parser.parse_args(argv)
    rows, lines = {}, []
    for law in LAWS:
        for answers in ANSWERS:
            found = [gains(law, answers, options.seed + person) for person in range(options.people)]
            rows[law, answers] = accuracy = mean_and_error(row["accuracy"] for row in found)
            log = mean_and_error(row["log_likelihood"] for row in found)
            lines.append([law, answers, *(f"{mean:+.4f} ± {error:.4f}" for mean, error in (accuracy, log))])
            print(*lines[-1], flush=True)
    print(markdown_table(["times follow", "answers", "accuracy", "log-likelihood"], lines))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    draw(options.out, rows)
    print(f"saved {options.out}")


if __name__ == "__main__":
    main()
