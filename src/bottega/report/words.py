"""What the numbers of a comparison mean, in sentences."""

import re
from typing import Any

import numpy as np

from bottega.core.path import ESTIMATES
from bottega.plot._knob import setting_in_words
from bottega.plot.theme import number
from bottega.workbench.results import chosen_in_words

__all__ = [
    "RULES",
    "certificate_sentence",
    "data_name",
    "duration",
    "error_in_words",
    "fold_sentence",
    "for_readers",
    "percent",
    "picked_sentence",
    "sentence",
    "verdict",
]

RULES = {
    "min": "the least honest error",
    "one_se": "the one-standard-error rule: the simplest model whose error is within one standard "
    "error of the least",
}


def percent(share: float) -> str:
    """Write a share: one digit after the point below ten percent.

    Examples
    --------
    >>> percent(0.0512), percent(0.493)
    ('5.1%', '49%')
    """
    text = f"{100 * share:.1f}%" if abs(share) < 0.0995 else f"{100 * share:.0f}%"
    return text.replace("-", "−")


def duration(seconds: float) -> str:
    """Write a time for a reader.

    Examples
    --------
    >>> duration(0.0042), duration(3.21), duration(200)
    ('4 ms', '3.2 s', '3 min 20 s')
    """
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s"


def took(comparison: Any) -> str:
    """Write how long a comparison took, and apart from it what is done once on a machine."""
    once = comparison.preparing_seconds
    added = f", and {duration(once)} to prepare kernels" if once >= 0.1 else ""
    return duration(comparison.seconds) + added


def data_name(source: Any) -> str:
    """Return the data's name without the folders that led to it.

    Examples
    --------
    >>> data_name("~/data/houses.csv"), data_name(None)
    ('houses.csv', 'the data')
    """
    last = re.split(r"[\\/]", str(source or "").rstrip("\\/"))[-1].strip()
    return (last if len(last) <= 80 else last[:79] + "…") or "the data"


def error_in_words(error: float, loss: str) -> str:
    """Say an error rate as a percentage and any other mean loss as a number."""
    if loss == "misclassification":
        return f"{percent(error)} wrong"
    return f"mean {loss} {number(error)}"


def verdict(comparison: Any, board: list[dict[str, Any]]) -> list[str]:
    """Return the three sentences that a reader in a hurry needs."""
    return [
        _winner(comparison),
        _runner_up(comparison, board),
        certificate_sentence(comparison),
    ]


def _winner(comparison: Any) -> str:
    best = comparison.results[comparison.best_method]
    says = error_in_words(best.error, comparison.loss)
    spread = (
        percent(best.std_error)
        if comparison.loss == "misclassification"
        else number(float(best.std_error), 3)
    )
    baseline = comparison.results.get("baseline")
    if comparison.best_method == "baseline":
        if len(comparison.results) == 1:
            return f"Only the baseline was run ({best.card.title.lower()}): {says}."
        return (
            f"No method beat the baseline, which ignores every input ({says}): "
            "these columns, as they are, say nothing reliable about the target."
        )
    sentence = f"{best.card.title} has the least error: {says} (± {spread}) on rows it had not seen"
    if baseline is None or not baseline.error > 0:
        return sentence + "."
    gain = 1 - best.error / baseline.error
    return (
        f"{sentence}, {percent(gain)} less than the baseline, which ignores every input "
        f"({error_in_words(baseline.error, comparison.loss)})."
    )


def _runner_up(comparison: Any, board: list[dict[str, Any]]) -> str:
    others = [row for row in board if row["method"] != comparison.best_method]
    if not others:
        return "There is no other method to compare it with."
    second = others[0]
    low, high = second["difference_low"], second["difference_high"]
    name = second["title"]
    as_share = comparison.loss == "misclassification"
    gap, low_text, high_text = (
        f"{100 * v:.1f}".replace("-", "−") if as_share else number(float(v), 3)
        for v in (second["difference"], low, high)
    )
    unit = " percentage points" if as_share else ""
    if not (np.isfinite(low) and np.isfinite(high)):
        return f"The runner-up, {name}, is {gap}{unit} behind; no interval could be computed."
    interval = f"the 95% interval for the difference, {low_text} to {high_text}{unit},"
    if low > 0:
        return (
            f"The runner-up, {name}, is {gap}{unit} behind, and {interval} excludes zero: "
            "the lead is clear."
        )
    return (
        f"The runner-up, {name}, is {gap}{unit} behind, but {interval} includes zero: these data "
        "cannot tell the two apart, so the simpler or faster one is as good a choice."
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
    bounds = _bounds(certificate, comparison.loss)
    says = (
        f"{percent(certificate.estimate)} of its predictions are wrong"
        if comparison.loss == "misclassification"
        else f"its mean {comparison.loss} is {number(float(certificate.estimate))}"
    )
    rows = "that took no part in fitting or choosing"
    if comparison.looks > 1:
        rows = f"that have been opened {comparison.looks} times"
    return (
        f"On {certificate.n:,} locked rows {rows}, "
        f"{says}; {bounds} with probability "
        f"{'about' if certificate.approximate else 'at least'} {100 * certificate.confidence:g}%."
    )


def _bounds(certificate: Any, loss: str) -> str:
    write = percent if loss == "misclassification" else number
    low, high = float(certificate.lower), float(certificate.upper)
    if np.isinf(low):
        return f"the true error is at most {write(high)}"
    if np.isinf(high):
        return f"the true error is at least {write(low)}"
    return f"the true error lies between {write(low)} and {write(high)}"


def sentence(text: str) -> str:
    """Return a note as a sentence.

    Examples
    --------
    >>> sentence("the rows were opened before: give again=True for a second look")
    'The rows were opened before: ask for a second look.'
    """
    text = for_readers(text)
    return f"{text[:1].upper()}{text[1:]}."


def for_readers(text: str) -> str:
    """Return a text without the Python arguments that readers of the page cannot give."""
    text = text.replace("give again=True for a second look", "ask for a second look")
    return re.sub(r"; give \w+= [^;.]*", "", text)


def picked_sentence(path: Any, picked: int) -> str:
    """Say which model of a path was picked, and how good it seemed."""
    estimate = ESTIMATES.get(path.estimate, path.estimate)
    size = "" if path.df is None else f"{path.df[picked]:,.1f} degrees of freedom, "
    return (
        f"Of {len(path):,} values, {setting_in_words(path, picked)} was picked "
        f"({size}{error_in_words(float(path.error[picked]), path.loss)} by {estimate})."
    )


def fold_sentence(fold_settings: Any, picked: Any) -> str:
    """Say what the outer folds picked of the knobs in `picked`, and whether they agree."""
    if not picked or not any(fold_settings):
        return ""
    known = [setting for setting in fold_settings if setting]
    shown = [chosen_in_words({name: setting[name] for name in picked}) for setting in known]
    if len(set(shown)) == 1:
        return f"Each of the {len(shown)} outer folds picked {shown[0]}: a stable choice."
    if len(picked) == 1:
        ((knob, value),) = picked.items()
        values = ", ".join(number(setting[knob]) for setting in known)
        return (
            f"The {len(shown)} outer folds picked {knob} = {values}; on all training rows it is "
            f"{number(value)}."
        )
    return (
        f"The {len(shown)} outer folds picked {'; '.join(shown)}; on all training rows it is "
        f"{chosen_in_words(picked)}."
    )
