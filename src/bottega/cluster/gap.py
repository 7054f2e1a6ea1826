"""The gap statistic: how much tighter clusters are than those of rows without structure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray, IntArray

__all__ = ["GapStatistic", "gap_statistic"]


@dataclass(frozen=True, repr=False)
class GapStatistic(Shown):
    """The gap of each number of clusters, see `gap_statistic`.

    Attributes
    ----------
    n_clusters : ndarray of shape (m,)
        Numbers of clusters, ascending.
    log_within : ndarray of shape (m,)
        Logarithm of the sum of squares within the clusters.
    expected : ndarray of shape (m,)
        Its mean over the reference tables.
    gap, gap_se : ndarray of shape (m,)
        The difference, and its standard error s.
    """

    n_clusters: IntArray
    log_within: FloatArray
    expected: FloatArray
    gap: FloatArray
    gap_se: FloatArray

    @property
    def excess(self) -> FloatArray:
        """What one more cluster gains beyond its standard error; not below 0, NaN for the last."""
        gain = self.gap[1:] - self.gap_se[1:] - self.gap[:-1]
        return np.append(np.maximum(gain, 0.0), np.nan)

    def best(self) -> int:
        """Return the least K with gap(K) >= gap(K + 1) - s(K + 1); where none is, the largest."""
        enough = np.flatnonzero(self.excess[:-1] == 0)
        return int(self.n_clusters[enough[0] if len(enough) else -1])

    def to_frame(self) -> Any:
        """Return one row per number of clusters."""
        names = ("n_clusters", "log_within", "expected", "gap", "gap_se")
        return make_frame({name: getattr(self, name) for name in names})

    def summary(self) -> Summary:
        """Return the gaps as a table."""
        names = ("n_clusters", "log_within", "expected", "gap", "gap_se")
        columns = {name: getattr(self, name).tolist() for name in names}
        note = f"the rule of Tibshirani, Walther and Hastie picks {self.best()}"
        return Summary("Gap statistic", (Section("", columns),), (note,))

    def plot(self) -> Any:
        """Draw the gap with its standard errors against the number of clusters."""
        from bottega.plot import gap_chart

        return gap_chart(self)


def gap_statistic(
    X: Any,
    *,
    n_clusters: Any = 10,
    n_references: int = 20,
    reference: str = "pca",
    random_state: Any = 0,
) -> GapStatistic:
    r"""Compare the sums of squares within clusters with those of rows without structure.

    .. math:: \mathrm{Gap}(K) = \frac1B \sum_b \log W^*_{Kb} - \log W_K, \qquad
              s_K = \mathrm{sd}_K \sqrt{1 + 1/B}

    with :math:`W_K` the sum of squares within the K clusters of `KMeans`, and :math:`W^*_{Kb}` that
    of table b of rows drawn uniformly from a box. The rule picks the least K with
    :math:`\mathrm{Gap}(K) \ge \mathrm{Gap}(K+1) - s_{K+1}`.

    Parameters
    ----------
    X : array-like of shape (n, p)
        Numbers.
    n_clusters : int or list of int
        The largest number of clusters, or the consecutive numbers to judge.
    n_references : int
        Tables that are drawn, B.
    reference : {"pca", "columns"}
        The box: along the principal axes of the rows, or along the columns.
    random_state : int, generator or None
        Seed of the tables and of the starts.

    Returns
    -------
    GapStatistic
        With `best` and `plot`.

    References
    ----------
    .. [1] Tibshirani, R., Walther, G. and Hastie, T. (2001). Estimating the number of clusters in a
       data set via the gap statistic. Journal of the Royal Statistical Society B 63, 411-423.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(m, 0.4, size=(40, 2)) for m in ([0, 0], [4, 0], [2, 4])])
    >>> gap_statistic(X, n_clusters=5).best()
    3
    """
    from bottega.cluster.kmeans import KMeans

    table = check_array(X, dtype=np.float64)
    counts = np.arange(1, n_clusters + 1) if np.ndim(n_clusters) == 0 else np.asarray(n_clusters)
    if len(counts) < 2 or counts.min() < 1 or np.any(np.diff(counts) != 1):
        raise ParameterError(
            f"n_clusters={n_clusters!r} is not allowed; give a whole number of at least 2, or "
            "consecutive numbers from at least 1 on."
        )
    if counts.max() >= len(table):
        raise InputError(
            f"{counts.max()} clusters need more than the n_samples = {len(table)} rows of X."
        )
    if n_references < 2:
        raise ParameterError(f"n_references={n_references} is not allowed; give at least 2.")
    # Squares neither overflow nor vanish in this unit; a power of two changes no digit.
    power = int(np.frexp(np.max(np.abs(table)))[1])
    table = np.ldexp(table, -power)
    unit = 2 * power * np.log(2)
    seed = seed_of(random_state, "gap_statistic")
    model = KMeans("auto", random_state=seed)

    def log_within(rows: FloatArray) -> FloatArray:
        inertia = model._inertias(rows, counts)
        return np.log(np.maximum(inertia, np.finfo(np.float64).tiny)) + unit

    return compared_with_references(table, counts, log_within, n_references, reference, seed)


def compared_with_references(
    X: FloatArray,
    counts: IntArray,
    log_within: Callable[[FloatArray], FloatArray],
    n_references: int,
    reference: str,
    seed: int,
) -> GapStatistic:
    """Return the gaps, given what computes log W of all numbers of clusters for a table."""
    draw = _uniform_reference(X, reference)
    own = log_within(X)
    rng = np.random.default_rng([seed, 7])
    drawn = np.array([log_within(draw(rng)) for _ in range(n_references)])
    expected = drawn.mean(axis=0)
    se = drawn.std(axis=0) * np.sqrt(1 + 1 / n_references)
    return GapStatistic(counts, own, expected, expected - own, se)


def _uniform_reference(
    X: FloatArray, reference: str = "pca"
) -> Callable[[np.random.Generator], FloatArray]:
    """Return what draws tables of as many rows uniformly from the box of the rows of X.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The rows.
    reference : {"pca", "columns"}
        Whether the box lies along the principal axes or along the columns.
    """
    if reference not in ("pca", "columns"):
        raise ParameterError(f"reference={reference!r} is not allowed; use 'pca' or 'columns'.")
    center = X.mean(axis=0)
    turned = X - center
    axes = np.eye(X.shape[1])
    if reference == "pca":
        axes = np.linalg.svd(turned, full_matrices=False)[2]
        turned = turned @ axes.T
    low, high = turned.min(axis=0), turned.max(axis=0)

    def draw(rng: np.random.Generator) -> FloatArray:
        return np.asarray(rng.uniform(low, high, size=(len(X), len(axes))) @ axes + center)

    return draw
