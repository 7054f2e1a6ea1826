"""The outcome of a comparison: leaderboard, best model, certificate, report, model file."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import bottega
from bottega.core.certificate import Certificate
from bottega.core.errors import BottegaError, InputError
from bottega.core.frames import is_frame, make_frame
from bottega.core.losses import Loss
from bottega.core.typing import Array
from bottega.data import LockedPart, Table
from bottega.risk import NestedComparison, certify
from bottega.workbench.certified import certify_score
from bottega.workbench.drawn import DrawnTable
from bottega.workbench.explained import ExplainedComparison
from bottega.workbench.features import inputs_of, named_columns
from bottega.workbench.folds import FoldModels
from bottega.workbench.leaderboard import Verdict, best_of, leaderboard_columns, verdict_on
from bottega.workbench.measures import Measure
from bottega.workbench.persist import SavedModel, save
from bottega.workbench.results import MethodResult
from bottega.workbench.showing import ShownComparison

__all__ = ["Comparison"]

# Locked rows that calibrate intervals: the coverage of 90 % is then between 83 and 95 %.
_ENOUGH = 100


@dataclass(repr=False)
class Comparison(ExplainedComparison, ShownComparison):
    """Many methods on one data set, compared honestly; made by `bottega.compare`.

    Attributes
    ----------
    table : Table
        Everything that was read; of a source the rows that were drawn (`DrawnTable`).
    train : Table
        The rows that methods were fitted to and compared on.
    test : LockedPart or None
        The locked rows; None when none were set aside.
    results : dict of str to MethodResult
        One record per method.
    nested : NestedComparison
        Row losses of the methods over the same outer folds.
    skipped : dict of str to str
        Methods that are not among the results, with the reason.
    measure : Measure
        What methods are ranked by, and the row loss that tunes them.
    select, outer, random_state
        The rule that picks from each path, the number of outer folds, the seed.
    command : str
        The call that repeats the comparison.
    versions : dict of str to str
        Versions of the libraries.
    seconds : float
        Wall-clock time of the whole comparison, without `preparing_seconds`.
    preparing_seconds : float
        Time in which kernels were compiled, which is done once on a machine.
    budget : float or None
        Seconds that the comparison was allowed to take; None: as many as it needed.
    ends : float or None
        When the budget is used up, a time of ``time.perf_counter``: explanations keep to what is
        left of it.
    cut : tuple of str
        What the budget cut, in sentences.
    notes : tuple of str
        What else is to be known, in sentences.
    certificate : Certificate or None
        Set by `certify`.
    score_certificate : Certificate or None
        Set by `certify` where the measure is no mean of row losses: AUC, F1, R squared on the
        locked rows.
    """

    table: Table
    train: Table
    test: LockedPart | None
    results: dict[str, MethodResult]
    nested: NestedComparison
    skipped: dict[str, str]
    measure: Measure
    select: str
    outer: int
    random_state: int
    command: str
    versions: dict[str, str]
    seconds: float
    preparing_seconds: float
    fold_models: FoldModels = field(repr=False)
    budget: float | None = None
    ends: float | None = None
    cut: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    certificate: Certificate | None = field(default=None)
    score_certificate: Certificate | None = field(default=None)
    _intervals: Any = field(default=None, repr=False)
    _explanation: Any = field(default=None, repr=False)
    _proportions: Any = field(default=None, repr=False)

    @property
    def row_loss(self) -> Loss:
        """What rows are judged by, and methods tuned."""
        return self.measure.loss

    @property
    def loss(self) -> str:
        """Name of the error that methods are ranked by."""
        return self.measure.title

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before all methods were done."""
        return not self.nested.complete

    @property
    def task(self) -> str:
        """What is predicted: "regression" or "classification"."""
        return str(self.table.task)

    @property
    def target(self) -> str:
        """Name of the column that is predicted."""
        return str(self.table.target)

    @property
    def n_rows(self) -> int:
        """Number of rows that have a target, those of a source that were not drawn too."""
        return self.table.n_stored if isinstance(self.table, DrawnTable) else self.table.n_rows

    @property
    def n_train(self) -> int:
        """Number of rows compared on."""
        return self.train.n_rows

    @property
    def n_test(self) -> int:
        """Number of locked rows."""
        return 0 if self.test is None else self.test.n_rows

    @property
    def looks(self) -> int:
        """How often the locked part was opened, by this process or another."""
        return 0 if self.test is None else self.test.looks

    @property
    def y_train(self) -> Array:
        """The target of the training rows."""
        return np.asarray(self.train.y)

    @property
    def best_method(self) -> str:
        """Short name of the method to rely on, of those fitted to all training rows.

        The leaders combined (``"stacking"``), unless one method is clearly better than they are;
        without a stack the method of least error.
        """
        return best_of(self.results)

    @property
    def best(self) -> Any:
        """The best procedure, fitted to all training rows; it takes frames as `compare` does."""
        return self.results[self.best_method].model

    @property
    def leaderboard(self) -> Any:
        """One row per method, the best one first, then by error, as a data frame.

        Methods that were judged on fewer folds have their place by `difference`: folds are not
        equally hard, and a budget leaves some methods the first ones alone.

        `error`, `std_error`, `conf_low` and `conf_high` are of the whole procedure, with its
        tuning; `versus_baseline` is the share of the baseline's error that is removed; `difference`
        is the error minus that of the best, over the same folds, with its 95 % interval; then other
        measures of the same predictions (`auc` and `lift` say how well scores order the rows of two
        classes); `df` and `chosen` describe the model fitted to all training rows, and
        `learned_from` says how many rows it has seen, where not all methods saw as many (of the
        leaders combined the one that saw most); `folds` is the number of outer folds; `seconds` is
        the time of one fit, that to all training rows, tuning included (each outer fold takes about
        as long again; `Comparison.seconds` is the time of all together).
        """
        return make_frame(leaderboard_columns(self.results, self.nested), self.table.frame)

    @property
    def verdict(self) -> Verdict:
        """What the leaderboard allows to say: differences that the data cannot exclude."""
        return verdict_on(self.results, self.nested)

    def predict(self, data: Any) -> Any:
        """Return the best procedure's prediction for each row.

        Parameters
        ----------
        data : data frame or array
            Rows as they were given to `compare`: columns in any order, and others besides, such
            as keys or the target; or an array with as many columns.
        """
        return self.best.predict(self._inputs(data))

    def predict_proba(self, data: Any) -> Any:
        """Return the class probabilities of the best procedure for each row."""
        if not hasattr(self.best, "predict_proba"):
            raise InputError(f"The method {self.best_method!r} gives no probabilities.")
        return self.best.predict_proba(self._inputs(data))

    def _inputs(self, data: Any) -> Any:
        features = list(self.table.features)
        if is_frame(data):
            return inputs_of(self.best, data, features, self.table.day_first)
        inputs = [column.name for column in self.table.columns if column.role != "target"]
        frame = named_columns(data, inputs, features)
        return inputs_of(self.best, frame, features, self.table.day_first)

    @property
    def intervals(self) -> Any:
        """Prediction intervals (or sets of classes) of the best procedure.

        They are calibrated by the rows that the outer folds held out (CV+), or by the locked rows
        (split) once these are opened by `certify`, if there are 100 or more of them (of groups,
        where rows have groups): with fewer the width would be a matter of luck.
        """
        if self._intervals is None:
            from bottega.risk import cross_conformal

            method = self.best_method
            result = self.results[method]
            groups = _exchangeable(self.train)
            rows = self.fold_models.rows(method, result)
            self._intervals = cross_conformal(
                self.fold_models.fits(method, result),
                groups=None if groups is None else [groups[held] for held in rows],
            )
        return self._intervals

    def interval(self, data: Any, level: float = 0.9) -> Any:
        """Return limits that hold the response of each row with probability `level`.

        Parameters
        ----------
        data : data frame or array
            Rows as in `predict`.
        level : float
            Probability, over rows to come; see `bottega.risk.PredictionIntervals`.

        Returns
        -------
        ndarray of shape (n, 2), or list of lists of classes
            Lower and upper limit, or for classification the classes that cannot be excluded.
        """
        inputs = self._inputs(data)
        if self.task == "classification":
            return self.intervals.sets(inputs, level=level)
        return np.column_stack(self.intervals.interval(inputs, level=level))

    def certify(
        self, *, delta: float = 0.05, again: bool = False, ledger: bool = True
    ) -> Certificate:
        """Open the locked part and return the best model's error on it with its interval.

        Parameters
        ----------
        delta : float
            Probability with which the interval may miss the risk.
        again : bool
            Look a second time, which makes the answer optimistic; without it a second look raises
            `TestSetAlreadyUsed`.
        ledger : bool
            Whether other processes are asked if they opened these rows, and told that this one
            does; see `bottega.data.LockedPart`.

        Notes
        -----
        The certificate is about the row loss: the squared error for ``measure="r2"``, the Brier
        score for ``"auc"`` and ``"f1"``; what the same rows say by the measure itself is in
        `score_certificate`. If it fails the rows stay locked, and everything that was computed
        stays as it is.
        """
        if self.test is None:
            raise InputError(
                "No rows were set aside for a certificate; compare with a share of them, "
                "test_size=0.25."
            )
        with self.test.opened(again=again, ledger=ledger) as part:
            try:
                found = certify(self.best, part, delta=delta, loss=self.row_loss)
                best = self.results[self.best_method]
                score = certify_score(
                    self.measure, self.best, part, found, best.nested.rows, self.random_state
                )
            except BottegaError:
                raise
            except Exception as error:
                raise BottegaError(
                    f"The best model failed on the locked rows ({type(error).__name__}: {error}); "
                    "they stay locked, and the comparison stands without a certificate."
                ) from error
            self._calibrate(part)
        found = replace(found, assumptions=(*found.assumptions, self.test.told))
        self.score_certificate = score
        if self.measure.form == "root":
            limits: dict[str, Any] = {
                name: float(np.sqrt(max(getattr(found, name), 0.0)))
                for name in ("estimate", "lower", "upper")
            }
            found = replace(found, quantity=self.measure.title, **limits)
        self.certificate = found
        return found

    def _calibrate(self, part: Table) -> None:
        """Calibrate the prediction intervals by the locked rows, where that can be done."""
        from bottega.risk import split_conformal

        if self.train.time is not None:
            return  # rows in time order are not exchangeable
        groups = _exchangeable(part)
        units = part.n_rows if groups is None else len(np.unique(groups))
        with suppress(BottegaError):  # fewer than two folds, for one
            if units < _ENOUGH and self.intervals is not None:
                return
        with suppress(BottegaError):  # no probabilities, or weights and groups together
            self._intervals = split_conformal(
                self.best, part.X, part.y, sample_weight=part.weight, groups=groups
            )

    def report(self, path: Any) -> FilePath:
        """Write the HTML report, one file that works offline, and return its path."""
        from bottega.report import write  # the report is made of comparisons: a circle otherwise

        return write(self, path)

    def save(self, path: Any) -> FilePath:
        """Write the best model to a skops file that `bottega.load` and ``bottega predict`` read."""
        columns = [column.name for column in self.table.columns if column.role == "feature"]
        saved = SavedModel(
            model=self.best,
            method=self.best_method,
            task=self.task,
            target=self.target,
            columns=tuple(columns),
            certificate="" if self.certificate is None else str(self.certificate),
            version=bottega.__version__,
            intervals=self._intervals,
            day_first=dict(self.table.day_first),
        )
        return save(saved, path)


def _exchangeable(table: Table) -> Array | None:
    """Return the units that limits for new rows are calibrated by; None for rows, as with weights.

    Weights and units together have no limits, and copies shall not cost those of weighted rows.
    """
    return table.groups if table.weight is not None else table.units
