"""The class that wins equal votes."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError


def default_code(estimator: Any, response: int | None = None) -> int:
    """Return the code of the class that wins equal votes, -1 where none was named.

    Of several responses those that have the class have its code, the others -1.
    """
    label, classes = estimator.default_label, estimator.classes_
    if label is None:
        return -1
    every = classes if isinstance(classes, list) else [classes]
    codes = [np.flatnonzero(each == label) for each in every]
    if not any(len(code) for code in codes):
        known = np.unique(np.concatenate(every)).tolist()
        raise InputError(
            f"default_label={label!r} is not a class of y; "
            f"the classes are {', '.join(map(repr, known))}."
        )
    code = codes[response or 0]
    return int(code[0]) if len(code) else -1
