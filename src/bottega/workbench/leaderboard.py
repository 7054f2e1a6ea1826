"""The methods of a comparison in order, and what the data say about the differences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.cards import Card
from bottega.risk import NestedComparison
from bottega.workbench.entrants import LAST
from bottega.workbench.results import (
    MethodResult,
    chosen_in_words,
    comparable,
    fold_gap,
    gap_between,
)

__all__ = ["Rival", "Verdict", "leaderboard_columns", "verdict_on"]

_ERRORS = (
    "error",
    "std_error",
    "conf_low",
    "conf_high",
    "difference",
    "difference_conf_low",
    "difference_conf_high",
)
_ROUNDING = 1e-12  # errors below this share of the baseline's come from rounding
# Standard errors by which a method must be better to be preferred to the leaders combined: on
# public tables a smaller lead is luck more often than not (benchmarks/DEFAULTS.md).
_CLEAR = 2.0
MARGIN = 0.02  # share of the baseline's error that does not matter in the choice of a method

# Topics from what is easiest to read and explain to what is hardest.
_SIMPLE = (
    *("core", "linear", "classify", "tree", "smooth", "additive"),
    *("neighbors", "online", "kernel", "ensemble"),
)


def leaderboard_columns(
    results: Mapping[str, MethodResult], nested: NestedComparison
) -> dict[str, list[Any]]:
    """Return the leaderboard's columns, the winner first; what is rounding alone is zero."""
    baseline = results["baseline"].error if "baseline" in results else np.nan
    largest = max(abs(result.error) for result in results.values())
    nothing = _ROUNDING * (baseline if np.isfinite(baseline) else largest)
    ranked = any(result.ranking for result in results.values())
    best = best_of(results)
    measure = results[best].measure
    others = {name: None for result in results.values() for name in result.beside}
    fewer = len({result.learned_from for result in results.values()}) > 1
    rows = []
    for method, result in _in_order(results, best):
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
                "conf_low": result.lower,
                "conf_high": result.upper,
                "versus_baseline": 1 - result.error / baseline if baseline else np.nan,
                "difference": apart.difference,
                "difference_conf_low": apart.lower,
                "difference_conf_high": apart.upper,
                **(ranking if ranked else {}),
                **{name: result.beside.get(name, np.nan) for name in others},
                **shown,
                "df": np.nan if result.df is None else result.df,
                "chosen": chosen_in_words(result.tuned),
                **({"learned_from": result.learned_from} if fewer else {}),
                "folds": result.folds_done,
                "seconds": result.seconds,
            }
        )
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    for name in _ERRORS:
        columns[name] = [0.0 if abs(value) < nothing else value for value in columns[name]]
    return columns


def versus_baseline(share: float, percent: Callable[[float], str]) -> str:
    """Write the share of the baseline's error that is removed; many times its error as such."""
    if share < -9:
        return f"{1 - share:.2g} times"
    return f"{percent(abs(share))} {'less' if share >= 0 else 'more'}"


def rank(result: MethodResult) -> tuple[bool, float, int]:
    """Return what orders the methods: their error, and of equal ones the simplest first.

    Those without an error come last. Errors that differ by rounding alone are equal.
    """
    return rank_of(result.error, result.card)


def rank_of(error: float, card: Card) -> tuple[bool, float, int]:
    """Return what orders a method with an error, as `rank` does."""
    return bool(np.isnan(error)), float(f"{error:.12g}"), _simplicity(card)


def in_order(results: Mapping[str, MethodResult], to: MethodResult | None = None) -> list[str]:
    """Return the methods, the least error first, over the folds that one of them was judged on.

    Where a budget left some with fewer folds, their errors over these may be small because the
    folds are easy: they are compared with the best of those judged on most rows (or with `to`), by
    the difference over the folds of both.
    """
    other = to or min(
        results.values(),
        key=lambda each: (np.isnan(each.error), -np.count_nonzero(each.fold >= 0), rank(each)),
    )
    return sorted(results, key=lambda name: _rank_beside(results[name], other))


def _rank_beside(result: MethodResult, other: MethodResult) -> tuple[bool, float, int]:
    return rank_of(comparable(result, other), result.card)


def best_of(results: Mapping[str, MethodResult]) -> str:
    """Return the method to rely on, among those that were fitted to all rows.

    It is the leaders combined, unless one method is better by more than two standard errors of the
    difference (rows taken as independent); of single methods the one with the least error, at a
    tie the simplest, the baseline first of all. The least of many errors is partly luck, which the
    mean of the leaders does not depend on. What is no better than the baseline is not preferred to
    it.
    """
    order = in_order(results)
    whole = {name: results[name] for name in order if not results[name].partial} or results
    first = next(name for name in order if name in whole)
    if LAST not in whole or first in (LAST, "baseline"):
        return first
    stacked = whole[LAST]
    baseline = whole.get("baseline")
    if baseline is not None and not comparable(stacked, baseline) < baseline.error:
        return first
    return first if _is_clear(whole[first], stacked) else LAST


def _is_clear(one: MethodResult, other: MethodResult) -> bool:
    """Return whether a method is better than another by more than chance would have it."""
    both = np.flatnonzero((one.fold >= 0) & (other.fold >= 0))
    if one.measure is not None and one.measure.form == "folds":
        return fold_gap(one, other).upper < 0
    gap, se = one.nested.rows.mean_and_se(both, one.losses[both] - other.losses[both])
    return bool(gap < -_CLEAR * se) if np.isfinite(se) else gap < 0


def _in_order(results: Mapping[str, MethodResult], best: str) -> list[tuple[str, MethodResult]]:
    """Return the method to rely on, then the others, the least error first."""
    others = [name for name in in_order(results, results[best]) if name != best]
    return [(name, results[name]) for name in (best, *others)]


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
        The method to rely on: the one of least error, or the leaders combined.
    margin : float
        Difference in error that does not matter, in the units of the error.
    margin_in_words : str
        What the margin is.
    rivals : tuple of Rival
        The other methods, the least error first.
    simpler : str or None
        The simplest method whose error is above the winner's by no more than the margin, as far as
        the data can tell, and which was fitted to all training rows; None where there is none.
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
    level = _simplicity(results[best].card)
    rivals = []
    for method, result in _in_order(results, best):
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
                _simplicity(result.card) < level,
                _why(result) if _simplicity(result.card) < level else "",
                bool(gap.upper <= allowed),
            )
        )
    near = [
        rival
        for rival in rivals
        if rival.simpler and rival.within_margin and not results[rival.method].partial
    ]
    simpler = min(
        near,
        key=lambda rival: (_simplicity(results[rival.method].card), rival.difference),
        default=None,
    )
    return Verdict(
        best,
        allowed,
        f"{100 * margin:g} % of the baseline's error",
        tuple(rivals),
        None if simpler is None else simpler.method,
    )


def _simplicity(card: Card) -> int:
    if card.method == LAST:
        return len(_SIMPLE) + 1
    topic = card.topic
    return _SIMPLE.index(topic) if topic in _SIMPLE else len(_SIMPLE)


_WHY = {
    "linear": "its coefficients can be read",
    "classify": "a few numbers describe its classes",
    "tree": "it is one tree whose tests can be read",
    "smooth": "its curves can be drawn",
    "neighbors": "it points to the rows that it predicts from",
    "online": "it is one sum of the inputs",
}


def _why(result: MethodResult) -> str:
    return _WHY.get(result.card.topic, "it is one method, not a mixture of several")
