"""Sentences that say the same of several subjects, as one."""

from collections.abc import Iterable

__all__ = ["together"]


def together(told: Iterable[tuple[str, str]]) -> list[str]:
    """Return sentences of subjects and what is told of each.

    Examples
    --------
    >>> together([("Ridge", "was cut."), ("Lasso", "was cut."), ("Tree", "was not.")])
    ['Ridge and Lasso were cut.', 'Tree was not.']
    """
    subjects: dict[str, list[str]] = {}
    for subject, rest in told:
        subjects.setdefault(rest, []).append(subject)
    return [_sentence(names, rest) for rest, names in subjects.items()]


def _sentence(names: list[str], rest: str) -> str:
    if len(names) == 1:
        return f"{names[0]} {rest}"
    verb, _, what = rest.partition(" ")
    many = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{many} {'were' if verb == 'was' else verb} {what}"
