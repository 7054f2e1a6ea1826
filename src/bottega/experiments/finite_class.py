"""Claims about empirical risk minimisation over finite classes."""

from functools import partial

import numpy as np

from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.experiments.experiment import Experiment, experiment
from bottega.plot import lines_chart
from bottega.risk.bounds import erm_finite
from bottega.risk.erm import empirical_risk, erm
from bottega.risk.finite import FiniteDistribution
from bottega.risk.hypotheses import labellings

__all__ = ["class_growth", "erm_deviation", "fitting_regimes", "rich_class"]


@experiment(
    "A-E02",
    claim="Minimising the training error over a class that is too rich cannot generalise.",
    items="A15, A16",
)
def rich_class(*, points: int = 5) -> Experiment:
    """Keep all labellings that fit the training points, and test them on the other points.

    All 2^points labellings are the class, and each in turn is the truth. m training points leave
    2^(points - m) minimisers of the training error, of which half are wrong at any point not seen:
    their mean error there is 1/2, until all log2 #F = points have been seen.

    Parameters
    ----------
    points : int
        Points of the domain.
    """
    F = labellings(points)
    minimisers, unseen, risk, worst = [], [], [], []
    for m in range(points + 1):
        found, error, whole = [], [], []
        for truth in F:
            # Without training points every hypothesis is a minimiser.
            fits = erm(F, (np.arange(m), truth[:m])).indices if m else np.arange(len(F))
            found.append(len(fits))
            whole.append(np.mean(F[fits] != truth))
            if m < points:
                error += empirical_risk(F[fits], (np.arange(m, points), truth[m:])).tolist()
        minimisers.append(found)
        unseen.append(np.mean(error) if error else np.nan)
        worst.append(np.max(error) if error else np.nan)
        risk.append(np.mean(whole))
    sizes = np.arange(points + 1)
    elsewhere = np.array(unseen)
    holds = (
        np.all(np.array(minimisers) == 2 ** (points - sizes)[:, None])
        and np.allclose(elsewhere[:-1], 0.5, rtol=0, atol=1e-12)
        and np.all(np.array(worst[:-1]) == 1)
        and np.allclose(np.array(risk), (points - sizes) / (2 * points), rtol=0, atol=1e-12)
    )
    return Experiment(
        columns={
            "training points": sizes,
            "minimisers": [each[0] for each in minimisers],
            "mean error elsewhere": elsewhere,
            "mean risk": risk,
        },
        holds=bool(holds),
        finding=f"of {len(F)} labellings of {points} points {minimisers[3][0]} fit three of them, "
        "with a mean error of 1/2 on the others; only all of the points, log2 of the size of the "
        "class, leave one",
        draw=partial(
            lines_chart,
            sizes,
            {"on points not seen": elsewhere, "on all points": risk},
            x_title="training points",
            y_title="mean error of the minimisers",
            title="A class of all labellings learns nothing about new points",
            subtitle="Zero training error every time; elsewhere a coin toss",
        ),
    )


@experiment(
    "A-E03",
    claim="With m rows a class of log2 #F far above m overfits, one of log2 #F far below m "
    "underfits.",
    items="A17, A39",
    verdict="holds only if the small class has no good member: the class of the truth alone has "
    "log2 #F = 0 and underfits nothing",
)
def fitting_regimes(
    *,
    rows: int = 64,
    cells: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
    repeats: int = 100,
    seed: int = 0,
) -> Experiment:
    """Minimise the training error over step functions with more and more cells.

    The class of labellings of c equal cells of [0, 1] has 2^c members, so log2 #F = c. The truth
    changes its label ever faster along [0, 1] and a tenth of the labels are flipped. Risks are
    exact; only training sets are drawn.

    Parameters
    ----------
    rows : int
        Training rows m.
    cells : tuple of int
        Sizes of the class, log2 #F; each divides 1024.
    repeats : int
        Training sets.
    seed : int
        Of the training sets.
    """
    eta = chirp()
    rng = np.random.default_rng(seed)
    train, risk, truth_alone = np.zeros(len(cells)), np.zeros(len(cells)), 0.0
    for _ in range(repeats):
        where, y = draw_rows(eta, rows, rng)
        truth_alone += float(np.mean((eta[where] > 0.5) != y)) / repeats
        for i, c in enumerate(cells):
            said = step_erm(where, y, c, len(eta))
            train[i] += np.mean(said[where] != y) / repeats
            risk[i] += np.mean(np.where(said, 1 - eta, eta)) / repeats
    bayes = float(np.mean(np.minimum(eta, 1 - eta)))
    best = int(np.argmin(risk))
    # Means of 100 training sets; their standard errors are below 0.01, the margins far above.
    holds = (
        train[0] > bayes + 0.2
        and train[-1] < 0.05
        and risk[-1] > risk[best] + 0.05
        and risk[0] > risk[best] + 0.05
        and cells[0] < cells[best] < cells[-1]
        and abs(truth_alone - bayes) < 0.03
    )
    return Experiment(
        columns={"log2 class size": np.array(cells), "training error": train, "risk": risk},
        holds=bool(holds),
        finding=f"with {rows} rows training error and risk are {train[0]:.2f} and {risk[0]:.2f} at "
        f"log2 #F = {cells[0]}, {train[best]:.2f} and {risk[best]:.2f} at {cells[best]}, "
        f"{train[-1]:.2f} and {risk[-1]:.2f} at {cells[-1]}; the truth alone has "
        f"{truth_alone:.2f} and {bayes:.2f}",
        draw=partial(
            lines_chart,
            cells,
            {"risk": risk, "training error": train, "Bayes risk": np.full(len(cells), bayes)},
            x_title=f"log2 of the size of the class ({rows} rows)",
            y_title="error",
            title="Underfitting and overfitting by the size of the class",
            subtitle="Few functions fit badly everywhere, too many fit the noise",
            log_x=True,
            dashed=("Bayes risk",),
        ),
    )


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
    seed: int = 0,
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
    seed : int
        Of the training sets.
    """
    eta = chirp()
    rng = np.random.default_rng(seed)
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
    seed: int = 0,
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
    seed : int
        Of all draws.
    """
    rng = np.random.default_rng(seed)
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


def chirp(cells: int = 1024) -> FloatArray:
    """Return P(y = 1 | x) on small cells of [0, 1]: 0.9 or 0.1, in turns that get shorter."""
    x = (np.arange(cells) + 0.5) / cells
    return np.where(np.sin(12 * np.pi * x**2) > 0, 0.9, 0.1)


def draw_rows(eta: FloatArray, rows: int, rng: np.random.Generator) -> tuple[IntArray, BoolArray]:
    """Return the small cells that rows fall into, and their labels."""
    where = rng.integers(len(eta), size=rows)
    return where, rng.uniform(size=rows) < eta[where]


def step_erm(where: IntArray, y: BoolArray, cells: int, n: int) -> BoolArray:
    """Return the step function of least training error at the n small cells; ties say True."""
    votes = np.bincount(where * cells // n, weights=np.where(y, 1.0, -1.0), minlength=cells)
    return np.repeat(votes >= 0, n // cells)
