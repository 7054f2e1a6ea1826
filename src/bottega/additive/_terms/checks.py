"""What the terms of an additive model may be given."""

from numbers import Integral, Real
from typing import Any

from bottega.core.errors import ParameterError

__all__ = ["check_choice", "check_columns", "check_count", "check_number", "checked_period"]


def check_columns(
    word: str, given: tuple[Any, ...], least: int = 1, most: int = 1
) -> tuple[Any, ...]:
    """Return the columns of a term, or refuse their number or their names."""
    if not least <= len(given) <= most:
        how = str(least) if least == most else f"{least} to {most}"
        raise ParameterError(f"{word}() takes {how} column{'s' * (most > 1)}; got {len(given)}.")
    for one in given:
        if isinstance(one, bool) or not isinstance(one, str | Integral):
            raise ParameterError(f"{word}({one!r}): a column is given by its name or its position.")
    if len(set(given)) < len(given):
        raise ParameterError(f"{word}() names a column twice: {', '.join(map(str, given))}.")
    return given


def check_choice(word: str, name: str, value: Any, known: tuple[str, ...]) -> None:
    """Refuse a word that is not known."""
    if value not in known:
        raise ParameterError(
            f"{word}({name}={value!r}) is not allowed; choose one of {', '.join(known)}."
        )


def check_count(word: str, name: str, value: Any, low: int) -> None:
    """Refuse what is no whole number, or one below `low`; None passes."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and (not whole or value < low):
        raise ParameterError(
            f"{word}({name}={value!r}) is not allowed; give a whole number, at least {low}."
        )


def check_number(word: str, name: str, value: Any, low: float, *, open_low: bool = False) -> None:
    """Refuse what is no finite number, or one below `low`; None passes."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if value is None:
        return
    if not number or not low <= value < float("inf") or (open_low and value == low):
        least = f"above {low:g}" if open_low else f"at least {low:g}"
        raise ParameterError(f"{word}({name}={value!r}) is not allowed; give a number {least}.")


def checked_period(period: Any, basis: str) -> tuple[float, float]:
    """Return where a cyclic term begins and ends."""
    if basis != "cyclic":
        raise ParameterError("smooth(period=...) is for basis='cyclic'.")
    try:
        start, end = (float(each) for each in period)
    except (TypeError, ValueError):
        start, end = 0.0, 0.0
    if not start < end:
        raise ParameterError(
            f"smooth(period={period!r}) is not allowed; give its start and its end."
        )
    return start, end
