"""Certificates: the error on rows that a model has never seen, with an interval for the risk."""

from typing import Any

import numpy as np
from scipy import stats

from bottega.core.certificate import Certificate
from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.params import Integer, Real
from bottega.core.rows import check_weight
from bottega.core.typing import FloatArray
from bottega.data.splits import LockedPart
from bottega.data.table import Table
from bottega.risk.bounds import (
    bernstein_deviation,
    clopper_pearson,
    empirical_bernstein,
    hoeffding_deviation,
    student,
    union,
)
from bottega.risk.estimate.judged_rows import (
    JudgedRows,
    RowLosses,
    assumption,
    finite_losses,
    independent_units,
    read_rows,
    task_of,
)
from bottega.risk.estimate.nested_interval import effective_size
from bottega.risk.estimate.seen_rows import SeenRows, seen_rows

__all__ = ["certify", "certify_losses"]

_EQUAL = "no interval: all losses are equal"
_ROUNDING = 1e-12  # of losses, relative: differences of numbers a thousand times as large
METHODS = ("auto", "clopper_pearson", "hoeffding", "empirical_bernstein", "student")

_ON_TRUST = (
    "Nothing about the model was chosen by looking at the test rows: a fitted model does not tell "
    "how it was chosen, so this is taken on trust."
)
_WEIGHTED = (
    "The risk is the mean over rows counted by their weights, and the weights were set without "
    "looking at the losses."
)
_NORMAL = (
    "The test rows are many enough for the mean of the losses to be nearly normal: the interval "
    "is approximate, and rare huge errors can make it too narrow."
)


def certify_losses(
    losses: Any,
    *,
    delta: float = 0.05,
    sample_weight: Any = None,
    groups: Any = None,
    time: Any = None,
    method: str = "auto",
    candidates: int = 1,
    zero_one: bool = False,
    loss_range: tuple[float, float] | None = None,
    quantity: str = "loss",
    assumptions: tuple[str, ...] = (),
) -> Certificate:
    r"""Return the mean of losses on untouched rows with an interval for the risk.

    Parameters
    ----------
    losses : array-like of shape (n,)
        Loss of each row; the rows played no part in fitting or choosing the model.
    delta : float
        Probability with which the interval may miss the risk.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not.
    groups : array-like of shape (n,), optional
        Rows of one group depend on each other: the groups are then the independent units.
    time : array-like of shape (n,), optional
        Order of the rows, which come after those that the model was fitted to. The interval is the
        same; the certificate says that it takes losses in time as independent.
    method : {"auto", "clopper_pearson", "hoeffding", "empirical_bernstein", "student"}
        Which interval; see the notes for ``"auto"``.
    candidates : int
        Number of models judged on these same rows; the union bound divides `delta` by it.
    zero_one : bool
        Whether the loss is 1 for wrong and 0 for right, and nothing else, whatever the row.
    loss_range : (float, float), optional
        Limits of the loss that were known before the data were seen.
    quantity : str
        What is estimated, in words.
    assumptions : tuple of str
        Further sentences for the certificate.

    Returns
    -------
    Certificate
        With the assumptions of its method.

    Notes
    -----
    ``"auto"`` takes the tightest method that is valid for the kind of loss:

    ==========================  ===================================================
    Loss                        Interval
    ==========================  ===================================================
    zero-one                    Clopper and Pearson's, exact
    within `loss_range`         Hoeffding's and the empirical Bernstein interval
                                with half of delta each: the risk lies in both
    without known limits        Student's t, approximate; none where all losses are
                                equal, which say nothing of other rows
    ==========================  ===================================================

    To take the shorter of two intervals after looking at them would miss more often than delta;
    both at half of delta may be intersected. Where n is so small that the Bernstein interval would
    be the longer even for losses that do not vary at all, which depends on n and delta alone,
    Hoeffding's gets all of delta.

    *Weights and groups.* With shares :math:`\omega_i` of the weight the mean loss is
    :math:`\sum_i \omega_i \ell_i`. Hoeffding's inequality for independent terms of ranges
    :math:`\omega_i` holds with Kish's effective number :math:`1/\sum_i \omega_i^2` in place of n,
    and the empirical Bernstein bound is applied to :math:`n \omega_i \ell_i`, whose range is
    :math:`n \max_i \omega_i`; both need independence, not equal distributions. Student's interval
    takes the variance :math:`\frac{n}{n-1} \sum_i \omega_i^2 (\ell_i - \bar\ell)^2`. The rows of a
    group are first replaced by their mean, with the sum of their weights. Clopper and Pearson's
    interval counts errors of equal weight, so it is not available then.

    Examples
    --------
    >>> print(certify_losses([0.1, 0.2] * 500, loss_range=(0, 1)))
    loss 0.15, between 0.1339 and 0.1661 with probability at least 95% (Hoeffding and ...
    """
    values = finite_losses(losses)
    _check_request(delta, method, candidates)
    limits = _limits(values, zero_one, loss_range)
    weight = check_weight(sample_weight, len(values))
    weighted = weight is not None
    n = len(values) if weight is None else int(np.count_nonzero(weight))
    grouped = groups is not None and len(np.unique(np.asarray(groups))) < len(values)
    units, weight = independent_units(values, weight, np.asarray(groups) if grouped else None)
    level = float(union(delta, candidates))
    share = None if np.all(weight == weight[0]) else weight / weight.sum()
    mean = float(units.mean() if share is None else share @ units)
    counted = zero_one and not grouped
    if _are_equal(values):
        units = np.full_like(units, values[0])  # means of groups have been rounded
    name, (lower, upper) = _interval(units, share, mean, level, method, counted, limits)
    sentences = [assumption(grouped, time is not None), *assumptions]
    if weighted:
        sentences.append(_WEIGHTED)
    approximate = name == "Student's t"
    if approximate:
        sentences.append(_NORMAL)
    elif name == _EQUAL:
        others = 100 * clopper_pearson(0, len(units), level, sides=1)[1]
        sentences.append(
            f"All {len(units):,} {'groups' if grouped else 'rows'} have the same loss: with "
            f"probability at least {100 * (1 - delta):.12g}% at most {others:.2g}% of those to "
            "come have another one, whose size they do not tell."
        )
    if limits is not None and not zero_one and not approximate:
        sentences.append(
            f"No row to come has a loss outside [{limits[0]:g}, {limits[1]:g}], limits that were "
            "known before the test rows were seen."
        )
    if candidates > 1:
        sentences.append(
            f"The interval allows for {candidates} models judged on the same rows (union bound)."
        )
    return Certificate(
        estimate=mean,
        lower=min(lower, mean),  # rounding may put an end on the wrong side of the mean
        upper=max(upper, mean),
        delta=delta,
        method=name,
        assumptions=tuple(sentences),
        n=n,
        quantity=quantity,
        approximate=approximate,
        n_groups=len(units) if grouped else None,
    )


@documented_like(certify_losses)
def certify(
    model: Any,
    X_test: Any,
    y_test: Any = None,
    *,
    delta: float = 0.05,
    sample_weight: Any = None,
    groups: Any = None,
    time: Any = None,
    method: str = "auto",
    candidates: int = 1,
    loss: Any = None,
    loss_range: tuple[float, float] | None = None,
    X_train: Any = None,
) -> Certificate:
    """Return the test error of a fitted model with an interval that states its assumptions.

    Parameters
    ----------
    model : fitted estimator
        Classifier (judged by misclassification) or regressor (by squared error), unless `loss`
        says otherwise.
    X_test, y_test : array-like
        Rows that played no part in fitting or tuning. A `LockedPart` or a `Table` may stand for
        both, with the weights and groups of its rows; the part is opened here, and refused if it
        was opened before.
    method : {"auto", "clopper_pearson", "hoeffding", "empirical_bernstein", "student"}
        Which interval. ``"auto"`` takes the tightest that is valid for the loss, see
        `certify_losses`; one that is not valid for the loss is refused.
    loss : str, Loss or callable, optional
        A name of `bottega.risk.LOSSES`, a `Loss`, or a function of truth and prediction, one value
        per row.
    loss_range : (float, float), optional
        Limits of the loss that were known before the test rows were seen; the loss is rescaled
        by them where a bound is for losses in [0, 1].
    X_train : array-like, optional
        The rows that the model was fitted to, to be compared with the test rows.

    Returns
    -------
    Certificate
        With the estimate, its interval, and in `assumptions` what must be true, what was checked
        and what could not be.

    Notes
    -----
    Test rows that the model was fitted to are refused where they can be told: by `X_train`, by
    the rows that nearest neighbours and kernel methods keep, or by the responses and fitted
    values that linear smoothers keep. A new row equals a training row by chance as often as
    training rows equal one another; the test rows are refused when so many of them do that chance
    would bring it about less than once in a million. A model does not show what it was tuned on.

    Examples
    --------
    >>> from bottega.core import BaselineClassifier
    >>> model = BaselineClassifier().fit(np.zeros((4, 1)), [0, 0, 0, 1])
    >>> print(certify(model, np.zeros((50, 1)), [0] * 45 + [1] * 5))
    misclassification 0.1, between 0.03328 and 0.2181 with probability at least 95% ...
    """
    _check_request(delta, method, candidates)  # before a locked part is opened for nothing
    X, rows = _rows(X_test, y_test, task_of(model), sample_weight, groups, time)
    found = RowLosses(loss, rows.task)
    ledger = [X_test.told] if isinstance(X_test, LockedPart) else []
    losses, judged = found.of_model(model, X, rows.y)
    predicted = np.asarray(model.predict(X)) if found.of_probabilities else judged
    seen = seen_rows(model, X, rows.y, predicted, X_train)
    if seen is not None and seen.suspicious:
        raise InputError(
            f"{seen.seen:,} of the {seen.n:,} test rows are rows that the model was fitted to, "
            f"and {seen.twins:,} of its {seen.n_train:,} training rows have an equal among "
            "themselves: its error there says nothing about new rows. Certify on rows that were "
            "set aside before fitting."
        )
    return certify_losses(
        losses,
        delta=delta,
        method=method,
        candidates=candidates,
        zero_one=found.zero_one,
        loss_range=loss_range,
        quantity=found.title,
        sample_weight=rows.weight,
        groups=rows.groups,
        time=rows.time,
        assumptions=(_ON_TRUST, *ledger, _what_was_checked(seen)),
    )


def _rows(
    X_test: Any, y_test: Any, task: str, weight: Any, groups: Any, time: Any
) -> tuple[Any, JudgedRows]:
    if isinstance(X_test, LockedPart | Table):
        if y_test is not None:
            raise InputError("A locked part or a table brings its own responses: leave out y_test.")
        table = X_test.open() if isinstance(X_test, LockedPart) else X_test
        return read_rows(table, None, task, weight=weight, groups=groups, time=time)
    if y_test is None:
        raise InputError("The responses of the test rows are missing: give y_test.")
    return read_rows(X_test, y_test, task, weight=weight, groups=groups, time=time)


def _what_was_checked(seen: SeenRows | None) -> str:
    if seen is None:
        return (
            "The model was not fitted to any of the test rows: it keeps no rows to compare them "
            "with, so this was not checked; give X_train= to have it checked."
        )
    if seen.seen == 0:
        return f"Checked: none of the {seen.n:,} test rows is among the training rows."
    return (
        f"Checked: {seen.seen:,} of the {seen.n:,} test rows equal a training row, which may be "
        f"chance ({seen.twins:,} of the {seen.n_train:,} training rows have an equal too)."
    )


def _check_request(delta: float, method: str, candidates: int) -> None:
    """Refuse what no losses could make a certificate of."""
    Real(0, 1, open_low=True, open_high=True).check("certify", "delta", delta)
    Integer(1).check("certify", "candidates", candidates)
    if method not in METHODS:
        raise ParameterError(
            f"method={method!r} is not allowed; use one of {', '.join(METHODS)}."
            + did_you_mean(str(method), METHODS)
        )


def _limits(
    values: FloatArray, zero_one: bool, loss_range: tuple[float, float] | None
) -> tuple[float, float] | None:
    """Return the limits of the loss, or None where it has none that are known."""
    if zero_one:
        if not np.all((values == 0) | (values == 1)):
            raise InputError("A zero-one loss is 0 or 1 on every row; these losses are not.")
        return 0.0, 1.0
    if loss_range is None:
        return None
    try:
        low, high = map(float, loss_range)
        allowed = np.isfinite(low) and np.isfinite(high) and low < high
    except (TypeError, ValueError):
        allowed = False
    if not allowed:
        raise ParameterError(
            f"loss_range={loss_range!r} is not allowed; give two numbers, finite, low below high."
        )
    if values.min() < low or values.max() > high:
        raise InputError(
            f"The losses go from {values.min():.6g} to {values.max():.6g}, outside "
            f"loss_range={loss_range!r}: the limits must hold for every row there can be."
        )
    return low, high


def _are_equal(values: FloatArray) -> bool:
    """Return True for numbers that differ by rounding at most."""
    return bool(np.ptp(values) <= _ROUNDING * np.max(np.abs(values)))


def _interval(
    values: FloatArray,
    share: FloatArray | None,
    mean: float,
    delta: float,
    method: str,
    zero_one: bool,
    limits: tuple[float, float] | None,
) -> tuple[str, tuple[float, float]]:
    """Return the name of the method and its limits; `share` has the weights where they differ."""
    n = len(values)
    if method == "clopper_pearson" or (method == "auto" and zero_one and share is None):
        if not zero_one or share is not None:
            raise InputError(
                "Clopper and Pearson's interval counts errors: it is for the zero-one loss of rows "
                "that all weigh the same. Use 'empirical_bernstein' with loss_range=(low, high), "
                "or 'student'."
            )
        return "Clopper-Pearson", clopper_pearson(int(values.sum()), n, delta)
    if n < 2 and method != "hoeffding" and (limits is None or method != "auto"):
        raise InputError(f"The interval {method!r} needs at least 2 test rows; got 1.")
    if method == "student" or (method == "auto" and limits is None):
        least = limits[0] if limits is not None else (0.0 if values.min() >= 0 else -np.inf)
        if _are_equal(values):  # Student's interval would be that number
            return _EQUAL, (least, np.inf if limits is None else limits[1])
        if share is None:
            return "Student's t", student(values, delta, low=least)
        most = float(np.max(np.abs(values - mean)))  # whose square may be beyond all numbers
        variance = n / (n - 1) * float(share**2 @ ((values - mean) / most) ** 2)
        quantile = float(stats.t.ppf(1 - delta / 2, effective_size(share) - 1))
        away = quantile * np.sqrt(variance) * most
        return "Student's t", (max(least, mean - away), mean + away)
    if limits is None:
        raise InputError(
            f"{method!r} holds for losses with known limits only, and this loss has none: give "
            "loss_range=(low, high) if you know them without looking at the test rows, or use "
            "'student', which is approximate."
        )
    low, high = limits
    top = high - low  # range of the terms of the mean
    if share is not None:
        top *= n * float(share.max())
        values = low + np.minimum(n * share * (values - low), top)

    def half(delta: float) -> float:
        if share is None:
            return float(hoeffding_deviation(n, delta, low=low, high=high))
        one = hoeffding_deviation(1, delta, low=low, high=high)
        return float(one / np.sqrt(effective_size(share)))

    def flat(delta: float) -> tuple[float, float]:
        return max(low, mean - half(delta)), min(high, mean + half(delta))

    def sharp(delta: float) -> tuple[float, float]:
        lower, upper = empirical_bernstein(values, delta, low=low, high=low + top)
        return lower, min(high, upper)

    if method == "empirical_bernstein":
        return "empirical Bernstein", sharp(delta)
    # Bernstein's interval can only be the shorter if it is for losses that do not vary.
    steady = bernstein_deviation(0.0, n, delta / 2, high=top) if n > 1 else np.inf
    if method == "hoeffding" or steady >= half(delta):
        return "Hoeffding", flat(delta)
    one, other = flat(delta / 2), sharp(delta / 2)
    name = "Hoeffding and empirical Bernstein, half of delta each"
    return name, (max(one[0], other[0]), min(one[1], other[1]))
