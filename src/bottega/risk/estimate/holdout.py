"""Tuning by one held-out part: choose on it, then fit again to all rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from bottega.core.base import Tuned
from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.params import Real
from bottega.core.smoother import mean_and_se
from bottega.core.typing import Array, FloatArray
from bottega.plot import lines_chart
from bottega.risk.estimate.held_out import (
    RowLosses,
    check_rows,
    fit_rows,
    rows_of,
    run_fits,
    task_of,
)

__all__ = ["Holdout", "holdout"]


@dataclass(frozen=True)
class Holdout:
    """A value chosen on a held-out part, and the model fitted with it to all rows.

    Attributes
    ----------
    knob : str
        Name of the parameter, or names joined by commas.
    values : list
        The values tried; for a knob of ours the simplest model first.
    errors, errors_se : ndarray
        Mean loss on the held-out part, and its standard error.
    best : int
        Position of the chosen value.
    model : estimator
        Fitted to all rows with the chosen value.
    n_train, n_dev : int
        Rows fitted to, and rows held out, while choosing.
    loss : str
        Name of the loss.
    """

    knob: str
    values: list[Any]
    errors: FloatArray
    errors_se: FloatArray
    best: int
    model: Any = field(repr=False)
    n_train: int
    n_dev: int
    loss: str

    @property
    def value(self) -> Any:
        """The chosen value."""
        return self.values[self.best]

    @property
    def error(self) -> float:
        """Error of the chosen value on the held-out part: too low, being chosen for it."""
        return float(self.errors[self.best])

    def to_frame(self, like: Any = None) -> Any:
        """Return one row a value: its error on the held-out part and the standard error."""
        shown = [v if np.isscalar(v) else str(v) for v in self.values]
        chosen = np.arange(len(shown)) == self.best
        columns = {self.knob: shown, "error": self.errors, "error_se": self.errors_se}
        return make_frame({**columns, "chosen": chosen}, like)

    def plot(self) -> Any:
        """Draw the error on the held-out part against the values tried, in their order."""
        m = len(self.values)
        return lines_chart(
            np.arange(1, m + 1),
            {"held-out part": self.errors, "chosen": np.full(m, self.error)},
            x_title=f"values of {self.knob}, in order",
            y_title=self.loss,
            title="Tuning by a held-out part",
            subtitle=f"{self.knob} = {self.value}: {self.loss} {self.error:.4g}",
            dashed=["chosen"],
        )

    def __str__(self) -> str:
        return (
            f"{self.knob} = {self.value} of {len(self.values)} values: {self.loss} "
            f"{self.error:.4g} on {self.n_dev:,} held-out rows; the model is fitted to all "
            f"{self.n_train + self.n_dev:,}"
        )


def holdout(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    values: Any = None,
    dev: float = 0.25,
    rule: str = "min",
    loss: Any = None,
    seed: int = 0,
) -> Holdout:
    r"""Tune on a held-out part, then fit to all rows with the value that was best there.

    A part :math:`S_{dev}` of the rows is held out; each value :math:`\theta \in \Theta_0` is
    fitted to the rest, the one with the least error on :math:`S_{dev}` is chosen, and the
    procedure is run with it on **all** rows (A49).

    Parameters
    ----------
    estimator : estimator
        One with a knob, or any other with `values` a mapping of parameters to lists.
    X : array-like or data frame of shape (n, p)
        Inputs.
    y : array-like of shape (n,)
        Responses.
    values : array-like or mapping, optional
        Values of the knob; its own grid by default. ``{"max_depth": [1, 2, 3]}`` for parameters
        by name.
    dev : float
        Share of the rows held out; classes keep their shares.
    rule : {"min", "one_se"}
        The least error, or the simplest model within one standard error of it (knobs only: the
        order of a mapping says nothing about what is simple).
    loss : str, Loss or callable, optional
        As in `cross_validate`.
    seed : int
        Seed of the split.

    Returns
    -------
    Holdout

    Notes
    -----
    One fit a value, or the price of the path for methods of ours, and one more to all rows. The
    error of the chosen value is the least of several and so too low; judge the model on further
    rows, or the whole procedure by `nested_cv`. With few rows a single split is a gamble (D43).

    Examples
    --------
    >>> from bottega.data import make
    >>> from bottega.neighbors import NearestNeighborsRegressor
    >>> sample = make.sine(200)
    >>> found = holdout(NearestNeighborsRegressor(), sample.X, sample.y, values=[1, 5, 20, 80])
    >>> found.value, found.model.search_.n
    (20, 200)
    """
    X, y = check_rows(X, y)
    Real(0, 1, open_low=True, open_high=True).check("holdout", "dev", dev)
    if rule not in ("min", "one_se"):
        raise ParameterError(f"rule={rule!r} is not allowed; use 'min' or 'one_se'.")
    task = task_of(estimator)
    row_losses = RowLosses(loss, task)
    train, held = _split(y, float(dev), task == "classification", seed)
    if isinstance(values, Mapping):
        if rule != "min":
            raise ParameterError("rule='one_se' needs an order of simplicity; use 'min'.")
        settings = list(ParameterGrid(values))
        names = list(values)
        shown = [each[names[0]] if len(names) == 1 else each for each in settings]
        knob = ", ".join(names)
        X_held = rows_of(X, held)

        def predicted(setting: dict[str, Any]) -> Array:
            model = clone(estimator).set_params(**setting)
            return np.asarray(fit_rows(model, X, y, train).predict(X_held))

        losses = [
            row_losses(y[held], each) for each in run_fits(predicted, settings, estimator, "values")
        ]
    elif isinstance(estimator, Tuned):
        knob = estimator.knob
        shown, columns = _along_path(estimator, X, y, train, held, values)
        losses = [row_losses(y[held], column) for column in columns]
        settings = [{knob: value} for value in shown]
    else:
        raise InputError(
            f"{type(estimator).__name__} has no knob that is known here: give the values to try "
            "by name, as values={'parameter': [...]}."
        )
    errors, errors_se = mean_and_se(np.column_stack(losses))
    best = int(np.argmin(errors))
    if rule == "one_se":
        best = int(np.flatnonzero(errors <= errors[best] + errors_se[best])[0])
    model = clone(estimator).set_params(**settings[best]).fit(X, y)
    return Holdout(
        knob=knob,
        values=shown,
        errors=errors,
        errors_se=errors_se,
        best=best,
        model=model,
        n_train=len(train),
        n_dev=len(held),
        loss=row_losses.name,
    )


def _split(y: Array, dev: float, classifier: bool, seed: int) -> tuple[Any, Any]:
    """Return the rows to train on and the rows held out, at least one of each."""
    n = len(y)
    if n < 2:
        raise InputError("Holding out a part needs at least 2 rows; got 1.")
    order = np.random.default_rng(seed).permutation(n)
    place = np.arange(n)
    if classifier:  # class after class, so that a share of the places is a share of each class
        codes = np.unique(y, return_inverse=True)[1]
        order = order[np.argsort(codes[order], kind="stable")]
        rank = place - np.searchsorted(codes[order], codes[order])
        size = np.bincount(codes)[codes[order]]
        place = np.argsort(np.argsort((rank + 0.5) / size, kind="stable"))
    count = min(max(round(dev * n), 1), n - 1)
    held = np.sort(order[place < count])
    return np.setdiff1d(np.arange(n), held), held


def _along_path(
    estimator: Tuned, X: Any, y: Array, train: Any, held: Any, values: Any
) -> tuple[list[Any], Array]:
    """Return the values, simplest first, and what each predicts for the held-out rows."""
    curve = estimator.path(rows_of(X, train), y[train], values=values)
    worker = clone(estimator)
    X_checked, y_checked, _ = worker._validate(X, y, None)
    said = worker._path_predictions(
        X_checked[train], y_checked[train], None, curve.values, X_checked[held]
    )
    if task_of(estimator) == "classification":  # the steps of a path work on class codes
        said = np.asarray(worker.classes_)[said]
    return [v.item() if isinstance(v, np.generic) else v for v in curve.values], said.T
