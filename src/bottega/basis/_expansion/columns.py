"""What the transformers share: each input column becomes several, with names."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.errors import InputError
from bottega.core.estimator import Unweighted
from bottega.core.frames import default_names
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray


class ColumnExpansion(TransformerMixin, Unweighted):
    """A transformer that replaces each column by basis functions of it."""

    include_bias: bool
    n_features_in_: int

    @abstractmethod
    def _learn(self, X: FloatArray) -> None:
        """Set what the basis functions need to know from the training rows."""

    @abstractmethod
    def _expand(self, x: FloatArray, j: int) -> FloatArray:
        """Return the basis functions of column `j` at the points `x`, one column each."""

    @abstractmethod
    def _names(self, name: str) -> list[str]:
        """Return the names of the columns made of the column `name`."""

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        return validate_data(self, X, dtype=np.float64), None  # y is not used

    def _check_width(self, X: Any) -> Any:
        return X  # any number of columns

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        self._learn(work.X)

    def transform(self, X: Any) -> Any:
        """Return the basis functions of each column, side by side.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.

        Returns
        -------
        ndarray or data frame of shape (m, p * M), plus one column with `include_bias`
            A data frame where ``set_output`` asks for one.
        """
        X = self._check_new(X)
        with np.errstate(over="ignore", invalid="ignore"):
            columns = self._columns(X)
        if not all(np.all(np.isfinite(column)) for column in columns):
            raise InputError(
                f"X has values up to {np.abs(X).max():.3g} in size, for which the basis functions "
                "overflow; rescale its columns, or take a lower degree."
            )
        bias = [np.ones((len(X), 1))] if self.include_bias else []
        return np.hstack([*bias, *columns])

    def _columns(self, X: FloatArray) -> list[FloatArray]:
        """Return blocks of columns, side by side the whole expansion."""
        return [self._expand(X[:, j], j) for j in range(X.shape[1])]

    def _column_names(self, names: list[str]) -> list[str]:
        """Return the names of all columns made of the columns `names`."""
        return [made for name in names for made in self._names(name)]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the inputs; those seen in `fit` by default, else ``x0, x1, ...``.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        seen = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = default_names(self.n_features_in_) if seen is None else seen
        else:
            names = np.asarray(input_features, dtype=object)
            if seen is not None and not np.array_equal(names, seen):
                raise InputError(
                    f"input_features is not equal to feature_names_in_: got {list(names)}, and "
                    f"fit saw {list(seen)}."
                )
            if len(names) != self.n_features_in_:
                raise InputError(
                    "input_features should have length equal to the number of inputs, "
                    f"{self.n_features_in_}; got {len(names)}."
                )
        bias = ["1"] if self.include_bias else []
        made = self._column_names([str(name) for name in names])
        return np.asarray([*bias, *made], dtype=object)
