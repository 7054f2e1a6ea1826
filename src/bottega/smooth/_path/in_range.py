"""The inputs that smoothers take: numbers whose powers can be represented."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.estimator import Estimator
from bottega.core.typing import FloatArray

# Third powers of these, as in a penalty on bending, are ordinary numbers.
_LEAST, _MOST = 1e-100, 1e100


def check_range(x: FloatArray, name: str) -> None:
    """Refuse values of an input that are too large, or differ by too little, for their powers."""
    low, high = float(x.min()), float(x.max())
    if max(-low, high) > _MOST:
        raise InputError(
            f"{name} has values up to {max(-low, high):.3g} in size, and powers of such numbers "
            "cannot be represented; measure it in larger units."
        )
    if 0 < high - low < _LEAST:
        raise InputError(
            f"The values of {name} differ by {high - low:.3g} at most, and powers of such numbers "
            "cannot be represented; measure it in smaller units."
        )


class InRange(Estimator):
    """Takes inputs whose powers can be represented."""

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._check_rows(X, y)
        names = getattr(self, "feature_names_in_", None)
        for j, x in enumerate(X.T):
            check_range(x, f"column {j} of X" if names is None else f"column {names[j]!r}")
        return X, y

    def _check_new(self, X: Any) -> Any:
        X = super()._check_new(X)
        if max(-X.min(), X.max()) > _MOST:
            raise InputError(
                f"X has values up to {np.abs(X).max():.3g} in size, so far beyond the rows of the "
                "fit that their powers cannot be represented; leave out those rows."
            )
        return X
