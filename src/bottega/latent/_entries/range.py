"""The range of numbers whose squares are numbers."""

from bottega.core.errors import InputError

__all__ = ["refuse_out_of_range"]

_LARGEST = 1e152


def refuse_out_of_range(largest: float, what: str) -> None:
    """Refuse numbers, by the size of the largest, whose squares overflow or vanish.

    Examples
    --------
    >>> refuse_out_of_range(1e200, "X")
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: The largest number in X is 1e+200, and its square overflows: \
measure in larger units.
    """
    if largest == 0 or 1 / _LARGEST <= largest <= _LARGEST:
        return
    what_happens, units = ("overflows", "larger") if largest > 1 else ("vanishes", "smaller")
    raise InputError(
        f"The largest number in {what} is {largest:.3g}, and its square {what_happens}: measure in "
        f"{units} units."
    )
