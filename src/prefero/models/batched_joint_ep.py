"""EP for many models of the same answers of every kind at once: sites from which each model's own EP starts.

It is to `prefero.models.joint_ep` what `prefero.models.batched_ep` is to `prefero.models.ep`. Where answers
contradict each other full steps overshoot, so the batch has positive semidefinite sites and takes smaller
steps where the residual of a model grows.
"""

from collections.abc import Sequence

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero.models.answer_regions import Layout
from prefero.models.joint_sites import Block, Sweeps, blocks_of, not_negative, stored, widened
from prefero.models.likelihood import Probit
from prefero.models.linalg import regular_solutions, stacked
from prefero.models.solution import WarmStart

SWEEPS = 60
CLOSE = 1e-3  # standard deviations: a batch stops here, since each model makes its last sweeps alone
MISLED = 0.3  # standard deviations: sites of a batch that are farther from a fixed point are not used
SMALLER, LARGER, SMALLEST = 0.7, 1.05, 0.1  # the share of a step, when the residual has grown; and has not


def joint_warm_starts(
    bases: Sequence[Array], layout: Layout, probits: Sequence[Probit], starts: Sequence[WarmStart]
) -> list[WarmStart]:
    """Sites near the fixed point of every model, where they are found; otherwise those it started from."""
    found = [widened(start) for start in starts]
    batch = _Batch(Sweeps(stacked(bases), layout, probits, bounded=True), found)
    closest = np.full(len(bases), MISLED)
    for _ in range(SWEEPS):
        blocks = batch.blocks()
        residual = np.max([block.residual.max(axis=1) for block in blocks], axis=0)
        for place in np.flatnonzero(residual < closest[batch.models]).tolist():
            model = batch.models[place]
            found[model], closest[model] = batch.start(place), residual[place]
        batch.step(blocks, residual)
        if not len(batch.models):
            break
    return found


class _Batch:
    """Positive semidefinite sites of several models, each with steps of its own length.

    A model leaves the batch when it is close to its fixed point.
    """

    def __init__(self, sweeps: Sweeps, starts: Sequence[WarmStart]) -> None:
        self.sweeps, self.models = sweeps, np.arange(len(starts))
        given = zip(*(blocks_of(sweeps.layout, start.precision) for start in starts), strict=True)
        self.sites = [not_negative(np.stack(some)) for some in given]
        self.shift = np.array([start.shift for start in starts])
        self.damping, self.last = np.ones(len(starts)), np.full(len(starts), np.inf)

    def start(self, place: int) -> WarmStart:
        """The sites of one of the models."""
        precision = stored(self.sweeps.layout, [S[place] for S in self.sites])
        return WarmStart(precision, self.shift[place].copy())

    def blocks(self) -> list[Block]:
        """A sweep over all answers."""
        precision = self.sweeps.precision(self.sites)
        covariance = regular_solutions(
            precision, np.broadcast_to(np.eye(precision.shape[1]), precision.shape)
        )
        return self.sweeps.blocks(self.sites, self.shift, covariance)

    def step(self, blocks: Sequence[Block], residual: Array) -> None:
        """Move the sites of the models that are not close; where the residual grew, by less than before."""
        grew = residual > self.last
        damping = np.where(grew, np.maximum(SMALLER * self.damping, SMALLEST), LARGER * self.damping)
        self.damping, self.last = np.minimum(damping, 1.0), residual
        for group, block in enumerate(blocks):
            to_site = self.damping[:, None, None, None] * block.to_site
            self.sites[group] = not_negative(self.sites[group] + to_site)
            to_shift = np.where(np.isfinite(block.to_linear), block.to_linear, 0.0)
            self.shift[:, block.group.rows] += self.damping[:, None, None] * to_shift
        self._keep(~(residual <= CLOSE))

    def _keep(self, which: Flags) -> None:
        if which.all():
            return
        self.sweeps, self.models = self.sweeps.of_models(which), self.models[which]
        self.sites, self.shift = [S[which] for S in self.sites], self.shift[which]
        self.damping, self.last = self.damping[which], self.last[which]
