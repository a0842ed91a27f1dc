"""Anderson's acceleration of fixed-point iterations, of several models at once.

K, D      models, and numbers of each
units     (K, D)   what makes all numbers of a model about as large
"""

from copy import copy
from typing import NamedTuple, Self

import numpy as np

from prefero._support.arrays import Array, Flags

RIDGE = 1e-10  # of a least-squares problem whose columns may be dependent


class _Move(NamedTuple):
    """From one point to the next."""

    at: Array  # by how much the point moved, (K, D)
    step: Array  # and its step
    known: Flags  # (K,) of which models it counts


class AndersonAcceleration:
    """Anderson's acceleration of every model's fixed-point iteration, with a memory of a few steps.

    The next sites are where the last steps, seen as linear in their starting points, would vanish. If it is
    careful, the memory of a model whose residual has grown is dropped, and when it grows without any, its
    steps are halved.
    """

    def __init__(self, units: Array, damping: float, memory: int, careful: bool) -> None:
        models = len(units)
        self.units, self.memory, self.careful = units, memory, careful
        self.damping, self.best = np.full(models, damping), np.full(models, np.inf)
        self.count = np.zeros(models, dtype=np.intp)  # of the points since the memory was dropped
        self.last: _Move | None = None  # the last point itself
        self.moves: list[_Move] = []

    def of_models(self, which: Flags) -> Self:
        """The same for some of the models."""
        other = copy(self)
        for name in ("units", "damping", "best", "count"):
            setattr(other, name, getattr(self, name)[which])
        some = [_Move(at[which], step[which], known[which]) for at, step, known in self._points()]
        other.last, other.moves = (some[0], some[1:]) if some else (None, [])
        return other

    def _points(self) -> list[_Move]:
        return [] if self.last is None else [self.last, *self.moves]

    def __call__(self, flat: Array, steps: Array, residual: Array) -> Array:
        """The next sites, given the present ones, the steps they would take, and the residuals.

        Where a residual is infinite, the step is none.
        """
        proper = np.isfinite(residual)
        if self.careful:
            self._restart(residual, proper)
        # precisions are multiplied by the noise, so that they are of the same size as shifts
        new = _Move(self.units * flat, self.units * steps, proper)
        if not proper.all():
            new = new._replace(step=np.where(proper[:, None], new.step, 0.0))
        if self.last is not None and self.memory:
            last = self.last
            move = _Move(new.at - last.at, new.step - last.step, proper & last.known)
            self.moves = [*self.moves, move][-self.memory :]
        self.last = new
        at = new.at + self.damping[:, None] * new.step
        return np.asarray((at - self._correction(new.step)) / self.units)

    def _restart(self, residual: Array, proper: Flags) -> None:
        """Drop the memory of models that came no closer."""
        grew = residual > 2.0 * self.best
        again = grew | ~proper
        if again.any():
            halved = np.maximum(0.5 * self.damping, 0.02)
            self.damping = np.where(grew & proper & (self.count == 1), halved, self.damping)
            self.best, self.count = np.where(again, np.inf, self.best), np.where(again, 0, self.count)
            self.moves = [move._replace(known=move.known & ~again) for move in self.moves]
            if self.last is not None:
                self.last = self.last._replace(known=self.last.known & ~again)
        self.best, self.count = np.minimum(self.best, residual), self.count + proper

    def _correction(self, step: Array) -> Array | float:
        known = np.array([move.known for move in self.moves])  # (m, K)
        if not self.memory or not known.any():
            return 0.0
        moves = np.stack([move.at for move in self.moves], axis=1)  # (K, m, D)
        changes = np.stack([move.step for move in self.moves], axis=1)
        if not known.all():
            moves, changes = known.T[:, :, None] * moves, known.T[:, :, None] * changes
        gram = changes @ np.swapaxes(changes, 1, 2)
        size = np.einsum("kmm->k", gram)[:, None, None]
        ridge = (RIDGE * size + 1e-300) * np.eye(len(known))
        coefficients = np.linalg.solve(gram + ridge, changes @ step[:, :, None])
        moves += self.damping[:, None, None] * changes
        correction: Array = (np.swapaxes(coefficients, 1, 2) @ moves)[:, 0]
        largest = 100.0 * np.einsum("kd,kd->k", step, step)
        small = np.einsum("kd,kd->k", correction, correction) <= largest
        return correction if small.all() else np.where(small[:, None], correction, 0.0)
