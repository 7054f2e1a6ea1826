"""What the classifier and the regressor by nearest neighbours share."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from bottega.core import progress
from bottega.core.base import Tuned
from bottega.core.chunks import LossSums
from bottega.core.errors import InputError
from bottega.core.losses import get_loss
from bottega.core.params import Auto, Integer
from bottega.core.path import Path
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.neighbors import _kernels as kernels
from bottega.neighbors.search import NeighborSearch, as_objects, as_strings, metric_parameter

__all__ = ["NearestNeighborsBase", "reject_weight"]

SCHEMES = {"uniform": kernels.UNIFORM, "distance": kernels.INVERSE, "cost": kernels.COST}

K = Auto(Integer(1), help="number of neighbours; 'auto': by leave-one-out error")
METRIC = metric_parameter()
K_MAX = Auto(Integer(1), help="largest k of the path; 'auto': a third of the rows, within limits")


class NearestNeighborsBase(Tuned):
    """Predicts from the neighbourhood of a point: all rows up to its k-th distance."""

    knob: ClassVar[str] = "k"
    k: int | str
    weights: str
    metric: Any
    k_max: int | str

    @abstractmethod
    def _from_lists(
        self, distances: FloatArray, indices: IntArray, left_out: IntArray, y: Array, ks: IntArray
    ) -> Array:
        """Return the predictions from lists of neighbours, one column a value of `ks`."""

    def _criteria(self, train_error: FloatArray, df: FloatArray, n: int) -> dict[str, FloatArray]:
        """Return criteria besides the leave-one-out error."""
        return {}

    def fit(self, X: Any, y: Any) -> Self:
        """Store the training rows and, with ``k="auto"``, choose k from the path.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p), or a sequence of n objects
            Inputs; objects only with ``metric="edit"`` or a callable.
        y : array-like of shape (n,)
            Responses.

        Returns
        -------
        NearestNeighborsBase
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        X, y, _ = self._validate(X, y, None)
        k = self._resolve_knob(X, y, None)
        if k > len(y):
            raise InputError(
                f"k={k} neighbours cannot be found among the training rows (n_samples = {len(y)}); "
                f"give k at most {len(y)}."
            )
        self.k_ = int(k)
        self.search_ = NeighborSearch(X, self.metric)
        self.y_ = y
        return self

    @property
    def df_(self) -> float:
        """Equivalent degrees of freedom: the sum of each row's weight in its own prediction."""
        check_is_fitted(self)
        path: Path | None = getattr(self, "path_", None)
        if path is not None:
            return float(path.df[path.values == self.k_][0])
        ks, scheme = np.array([self.k_]), SCHEMES[self.weights]
        lists = self.search_.neighborhoods(None, self.k_)
        return float(
            sum(kernels.own_weights(distances, ks, scheme)[0] for _, distances, _ in lists)
        )

    def neighbors(self, X: Any) -> tuple[FloatArray, IntArray]:
        """Return the ``k_`` nearest training rows of each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p), or a sequence of m objects
            Points.

        Returns
        -------
        distances, indices : ndarray of shape (m, k_)
            Of rows at the same distance the first are listed; predictions use all of them.
        """
        check_is_fitted(self)
        return self.search_.query(self._check_new(X), self.k_)

    def _predict(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._walk(self.search_, self._check_new(X), self.y_, np.array([self.k_]))[:, 0]

    def _walk(self, search: NeighborSearch, X: Any, y: Array, ks: IntArray) -> Array:
        """Return the predictions for X, one column a value of `ks` (ascending)."""
        found = np.empty((len(X), len(ks)), dtype=y.dtype)
        for rows, distances, indices in search.neighborhoods(X, int(ks[-1])):
            none = np.full(len(rows), -1)
            found[rows] = self._from_lists(distances, indices, none, y, ks)
        return found

    def _path(self, X: Any, y: Array, sample_weight: Any, values: Any) -> Path:
        n = len(y)
        ks = self._ks(values, n)
        task = type(self).card.task
        scheme = SCHEMES[self.weights]
        search = NeighborSearch(X, self.metric)
        honest, fitted = LossSums(), LossSums()
        df = np.zeros(len(ks))
        # A row is its own nearest neighbour, so one more than k_max leaves k_max others.
        for rows, distances, indices in search.neighborhoods(None, int(ks[-1]) + 1):
            predicted = self._from_lists(distances, indices, rows, y, ks)
            honest.update(get_loss(None, task).of_rows(y[rows], predicted))
            none = np.full(len(rows), -1)
            predicted = self._from_lists(distances, indices, none, y, ks)
            fitted.update(get_loss(None, task).of_rows(y[rows], predicted))
            df += kernels.own_weights(distances, ks, scheme)
            progress.report("neighbours", honest.count, n)
        simplest_first = slice(None, None, -1)
        error, error_se = honest.mean_and_se()
        train_error, df = fitted.mean[simplest_first], df[simplest_first]
        return Path(
            self.knob,
            ks[simplest_first],
            df=df,
            train_error=train_error,
            error=error[simplest_first],
            error_se=error_se[simplest_first],
            estimate="loo",
            loss=get_loss(None, task).title,
            criteria=self._criteria(train_error, df, n),
        )

    def _path_predictions(
        self, X: Any, y: Array, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        # A fold may have fewer rows than the largest k: all of them is then the most there is.
        ks = np.minimum(values[::-1], len(y))
        return self._walk(NeighborSearch(X, self.metric), X_new, y, ks)[:, ::-1]

    def _ks(self, values: Any, n: int) -> IntArray:
        """Return the values of k for a path, ascending."""
        if n < 2:
            raise InputError(
                f"Choosing k needs at least two rows to leave one out; got n_samples = {n}."
            )
        if values is None:
            most = max(200, int(np.sqrt(n)))
            k_max = max(50, min(n // 3, most)) if self.k_max == "auto" else int(self.k_max)
            return np.arange(1, min(k_max, n - 1) + 1)
        ks = np.unique(np.asarray(values))
        if not len(ks) or ks.dtype.kind not in "iu" or ks[0] < 1 or ks[-1] > n - 1:
            raise InputError(
                f"values={values!r} is not allowed; with one of {n} rows left out, k must be a "
                f"whole number in [1, {n - 1}]."
            )
        return ks.astype(np.intp)

    def _takes_objects(self) -> bool:
        return callable(self.metric) or self.metric == "edit"

    def _check_training(self, X: Any, y: Any, **options: Any) -> tuple[Array, Array]:
        if not self._takes_objects():
            X, y = validate_data(self, X, y, dtype=np.float64, **options)
            return X, y
        X = as_strings(X) if self.metric == "edit" else as_objects(X)
        y = validate_data(self, X="no_validation", y=y, **options)
        check_consistent_length(X, y)
        return X, y

    def _check_new(self, X: Any) -> Any:
        if self._takes_objects():
            return as_strings(X) if self.metric == "edit" else as_objects(X)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.metric == "edit":
            tags.input_tags.string = True
            tags.input_tags.one_d_array = True
            tags.input_tags.two_d_array = False
        return tags


def reject_weight(estimator: Any, sample_weight: Any) -> None:
    """Refuse row weights: a neighbour is counted or not."""
    if sample_weight is not None:
        raise InputError(
            f"{type(estimator).__name__} takes no sample_weight: leave it out, or repeat rows."
        )
