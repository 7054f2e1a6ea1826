"""Out-of-bag predictions: those of the models that have not drawn the row."""

from typing import Any

import numpy as np

from bottega.core.rows import Rows
from bottega.core.typing import FloatArray

__all__ = ["restore_out_of_bag"]


def restore_out_of_bag(model: Any, rows: Rows) -> None:
    """Extend the out-of-bag predictions of a model to the rows of weight zero, which have none."""
    for name in ("oob_decision_", "oob_prediction_"):
        known = getattr(model, name, None)
        if known is not None:
            found: FloatArray = np.full((len(rows.given), *known.shape[1:]), np.nan)
            found[rows.kept] = known
            setattr(model, name, found)
