"""Methods are found, not listed: every class with a card in a public module of a topic folder."""

from importlib import import_module
from inspect import isabstract
from pathlib import Path as FilePath
from types import ModuleType

import bottega
from bottega.core.estimator import Estimator

__all__ = ["estimator_classes", "topics"]

_MARK = "Card("  # only modules that declare a card are imported


def topics() -> list[str]:
    """Return the names of the subpackages that hold methods, core (the baselines) first."""
    found = {file.parent.name for folder in bottega.__path__ for file in _declaring(folder)}
    return sorted(found, key=lambda name: (name != "core", name))


def estimator_classes() -> tuple[type[Estimator], ...]:
    """Return every class that has a card of its own, topic by topic, in the order of names."""
    found: list[type[Estimator]] = []
    for topic in topics():
        package = import_module(f"bottega.{topic}")
        modules = sorted({file.stem for folder in package.__path__ for file in _cards_in(folder)})
        for name in modules:
            found += _classes(import_module(f"bottega.{topic}.{name}"))
    return tuple(found)


def _declaring(folder: str) -> list[FilePath]:
    return [
        file
        for place in sorted(FilePath(folder).iterdir())
        if place.is_dir() and (place / "__init__.py").exists()
        for file in _cards_in(place)
    ]


def _cards_in(folder: str | FilePath) -> list[FilePath]:
    return [
        file
        for file in sorted(FilePath(folder).glob("*.py"))
        if not file.name.startswith("_") and _MARK in file.read_text(encoding="utf-8")
    ]


def _classes(module: ModuleType) -> list[type[Estimator]]:
    return [
        each
        for each in vars(module).values()
        if isinstance(each, type)
        and issubclass(each, Estimator)
        and each.__module__ == module.__name__
        and "card" in vars(each)
        and not isabstract(each)
    ]
