"""The methods of a comparison in order, and what the data say about the differences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.risk import NestedComparison
from bottega.workbench.results import MethodResult, chosen_in_words, gap_between

__all__ = ["Rival", "Verdict", "leaderboard_columns", "verdict_on"]

_ERRORS = (
    "error",
    "std_error",
    "lower",
    "upper",
    "difference",
    "difference_low",
    "difference_high",
)
_ROUNDING = 1e-12  # errors below this share of the largest come from rounding
MARGIN = 0.02  # share of the baseline's error that does not matter in the choice of a method

# Topics from what is easiest to read and explain to what is hardest.
_SIMPLE = ("core", "linear", "tree", "smooth", "neighbors", "online", "ensemble")


def leaderboard_columns(
    results: Mapping[str, MethodResult], nested: NestedComparison
) -> dict[str, list[Any]]:
    """Return the leaderboard's columns, the least error first; what is rounding alone is zero."""
    baseline = results["baseline"].error if "baseline" in results else np.nan
    nothing = _ROUNDING * max(abs(result.error) for result in results.values())
    ranked = any(result.ranking for result in results.values())
    best = best_of(results)
    measure = results[best].measure
    others = {name: None for result in results.values() for name in result.beside}
    rows = []
    for method, result in sorted(results.items(), key=lambda item: rank(item[1])):
        apart = gap_between(result, results[best], (method, best), nested)
        ranking = {name: result.ranking.get(name, np.nan) for name in ("auc", "lift")}
        shown = (
            {}
            if measure is None or not measure.shown
            else {measure.name: measure.value(result.error)}
        )
        rows.append(
            {
                "method": method,
                "title": result.title,
                "error": result.error,
                "std_error": result.std_error,
                "lower": result.lower,
                "upper": result.upper,
                "versus_baseline": 1 - result.error / baseline if baseline else np.nan,
                "difference": apart.difference,
                "difference_low": apart.lower,
                "difference_high": apart.upper,
                **(ranking if ranked else {}),
                **{name: result.beside.get(name, np.nan) for name in others},
                **shown,
                "df": np.nan if result.df is None else result.df,
                "chosen": chosen_in_words(result.tuned),
                "folds": result.folds_done,
                "seconds": result.seconds,
            }
        )
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    for name in _ERRORS:
        columns[name] = [0.0 if abs(value) < nothing else value for value in columns[name]]
    return columns


def rank(result: MethodResult) -> tuple[bool, float, int]:
    """Return what orders the methods: their error, and of equal ones the simplest first.

    Those without an error come last. Errors that differ by rounding alone are equal.
    """
    return bool(np.isnan(result.error)), float(f"{result.error:.12g}"), _simplicity(result)


def best_of(results: Mapping[str, MethodResult]) -> str:
    """Return the method with the least error among those that were fitted to all rows.

    At a tie it is the simplest, the baseline first of all.
    """
    whole = {name: each for name, each in results.items() if not each.partial} or results
    return min(whole, key=lambda method: rank(whole[method]))


@dataclass(frozen=True)
class Rival:
    """A method beside the winner: how much better or worse it may be.

    Attributes
    ----------
    method, title : str
        Its names.
    difference, low, high : float
        Its error minus the winner's, and the limits that the data cannot exclude.
    simpler : bool
        Whether it is of a kind that is easier to read and explain.
    why : str
        What makes it simpler, in words; empty where it is not.
    within_margin : bool
        Whether even the upper limit is within the margin.
    """

    method: str
    title: str
    difference: float
    low: float
    high: float
    simpler: bool
    why: str
    within_margin: bool


@dataclass(frozen=True)
class Verdict:
    """What the leaderboard allows to say.

    Attributes
    ----------
    best : str
        The method with the least error.
    margin : float
        Difference in error that does not matter, in the units of the error.
    margin_in_words : str
        What the margin is.
    rivals : tuple of Rival
        The other methods, the least error first.
    simpler : str or None
        The simplest method whose error is above the winner's by no more than the margin, as far
        as the data can tell; None where there is none.
    """

    best: str
    margin: float
    margin_in_words: str
    rivals: tuple[Rival, ...]
    simpler: str | None


def verdict_on(
    results: Mapping[str, MethodResult], nested: NestedComparison, margin: float = MARGIN
) -> Verdict:
    """Return what the differences between the methods allow to say."""
    best = best_of(results)
    base = results.get("baseline", results[best]).error
    allowed = margin * abs(base)
    level = _simplicity(results[best])
    rivals = []
    for method, result in sorted(results.items(), key=lambda item: rank(item[1])):
        if method in (best, "baseline"):
            continue
        gap = gap_between(result, results[best], (method, best), nested)
        rivals.append(
            Rival(
                method,
                result.title,
                gap.difference,
                gap.lower,
                gap.upper,
                _simplicity(result) < level,
                _why(result) if _simplicity(result) < level else "",
                bool(gap.upper <= allowed),
            )
        )
    near = [rival for rival in rivals if rival.simpler and rival.within_margin]
    simpler = min(
        near, key=lambda rival: (_simplicity(results[rival.method]), rival.difference), default=None
    )
    return Verdict(
        best,
        allowed,
        f"{100 * margin:g} % of the baseline's error",
        tuple(rivals),
        None if simpler is None else simpler.method,
    )


def _simplicity(result: MethodResult) -> int:
    if result.card.method == "stacking":
        return len(_SIMPLE) + 1
    module = getattr(result.card.estimator, "__module__", "").split(".")
    topic = module[1] if len(module) > 1 else ""
    return _SIMPLE.index(topic) if topic in _SIMPLE else len(_SIMPLE)


_WHY = {
    "linear": "its coefficients can be read",
    "tree": "it is one tree whose tests can be read",
    "smooth": "its curves can be drawn",
    "neighbors": "it points to the rows that it predicts from",
    "online": "it is one sum of the inputs",
}


def _why(result: MethodResult) -> str:
    module = getattr(result.card.estimator, "__module__", "").split(".")
    return _WHY.get(
        module[1] if len(module) > 1 else "", "it is one method, not a mixture of several"
    )
