"""The verdict: the few sentences that a reader in a hurry needs, and no more than the data say."""

from typing import Any

import numpy as np

from bottega.plot.theme import number
from bottega.report.units import Units, error_in_words, is_squared, units_of, units_of_loss
from bottega.report.words import listed, percent, sentence
from bottega.workbench.entrants import LAST

__all__ = ["certificate_sentence", "verdict"]

_NAMED = 3  # methods; more are counted
_PERFECT = 0.005  # share of the baseline's error below which an answer among the inputs is likely


def verdict(comparison: Any, board: list[dict[str, Any]]) -> list[str]:
    """Return the sentences: the winner and its lead, doubts, a simpler method, the locked rows."""
    told = [
        _winner(comparison, board),
        _too_good(comparison),
        _runner_up(comparison, board),
        _simpler(comparison),
        certificate_sentence(comparison),
    ]
    return [each for each in told if each]


def _winner(comparison: Any, board: list[dict[str, Any]]) -> str:
    best, measure, units = _winning(comparison)
    title = next(row["title"] for row in board if row["method"] == comparison.best_method)
    says = error_in_words(best.error, measure, units)
    if comparison.best_method == "baseline":
        if len(comparison.results) == 1:
            return f"Only the baseline was run ({title.lower()}): {says}."
        return (
            f"No method beat the baseline, which ignores every input ({says}): "
            "these columns, as they are, say nothing reliable about the target."
        )
    has = "the least error"
    if measure.shown:
        has, says = f"the best {measure.shown}", number(float(measure.value(best.error)), 3)
    ahead = [row for row in board if row["difference"] < 0]
    if not all(comparison.results[row["method"]].partial for row in ahead):
        has = "is the safest choice"
    else:
        of_those = " of the methods that were fitted to all training rows" if ahead else ""
        has = f"has {has}{of_those}"
    told = f"{title} {has}: {says}{_spread(best, measure, units)} on rows it had not seen"
    baseline = comparison.results.get("baseline")
    if baseline is None or not baseline.error > 0:
        return told + "."
    gain = percent(1 - best.error / baseline.error)
    less = f"{gain} less {'error ' if measure.shown else ''}than the baseline"
    other = error_in_words(baseline.error, measure, units)
    return (
        f"{told}, {less}, which ignores every input ({other}).{_typical(best, baseline, measure)}"
    )


def _spread(best: Any, measure: Any, units: Units) -> str:
    """Say the standard error; without one, as where no row is wrong, the limit on that side."""
    if np.isfinite(best.std_error):
        return f" (±\u00a0{units.spread(best.std_error)})"
    if not np.isfinite(best.upper):
        return ""
    confidence = f"with {100 * (1 - best.nested.delta):.12g}% confidence"
    if measure.shown:
        return f" (at least {number(float(measure.value(best.upper)), 3)} {confidence})"
    return f" (at most {units.error(best.upper)} {confidence})"


def _too_good(comparison: Any) -> str:
    """Ask whether the target is among the inputs, where almost no error is left."""
    best, baseline = comparison.results[comparison.best_method], comparison.results.get("baseline")
    if baseline is None or not best.error < _PERFECT * baseline.error:
        return ""
    return (
        "That is nearly perfect, which is rare: make sure that the inputs it uses most are known "
        f"before {comparison.target} is, and are not made from it."
    )


def _winning(comparison: Any) -> tuple[Any, Any, Units]:
    return comparison.results[comparison.best_method], comparison.measure, units_of(comparison)


def _typical(best: Any, baseline: Any, measure: Any) -> str:
    """Say an error of squares in the units of the target."""
    if not is_squared(measure):
        return ""
    misses = [number(float(np.sqrt(each.error)), 3) for each in (best, baseline)]
    return f" It is typically off by {misses[0]}, the baseline by {misses[1]}."


def _runner_up(comparison: Any, board: list[dict[str, Any]]) -> str:
    others = [row for row in board if row["method"] != comparison.best_method]
    if not others:
        return "There is no other method to compare it with."
    second, units = others[0], units_of(comparison)
    name, low, high = second["title"], second["difference_conf_low"], second["difference_conf_high"]
    found, on = comparison.results[second["method"]], ""
    if found.partial and found.folds_done < comparison.outer:
        on = f", judged on {found.folds_done} of {comparison.outer} folds"
    if second["difference"] < 0 and np.isfinite(high):
        why = (
            "The least of many errors is partly luck; a mean of the leaders depends on it less."
            if comparison.best_method == LAST
            else "There was no time to fit it to all training rows."
        )
        return (
            f"{name}{on and f' ({on[2:]})'} has {units.difference(-second['difference'])} less "
            "error here, which may be luck: on new rows it could be up to "
            f"{units.difference(-low)} better or {units.difference(high)} worse (95% interval). "
            f"{why}"
        )
    behind = f"The runner-up, {name}{on}, is {units.difference(second['difference'])} behind"
    if second["difference"] == 0:
        behind = f"The runner-up, {name}{on}, has the same error"
    if not (np.isfinite(low) and np.isfinite(high)):
        return f"{behind}; no interval could be computed."
    if low > 0:
        return (
            f"{behind}, and the 95% interval for the difference, {units.bare_difference(low)} to "
            f"{units.difference(high)}, excludes zero: the lead is clear{_but(others[1:])}."
        )
    return (
        f"{behind}, but these data cannot tell the two apart: on new rows {name} could be up to "
        f"{units.difference(-low)} better or {units.difference(high)} worse (95% interval)."
    )


def _but(others: list[dict[str, Any]]) -> str:
    """Name the methods further down, of fewer folds or larger spread, that may be as good."""
    unsure = [row["title"] for row in others if row["difference_conf_low"] < 0]
    if not unsure:
        return ""
    names = listed(unsure) if len(unsure) <= _NAMED else f"{len(unsure)} methods further down"
    return f" over it, but not over {names}, where the interval includes zero"


def _simpler(comparison: Any) -> str:
    """Say which simpler method is close, by the margin, to the winner; or that none surely is."""
    found, units = comparison.verdict, units_of(comparison)
    margin = f"{units.difference(found.margin)} ({found.margin_in_words.replace(' %', '%')})"
    if found.simpler is not None:
        rival = next(each for each in found.rivals if each.method == found.simpler)
        return (
            f"{rival.title} is simpler ({rival.why}), and with 95% confidence at most "
            f"{units.difference(rival.high)} worse. That is within {margin}, which counts as small "
            "here: it is a sound choice too."
        )
    near = [rival for rival in found.rivals if rival.simpler and rival.low <= 0]
    if not near:
        return ""
    rival = min(near, key=lambda each: each.high)
    return (
        f"Of the simpler methods {rival.title} ({rival.why}) comes nearest, but it could be up to "
        f"{units.difference(rival.high)} worse: more than {margin}, which would count as small."
    )


def certificate_sentence(comparison: Any) -> str:
    """Say what the locked test part says, or why it says nothing."""
    certificate = comparison.certificate
    if certificate is None:
        if comparison.looks_in_words:
            return sentence(comparison.looks_in_words)
        if comparison.n_test:
            return (
                f"The {comparison.n_test:,} locked test rows have not been opened, so there is no "
                "certificate yet."
            )
        return (
            "No rows were locked away for a final test, so there is no certificate: the errors "
            "above are what was used to choose the winner, and flatter it a little."
        )
    measure = comparison.measure
    error = float(certificate.estimate)
    units = units_of_loss(measure.loss, error)
    what = measure.title if measure.form == "root" else f"mean {measure.loss.title}"
    says = (
        f"{percent(error)} of its predictions are wrong"
        if units.share
        else f"its {what} is {units.error(error)}"
    )
    rows = "that took no part in fitting or choosing"
    if comparison.looks > 1:
        rows = f"that have been opened {comparison.looks} times"
    probability = (
        f"with probability {'about' if certificate.approximate else 'at least'} "
        f"{100 * certificate.confidence:.12g}%"
    )
    bounds = f"{_bounds(certificate, units)} {probability}"
    if certificate.is_without_limits:
        bounds = "all of them have the same loss, which sets no limit to that of other rows"
    score = _score_sentence(getattr(comparison, "score_certificate", None))
    return f"On {certificate.n:,} locked rows {rows}, {says}; {bounds}.{score}"


def _score_sentence(score: Any) -> str:
    """Say the measure that was asked for, where it is no mean of losses; empty otherwise."""
    if score is None:
        return ""
    low, middle, high = (
        number(float(each), 3) for each in (score.lower, score.estimate, score.upper)
    )
    if np.isinf(score.lower) or np.isinf(score.upper):
        return f" There its {score.quantity} is {middle}."
    return (
        f" There its {score.quantity} is {middle}, and that of new rows between {low} and {high} "
        f"with probability about {100 * score.confidence:.12g}%."
    )


def _bounds(certificate: Any, units: Units) -> str:
    low, high = float(certificate.lower), float(certificate.upper)
    if np.isinf(low):
        return f"the true error is at most {units.error(high)}"
    if np.isinf(high):
        return f"the true error is at least {units.error(low)}"
    told = units.error(low), units.error(high)
    if units.share and told[0] == told[1]:  # many rows: another digit tells them apart
        told = f"{100 * low:.2f}%", f"{100 * high:.2f}%"
    return f"the true error lies between {told[0]} and {told[1]}"
