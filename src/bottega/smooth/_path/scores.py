"""What a path keeps of each fit of a linear smoother, and the path made of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.judge import mean_and_se
from bottega.core.likelihood import gaussian_path
from bottega.core.losses import Loss
from bottega.core.path import Path
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray


@dataclass(frozen=True)
class Score:
    """A fit without any number per row.

    Attributes
    ----------
    df, rss : float
        Degrees of freedom and weighted residual sum of squares.
    error, error_se : float
        Mean leave-one-out loss and its standard error, nan where none was asked for.
    finite : bool
        Whether every row has a leave-one-out residual.
    leverage : float
        The greatest leverage.
    """

    df: float
    rss: float
    error: float = np.nan
    error_se: float = np.nan
    finite: bool = True
    leverage: float = np.nan


def score_fit(
    y: FloatArray,
    weight: FloatArray | None,
    fitted: FloatArray,
    leverage: FloatArray,
    loss: Loss | None,
    df: float | None = None,
) -> Score:
    """Reduce fitted values and leverages to what the path needs."""
    residual = y - fitted
    # A row that is alone in its window has no leave-one-out residual.
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = residual / (1 - leverage)
        error, error_se = np.nan, np.nan
        if loss is not None:
            error, error_se = mean_and_se(loss.of_rows(y, y - left_out), weight)
    return Score(
        float(leverage.sum()) if df is None else float(df),
        float(np.sum(residual**2 if weight is None else weight * residual**2)),
        float(error),
        float(error_se),
        bool(np.all(np.isfinite(left_out))),
        float(leverage.max()),
    )


def loo_path(
    settings: Sequence[Mapping[str, Any]],
    scores: Sequence[Any],
    rows: Rows,
    loss: Loss | None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Return the path of scored fits, simplest first; unjudged without a loss."""
    df, rss, error, error_se = (
        np.array([getattr(each, name) for each in scores])
        for name in ("df", "rss", "error", "error_se")
    )
    judged: dict[str, Any] = {}
    if loss is not None:
        judged = {"error": error, "error_se": error_se, "estimate": "loo", "loss": loss.title}
    return gaussian_path(
        settings,
        rss=rss,
        df=df,
        n=len(rows),
        weight=rows.total_weight,
        log_weights=rows.log_weights,
        more=more,
        **judged,
    )


def check_penalties(values: Any) -> FloatArray:
    """Return given penalties, the largest first."""
    found = _numbers(values)
    if found.ndim != 1 or not len(found) or not np.all(np.isfinite(found) & (found >= 0)):
        raise InputError(
            f"values must be a list of finite penalties, none negative; got {values!r}."
        )
    return np.sort(found)[::-1]


def check_counts(values: Any) -> list[int]:
    """Return given numbers of knots, in order."""
    given = _numbers(values)
    if given.ndim != 1 or not len(given) or not np.all((given >= 0) & (given % 1 == 0)):
        raise InputError(f"values must be a list of whole numbers of knots; got {values!r}.")
    return sorted(int(value) for value in given)


def _numbers(values: Any) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
