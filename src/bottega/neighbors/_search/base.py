"""What classification and regression by nearest neighbours share."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from bottega.core.errors import InputError, ParameterError, warn_caller
from bottega.core.loaded import insist, insist_on_length
from bottega.core.losses import Loss
from bottega.core.parallel import at_most
from bottega.core.params import Auto, Choice, Integer, Jobs, Parameter
from bottega.core.rows import Rows, split_rows
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.validate import refuse_doubled_names, refuse_masked
from bottega.neighbors._kernels.votes import own_weights
from bottega.neighbors._search.leave_one_out import JudgedPart, LeaveOneOutPath
from bottega.neighbors._search.metrics import (
    METRIC,
    METRIC_PARAMS,
    POWER,
    SPARSE,
    effective_metric,
    takes_objects,
)
from bottega.neighbors._search.objects import as_objects
from bottega.neighbors._search.tables import check_sparse
from bottega.neighbors._search.weighting import SCHEMES, NeighborLists, own_weights_by
from bottega.neighbors.search import NeighborSearch

SEARCH_PARAMS: dict[str, Parameter] = {
    "algorithm": Choice(
        "auto", "ball_tree", "kd_tree", "brute", help="has no influence on the answer"
    ),
    "leaf_size": Integer(1, help="has no influence on the answer"),
    "p": POWER,
    "metric": METRIC,
    "metric_params": METRIC_PARAMS,
    "n_jobs": Jobs(),
    "max_neighbors": Auto(
        Integer(1), help="most neighbours on the path; 'auto': a third of the rows, within limits"
    ),
}
N_NEIGHBORS = Auto(Integer(1), help="number of neighbours; 'auto': by leave-one-out error")

_TREES = ("ball_tree", "kd_tree")
# Probabilities that are held at once.
_ENTRIES = 4_000_000


class Training(NamedTuple):
    """The training rows: what finds the neighbours of a point, and their responses."""

    search: NeighborSearch
    y: Array


class NearestNeighborsBase(LeaveOneOutPath):
    """Predicts from the neighbourhood of a point: all rows up to its k-th distance."""

    knob: ClassVar[str] = "n_neighbors"
    n_neighbors: int | str
    weights: Any
    algorithm: str
    p: float
    metric: Any
    metric_params: Mapping[str, Any] | None
    n_jobs: int | None
    max_neighbors: int | str

    @abstractmethod
    def _from_lists(
        self, lists: NeighborLists, y: Array, ks: IntArray, method: str, response: int | None
    ) -> Array:
        """Return what lists of neighbours predict: (points, values of `ks`, ...)."""

    @property
    def _effective(self) -> tuple[Any, dict[str, Any]]:
        return effective_metric(self.metric, self.p, self.metric_params)

    def _check_params(self) -> None:
        super()._check_params()
        if "p" in (self.metric_params or {}):
            warn_caller(
                "Parameter p is found in metric_params; the p of the constructor is ignored.",
                SyntaxWarning,
            )
        metric, params = self._effective
        power = params.get("p", 2) if metric == "minkowski" else 2
        POWER.check(type(self).__name__, "p", power)
        if power < 1 and self.algorithm in _TREES:
            raise ParameterError(
                f'algorithm="{self.algorithm}" does not support 0 < p < 1 for the Minkowski '
                'metric. To resolve this problem either set p >= 1 or algorithm="brute".'
            )

    def _prepare(self, rows: Rows) -> Training:
        found = NeighborSearch(rows.X, self.metric, p=self.p, metric_params=self.metric_params)
        return Training(found, rows.y)

    def _settle(self, work: Training, setting: Mapping[str, Any]) -> None:
        k, n = int(setting[self.knob]), len(work.y)
        if k > n:
            raise InputError(
                f"n_neighbors={k} rows cannot be found among the training rows (n_samples = {n}); "
                f"give n_neighbors at most {n}."
            )
        self.n_neighbors_ = k
        self.search_ = work.search
        self.y_ = work.y
        self.n_samples_fit_ = n
        self.effective_metric_, self.effective_metric_params_ = self._effective

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        if not hasattr(self, "search_"):
            return
        insist_on_length(self, self.search_.n, "y_")
        insist(1 <= self.n_neighbors_ <= self.search_.n, "more neighbours than rows")
        if is_classifier(self):
            several = isinstance(self.classes_, list)
            for codes, classes in zip(
                self.y_.T if several else [self.y_],
                self.classes_ if several else [self.classes_],
                strict=True,
            ):
                insist((codes >= 0) & (codes < len(classes)), "rows of unknown classes")

    @property
    def df_(self) -> float:
        """Equivalent degrees of freedom: the sum of each row's weight in its own prediction."""
        found = self._path_df()
        if found is not None:
            return found
        ks = np.array([self.n_neighbors_])
        lists = self._neighborhoods(self.search_, None, self.n_neighbors_)
        return float(sum(self._own_weights(*each, ks)[0] for each in lists))

    def _neighborhoods(
        self, search: NeighborSearch, X: Any, k: int
    ) -> Iterator[tuple[IntArray, NeighborLists]]:
        """Yield which points, and their lists: of places, for a function of distances of rows."""
        if callable(self.weights):
            for points, distances, indices in search.neighborhoods(X, k):
                yield points, NeighborLists.of(distances, indices)
            return
        for points, distances, indices in search.near_places(X, k):
            yield points, NeighborLists.of(distances, indices, search.places)

    def _own_weights(self, points: IntArray, lists: NeighborLists, ks: IntArray) -> FloatArray:
        if callable(self.weights):
            return own_weights_by(self.weights, lists, points, ks)
        near = lists.distances, lists.indices, points, lists.copies
        return own_weights(*near, ks, SCHEMES[self.weights])

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return the nearest training rows of each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p), or a sequence of m objects, optional
            Points; without them the training rows, each of which then is not its own neighbour.
        n_neighbors : int, optional
            How many; ``n_neighbors_`` by default.
        return_distance : bool
            Whether to return the distances too.

        Returns
        -------
        distances : ndarray of shape (m, n_neighbors)
            With ``return_distance=True`` only.
        indices : ndarray of shape (m, n_neighbors)
            Of rows at the same distance the first are listed; predictions use all of them.
        """
        check_is_fitted(self)
        k = self.n_neighbors_ if n_neighbors is None else n_neighbors
        Integer(1).check("kneighbors", "n_neighbors", k)
        most = self.n_samples_fit_ - (X is None)
        if k > most:
            raise InputError(
                f"Expected n_neighbors <= {most}, the training rows"
                f"{' but for the row itself' if X is None else ''}; got n_neighbors = {k}."
            )
        with at_most(self.n_jobs):
            found = self.search_.query(None if X is None else self._check_new(X), int(k))
        return found if return_distance else found[1]

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
        """Return which training rows are nearest to each row of X, as a sparse matrix.

        Parameters
        ----------
        X, n_neighbors
            As in `kneighbors`.
        mode : {"connectivity", "distance"}
            Whether the entries are ones or distances.

        Returns
        -------
        csr_matrix of shape (m, n)
            A row per point, a column per training row.
        """
        Choice("connectivity", "distance").check("kneighbors_graph", "mode", mode)
        distances, indices = self.kneighbors(X, n_neighbors)
        values = distances if mode == "distance" else np.ones(indices.shape)
        starts = np.arange(0, indices.size + 1, indices.shape[1])
        shape = len(indices), self.n_samples_fit_
        return sparse.csr_matrix((values.ravel(), indices.ravel(), starts), shape=shape)

    def _predict(self, X: Any, method: str = "predict") -> Array:
        check_is_fitted(self)
        work = Training(self.search_, self.y_)
        if X is None and self.n_neighbors_ >= self.n_samples_fit_:
            raise InputError(
                f"Without itself a row has {self.n_samples_fit_ - 1} neighbours, not n_neighbors = "
                f"{self.n_neighbors_}."
            )
        X = None if X is None else self._check_new(X)
        with at_most(self.n_jobs):
            return self._predictions(work, [{self.knob: self.n_neighbors_}], X, method)[:, 0]

    def _predictions(
        self, work: Training, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        # A fold may have fewer rows than the largest k: all of them is then the most there is.
        wanted = np.minimum([setting[self.knob] for setting in settings], len(work.y))
        ks, place = np.unique(wanted, return_inverse=True)
        own = X_new is None  # the training rows, each predicted from the others
        found: Array | None = None
        for points, lists in self._neighborhoods(work.search, X_new, int(ks[-1]) + own):
            rows = lists.members(points)[0] if own else points
            for part, predicted in self._in_parts(
                lists, work.y, ks, method, points if own else None
            ):
                if found is None:
                    m = len(work.y) if own else np.shape(X_new)[0]
                    found = np.empty((m, *predicted.shape[1:]), dtype=predicted.dtype)
                found[rows[part]] = predicted
        assert found is not None
        return found[:, place]

    def _answers(self, lists: NeighborLists, y: Array, ks: IntArray, method: str) -> Array:
        """Return what lists predict: (points, values of `ks`), then responses and classes."""
        if y.ndim == 1:
            return self._from_lists(lists, y, ks, method, None)
        columns = [np.ascontiguousarray(column) for column in y.T]
        each = [self._from_lists(lists, c, ks, method, q) for q, c in enumerate(columns)]
        if method == "predict_proba":  # of the responses with fewer classes the others have none
            most = max(shares.shape[2] for shares in each)
            each = [np.pad(a, ((0, 0), (0, 0), (0, most - a.shape[2]))) for a in each]
        return np.stack(each, axis=2)

    def _in_parts(
        self,
        lists: NeighborLists,
        y: Array,
        ks: IntArray,
        method: str,
        points: IntArray | None = None,
    ) -> Iterator[tuple[slice, Array]]:
        """Yield predictions for parts of the lists: the probabilities of all k take much room.

        With `points`, those that the lists are of, for the training rows that they are, each
        left out of its own list.
        """
        rows, at = (lists.rows, slice(None)) if points is None else lists.members(points)
        left_out = lists.left_out if points is None else points[at]
        width = len(ks) * (1 if y.ndim == 1 else y.shape[1])
        if method == "predict_proba":
            width *= int(y.max()) + 1
        width = max(width, lists.indices.shape[1])
        for part in split_rows(len(rows), max(1, _ENTRIES // width)):
            which = part if isinstance(at, slice) else at[part]
            some = lists.take(which, left_out[part], rows[part])
            yield part, self._answers(some, y, ks, method)

    def _parts(self, work: Training, grid: IntArray, loss: Loss | None) -> Iterator[JudgedPart]:
        y, ks = work.y, np.ascontiguousarray(grid[::-1])  # as in `predict`: one compiled kernel
        method = "predict" if loss is None else loss.method
        # A row is its own nearest neighbour, so one more than the largest k leaves k others.
        for points, lists in self._neighborhoods(work.search, None, int(ks[-1]) + 1):
            rows, at = lists.members(points)
            fitted = self._answers(lists, y, ks, "predict")[at][:, ::-1]
            parts = self._in_parts(lists, y, ks, method, points)
            held_out = ((part, predicted[:, ::-1]) for part, predicted in parts)
            own_weight = self._own_weights(points, lists, ks)[::-1]
            yield JudgedPart(rows, fitted, held_out, own_weight)

    def _grid(self, work: Training, values: Any) -> IntArray:
        n = len(work.y)
        if values is None:
            most = max(200, int(np.sqrt(n)))
            given = self.max_neighbors
            k_max = max(50, min(n // 3, most)) if given == "auto" else int(given)
            return np.arange(min(k_max, n - 1), 0, -1)
        ks = np.unique(np.asarray(values))[::-1]
        if ks[0] > n - 1:
            raise InputError(
                f"values={values!r} is not allowed; with one of {n} rows left out, "
                f"n_neighbors must be a whole number in [1, {n - 1}]."
            )
        return ks.astype(np.intp)

    def _check_rows(self, X: Any, y: Any) -> tuple[Array, Array]:
        classes = is_classifier(self)
        if takes_objects(self.metric):
            X = self._check_objects(X, reset=True)
            options = {"multi_output": True} | ({} if classes else {"y_numeric": True})
            y = validate_data(self, X="no_validation", y=y, **options)
            check_consistent_length(X, y)
            if classes:
                check_classification_targets(y)
        else:
            check_sparse(X, self._effective[0])
            X, y = super()._check_rows(X, y)
        if classes and y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        return X, y

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        if takes_objects(self.metric):
            return self._check_objects(X, reset=False)
        check_sparse(X, self._effective[0])
        dense = isinstance(self.search_.points, np.ndarray)
        if dense and is_sparse(X) and self.algorithm in _TREES:
            raise InputError(f"algorithm='{self.algorithm}' takes dense inputs; X is sparse.")
        return super()._check_new(X)

    def _check_objects(self, X: Any, *, reset: bool) -> Array:
        refuse_masked(X=X)
        refuse_doubled_names(X)
        found = as_objects(X, self.metric)
        if found.ndim == 2:  # a table has columns that can be counted, and names
            named = X if hasattr(X, "columns") else found
            validate_data(self, named, reset=reset, skip_check_array=True)
        return found

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        options = super()._input_options(new)
        if options["accept_sparse"]:
            given = self._effective[0] == "precomputed"
            options["accept_sparse"] = ("csr", "csc", "coo", "lil") if given else "csr"
        return options

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        metric = self._effective[0]
        tags.input_tags.sparse = isinstance(metric, str) and metric in (*SPARSE, "precomputed")
        tags.input_tags.pairwise = metric == "precomputed"
        tags.input_tags.allow_nan = metric == "nan_euclidean"
        if metric == "edit":
            tags.input_tags.string = True
            tags.input_tags.one_d_array = True
            tags.input_tags.two_d_array = False
        return tags
