"""The path of logistic regression, and its judgement by folds that share all they can."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bottega.classify._logistic.chunked import ChunkedLikelihood
from bottega.classify._logistic.work import LogisticDescent, MemoryLikelihood
from bottega.core.added_sums import AddedSums
from bottega.core.classes import TIE, decided
from bottega.core.folds import Fold
from bottega.core.judge import judge_held_out, judged_path, row_losses
from bottega.core.losses import Loss
from bottega.core.parallel import in_threads
from bottega.core.path import Path
from bottega.core.rows import Rows
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.optimize.logistic_path import LogisticSolution

Works = MemoryLikelihood | ChunkedLikelihood

# Folds are fitted to this duality gap, those of large tables to the second: it moves no prediction
# by more than the last digits of what they are for.
_TOL, _COARSE, _LARGE = 1e-5, 1e-4, 2**19
# Numbers of the scores of rows at all penalties that are made at once.
_AT_ONCE = 2**21


def walks_in(
    settings: Sequence[Mapping[str, Any]], descent_of: Callable[[dict[str, Any]], LogisticDescent]
) -> list[tuple[LogisticDescent, FloatArray, IntArray]]:
    """Return the walks that settings are stops of: how, penalties descending, and their places."""
    ratios, found = [setting.get("l1_ratio") for setting in settings], []
    for ratio in dict.fromkeys(ratios):
        places = np.array([k for k, each in enumerate(ratios) if each == ratio])
        alphas = np.array([float(settings[k]["alpha"]) for k in places])
        order = np.argsort(-alphas, kind="stable")
        own = {} if ratio is None else {"l1_ratio": ratio}
        found.append((descent_of(own), alphas[order], places[order]))
    return found


def in_order(parts: Sequence[tuple[IntArray, Array]]) -> Array:
    """Return columns of several walks in the order of their settings."""
    places = np.concatenate([place for place, _ in parts])
    columns = [values for _, values in parts]
    values = columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
    return np.asarray(values[:, np.argsort(places)])


def joined(judged: list[dict[str, Any]], order: IntArray) -> dict[str, Any]:
    """Return the judgements of several walks as that of one path."""
    if not judged:
        return {}
    names = ("error", "error_se", "fold_error")
    found = {n: np.concatenate([each[n] for each in judged], axis=-1)[..., order] for n in names}
    return found | {"estimate": "cv"}


def predicted(
    X: Any, found: LogisticSolution | None, present: IntArray, K: int, method: str
) -> Array:
    """Return what each fit predicts: (rows, fits) codes, or (rows, fits, K) probabilities.

    `found` is None where the one class that is `present` is the prediction of all.
    """
    if found is None:
        return _spread(np.zeros((X.shape[0], 1, 1)), present, K, method)
    if is_sparse(X):
        X = X.tocsr()
    S, T, p = found.coef.shape
    coef = found.coef.reshape(S * T, p).T
    size = max(64, _AT_ONCE // max(1, S * T))
    parts = []
    for start in range(0, X.shape[0], size):
        scores = np.asarray(X[start : start + size] @ coef).reshape(-1, S, T) + found.intercept
        parts.append(_spread(scores, present, K, method))
    return np.concatenate(parts) if parts else np.zeros((0, S))


def _spread(scores: FloatArray, present: IntArray, K: int, method: str) -> Array:
    """Return the predictions of scores, among all K classes."""
    if method == "predict" and scores.shape[2] == 1 and len(present) == 2:
        return np.asarray(present[(scores[:, :, 0] > TIE).astype(np.intp)])
    if scores.shape[2] == 1 and len(present) == 2:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=2)
    scores = scores - scores.max(axis=2, keepdims=True)
    if method == "predict":
        return np.asarray(present[decided(np.maximum(scores, -1.0) + 1)])
    odds = np.exp(scores)
    out = np.zeros((*scores.shape[:2], K))
    out[..., present] = odds / odds.sum(axis=2, keepdims=True)
    return out


def train_errors(work: Works, found: LogisticSolution, K: int) -> FloatArray:
    """Return the share of rows that each fit misclassifies."""

    def missed(X: Any, codes: IntArray, w: Any) -> AddedSums:
        guess = predicted(X, found, np.arange(K), K, "predict")
        weight = np.ones(len(codes)) if w is None else w
        return AddedSums((np.tensordot(weight, guess != codes[:, None], 1),))

    (wrong,) = work.reduce(missed).values
    return np.asarray(wrong / work.weight)


def judge_folds(
    curve: Path,
    work: MemoryLikelihood,
    rows: Rows,
    folds: list[Fold],
    estimate: str,
    loss: Loss,
    descent_of: Callable[[dict[str, Any]], LogisticDescent],
    K: int,
) -> Path:
    """Return the path judged on the rows that folds hold out, each started from all rows' fit."""
    walks = walks_in(curve.settings, descent_of)
    for descent, alphas, _ in walks:
        work.path(descent, alphas)  # what the folds follow
    large = rows.X.shape[0] * rows.X.shape[1] > _LARGE

    def judge(fold: Fold) -> FloatArray:
        train, test = fold
        held, v = rows.take(test), np.bincount(train, minlength=len(rows)) * rows.weights
        parts = []
        for descent, alphas, places in walks:
            tol = max(descent.tol, _COARSE if large else _TOL)
            answer = work.without(descent, alphas, v, tol)
            present, found = (np.unique(rows.y[train]), None) if answer is None else answer
            guess = predicted(held.X, found, present, K, loss.method)
            guess = np.broadcast_to(guess, (len(guess), len(alphas), *guess.shape[2:]))
            parts.append((places, row_losses(loss, held.y, guess)))
        return in_order(parts)

    parts = in_threads(judge, folds, stage="folds", elsewhere=True)
    found = judged_path(curve, rows, folds, parts, loss, estimate)
    tested = np.concatenate([test for _, test in folds])
    if len(np.unique(tested)) < len(tested):
        return found
    # Errors of several penalties are often equal: as one sum they are so to the last digit.
    each = [rows.weights[test] @ losses for (_, test), losses in zip(folds, parts, strict=True)]
    return replace(found, error=np.sum(each, axis=0) / rows.weights[tested].sum())


def judge_chunks(
    work: ChunkedLikelihood, descent: LogisticDescent, alphas: FloatArray, loss: Loss, K: int
) -> dict[str, Any]:
    """Return error, standard error and fold errors of a path over rows in chunks."""

    def predictor(f: int) -> Callable[[Any], Array]:
        fit: Any = work.without(descent, alphas, f, descent.tol)
        if fit is None:  # of one class at most
            others = np.delete(np.arange(work.folds), f)
            left = [any(work.moments.parts[g][k].count for g in others) for k in range(K)]
            fit = np.flatnonzero(left), None
        present, found = fit

        def guess(X: Any) -> Array:
            made = predicted(X, found, present, K, loss.method)
            return np.broadcast_to(made, (len(made), len(alphas), *made.shape[2:]))

        return guess

    reduce = partial(work.reduce_folds, folds=work.folds)
    judged = judge_held_out(reduce, [predictor(f) for f in range(work.folds)], loss)
    return judged | {"estimate": "cv"}
