"""Silhouettes: how much nearer each row is to its own cluster than to the next one."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

from bottega.cluster._weights import own_mass
from bottega.core.deal import MOST_ORDERED
from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.row_counts import as_counts
from bottega.core.row_order import own_order
from bottega.core.rows import check_weight, split_rows
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["Silhouettes", "silhouette"]

_BLOCK = 2**21  # distances that are held at a time


@dataclass(frozen=True, repr=False)
class Silhouettes(Shown):
    """The silhouette of each row, see `silhouette`.

    Attributes
    ----------
    values : ndarray of shape (m,)
        Silhouettes of the rows that were judged, from -1 to 1.
    labels : ndarray of shape (m,)
        Their clusters.
    rows : ndarray of int, shape (m,)
        Which rows were judged: all but noise, or a sample of them.
    weight : ndarray of shape (m,)
        Their weights.
    """

    values: FloatArray
    labels: Array
    rows: IntArray
    weight: FloatArray

    @property
    def mean(self) -> float:
        """The mean over the rows: near 1 for clusters far apart, near 0 where they overlap."""
        return float(np.average(self.values, weights=self.weight))

    def by_cluster(self) -> dict[Any, float]:
        """Return the mean of each cluster."""
        return {
            label.item(): float(np.average(self.values[here], weights=self.weight[here]))
            for label in np.unique(self.labels)
            for here in [self.labels == label]
        }

    def to_frame(self) -> Any:
        """Return one row per row judged: its place, its cluster, its silhouette."""
        columns = {"row": self.rows, "cluster": self.labels, "silhouette": self.values}
        return make_frame(columns)

    def summary(self) -> Summary:
        """Return the clusters with their sizes and mean silhouettes."""
        means = self.by_cluster()
        columns: dict[str, Any] = {
            "cluster": [str(label) for label in means],
            "rows": [int(np.sum(self.labels == label)) for label in means],
            "silhouette": list(means.values()),
            "rows nearer to another cluster": [
                int(np.sum(self.values[self.labels == label] < 0)) for label in means
            ],
        }
        note = f"mean over {len(self.values):,} rows: {self.mean:.4g}"
        return Summary("Silhouettes", (Section("", columns),), (note,))

    def plot(self) -> Any:
        """Draw the silhouettes of the rows, sorted within their clusters.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import silhouette_chart

        return silhouette_chart(self)


def silhouette(
    X: Any,
    labels: Any,
    *,
    metric: str = "euclidean",
    sample_weight: Any = None,
    most_rows: int = 5_000,
) -> Silhouettes:
    r"""Judge a clustering by the silhouette of each row.

    .. math:: s_i = \frac{b_i - a_i}{\max(a_i, b_i)}

    with :math:`a_i` the mean distance of row i to the other rows of its cluster, and :math:`b_i`
    the least mean distance to the rows of another one. The silhouette of a row that is alone in its
    cluster is zero.

    Parameters
    ----------
    X : array-like of shape (n, p)
        Numbers; with ``metric="precomputed"`` the distances of all pairs of rows.
    labels : array-like of shape (n,)
        The cluster of each row; rows of label -1 (noise) are left out.
    metric : str
        ``"euclidean"``, ``"cityblock"``, ``"cosine"`` or another distance of SciPy's `cdist`, or
        ``"precomputed"``.
    sample_weight : array-like of shape (n,), optional
        Row weights: a row of weight two counts as two equal rows. Weights that sum to less than
        the number of rows are shares, and are brought to mean one.
    most_rows : int
        Beyond this many rows a sample of so many is judged within itself; it depends on what is in
        the rows alone.

    Returns
    -------
    Silhouettes
        With `mean`, `by_cluster` and `plot`.

    References
    ----------
    .. [1] Rousseeuw, P. J. (1987). Silhouettes: a graphical aid to the interpretation and
       validation of cluster analysis. Journal of Computational and Applied Mathematics 20, 53-65.

    Examples
    --------
    >>> silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]).values.round(3)
    array([0.895, 0.882, 0.882, 0.895])
    """
    X = check_array(X, dtype=np.float64)
    given = np.asarray(labels)
    if given.shape != (len(X),):
        raise InputError(f"labels has shape {given.shape}; it needs one per row: ({len(X)},).")
    missing = [label is None or bool(label != label) for label in given.tolist()]
    if any(missing):
        raise InputError(
            f"Row {missing.index(True)} (counted from 0) has no label; leave out rows without a "
            "cluster, or give them the label -1 (noise)."
        )
    if most_rows < 2:
        raise ParameterError(
            f"most_rows={most_rows!r} is not allowed; give a whole number of at least 2."
        )
    weight = check_weight(sample_weight, len(X))
    weights = np.ones(len(X)) if weight is None else as_counts(weight)
    count = weights > 0
    if given.dtype.kind in "iu":
        count &= given != -1
    rows = np.flatnonzero(count)
    if len(rows) > most_rows:
        order = own_order(X[rows], None) if len(rows) <= MOST_ORDERED else np.arange(len(rows))
        step = len(rows) / most_rows
        rows = np.sort(rows[order[(np.arange(most_rows) * step).astype(np.int64)]])
    names, codes = np.unique(given[rows], return_inverse=True)
    if len(names) < 2:
        raise InputError(
            f"Silhouettes compare clusters, and there is {len(names)} (label -1 is noise): give "
            "labels of at least 2."
        )
    if metric == "precomputed":
        if X.shape[0] != X.shape[1]:
            raise InputError(f"Distances of all pairs are a square table; X has shape {X.shape}.")
        part = X[np.ix_(rows, rows)]
    else:
        part = X[rows]
        if metric == "cosine" and not np.all(np.any(part, axis=1)):
            row = int(rows[np.argmin(np.any(part, axis=1))])
            raise InputError(
                f"Row {row} (counted from 0) is all zeros: no direction, which metric='cosine' "
                "compares; leave such rows out, or use another metric."
            )
        if metric == "cosine":  # a power of two changes no digit, and squares do not overflow
            largest = np.max(np.abs(part), axis=1, keepdims=True)
            part = np.ldexp(part, -np.frexp(largest)[1])
        else:  # neither overflow nor loss of digits far from zero
            part = part - part.mean(axis=0)
            part = part / (np.max(np.abs(part)) or 1.0)
    values = _values(part, codes, weights[rows], metric)
    return Silhouettes(values, given[rows], rows, weights[rows])


def _values(X: FloatArray, codes: IntArray, w: FloatArray, metric: str) -> FloatArray:
    n, K = len(X), int(codes.max()) + 1
    member = np.zeros((n, K))
    member[np.arange(n), codes] = w
    mass, size = member.sum(axis=0), np.bincount(codes, minlength=K)
    values = np.zeros(n)
    for cut in split_rows(n, max(_BLOCK // n, 1)):
        far = X[cut] if metric == "precomputed" else cdist(X[cut], X, cast(Any, metric))
        sums = far @ member
        here = np.arange(len(sums))
        own = codes[cut]
        alone = (size[own] == 1) & (w[cut] <= 1.0)
        within = sums[here, own] / np.where(alone, 1.0, mass[own] - own_mass(w[cut]))
        means = sums / mass
        means[here, own] = np.inf
        between = means.min(axis=1)
        larger = np.maximum(within, between)
        found = (between - within) / np.where(larger > 0, larger, 1.0)
        values[cut] = np.where(alone, 0.0, found)
    return values
