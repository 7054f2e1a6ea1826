"""What the learners of a stream share: reading blocks quickly, labels, linear predictions."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.base import Estimator
from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray
from bottega.online._kernels import all_finite

__all__ = ["OnlineClassifier", "OnlineModel", "dense_parts", "is_sparse"]

_PART = 1 << 20  # numbers in a part of a sparse block that is made dense


def is_sparse(X: Any) -> bool:
    """Tell whether X is a sparse matrix or array."""
    return bool(sparse.issparse(X))


class OnlineModel(Estimator):
    """A model that learns block by block.

    A block that is refused leaves the model as it was: learners work on copies of their arrays and
    set attributes only when a block is done.
    """

    def _read(self, X: Any, y: Any, *, reset: bool, numeric: bool) -> tuple[Any, Array]:
        """Return a block as float64 rows (C order or CSR) and its truths, checked.

        All but whether X is finite, for blocks that need no conversion: kernels notice that on
        their way, and `_refuse` says what was wrong.
        """
        if reset and type(X) is np.ndarray and X.ndim == 2:
            validate_data(self, X, skip_check_array=True)  # sets the number of columns
        if hasattr(self, "n_features_in_") and self._is_plain(X, y, numeric):
            return X, y
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            y_numeric=numeric,
            reset=reset,
        )
        if is_sparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X, np.ascontiguousarray(y, dtype=np.float64) if numeric else np.asarray(y)

    def _is_plain(self, X: Any, y: Any, numeric: bool) -> bool:
        """Tell whether a block needs no conversion: the full check costs as much as many rows."""
        if type(y) is not np.ndarray or y.ndim != 1 or hasattr(self, "feature_names_in_"):
            return False
        if y.dtype == np.float64:
            if not (y.flags.c_contiguous and all_finite(y)):
                return False
        elif numeric or y.dtype.kind not in "biuU":
            return False
        if type(X) is np.ndarray:
            values = X.ravel() if X.flags.c_contiguous else None
        elif is_sparse(X) and X.format == "csr" and X.has_canonical_format:
            values = X.data
        else:
            return False
        return (
            values is not None
            and values.dtype == np.float64
            and X.shape == (len(y), self.n_features_in_)
            and X.shape[0] > 0
            and X.shape[1] > 0
        )

    def _refuse(self, X: Any, why: str) -> NoReturn:
        """Say that X is not finite, or if it is, why else the block cannot be learned."""
        self._read_new(X)
        raise InputError(why)

    def _read_new(self, X: Any) -> Any:
        """Return rows to predict."""
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Take back every attribute that a block has set when it turns out to be refused."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _is_new(self) -> bool:
        return not hasattr(self, "n_features_in_")

    def _width(self, fit_intercept: bool) -> int:
        """Return the number of weights: one a column, and one for the constant 1, which is last."""
        return int(self.n_features_in_) + int(fit_intercept)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OnlineClassifier(ClassifierMixin, OnlineModel):
    """A linear classifier: one vector for two classes, one a class for more."""

    fit_intercept: bool
    classes_: Array

    def _set_classes(self, y: Array, classes: Any) -> None:
        """Keep the classes: those given, or those of the first block."""
        labels = y if classes is None else np.asarray(classes)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise InputError(
                f"A classifier needs at least two classes and there is one class, "
                f"{self.classes_[0]!r}. In a stream, name them all with the first block: "
                "partial_fit(X, y, classes=...)."
            )

    def _check_same_classes(self, classes: Any) -> None:
        if classes is not None and not np.array_equal(
            np.unique(np.asarray(classes)), self.classes_
        ):
            raise InputError(
                f"classes={list(classes)!r} are not those of the first block, "
                f"{self.classes_.tolist()!r}; start a new model for another set of labels."
            )

    def _codes(self, y: Array) -> Array:
        """Return -1 and +1 for two classes, the number of the class for more."""
        if len(self.classes_) == 2:
            upper = y == self.classes_[1]
            known = upper | (y == self.classes_[0])
            codes: Array = 2.0 * upper - 1.0
        else:
            try:
                codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
                known = self.classes_[codes] == y
            except TypeError:  # labels that cannot be put in one order
                codes, known = np.zeros(len(y), dtype=np.intp), np.zeros(len(y), dtype=bool)
        if not known.all():
            raise InputError(
                f"The label {y[~known][0]!r} is not among the classes {self.classes_.tolist()!r}. "
                "Name all labels that may come with the first block, partial_fit(X, y, "
                "classes=...), or start a new model."
            )
        return codes

    def _linear_parts(self) -> tuple[FloatArray, FloatArray]:
        """Return coefficients (one row a vector) and intercepts."""
        weights = self._prediction_weights()
        if not self._has_intercept():
            return weights, np.zeros(len(weights))
        return weights[:, :-1], weights[:, -1]

    @abstractmethod
    def _prediction_weights(self) -> FloatArray:
        """Return the weights to predict with, one row a vector, the intercept last."""

    def _has_intercept(self) -> bool:
        return self._prediction_weights().shape[1] > self.n_features_in_

    @property
    def coef_(self) -> FloatArray:
        """Coefficients: one row for two classes, one a class for more."""
        check_is_fitted(self)
        return self._linear_parts()[0].copy()

    @property
    def intercept_(self) -> FloatArray:
        """Intercepts, zero without `fit_intercept`."""
        check_is_fitted(self)
        return self._linear_parts()[1].copy()

    def decision_function(self, X: Any) -> FloatArray:
        """Return w.x: for two classes at least 0 means the second, for more one column a class."""
        X = self._read_new(X)
        coef, intercept = self._linear_parts()
        scores = np.asarray(X @ coef.T) + intercept
        return scores[:, 0] if len(coef) == 1 else scores

    def predict(self, X: Any) -> Array:
        """Return the class of each row: sgn(0) is +1, the second class; of equals the first."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores >= 0).astype(np.intp)]
        return self.classes_[np.argmax(scores, axis=1)]


def dense_parts(X: Any) -> Iterator[tuple[slice, FloatArray]]:
    """Return a block as dense rows, part by part where it is sparse."""
    if not is_sparse(X):
        yield slice(0, X.shape[0]), X
        return
    rows = max(1, _PART // max(1, X.shape[1]))
    for start in range(0, X.shape[0], rows):
        part = slice(start, min(start + rows, X.shape[0]))
        yield part, np.ascontiguousarray(X[part].toarray())
