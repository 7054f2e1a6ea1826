"""What models fitted to samples tell: out-of-bag predictions, importance, proximity."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import r2_score

from bottega.core.errors import InputError
from bottega.core.estimator import Estimator
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._kernels.proximity import same_leaf

_MOST_ROWS = 10_000


def importance_columns(names: Sequence[str], rise: FloatArray) -> dict[str, Any]:
    """Return the table of importance from the rise of the loss: (models, columns).

    A model without rows to judge it by has NaN.
    """
    n_models = np.sum(np.isfinite(rise), axis=0)
    mean = np.nanmean(rise, axis=0)
    std_error = np.nanstd(rise, axis=0, ddof=1) / np.sqrt(n_models)
    z = np.divide(mean, std_error, out=np.zeros_like(mean), where=std_error > 0)
    return {"column": list(names), "importance": mean, "std_error": std_error, "z": z}


def proximity_of(n: int, leaves: Callable[[], IntArray]) -> FloatArray:
    """Return in what share of the trees each two of n rows share a leaf; leaves: (rows, trees)."""
    if n > _MOST_ROWS:
        raise InputError(
            f"The proximities of {n} rows are {n}^2 numbers; give at most {_MOST_ROWS} rows as X."
        )
    return same_leaf(leaves())


class OutOfBag(Estimator):
    """A model that keeps what its parts predict for the rows they have not drawn."""

    @property
    def _out_of_bag_name(self) -> str:
        return "oob_decision_function_" if is_classifier(self) else "oob_prediction_"

    def _score_out_of_bag(self, y: Array, found: FloatArray, weight: FloatArray | None) -> None:
        """Set `oob_score_`: accuracy or R squared of the rows that some part has not drawn."""
        seen = np.isfinite(found).reshape(len(found), -1).all(axis=1)
        self.oob_score_ = np.nan
        if not seen.any():
            return
        y, found, weight = y[seen], found[seen], None if weight is None else weight[seen]
        if is_classifier(self):
            top = found.max(axis=1, keepdims=True)
            right = np.argmax(found >= top - 1e-12, axis=1) == y
            self.oob_score_ = float(np.average(right, weights=weight))
        elif len(y) > 1:
            self.oob_score_ = float(r2_score(y, found, sample_weight=weight))

    def _keep_out_of_bag(self, found: FloatArray, places: Any, n: int | None = None) -> None:
        """Keep predictions at their places among the n rows that were given; NaN at the others."""
        kept: FloatArray = np.full((n or len(found), *found.shape[1:]), np.nan)
        kept[places] = found
        setattr(self, self._out_of_bag_name, kept)

    def _restore(self, rows: Rows) -> None:
        assert rows.given is not None
        self._keep_out_of_bag(getattr(self, self._out_of_bag_name), rows.kept, len(rows.given))
