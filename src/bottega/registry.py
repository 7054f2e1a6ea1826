"""The catalogue: every method of the package, by its card."""

from dataclasses import asdict, fields
from functools import cache
from importlib import import_module
from typing import Any

from bottega.core.base import Estimator
from bottega.core.cards import CAPABILITIES, Card
from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import make_frame

__all__ = ["TOPICS", "cards", "catalogue", "estimators", "methods"]

TOPICS = ("core", "linear", "neighbors", "smooth", "tree", "ensemble", "online")


@cache
def estimators() -> tuple[type[Estimator], ...]:
    """Return every public class that has a card, in the order of the topics."""
    found: list[type[Estimator]] = []
    for topic in TOPICS:
        module = import_module(f"bottega.{topic}")
        for name in module.__all__:
            public = getattr(module, name)
            if isinstance(public, type) and issubclass(public, Estimator):
                found.append(public)
    return tuple(found)


def cards(**wanted: Any) -> list[Card]:
    """Return the cards that have the wanted values in the named fields.

    Examples
    --------
    >>> [card.method for card in cards(task="classification", wide=True, weights=False)]
    ['neighbors', 'parzen', 'stacking', 'online_gradient_descent', 'perceptron']
    """
    known = [field.name for field in fields(Card)]
    for name in wanted:
        if name not in known:
            raise InputError(f"A card has no field {name!r}.{did_you_mean(name, known)}")
    return [
        each.card
        for each in estimators()
        if all(getattr(each.card, name) == value for name, value in wanted.items())
    ]


def methods(task: str) -> dict[str, type[Estimator]]:
    """Return the classes for a task by the short name of their method."""
    return {each.card.method: each for each in estimators() if each.card.task == task}


def catalogue(like: Any = None) -> Any:
    """Return the catalogue as a data frame, one row a class.

    Examples
    --------
    >>> catalogue().columns.tolist()[:4]
    ['method', 'title', 'task', 'estimator']
    """
    columns: dict[str, list[Any]] = {name: [] for name in ("method", "title", "task", "estimator")}
    rest = ("knob", *CAPABILITIES, "cost", "strengths", "weaknesses", "source")
    columns |= {name: [] for name in rest}
    for each in estimators():
        card = asdict(each.card)
        for name in columns:
            if name == "estimator":
                columns[name].append(f"{each.__module__.rsplit('.', 1)[0]}.{each.__name__}")
            elif name in ("strengths", "weaknesses"):
                columns[name].append(" ".join(card[name]))
            else:
                columns[name].append(card[name])
    return make_frame(columns, like)
