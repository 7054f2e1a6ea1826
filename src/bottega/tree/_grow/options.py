"""How a tree is grown: the options, and their checks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError, did_you_mean
from bottega.core.typing import BoolArray, IntArray
from bottega.tree._kernels import exact_inputs, impurity

CRITERIA = {
    "squared_error": impurity.SUMS,
    "gini": impurity.GINI,
    "entropy": impurity.ENTROPY,
    "deviance": impurity.DEVIANCE,
    "sqrt": impurity.SQRT,
    "error": impurity.ERROR,
}
THRESHOLDS = {
    "exact": exact_inputs.EXACT,
    "uniform": exact_inputs.UNIFORM,
    "random": exact_inputs.RANDOM,
}


@dataclass(frozen=True)
class GrowOptions:
    """How a tree is grown: parameters of `bottega.tree.TreeClassifier`.

    And how many columns are drawn for each split (None: all), and the seed of what is random.
    """

    criterion: str = "gini"
    thresholds: str = "exact"
    n_thresholds: int = 32
    missing: str = "direction"
    n_surrogates: int = 5
    multiway: bool | int = False
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_impurity_decrease: float = 0.0
    min_impurity: float = 0.0
    monotonic_cst: Any = None
    max_features: int | None = None
    seed: int = 0

    @property
    def most_groups(self) -> int:
        """Most groups of levels, as kernels know it."""
        if self.multiway is True:
            return exact_inputs.EVERY_LEVEL
        return max(int(self.multiway), 2)

    def check(self, n_classes: int) -> None:
        """Raise `ParameterError` for a choice that does not exist, or not for this response."""
        criteria = [name for name in CRITERIA if (name == "squared_error") != (n_classes > 0)]
        for name, known in (
            ("criterion", criteria),
            ("thresholds", list(THRESHOLDS)),
            ("missing", ["direction", "surrogate"]),
        ):
            value = getattr(self, name)
            if value not in known:
                raise ParameterError(
                    f"{name}={value!r} is not allowed; use one of {', '.join(map(repr, known))}."
                    f"{did_you_mean(value, known)}"
                )

    def refuse_for_bins(self) -> None:
        """Raise `ParameterError` for options that need exact thresholds."""
        for name, wanted in (
            ("missing='surrogate'", self.missing != "direction"),
            (f"multiway={self.multiway!r}", self.most_groups != 2),
            (
                "monotonic_cst",
                self.monotonic_cst is not None and np.any(np.asarray(self.monotonic_cst) != 0),
            ),
        ):
            if wanted:
                raise ParameterError(
                    f"{name} does not go with thresholds='binned'; use thresholds='exact'."
                )

    def directions(self, categorical: BoolArray, n_classes: int) -> IntArray:
        """Return the direction of each column, 0 for none."""
        p = len(categorical)
        if self.monotonic_cst is None:
            return np.zeros(p, dtype=np.int64)
        signs = np.asarray(self.monotonic_cst)
        if signs.shape != (p,) or not np.all(np.isin(signs, (-1, 0, 1))):
            raise ParameterError(
                f"monotonic_cst={self.monotonic_cst!r} is not allowed; give one of -1, 0, 1 for "
                f"each of the {p} columns."
            )
        if n_classes > 2:
            raise ParameterError("monotonic_cst is for regression and two classes.")
        if np.any(categorical & (signs != 0)):
            raise ParameterError(
                "A category has no order to be monotone in; give it 0 in monotonic_cst."
            )
        return signs.astype(np.int64)
