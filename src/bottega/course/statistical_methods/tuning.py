"""Chapter 6: hyperparameters and cross-validation."""

from functools import partial

import numpy as np

from bottega.core.folds import deal_folds
from bottega.core.typing import FloatArray, IntArray
from bottega.course.experiment import Experiment, experiment
from bottega.plot import lines_chart

__all__ = ["tuning_optimism"]


@experiment(
    "A-E18",
    claim="The least cross-validated error of several settings is optimistic; nested "
    "cross-validation is less so.",
    items="A50, A51",
)
def tuning_optimism(
    *,
    rows: int = 40,
    folds: int = 5,
    signals: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0),
    repeats: int = 40,
    points: int = 1000,
    random_state: int = 0,
) -> Experiment:
    """Tune the number of neighbours on many small data sets from known distributions.

    Two normal classes in ten columns, `signal` apart. For each data set the least cross-validated
    error over k, the error of nested cross-validation, the risk of the tuned rule and the least
    risk of any k are found; risks are errors on many new rows.

    Parameters
    ----------
    rows : int
        Rows of a data set.
    folds : int
        Folds, outer and inner.
    signals : tuple of float
        Distances between the classes; at 0 every rule has risk 1/2.
    repeats : int
        Data sets for each distance.
    points : int
        New rows for each data set.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    ks = np.arange(1, 20, 2)
    fold = deal_folds(rows, folds)
    named = ("least error", "nested", "tuned risk", "least risk")
    found = np.zeros((len(signals), repeats, len(named)))
    for i, signal in enumerate(signals):
        for r in range(repeats):
            y = rng.integers(0, 2, size=rows + points)
            X = rng.normal(size=(rows + points, 10))
            X[:, 0] += signal * (y - 0.5)
            found[i, r] = tuned_errors(X[:rows], y[:rows], X[rows:], y[rows:], ks, fold)
    mean = found.mean(axis=1)
    over = found - found[:, :, [2]]  # against the risk of the rule that was tuned
    bias, se = over.mean(axis=1), over.std(axis=1, ddof=1) / np.sqrt(repeats)
    low = found[:, :, 0] - found[:, :, 3]
    low_bias, low_se = low.mean(axis=1), low.std(axis=1, ddof=1) / np.sqrt(repeats)
    total, total_se = bias.mean(axis=0), np.sqrt(np.sum(se**2, axis=0)) / len(signals)
    holds = (
        total[0] < -4 * total_se[0]
        # The least of noisy risks is itself too low, so that this is on the safe side.
        and np.mean(low_bias) < -3 * float(np.sqrt(np.sum(low_se**2))) / len(signals)
        and abs(total[1]) < abs(total[0]) - 3 * total_se[0]
    )
    return Experiment(
        columns={"signal": np.array(signals), **dict(zip(named, mean.T, strict=True))},
        holds=bool(holds),
        finding=f"on average the least cross-validated error is {-total[0]:.3f} below the risk of "
        f"the tuned rule (standard error {total_se[0]:.3f}) and {np.mean(low_bias):+.3f} off the "
        f"least risk of any k; nested cross-validation is {total[1]:+.3f} off",
        draw=partial(
            lines_chart,
            signals,
            dict(
                zip(
                    (
                        "least cross-validated error",
                        "nested cross-validation",
                        "risk of the tuned rule",
                        "least risk of any k",
                    ),
                    mean.T,
                    strict=True,
                )
            ),
            x_title="distance between the classes",
            y_title="error",
            title="The least error of many is no estimate of its risk",
            subtitle=f"{rows} rows, {len(ks)} settings, {folds} folds, {repeats} data sets",
            dashed=("risk of the tuned rule", "least risk of any k"),
        ),
    )


def tuned_errors(
    X: FloatArray, y: IntArray, X_new: FloatArray, y_new: IntArray, ks: IntArray, fold: IntArray
) -> tuple[float, float, float, float]:
    """Return the least and the nested error, the risk of the tuned k, and the least risk.

    One table of distances serves every fold: leaving rows out deletes columns of it.
    """
    distance = _squared_distances(X, X)
    error = _cv_errors(distance, y, ks, fold)
    new = _errors(_squared_distances(X_new, X), y, y_new, ks)
    nested = []
    for i in range(fold.max() + 1):
        kept, out = fold != i, fold == i
        inner = np.unique(fold[kept], return_inverse=True)[1]
        chosen = np.argmin(_cv_errors(distance[np.ix_(kept, kept)], y[kept], ks, inner))
        nested.append(_errors(distance[np.ix_(out, kept)], y[kept], y[out], ks[[chosen]])[0])
    return float(error.min()), float(np.mean(nested)), float(new[np.argmin(error)]), new.min()


def _cv_errors(distance: FloatArray, y: IntArray, ks: IntArray, fold: IntArray) -> FloatArray:
    """Return the mean over folds of the error for each k."""
    parts = [
        _errors(distance[np.ix_(fold == i, fold != i)], y[fold != i], y[fold == i], ks)
        for i in range(fold.max() + 1)
    ]
    return np.mean(parts, axis=0)


def _errors(distance: FloatArray, y: IntArray, truth: IntArray, ks: IntArray) -> FloatArray:
    """Return the error of the vote of the k nearest, for odd k and labels 0 and 1."""
    near = np.argsort(distance, axis=1)[:, : ks[-1]]
    votes = np.cumsum(y[near], axis=1)[:, ks - 1]
    return np.mean((votes > ks / 2) != (truth[:, None] == 1), axis=0)


def _squared_distances(A: FloatArray, B: FloatArray) -> FloatArray:
    return np.sum(A**2, axis=1)[:, None] - 2 * A @ B.T + np.sum(B**2, axis=1)
