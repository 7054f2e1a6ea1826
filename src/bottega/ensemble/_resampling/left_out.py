"""What models fitted to samples tell: out-of-bag predictions, importance, proximity."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray, IntArray
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
    found: FloatArray = same_leaf(leaves())
    return found


def restore_out_of_bag(model: Any, rows: Rows) -> None:
    """Extend the out-of-bag predictions of a model to the rows of weight zero, which have none."""
    assert rows.given is not None
    for name in ("oob_decision_", "oob_prediction_"):
        known = getattr(model, name, None)
        if known is not None:
            found: FloatArray = np.full((len(rows.given), *known.shape[1:]), np.nan)
            found[rows.kept] = known
            setattr(model, name, found)
