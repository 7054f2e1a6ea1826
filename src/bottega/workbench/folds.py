"""The models of the outer folds: kept ones where there are, fitted again where not."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from bottega.core.errors import BottegaError
from bottega.core.folds import Fold
from bottega.core.frames import take_rows
from bottega.data import Table
from bottega.risk.estimate.nested_engine import Part
from bottega.workbench.results import MethodResult
from bottega.workbench.sizes import SMALL

__all__ = ["FoldModels", "thinned"]

_LEAST_EXPLAINED = 200
_TRIED = 200  # rows that tell how long a prediction takes
_TIMES = 5  # how often each column of a row is shuffled by an explanation


@dataclass(frozen=True, eq=False)
class FoldModels:
    """Gives the models that the outer folds judged, with the rows they were judged on.

    Attributes
    ----------
    table : Table
        The training rows.
    folds : list of (train, test)
        The outer folds.
    procedures : dict of str to procedure
        How each method is run.
    kept : dict of str to dict of int to model
        Models by method and fold.
    """

    table: Table
    folds: list[Fold]
    procedures: Mapping[str, Any]
    kept: Mapping[str, Mapping[int, Any]]

    def of(self, method: str, result: MethodResult) -> list[tuple[int, Any]]:
        """Return number and model of each fold of a method."""
        numbers = list(result.nested.folds)
        if method not in self.kept and self.table.n_rows > SMALL:
            numbers = numbers[:2]
        if method in self.procedures:
            return [(k, self._model(method, k)) for k in numbers]
        found = []
        for place, k in enumerate(numbers):  # a stack of other methods
            weights = result.nested.settings[place]
            if not weights or result.model is None:
                raise BottegaError(f"The models of {method!r} in the folds are not available.")
            last = result.model.steps[-1][1]
            given = last.get_params(deep=False)
            given |= {"estimators": [self._model(name, k) for name in weights]}
            given |= {"weights": list(weights.values())}
            found.append((k, Pipeline([result.model.steps[0], ("model", type(last)(**given))])))
        return found

    def _model(self, method: str, k: int) -> Any:
        model = self.kept.get(method, {}).get(k)
        if model is None:
            train, test = self.folds[k]
            with warnings.catch_warnings():  # the comparison has told what there was to tell
                warnings.simplefilter("ignore")
                model = self.procedures[method].fit(Part((0, (k,)), train, (test,))).model
        return model

    def fits(self, method: str, result: MethodResult) -> list[tuple[Any, Any, Any, Any]]:
        """Return model, inputs, responses and weights of the rows held out, for each fold."""
        found = []
        for k, model in self.of(method, result):
            test = self.folds[k][1]
            weight = None if self.table.weight is None else self.table.weight[test]
            found.append(
                (model, take_rows(self.table.X, test), np.asarray(self.table.y)[test], weight)
            )
        return found

    def rows(self, method: str, result: MethodResult) -> list[Any]:
        """Return the positions, among the training rows, of the rows of each fold in `fits`."""
        count = len(result.nested.folds)
        if method not in self.kept and self.table.n_rows > SMALL:
            count = min(count, 2)
        return [self.folds[k][1] for k in result.nested.folds[:count]]


def thinned(
    fits: list[tuple[Any, Any, Any, Any]], rows: list[Any], seconds: float | None, seed: int
) -> tuple[list[tuple[Any, Any, Any, Any]], list[Any]]:
    """Return models with fewer of their held-out rows, where all would take too long to explain.

    Parameters
    ----------
    fits, rows : list
        What `FoldModels.fits` and `FoldModels.rows` return.
    seconds : float or None
        Time that an explanation may take.
    seed : int
        Seed of the choice of rows.
    """
    total = sum(map(len, rows))
    most = min(total, SMALL)
    if seconds is not None and most:
        model, X, _, _ = fits[0]
        some = take_rows(X, np.arange(min(_TRIED, len(rows[0]))))
        start = perf_counter()
        model.predict(some)
        one = (perf_counter() - start) / max(len(some), 1)
        most = int(min(most, seconds / (one * (_TIMES * some.shape[1] + 10))))
    most = max(most, min(total, _LEAST_EXPLAINED))
    if most >= total:
        return fits, rows
    rng = np.random.default_rng(seed)
    found, kept = [], []
    for (model, X, y, weight), held in zip(fits, rows, strict=True):
        count = max(2, round(len(held) * most / total))
        at = np.sort(rng.permutation(len(held))[:count])
        own = None if weight is None else weight[at]
        found.append((model, take_rows(X, at), y[at], own))
        kept.append(held[at])
    return found, kept
