"""What may be given as `cv` of the lasso family."""

from numbers import Integral
from typing import Any

from bottega.core.errors import InputError

__all__ = ["check_folds"]


def check_folds(cv: Any) -> bool:
    """Tell whether `cv` is a number of folds; if not, it must be folds or a splitter."""
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if cv < 2:
            raise InputError(f"cv={cv!r} is not allowed; judging a path needs at least 2 folds.")
        return True
    if isinstance(cv, str) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise InputError(
            f"cv={cv!r} is not allowed; give a number of folds, pairs of training and test rows, "
            "or a splitter of scikit-learn."
        )
    return False
