"""Compile every kernel once, so that the first real fit is as fast as the second."""

import time
import warnings
from collections.abc import Iterator
from inspect import signature
from typing import Any

import numpy as np

from bottega.core import progress
from bottega.core.estimator import Estimator
from bottega.core.params import AnyOf, Choice
from bottega.registry import estimators

__all__ = ["warmup"]


def warmup() -> float:
    """Fit every method once in each of its variants on tiny data; return the seconds it took.

    The variants come from the declared parameters, so a new method needs no entry here. The
    compiled kernels are kept on disk for later processes.
    """
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    numbers, labels = X[:, 0] + rng.normal(size=24), np.repeat([0, 1, 2], 8)
    variants = [model for each in estimators() for model in _variants(each)]
    for done, model in enumerate(variants):
        y = {"classification": labels, "regression": numbers}.get(model.card.task)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                _use(model, X, y)
            except (AttributeError, TypeError, ValueError):
                continue  # a method or a variant for other data than numbers (text, say)
            finally:
                progress.report("compiling", done + 1, len(variants), type(model).__name__)
    return time.perf_counter() - start


def _use(model: Any, X: Any, y: Any) -> None:
    """Call what may run a kernel of its own."""
    if y is None:
        model.fit(X)
        return
    model.fit(X, y).predict(X)
    if "row_by_row" in signature(getattr(model, "partial_fit", _use)).parameters:
        model.partial_fit(X, y, row_by_row=True)


def _variants(estimator_class: type[Estimator]) -> Iterator[Any]:
    """Yield the default model and one for each named option of each parameter."""
    try:
        model = estimator_class()
    except TypeError:  # it cannot be made without arguments
        return
    yield model
    defaults = model.get_params(deep=False)
    for name, declared in estimator_class.params.items():
        parts = declared.parts if isinstance(declared, AnyOf) else (declared,)
        for part in parts:
            if isinstance(part, Choice):
                for option in part.options:
                    if option != defaults[name]:
                        yield estimator_class(**{name: option})
