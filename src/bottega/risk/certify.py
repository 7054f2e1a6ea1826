"""A certificate for a model from rows it has never seen."""

from typing import Any

import numpy as np

from bottega.core.certificate import Certificate
from bottega.core.errors import InputError
from bottega.data.splits import LockedPart
from bottega.data.table import Table
from bottega.risk.certify_losses import certify_losses, check_request
from bottega.risk.estimate.judged_rows import JudgedRows, RowLosses, read_rows, task_of
from bottega.risk.estimate.seen_rows import SeenRows, seen_rows

__all__ = ["certify"]

_ON_TRUST = (
    "Nothing about the model was chosen by looking at the test rows: a fitted model does not tell "
    "how it was chosen, so this is taken on trust."
)


def certify(
    model: Any,
    X_test: Any,
    y_test: Any = None,
    *,
    delta: float = 0.05,
    sample_weight: Any = None,
    groups: Any = None,
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
    delta : float
        Probability with which the interval may miss the risk.
    sample_weight : array-like of shape (n,), optional
        How much each test row counts; see `certify_losses`.
    groups : array-like of shape (n,), optional
        Rows of one group depend on each other: the groups are then the independent units.
    method : {"auto", "clopper_pearson", "hoeffding", "empirical_bernstein", "student"}
        Which interval. ``"auto"`` takes the tightest that is valid for the loss, see
        `certify_losses`; one that is not valid for the loss is refused.
    candidates : int
        Number of models judged on these same rows; the union bound divides `delta` by it.
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
    check_request(delta, method, candidates)  # before a locked part is opened for nothing
    X, rows = _rows(X_test, y_test, task_of(model), sample_weight, groups)
    found = RowLosses(loss, rows.task)
    losses = found.of_model(model, X, rows.y)
    predicted = np.asarray(model.predict(X))
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
        assumptions=(_ON_TRUST, _what_was_checked(seen)),
    )


def _rows(X_test: Any, y_test: Any, task: str, weight: Any, groups: Any) -> tuple[Any, JudgedRows]:
    if isinstance(X_test, LockedPart | Table):
        if y_test is not None:
            raise InputError("A locked part or a table brings its own responses: leave out y_test.")
        X_test = X_test.open() if isinstance(X_test, LockedPart) else X_test
    elif y_test is None:
        raise InputError("The responses of the test rows are missing: give y_test.")
    return read_rows(X_test, y_test, task, weight=weight, groups=groups)


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
