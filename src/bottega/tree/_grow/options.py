"""How a tree is grown: the options, and their checks."""

from dataclasses import dataclass, replace
from math import ceil
from numbers import Integral
from typing import Any, Self

import numpy as np

from bottega.core.errors import ParameterError, did_you_mean
from bottega.core.params import Real
from bottega.core.typing import BoolArray, IntArray
from bottega.tree._kernels import exact_inputs, impurity

CRITERIA = {
    "squared_error": impurity.SUMS,
    "friedman_mse": impurity.SUMS,  # the same splits by another formula
    "gini": impurity.GINI,
    "entropy": impurity.ENTROPY,
    "log_loss": impurity.ENTROPY,
    "deviance": impurity.DEVIANCE,
    "sqrt": impurity.SQRT,
    "error": impurity.ERROR,
}
THRESHOLDS = {
    "exact": exact_inputs.EXACT,
    "uniform": exact_inputs.UNIFORM,
    "random": exact_inputs.RANDOM,
}
NUMBERS = ("squared_error", "friedman_mse", "absolute_error", "poisson")


@dataclass(frozen=True)
class Share(Real):
    """A share of the rows or columns: a float, as a whole number would be a count."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is a float inside the interval."""
        return not isinstance(value, Integral) and super().accepts(value)


def count_features(max_features: Any, p: int) -> int:
    """Return how many of p columns `max_features` stands for.

    Examples
    --------
    >>> [count_features(given, 10) for given in (None, 3, 0.5, "sqrt", "log2")]
    [10, 3, 5, 3, 3]
    """
    if max_features is None:
        return p
    if isinstance(max_features, str):
        return max(1, int(np.sqrt(p) if max_features == "sqrt" else np.log2(p)))
    if not isinstance(max_features, Integral):
        return max(1, int(max_features * p))
    if not 1 <= int(max_features) <= p:
        raise ParameterError(
            f"max_features={max_features!r} is not allowed; X has {p} columns, so give a whole "
            f"number from 1 to {p}."
        )
    return int(max_features)


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
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
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

    def counted(self, n: int) -> Self:
        """Return the options with shares of n rows as numbers of rows."""
        leaf, split = self.min_samples_leaf, self.min_samples_split
        return replace(
            self,
            min_samples_leaf=int(leaf) if isinstance(leaf, Integral) else ceil(leaf * n),
            min_samples_split=int(split)
            if isinstance(split, Integral)
            else max(2, ceil(split * n)),
        )

    def check(self, n_classes: int) -> None:
        """Raise `ParameterError` for a choice that does not exist, or not for this response."""
        criteria = [name for name in CRITERIA if name not in NUMBERS] if n_classes else NUMBERS
        for name, known in (
            ("criterion", list(criteria)),
            ("thresholds", list(THRESHOLDS)),
            ("missing", ["direction", "surrogate"]),
        ):
            value = getattr(self, name)
            if value not in known:
                raise ParameterError(
                    f"{name}={value!r} is not allowed; use one of {', '.join(map(repr, known))}."
                    f"{did_you_mean(value, known)}"
                )

    def _special(self) -> list[str]:
        """Return the options in use that only exact growth by one response knows."""
        signs = self.monotonic_cst
        wanted = {
            "missing='surrogate'": self.missing != "direction",
            f"multiway={self.multiway!r}": self.most_groups != 2,
            "monotonic_cst": signs is not None and np.any(np.asarray(signs) != 0),
        }
        return [name for name, asked in wanted.items() if asked]

    def refuse_for_bins(self) -> None:
        """Raise `ParameterError` for options that need exact thresholds."""
        for name in self._special():
            raise ParameterError(
                f"{name} does not go with thresholds='binned'; use thresholds='exact'."
            )

    def refuse_for_joint(self, categorical: BoolArray) -> None:
        """Raise `ParameterError` for what joint trees, medians and counts do not know."""
        names = [*self._special(), *(["A category"] if np.any(categorical) else [])]
        for name in names:
            raise ParameterError(
                f"{name} does not go with several responses, nor with criterion='absolute_error' "
                "or 'poisson'."
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
