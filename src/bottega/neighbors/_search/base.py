"""What the classifier and the regressor by nearest neighbours share."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from bottega.neighbors._search.metrics import as_objects, as_strings, metric_parameter
from bottega.neighbors.search import NeighborSearch

SCHEMES = {"uniform": UNIFORM, "distance": INVERSE, "cost": COST}

K = Auto(Integer(1), help="number of neighbours; 'auto': by leave-one-out error")
METRIC = metric_parameter()
K_MAX = Auto(Integer(1), help="largest k of the path; 'auto': a third of the rows, within limits")

# Probabilities that are held at once.
_ENTRIES = 4_000_000


@dataclass(frozen=True)
class Training:
    """The training rows: what finds the neighbours of a point, and their responses."""

    search: NeighborSearch
    y: Array


class NeighborLists(NamedTuple):
    """Neighbours of some points, nearest first, and the training row that each point leaves out."""

    distances: FloatArray
    indices: IntArray
    left_out: IntArray  # -1: none


class NearestNeighborsBase(Unweighted, Tuned):
    """Predicts from the neighbourhood of a point: all rows up to its k-th distance."""

    knob: ClassVar[str] = "k"
    k: int | str
    weights: str
    metric: Any
    k_max: int | str

    @abstractmethod
    def _from_lists(self, lists: NeighborLists, y: Array, ks: IntArray, method: str) -> Array:
        """Return what lists of neighbours predict: (points, values of `ks`, ...)."""

    @abstractmethod
    def _assemble(
        self, ks: IntArray, df: FloatArray, train_error: FloatArray, n: int, **judged: Any
    ) -> Path:
        """Return the path, all columns with the simplest model first."""

    def _prepare(self, rows: Rows) -> Training:
        return Training(NeighborSearch(rows.X, self.metric), rows.y)

    def _settle(self, work: Training, setting: Mapping[str, Any]) -> None:
        k, n = int(setting["k"]), len(work.y)
        if k > n:
            raise InputError(
                f"k={k} neighbours cannot be found among the training rows (n_samples = {n}); "
                f"give k at most {n}."
            )
        self.k_ = k
        self.search_ = work.search
        self.y_ = work.y

    @property
    def df_(self) -> float:
        """Equivalent degrees of freedom: the sum of each row's weight in its own prediction."""
        check_is_fitted(self)
        path: Path | None = getattr(self, "path_", None)
        if path is not None and path.df is not None:
            return float(path.df[path.values == self.k_][0])
        ks, scheme = np.array([self.k_]), SCHEMES[self.weights]
        lists = self.search_.neighborhoods(None, self.k_)
        return float(sum(own_weights(distances, ks, scheme)[0] for _, distances, _ in lists))

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

    def _predict(self, X: Any, method: str = "predict") -> Array:
        check_is_fitted(self)
        work = Training(self.search_, self.y_)
        return self._predictions(work, [{"k": self.k_}], self._check_new(X), method)[:, 0]

    def _predictions(
        self, work: Training, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        # A fold may have fewer rows than the largest k: all of them is then the most there is.
        wanted = np.minimum([setting["k"] for setting in settings], len(work.y))
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

    def _path(self, work: Training, values: Any, loss: Loss | None) -> Path:
        y = work.y
        ks = self._ks(values, len(y))
        own = get_loss(None, self.card.task)
        scheme = SCHEMES[self.weights]
        honest, fitted = LossSums(), LossSums()
        df = np.zeros(len(ks))
        # A row is its own nearest neighbour, so one more than k_max leaves k_max others.
        for rows, distances, indices in work.search.neighborhoods(None, int(ks[-1]) + 1):
            lists = NeighborLists(distances, indices, np.full(len(rows), -1))
            fitted.update(own.of_rows(y[rows], self._from_lists(lists, y, ks, "predict")))
            if loss is not None:
                lists = lists._replace(left_out=rows)
                for part, predicted in self._in_parts(lists, y, ks, loss.method):
                    honest.update(loss.of_rows(y[rows[part]], predicted))
            df += own_weights(distances, ks, scheme)
            progress.report("neighbours", fitted.count, len(y))
        judged: dict[str, Any] = {"error": None, "error_se": None, "estimate": None}
        if loss is not None:
            error, error_se = honest.mean_and_se()
            judged = {"error": error[::-1], "error_se": error_se[::-1], "estimate": "loo"}
        judged["loss"] = (loss or own).title
        return self._assemble(ks[::-1], df[::-1], fitted.mean[::-1], len(y), **judged)

    def _bare_path(self, work: Training, values: Any) -> Path:
        # Training errors would take as long a search as all folds together.
        n = len(work.y)
        ks = self._ks(values, n)[::-1]
        return Path(
            along(self.knob, ks),
            complexity=n / ks,
            train_error=np.full(len(ks), np.nan),
            error=None,
            error_se=None,
            estimate=None,
            loss=get_loss(None, self.card.task).title,
        )

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

    # ---- objects and strings --------------------------------------------------------------------

    def _takes_objects(self) -> bool:
        return callable(self.metric) or self.metric == "edit"

    def _objects(self, X: Any) -> Array:
        return as_strings(X) if self.metric == "edit" else as_objects(X)

    def _check_rows(self, X: Any, y: Any) -> tuple[Array, Array]:
        if not self._takes_objects():
            return super()._check_rows(X, y)
        X = self._objects(X)
        classes = is_classifier(self)
        y = validate_data(self, X="no_validation", y=y, **({} if classes else {"y_numeric": True}))
        check_consistent_length(X, y)
        if classes:
            check_classification_targets(y)
        return X, y

    def _check_new(self, X: Any) -> Any:
        return self._objects(X) if self._takes_objects() else super()._check_new(X)

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
