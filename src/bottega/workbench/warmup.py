"""Compile every kernel once, so that the first real fit is as fast as the second."""

import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from inspect import signature
from itertools import zip_longest
from typing import Any

import numpy as np

from bottega._jit import beside
from bottega.core.errors import BottegaError
from bottega.core.estimator import Estimator
from bottega.core.parallel import available_cores, run_tasks
from bottega.core.params import AnyOf, Choice
from bottega.registry import estimators

__all__ = ["warmup"]

# The default of each method walks its path; its variants need not: their kernels are the same.
_FEW = {"n_estimators": 2, "n_terms": 1, "n_clusters": 2, "n_starts": 1, "n_init": 1, "cv": 2}


def warmup(n_jobs: int | None = None) -> float:
    """Fit every method once in each of its variants on tiny data; return the seconds it took.

    The variants come from the declared parameters, so a new method needs no entry here. Kernels
    are compiled in `n_jobs` processes, one per core by default, and kept on disk for later ones.
    """
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    numbers, labels = X[:, 0] + rng.normal(size=24), np.repeat([0, 1, 2], 8)
    texts = [f"clean air {i}" for i in range(24)]
    responses = {"classification": (labels, labels == 0), "regression": (numbers,)}

    def attempt(model: Any) -> None:
        of_texts = "text" in model.card.takes and "number" not in model.card.takes
        inputs: Any = texts if of_texts else X[:, : model.card.n_inputs].copy()
        for y in responses.get(model.card.task, (None,)):
            # Some classify two classes only, others take no numbers at all (images, say), or find
            # nothing to choose in so few rows: their kernels are compiled by then.
            with suppress(AttributeError, TypeError, ValueError, BottegaError):
                _use(model, inputs, y)
                break

    # One variant of each method, then the next: those of one method use the same kernels.
    rounds = zip_longest(*map(_variants, estimators()))
    variants = [model for models in rounds for model in models if model is not None]
    tasks = [(i, partial(attempt, model)) for i, model in enumerate(variants)]
    # More threads than processes: some of them wait for the same kernel.
    threads = 1 if n_jobs == 1 else 3 * available_cores()
    with warnings.catch_warnings(), beside(n_jobs):
        warnings.simplefilter("ignore")
        _, complete = run_tasks(tasks, n_jobs=threads, stage="compiling")
    if not complete:
        raise KeyboardInterrupt
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
    few = {name: few for name, few in _FEW.items() if defaults.get(name) is not None}
    for name, declared in estimator_class.params.items():
        parts = declared.parts if isinstance(declared, AnyOf) else (declared,)
        for part in parts:
            if isinstance(part, Choice):
                for option in part.options:
                    if option != defaults[name]:
                        yield estimator_class(**few | {name: option})
