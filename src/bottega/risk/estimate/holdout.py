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
from bottega.core.frames import make_frame
from bottega.core.params import Real
from bottega.core.seeds import seed_of
from bottega.core.tuned import Tuned
from bottega.core.typing import FloatArray
from bottega.plot import lines_chart
from bottega.risk.estimate.cross_validate import cross_validate
from bottega.risk.estimate.judged_rows import read_rows, task_of
from bottega.risk.estimate.nested_engine import Part, judge_of, run_parts
from bottega.risk.estimate.procedures import EstimatorProcedure, PlainInputs

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
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    time: Any = None,
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
    X : array-like or data frame of shape (n, p), or Table
        Inputs; a `Table` brings its responses, weights, groups and time.
    groups : array-like of shape (n,), optional
        Rows of one group are held out together; the groups are the independent units.
    values : array-like or mapping, optional
        Values of the knob; its own grid by default. ``{"max_depth": [1, 2, 3]}`` for parameters
        by name.
    validation_fraction : float
        Share of the rows held out; classes keep their shares.
    select : {"min", "one_se"}
        The least error, or the simplest model within one standard error of it (knobs only: the
        order of a mapping says nothing about what is simple).
    random_state : int, RandomState, Generator or None
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
    Real(0, 1, open_low=True, open_high=True).check(
        "holdout", "validation_fraction", validation_fraction
    )
    if select not in ("min", "one_se"):
        raise ParameterError(f"select={select!r} is not allowed; use 'min' or 'one_se'.")
    X, rows = read_rows(X, y, task_of(estimator), weight=sample_weight, groups=groups, time=time)
    judge = judge_of(rows, loss)
    (fold,) = make_folds(
        float(validation_fraction),
        len(rows),
        strata=rows.codes,
        groups=rows.groups,
        time=rows.time,
        random_state=seed_of(random_state, "holdout"),
    )
    rows.fold_of([fold])
    everything = Part((0, ()), np.arange(len(rows)), ())
    fitted: dict[str, Any] = {"inputs": PlainInputs(X), "rows": rows, "loss": judge.row_losses.loss}
    if isinstance(values, Mapping):
        if select != "min":
            raise ParameterError("select='one_se' needs an order of simplicity; use 'min'.")
        settings = list(ParameterGrid(values))
        tried = [
            EstimatorProcedure(clone(estimator).set_params(**each), as_it_is=True, **fitted)
            for each in settings
        ]
        part = Part((0, (0,)), fold[0], (fold[1],))
        runs = run_parts(
            dict(zip(map(str, settings), tried, strict=True)),
            [part],
            judge,
            raise_errors=True,
            stage="values",
        )
        if not runs.complete:
            raise KeyboardInterrupt
        losses = [runs.answers[str(each)][part.key].losses[0] for each in settings]
        found = [rows.mean_and_se(fold[1], each) for each in losses]
        errors, errors_se = np.array(found).T
        best = int(np.argmin(errors))
        model = tried[best].fit(everything).model
    elif isinstance(estimator, Tuned):
        free = clone(estimator).set_params(**{estimator.knob: "auto"})
        procedure = EstimatorProcedure(free, select=select, inner=[fold], values=values, **fitted)
        model = procedure.fit(everything).model
        path = getattr(model, "estimator_", model).path_
        settings, errors, errors_se = path.settings, path.error, path.error_se
        best = path.best(select)
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
        n_train=len(fold[0]),
        n_dev=len(fold[1]),
        loss=judge.row_losses.title,
    )
