"""Chapter 4: risk, test error, empirical risk minimisation."""

from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom

from bottega.core.losses import SQUARED_ERROR
from bottega.course.experiment import Experiment, experiment
from bottega.course.statistical_methods.foundations import chirp, draw_rows, step_erm
from bottega.plot import lines_chart
from bottega.risk.bounds import erm_finite, hoeffding_deviation, hoeffding_probability
from bottega.risk.theory.finite_distribution import FiniteDistribution
from bottega.risk.theory.hypotheses import labellings

__all__ = ["best_predictor", "class_growth", "erm_deviation", "hoeffding_coverage"]


@experiment(
    "A-E11",
    claim="The Bayes predictor has the least risk; its risk is E min(eta, 1 - eta) for classes "
    "and E Var(Y | X), not Var Y, for the quadratic loss; Var Y = E Var(Y | X) + Var E(Y | X).",
    items="A-4.2, A-4.3, A-4.4, A-4.5",
)
def best_predictor(*, points: int = 8, grid: int = 201, random_state: int = 0) -> Experiment:
    """Compute the risk of every classifier, and of every number as a prediction at each point.

    X takes `points` values and Y is 0 or 1 with P(Y = 1 | x) = eta(x). All 2^points classifiers
    are tried; for the quadratic loss each point is predicted by every number of a grid. No
    simulation: risks are sums.

    Parameters
    ----------
    points : int
        Values of X.
    grid : int
        Numbers tried as predictions.
    random_state : int
        Of the distribution.
    """
    rng = np.random.default_rng(random_state)
    marginal = rng.dirichlet(np.full(points, 2.0))
    eta = rng.uniform(size=points)
    eta[0] = 0.5  # a tie, which goes to 1
    joint = marginal[:, None] * np.column_stack([1 - eta, eta])
    classes = FiniteDistribution(joint, labels=(0, 1))
    risks = classes.risks(labellings(points, (1, 0)))
    formula = float(marginal @ np.minimum(eta, 1 - eta))
    numbers = FiniteDistribution(joint, labels=(0, 1), loss=SQUARED_ERROR)
    z = np.linspace(0, 1, grid)
    at_point = SQUARED_ERROR.risk(numbers.labels, numbers.conditional[:, None, :], z)
    within = float(marginal @ (eta * (1 - eta)))
    mean = float(marginal @ eta)
    total = mean * (1 - mean)
    between = float(marginal @ (eta - mean) ** 2)
    least = z[np.argmin(at_point, axis=1)]
    holds = (
        abs(risks.min() - formula) < 1e-12
        and abs(classes.bayes_risk - formula) < 1e-12
        and np.array_equal(classes.bayes, (eta >= 0.5).astype(int))
        and abs(numbers.bayes_risk - within) < 1e-12
        and np.all(np.abs(least - eta) <= 0.5 / (grid - 1) + 1e-12)
        and np.all(at_point.min(axis=1) >= eta * (1 - eta) - 1e-12)
        and abs(total - within - between) < 1e-12
    )
    shown = np.argsort(eta)[[0, points // 2, -1]]
    return Experiment(
        columns={
            "x": np.arange(points),
            "probability": marginal,
            "eta": eta,
            "best label": classes.bayes,
            "least error": np.minimum(eta, 1 - eta),
            "best number": numbers.bayes,
            "least squared error": eta * (1 - eta),
        },
        holds=bool(holds),
        finding=f"the least risk of all {len(risks)} classifiers is {risks.min():.6f} = "
        f"E min(eta, 1 - eta); the least squared error {within:.6f} = E Var(Y | X), while Var Y = "
        f"{total:.6f} has {between:.6f} more, Var E(Y | X)",
        draw=partial(
            lines_chart,
            z,
            {f"eta(x) = {eta[i]:.2f}": at_point[i] for i in shown},
            x_title="prediction",
            y_title="expected squared error at x",
            title="The best prediction at a point is its conditional mean",
            subtitle="Each curve is lowest at eta(x), where it is eta(x) (1 - eta(x))",
            points=False,
        ),
    )


@experiment(
    "A-E12",
    claim="The test error of a predictor that does not depend on the test set is off by more than "
    "eps with probability at most 2 exp(-2 eps^2 n); for one chosen on the test set this fails.",
    items="A34, A35, A-4.6",
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
        f"with probability {covered.min():.1%} or more, but {chosen.min():.1%} for the best of "
        f"{chosen_from} predictors chosen on the same rows",
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
    "A-E13",
    claim="The risk is exactly estimation error + approximation error + Bayes risk; a larger class "
    "trades approximation for estimation error.",
    items="A37, A39",
)
def class_growth(
    *,
    rows: int = 200,
    cells: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256),
    repeats: int = 100,
    random_state: int = 0,
) -> Experiment:
    """Split the risk of step functions with more and more cells into its three terms.

    The best step function of each class and the Bayes predictor are known, so each term is exact
    for every training set; means over training sets are shown.

    Parameters
    ----------
    rows : int
        Training rows.
    cells : tuple of int
        Cells of the classes; each divides 1024.
    repeats : int
        Training sets.
    random_state : int
        Of the training sets.
    """
    eta = chirp()
    rng = np.random.default_rng(random_state)
    bayes = float(np.mean(np.minimum(eta, 1 - eta)))
    share = [eta.reshape(c, -1).mean(axis=1) for c in cells]
    best = np.array([np.mean(np.minimum(each, 1 - each)) for each in share])
    risk = np.zeros((repeats, len(cells)))
    for r in range(repeats):
        where, y = draw_rows(eta, rows, rng)
        for i, c in enumerate(cells):
            risk[r, i] = np.mean(np.where(step_erm(where, y, c, len(eta)), 1 - eta, eta))
    estimation, approximation = risk - best, best - bayes
    gap = float(np.max(np.abs(estimation + approximation + bayes - risk)))
    mean = estimation.mean(axis=0)
    turn = int(np.argmin(risk.mean(axis=0)))
    holds = (
        gap < 1e-12
        and np.all(estimation >= -1e-12)
        and np.all(np.diff(approximation) <= 1e-12)
        and approximation[0] > 0.2
        and approximation[-1] < 0.02
        and mean[-1] > mean[turn] > mean[0]
        and 0 < turn < len(cells) - 1
    )
    return Experiment(
        columns={
            "cells": np.array(cells),
            "risk": risk.mean(axis=0),
            "estimation": mean,
            "approximation": approximation,
            "bayes": np.full(len(cells), bayes),
        },
        holds=bool(holds),
        finding=f"the terms add up to {gap:.0e}; from {cells[0]} to {cells[-1]} cells the "
        f"approximation error falls from {approximation[0]:.3f} to {approximation[-1]:.3f}, the "
        f"estimation error rises from {mean[0]:.3f} to {mean[-1]:.3f}, least risk at {cells[turn]}",
        draw=partial(
            lines_chart,
            cells,
            {
                "risk": risk.mean(axis=0),
                "estimation error": mean,
                "approximation error": approximation,
                "Bayes risk": np.full(len(cells), bayes),
            },
            x_title="cells (log2 of the size of the class)",
            y_title="error",
            title="What the risk is made of",
            subtitle=f"{rows} rows: the two errors trade places as the class grows",
            log_x=True,
            dashed=("Bayes risk",),
        ),
    )


@experiment(
    "A-E14",
    claim="The excess risk of ERM is at most twice the largest deviation in the class, always, and "
    "at most sqrt(2/m ln(2 #H / delta)) with probability 1 - delta.",
    items="A38, A39",
)
def erm_deviation(
    *,
    hypotheses: int = 32,
    points: int = 16,
    rows: tuple[int, ...] = (20, 60, 200, 600, 2000, 6000),
    repeats: int = 400,
    delta: float = 0.05,
    random_state: int = 0,
) -> Experiment:
    """Draw training sets and compare the excess risk with both of its limits.

    Parameters
    ----------
    hypotheses : int
        Random labellings in the class.
    points : int
        Points of the domain.
    rows : tuple of int
        Training rows.
    repeats : int
        Training sets of each size.
    delta : float
        Probability with which the bound may fail.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    eta = rng.uniform(0.1, 0.9, size=points)
    D = FiniteDistribution(np.column_stack([1 - eta, eta]) / points)
    H = rng.choice([-1, 1], size=(hypotheses, points))
    true = D.risks(H)
    bound = np.asarray(erm_finite(np.array(rows), hypotheses, delta))
    typical, high, deviation, failures = [], [], [], []
    always = True
    for m, limit in zip(rows, bound, strict=True):
        counts = rng.multinomial(m, D.joint.ravel(), size=repeats).reshape(repeats, points, 2)
        # A hypothesis errs on -1 at the points it labels +1, and the other way round.
        wrong = counts[:, :, 0] @ (H == 1).T + counts[:, :, 1] @ (H == -1).T
        error = wrong / m
        excess = true[np.argmin(error, axis=1)] - true.min()
        largest = np.max(np.abs(error - true), axis=1)
        always &= bool(np.all(excess <= 2 * largest + 1e-12))
        typical.append(excess.mean())
        high.append(np.quantile(excess, 1 - delta))
        deviation.append(2 * largest.mean())
        failures.append(np.mean(excess > limit))
    loose = float(bound[-1] / max(high[-1], deviation[-1]))
    return Experiment(
        columns={
            "rows": np.array(rows),
            "mean excess": typical,
            f"{1 - delta:.0%} quantile of excess": high,
            "twice the largest deviation": deviation,
            "bound": bound,
            "failures": failures,
        },
        # The true probability of failure is far below delta, so that none is expected.
        holds=bool(always and max(failures) <= delta),
        finding=f"in {repeats * len(rows):,} training sets the excess never passes twice the "
        f"largest deviation and passes the bound in {max(failures):.1%} at most; at {rows[-1]:,} "
        f"rows the bound is {bound[-1] / deviation[-1]:.1f} times twice the mean deviation and "
        f"{loose:.1f} times what is needed",
        draw=partial(
            lines_chart,
            rows,
            {
                "bound": bound,
                "twice the largest deviation": deviation,
                f"{1 - delta:.0%} quantile of excess": high,
                "mean excess": typical,
            },
            x_title="training rows",
            y_title="risk above the best of the class",
            title="How loose the bound for a finite class is",
            subtitle=f"{hypotheses} hypotheses, delta = {delta:g}",
            log_x=True,
            log_y=True,
            dashed=("bound",),
        ),
    )
