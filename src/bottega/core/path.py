"""The complexity path: one curve for every method, and one vocabulary of rules to pick from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from bottega.core.errors import BottegaError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.params import Choice
from bottega.core.typing import Array, FloatArray

__all__ = ["CRITERIA", "RULES", "Path", "Rule"]

CRITERIA = ("aic", "aicc", "bic", "hq", "gcv", "cp")
RULES = ("min", "one_se", *CRITERIA)


def Rule(*, help: str = "") -> Choice:  # noqa: N802
    """Declare a parameter that names a rule for picking from a path."""
    return Choice(*RULES, help=help or "rule that picks from the path when the knob is 'auto'")


@dataclass(frozen=True)
class Path:
    """The curve of a method along its complexity knob, the simplest model first.

    Attributes
    ----------
    knob : str
        Name of the parameter that sets the complexity.
    values : ndarray of shape (m,)
        Values of the knob, ordered from the simplest model to the most complex.
    df : ndarray of shape (m,)
        (Equivalent) degrees of freedom, never decreasing.
    train_error : ndarray of shape (m,)
        Mean loss on the rows the model was fitted to.
    error, error_se : ndarray of shape (m,)
        Honest estimate of the mean loss on new rows, and its standard error.
    estimate : {"loo", "gcv", "cv", "oob", "validation"}
        How `error` was estimated.
    criteria : dict of str to ndarray
        Further criteria to be minimised (aic, bic, gcv, ...).
    coef : ndarray of shape (m, ...) or None
        Coefficients, where the method has them.
    loss : str
        Name of the loss that the errors average.

    Examples
    --------
    >>> curve = Path("k", [9, 5, 1], df=[1, 2, 10], train_error=[4, 2, 0], error=[4.1, 3.9, 6],
    ...              error_se=[0.3, 0.3, 0.5], estimate="loo", loss="squared error")
    >>> int(curve.values[curve.best("min")]), int(curve.values[curve.best("one_se")])
    (5, 9)
    """

    knob: str
    values: Array
    df: FloatArray
    train_error: FloatArray
    error: FloatArray
    error_se: FloatArray
    estimate: str
    loss: str
    criteria: Mapping[str, FloatArray] = field(default_factory=dict)
    coef: FloatArray | None = None
    refit: Callable[[Any], Any] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        m = len(self.values)
        put = object.__setattr__
        put(self, "values", np.asarray(self.values))
        for name in ("df", "train_error", "error", "error_se"):
            column = np.asarray(getattr(self, name), dtype=np.float64)
            if column.shape != (m,):
                raise ValueError(f"{name} has shape {column.shape}; the path has {m} values.")
            put(self, name, column)
        put(
            self,
            "criteria",
            {name: np.asarray(column, dtype=np.float64) for name, column in self.criteria.items()},
        )
        if m == 0:
            raise ValueError("A path needs at least one value of its knob.")
        fall = np.diff(self.df)
        if np.any(fall < -1e-6 * (1 + np.abs(self.df[:-1]))):
            raise ValueError("A path is ordered from the simplest model on: df must not decrease.")

    def __len__(self) -> int:
        return len(self.values)

    def best(self, rule: str = "min") -> int:
        """Return the position that a rule picks.

        ``"min"`` takes the least honest error; ``"one_se"`` the simplest model whose error is at
        most the least error plus its standard error; any key of `criteria` its least value.
        Among equals the simplest wins.
        """
        if rule in ("min", "one_se"):
            least = _argmin(self.error, rule)
            if rule == "min":
                return least
            limit = self.error[least] + self.error_se[least]
            return int(np.flatnonzero(self.error[: least + 1] <= limit)[0])
        if rule not in self.criteria:
            known = ", ".join(["min", "one_se", *self.criteria])
            raise ParameterError(
                f"This path (knob {self.knob!r}) has no rule {rule!r}; use one of {known}."
            )
        return _argmin(self.criteria[rule], rule)

    def at(self, i: int) -> Any:
        """Return the estimator fitted at position `i`."""
        if self.refit is None:
            raise BottegaError(
                "This path was stored without its data, so it cannot fit a model: "
                "call path(X, y) on the estimator and use at() on what it returns."
            )
        return self.refit(self.values[i])

    def without_data(self) -> "Path":
        """Return the same curve without the means to refit (what a fitted model keeps)."""
        return replace(self, refit=None)

    def to_frame(self, like: Any = None) -> Any:
        """Return the curve as a data frame, one row a value of the knob."""
        columns = {
            self.knob: self.values,
            "df": self.df,
            "train_error": self.train_error,
            "error": self.error,
            "error_se": self.error_se,
            **self.criteria,
        }
        return make_frame(columns, like)

    def plot(self, *, rule: str = "one_se") -> Any:
        """Draw the training and the honest error against the knob, with the picked point."""
        return import_module("bottega.plot").path_chart(self, rule=rule)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "refit": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _argmin(column: FloatArray, rule: str) -> int:
    if not np.any(np.isfinite(column)):
        raise BottegaError(f"No value of the knob has a finite {rule!r}; pick by another rule.")
    return int(np.argmin(np.where(np.isnan(column), np.inf, column)))
