"""The rows of local regression, made ready once for all its bandwidths."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.smooth._local.binned import BinnedInput
from bottega.smooth._local.exact import ExactRows, exact_rows
from bottega.smooth._local.rows import make_rows
from bottega.smooth._local.windows import Recipe

_EXACT_PLACES = 5_000  # up to this many distinct values method="auto" is exact


@dataclass(frozen=True)
class ReadyRows:
    """Rows on one scale, the kind of fit that they allow, and what windows are widened to."""

    data: ExactRows | BinnedInput
    recipe: Recipe
    spare: FloatArray | None

    def fit(self, bandwidth: float, *, lengths: bool = True) -> Any:
        """Return the surface and its fit to the rows, on request with tr SS'."""
        return self.data.fit(self.recipe, bandwidth, lengths=lengths, spare=self.spare)

    def scale(self, X: FloatArray) -> FloatArray:
        """Return inputs on the scale of the rows."""
        return np.ascontiguousarray(X[:, self.data.columns] / self.data.divisor)


@dataclass(frozen=True)
class LocalWork:
    """The rows, and how they are to be prepared.

    Attributes
    ----------
    rows : Rows
        The rows that count.
    recipe : Recipe
        What kind of fit is wanted.
    method : {"auto", "exact", "binned"}
        Whether rows are binned.
    n_bins : int or None
        Size of the grid; None: as the bandwidth needs.
    normalize : bool
        Whether several inputs are put on one scale.
    """

    rows: Rows
    recipe: Recipe
    method: str
    n_bins: int | None
    normalize: bool

    @cached_property
    def plain(self) -> ReadyRows:
        """Rows for one bandwidth of all inputs."""
        return self._ready(None)

    def scaled_by(self, bandwidth: Any) -> ReadyRows:
        """Return rows in units of a bandwidth for each input."""
        each = np.asarray(bandwidth, dtype=np.float64)
        p = self.rows.X.shape[1]
        if len(each) != p:
            raise InputError(
                f"bandwidth has {len(each)} numbers and X has {p} columns: give one per input, or "
                "a single number."
            )
        if self.recipe.nearest:
            raise InputError("kind='nearest' takes one fraction for all inputs; got an array.")
        return self._ready(each)

    def _ready(self, each: FloatArray | None) -> ReadyRows:
        data = self._data(each)
        recipe = replace(self.recipe, degree=data.highest_degree(self.recipe.degree))
        return ReadyRows(data, recipe, data.spare(recipe))

    def _data(self, each: FloatArray | None) -> ExactRows | BinnedInput:
        X, y, weight = self.rows.X, self.rows.y, self.rows.weight
        line = X.shape[1] == 1 and np.ptp(X) > 0
        if self.method == "binned" and not line:
            raise InputError(
                "method='binned' is for one input that varies; use method='exact', or one column."
            )
        if self.method == "binned" or (self.method == "auto" and line and _many_places(X[:, 0])):
            unit = np.ones(1) if each is None else each
            x = np.ascontiguousarray(X[:, 0] / unit)
            w = np.ones(1) if weight is None else weight
            return BinnedInput(x, np.ascontiguousarray(y), w, unit, self.n_bins)
        rows = make_rows(X, y, weight, normalize=self.normalize and each is None, by_weight=True)
        if each is not None:
            unit = each[rows.columns]
            rows = replace(rows, X=np.ascontiguousarray(rows.X / unit), divisor=unit)
        return exact_rows(rows)


def _many_places(x: FloatArray) -> bool:
    """Return True if there are more distinct values than exact fits are for."""
    some = x[: 4 * _EXACT_PLACES]  # enough to see it, most often
    if len(np.unique(some)) > _EXACT_PLACES:
        return True
    return len(x) > len(some) and int(np.count_nonzero(np.diff(np.sort(x)))) >= _EXACT_PLACES
