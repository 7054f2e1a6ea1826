"""The verdict: the few sentences that a reader in a hurry needs, and no more than the data say."""

from typing import Any

import numpy as np

from bottega.core.losses import ZERO_ONE
from bottega.plot.theme import number
from bottega.report.words import as_difference, error_in_words, is_share, percent, sentence

__all__ = ["certificate_sentence", "verdict"]


def verdict(comparison: Any, board: list[dict[str, Any]]) -> list[str]:
    """Return the sentences: the winner, its lead, a simpler method, the locked rows."""
    said = [
        _winner(comparison, board),
        _runner_up(comparison, board),
        _simpler(comparison),
        certificate_sentence(comparison),
    ]
    return [each for each in said if each]


def _winner(comparison: Any, board: list[dict[str, Any]]) -> str:
    best, measure = comparison.results[comparison.best_method], comparison.measure
    title = next(row["title"] for row in board if row["method"] == comparison.best_method)
    says = error_in_words(best.error, measure)
    if comparison.best_method == "baseline":
        if len(comparison.results) == 1:
            return f"Only the baseline was run ({title.lower()}): {says}."
        return (
            f"No method beat the baseline, which ignores every input ({says}): "
            "these columns, as they are, say nothing reliable about the target."
        )
    spread = percent(best.std_error) if is_share(measure) else number(float(best.std_error), 3)
    has = f"the best {measure.shown}" if measure.shown else "the least error"
    told = f"{title} has {has}: {says} (± {spread}) on rows it had not seen"
    baseline = comparison.results.get("baseline")
    if baseline is None or not baseline.error > 0:
        return told + "."
    gain = percent(1 - best.error / baseline.error)
    less = f"{gain} less {'error ' if measure.shown else ''}than the baseline"
    return f"{told}, {less}, which ignores every input ({error_in_words(baseline.error, measure)})."


def _runner_up(comparison: Any, board: list[dict[str, Any]]) -> str:
    others = [
        row
        for row in board
        if row["method"] != comparison.best_method and not comparison.results[row["method"]].partial
    ]
    if not others:
        return "There is no other method to compare it with."
    second, share = others[0], is_share(comparison.measure)
    unit = " percentage points" if share else ""
    gap, low, high = (
        as_difference(second[name], share)
        for name in ("difference", "difference_low", "difference_high")
    )
    name = second["title"]
    behind = f"The runner-up, {name}, is {gap}{unit} behind"
    if not (np.isfinite(second["difference_low"]) and np.isfinite(second["difference_high"])):
        return f"{behind}; no interval could be computed."
    if second["difference_low"] > 0:
        return (
            f"{behind}, and the 95% interval for the difference, {low} to {high}{unit}, excludes "
            "zero: the lead is clear."
        )
    better = as_difference(-second["difference_low"], share)
    return (
        f"{behind}, but these data cannot tell the two apart: on new rows {name} could be up to "
        f"{better}{unit} better or {high}{unit} worse (95% interval)."
    )


def _simpler(comparison: Any) -> str:
    """Say which simpler method is close, by the margin, to the winner; or that none surely is."""
    found = comparison.verdict
    share = is_share(comparison.measure)
    unit = " percentage points" if share else ""
    margin = f"{as_difference(found.margin, share)}{unit} ({found.margin_in_words})"
    if found.simpler is not None:
        rival = next(each for each in found.rivals if each.method == found.simpler)
        return (
            f"{rival.title} is simpler ({rival.why}), and with 95% confidence at most "
            f"{as_difference(rival.high, share)}{unit} worse. That is within {margin}, which "
            "counts as small here: it is a sound choice too."
        )
    near = [rival for rival in found.rivals if rival.simpler and rival.low <= 0]
    if not near:
        return ""
    rival = min(near, key=lambda each: each.high)
    return (
        f"Of the simpler methods {rival.title} ({rival.why}) comes nearest, but it could be up to "
        f"{as_difference(rival.high, share)}{unit} worse: more than {margin}, which would count as "
        "small."
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
    share = measure.loss == ZERO_ONE
    what = measure.title if measure.form == "root" else f"mean {measure.loss.title}"
    says = (
        f"{percent(certificate.estimate)} of its predictions are wrong"
        if share
        else f"its {what} is {number(float(certificate.estimate))}"
    )
    rows = "that took no part in fitting or choosing"
    if comparison.looks > 1:
        rows = f"that have been opened {comparison.looks} times"
    return (
        f"On {certificate.n:,} locked rows {rows}, "
        f"{says}; {_bounds(certificate, share)} with probability "
        f"{'about' if certificate.approximate else 'at least'} {100 * certificate.confidence:g}%."
    )


def _bounds(certificate: Any, share: bool) -> str:
    write = percent if share else number
    low, high = float(certificate.lower), float(certificate.upper)
    if np.isinf(low):
        return f"the true error is at most {write(high)}"
    if np.isinf(high):
        return f"the true error is at least {write(low)}"
    return f"the true error lies between {write(low)} and {write(high)}"
