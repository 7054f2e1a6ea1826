"""Where expectation-maximisation starts: responsibilities of rows, from groups made before."""

from typing import Any

import numpy as np

from bottega.cluster._kmeans.problem import ClusterProblem, KMeansHow, RowMap, nearest
from bottega.cluster._kmeans.source import ArraySource
from bottega.core.errors import DataWarning, InputError, ParameterError, warn_caller
from bottega.core.row_order import own_order
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
        self._source = ArraySource(self._rows, self._weight)
        self._trees = trees  # shared with the same rows in other units

    def responsibilities(self, how: str, k: int, seed: int, trial: int = 0) -> FloatArray:
        """Return responsibilities (k, n) of the rows, times their weights."""
        n = len(self._rows)
        if how == "hierarchical" and trial:  # there is one tree
            how = "kmeans"
        if k == 1:
            found = np.ones((1, n))
        elif how == "random":
            found = np.random.default_rng(seed).uniform(size=(k, n))
            found /= found.sum(axis=0)
        else:
            found = one_hot(self._groups(how, k, seed), k)
        back = np.empty_like(found)
        back[:, self._order] = found
        return back if self.weight is None else back * self.weight

    def _groups(self, how: str, k: int, seed: int) -> IntArray:
        """Return the group of each row, in their own order."""
        if how == "hierarchical":
            if how not in self._trees:
                self._trees[how] = ward_tree(self._rows)
            return _cut(self._rows, self._trees[how], k)
        init = "random" if how == "random_from_data" else "k-means++"
        search = KMeansHow(
            norm=2,
            init=init,
            n_init=1,
            max_iter=300,
            tol=1e-4,
            algorithm="lloyd",
            batch_size=1024,
            device=None,
            seed=seed,
        )
        problem = ClusterProblem(self._source, self._source, search, RowMap())
        if how != "kmeans":
            return nearest(self._rows, problem.start(k), 2)[0]
        labels = problem.solve(k).labels
        assert labels is not None
        return labels


def one_hot(labels: IntArray, k: int) -> FloatArray:
    """Return labels as responsibilities; a label that no row has shares the rows of the largest."""
    found = np.zeros((k, len(labels)))
    found[labels, np.arange(len(labels))] = 1.0
    for empty in np.flatnonzero(found.sum(axis=1) == 0):
        largest = int(np.argmax(found.sum(axis=1)))
        found[largest] /= 2
        found[empty] = found[largest]
    return found


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
    return nearest(whitened, centres, 2)[0]


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
