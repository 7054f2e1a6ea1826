"""Basis functions that have a centre and a width: where both come from."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from bottega.basis._expansion.columns import ColumnExpansion
from bottega.core.errors import InputError
from bottega.core.params import Anything, Auto, Boolean, Integer, Parameter, Real
from bottega.core.typing import FloatArray


class CentredBasis(ColumnExpansion):
    """Basis functions of ``(x - centre) / width``."""

    params: ClassVar[Mapping[str, Parameter]] = {
        "centers": Anything(help="centres of the basis functions, or 'auto'"),
        "n_basis": Integer(1, None, help="number of functions per column, when centers is 'auto'"),
        "width": Auto(Real(0, None, open_low=True, log=True), help="width of each function"),
        "include_bias": Boolean(help="put a column of ones first"),
    }
    _word: ClassVar[str]

    def __init__(
        self,
        centers: Any = "auto",
        *,
        n_basis: int = 10,
        width: float | str = "auto",
        include_bias: bool = False,
    ) -> None:
        self.centers = centers
        self.n_basis = n_basis
        self.width = width
        self.include_bias = include_bias

    def _learn(self, X: FloatArray) -> None:
        low, high = X.min(axis=0), X.max(axis=0)
        if isinstance(self.centers, str):
            if self.centers != "auto":
                raise InputError(
                    f"centers={self.centers!r} is not allowed; centers must be 'auto' or numbers."
                )
            self.centers_ = (
                np.linspace(low, high, self.n_basis, axis=1)
                if self.n_basis > 1
                else ((low + high) / 2)[:, None]
            )
        else:
            self.centers_ = self._given_centers(X.shape[1])
        if isinstance(self.width, str):
            # The distance between neighbours; of one function alone, half the range of the data.
            count = self.centers_.shape[1]
            gap = np.ptp(self.centers_, axis=1) / (count - 1) if count > 1 else (high - low) / 2
            self.width_ = np.where(gap > 0, gap, 1.0)
        else:
            self.width_ = np.full(X.shape[1], float(self.width))

    def _given_centers(self, p: int) -> FloatArray:
        try:
            given = np.asarray(self.centers, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.empty(0)
        if given.ndim == 1:
            given = np.tile(given, (p, 1))
        if given.ndim != 2 or not given.size or not np.all(np.isfinite(given)) or len(given) != p:
            raise InputError(
                f"centers={self.centers!r} is not allowed; centers must be 'auto', a list of "
                f"finite numbers for all columns, or one row of them for each of the {p} columns."
            )
        return given

    def _scaled(self, x: FloatArray, j: int) -> FloatArray:
        return (x[:, None] - self.centers_[j]) / self.width_[j]

    def _names(self, name: str) -> list[str]:
        return [f"{self._word}({name}, {k + 1})" for k in range(self.centers_.shape[1])]
