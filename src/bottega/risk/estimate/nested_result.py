"""What nested cross-validation found: errors, choices, intervals, differences."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.certificate import Certificate
from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary, show
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.plot import lines_chart
from bottega.risk.estimate.compare_errors import ErrorComparison, compare_folds, limits_of_gaps
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.estimate.nested_engine import Answer
from bottega.risk.estimate.nested_interval import mean_and_variance

__all__ = ["NestedCV", "NestedComparison"]

_METHOD = {
    "nested": "nested cross-validation",
    "nadeau_bengio": "cross-validation, Nadeau and Bengio's variance",
    "naive": "cross-validation, losses taken as independent",
}
_INTERVAL = {
    "nested": "The mean of the losses is nearly normal, and the excess risk falls like one over "
    "the number of rows: the interval is approximate.",
    "nadeau_bengio": "Two folds are correlated as the share of test rows says, which is a rule of "
    "thumb: the interval is approximate.",
    "naive": "The losses of different folds are independent, which they are not: the interval is "
    "too narrow.",
}


@dataclass(frozen=True, repr=False)
class NestedCV(Shown):
    """The error of a procedure with all its choices; made by `nested_cv`.

    Attributes
    ----------
    fold_errors : ndarray of shape (repeats, K)
        Mean loss of each outer fold.
    shares : ndarray of shape (repeats, K)
        Share of each fold in the weight of all rows that were tested.
    settings : list of dict or None
        What was chosen in each outer fold, repetition after repetition; None where nothing was.
    inner_least : ndarray of shape (repeats, K)
        Least error that the inner folds promised; NaN where nothing was chosen.
    n_train, n_test : ndarray of shape (repeats, K)
        Numbers of rows.
    seconds : ndarray of shape (repeats, K)
        Time of each fit, tuning included.
    folds : tuple of int
        Numbers of the outer folds that were judged: all of them, unless the work was cut short.
    fold : ndarray of shape (repeats, n)
        The fold in which a row was tested; -1 where it was in none.
    losses : ndarray of shape (repeats, n)
        Loss of each row when its fold was held out; NaN where it never was.
    predictions : ndarray of shape (repeats, n)
        Predictions of the same.
    probabilities : ndarray of shape (repeats, n, C) or None
        Class probabilities of the same, in the order of ``rows.classes``, where they were kept.
    estimate, std_error, lower, upper : float
        Risk of the procedure fitted to all rows, its standard error, and its interval.
    inflation : float
        How many times larger the standard error is than that of independent losses.
    delta : float
        Probability with which the interval may miss.
    interval : {"nested", "nadeau_bengio", "naive"}
        How the interval was made.
    select : str or None
        Rule of the inner choice; None: that of the estimator.
    loss : str
        Name of the loss.
    rows : JudgedRows
        Responses, weights, groups and time of the rows.
    models : list
        The models of the folds, where they were kept.
    final : Answer or None
        The run on all rows (`model`, `setting`, `seconds`), where there was one.
    largest : float or None
        The largest loss that a row can have, where there is one.

    Notes
    -----
    Where every row has the same loss, as when no prediction is wrong, there is no spread to take a
    standard error from: it is NaN, and the limits are exact ones, of Clopper and Pearson, for a
    loss that has a largest value.
    """

    fold_errors: FloatArray
    shares: FloatArray
    settings: list[Mapping[str, Any] | None]
    inner_least: FloatArray
    n_train: IntArray
    n_test: IntArray
    seconds: FloatArray
    fold: IntArray
    folds: tuple[int, ...]
    losses: FloatArray
    predictions: Array
    probabilities: FloatArray | None
    estimate: float
    std_error: float
    lower: float
    upper: float
    inflation: float
    delta: float
    interval: str
    select: str | None
    loss: str
    rows: JudgedRows = field(repr=False)
    models: list[Any] = field(repr=False)
    final: Answer | None = field(repr=False)
    fit_all: Callable[[], Any] = field(repr=False, compare=False)
    largest: float | None = field(default=None, repr=False)

    @property
    def error(self) -> float:
        """Mean loss of the held-out rows: of the procedure on the training sets of the folds."""
        return float(np.mean(np.sum(self.shares * self.fold_errors, axis=1)))

    @property
    def values(self) -> list[Any]:
        """What was chosen in each outer fold: the value, where one parameter was chosen."""
        return [
            next(iter(setting.values())) if setting is not None and len(setting) == 1 else setting
            for setting in self.settings
        ]

    @property
    def optimism(self) -> float:
        """How far the least inner error lies below the outer error, on average over the folds.

        The least of several errors is too low; this is by how much, for models fitted to a little
        less. NaN where nothing was chosen.
        """
        return float(np.mean(self.fold_errors - self.inner_least))

    @property
    def certificate(self) -> Certificate:
        """The claim in one object, with its assumptions."""
        tested = self.fold[0] >= 0
        groups = self.rows.groups
        assumptions = [
            self.rows.assumption,
            "Nothing about the procedure was chosen by looking at these rows, other than what it "
            "chooses inside each fold.",
        ]
        if self.rows.weight is not None:
            assumptions.append(
                "The risk is that of rows counted by their weights, which were set without "
                "looking at the losses."
            )
        return Certificate(
            estimate=self.estimate,
            lower=self.lower,
            upper=self.upper,
            delta=self.delta,
            method=_METHOD[self.interval],
            assumptions=(*assumptions, _INTERVAL[self.interval]),
            n=int(np.count_nonzero(tested)),
            quantity=self.loss,
            approximate=True,
            n_groups=None if groups is None else len(np.unique(groups[tested])),
        )

    def refit(self) -> Any:
        """Return the procedure fitted to all rows, its knob chosen on all of them."""
        return self.fit_all() if self.final is None else self.final.model

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per outer fold: what was chosen, what was promised, what came of it."""
        repeats, k = self.fold_errors.shape
        value: Any = [v if v is None or np.isscalar(v) else str(v) for v in self.values]
        columns = {
            "repeat": np.repeat(np.arange(repeats), k),
            "fold": np.tile(np.arange(k), repeats),
            "n_train": self.n_train.ravel(),
            "n_test": self.n_test.ravel(),
            "value": value,
            "inner_least": self.inner_least.ravel(),
            "error": self.fold_errors.ravel(),
        }
        return make_frame(columns, like)

    def plot(self) -> Any:
        """Draw the outer errors beside the least inner ones, with the estimate and its limits."""
        count = self.fold_errors.size
        level = np.ones(count)
        lines = {
            "outer error": self.fold_errors.ravel(),
            "least inner error": self.inner_least.ravel(),
            "estimate": level * self.estimate,
            "lower limit": level * self.lower,
            "upper limit": level * self.upper,
        }
        return lines_chart(
            np.arange(1, count + 1),
            {name: line for name, line in lines.items() if np.any(np.isfinite(line))},
            x_title="outer fold",
            y_title=self.loss,
            title="Nested cross-validation",
            subtitle=str(self.certificate),
            dashed=["estimate", "lower limit", "upper limit"],
        )

    def summary(self) -> Summary:
        """Return the outer folds as a table that shows itself as text, HTML and Markdown."""
        count = self.fold_errors.size
        columns: dict[str, list[Any]] = {
            "fold": list(range(1, count + 1)),
            "rows": self.n_test.ravel().tolist(),
            "chosen": [show(value) for value in self.values],
            "least inner error": self.inner_least.ravel().tolist(),
            "outer error": self.fold_errors.ravel().tolist(),
        }
        notes = [str(self.certificate)]
        if np.isfinite(self.optimism):
            notes.append(f"the least inner error is too low by {self.optimism:.3g} on average")
        return Summary("Nested cross-validation", (Section("", columns),), tuple(notes))


@dataclass(frozen=True, repr=False, eq=False)
class NestedComparison(Shown, Mapping[str, NestedCV]):
    """Procedures over the same folds: a mapping of names to `NestedCV`; made by `nested_cv`.

    Attributes
    ----------
    results : dict of str to NestedCV
        What was found about each procedure, in the order they were given.
    failures : dict of str to str
        Procedures that failed, with the reason.
    complete : bool
        Whether all of the work was done; False after Ctrl-C.
    n_train, n_test : ndarray of shape (repeats, K)
        Effective numbers of independent units (rows, or groups) that each fold trains and tests
        on.
    """

    results: dict[str, NestedCV]
    failures: dict[str, str]
    complete: bool
    n_train: FloatArray = field(repr=False)
    n_test: FloatArray = field(repr=False)

    def __getitem__(self, name: str) -> NestedCV:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def best(self) -> str:
        """Name of the procedure with the least error."""
        return min(self.results, key=lambda name: self.results[name].error)

    @property
    def loss(self) -> str:
        """Name of the loss."""
        return self.results[self.best].loss

    def difference(self, a: str, b: str, delta: float | None = None) -> ErrorComparison:
        """Compare the errors of two procedures over the same folds.

        The variance of the mean difference is Nadeau and Bengio's, with the rows and weights of
        each fold (`corrected_variance`), averaged over the repetitions; the interval is Student's
        with K - 1 degrees of freedom, and not narrower than that of independent differences. Two
        procedures that erred on the very same rows have exact limits (`limits_of_equal`).

        Parameters
        ----------
        a, b : str
            Names of the procedures.
        delta : float, optional
            Probability with which the interval may miss; as given to `nested_cv` by default.

        Returns
        -------
        ErrorComparison
            Its difference is the error of `a` minus that of `b`.
        """
        first, second = self.results[a], self.results[b]
        both = [k for k in first.folds if k in second.folds]
        of_first, of_second = ([each.folds.index(k) for k in both] for each in (first, second))
        shares = first.shares[:, of_first] / first.shares[:, of_first].sum(axis=1, keepdims=True)
        errors = first.fold_errors[:, of_first], second.fold_errors[:, of_second]
        apart = []
        for gap, fold in zip(first.losses - second.losses, first.fold, strict=True):
            tested = np.flatnonzero(np.isin(fold, both))
            apart.append(first.rows.units(tested, gap[tested]))
        delta = first.delta if delta is None else delta
        means = [float(np.mean(np.sum(shares * each, axis=1))) for each in errors]
        return compare_folds(
            (means[0], means[1]),
            errors[0] - errors[1],
            shares,
            self.n_test[:, both],
            self.n_train[:, both],
            usual=float(np.mean([mean_and_variance(*units)[1] for units in apart])),
            delta=delta,
            names=(a, b),
            n=int(np.count_nonzero(np.isin(first.fold[0], both))),
            exact=None if a == b else limits_of_gaps(apart, first.largest, delta),
        )

    def _columns(self) -> dict[str, list[Any]]:
        """Return one row per procedure, the least error first, compared with the best."""
        order = sorted(self.results, key=lambda name: self.results[name].error)
        found = [self.results[name] for name in order]
        to_best = [self.difference(name, order[0]) for name in order]
        return {
            "name": order,
            "error": [each.error for each in found],
            "estimate": [each.estimate for each in found],
            "std_error": [each.std_error for each in found],
            "conf_low": [each.lower for each in found],
            "conf_high": [each.upper for each in found],
            "difference": [each.difference for each in to_best],
            "difference_conf_low": [each.lower for each in to_best],
            "difference_conf_high": [each.upper for each in to_best],
            "p_value": [each.p_value for each in to_best],
        }

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per procedure: error, interval, and difference to the best."""
        return make_frame(self._columns(), like)

    def summary(self) -> Summary:
        """Return the procedures as a table that shows itself as text, HTML and Markdown."""
        best = self.results[self.best]
        notes = [
            f"{best.loss}, over the same {best.fold_errors.shape[1]} outer folds; difference: to "
            f"the error of {self.best}, with its {100 * (1 - best.delta):g}% interval"
        ]
        notes += [f"{name}: {reason}" for name, reason in self.failures.items()]
        if not self.complete:
            notes.append("interrupted: only what was done is shown")
        return Summary("Nested cross-validation", (Section("", self._columns()),), tuple(notes))
