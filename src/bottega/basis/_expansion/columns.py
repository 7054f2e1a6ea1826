"""What the transformers share: each input column becomes several, with names."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.errors import InputError
from bottega.core.params import Parameter, check_params
from bottega.core.typing import Array, FloatArray

__all__ = ["ColumnExpansion"]


class ColumnExpansion(TransformerMixin, BaseEstimator):
    """A transformer that replaces each column by basis functions of it."""

    params: ClassVar[Mapping[str, Parameter]] = {}
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the basis functions.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : None
            Not used.

        Returns
        -------
        self
            The fitted transformer.
        """
        check_params(self)
        self._learn(validate_data(self, X, dtype=np.float64))
        return self

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
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        parts = [np.ones((len(X), 1))] if self.include_bias else []
        parts += [self._expand(X[:, j], j) for j in range(X.shape[1])]
        return np.hstack(parts)

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
            names = [f"x{j}" for j in range(self.n_features_in_)] if seen is None else seen
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
        made = [made for name in names for made in self._names(str(name))]
        return np.asarray([*bias, *made], dtype=object)
