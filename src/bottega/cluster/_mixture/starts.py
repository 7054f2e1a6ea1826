"""Where expectation-maximisation starts: responsibilities of rows, from groups made before."""

import warnings
from typing import Any

import numpy as np

from bottega.core.errors import DataWarning, InputError, ParameterError, warn_caller
from bottega.core.row_order import own_order
from bottega.core.threads import one_thread, openmp_in
from bottega.core.typing import FloatArray, IntArray

__all__ = ["STARTS", "Starts", "check_given", "ward_tree"]

STARTS = ("kmeans", "k-means++", "random", "random_from_data", "hierarchical")
_TREE = 2_000  # rows that a tree of clusters is made from: it takes memory of their square


class Starts:
    """Starts from the same rows.

    The rows (p, n) are taken in an order of their own, so that another order of the same rows gives
    the same start. A missing value counts as the mean of its column.
    """

    def __init__(self, Z: FloatArray, weight: Any, trees: dict[str, Any]) -> None:
        self.Z = np.where(np.isnan(Z), 0.0, Z)
        self.weight = weight
        self._order = own_order(self.Z.T, None, weight)
        self._rows = np.ascontiguousarray(self.Z.T[self._order])
        self._weight = None if weight is None else weight[self._order]
        self._trees = trees  # shared with the same rows in other units

    def responsibilities(self, how: str, k: int, seed: int, trial: int = 0) -> FloatArray:
        """Return responsibilities (k, n) of the rows, times their weights."""
        rng = np.random.default_rng(seed)
        n = len(self._rows)
        if how == "hierarchical" and trial:  # there is one tree
            how = "kmeans"
        if k == 1:
            found = np.ones((1, n))
        elif how == "random":
            found = rng.uniform(size=(k, n))
            found /= found.sum(axis=0)
        else:
            if how == "hierarchical" and how not in self._trees:
                self._trees[how] = ward_tree(self._rows)
            tree = self._trees.get(how)
            found = one_hot(_labels(how, self._rows, self._weight, k, rng, tree), k)
        back = np.empty_like(found)
        back[:, self._order] = found
        return back if self.weight is None else back * self.weight


def one_hot(labels: IntArray, k: int) -> FloatArray:
    """Return labels as responsibilities; a label that no row has shares the rows of the largest."""
    found = np.zeros((k, len(labels)))
    found[labels, np.arange(len(labels))] = 1.0
    for empty in np.flatnonzero(found.sum(axis=1) == 0):
        largest = int(np.argmax(found.sum(axis=1)))
        found[largest] /= 2
        found[empty] = found[largest]
    return found


def _labels(how: str, rows: FloatArray, weight: Any, k: int, rng: Any, tree: Any) -> IntArray:
    if how == "hierarchical":
        return _cut(rows, tree, k)
    if how == "kmeans":
        return _means(rows, weight, k, rng)
    if how == "k-means++":
        return _nearest(rows, _spread_seeds(rows, weight, k, rng))
    share = None if weight is None else weight / weight.sum()
    return _nearest(rows, rows[rng.choice(len(rows), k, replace=False, p=share)])


def _means(rows: FloatArray, weight: Any, k: int, rng: Any) -> IntArray:
    """Return the groups of k-means; the one place that knows whose k-means it is."""
    from sklearn.cluster import KMeans

    seed = int(rng.integers(2**31))
    # A step is short: threads that wait for each other take longer, above all on a busy machine.
    with warnings.catch_warnings(), one_thread(), openmp_in(1):
        warnings.simplefilter("ignore")  # fewer distinct rows than groups: said below
        found = KMeans(k, n_init=1, random_state=seed).fit(rows, sample_weight=weight)
    labels: IntArray = found.labels_.astype(np.intp)
    return labels


def _spread_seeds(rows: FloatArray, weight: Any, k: int, rng: Any) -> FloatArray:
    """Return rows drawn one by one with probability as the squared distance from those drawn."""
    w = np.ones(len(rows)) if weight is None else weight
    seeds = [rows[rng.choice(len(rows), p=w / w.sum())]]
    near = np.sum((rows - seeds[0]) ** 2, axis=1)
    for _ in range(k - 1):
        mass = near * w
        share = mass / mass.sum() if mass.sum() > 0 else w / w.sum()
        seeds.append(rows[rng.choice(len(rows), p=share)])
        near = np.minimum(near, np.sum((rows - seeds[-1]) ** 2, axis=1))
    return np.array(seeds)


def _nearest(rows: FloatArray, centres: FloatArray) -> IntArray:
    square = np.sum(centres**2, axis=1) - 2 * rows @ centres.T
    labels: IntArray = np.argmin(square, axis=1)
    return labels


def ward_tree(rows: FloatArray) -> tuple[FloatArray, FloatArray, Any]:
    """Return rows on principal axes of equal variance, some of them, and the tree of their groups.

    Groups are joined so that the sum of squares within them grows least (Ward's rule, which is the
    likelihood of spheres of one size).
    """
    from scipy.cluster.hierarchy import linkage

    rows = rows - rows.mean(axis=0)
    _, size, axes = np.linalg.svd(rows, full_matrices=False)
    kept = size > 1e-6 * max(float(size[0]), np.finfo(float).tiny)
    whitened = rows @ (axes[kept].T / size[kept]) * np.sqrt(len(rows))
    if not kept.any():
        whitened = rows
    some = whitened
    if len(rows) > _TREE:
        some = whitened[np.linspace(0, len(rows) - 1, _TREE).round().astype(np.intp)]
    return whitened, some, linkage(some, "ward")


def _cut(rows: FloatArray, tree: Any, k: int) -> IntArray:
    """Return the groups of a tree; rows that it was not made from go to the nearest mean."""
    whitened, some, joined = tree
    n = len(some)
    top = np.arange(2 * n - 1)  # the largest group below the cut that each group is part of
    for i, (one, two) in reversed(list(enumerate(joined[: n - k, :2].astype(np.intp).tolist()))):
        top[one] = top[two] = top[n + i]
    labels: IntArray = np.unique(top[:n], return_inverse=True)[1].reshape(-1)
    if n == len(rows):
        return labels
    centres = np.array([some[labels == j].mean(axis=0) for j in range(k)])
    return _nearest(whitened, centres)


def check_given(given: Any, n: int, k: int | None) -> FloatArray:
    """Return labels or responsibilities that a user gave as responsibilities (k, n)."""
    found = np.asarray(given)
    if found.shape == (n,):
        labels, codes = np.unique(found, return_inverse=True)
        if k is not None and len(labels) > k:
            raise InputError(f"init_params has {len(labels)} labels for n_components={k}.")
        if k is not None and len(labels) < k:
            warn_caller(
                f"init_params has {len(labels)} labels for n_components={k}: the other components "
                "start as copies of the largest.",
                DataWarning,
            )
        return one_hot(codes.reshape(-1), k or len(labels))
    if found.ndim != 2 or found.shape[0] != n or (k is not None and found.shape[1] != k):
        raise ParameterError(
            f"init_params has shape {found.shape}; give a word ({', '.join(STARTS)}), one label "
            f"per row, or responsibilities of shape ({n}, {'n_components' if k is None else k})."
        )
    table = found.astype(np.float64)
    if not np.all(np.isfinite(table)) or np.any(table < 0) or np.any(table.sum(axis=1) <= 0):
        raise InputError(
            "init_params must be responsibilities: not negative, and not all zero in any row."
        )
    return np.ascontiguousarray((table / table.sum(axis=1, keepdims=True)).T)
