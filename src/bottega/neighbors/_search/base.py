"""What estimators that keep their rows share: a path judged by leaving each row out."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from bottega.core import progress
from bottega.core.chunks import split_rows
from bottega.core.errors import InputError
from bottega.core.estimator import Unweighted
from bottega.core.judge import LossSums
from bottega.core.losses import Loss, get_loss
from bottega.core.params import Auto, Integer
from bottega.core.path import Path, along
from bottega.core.rows import Rows
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.neighbors._kernels.votes import COST, INVERSE, UNIFORM, own_weights
from bottega.neighbors._search.metrics import as_objects, takes_objects
from bottega.neighbors.search import NeighborSearch

SCHEMES = {"uniform": UNIFORM, "distance": INVERSE, "cost": COST}

N_NEIGHBORS = Auto(Integer(1), help="number of neighbours; 'auto': by leave-one-out error")
MAX_NEIGHBORS = Auto(
    Integer(1), help="most neighbours on the path; 'auto': a third of the rows, within limits"
)

# Probabilities that are held at once.
_ENTRIES = 4_000_000


class Training(NamedTuple):
    """The training rows: what finds the neighbours of a point, and their responses."""

    search: NeighborSearch
    y: Array


class NeighborLists(NamedTuple):
    """Neighbours of some points, nearest first, and the training row that each point leaves out."""

    distances: FloatArray
    indices: IntArray
    left_out: IntArray  # -1: none


class JudgedPart(NamedTuple):
    """What all settings, simplest first, predict for some of their own rows."""

    rows: IntArray
    fitted: Array
    held_out: Iterable[tuple[Any, Array]]  # parts of the rows, and what is predicted without each
    own_weight: FloatArray  # of the rows in their own predictions, summed


class LeaveOneOutPath(Unweighted, Tuned):
    """Keeps its rows, and judges every value of its knob by predicting each without itself."""

    @abstractmethod
    def _grid(self, work: Any, values: Any) -> Array:
        """Return the values of the knob for a path, simplest first."""

    @abstractmethod
    def _parts(self, work: Any, grid: Array, loss: Loss | None) -> Iterator[JudgedPart]:
        """Yield predictions for all training rows, part by part."""

    def _path(self, work: Any, values: Any, loss: Loss | None) -> Path:
        n = len(work.y)
        if n < 2:
            raise InputError(
                f"Choosing {self.knob} needs at least two rows to leave one out; got n_samples = "
                f"{n}."
            )
        grid, own = self._grid(work, values), get_loss(None, self.card.task)
        honest, fitted, df = LossSums(), LossSums(), np.zeros(len(grid))
        for part in self._parts(work, grid, loss):
            y = work.y[part.rows]
            fitted.update(own.of_rows(y, part.fitted))
            if loss is not None:
                for some, predicted in part.held_out:
                    honest.update(loss.of_rows(y[some], predicted))
            df += part.own_weight
            progress.report("rows", fitted.count, n)
        error, error_se = (None, None) if loss is None else honest.mean_and_se()
        return Path(
            along(self.knob, grid),
            df=df,
            train_error=fitted.mean,
            error=error,
            error_se=error_se,
            estimate=None if loss is None else "loo",
            loss=(loss or own).title,
        )

    def _bare_path(self, work: Any, values: Any) -> Path:
        # Training errors would take as long a search as all folds together.
        grid = self._grid(work, values)
        return Path(
            along(self.knob, grid),
            complexity=len(work.y) / grid,
            train_error=np.full(len(grid), np.nan),
            loss=get_loss(None, self.card.task).title,
        )

    def _path_df(self) -> float | None:
        """Return the degrees of freedom of the setting in use, where a path was walked."""
        check_is_fitted(self)
        path: Path | None = getattr(self, "path_", None)
        if path is None or path.df is None:
            return None
        return float(path.df[path.values == getattr(self, f"{self.knob}_")][0])


class NearestNeighborsBase(LeaveOneOutPath):
    """Predicts from the neighbourhood of a point: all rows up to its k-th distance."""

    knob: ClassVar[str] = "n_neighbors"
    n_neighbors: int | str
    weights: str
    metric: Any
    max_neighbors: int | str

    @abstractmethod
    def _from_lists(self, lists: NeighborLists, y: Array, ks: IntArray, method: str) -> Array:
        """Return what lists of neighbours predict: (points, values of `ks`, ...)."""

    def _prepare(self, rows: Rows) -> Training:
        return Training(NeighborSearch(rows.X, self.metric), rows.y)

    def _settle(self, work: Training, setting: Mapping[str, Any]) -> None:
        k, n = int(setting["n_neighbors"]), len(work.y)
        if k > n:
            raise InputError(
                f"n_neighbors={k} rows cannot be found among the training rows (n_samples = {n}); "
                f"give n_neighbors at most {n}."
            )
        self.n_neighbors_ = k
        self.search_ = work.search
        self.y_ = work.y

    @property
    def df_(self) -> float:
        """Equivalent degrees of freedom: the sum of each row's weight in its own prediction."""
        found = self._path_df()
        if found is not None:
            return found
        ks, scheme = np.array([self.n_neighbors_]), SCHEMES[self.weights]
        lists = self.search_.neighborhoods(None, self.n_neighbors_)
        return float(sum(own_weights(distances, ks, scheme)[0] for _, distances, _ in lists))

    def kneighbors(self, X: Any) -> tuple[FloatArray, IntArray]:
        """Return the ``n_neighbors_`` nearest training rows of each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p), or a sequence of m objects
            Points.

        Returns
        -------
        distances, indices : ndarray of shape (m, n_neighbors_)
            Of rows at the same distance the first are listed; predictions use all of them.
        """
        return self.search_.query(self._check_new(X), self.n_neighbors_)

    def _predict(self, X: Any, method: str = "predict") -> Array:
        check_is_fitted(self)
        work = Training(self.search_, self.y_)
        return self._predictions(
            work, [{self.knob: self.n_neighbors_}], self._check_new(X), method
        )[:, 0]

    def _predictions(
        self, work: Training, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        # A fold may have fewer rows than the largest k: all of them is then the most there is.
        wanted = np.minimum([setting["n_neighbors"] for setting in settings], len(work.y))
        ks, place = np.unique(wanted, return_inverse=True)
        found: Array | None = None
        for rows, distances, indices in work.search.neighborhoods(X_new, int(ks[-1])):
            lists = NeighborLists(distances, indices, np.full(len(rows), -1))
            for part, predicted in self._in_parts(lists, work.y, ks, method):
                if found is None:
                    found = np.empty((len(X_new), *predicted.shape[1:]), dtype=predicted.dtype)
                found[rows[part]] = predicted
        assert found is not None
        return found[:, place]

    def _in_parts(
        self, lists: NeighborLists, y: Array, ks: IntArray, method: str
    ) -> Iterator[tuple[slice, Array]]:
        """Yield predictions for parts of the lists: the probabilities of all k take much room."""
        width = len(ks) * (len(self.classes_) if method == "predict_proba" else 1)
        for part in split_rows(len(lists.indices), max(1, _ENTRIES // width)):
            some = NeighborLists._make(column[part] for column in lists)
            yield part, self._from_lists(some, y, ks, method)

    def _parts(self, work: Training, grid: IntArray, loss: Loss | None) -> Iterator[JudgedPart]:
        y, ks, scheme = work.y, grid[::-1], SCHEMES[self.weights]
        method = "predict" if loss is None else loss.method
        # A row is its own nearest neighbour, so one more than the largest k leaves k others.
        for rows, distances, indices in work.search.neighborhoods(None, int(ks[-1]) + 1):
            lists = NeighborLists(distances, indices, np.full(len(rows), -1))
            fitted = self._from_lists(lists, y, ks, "predict")[:, ::-1]
            parts = self._in_parts(lists._replace(left_out=rows), y, ks, method)
            held_out = ((part, predicted[:, ::-1]) for part, predicted in parts)
            yield JudgedPart(rows, fitted, held_out, own_weights(distances, ks, scheme)[::-1])

    def _grid(self, work: Training, values: Any) -> IntArray:
        n = len(work.y)
        if values is None:
            most = max(200, int(np.sqrt(n)))
            max_neighbors = (
                max(50, min(n // 3, most))
                if self.max_neighbors == "auto"
                else int(self.max_neighbors)
            )
            return np.arange(min(max_neighbors, n - 1), 0, -1)
        ks = np.unique(np.asarray(values))[::-1]
        if not len(ks) or ks.dtype.kind not in "iu" or ks[-1] < 1 or ks[0] > n - 1:
            raise InputError(
                f"values={values!r} is not allowed; with one of {n} rows left out, "
                f"n_neighbors must be a whole number in [1, {n - 1}]."
            )
        return ks.astype(np.intp)

    def _check_rows(self, X: Any, y: Any) -> tuple[Array, Array]:
        if not takes_objects(self.metric):
            return super()._check_rows(X, y)
        X = as_objects(X, self.metric)
        classes = is_classifier(self)
        y = validate_data(self, X="no_validation", y=y, **({} if classes else {"y_numeric": True}))
        check_consistent_length(X, y)
        if classes:
            check_classification_targets(y)
        return X, y

    def _check_new(self, X: Any) -> Any:
        if takes_objects(self.metric):
            check_is_fitted(self)
            return as_objects(X, self.metric)
        return super()._check_new(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.metric == "edit":
            tags.input_tags.string = True
            tags.input_tags.one_d_array = True
            tags.input_tags.two_d_array = False
        return tags


def default_code(estimator: Any) -> int:
    """Return the code of the class that wins equal votes, -1 where none was named."""
    if estimator.default_label is None:
        return -1
    where = np.flatnonzero(estimator.classes_ == estimator.default_label)
    if not len(where):
        raise InputError(
            f"default_label={estimator.default_label!r} is not a class of y; "
            f"the classes are {', '.join(map(repr, estimator.classes_.tolist()))}."
        )
    return int(where[0])
