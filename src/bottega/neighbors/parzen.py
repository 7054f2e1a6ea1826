"""Classification by Parzen's density estimates: one normal around every training row."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from bottega.core.cards import Card
from bottega.core.loaded import insist, insist_on_length
from bottega.core.losses import Loss
from bottega.core.params import Anything, Auto, Choice, Parameter, Real
from bottega.core.rows import Rows, split_rows
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.neighbors._kernels.parzen import parzen_log_sums, parzen_shares
from bottega.neighbors._kernels.votes import winners
from bottega.neighbors._search.default_label import default_code
from bottega.neighbors._search.leave_one_out import JudgedPart, LeaveOneOutPath
from bottega.neighbors._search.scale import largest, power_of_two
from bottega.neighbors.search import NeighborSearch

__all__ = ["ParzenClassifier"]

# Each squaring doubles the rounding of a kernel, so after this many it is computed afresh.
_FRESH = 8
_LONGEST_GRID = 40
# Pairs of rows between two reports of progress.
_PAIRS = 10_000_000
# Coordinates beyond this hide every difference between rows near one.
_FAR = 1e130
_SHARPEST = 1e300  # precision: only rows at the least distance count


class ParzenClassifier(ClassifierMixin, LeaveOneOutPath):
    r"""Classify by Bayes' rule with a normal density around every training row.

    .. math:: p(x \mid c) = \frac{1}{N_c} \sum_{j \in c} N(x \mid x_j, \sigma^2 I), \qquad
              p(c) = N_c / N

    and therefore, with :math:`K_j = \exp(-\lVert x - x_j \rVert^2 / 2\sigma^2)`,

    .. math:: p(c \mid x) = \sum_{j \in c} K_j \Big/ \sum_j K_j .

    Parameters
    ----------
    bandwidth : float or "auto"
        Standard deviation :math:`\sigma` of the normals; larger is simpler. Towards 0 the rule is
        that of the nearest neighbour, towards infinity that of the largest class. ``"auto"``
        takes it from the path.
    default_label : object, optional
        Class that wins equal probabilities.
    select : {"min", "one_se"}
        Rule that picks the bandwidth from the path.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth in use.
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    X_, y_ : ndarray
        The stored rows and the positions of their classes.
    path_ : Path
        Exact leave-one-out misclassification along the bandwidths; with ``"auto"`` only.
    df_ : float
        Equivalent degrees of freedom: the sum of each row's share in its own prediction.

    See Also
    --------
    NearestNeighborsClassifier : a fixed number of neighbours instead of a fixed width.

    Notes
    -----
    Equal probabilities go to `default_label` if it is among them, else to the first class in sorted
    order. The bandwidths of the path fall by
    the factor :math:`\sqrt 2` from the root mean square distance between two rows to a third of
    the distance within which one row in ten has its nearest neighbour. A kernel is then the square
    of the one before, and all bandwidths cost one pass over the pairs of rows:
    :math:`O(n^2 p)` time, and memory for one row of distances.

    The columns share one bandwidth: put them on one scale first. Not for many columns, where all
    rows are about equally far, nor for more than some ten thousands of rows.

    Examples
    --------
    >>> model = ParzenClassifier(bandwidth=1.0).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> model.predict([[0.5], [4.0]])
    array(['a', 'b'], dtype='<U1')
    >>> model.predict_proba([[3.0]]).round(3)
    array([[0.52, 0.48]])
    """

    knob: ClassVar[str] = "bandwidth"
    params: ClassVar[Mapping[str, Parameter]] = {
        "bandwidth": Auto(
            Real(0.0, open_low=True, log=True), help="standard deviation of the normals"
        ),
        "default_label": Anything(help="class that wins equal probabilities; the first by default"),
        "select": Choice("min", "one_se", help="rule that picks the bandwidth from the path"),
    }
    card: ClassVar[Card] = Card(
        method="parzen",
        title="Parzen windows",
        task="classification",
        strengths=(
            "Gives smooth probabilities and a density of each class.",
            "Assumes no shape of the classes.",
            "Exact leave-one-out for all bandwidths from one pass over the pairs of rows.",
        ),
        weaknesses=(
            "Keeps every training row and looks at all of them for each prediction.",
            "One width everywhere is too wide where rows are dense and too narrow where they "
            "are rare.",
            "In many dimensions densities cannot be estimated.",
        ),
        assumptions=(
            "The density of each class is smooth at the scale of the bandwidth.",
            "The columns are on comparable scales: one bandwidth serves all of them.",
        ),
        cost="n^2 p",
        source="M133-M135",
        most_rows=20_000,
        standardize=True,
        wide=True,
    )

    def __init__(
        self,
        bandwidth: float | str = "auto",
        *,
        default_label: Any = None,
        select: str = "one_se",
    ) -> None:
        self.bandwidth = bandwidth
        self.default_label = default_label
        self.select = select

    def predict(self, X: Any) -> Array:
        """Return the most probable class for each row of X."""
        codes = winners(self.predict_proba(X)[:, None], default_code(self))[:, 0]
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class for each row of X, one column per class."""
        X = self._check_new(X)
        return self._run(X, self.X_, self.y_, np.full(len(X), -1), [self.bandwidth_])[0][:, 0]

    def log_density(self, X: Any) -> FloatArray:
        """Return the logarithm of the density of each class at each row of X."""
        X = self._check_new(X)
        unit = power_of_two(largest(self.X_))
        points, far = _near(X, unit)
        counts = np.bincount(self.y_)
        stored, precision = self.X_ * unit, _precisions(self.bandwidth_ * unit)
        sums = parzen_log_sums(points, stored, self.y_, len(counts), float(precision))
        sums[far] = -np.inf
        norm = X.shape[1] * (0.5 * np.log(2 * np.pi) + np.log(self.bandwidth_))
        found: FloatArray = sums - np.log(counts) - norm
        return found

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        if not hasattr(self, "X_"):
            return
        insist(self.X_.shape[1:] == (self.n_features_in_,), "rows of another width")
        insist_on_length(self, len(self.X_), "y_")
        insist((self.y_ >= 0) & (self.y_ < len(self.classes_)), "rows of unknown classes")

    @property
    def df_(self) -> float:
        """Equivalent degrees of freedom: the sum of each row's share in its own prediction."""
        found = self._path_df()
        if found is not None:
            return found
        own = self._run(self.X_, self.X_, self.y_, np.arange(len(self.y_)), [self.bandwidth_])[2]
        return float(own.sum())

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        return super()._input_options(new) | {"order": "C"}

    def _prepare(self, rows: Rows) -> Rows:
        default_code(self)  # refuses a label that is none
        return rows

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        self.bandwidth_ = float(setting["bandwidth"])
        self.X_, self.y_ = work.X, work.y

    def _run(
        self, points: FloatArray, X: FloatArray, y: IntArray, left_out: IntArray, bandwidths: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return probabilities without and with the row left out, and its own weights."""
        values = np.asarray(bandwidths, dtype=np.float64)
        unit = power_of_two(largest(X))
        points = _near(points, unit)[0]
        if unit != 1.0:
            X = X * unit
        kernels = _precisions(values * unit), _squared(values)
        return parzen_shares(points, X, y, len(self.classes_), left_out, *kernels)

    def _parts(self, work: Rows, grid: FloatArray, loss: Loss | None) -> Iterator[JudgedPart]:
        X, y, default = work.X, work.y, default_code(self)
        for part in split_rows(len(y), max(1, _PAIRS // len(y))):
            rows = np.arange(part.start, part.stop)
            shares, with_row, own = self._run(X[rows], X, y, rows, grid)
            if loss is not None and loss.method == "predict":
                shares = winners(shares, default)
            held_out = [(slice(None), shares)]
            yield JudgedPart(rows, winners(with_row, default), held_out, own.sum(axis=0))

    def _grid(self, work: Rows, values: Any) -> FloatArray:
        if values is None:
            unit = power_of_two(largest(work.X))
            return _bandwidths(work.X * unit) / unit
        return np.unique(np.asarray(values, dtype=np.float64))[::-1]

    def _predictions(
        self, work: Rows, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        bandwidths = [setting["bandwidth"] for setting in settings]
        shares = self._run(X_new, work.X, work.y, np.full(len(X_new), -1), bandwidths)[0]
        return shares if method == "predict_proba" else winners(shares, default_code(self))


def _near(points: FloatArray, unit: float) -> tuple[FloatArray, BoolArray]:
    """Return points in a unit, and which of them are so far from all rows that none is nearer.

    These are moved nearer, though still as far from each row as from any other.
    """
    with np.errstate(over="ignore"):
        found = points if unit == 1.0 else points * unit
    if largest(found) <= _FAR:
        return found, np.zeros(len(points), dtype=np.bool_)
    return np.clip(found, -_FAR, _FAR), np.abs(found).max(axis=1) > _FAR


def _precisions(bandwidths: Any) -> Any:
    """Return 1 / (2 sigma^2), finite for every bandwidth."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.minimum(0.5 / np.square(bandwidths), _SHARPEST)


def _bandwidths(X: FloatArray) -> FloatArray:
    """Return bandwidths from the simplest on, each the one before divided by the root of 2."""
    largest = float(np.sqrt(2 * np.sum(np.var(X, axis=0))))
    nearest = NeighborSearch(X).query(X, 2)[0][:, 1]
    nearest = nearest[nearest > 0]
    if not len(nearest):  # all rows are the same, or each has its double
        return np.array([largest if largest > 0 else 1.0])
    # At three bandwidths a neighbour has a hundredth of a row's own weight: df is near n there.
    smallest = float(np.quantile(nearest, 0.1)) / 3
    steps = int(np.ceil(2 * np.log2(max(largest / smallest, 1.0))))
    halvings = np.arange(min(steps, _LONGEST_GRID) + 1) / 2
    return np.asarray(largest * 0.5**halvings)


def _squared(bandwidths: FloatArray) -> BoolArray:
    """Return where a kernel is the square of the one before it."""
    found = np.zeros(len(bandwidths), dtype=np.bool_)
    ratio = bandwidths[:-1] / bandwidths[1:]
    found[1:] = np.abs(ratio - np.sqrt(2)) < 1e-14
    found[::_FRESH] = False
    return found
