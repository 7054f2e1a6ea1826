"""The path of a smoother whose fits are made one value of the knob at a time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.path import Path
from bottega.core.smoother import Smoother, gaussian_criteria, mean_and_se
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["Score", "score_of", "smoother_path"]


@dataclass(frozen=True)
class Score:
    """What a path keeps of a fit: no number per row.

    Attributes
    ----------
    df, rss : float
        Degrees of freedom and weighted residual sum of squares.
    error, error_se : float
        Leave-one-out error and its standard error.
    fine : bool
        Whether every window held enough rows.
    """

    df: float
    rss: float
    error: float
    error_se: float
    fine: bool


def score_of(smoother: Smoother, *, fine: bool = True) -> Score:
    """Reduce a fit to what the path needs."""
    with np.errstate(invalid="ignore"):  # a row that is alone in its window has no error
        error, error_se = mean_and_se(smoother.loo_residuals**2, smoother.weight)
    return Score(smoother.df, float(smoother.rss), float(error), float(error_se), fine)


def smoother_path(
    knob: str,
    values: FloatArray,
    scores: list[Score],
    *,
    weight: FloatArray | None,
    n: int,
    drop: bool,
) -> tuple[Path, Any]:
    """Return the path, and the residual scale of its richest model.

    Parameters
    ----------
    knob, values, scores
        The knob's name, its values and what each gave.
    weight : ndarray, optional
        Weights of the rows, all above zero.
    n : int
        Number of rows.
    drop : bool
        Whether to leave out values at which some window held too few rows, or some row has no
        leave-one-out error: a method's own grid does so.
    """
    df, rss, error, error_se = (
        np.array([getattr(each, name) for each in scores])
        for name in ("df", "rss", "error", "error_se")
    )
    chosen = np.flatnonzero(_usable(scores, error) if drop else np.ones(len(scores), dtype=bool))
    chosen = chosen[np.argsort(df[chosen], kind="stable")]
    df, rss = df[chosen], rss[chosen]
    rich = np.flatnonzero((n - df >= 1) & (rss > 0))
    scale = float(np.sqrt(rss[rich[-1]] / (n - df[rich[-1]]))) if len(rich) else None
    logs = 0.0 if weight is None else float(np.sum(np.log(weight)))
    curve = Path(
        knob=knob,
        values=values[chosen],
        df=df,
        train_error=rss / (n if weight is None else weight.sum()),
        error=error[chosen],
        error_se=error_se[chosen],
        estimate="loo",
        loss="squared error",
        criteria=gaussian_criteria(rss, df, n, scale=scale, log_weights=logs),
    )
    return curve, scale


def _usable(scores: list[Score], error: FloatArray) -> BoolArray:
    finite = np.isfinite(error)
    good = finite & np.array([each.fine for each in scores])
    for choice in (good, finite):
        if np.any(choice):
            return choice
    return np.arange(len(scores)) == 0  # the first value is the simplest model
