"""The terms of a fitted additive model as rows: estimates, degrees of freedom, tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.additive._inference.grids import level_codes
from bottega.additive._inference.term_tests import (
    NO_TEST,
    TermTest,
    chosen_df,
    random_test,
    reference_df,
    smooth_test,
    unshrunk_test,
    wald_test,
)
from bottega.additive._penalized.fit import Fit
from bottega.additive._terms.bases import LevelsBasis, ValueBasis
from bottega.additive._terms.blocks import Block
from bottega.core.results import check_level
from bottega.core.typing import FloatArray

__all__ = ["TermRow", "all_penalized", "scale_df", "term_rows"]

_NO_DIRECTION = 1e-9  # of the largest eigenvalue of a penalty: a direction it leaves free


@dataclass(frozen=True)
class TermRow:
    """One row of `tidy`: a coefficient, or a whole term with its test.

    Attributes
    ----------
    name : str
        Name of the term; of a level with the level in brackets.
    kind : str
        Kind of the block, or ``"level"`` of a factor.
    predictor : int
        Which of several predictors (classes of a multinomial) it belongs to.
    estimate, std_error : float
        Of a coefficient in the units of its column; missing for a whole term.
    edf : float
        Degrees of freedom of a whole term.
    test : TermTest
        Of a coefficient by Student's t or the normal distribution, of a whole term by F or
        chi-square.
    """

    name: str
    kind: str
    predictor: int
    estimate: float
    std_error: float
    edf: float
    test: TermTest


def scale_df(fit: Fit) -> float:
    """Return the degrees of freedom of the estimate of the scale, infinite where it is known."""
    return float("inf") if fit.scale_known else max(fit.df_residual, 0.0)


def all_penalized(block: Block) -> bool:
    """Return whether the penalties of a block leave none of its directions free."""
    sizes = [np.linalg.norm(P) for P in block.penalties]
    total = sum(P / size for P, size in zip(block.penalties, sizes, strict=True) if size > 0)
    if np.ndim(total) != 2:
        return False
    values = np.linalg.eigvalsh(total)
    return bool(values[0] > _NO_DIRECTION * values[-1])


def term_rows(fit: Fit, blocks: Sequence[Block]) -> list[TermRow]:
    """Return the coefficients and the terms of a fit, block after block, with their tests."""
    df = scale_df(fit)
    r = reference_df(fit)
    whole = [all_penalized(block) for block in blocks] * fit.n_predictors
    found = []
    for place, part in enumerate(fit.slices):
        block = blocks[place % len(blocks)]
        predictor = place // len(blocks)
        coef, covariance = fit.coef[part], fit.covariance[part, part]
        edf = float(fit.edf[part].sum())
        for name, kind, row in _coefficients(block):
            estimate = float(row @ coef)
            size = float(np.max(np.abs(row))) or 1.0  # its square may be too large a number
            form = row / size
            error = size * float(np.sqrt(max(float(form @ covariance @ form), 0.0)))
            test = _t_test(estimate, error, df)
            found.append(TermRow(name, kind, predictor, estimate, error, np.nan, test))
        if block.kind in ("intercept", "linear"):
            continue
        test = NO_TEST
        if block.signs is None and fit.scale > 0:
            if block.kind == "factor" and not block.penalties:
                test = wald_test(coef, covariance, df)
            elif len(fit.alphas[place]) > len(block.penalties) and block.penalties:
                test = unshrunk_test(fit, part, _weighted(fit, block, place, part), df)
            elif whole[place]:
                others = [
                    other
                    for at, other in enumerate(fit.slices)
                    if at != place and blocks[at % len(blocks)].kind == "random"
                ]
                test = random_test(fit, part, others, df)
            else:
                rank = float(r[part].sum())
                own = rank, df, chosen_df(fit, part, rank)
                test = smooth_test(coef, covariance, fit.gram[part, part], *own)
        found.append(TermRow(block.name, block.kind, predictor, np.nan, np.nan, edf, test))
    return found


def _weighted(fit: Fit, block: Block, place: int, part: slice) -> list[FloatArray]:
    """Return the penalties of a block times their smoothing parameters, that of selection last."""
    assert block.shrink is not None
    pairs = zip(fit.alphas[place], (*block.penalties, block.shrink), strict=True)
    found = [alpha * P for alpha, P in pairs]
    # Several predictors share a penalty, and each has a part of it.
    total = float(sum(np.trace(P) for P in found))
    share = float(np.trace(fit.penalty[part, part])) / total if total > 0 else 1.0
    return [share * P for P in found]


def _coefficients(block: Block) -> list[tuple[str, str, FloatArray]]:
    """Return name, kind and linear form of the coefficients that are numbers to be read."""
    if block.kind == "intercept":
        return [("(Intercept)", block.kind, np.ones(1))]
    if block.kind == "linear":
        # In the units of the columns, whatever the unit the engine works in.
        units = [m.basis.scale for m in block.margins if isinstance(m.basis, ValueBasis)]
        form = np.eye(block.size) / np.prod(units, dtype=np.float64)
        if block.size == 1:
            return [(block.name, block.kind, form[0])]
        return [
            (f"{block.name}[{name}]", block.kind, row)
            for name, row in zip(_labels(block, block.size), form, strict=True)
        ]
    if block.kind == "factor" and isinstance(block.margins[0].basis, LevelsBasis):
        rows = level_rows(block)
        return [
            (f"{block.name}[{name}]", "level", row)
            for name, row in zip(_labels(block, len(rows)), rows, strict=True)
        ]
    return []


def _labels(block: Block, count: int) -> Sequence[str]:
    return block.labels if len(block.labels) == count else [str(k) for k in range(count)]


def level_rows(block: Block) -> FloatArray:
    """Return the columns of a block at each of its levels (of missing values the last)."""
    basis: Any = block.margins[0].basis
    codes = level_codes(basis.n_levels, basis.gaps)
    ones = [_one(m.basis, len(codes)) for m in block.margins[1:]]
    return block.rows([codes, *ones])


def _one(basis: Any, count: int) -> FloatArray:
    """Return the value of a ``by`` column at which its factor is one."""
    return np.full(count, float(getattr(basis, "code", 1.0)))


def _t_test(estimate: float, error: float, df: float) -> TermTest:
    if not error > 0:
        return NO_TEST
    t = estimate / error
    return TermTest(t, 1.0, float(2 * stats.t.sf(abs(t), df)))


def tidy_of(rows: Sequence[TermRow], level: float, df: float) -> dict[str, Any]:
    """Return the columns of `tidy`, with kind, edf and reference df of each row behind them."""
    check_level(level)
    estimate = np.array([row.estimate for row in rows])
    error = np.array([row.std_error for row in rows])
    half = stats.t.ppf(0.5 + level / 2, df) * error
    return {
        "term": [row.name for row in rows],
        "estimate": estimate,
        "std_error": error,
        "statistic": np.array([row.test.statistic for row in rows]),
        "p_value": np.array([row.test.p_value for row in rows]),
        "conf_low": estimate - half,
        "conf_high": estimate + half,
        "kind": [row.kind for row in rows],
        "edf": np.array([row.edf for row in rows]),
        "ref_df": np.array([row.test.df for row in rows]),
    }
