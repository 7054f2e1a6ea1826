"""Claims about test errors and cross-validation."""

from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom

from bottega.core.folds import deal_folds
from bottega.core.typing import FloatArray, IntArray
from bottega.experiments.experiment import Experiment, experiment
from bottega.plot import lines_chart
from bottega.risk.bounds import hoeffding_deviation, hoeffding_probability

__all__ = ["hoeffding_coverage", "tuning_optimism"]


@experiment(
    "A-E12",
    claim="A test error is off by more than eps with probability at most 2 exp(-2 eps^2 n).",
    items="A34, A35, A-4.6",
    verdict="holds only if the predictor was chosen without the test set",
)
def hoeffding_coverage(
    *,
    risk: float = 0.4,
    eps: float = 0.1,
    rows: tuple[int, ...] = (10, 20, 50, 100, 200, 300, 400),
    chosen_from: int = 200,
    delta: float = 0.05,
) -> Experiment:
    """Compute how often a test error misses, for one predictor and for the best of many.

    The errors of a predictor of risk r on n test rows are binomial, so the probability of a miss
    is exact. If the best of K predictors of the same risk is chosen on the test set itself, and
    they err independently, its test error is the least of K binomials.

    Parameters
    ----------
    risk : float
        Risk of every predictor.
    eps : float
        Miss that counts.
    rows : tuple of int
        Test rows n.
    chosen_from : int
        Predictors K that the test set chooses from.
    delta : float
        Probability with which Hoeffding's interval may fail.
    """
    n = np.array(rows)
    bound = np.asarray(hoeffding_probability(eps, n))
    one = miss_probability(n, risk, eps)
    best = miss_probability(n, risk, eps, chosen_from)
    half = np.asarray(hoeffding_deviation(n, delta))
    covered = 1 - np.array([miss_probability(k, risk, h) for k, h in zip(n, half, strict=True)])
    chosen = 1 - np.array(
        [miss_probability(k, risk, h, chosen_from) for k, h in zip(n, half, strict=True)]
    )
    decay = np.diff(np.log(one)) / np.diff(n)
    holds = (
        np.all(one <= bound)
        and np.all(covered >= 1 - delta)
        and np.all(decay <= -2 * eps**2 * 0.5)  # exponential in n, at half the bound's rate or more
        and np.all(chosen[n >= 100] < 1 - delta)
        and np.all(best[n >= 100] > bound[n >= 100])
    )
    return Experiment(
        columns={
            "rows": n,
            "misses": one,
            "bound": bound,
            "misses, best of many": best,
            "coverage": covered,
            "coverage, best of many": chosen,
        },
        holds=bool(holds),
        finding=f"a test error on {n[-1]} rows is off by more than {eps:g} with probability "
        f"{one[-1]:.1e}, at most {bound[-1]:.1e} by the bound; the {1 - delta:.0%} interval covers "
        f"with {covered.min():.1%} at least, but with {chosen.min():.1%} only for the best of "
        f"{chosen_from} on the same rows",
        draw=partial(
            lines_chart,
            n,
            {
                "Hoeffding's bound": bound,
                "one predictor": one,
                f"the best of {chosen_from} on the test set": best,
            },
            x_title="test rows",
            y_title=f"probability of missing the risk by {eps:g}",
            title="A test error can be trusted, once",
            subtitle="Choosing on the test set breaks the bound",
            log_y=True,
            dashed=("Hoeffding's bound",),
        ),
    )


def miss_probability(n: Any, risk: float, eps: Any, chosen_from: int = 1) -> Any:
    """Return the probability that the least of independent test errors is off by more than eps."""
    n = np.asarray(n)
    # Rounding must not count a test error that lies just at the limit.
    below = binom.cdf(np.ceil(n * (risk - eps) - 1e-9) - 1, n, risk)
    above = binom.sf(np.floor(n * (risk + eps) + 1e-9), n, risk)
    return 1 - (1 - below) ** chosen_from + above**chosen_from


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
    seed: int = 0,
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
    seed : int
        Of all draws.
    """
    rng = np.random.default_rng(seed)
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
