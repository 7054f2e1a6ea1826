"""What a path keeps of each fit of a linear smoother, the path made of it, and its assumptions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.judge import mean_and_se
from bottega.core.likelihood import gaussian_path
from bottega.core.losses import Loss
from bottega.core.path import Path
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray

# What every linear smoother takes for granted, in words for its card.
NOISE = (
    "The noise has mean zero, the same variance everywhere (over the weight of the row), and is "
    "not correlated between rows."
)
FIXED_KNOB = (
    "The knob does not depend on the responses: when it is chosen from the same rows, the fit is "
    "no longer linear in them, and its standard errors and errors are a little too small."
)


@dataclass(frozen=True)
class Score:
    """A fit without any number per row."""

    df: float
    rss: float
    error: float  # mean leave-one-out loss and its standard error, nan where none was asked for
    error_se: float
    finite: bool = True  # whether every row has a leave-one-out residual
    leverage: float = np.nan  # the greatest
    reml: float = np.nan


def score_fit(
    rows: Rows,
    fitted: FloatArray,
    leverage: FloatArray,
    loss: Loss | None,
    df: float | None = None,
) -> Score:
    """Reduce fitted values and leverages to what the path needs."""
    residual, weight = rows.y - fitted, rows.weight
    # A row that is alone in its window has no leave-one-out residual.
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = residual / (1 - leverage)
        error, error_se = np.nan, np.nan
        if loss is not None:
            error, error_se = mean_and_se(loss.of_rows(rows.y, rows.y - left_out), weight)
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
    scores: Sequence[Score],
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


def largest_first(values: Any) -> FloatArray:
    """Return given values of a knob, the largest first."""
    return np.sort(np.asarray(values, dtype=np.float64))[::-1]


def check_knot_choice(model: Any, numbers: str) -> None:
    """Refuse knots of an unknown kind, and knots that are given together with their number."""
    owner = type(model).__name__
    if not isinstance(model.knots, str):
        if not isinstance(model.n_knots, str):
            raise ParameterError(
                f"{owner}: n_knots={model.n_knots!r} and the knots were both given; give one."
            )
    elif model.knots not in ("quantile", "even"):
        raise ParameterError(
            f"{owner}: knots={model.knots!r} is not allowed; knots must be 'quantile', 'even' or "
            f"{numbers}."
        )


def knot_counts(model: Any, values: Any, most: int) -> Sequence[int]:
    """Return the numbers of knots on a path, the fewest first: those given, or up to the most."""
    if not isinstance(model.knots, str):
        raise ParameterError(
            f"{type(model).__name__}: knots as numbers are for a single fit; a path over their "
            "number needs knots='quantile' or knots='even'."
        )
    if values is None:
        return range(1 + (most if isinstance(model.max_knots, str) else int(model.max_knots)))
    found = largest_first(values)
    return [int(value) for value in found[::-1]]
