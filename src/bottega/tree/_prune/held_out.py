"""The error of a whole pruning sequence by held-out rows, in one pass over the folds."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.folds import Fold
from bottega.core.judge import LossSums
from bottega.core.parallel import in_threads
from bottega.core.typing import FloatArray, IntArray
from bottega.tree._grow.structure import Tree
from bottega.tree._prune.losses import loss_sums, sums_at
from bottega.tree._prune.sequence import PruningSequence

_ALL_UP_TO = 512  # members of a sequence that a path shows one by one
_LEAVES_ONE_BY_ONE = 256


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
    """Return penalties per leaf from the largest down; they may not be negative."""
    alphas = np.asarray(values, dtype=np.float64)
    if alphas.ndim != 1 or not len(alphas) or not np.all(np.isfinite(alphas) & (alphas >= 0)):
        raise InputError(
            f"values must be a list of finite penalties per leaf, none negative; got {values!r}."
        )
    return np.sort(alphas)[::-1]


def held_out_error(
    folds: Sequence[Fold],
    judge: Callable[[Fold], tuple[Tree, FloatArray, FloatArray]],
    betas: FloatArray,
    w: FloatArray | None,
) -> dict[str, Any]:
    """Return `error`, `error_se` and `fold_error` at each beta: the mean loss of held-out rows.

    `judge` grows a tree on the training rows of a fold and returns it, the alphas at which its
    nodes collapse, and the sums of the losses of the test rows at its nodes (`node_losses`). Each
    held-out row walks its fold's tree once, whatever the number of betas (penalties per leaf): the
    cost is n depth + N + m for n rows, N nodes and m betas.
    """

    def one(fold: Fold) -> LossSums:
        tree, collapse_alpha, sums = judge(fold)
        test = fold[1]
        found = sums_at(tree, collapse_alpha, sums, betas)
        return loss_sums(found, len(test), None if w is None else w[test])

    total, fold_error = LossSums(), []
    for part in in_threads(one, folds, stage="folds"):
        total.merge(part)
        fold_error.append(part.mean)
    error, error_se = total.mean_and_se()
    return {"error": error, "error_se": error_se, "fold_error": np.stack(fold_error)}
