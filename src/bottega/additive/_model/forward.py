r"""Forward choice: which block would improve a fitted model most, by the score test of each.

For further columns C beside the columns X of a fit with penalised information H, with scores s and
weights W of the rows,

    U = C's,    I = C'WC - C'WX H^{-1} X'WC,    T = U' I^{-1} U / scale

is about chi-square with as many degrees of freedom as C has columns (k F_{k, n - df - k} where the
scale is estimated): no candidate is fitted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from bottega.additive._model.leave_one_out import class_shares
from bottega.additive._model.work import PenalizedWork, block_columns
from bottega.additive._penalized.fit import Fit
from bottega.additive._terms.blocks import Block
from bottega.core.rows import split_rows
from bottega.core.typing import FloatArray

__all__ = ["ScoreTest", "score_tests"]

_STEP = 10_000  # rows at a time
_UNSEEN = 1e-8  # directions of C that the model has already, relative to the whole of them


@dataclass(frozen=True)
class ScoreTest:
    """The test of one candidate: statistic, degrees of freedom, and p-value."""

    statistic: float
    df: int
    p_value: float


def score_tests(
    work: PenalizedWork, fit: Fit, candidates: Sequence[Sequence[Block]]
) -> list[ScoreTest]:
    """Return the score test of each candidate, a list of blocks, against a fitted model.

    With several predictors (classes) the one with the least p-value stands for a candidate, its
    p-value times their number.
    """
    assert work.rows is not None
    rows = work.rows
    p, D = sum(block.size for block in work.blocks), fit.n_predictors
    sizes = [sum(block.size for block in blocks) for blocks in candidates]
    own = [np.zeros((D, k, k)) for k in sizes]
    cross = [np.zeros((D, p, k)) for k in sizes]
    pull = [np.zeros((D, k)) for k in sizes]
    weights = rows.weights
    for part in split_rows(len(rows.X), _STEP):
        X = rows.X[part]
        R = block_columns(work.blocks, X)
        s, w = _row_scores(work, fit, X, rows.y[part], weights[part])
        for place, blocks in enumerate(candidates):
            C = block_columns(blocks, X)
            for d in range(D):
                weighted = C * w[:, d, None]
                own[place][d] += C.T @ weighted
                cross[place][d] += R.T @ weighted
                pull[place][d] += C.T @ s[:, d]
    V = fit.covariance / fit.scale
    found = []
    for each in range(len(candidates)):
        tests = [
            _test(
                own[each][d],
                cross[each][d],
                pull[each][d],
                V[d * p : (d + 1) * p, d * p : (d + 1) * p],
                fit,
            )
            for d in range(D)
        ]
        best = min(tests, key=lambda one: (one.p_value, -one.statistic))
        found.append(replace(best, p_value=min(1.0, D * best.p_value)))
    return found


def _row_scores(
    work: PenalizedWork, fit: Fit, X: FloatArray, y: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    eta = work.predictors(fit, X)
    if fit.n_predictors == 1:
        s, w = fit.family.scores(eta[:, 0], y, weight)
        return s[:, None], w[:, None]
    share = class_shares(eta)[:, 1:]
    hit = y[:, None] == np.arange(1, fit.n_predictors + 1)
    return weight[:, None] * (hit - share), weight[:, None] * share * (1 - share)


def _test(
    own: FloatArray, cross: FloatArray, pull: FloatArray, V: FloatArray, fit: Fit
) -> ScoreTest:
    information = own - cross.T @ V @ cross
    values, vectors = np.linalg.eigh((information + information.T) / 2)
    seen = values > _UNSEEN * max(float(np.trace(own)), 1e-300)
    k = int(seen.sum())
    if k == 0 or fit.scale <= 0:
        return ScoreTest(0.0, 0, 1.0)
    along = vectors[:, seen].T @ pull
    statistic = float(np.sum(along**2 / values[seen])) / fit.scale
    if fit.scale_known:
        return ScoreTest(statistic, k, float(stats.chi2.sf(statistic, k)))
    left = max(fit.df_residual - k, 1.0)
    # The statistic takes the scale of the model without the candidate.
    rest = max(fit.df_residual - statistic, 1e-300)
    return ScoreTest(statistic, k, float(stats.f.sf(statistic / k * left / rest, k, left)))
