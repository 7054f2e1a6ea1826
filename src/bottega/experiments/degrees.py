"""Claims about parameters: their weights, their cost, and data enough for them."""

from functools import partial

import numpy as np
from scipy.stats import f as fisher

from bottega.basis import Polynomial
from bottega.core.typing import FloatArray
from bottega.data import make
from bottega.experiments.experiment import Experiment, experiment
from bottega.linear import LeastSquares, Ridge
from bottega.plot import lines_chart

__all__ = [
    "cost_of_a_superfluous_parameter",
    "more_data_less_overfitting",
    "weights_against_degree",
]


@experiment(
    "D-E28",
    claim="A superfluous parameter gains on average about 1 on the scale of -2 log-likelihood, as "
    "a chi-squared variable with one degree of freedom; a penalty must ask for more than that.",
    items="D52",
)
def cost_of_a_superfluous_parameter(
    *, rows: int = 100, repeats: int = 2000, seed: int = 0
) -> Experiment:
    """Add a column of noise to a right model and see by how much twice the log-likelihood rises.

    With the scale estimated the gain is n log(RSS_0 / RSS_1), a little above chi-squared(1) for
    small n. AIC (a price of 2) lets the column in where the gain is above 2, a share of 0.157; a
    price of 1 in 0.317; BIC's log n in 0.032 at n = 100.

    Parameters
    ----------
    rows : int
        Rows.
    repeats : int
        Data sets, all with the same inputs.
    seed : int
        Of all draws.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    Y = (X[:, :2] @ [1.0, -1.0])[:, None] + rng.normal(size=(rows, repeats))
    small = LeastSquares().fit(X[:, :2], Y).smoother_
    large = LeastSquares().fit(X, Y).smoother_
    gain = rows * np.log(small.rss / large.rss)
    price = np.linspace(0, 8, 33)
    entered = np.array([np.mean(gain > each) for each in price])
    # The gain is n log(1 + F / (n - 4)) with F of Fisher's F(1, n - 4).
    exact = fisher.sf((rows - 4) * np.expm1(price / rows), 1, rows - 4)
    error = np.sqrt(exact * (1 - exact) / repeats)
    mean, mean_error = gain.mean(), gain.std() / np.sqrt(repeats)
    # The mean of n log(1 + F / (n - 4)) is n / (n - 5) to first order in 1 / n: 1.05 at n = 100.
    holds = (
        np.all(np.abs(entered - exact) <= 4.5 * error + 1e-12)
        and abs(mean - 1) < 4 * mean_error + 6 / rows
        and np.all(gain >= 0)
    )
    shown = {"log(n)": np.log(rows), "2": 2.0, "1": 1.0}
    shares = ", ".join(f"{np.mean(gain > at):.3f} at {name}" for name, at in shown.items())
    return Experiment(
        columns={"price": price, "entered": entered, "exact": exact},
        holds=bool(holds),
        finding=f"the mean gain of a column of noise is {mean:.3f} (standard error "
        f"{mean_error:.3f}); by price it enters in a share of {shares}",
        draw=partial(
            lines_chart,
            price,
            {"share of data sets": entered, "Fisher's F": exact},
            x_title="price of a parameter",
            y_title="share in which the column enters",
            title="What a superfluous parameter costs",
            subtitle=f"Mean gain {mean:.2f} on the scale of -2 log-likelihood",
            dashed=("Fisher's F",),
        ),
    )


@experiment(
    "M-X21",
    claim="The weights of a polynomial explode with its degree and shrink with the penalty.",
    items="M412, M415",
)
def weights_against_degree(
    *, rows: int = 10, noise: float = 0.3, top: int = 9, seed: int = 0
) -> Experiment:
    """Fit raw powers of x to ten points of a sine, without and with a ridge penalty.

    Parameters
    ----------
    rows : int
        Points, evenly spaced.
    noise : float
        Standard deviation of the noise.
    top : int
        Largest degree M.
    seed : int
        Of the noise.
    """
    x = np.linspace(0.0, 1.0, rows)[:, None]
    y = make.sine(1).bayes(x) + noise * np.random.default_rng(seed).normal(size=rows)
    degrees = np.arange(1, top + 1)
    penalties = {"no penalty": None, "ln(lambda) = -18": -18.0, "ln(lambda) = 0": 0.0}
    largest: dict[str, FloatArray] = {name: np.zeros(top) for name in penalties}
    for i, degree in enumerate(degrees):
        design = Polynomial(int(degree), orthogonal=False).fit(x).transform(x)
        for name, log in penalties.items():
            if log is None:
                model = LeastSquares().fit(design, y)
            else:
                model = Ridge(float(np.exp(log)), standardize=False).fit(design, y)
            largest[name][i] = np.max(np.abs(model.coef_))
    plain, weak, strong = largest.values()
    # Norms fall with the penalty for certain; the growth with the degree is by orders.
    holds = (
        plain[-1] > 1000 * plain[0] and np.all(strong[2:] < weak[2:]) and plain[-1] > 10 * weak[-1]
    )
    return Experiment(
        columns={"degree": degrees, **largest},
        holds=bool(holds),
        finding=f"the largest weight grows from {plain[0]:.3g} at degree 1 to {plain[-1]:.3g} at "
        f"degree {top}; with ln(lambda) = -18 it is {weak[-1]:.3g}, with 0 {strong[-1]:.3g}",
        draw=partial(
            lines_chart,
            degrees,
            largest,
            x_title="degree of the polynomial",
            y_title="largest absolute weight",
            title="Weights explode with the degree and shrink with the penalty",
            subtitle=f"{rows} points of a sine",
            log_y=True,
        ),
    )


@experiment(
    "M-X22",
    claim="With the same degree, more data reduce overfitting.",
    items="M413",
)
def more_data_less_overfitting(
    *,
    rows: tuple[int, ...] = (12, 15, 20, 30, 50, 100, 300, 1000),
    degree: int = 9,
    noise: float = 0.3,
    repeats: int = 15,
    seed: int = 0,
) -> Experiment:
    """Fit a polynomial of degree nine to more and more points of a sine.

    The root mean squared errors of the training points and of new points both go to the standard
    deviation of the noise, the first from below, the second from above (the median over data sets
    is shown: with few points a fit may be wild).

    Parameters
    ----------
    rows : tuple of int
        Numbers of points.
    degree : int
        Degree M.
    noise : float
        Standard deviation of the noise.
    repeats : int
        Data sets for each number of points.
    seed : int
        Of the first data set.
    """
    grid = np.linspace(0.0, 1.0, 400)[:, None]
    truth = make.sine(1).bayes(grid)
    train, new = np.zeros((len(rows), repeats)), np.zeros((len(rows), repeats))
    for i, size in enumerate(rows):
        for r in range(repeats):
            sample = make.sine(size, noise=noise, seed=seed + r)
            basis = Polynomial(degree).fit(sample.X)
            model = LeastSquares().fit(basis.transform(sample.X), sample.y)
            train[i, r] = np.mean((model.predict(basis.transform(sample.X)) - sample.y) ** 2)
            gap = model.predict(basis.transform(grid)) - truth
            new[i, r] = np.mean(gap**2) + noise**2
    train_rms = np.sqrt(np.median(train, axis=1))
    new_rms = np.sqrt(np.median(new, axis=1))
    holds = (
        np.all(np.diff(new_rms) < 0)
        and new_rms[0] > 2 * new_rms[-1]
        and np.all(train_rms < new_rms)
        and new_rms[-1] < 1.05 * noise
        and train_rms[-1] > 0.95 * noise
    )
    n = np.array(rows)
    return Experiment(
        columns={"rows": n, "training": train_rms, "new points": new_rms},
        holds=bool(holds),
        finding=f"the error of degree {degree} on new points falls from {new_rms[0]:.2f} with "
        f"{n[0]} points to {new_rms[-1]:.3f} with {n[-1]:,} (noise {noise:g}); the training error "
        f"rises from {train_rms[0]:.3f} to {train_rms[-1]:.3f}",
        draw=partial(
            lines_chart,
            n,
            {"new points": new_rms, "training points": train_rms, "noise": np.full(len(n), noise)},
            x_title="points",
            y_title="root mean squared error",
            title="More data, less overfitting",
            subtitle=f"Polynomials of degree {degree}, median of {repeats} data sets",
            log_x=True,
            log_y=True,
            dashed=("noise",),
        ),
    )
