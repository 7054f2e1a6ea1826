"""The rows of local regression, made ready once for all its bandwidths."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

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
class LocalWork:
    """The rows, as they are fitted to, and the kind of fit that they allow."""

    rows: Rows
    data: ExactRows | BinnedInput
    recipe: Recipe
    place: ClassVar[slice] = slice(None)
    spare: FloatArray | None = None  # what windows at the rows may be widened to, where known

    def fit(self, bandwidth: float, *, lengths: bool = True) -> Any:
        """Return the surface and its fit to the rows, on request with tr SS'."""
        return self.data.fit(self.recipe, bandwidth, lengths, self.spare)


def local_work(
    rows: Rows, recipe: Recipe, method: str, n_bins: int | None, standardize: bool, each: Any
) -> LocalWork:
    """Prepare rows: to be binned or not, in units of a bandwidth for each input where given."""
    if each is not None:
        each, p = np.asarray(each, dtype=np.float64), rows.X.shape[1]
        if len(each) != p:
            raise InputError(
                f"bandwidth has {len(each)} numbers and X has {p} columns: give one per input, or "
                "a single number."
            )
        if recipe.nearest:
            raise InputError("kind='nearest' takes one fraction for all inputs; got an array.")
    X = rows.X
    line = X.shape[1] == 1 and np.ptp(X) > 0
    if method == "binned" and not line:
        raise InputError(
            "method='binned' is for one input that varies; use method='exact', or one column."
        )
    data: ExactRows | BinnedInput
    if method == "binned" or (method == "auto" and line and _many_places(X[:, 0])):
        unit = np.ones(1) if each is None else each
        x, y = np.ascontiguousarray(X[:, 0] / unit), np.ascontiguousarray(rows.y)
        data = BinnedInput(x, y, np.ones(1) if rows.weight is None else rows.weight, unit, n_bins)
    else:
        standardize = standardize and each is None
        local = make_rows(X, rows.y, rows.weight, standardize=standardize, by_weight=True)
        if each is not None:
            unit = each[local.columns]
            local = replace(local, X=np.ascontiguousarray(local.X / unit), divisor=unit)
        data = exact_rows(local)
    return LocalWork(rows, data, replace(recipe, degree=data.highest_degree(recipe.degree)))


def _many_places(x: FloatArray) -> bool:
    """Return True if there are more distinct values than exact fits are for."""
    some = x[: 4 * _EXACT_PLACES]  # enough to see it, most often
    if len(np.unique(some)) > _EXACT_PLACES:
        return True
    return len(x) > len(some) and int(np.count_nonzero(np.diff(np.sort(x)))) >= _EXACT_PLACES
