"""Time and held-out log-likelihood against the number of answers, beside BoTorch and a variational GP.

    one Gaussian    an RBF kernel whose hyper-parameters are learned (`PreferenceGP(1.0 * RBF(...))`)
    fixed           the same kernel with fixed hyper-parameters
    mixture         the default model, fitted to all answers at once
    PairwiseGP      BoTorch's model: Laplace's method, learned hyper-parameters
    variational     GPyTorch: 256 inducing points, minibatches of 256 answers, Adam until `--seconds` are over
                    or 3000 steps are done
    log-likelihood  of 2000 further answers, the mean for one answer; the true reward's is the most to expect

The simulated user has a bumpy reward of four features and answers random questions with noise 0.1. Times are
the processor's, the sum over its cores, since these do not depend on what else runs; beside them is that of
the bare product B.T @ B with B of the basis' size. With `--device cuda`, PairwiseGP, the variational GP and
the fixed kernel compute on the GPU that torch finds, and times are those of the clock.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr
from threadpoolctl import threadpool_limits

from prefero._support.arrays import AnyArray, Array
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.kernels import RBF, Anchored
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.gaussian import Distribution, Posterior
from prefero.models.preference_gp import PreferenceGP
from prefero.questions import Comparisons

ANSWERS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
FEATURES, NOISE, HELD_OUT, THETA = 4, 0.1, 2000, 0.15
INDUCING, BATCH, STEPS = 256, 256, 3000
COLORS = {
    "mixture": "#7b4fa3",
    "one Gaussian": "#0b6e99",
    "fixed": "#4c9f70",
    "PairwiseGP": "#d1662c",
    "variational": "#b8860b",
}
LARGEST = {  # numbers of answers
    "cpu": {"mixture": 10_000, "one Gaussian": 10_000, "PairwiseGP": 300},
    "cuda": {"mixture": 1000, "one Gaussian": 1000, "PairwiseGP": 1000},
}
Row = dict[str, Any]


class Task(NamedTuple):
    """Answers to learn from, and further ones."""

    data: Comparisons
    held_out: Comparisons
    most: float  # the mean log-likelihood of the true reward


def make_task(answers: int, seed: int = 0) -> Task:
    rng = np.random.default_rng(seed)
    centers, heights = rng.standard_normal((12, FEATURES)), rng.standard_normal(12)

    def reward(x: Array) -> Array:
        squares = ((x[:, None] - centers) ** 2).sum(2)
        return np.asarray(np.exp(-0.5 * squares / 1.2**2) @ heights)

    unit = float(reward(rng.standard_normal((5000, FEATURES))).std())

    def asked(count: int) -> tuple[Comparisons, Array]:
        a, b = rng.standard_normal((2, count, FEATURES))
        gap = (reward(a) - reward(b)) / unit
        won = gap + np.sqrt(2) * NOISE * rng.standard_normal(count) > 0
        pick = won[:, None]
        data = Comparisons(np.where(pick, a, b), np.where(pick, b, a), np.zeros(count, dtype=bool))
        return data, np.where(won, gap, -gap)

    (data, _), (held_out, gap) = asked(answers), asked(HELD_OUT)
    return Task(data, held_out, float(log_ndtr(gap / (np.sqrt(2) * NOISE)).mean()))


def log_likelihood(belief: Distribution, held_out: Comparisons) -> float:
    return float(np.log(belief.probability(held_out.winners, held_out.losers)).mean())


def clock(device: str) -> float:
    """Seconds of the processor, or of the clock once a GPU has finished."""
    if device == "cpu":
        return time.process_time()
    need("torch", extra="gpu").cuda.synchronize()
    return time.perf_counter()


def fixed(data: Comparisons, device: str) -> Distribution:
    there = None if device == "cpu" else _empty_on(device)
    return infer(Anchored(RBF(THETA), (0.0,) * FEATURES), data, Probit(NOISE), device=there).posterior


def _empty_on(device: str) -> AnyArray:
    torch = need("torch", extra="gpu")
    return torch.empty(0, dtype=torch.float64, device=device)


def one_gaussian(data: Comparisons, _: str) -> Distribution:
    kernel = Anchored(1.0 * RBF(THETA), (0.0,) * FEATURES)
    return PreferenceGP(kernel).fit_comparisons(data).posterior_


def mixture(data: Comparisons, _: str) -> Distribution:
    return MixtureFitter(Reference.normal(FEATURES)).fit(data)


OURS: dict[str, Callable[[Comparisons, str], Distribution]] = {
    "fixed": fixed,
    "one Gaussian": one_gaussian,
    "mixture": mixture,
}


def pairwise_gp(task: Task, device: str) -> tuple[float, float]:
    """Seconds, and the held-out log-likelihood, of BoTorch's model."""
    torch, botorch = need("torch", extra="gpu"), need("botorch", extra="gpu")
    models, fit = need("botorch.models.pairwise_gp", extra="gpu"), botorch.fit.fit_gpytorch_mll
    count = len(task.data)
    points = torch.asarray(np.concatenate([task.data.winners, task.data.losers]), device=device)
    pairs = torch.stack([torch.arange(count), torch.arange(count) + count], dim=1).to(device)
    start = clock(device)
    model = models.PairwiseGP(points, pairs)
    fit(models.PairwiseLaplaceMarginalLogLikelihood(model.likelihood, model))
    seconds = clock(device) - start
    both = torch.asarray(np.concatenate([task.held_out.winners, task.held_out.losers]), device=device)
    found = model.posterior(both)
    mean, covariance = found.mean.detach()[:, 0], found.covariance_matrix.detach()
    a, b = torch.arange(HELD_OUT), torch.arange(HELD_OUT) + HELD_OUT
    variance = covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]
    z = (mean[a] - mean[b]) / torch.sqrt(2.0 + variance)  # its noise has variance 1 for each trajectory
    return seconds, float(torch.special.log_ndtr(z).mean())


def variational(task: Task, limit: float, device: str) -> tuple[float, float]:
    """Seconds, and the held-out log-likelihood, of a variational GP with learned inducing points."""
    torch, gpytorch = need("torch", extra="gpu"), need("gpytorch", extra="gpu")
    torch.manual_seed(0)
    winners, losers = (torch.asarray(v, device=device).float() for v in (task.data.winners, task.data.losers))

    class Model(gpytorch.models.ApproximateGP):  # type: ignore[name-defined, misc]
        def __init__(self, inducing: AnyArray) -> None:
            distribution = gpytorch.variational.CholeskyVariationalDistribution(len(inducing))
            strategy = gpytorch.variational.VariationalStrategy(self, inducing, distribution)
            super().__init__(strategy)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
            self.log_noise = torch.nn.Parameter(torch.tensor(-1.0))

        def forward(self, x: AnyArray) -> AnyArray:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def gap(model: AnyArray, a: AnyArray, b: AnyArray) -> tuple[AnyArray, AnyArray]:
        found, count = model(torch.cat([a, b])), len(a)
        mean, covariance = found.mean, found.covariance_matrix
        one = covariance.diagonal()
        across = covariance[:count, count:].diagonal()
        return mean[:count] - mean[count:], (one[:count] + one[count:] - 2.0 * across).clamp(min=1e-8)

    start = clock(device)
    chosen = torch.randperm(len(winners), device=device)[:INDUCING]
    model = Model(winners[chosen].clone()).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    nodes, weights = (torch.asarray(v, device=device).float() for v in np.polynomial.hermite_e.hermegauss(16))
    model.train()
    for _ in range(STEPS):
        some = torch.randint(len(winners), (min(BATCH, len(winners)),), device=device)
        mean, variance = gap(model, winners[some], losers[some])
        scale = 2.0**0.5 * model.log_noise.exp()
        at = (mean[:, None] + variance.sqrt()[:, None] * nodes) / scale
        fit = (torch.special.log_ndtr(at) @ weights) / weights.sum()
        loss = -fit.mean() + model.variational_strategy.kl_divergence() / len(winners)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if clock(device) - start > limit:
            break
    seconds = clock(device) - start
    model.eval()
    with torch.no_grad():
        held = [
            torch.asarray(v, device=device).float() for v in (task.held_out.winners, task.held_out.losers)
        ]
        mean, variance = gap(model, *held)
        scale = 2.0**0.5 * model.log_noise.exp()
        return seconds, float(torch.special.log_ndtr(mean / torch.sqrt(scale**2 + variance)).mean())


def bare_product(count: int, rank: int) -> float:
    """The time of B.T @ B."""
    B = np.random.default_rng(0).standard_normal((count, rank))
    with threadpool_limits(1):
        B.T @ B
        start = time.process_time()
        B.T @ B
        return time.process_time() - start


def ours(name: str, task: Task, device: str) -> Row:
    start = clock(device)
    belief = OURS[name](task.data, device)
    seconds = clock(device) - start
    rank = max((len(part.alpha) for _, part in belief.components if isinstance(part, Posterior)), default=0)
    unit = bare_product(len(task.data), rank) if rank and device == "cpu" else float("nan")
    return {
        "seconds": seconds,
        "log_likelihood": log_likelihood(belief, task.held_out),
        "rank": rank,
        "product": unit,
    }


def one_more(count: int) -> None:
    """How long one more answer takes the mixture: processor seconds, and those of the clock."""
    data = make_task(count + 4).data
    fitter = MixtureFitter(Reference.normal(FEATURES))
    times = []
    for size in range(count, count + 5):
        start = time.process_time(), time.perf_counter()
        fitter.fit(data[:size])
        times.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    for name, (whole, *more) in zip(("processor", "clock"), zip(*times, strict=True), strict=True):
        print(
            f"mixture of {count} answers, {name}: {whole:.2f} s; one more {np.median(more):.2f} s, "
            f"the first {more[0]:.2f} s",
            flush=True,
        )


def on_gpu(count: int) -> None:
    """One Gaussian on the GPU that torch finds."""
    torch = need("torch", extra="gpu")
    task, kernel, device = make_task(count), Anchored(RBF(THETA), (0.0,) * FEATURES), _empty_on("cuda")
    for again in range(2):
        start = time.perf_counter()
        fit = infer(kernel, task.data, Probit(NOISE), device=device)
        belief = fit.posterior
        seconds = time.perf_counter() - start
        print(
            f"{torch.cuda.get_device_name()}, {count} answers, run {again + 1}: {seconds:.2f} s, rank "
            f"{len(belief.alpha)}, {fit.solution.iterations} sweeps, held-out log-likelihood "
            f"{log_likelihood(belief, task.held_out):.4f}",
            flush=True,
        )


def measured(options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for count in ANSWERS[: options.most]:
        task = make_task(count)
        for name in options.methods:
            if count > LARGEST[options.device].get(name, ANSWERS[-1]):
                continue
            found = _measure(name, task, options)
            rows.append(
                {"answers": count, "method": name, "most": task.most, "device": options.device, **found}
            )
            print(say(rows[-1]), flush=True)
    return rows


def _measure(name: str, task: Task, options: argparse.Namespace) -> Row:
    if name in OURS:
        return ours(name, task, options.device)
    found = (
        pairwise_gp(task, options.device)
        if name == "PairwiseGP"
        else variational(task, options.seconds, options.device)
    )
    return dict(zip(("seconds", "log_likelihood"), found, strict=True))


def say(row: Row) -> str:
    bare = row.get("product", float("nan"))
    beside = f", rank {row['rank']}, {row['seconds'] / bare:.0f} x B.T @ B" if bare == bare else ""
    return (
        f"{row['answers']:7d} {row['method']:13s} {row['seconds']:8.2f} s  log-likelihood "
        f"{row['log_likelihood']:.4f} (true reward {row['most']:.4f}){beside}"
    )


def draw(path: Path, rows: Sequence[Row]) -> None:
    need("matplotlib", extra="plots").use("Agg")
    pyplot = need("matplotlib.pyplot", extra="plots")
    figure, axes = pyplot.subplots(1, 2, figsize=(11.0, 4.2), layout="constrained")
    for name, color in COLORS.items():
        own = [row for row in rows if row["method"] == name]
        sizes = [row["answers"] for row in own]
        for axis, column in zip(axes, ("seconds", "log_likelihood"), strict=True):
            axis.plot(sizes, [row[column] for row in own], marker="o", markersize=4, color=color, label=name)
    most = {row["answers"]: row["most"] for row in rows}
    axes[1].plot(list(most), list(most.values()), ":", color="#8a8a8a", label="true reward")
    unit = "processor seconds" if rows[0]["device"] == "cpu" else "seconds, on a GPU where it can be used"
    axes[0].set(xscale="log", yscale="log", xlabel="answers", ylabel=unit)
    axes[1].set(xscale="log", xlabel="answers", ylabel="held-out log-likelihood of an answer")
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=140)
    pyplot.close(figure)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks many_answers", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--most", type=int, default=len(ANSWERS), help="how many of the seven sizes, from the smallest")
    add("--methods", nargs="+", default=list(COLORS), choices=list(COLORS), help="which models")
    add(
        "--device", default="cpu", choices=list(LARGEST), help="where the models are fitted that can be there"
    )
    add("--seconds", type=float, default=60.0, help="the longest that the variational GP is trained")
    add("--rows", type=Path, default=Path("results/many-answers.json"), help="where the numbers are added")
    add("--out", type=Path, default=Path("results/many-answers.png"), help="where the figure goes")
    add("--draw", action="store_true", help="measure nothing, and draw what the file has")
    add("--one-more", type=int, nargs="*", help="instead: mixtures of so many answers, and one more answer")
    add("--gpu", type=int, nargs="*", help="instead: one Gaussian of so many answers on a GPU")
    options = parser.parse_args(argv)
    if options.one_more or options.gpu:
        for count in options.one_more or ():
            one_more(count)
        for count in options.gpu or ():
            on_gpu(count)
        return
    if not options.draw:
        options.rows.parent.mkdir(parents=True, exist_ok=True)
        before = json.loads(options.rows.read_text(encoding="utf-8")) if options.rows.is_file() else []
        write_atomically(options.rows, json.dumps(before + measured(options), indent=1))
    draw(options.out, json.loads(options.rows.read_text(encoding="utf-8")))
    print(f"saved {options.out}")


if __name__ == "__main__":
    main()
