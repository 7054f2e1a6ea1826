"""Factors to start from that are given with the rows, as scikit-learn has it."""

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from bottega.core.errors import DataWarning, ParameterError, warn_caller
from bottega.core.estimator import Estimator
from bottega.core.typing import FloatArray

__all__ = ["CustomStart"]


class CustomStart(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Takes the first factors with the rows where `init` is ``"custom"``."""

    init: Any
    n_components: Any
    transform: Any

    def fit_transform(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> FloatArray:
        """Fit the model and return the codes of its rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, p)
            Rows, none of them negative; entries may be missing (NaN).
        y : None
            Not used.
        W, H : array-like of shapes (n, k) and (k, p), optional
            The first factors, with ``init="custom"``.

        Returns
        -------
        ndarray of shape (n, k)
            Codes, none negative.
        """
        custom = isinstance(self.init, str) and self.init == "custom"
        if custom and W is not None and H is not None:
            self._first = (W, H)
        elif W is not None or H is not None:
            warn_caller(
                f"{type(self).__name__}: W and H count only together and with init='custom'.",
                DataWarning,
            )
        try:
            self.fit(X, y)
        finally:
            self.__dict__.pop("_first", None)
        return self.transform(X)

    def _start_given(self) -> Any:
        """Return what to start from: a word, None, or two factors."""
        custom = isinstance(self.init, str) and self.init == "custom"
        if custom and "_first" not in vars(self):
            raise ParameterError(
                f"{type(self).__name__}: init='custom' starts from factors that fit_transform is "
                "given, fit_transform(X, W=..., H=...); or give init=(W, H)."
            )
        return vars(self).get("_first", self.init)

    def _forget(self) -> None:
        first = vars(self).get("_first")
        super()._forget()
        if first is not None:
            self._first = first
