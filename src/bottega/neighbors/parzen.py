"""Classification by Parzen's density estimates: one normal around every training row."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core import progress
from bottega.core.base import Tuned
from bottega.core.cards import Card
from bottega.core.chunks import split_rows
from bottega.core.errors import InputError
from bottega.core.losses import get_loss
from bottega.core.params import Auto, Choice, Parameter, Real
from bottega.core.path import Path
from bottega.core.smoother import mean_and_se
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.neighbors import _kernels as kernels
from bottega.neighbors._base import reject_weight
from bottega.neighbors.search import NeighborSearch

__all__ = ["ParzenClassifier"]

# Each squaring doubles the rounding of a kernel, so after this many it is computed afresh.
_FRESH = 8
_LONGEST_GRID = 40
# Pairs of rows between two reports of progress.
_PAIRS = 10_000_000


class ParzenClassifier(ClassifierMixin, Tuned):
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
    n_features_in_ : int
        Number of columns seen in `fit`.

    See Also
    --------
    NearestNeighborsClassifier : a fixed number of neighbours instead of a fixed width.

    Notes
    -----
    Equal probabilities go to the first class in sorted order. The bandwidths of the path fall by
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
        "select": Choice("min", "one_se", help="rule that picks the bandwidth from the path"),
    }
    card: ClassVar[Card] = Card(
        method="parzen",
        title="Parzen windows",
        task="classification",
        knob="bandwidth",
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
        cost="n^2 p",
        source="M133-M135",
        most_rows=20_000,
        standardize=True,
        wide=True,
        probabilities=True,
    )

    def __init__(self, bandwidth: float | str = "auto", *, select: str = "one_se") -> None:
        self.bandwidth = bandwidth
        self.select = select

    def fit(self, X: Any, y: Any) -> Self:
        """Store the training rows and, with ``bandwidth="auto"``, choose it from the path.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        ParzenClassifier
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        X, y, _ = self._validate(X, y, None)
        self.bandwidth_ = float(self._resolve_knob(X, y, None))
        self.X_, self.y_ = X, y
        return self

    @property
    def df_(self) -> float:
        """Equivalent degrees of freedom: the sum of each row's share in its own prediction."""
        check_is_fitted(self)
        path: Path | None = getattr(self, "path_", None)
        if path is not None:
            return float(path.df[path.values == self.bandwidth_][0])
        own = self._run(self.X_, self.X_, self.y_, np.arange(len(self.y_)), [self.bandwidth_])[2]
        return float(own.sum())

    def predict(self, X: Any) -> Array:
        """Return the most probable class for each row of X."""
        codes = self._at(X)[0][:, 0]
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class for each row of X, one column a class."""
        return self._at(X)[3]

    def log_density(self, X: Any) -> FloatArray:
        """Return the logarithm of the density of each class at each row of X."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        precision = 0.5 / self.bandwidth_**2
        counts = np.bincount(self.y_)
        sums = kernels.parzen_log_sums(X, self.X_, self.y_, len(counts), precision)
        norm = 0.5 * X.shape[1] * np.log(2 * np.pi * self.bandwidth_**2)
        found: FloatArray = sums - np.log(counts) - norm
        return found

    def _at(self, X: Any) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return self._run(X, self.X_, self.y_, np.full(len(X), -1), [self.bandwidth_])

    def _run(
        self, points: FloatArray, X: FloatArray, y: IntArray, left_out: IntArray, bandwidths: Any
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return labels, fitted labels and own weights, one column a bandwidth, and shares."""
        values = np.asarray(bandwidths, dtype=np.float64)
        return kernels.parzen_path(
            points, X, y, len(self.classes_), left_out, 0.5 / values**2, _squared(values)
        )

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> tuple[FloatArray, IntArray, None]:
        reject_weight(self, sample_weight)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return X, codes, None

    def _path(self, X: FloatArray, y: IntArray, sample_weight: Any, values: Any) -> Path:
        n = len(y)
        if n < 2:
            raise InputError(
                f"Choosing a bandwidth needs at least two rows to leave one out; "
                f"got n_samples = {n}."
            )
        bandwidths = _grid(X) if values is None else _checked(values)
        honest, fitted = np.empty((n, len(bandwidths))), np.empty((n, len(bandwidths)))
        df = np.zeros(len(bandwidths))
        for part in split_rows(n, max(1, _PAIRS // n)):
            rows = np.arange(part.start, part.stop)
            labels, fitted_labels, own, _ = self._run(X[rows], X, y, rows, bandwidths)
            honest[rows] = zero_one(y[rows], labels)
            fitted[rows] = zero_one(y[rows], fitted_labels)
            df += own.sum(axis=0)
            progress.report("rows", part.stop, n)
        error, error_se = mean_and_se(honest)
        return Path(
            self.knob,
            bandwidths,
            df=df,
            train_error=fitted.mean(axis=0),
            error=error,
            error_se=error_se,
            estimate="loo",
            loss=get_loss(None, "classification").title,
        )

    def _path_predictions(
        self, X: FloatArray, y: IntArray, sample_weight: Any, values: Array, X_new: FloatArray
    ) -> IntArray:
        return self._run(X_new, X, y, np.full(len(X_new), -1), values)[0]


def _grid(X: FloatArray) -> FloatArray:
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


def _checked(values: Any) -> FloatArray:
    found: FloatArray = np.unique(np.asarray(values, dtype=np.float64))[::-1]
    if not len(found) or not np.all(np.isfinite(found)) or found[-1] <= 0:
        raise InputError(f"values={values!r} is not allowed; bandwidths must be positive numbers.")
    return found


def _squared(bandwidths: FloatArray) -> BoolArray:
    """Tell where a kernel is the square of the one before it."""
    found = np.zeros(len(bandwidths), dtype=np.bool_)
    ratio = bandwidths[:-1] / bandwidths[1:]
    found[1:] = np.abs(ratio - np.sqrt(2)) < 1e-14
    found[::_FRESH] = False
    return found
