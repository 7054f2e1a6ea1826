"""A loss that is a sum or a mean over rows, on all of them or on a few."""

from typing import Any

import numpy as np

from bottega.core.devices import torch_on
from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.objective import Objective

__all__ = ["REDUCTIONS", "RowLoss"]

REDUCTIONS = ("sum", "mean")


class RowLoss(Objective):
    """f on all rows, as an `Objective` is, and its estimate from a batch of them.

    Parameters
    ----------
    loss : callable
        ``loss(x, rows)``.
    gradient : callable, True, "torch" or None
        As `Objective` takes it, with the rows as a second argument.
    n : int
        Rows.
    reduction : str
        What the loss returns over its rows, one of `REDUCTIONS`.
    """

    def __init__(self, loss: Any, gradient: Any, n: int, reduction: str) -> None:
        if reduction not in REDUCTIONS:
            raise ParameterError(f'reduction={reduction!r} is not known; give "sum" or "mean".')
        if not callable(loss):
            raise ParameterError(f"loss_of_rows={loss!r} is not a function of x and rows.")
        self.loss, self.n, self.reduction = loss, n, reduction
        self.given = gradient
        every = self._on(np.arange(n))
        super().__init__(every.f, every._gradient)

    def _on(self, rows: IntArray) -> Objective:
        """Return the loss of some rows as a function of x alone."""
        if self.given == "torch":
            torch = torch_on("cpu")[0]
            places = torch.as_tensor(rows)
            return Objective(lambda x: self.loss(x, places), "torch")
        if callable(self.given):
            return Objective(lambda x: self.loss(x, rows), lambda x: self.given(x, rows))
        return Objective(lambda x: self.loss(x, rows), self.given)

    def batch_gradient(self, x: FloatArray, rows: IntArray) -> FloatArray:
        """Return the gradient of f as the rows estimate it."""
        found = self._on(rows).gradient(x)
        return found * (self.n / len(rows)) if self.reduction == "sum" else found

    def check(self, x: FloatArray, value: float) -> None:
        """Refuse a loss whose two halves do not add up to the whole."""
        if self.n < 2:
            return
        half = self.n // 2
        first, second = (self._on(rows).value(x) for rows in np.split(np.arange(self.n), [half]))
        found = {
            "sum": first + second,
            "mean": (half * first + (self.n - half) * second) / self.n,
        }
        near = {
            name: abs(each - value) <= 1e-6 * max(abs(value), abs(first), abs(second))
            for name, each in found.items()
        }
        if not near[self.reduction]:
            (other,) = set(REDUCTIONS) - {self.reduction}
            cure = (
                f'it is a {other}: pass reduction="{other}"'
                if near[other]
                else "with a sum, a penalty on x counts with the share of the rows in the batch"
            )
            raise InputError(
                f"loss_of_rows is no {self.reduction} over rows: it is {value:.6g} for all "
                f"{self.n}, {first:.6g} and {second:.6g} for the two halves; {cure}."
            )
