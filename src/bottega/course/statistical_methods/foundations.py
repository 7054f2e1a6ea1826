"""Chapter 1: losses, training and test error, noise, over- and underfitting."""

from functools import partial
from typing import Any

import numpy as np

from bottega.core.losses import ABSOLUTE_ERROR, LOG_LOSS
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.neighbors import NeighborSearch
from bottega.plot import lines_chart
from bottega.risk.theory.erm import empirical_risk, erm
from bottega.risk.theory.hypotheses import labellings
from bottega.risk.theory.label_noise import annotators, hidden_features, noisy_features

__all__ = ["confident_forecasts", "fitting_regimes", "noise_and_neighbors", "rich_class"]


@experiment(
    "A-E01",
    claim="The logarithmic loss of a wrong forecast grows without limit with its confidence; the "
    "absolute loss stays at most 1.",
    items="A05, A07",
)
def confident_forecasts(*, decades: int = 12) -> Experiment:
    """Forecast the wrong outcome with more and more confidence, and charge both losses.

    A forecast z of y = 0 leaves it the probability 1 - z. Each time that this gets ten times
    smaller the logarithmic loss grows by ln 10; the absolute loss is z, below 1.

    Parameters
    ----------
    decades : int
        How often the probability left to the truth is divided by ten; at most 15, beyond which
        1 - z is not told from 1.
    """
    left = 10.0 ** -np.arange(1, decades + 1)
    absolute = np.maximum(ABSOLUTE_ERROR(1, left), ABSOLUTE_ERROR(0, 1 - left))
    # y = 1 is charged -ln z, in which z = `left` is exact; 1 - z would be rounded for y = 0.
    logarithmic = LOG_LOSS(1, left)
    mirrored = LOG_LOSS(0, 1 - left)
    steps = np.diff(logarithmic)
    holds = (
        np.all(absolute <= 1)
        and np.allclose(steps, np.log(10), rtol=1e-9)
        # Near 1 the numbers are 1.1e-16 apart, so 1 - z is known to that part of `left`.
        and np.all(np.abs(mirrored - logarithmic) <= 1e-9 + 2.3e-16 / left)
    )
    return Experiment(
        columns={"left to the truth": left, "absolute": absolute, "logarithmic": logarithmic},
        holds=bool(holds),
        finding=f"with {left[-1]:.0e} left to the truth the logarithmic loss is "
        f"{logarithmic[-1]:.2f}, {np.log(10):.3f} more for each decade, the absolute loss "
        f"{absolute[-1]:.6g}",
        draw=partial(
            lines_chart,
            left,
            {"logarithmic": logarithmic, "absolute": absolute},
            x_title="probability that the forecast leaves to the truth",
            y_title="loss",
            title="What a confident wrong forecast costs",
            subtitle="The logarithmic loss grows by ln 10 a decade, the absolute loss stops at 1",
            log_x=True,
        ),
    )


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
    random_state: int = 0,
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
    random_state : int
        Of the training sets.
    """
    eta = chirp()
    rng = np.random.default_rng(random_state)
    train, risk, truth_alone = np.zeros(len(cells)), np.zeros(len(cells)), 0.0
    for _ in range(repeats):
        where, y = draw_rows(eta, rows, rng)
        truth_alone += float(np.mean((eta[where] > 0.5) != y)) / repeats
        for i, c in enumerate(cells):
            predicted = step_erm(where, y, c, len(eta))
            train[i] += np.mean(predicted[where] != y) / repeats
            risk[i] += np.mean(np.where(predicted, 1 - eta, eta)) / repeats
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


@experiment(
    "A-E04",
    claim="Noisy labels, of whatever cause, make a rule that fits them all overfit.",
    items="A18, A23",
)
def noise_and_neighbors(
    *,
    rows: int = 400,
    ks: tuple[int, ...] = (1, 3, 5, 9, 15, 25, 45),
    points: int = 2000,
    repeats: int = 5,
    random_state: int = 0,
) -> Experiment:
    """Put three kinds of noise on labels, and let the number of neighbours grow.

    Without noise the label is that of the quadrant. Annotators err on a fifth of the rows; or the
    third of three columns is hidden, which turns the label round once in four; or columns are
    measured with error. One neighbour fits every training label each time.

    Parameters
    ----------
    rows : int
        Training rows.
    ks : tuple of int
        Odd numbers of neighbours, from 1.
    points : int
        New rows, with the same noise.
    repeats : int
        Training sets of each kind.
    random_state : int
        Of all draws.
    """
    kinds = {
        "no noise": _quadrants,
        "annotators": annotators(_quadrants, 0.2),
        "hidden feature": hidden_features(_quadrants_with_switch, 2),
        "measurement": noisy_features(_quadrants, 0.25),
    }
    test = np.zeros((len(kinds), repeats, len(ks)))
    fitted = True
    for i, source in enumerate(kinds.values()):
        for r in range(repeats):
            S, new = (
                source(rows, random_state=random_state + 2 * r),
                source(points, random_state=random_state + 2 * r + 1),
            )
            search = NeighborSearch(S.X)
            _, near = search.query(new.X, ks[-1])
            votes = np.cumsum(S.y[near], axis=1)[:, np.array(ks) - 1]
            test[i, r] = np.mean((votes > np.array(ks) / 2) != (new.y[:, None] == 1), axis=0)
            fitted &= bool(np.all(S.y[search.query(S.X, 1)[1][:, 0]] == S.y))
    mean = test.mean(axis=1)
    best = np.argmin(mean, axis=1)
    each = np.arange(len(kinds))
    gain = test[each, :, 0] - test[each, :, best]
    se = gain.std(axis=1, ddof=1) / np.sqrt(repeats)
    gain = gain.mean(axis=1)
    # Three standard errors of five training sets, and gains of several points, leave little doubt.
    holds = fitted and np.all(gain[1:] > 3 * se[1:]) and np.all(gain[1:] > 0.02) and gain[0] < 0.01
    return Experiment(
        columns={"k": np.array(ks), **dict(zip(kinds, mean, strict=True))},
        holds=bool(holds),
        finding="with training error 0, one neighbour errs more than the best k by "
        + ", ".join(f"{gain[i]:.3f} ({name}, k = {ks[best[i]]})" for i, name in enumerate(kinds)),
        draw=partial(
            lines_chart,
            ks,
            dict(zip(kinds, mean, strict=True)),
            x_title="neighbours k",
            y_title="test error",
            title="Noise is what makes one neighbour overfit",
            subtitle="Training error is 0 at k = 1 every time; only without noise is that best",
            log_x=True,
        ),
    )


def _quadrants(n: int, *, random_state: int = 0) -> make.Sample:
    """Draw points of a square, labelled by quadrant, without noise."""
    X = np.random.default_rng(random_state).uniform(-1, 1, size=(n, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    return make.Sample(X, y, _same_sign, 0.0, "zero_one", "quadrants")


def _quadrants_with_switch(n: int, *, random_state: int = 0) -> make.Sample:
    """Draw points whose label a third column turns round, once in four."""
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-1, 1, size=(n, 3))
    y = (X[:, 0] * X[:, 1] * np.where(X[:, 2] > 0.5, -1, 1) > 0).astype(int)
    return make.Sample(X, y, _same_sign, 0.0, "zero_one", "quadrants with a switch")


def _same_sign(X: Any) -> FloatArray:
    X = np.asarray(X)
    turned = np.where(X[:, 2] > 0.5, -1, 1) if X.shape[1] > 2 else 1
    return (X[:, 0] * X[:, 1] * turned > 0).astype(int)
