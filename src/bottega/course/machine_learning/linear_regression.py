"""Chapter 4: polynomials, their weights and penalties."""

from functools import partial

import numpy as np

from bottega.basis import Polynomial
from bottega.core.typing import FloatArray
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.linear import LeastSquares, Ridge
from bottega.plot import lines_chart

__all__ = ["more_data_less_overfitting", "weights_against_degree"]


@experiment(
    "M-X21",
    claim="The weights of a polynomial explode with its degree and shrink with the penalty.",
    items="M412, M415",
)
def weights_against_degree(
    *, rows: int = 10, noise: float = 0.3, top: int = 9, random_state: int = 0
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
    random_state : int
        Of the noise.
    """
    x = np.linspace(0.0, 1.0, rows)[:, None]
    y = make.sine(1).bayes(x) + noise * np.random.default_rng(random_state).normal(size=rows)
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
    random_state: int = 0,
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
    random_state : int
        Of the first data set.
    """
    grid = np.linspace(0.0, 1.0, 400)[:, None]
    truth = make.sine(1).bayes(grid)
    train, new = np.zeros((len(rows), repeats)), np.zeros((len(rows), repeats))
    for i, size in enumerate(rows):
        for r in range(repeats):
            sample = make.sine(size, noise=noise, random_state=random_state + r)
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
