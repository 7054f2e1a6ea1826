"""Reading points for a kernel: rows of numbers, objects in a list, or the kernel matrix itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.errors import InputError, ParameterError
from bottega.core.estimator import Estimator
from bottega.core.params import AnyOf, Choice, Function, Parameter
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.kernel._objects.products import dense
from bottega.kernel.kernels import Kernel, get_kernel

__all__ = ["KERNEL", "GramRows", "KernelInputs", "finite_kernel", "refuse_vanishing"]

_LEAST = 1e-290  # of the largest entry of a kernel matrix: below it digits are lost


@dataclass(frozen=True)
class _Object(Parameter):
    """A kernel object."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, Kernel)

    def describe(self) -> str:
        return "a Kernel"

    def schema(self) -> dict[str, Any]:
        return {"not": {}}

    def parse(self, text: str) -> Any:
        raise ValueError("a kernel object can only be given from Python")


KERNEL = AnyOf(
    Choice("linear", "poly", "polynomial", "rbf", "gaussian", "laplacian", "sigmoid", "cosine",
           "precomputed"),
    _Object(),
    Function(),
    help="the kernel: a word, an object, or a function",
)  # fmt: skip


@dataclass(frozen=True)
class GramRows:
    """Some rows of a kernel matrix that was computed before, and which rows they are.

    Taking some of them takes their columns too where they are compared with one another.
    """

    matrix: FloatArray
    at: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows here, and of all columns."""
        return len(self.at), int(self.matrix.shape[1])

    def __len__(self) -> int:
        return len(self.at)

    def __getitem__(self, positions: Any) -> "GramRows":
        return GramRows(self.matrix, self.at[positions])

    def against(self, points: "GramRows") -> FloatArray:
        """Return the kernels of these rows with other rows of the matrix."""
        return self.matrix[np.ix_(self.at, points.at)]

    def iter_columns(self) -> Iterator[FloatArray]:
        """Yield numbers of each row that do not depend on the order of rows: folds are dealt by it.

        Its kernel with itself, and sums over those with the others, in rising order.
        """
        K = self.against(self)
        yield np.diagonal(K).copy()
        K.sort(axis=1)
        yield K.sum(axis=1)
        yield (K**2).sum(axis=1)


class KernelInputs(Estimator):
    """An estimator whose inputs are points for a kernel.

    It has the parameters `kernel`, `gamma`, `degree` and `coef0`.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    _by_pair: ClassVar[bool] = False  # whether a function as kernel is of two points

    def _kernel_for(self, X: Any, weight: FloatArray | None = None, gamma: Any = None) -> Kernel:
        """Return the kernel of the parameters, for these training points."""
        kernel = self.kernel
        params = getattr(self, "kernel_params", None)
        if params and callable(kernel) and not isinstance(kernel, Kernel):
            kernel = partial(kernel, **params)
        return get_kernel(
            kernel,
            gamma=self.gamma if gamma is None else gamma,
            degree=self.degree,
            coef0=self.coef0,
            X=X,
            weight=weight,
            by_pair=self._by_pair,
        )

    def _check_params(self) -> None:
        super()._check_params()
        word = isinstance(self.kernel, str) and self.kernel not in (
            "linear",
            "cosine",
            "precomputed",
        )
        if self._chooses_gamma and not word:
            raise ParameterError(
                f"{type(self).__name__}: gamma={self.gamma!r} has nothing to choose for "
                f"kernel={self.kernel!r}."
            )

    @property
    def _chooses_gamma(self) -> bool:
        """Whether the path chooses the factor."""
        return np.ndim(self.gamma) == 1 or (isinstance(self.gamma, str) and self.gamma == "path")

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _objects(self) -> bool:
        return isinstance(self.kernel, Kernel) and self.kernel.objects

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        if self._objects:
            return as_objects(X), self._check_responses(y, X)
        X, y = super()._check_rows(X, y)
        if self._precomputed:
            if X.shape[0] != X.shape[1]:
                raise InputError(
                    "kernel='precomputed' takes the square matrix of the kernels of all pairs of "
                    f"training points; X is {X.shape[0]} x {X.shape[1]}. Precomputed matrices must "
                    "be a square matrix."
                )
            matrix = dense(X)
            return GramRows(matrix, np.arange(len(matrix))), y
        return X.tocsr() if is_sparse(X) else X, y

    def _check_responses(self, y: Any, X: Any) -> Any:
        """Return the responses of objects, which scikit-learn cannot check together with them."""
        several = self.__sklearn_tags__().target_tags.multi_output
        y = validate_data(
            self, X="no_validation", y=y, multi_output=several, y_numeric=is_regressor(self)
        )
        if len(y) != len(X):
            raise InputError(f"There are {len(X)} objects and {len(y)} responses.")
        if is_classifier(self):
            check_classification_targets(y)
            return y
        return np.asarray(y, dtype=np.float64)

    def _check_new(self, X: Any) -> Any:
        if isinstance(X, GramRows):
            return X
        if self._objects:
            check_is_fitted(self)
            return as_objects(X)
        X = super()._check_new(X)
        return X.tocsr() if is_sparse(X) else X

    def _between(self, kernel: Kernel, X: Any, points: Any) -> FloatArray:
        """Return the kernels of checked rows with the points of the fit."""
        if isinstance(points, GramRows):
            if isinstance(X, GramRows):
                return X.against(points)
            return dense(X)[:, points.at]
        with np.errstate(over="ignore", invalid="ignore"):
            return kernel(X, None if X is points else points)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._precomputed
        return tags


def as_objects(X: Any) -> Array:
    """Return points that are no numbers as an array of objects; one column of a table as a list."""
    if isinstance(X, str) or not hasattr(X, "__len__"):
        raise InputError(f"X must be a sequence of objects; got {type(X).__name__}.")
    if getattr(X, "ndim", 1) == 2:
        X = np.asarray(X)
        if X.shape[1] != 1:
            raise InputError(
                f"This kernel takes a list of objects, or one column of them; X has {X.shape[1]} "
                "columns."
            )
        X = X[:, 0]
    found = np.empty(len(X), dtype=object)
    for i, item in enumerate(X):
        found[i] = item
    return found


def finite_kernel(K: FloatArray, of: str = "the training rows") -> FloatArray:
    """Return a kernel matrix, or refuse it where it is not finite."""
    if not np.all(np.isfinite(K)):
        raise _out_of_range(of)
    return K


def refuse_vanishing(K: FloatArray, X: Any) -> None:
    """Refuse a kernel matrix whose entries are lost in the smallest numbers, though X is not 0."""
    if 0 in K.shape or float(np.max(np.abs(K))) >= _LEAST:
        return
    values = X.matrix if isinstance(X, GramRows) else X.data if is_sparse(X) else X
    if values.dtype.kind == "f" and np.any(values):
        raise _out_of_range("the training rows")


def _out_of_range(of: str) -> InputError:
    return InputError(
        f"The kernel of {of} is beyond the range of numbers; bring the inputs to a scale near "
        "one, or take another kernel."
    )
