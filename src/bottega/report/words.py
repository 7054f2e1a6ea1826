"""Numbers and settings of a comparison as a reader meets them."""

import re
from typing import Any

from bottega.core.errors import BottegaError
from bottega.core.losses import ZERO_ONE
from bottega.core.path import ESTIMATES
from bottega.plot.theme import number
from bottega.workbench.results import chosen_in_words

__all__ = [
    "RULES",
    "data_name",
    "duration",
    "fold_sentence",
    "for_readers",
    "limits_in_words",
    "listed",
    "loss_in_words",
    "other_pick_sentence",
    "percent",
    "picked_sentence",
    "sentence",
    "took",
]

RULES = {
    "min": "the least honest error",
    "one_se": "the one-standard-error rule: the simplest model whose error is within one standard "
    "error of the least",
}
_OTHER_RULE = {
    "min": ("one_se", "the one-standard-error rule"),
    "one_se": ("min", "the least error"),
}


def percent(share: float) -> str:
    """Write a share: one digit after the point below ten percent, and close to all.

    Examples
    --------
    >>> percent(0.0512), percent(0.493), percent(0.05)
    ('5.1%', '49%', '5.0%')
    >>> percent(0.9961), percent(0.99999), percent(1)
    ('99.6%', 'over 99.9%', '100%')
    """
    if 0.995 <= share < 1:  # nearly all is not all
        return f"{100 * share:.1f}%" if share < 0.9995 else "over 99.9%"
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
    >>> data_name("~/data/houses.csv"), data_name("/data/houses/*.parquet"), data_name(None)
    ('houses.csv', 'houses/*.parquet', 'the data')
    """
    parts = re.split(r"[\\/]", str(source or "").rstrip("\\/"))
    last = "/".join(parts[-2:] if parts[-1].startswith("*") else parts[-1:]).strip()
    return (last if len(last) <= 80 else last[:79] + "…") or "the data"


def listed(parts: list[str]) -> str:
    """Write several things as one.

    Examples
    --------
    >>> listed(["age"]), listed(["age", "sex", "town"])
    ('age', 'age, sex and town')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def loss_in_words(error: float, loss: str) -> str:
    """Say a mean loss of rows: misclassification as a percentage, any other as a number."""
    if loss == ZERO_ONE.title:
        return f"{percent(error)} wrong"
    return f"mean {loss} {number(error)}"


def sentence(text: str) -> str:
    """Return a note as a sentence.

    Examples
    --------
    >>> sentence("the rows were opened before: give again=True for a second look")
    'The rows were opened before: ask for a second look.'
    """
    text = for_readers(text).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def for_readers(text: str) -> str:
    """Return a text without the Python arguments that readers of the page cannot give."""
    text = text.replace("give again=True for a second look", "ask for a second look")
    return re.sub(r"; give \w+= [^;.]*", "", text)


def limits_in_words(intervals: Any, level: float) -> str:
    """Say what calibrated the limits of new rows, and what they promise."""
    told = intervals.in_words(level).replace(": a ", "; a ", 1)
    if told.startswith("split,"):
        told = told.replace("split,", "split conformal,", 1)
    else:  # the least that could be is far from what is usual
        told += f" whatever the model, and usually about {percent(level)}"
    return f"limits for new rows, level {percent(level)}: {told}"


def picked_sentence(path: Any, picked: int) -> str:
    """Say which model of a path was picked, and how good it seemed."""
    estimate = ESTIMATES.get(path.estimate, path.estimate)
    size = "" if path.df is None else f"{path.df[picked]:,.1f} degrees of freedom, "
    return (
        f"Of {len(path):,} values, {_setting_in_words(path, picked)} was picked "
        f"({size}{loss_in_words(float(path.error[picked]), path.loss)} by {estimate})."
    )


def other_pick_sentence(path: Any, select: str) -> str:
    """Say what the other common rule would have picked, where that is another model."""
    if select not in _OTHER_RULE:
        return ""
    rule, name = _OTHER_RULE[select]
    try:
        other = path.best(rule)
    except BottegaError:  # the path has no standard errors, or no order from simple to complex
        return ""
    if other == path.best(select):
        return ""
    return (
        f"By {name} it would be {_setting_in_words(path, other)} "
        f"({loss_in_words(float(path.error[other]), path.loss)})."
    )


def _setting_in_words(path: Any, i: int) -> str:
    """Write what sets a model of a path apart from the others."""
    return chosen_in_words({name: path.settings[i][name] for name in path.varying})


def fold_sentence(fold_settings: Any, picked: Any) -> str:
    """Say what the outer folds picked of the knobs in `picked`, and whether they agree."""
    if not picked or not any(fold_settings):
        return ""
    known = [setting for setting in fold_settings if setting and picked.keys() <= setting.keys()]
    if not known:
        return ""
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
