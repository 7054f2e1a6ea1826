"""The leaderboard of the report: its rows, its chart, and what its columns mean."""

from typing import Any

import numpy as np

from bottega.core.losses import ZERO_ONE
from bottega.plot import leaderboard_chart
from bottega.plot.theme import number
from bottega.report import words
from bottega.report.figures import Figures
from bottega.report.units import Units, units_of
from bottega.workbench.leaderboard import versus_baseline

__all__ = ["leaderboard"]

# How well scores order the rows of two classes, by the name of the column.
_RANKING = {
    "auc": (
        "AUC",
        "the probability that a row of the second class has a higher score than one of the first: "
        "1 is perfect, 0.5 is chance.",
    ),
    "lift": (
        "Lift",
        "how many times more frequent the second class is among the tenth of the rows with the "
        "highest scores than among all rows.",
    ),
}

_LEARNED_FROM = (
    "Learned from",
    "how many rows the model of all training rows has seen: methods that take long, or that need "
    "their rows in memory, learn from fewer; of the leaders combined it is what one of them has "
    "seen at most. All are judged on the same rows.",
)

# Measures beside the one that ranks, by the name of their column.
_MEASURES = {
    "rmse": "Root mean squared error",
    "mae": "Mean absolute error",
    "r2": "R²",
    "poisson": "Poisson deviance",
    "error_rate": "Wrong predictions",
    "log_loss": "Log loss",
    "brier": "Brier score",
    "f1": "F1",
}


def leaderboard(comparison: Any, board: list[dict[str, Any]], figures: Figures) -> dict[str, Any]:
    """Return what the template shows of the leaderboard."""
    units = units_of(comparison)
    measure = comparison.measure
    ranked = [name for name in _RANKING if name in board[0] and name != measure.name]
    rows = []
    for row in board:
        result = comparison.results[row["method"]]
        is_best = row["method"] == comparison.best_method
        rows.append(
            {
                "title": row["title"],
                "best": is_best,
                "stopped": f"stopped after {result.folds_done} of {comparison.outer} folds"
                if result.partial and result.folds_done < comparison.outer
                else "",
                "error": _error(row["error"], measure, units) + _at_most(row, measure, units),
                "std_error": _small(row["std_error"], units),
                "versus": "–"
                if row["method"] == "baseline"
                else _less_or_more(row["versus_baseline"]),
                "difference": "–" if is_best else _small(row["difference"], units),
                "interval": "–"
                if is_best or not np.isfinite(row["difference_conf_low"])
                else f"{_small(row['difference_conf_low'], units)} to "
                f"{_small(row['difference_conf_high'], units)}",
                "df": "–" if result.df is None else f"{result.df:,.1f}",
                "ranking": [number(float(row[name]), 3) for name in ranked],
                "chosen": {"-": "–"}.get(row["chosen"], row["chosen"]),
                "learned_from": f"{row['learned_from']:,}" if "learned_from" in row else "",
                "seconds": words.duration(row["seconds"]),
            }
        )
    return {
        "rows": rows,
        "heading": _heading(measure) + (f", {units.word}s" if units.word else ""),
        "beside": _beside(board),
        "ranked": [_RANKING[name][0] for name in ranked],
        "fewer": "learned_from" in board[0],
        "explained": _explained(comparison, board, ranked),
        "sentence": _judged(comparison),
        "outer": comparison.outer,
        "figure": figures.make(
            "leaderboard-chart",
            lambda: leaderboard_chart(board, best=comparison.best_method, what=_axis(measure)),
        ),
    }


def _explained(
    comparison: Any, board: list[dict[str, Any]], ranked: list[str]
) -> list[tuple[str, str]]:
    measure, stopped = comparison.measure, _stopped(comparison)
    return [
        (
            _heading(measure),
            f"{_measured(measure)} over {comparison.outer} parts of the training rows, each "
            "predicted by models that had not seen it. Tuning was redone inside each part, so it "
            "holds for the whole procedure. "
            + (f"{words.sentence(measure.tuned_by)} " if measure.tuned_by else "")
            + f"{'Larger' if measure.shown else 'Smaller'} is better.",
        ),
        (
            "Std. error",
            "how far the error would typically move with other rows of the same kind; it allows "
            "for the training rows that the parts share. Where all rows are right, or all wrong, "
            "there is none: the error then has the exact limit of its 95% interval beside it.",
        ),
        (
            "Versus baseline",
            "how much less (or more) error than the baseline; 100% less is perfect.",
        ),
        (
            "Behind the best",
            "error minus that of the best method on the same parts, with its 95% interval. "
            "An interval that includes zero means that the data cannot tell the two apart; its "
            "ends say how far apart they may still be."
            + (
                " Methods that were judged on fewer parts have their place by this difference, "
                "over the parts of both, whatever their error: parts are not equally hard."
                if _fewer_folds(comparison)
                else ""
            ),
        ),
        *(_RANKING[name] for name in ranked),
        (
            "Df",
            "degrees of freedom of the final model, where the method has them: how many free "
            "numbers its fit is worth.",
        ),
        (
            "Chosen",
            "what sets the method's complexity, picked on all training rows by "
            + words.RULES.get(comparison.select, f"the least {comparison.select.upper()}")
            + ".",
        ),
        *([_LEARNED_FROM] if "learned_from" in board[0] else []),
        (
            "Time",
            "to tune and fit the model of all training rows"
            + (", or what was run of a method that was stopped." if stopped else "."),
        ),
    ]


def _judged(comparison: Any) -> str:
    rows = f"on {comparison.n_train:,} training rows, the best first"
    if comparison.n_rows > comparison.table.n_rows:
        rows = (
            f"on {comparison.n_train:,} rows that were drawn to be held in memory, the best first; "
            "the table says from how many rows each has learned"
        )
    if _stopped(comparison):
        return f"Methods were tuned and judged in the same way {rows}; some were stopped early."
    return f"Every method was tuned and judged in the same way {rows}."


def _fewer_folds(comparison: Any) -> bool:
    return len({result.folds_done for result in comparison.results.values()}) > 1


def _stopped(comparison: Any) -> bool:
    return any(result.partial for result in comparison.results.values())


def _heading(measure: Any) -> str:
    return f"{measure.shown[:1].upper()}{measure.shown[1:]}" if measure.shown else "Error"


def _measured(measure: Any) -> str:
    if measure.shown or measure.form != "mean":
        return str(measure.shown or measure.title)
    wrong = " (the share of wrong predictions)" if measure.loss == ZERO_ONE else ""
    return f"mean {measure.title}{wrong}"


def _axis(measure: Any) -> str:
    return f"mean {measure.title}" if measure.form == "mean" else str(measure.title)


def _beside(board: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the other measures as a table, where there are any that the main one lacks."""
    names = [name for name in _MEASURES if name in board[0]]
    if not names:
        return None
    return {
        "columns": [
            {"title": "Method", "numeric": False},
            *({"title": _MEASURES[name], "numeric": True} for name in names),
        ],
        "rows": [[row["title"], *(number(float(row[name]), 3) for name in names)] for row in board],
    }


def _error(error: float, measure: Any, units: Units) -> str:
    """Write an error or a score in its column, whose heading tells the unit."""
    if units.share:
        return words.percent(error)
    return number(float(measure.value(error)) / units.size)


def _at_most(row: dict[str, Any], measure: Any, units: Units) -> str:
    """Write the limit of an error without a standard error, on the side where it may lie."""
    if np.isfinite(row["std_error"]):
        return ""
    low, high = row["conf_low"], row["conf_high"]
    if not (np.isfinite(low) and np.isfinite(high)):
        return ""
    upwards = high > row["error"]
    word = "at most" if upwards != bool(measure.shown) else "at least"
    return f" ({word} {_error(high if upwards else low, measure, units)})"


def _small(value: float, units: Units) -> str:
    """Write a spread or a difference in its column."""
    if not np.isfinite(value):
        return "–"
    return units.bare_difference(value) + ("%" if units.share else "")


def _less_or_more(share: float) -> str:
    if share is None or not np.isfinite(share):
        return "–"
    return versus_baseline(share, words.percent)
