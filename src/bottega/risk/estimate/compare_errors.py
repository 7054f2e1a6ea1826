"""Two models on the same rows: which errs less, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.errors import InputError
from bottega.core.params import Real
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.data.table import Table
from bottega.risk.bounds import clopper_pearson
from bottega.risk.estimate.cross_validate import CrossValidation, LeaveOneOut
from bottega.risk.estimate.judged_rows import (
    JudgedRows,
    RowLosses,
    finite_losses,
    read_rows,
    task_of,
)
from bottega.risk.estimate.mcnemar import McNemar, mcnemar
from bottega.risk.estimate.nested_interval import (
    corrected_variance,
    effective_size,
    limits_of_equal,
    mean_and_variance,
    widest,
)

__all__ = ["ErrorComparison", "compare_errors"]

_ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class ErrorComparison(Shown):
    """The difference between the errors of two models on the same rows.

    Attributes
    ----------
    error_a, error_b : float
        Mean losses.
    difference : float
        ``error_a - error_b``: below zero where the first is better.
    lower, upper : float
        Interval for the difference of the risks.
    p_value : float
        Of the hypothesis that both have the same risk.
    delta : float
        Probability with which the interval may miss.
    method : str
        How interval and p-value were made.
    mcnemar : McNemar or None
        For losses of 0 and 1 on independent rows.
    n : int
        Number of rows.
    names : tuple of str
        What the models are called.
    """

    error_a: float
    error_b: float
    difference: float
    lower: float
    upper: float
    p_value: float
    delta: float
    method: str
    mcnemar: McNemar | None
    n: int
    names: tuple[str, str]

    @property
    def better(self) -> str | None:
        """Name of the model with the smaller risk, where the interval leaves no doubt."""
        if self.lower <= 0 <= self.upper:
            return None
        return self.names[0] if self.difference < 0 else self.names[1]

    def summary(self) -> Summary:
        """Return the comparison as a table."""
        row: dict[str, list[Any]] = {
            self.names[0]: [self.error_a],
            self.names[1]: [self.error_b],
            "difference": [self.difference],
            f"{100 * (1 - self.delta):g}% interval": [f"[{self.lower:.4g}, {self.upper:.4g}]"],
            "p value": [self.p_value],
        }
        verdict = "the rows do not tell which is better"
        if self.better is not None:
            verdict = f"{self.better} errs less"
        return Summary(
            f"Errors on the same {self.n:,} rows", (Section("", row),), (verdict, self.method)
        )


def compare_errors(
    a: Any,
    b: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    delta: float = 0.05,
    loss: Any = None,
    names: tuple[str, str] = ("a", "b"),
) -> ErrorComparison:
    """Compare the errors of two models row by row.

    On the same rows the errors of two models rise and fall together; their differences vary much
    less than two errors from different rows would.

    Parameters
    ----------
    a, b : fitted estimators, arrays of losses, or results of cross-validation
        Two models with `X` and `y`; the losses of the same rows in the same order; or two
        `CrossValidation` over the same folds.
    X, y : array-like, optional
        Rows that neither model was fitted to or chosen by; a `Table` stands for both, with the
        weights and groups of its rows.
    sample_weight : array-like of shape (n,), optional
        How much each row counts. Results of cross-validation bring their own.
    groups : array-like of shape (n,), optional
        Rows of one group depend on each other: the groups are the independent units.
    delta : float
        Probability with which the interval may miss the difference of the risks.
    loss : str, Loss or callable, optional
        As in `cross_validate`, for models.
    names : tuple of two str
        What to call them.

    Returns
    -------
    ErrorComparison

    Notes
    -----
    *Losses of 0 and 1 on independent rows.* The p-value is McNemar's, exact. The interval is
    exact too: with delta/2 each, Clopper and Pearson's for the probability that the two differ,
    and for the share of the first among the rows on which they do; the difference of the risks is
    the first times twice the second less one.

    *Other losses, rows of unequal weight, groups.* The paired t test and its interval over the
    independent units, approximate.

    *Folds.* The differences of the fold means, with Nadeau and Bengio's correction of their
    variance for the training rows that folds share. It compares the two procedures; the others
    compare two models.

    Examples
    --------
    >>> found = compare_errors([0, 0, 1, 0, 0, 1, 0, 0], [1, 1, 1, 0, 1, 1, 0, 1])
    >>> round(found.difference, 3), found.p_value, found.better
    (-0.5, 0.125, None)
    """
    Real(0, 1, open_low=True, open_high=True).check("compare_errors", "delta", delta)
    given = sample_weight is not None or groups is not None
    if given and isinstance(a, CrossValidation | LeaveOneOut):
        raise InputError("Results of cross-validation bring their weights and groups with them.")
    if isinstance(a, CrossValidation) and isinstance(b, CrossValidation):
        return _over_folds(a, b, delta, names)
    (first, rows), (second, _) = (
        _losses_of(each, X, y, loss, sample_weight, groups) for each in (a, b)
    )
    if first.shape != second.shape:
        raise InputError(
            f"The losses are of {len(first)} and of {len(second)} rows; a paired comparison needs "
            "the same rows, in the same order."
        )
    every = np.arange(len(first))
    alike = rows.groups is None and (rows.weight is None or np.ptp(rows.weight) == 0)
    counted = alike and all(np.all((each == 0) | (each == 1)) for each in (first, second))
    difference, weight = rows.units(every, first - second)
    tests = None
    if counted:
        cells = (2 * first + second).astype(np.int64)  # right or wrong by both
        tests = mcnemar(np.bincount(cells, minlength=4).reshape(2, 2))
        lower, upper = _exact_interval(tests.table[1, 0], tests.table[0, 1], len(first), delta)
        p_value, method = tests.exact, "McNemar's exact test and an exact interval"
    else:
        units = "rows" if rows.groups is None else "groups"
        if len(difference) < 2:
            raise InputError(f"A paired comparison of losses needs at least 2 {units}; got 1.")
        mean, variance = mean_and_variance(difference, weight)
        spread, df = float(np.sqrt(variance)), effective_size(weight) - 1
        if abs(mean) > 0 and spread <= _ROUNDING * abs(mean):
            raise InputError(
                f"The losses differ by {mean:.4g} on every row alike: with no spread there is no "
                "standard error to go by."
            )
        half = float(stats.t.ppf(1 - delta / 2, df)) * spread
        lower, upper = mean - half, mean + half
        p_value = _t_test(mean, spread, df)
        method = "paired t test, approximate"
        if rows.groups is not None:
            method = f"paired t test over {len(difference):,} groups of rows, approximate"
    errors = [rows.mean_and_se(every, each)[0] for each in (first, second)]
    return ErrorComparison(
        error_a=errors[0],
        error_b=errors[1],
        difference=errors[0] - errors[1],
        lower=float(lower),
        upper=float(upper),
        p_value=p_value,
        delta=delta,
        method=method,
        mcnemar=tests,
        n=len(first),
        names=names,
    )


def _losses_of(
    each: Any, X: Any, y: Any, loss: Any, weight: Any, groups: Any
) -> tuple[FloatArray, JudgedRows]:
    """Return the loss of each row, and what is known about the rows."""
    if isinstance(each, CrossValidation):
        raise InputError(
            "One of the two is a cross-validation and the other is not; give both over the same "
            "folds."
        )
    if isinstance(each, LeaveOneOut):
        return each.losses, each.rows
    if hasattr(each, "predict"):
        if X is None or (y is None and not isinstance(X, Table)):
            raise InputError("Models are compared on rows: give X and y beside them.")
        X, rows = read_rows(X, y, task_of(each), weight=weight, groups=groups)
        return RowLosses(loss, rows.task).of_model(each, X, rows.y)[0], rows
    if X is not None or y is not None:
        raise InputError("Losses bring their rows with them: leave out X and y.")
    losses = finite_losses(each)
    return losses, JudgedRows(losses, "regression", weight, groups)


def _exact_interval(b: int, c: int, n: int, delta: float) -> tuple[float, float]:
    """Return limits for P(only the first errs) - P(only the second errs).

    b and c count those rows. With q the probability that just one errs and s the share of the
    first among these, the difference is q (2 s - 1).
    """
    q = clopper_pearson(b + c, n, delta / 2)
    s = clopper_pearson(b, b + c, delta / 2) if b + c else (0.0, 1.0)
    ends = [width * (2 * share - 1) for width in q for share in s]
    return min(ends), max(ends)


def _t_test(mean: float, spread: float, df: float) -> float:
    if spread <= _ROUNDING * abs(mean):  # the same difference everywhere
        return 1.0 if mean == 0 else 0.0
    return float(2 * stats.t.sf(abs(mean) / spread, df))


def _over_folds(
    a: CrossValidation, b: CrossValidation, delta: float, names: tuple[str, str]
) -> ErrorComparison:
    if not np.array_equal(a.fold, b.fold):
        raise InputError(
            "The two were cross-validated over different folds; give both the same cv and "
            "random_state."
        )
    k = len(a.fold_errors)
    if k < 2:
        raise InputError("A comparison over folds needs at least 2 of them.")
    tested = np.flatnonzero(a.fold >= 0)
    weight = np.array([a.rows.unit_weights(np.flatnonzero(a.fold == i)).sum() for i in range(k)])
    gaps, shares = (a.fold_errors - b.fold_errors)[None], (weight / weight.sum())[None]
    apart = a.rows.units(tested, (a.losses - b.losses)[tested])
    return compare_folds(
        (a.error, b.error),
        gaps,
        shares,
        a.units[1][None],
        a.units[0][None],
        usual=mean_and_variance(*apart)[1],
        delta=delta,
        names=names,
        n=len(tested),
        exact=limits_of_gaps([apart], a.largest, delta),
    )


def limits_of_gaps(
    apart: Sequence[tuple[FloatArray, FloatArray]], largest: float | None, delta: float
) -> tuple[float, float] | None:
    """Return exact limits of a mean difference that is the same in every unit; None if it varies.

    `apart` has differences and weights of the units for each partition, `largest` the largest loss
    of a row (None: any).
    """
    every = np.concatenate([gaps for gaps, _ in apart])
    if largest is None or np.ptp(every) > 0:
        return None
    return limits_of_equal(float(every[0]), -largest, largest, effective_size(apart[0][1]), delta)


def compare_folds(
    errors: tuple[float, float],
    gaps: FloatArray,
    shares: FloatArray,
    n_test: FloatArray,
    n_train: FloatArray,
    *,
    usual: float,
    delta: float,
    names: tuple[str, str],
    n: int,
    exact: tuple[float, float] | None = None,
) -> ErrorComparison:
    """Compare two procedures by the differences of their errors in each fold.

    All arrays have one row per partition and one column per fold: differences, shares of the
    folds in the error, and (effective) numbers of rows. The variance is Nadeau and Bengio's, the
    mean over the partitions; the interval is not narrower than with `usual`, the variance of the
    mean difference if the rows were independent. `exact` limits take its place where no difference
    was seen to vary.
    """
    variance = float(np.mean(list(map(corrected_variance, gaps, shares, n_test, n_train))))
    mean, df = errors[0] - errors[1], gaps.shape[1] - 1
    half = widest(variance, df, usual, delta)[1]
    lower, upper = (mean - half, mean + half) if exact is None else exact
    p_value = _t_test(mean, float(np.sqrt(variance)), df)
    if usual > 0:
        p_value = max(p_value, float(2 * stats.norm.sf(abs(mean) / np.sqrt(usual))))
    return ErrorComparison(
        error_a=errors[0],
        error_b=errors[1],
        difference=mean,
        lower=lower,
        upper=upper,
        p_value=p_value,
        delta=delta,
        method="differences over folds, Nadeau and Bengio's variance, approximate"
        if exact is None
        else "the same difference in every row: exact limits of how often it may be another",
        mcnemar=None,
        n=n,
        names=names,
    )
