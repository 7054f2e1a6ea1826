"""Tuning by one held-out part: choose on it, then fit again to all rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError
from bottega.core.folds import make_folds
from bottega.core.frames import make_frame, take_rows
from bottega.core.judge import mean_and_se
from bottega.core.params import Real
from bottega.core.tuned import Tuned, tune
from bottega.core.typing import Array, FloatArray
from bottega.plot import lines_chart
from bottega.risk.estimate.cross_validate import cross_validate
from bottega.risk.estimate.judged_rows import RowLosses, check_rows, fit_rows, run_fits, task_of

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
        """Return one row per value: its error on the held-out part and the standard error."""
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


@documented_like(cross_validate)
def holdout(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    values: Any = None,
    validation_fraction: float = 0.25,
    select: str = "min",
    loss: Any = None,
    random_state: Any = 0,
) -> Holdout:
    r"""Tune on a held-out part, then fit to all rows with the value that was best there.

    A part :math:`S_{dev}` of the rows is held out; each value :math:`\theta \in \Theta_0` is
    fitted to the rest, the one with the least error on :math:`S_{dev}` is chosen, and the
    procedure is run with it on **all** rows.

    Parameters
    ----------
    estimator : estimator
        One with a knob, or any other with `values` a mapping of parameters to lists.
    values : array-like or mapping, optional
        Values of the knob; its own grid by default. ``{"max_depth": [1, 2, 3]}`` for parameters
        by name.
    validation_fraction : float
        Share of the rows held out; classes keep their shares.
    select : {"min", "one_se"}
        The least error, or the simplest model within one standard error of it (knobs only: the
        order of a mapping says nothing about what is simple).
    random_state : int
        Seed of the split.

    Returns
    -------
    Holdout

    Notes
    -----
    One fit per value, or the cost of the path for methods of bottega, and one more to all rows. The
    error of the chosen value is the least of several and so too low; judge the model on further
    rows, or the whole procedure by `nested_cv`. With few rows a single split is a gamble.

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
    Real(0, 1, open_low=True, open_high=True).check(
        "holdout", "validation_fraction", validation_fraction
    )
    if select not in ("min", "one_se"):
        raise ParameterError(f"select={select!r} is not allowed; use 'min' or 'one_se'.")
    row_losses = RowLosses(loss, task_of(estimator))
    classes = np.unique(y) if row_losses.task == "classification" else None
    strata = None if classes is None else y
    train, held = make_folds(
        float(validation_fraction), len(y), strata=strata, random_state=random_state
    )[0]
    if isinstance(values, Mapping):
        if select != "min":
            raise ParameterError("select='one_se' needs an order of simplicity; use 'min'.")
        settings = list(ParameterGrid(values))
        X_held = take_rows(X, held)

        def predicted(setting: dict[str, Any]) -> Array:
            model = fit_rows(clone(estimator).set_params(**setting), X, y, train)
            return row_losses.predictions(model, X_held, classes)

        every = run_fits(predicted, settings, estimator, "values")
        errors, errors_se = mean_and_se(
            np.column_stack([row_losses(y[held], each, classes) for each in every])
        )
        best = int(np.argmin(errors))
        model = clone(estimator).set_params(**settings[best]).fit(X, y)
    elif isinstance(estimator, Tuned):
        free = clone(estimator).set_params(**{estimator.knob: "auto"})
        model = tune(
            free, X, y, select=select, cv=[(train, held)], loss=row_losses.loss, values=values
        )
        settings, errors, errors_se = model.path_.settings, model.path_.error, model.path_.error_se
        best = model.path_.best(select)
    else:
        raise InputError(
            f"{type(estimator).__name__} has no knob that is known here: give the values to try "
            "by name, as values={'parameter': [...]}."
        )
    names = list(settings[0])
    return Holdout(
        knob=", ".join(names),
        values=[each[names[0]] if len(names) == 1 else each for each in settings],
        errors=errors,
        errors_se=errors_se,
        best=best,
        model=model,
        n_train=len(train),
        n_dev=len(held),
        loss=row_losses.title,
    )
