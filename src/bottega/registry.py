"""The catalogue: every method of the package, by its card."""

from functools import cache
from typing import Any

from bottega.core.cards import CAPABILITIES, Card
from bottega.core.discover import estimator_classes
from bottega.core.errors import InputError, did_you_mean
from bottega.core.estimator import Estimator
from bottega.core.frames import make_frame

__all__ = ["cards", "catalogue", "estimators", "methods"]

# What a card tells, in the order in which it is shown.
FIELDS = (
    *("method", "title", "task", "estimator", "knob", "takes", *CAPABILITIES, "cost"),
    *("strengths", "weaknesses", "assumptions", "source"),
)


@cache
def estimators() -> tuple[type[Estimator], ...]:
    """Return every public class that has a card, topic by topic."""
    return estimator_classes()


def cards(**wanted: Any) -> list[Card]:
    """Return the cards that have the wanted values in the named fields.

    Examples
    --------
    >>> [card.method for card in cards(task="classification", wide=True, weights=False)]
    ['kernel_perceptron', 'neighbors', 'parzen']
    """
    for name in wanted:
        if not hasattr(Card, name) and name not in FIELDS and name not in Card.__annotations__:
            raise InputError(f"A card has no field {name!r}.{did_you_mean(name, FIELDS)}")
    return [
        each.card
        for each in estimators()
        if all(getattr(each.card, name) == value for name, value in wanted.items())
    ]


def methods(task: str) -> dict[str, type[Estimator]]:
    """Return the classes for a task by the short name of their method, the baseline first."""
    return {each.card.method: each for each in estimators() if each.card.task == task}


def public_name(estimator_class: type[Estimator]) -> str:
    """Return the name under which a class is imported: its topic's, not its module's."""
    return f"bottega.{estimator_class.card.topic}.{estimator_class.__name__}"


def in_words(card: Card, name: str) -> Any:
    """Return a field of a card as a text, a number or a truth value."""
    if name == "estimator":
        return public_name(card.estimator)
    value = getattr(card, name)
    if name == "takes":
        return ", ".join(sorted(value))
    return " ".join(value) if isinstance(value, tuple) else value


def catalogue(like: Any = None) -> Any:
    """Return the catalogue as a data frame, one row per class.

    Examples
    --------
    >>> catalogue().columns.tolist()[:4]
    ['method', 'title', 'task', 'estimator']
    """
    return make_frame(
        {name: [in_words(each.card, name) for each in estimators()] for name in FIELDS}, like
    )
