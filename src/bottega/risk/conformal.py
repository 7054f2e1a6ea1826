"""Prediction intervals for any model: split conformal, jackknife+ and CV+."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from bottega.core.errors import InputError
from bottega.core.folds import make_folds
from bottega.core.frames import take_rows
from bottega.core.typing import FloatArray
from bottega.risk.estimate.judged_rows import (
    JudgedRows,
    class_probabilities,
    finite_losses,
    read_rows,
    task_of,
)
from bottega.risk.estimate.procedures import fit_weighted
from bottega.risk.prediction_intervals import PredictionIntervals, PredictionSets, numbers, sizes

__all__ = ["cross_conformal", "jackknife_plus", "split_conformal"]


def split_conformal(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    scale: Any = None,
) -> PredictionIntervals | PredictionSets:
    r"""Return intervals around a fitted model's predictions, calibrated by rows it has not seen.

    Parameters
    ----------
    model : fitted estimator
        Regressor (intervals) or classifier with probabilities (sets of classes).
    X, y : array-like
        Rows that played no part in fitting or choosing the model; a `Table` stands for both.
    sample_weight : array-like of shape (n,), optional
        Rows to come are drawn in proportion to these weights. A row to come is given the largest of
        them, which makes the intervals wider, never narrower, than its own would.
    groups : array-like of shape (n,), optional
        Rows of one group depend on each other: a row of a new group is covered. Each group counts
        one, its rows alike.
    scale : fitted regressor, optional
        Predicts the typical absolute error at a row (positive; fitted to other rows): the intervals
        are then wider where it is larger, and the guarantee is the same.

    Returns
    -------
    PredictionIntervals or PredictionSets

    Notes
    -----
    With q the :math:`\lceil level\,(n + 1) \rceil`-th smallest absolute error the interval is
    :math:`\hat\mu(x) \pm q`, and :math:`P(Y \in C(X)) \ge level`; where no two errors are equal it
    is at most :math:`level + 1 / (n + 1)`.

    References
    ----------
    .. [1] Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic Learning in a Random World.
    .. [2] Lei, J., G'Sell, M., Rinaldo, A., Tibshirani, R. J. and Wasserman, L. (2018).
       Distribution-free predictive inference for regression. Journal of the American Statistical
       Association 113, 1094-1111.
    .. [3] Tibshirani, R. J., Barber, R. F., Candes, E. and Ramdas, A. (2019). Conformal prediction
       under covariate shift. Advances in Neural Information Processing Systems 32.
    .. [4] Lee, Y., Barber, R. F. and Willett, R. (2023). Distribution-free inference with
       hierarchical data. arXiv:2306.06342.

    Examples
    --------
    >>> from bottega.core import BaselineRegressor
    >>> model = BaselineRegressor().fit(np.zeros((2, 1)), [0.0, 2.0])
    >>> found = split_conformal(model, np.zeros((9, 1)), 1 + np.arange(9.0))
    >>> lower, upper = found.interval(np.zeros((1, 1)), level=0.8)
    >>> lower.tolist(), upper.tolist(), found.guarantee(0.8)
    ([-6.0], [8.0], 0.8)
    """
    X, rows = read_rows(X, y, task_of(model), weight=sample_weight, groups=groups)
    return _calibrated("split", [(model, X, rows)], scale)


def cross_conformal(
    fits: Sequence[tuple[Any, Any, Any, Any]], *, groups: Sequence[Any] | None = None
) -> PredictionIntervals | PredictionSets:
    r"""Return CV+ intervals from the models of folds and the rows that each of them held out.

    Parameters
    ----------
    fits : sequence of (model, X, y, sample_weight)
        For each fold the model fitted to the other folds, and the rows of the fold; weights may be
        None. With one row in each fold this is jackknife+.
    groups : sequence of array-like, optional
        For each fold the group of each row; no group is in two folds.

    Returns
    -------
    PredictionIntervals or PredictionSets

    Notes
    -----
    The limits at x are the :math:`\lceil level\,(n + 1) \rceil`-th smallest of
    :math:`\hat\mu_{-k(i)}(x) + R_i` and, with the sign turned, of :math:`R_i -
    \hat\mu_{-k(i)}(x)`. No rows are lost to calibration. See `PredictionIntervals.guarantee` for
    the worst case. With weights or groups the quantiles are those of `split_conformal`.

    References
    ----------
    .. [1] Barber, R. F., Candes, E. J., Ramdas, A. and Tibshirani, R. J. (2021). Predictive
       inference with the jackknife+. Annals of Statistics 49, 486-507.
    .. [2] Prinster, D., Liu, A. and Saria, S. (2022). JAWS: auditing predictive uncertainty under
       covariate shift. Advances in Neural Information Processing Systems 35.

    Examples
    --------
    >>> from bottega.core import BaselineRegressor
    >>> X, y = np.zeros((6, 1)), np.arange(6.0)
    >>> fits = [(BaselineRegressor().fit(X[2:], np.delete(y, [k, k + 3])), X[:2], y[[k, k + 3]],
    ...          None) for k in range(3)]
    >>> found = cross_conformal(fits)
    >>> [limit.tolist() for limit in found.interval(X[:1], level=0.6)], found.kind
    ([[0.0], [5.0]], 'CV+')
    """
    fits = list(fits)
    if len(fits) < 2:
        raise InputError(
            f"CV+ needs the models of at least 2 folds; got {len(fits)}. Calibrate one model on "
            "rows it has not seen with split_conformal."
        )
    if groups is not None and len(groups) != len(fits):
        raise InputError(f"groups has entries for {len(groups)} folds; there are {len(fits)}.")
    task = task_of(fits[0][0])
    parts = []
    for k, (model, X, y, weight) in enumerate(fits):
        of_fold = None if groups is None else groups[k]
        X, rows = read_rows(X, y, task, weight=weight, groups=of_fold)
        parts.append((model, X, rows))
    one_each = all(len(rows) == 1 for _, _, rows in parts)
    return _calibrated("jackknife+" if one_each else "CV+", parts, None)


def jackknife_plus(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = "loo",
    sample_weight: Any = None,
    groups: Any = None,
) -> PredictionIntervals | PredictionSets:
    """Fit an estimator without each row (or fold) and return its jackknife+ (or CV+) intervals.

    Parameters
    ----------
    estimator : regressor or classifier
        Cloned before each fit.
    X, y : array-like
        The rows.
    cv : "loo", int, or splitter
        Leave-one-out (n fits), or folds.
    sample_weight, groups : array-like of shape (n,), optional
        As in `split_conformal`; folds keep groups together.

    Returns
    -------
    PredictionIntervals or PredictionSets

    Examples
    --------
    >>> from bottega.data import make
    >>> from bottega.linear import LeastSquares
    >>> sample = make.sine(40, random_state=0)
    >>> found = jackknife_plus(LeastSquares(), sample.X, sample.y)
    >>> lower, upper = found.interval(sample.X[:3], level=0.9)
    >>> found.kind, bool(np.all(lower < upper)), round(found.guarantee(0.9), 3)
    ('jackknife+', True, 0.8)
    """
    X, rows = read_rows(X, y, task_of(estimator), weight=sample_weight, groups=groups)
    strata = rows.y if is_classifier(estimator) and cv != "loo" else None
    folds = make_folds(cv, len(rows), strata=strata, groups=rows.groups, X=X, y=rows.y)
    fits = []
    for train, test in folds:
        model = clone(estimator)
        fit_weighted(model, take_rows(X, train), rows.y[train], rows.weight_of(train))
        fits.append((model, take_rows(X, test), rows.y[test], rows.weight_of(test)))
    by_fold = None if rows.groups is None else [rows.groups[test] for _, test in folds]
    return cross_conformal(fits, groups=by_fold)


def _calibrated(kind: str, parts: list[tuple[Any, Any, JudgedRows]], scale: Any) -> Any:
    """Judge the rows of each part by its model."""
    all_rows = [rows for _, _, rows in parts]
    weights, new_weight, n_groups = _weights(all_rows)
    classes = None
    if all_rows[0].task == "classification":
        if scale is not None:
            raise InputError("scale= is for regression: it predicts the size of an error.")
        own = [getattr(model, "classes_", rows.y) for model, _, rows in parts]
        classes = np.unique(np.concatenate([*own, *(rows.y for rows in all_rows)]))
    models, scores, kept = [], [], []
    for (model, X, rows), weight in zip(parts, weights, strict=True):
        if classes is None:
            score = np.abs(numbers(rows.y) - numbers(model.predict(X)))
            score = score if scale is None else score / sizes(scale, X)
        else:
            shares = class_probabilities(model, X, classes, "prediction set")
            score = 1 - shares[np.arange(len(rows)), np.searchsorted(classes, rows.y)]
        counted = np.flatnonzero(weight > 0)
        order = counted[np.argsort(finite_losses(score)[counted], kind="stable")]
        models.append(model)
        scores.append(score[order])
        kept.append(weight[order])
    shared: dict[str, Any] = {
        "kind": kind,
        "models": models,
        "scores": scores,
        "weights": kept,
        "new_weight": new_weight,
        "n": sum(map(len, scores)),
        "n_groups": n_groups,
        "weighted": any(rows.weight is not None for rows in all_rows),
    }
    if classes is None:
        return PredictionIntervals(**shared, scale=scale)
    return PredictionSets(**shared, classes=classes)


def _weights(parts: list[JudgedRows]) -> tuple[list[FloatArray], float, int]:
    """Return the weights of the rows of each part, that of a row to come, the number of groups."""
    weights = [np.ones(len(rows)) if rows.weight is None else rows.weight for rows in parts]
    if all(rows.groups is None for rows in parts):
        return weights, float(max(each.max() for each in weights)), 0
    if any(rows.weight is not None for rows in parts):
        raise InputError(
            "Prediction intervals for rows with both weights and groups are not available; leave "
            "out the weights, or the groups if the rows do not depend on each other."
        )
    names = np.concatenate([np.asarray(rows.groups) for rows in parts])
    _, code, size = np.unique(names, return_inverse=True, return_counts=True)
    ends = np.cumsum([len(rows) for rows in parts])[:-1]
    return np.split(1 / size[code], ends), 1.0, len(size)
