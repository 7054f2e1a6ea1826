"""What the spline bases share: where the knots are."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from bottega.basis._expansion.columns import ColumnExpansion
from bottega.basis.spline_functions import check_knots, place_knots
from bottega.core.errors import InputError
from bottega.core.params import Anything, Boolean, Integer, Parameter
from bottega.core.typing import FloatArray


class SplineBasis(ColumnExpansion):
    """Piecewise polynomials that join smoothly at knots."""

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_knots": Integer(0, None, help="number of interior knots, where knots are not given"),
        "knots": Anything(help="'quantile', 'even', or the interior knots themselves"),
        "degree": Integer(1, None, help="degree of the pieces"),
        "boundary": Anything(help="the two boundary knots; the range of each column by default"),
        "intercept": Boolean(help="keep the function that makes the basis hold the constant"),
    }
    include_bias = False  # a spline basis has the constant in its span, or none
    _word: ClassVar[str]

    def __init__(
        self,
        n_knots: int = 5,
        *,
        knots: Any = "quantile",
        degree: int = 3,
        boundary: Any = None,
        intercept: bool = False,
    ) -> None:
        self.n_knots = n_knots
        self.knots = knots
        self.degree = degree
        self.boundary = boundary
        self.intercept = intercept

    def _learn(self, X: FloatArray) -> None:
        p = X.shape[1]
        low, high = X.min(axis=0), X.max(axis=0)
        if self.boundary is not None:
            low, high = self._given_boundary(p)
        room = np.maximum(1.0, 1e-6 * np.abs(low))  # of a column that does not vary
        self.boundary_ = np.column_stack([low, np.where(high > low, high, low + room)])
        if isinstance(self.knots, str):
            if self.knots not in ("quantile", "even"):
                raise InputError(
                    f"knots={self.knots!r} is not allowed; knots must be 'quantile', 'even' or "
                    "numbers."
                )
            self.knots_ = np.stack([self._placed(X[:, j], j) for j in range(p)])
        else:
            given = np.atleast_2d(np.asarray(self.knots, dtype=object))
            if len(given) == 1:
                given = np.repeat(given, p, axis=0)
            if given.ndim != 2 or len(given) != p:
                raise InputError(
                    f"knots has {len(given)} rows for {p} columns; give one list for all columns, "
                    "or one for each."
                )
            self.knots_ = np.stack([check_knots(given[j], *self.boundary_[j]) for j in range(p)])

    def _given_boundary(self, p: int) -> tuple[FloatArray, FloatArray]:
        try:
            ends = np.asarray(self.boundary, dtype=np.float64)
        except (TypeError, ValueError):
            ends = np.empty(0)
        if ends.shape == (2,):
            ends = np.tile(ends, (p, 1))
        if (
            ends.shape != (p, 2)
            or not np.all(np.isfinite(ends))
            or np.any(ends[:, 0] >= ends[:, 1])
        ):
            raise InputError(
                f"boundary={self.boundary!r} is not allowed; boundary must be None or two finite "
                "numbers, the lower first (for all columns, or a pair for each)."
            )
        return ends[:, 0], ends[:, 1]

    def _placed(self, x: FloatArray, j: int) -> FloatArray:
        low, high = self.boundary_[j]
        count = int(self.n_knots)
        inside = x[(x >= low) & (x <= high)]
        if self.knots == "quantile" and len(inside):
            # Where ties make quantiles coincide, those of the distinct values may not.
            for values in (inside, np.unique(inside)):
                found = place_knots(values, count)
                if np.all(np.diff(np.concatenate([[low], found, [high]])) > 0):
                    return found
        return low + (high - low) * np.linspace(0, 1, count + 2)[1:-1]

    def _count(self) -> int:
        """Return the number of columns made of one, without the constant's."""
        return self.knots_.shape[1] + int(self.degree)

    def _names(self, name: str) -> list[str]:
        return [f"{self._word}({name}, {k + 1})" for k in range(self._count() + self.intercept)]
