"""The error of a whole pruning sequence by held-out rows, in one pass over the folds."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from bottega.core.errors import InputError
from bottega.core.folds import deal_folds
from bottega.core.parallel import in_threads
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import prune as kernels
from bottega.tree._prune.sequence import PruningSequence

__all__ = [
    "check_alphas",
    "held_out_error",
    "held_out_folds",
    "members_shown",
    "split_off",
    "sums_at",
]

_ALL_UP_TO = 512  # members of a sequence that a path shows one by one
_LEAVES_ONE_BY_ONE = 256
_DEALT = 20  # a validation part is a number of twentieths

Fold = tuple[IntArray, IntArray]


def members_shown(sequence: PruningSequence) -> IntArray:
    """Return which members of a sequence a path shows, the simplest first.

    All of them, up to 512; of more, those with up to 256 leaves and then about 256 whose numbers
    of leaves grow geometrically, the full tree always.
    """
    places = np.arange(len(sequence))[::-1]
    if len(places) <= _ALL_UP_TO:
        return places
    leaves = sequence.n_leaves[places]
    few = int(np.searchsorted(leaves, _LEAVES_ONE_BY_ONE, side="right"))
    steps = np.geomspace(_LEAVES_ONE_BY_ONE, leaves[-1], _ALL_UP_TO - _LEAVES_ONE_BY_ONE)
    further = np.searchsorted(leaves, np.floor(steps), side="right") - 1
    return places[np.unique(np.concatenate([np.arange(few), further, [len(places) - 1]]))]


def check_alphas(values: Any) -> FloatArray:
    """Return prices of a leaf from the largest down; they may not be negative."""
    alphas = np.asarray(values, dtype=np.float64)
    if alphas.ndim != 1 or not len(alphas) or not np.all(np.isfinite(alphas) & (alphas >= 0)):
        raise InputError(
            f"values must be a list of finite prices of a leaf, none negative; got {values!r}."
        )
    return np.sort(alphas)[::-1]


def held_out_folds(
    cv: Any, y: Array, w: FloatArray | None, *, classifier: bool
) -> tuple[list[Fold], str]:
    """Return pairs of training and held-out rows, and what the estimate is called.

    Parameters
    ----------
    cv : int, float, splitter or list of (train, test)
        A number of folds; the share of one held-out part; or the folds themselves.
    y : ndarray
        Responses; class codes are spread over the folds.
    w : ndarray or None
        Row weights: rows of weight 0 are in no fold.
    classifier : bool
        Whether `y` is class codes.

    Returns
    -------
    list of (train, test), str
        Fewer folds than asked for with fewer rows than folds; none with a single row.
    """
    if hasattr(cv, "split") or not isinstance(cv, int | float | np.number):
        if isinstance(cv, str) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
            raise InputError(
                f"cv={cv!r} is not allowed; give a number of folds, the share of rows to hold out, "
                "pairs of training and test rows, or a splitter of scikit-learn."
            )
        splitter = check_cv(cv, y, classifier=classifier)
        return [(train, test) for train, test in splitter.split(y, y)], "cv"
    rows = np.arange(len(y)) if w is None else np.flatnonzero(w > 0)
    whole = isinstance(cv, Integral)
    if isinstance(cv, bool) or (whole and cv < 2) or not (whole or 0 < cv < 1):
        raise InputError(
            f"cv={cv!r} is not allowed; give at least 2 folds, or a share between 0 and 1."
        )
    name = "cv" if whole else "validation"
    if len(rows) < 2:
        return [], name
    strata = y[rows] if classifier else None
    if not whole:
        train, test = split_off(float(cv), len(rows), strata)
        return [(rows[train], rows[test])], name
    dealt = deal_folds(len(rows), min(int(cv), len(rows)), strata)
    pairs = [(rows[dealt != k], rows[dealt == k]) for k in range(int(cv))]
    return [(train, test) for train, test in pairs if len(test) and len(train)], name


def split_off(share: float, n: int, strata: Any = None) -> Fold:
    """Return training rows and about `share` of the rows held out, at least one of each."""
    most = round(_DEALT * share)
    held = deal_folds(n, _DEALT, strata) < min(max(most, 1), _DEALT - 1)
    if held.all() or not held.any():
        held = deal_folds(n, 2) == 0
    return np.flatnonzero(~held), np.flatnonzero(held)


def sums_at(tree: Tree, collapse_alpha: FloatArray, sums: FloatArray, at: FloatArray) -> FloatArray:
    """Return the sum over the leaves, of the tree pruned at each alpha, of what the nodes hold."""
    order = np.argsort(at, kind="stable")
    table = sums.reshape(len(sums), -1)
    found = np.empty((len(at), table.shape[1]))
    start = np.searchsorted(at[order], collapse_alpha)
    found[order] = kernels.spread(table, tree.parent, start, len(at))
    return found.reshape((len(at), *sums.shape[1:]))


def held_out_error(
    folds: Sequence[Fold],
    judge: Callable[[Fold], tuple[Tree, FloatArray, FloatArray]],
    betas: FloatArray,
    w: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Return the mean loss of held-out rows at each beta, and its standard error over the rows.

    Parameters
    ----------
    folds : list of (train, test)
        At least one.
    judge : callable
        Grows a tree on the training rows of a fold and returns it, the alphas at which its nodes
        collapse, and the sums of the losses of the test rows at its nodes (`node_losses`).
    betas : ndarray
        Prices of a leaf at which the trees are judged.
    w : ndarray or None
        Row weights.

    Notes
    -----
    Each held-out row walks its fold's tree once, whatever the number of betas: n depth + N + m for
    n rows, N nodes and m betas. The mean and standard error are those of `core.mean_and_se`.
    """

    def one(fold: Fold) -> FloatArray:
        tree, collapse_alpha, sums = judge(fold)
        return sums_at(tree, collapse_alpha, sums, betas)

    loss, twice, square = np.sum(in_threads(one, folds, stage="folds"), axis=0).T
    held = np.concatenate([test for _, test in folds])
    if w is None:
        n = len(held)
        mean = loss / n
        spread = np.maximum(square - n * mean**2, 0.0) / max(n - 1, 1)
        return mean, np.sqrt(spread / n)
    weight = w[held]
    mean = loss / weight.sum()
    spread = square - 2 * mean * twice + mean**2 * np.sum(weight**2)
    return mean, np.sqrt(np.maximum(spread, 0.0)) / weight.sum()
