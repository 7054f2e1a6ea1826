"""Chapter 4: Bayesian linear regression."""

from functools import partial
from typing import Any

import numpy as np
from scipy.stats import norm

from bottega.basis import Polynomial
from bottega.core.typing import FloatArray
from bottega.course._numbers import errors_above
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.linear import BayesianRegression, LeastSquares, Ridge
from bottega.plot import lines_chart, posterior_chart

__all__ = [
    "coverage_of_predictions",
    "mode_is_ridge",
    "posterior_in_batches",
    "posterior_sequence",
    "predictive_spread",
]


@experiment(
    "M-X24",
    claim="The posterior mode is ridge with penalty alpha / beta, and without a prior it is least "
    "squares, which is maximum likelihood.",
    items="M421-M427",
)
def mode_is_ridge(
    *, rows: int = 30, degree: int = 5, beta: float = 10.0, random_state: int = 0
) -> Experiment:
    """Compare the three on powers of x for prior precisions over many orders.

    Parameters
    ----------
    rows : int
        Points of a sine.
    degree : int
        Degree of the polynomial.
    beta : float
        Precision of the noise.
    random_state : int
        Of the data.
    """
    sample = make.sine(rows, noise=beta**-0.5, random_state=random_state)
    design = Polynomial(degree).fit(sample.X).transform(sample.X)
    alphas = np.geomspace(1e-9, 1e4, 14)
    plain = LeastSquares().fit(design, sample.y)
    gap, away, norms = np.zeros(len(alphas)), np.zeros(len(alphas)), np.zeros(len(alphas))
    for i, alpha in enumerate(alphas):
        mode = BayesianRegression(float(alpha), beta).fit(design, sample.y)
        ridge = Ridge(float(alpha / beta), standardize=False).fit(design, sample.y)
        gap[i] = max(
            np.max(np.abs(mode.coef_ - ridge.coef_)), abs(mode.intercept_ - ridge.intercept_)
        )
        away[i] = np.max(np.abs(mode.coef_ - plain.coef_))
        norms[i] = np.linalg.norm(mode.coef_)
    # Maximum likelihood: no other weights have a larger normal density, wherever one looks.
    rng = np.random.default_rng(random_state)
    residual = sample.y - plain.predict(design)
    best = -0.5 * beta * np.sum(residual**2)
    others = [
        -0.5 * beta * np.sum((residual - design @ (0.01 * rng.normal(size=degree))) ** 2)
        for _ in range(200)
    ]
    holds = (
        gap.max() < 1e-8 and away[0] < 1e-6 and max(others) < best and np.all(np.diff(norms) < 0)
    )
    return Experiment(
        columns={"alpha": alphas, "gap to ridge": gap, "distance from ML": away, "norm": norms},
        holds=bool(holds),
        finding=f"mode and ridge differ by at most {gap.max():.0e} over all alpha; at alpha = "
        f"{alphas[0]:.0e} the mode is {away[0]:.0e} from least squares",
        draw=partial(
            lines_chart,
            alphas,
            {"length of the posterior mode": norms, "distance from least squares": away},
            x_title="precision of the prior, alpha",
            y_title="coefficients",
            title="The posterior mode is ridge regression",
            subtitle=f"Penalty alpha / beta with beta = {beta:g}",
            log_x=True,
        ),
    )


@experiment(
    "M-X25",
    claim="Bayesian regression learnt batch by batch is the same as learnt at once.",
    items="M428, M429",
)
def posterior_in_batches(*, rows: int = 200, random_state: int = 0) -> Experiment:
    """Update by batches of all sizes, also in another order, and compare mean and covariance.

    The chart shows the updates of a line, point by point: the likelihood of the latest point, the
    posterior, and lines drawn from it.

    Parameters
    ----------
    rows : int
        Rows.
    random_state : int
        Of the data and the batches.
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(rows, 3))
    y = 1 + X @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=rows)
    cuts = np.unique(np.concatenate([[1, 2, 3, 5], rng.integers(6, rows, size=8)]))
    orders = {"in order": np.arange(rows), "shuffled": rng.permutation(rows)}
    gap, spread, seen = [], [], []
    whole = BayesianRegression(1.0, 4.0).fit(X, y)
    for name, order in orders.items():
        model = BayesianRegression(1.0, 4.0)
        for part in np.split(order, cuts):
            model.partial_fit(X[part], y[part])
            if name == "in order":
                upto = order[: model.n_samples_seen_]
                batch = BayesianRegression(1.0, 4.0).fit(X[upto], y[upto])
                gap.append(_apart(model, batch))
                spread.append(float(np.sqrt(np.trace(model.covariance_))))
                seen.append(model.n_samples_seen_)
        if name == "shuffled":
            shuffled = _apart(model, whole)
    holds = max(gap) < 1e-8 and shuffled < 1e-8 and np.all(np.diff(spread) < 0)
    return Experiment(
        columns={"rows seen": seen, "gap to one batch": gap, "posterior spread": spread},
        holds=bool(holds),
        finding=f"over {len(seen)} batches means and covariances differ from one batch by at most "
        f"{max(gap):.0e}, in another order of the rows by {shuffled:.0e} at the end; the spread of "
        f"the posterior falls from {spread[0]:.2f} to {spread[-1]:.3f}",
        draw=partial(posterior_sequence, random_state=random_state),
    )


def posterior_sequence(
    *,
    counts: tuple[int, ...] = (0, 1, 2, 20),
    truth: tuple[float, float] = (-0.3, 0.5),
    alpha: float = 2.0,
    noise: float = 0.2,
    random_state: int = 0,
) -> Any:
    """Draw prior, likelihood and posterior of a line as points come in one by one.

    Parameters
    ----------
    counts : tuple of int
        Numbers of points after which the posterior is drawn.
    truth : tuple of float
        Intercept and slope of the true line.
    alpha : float
        Precision of the prior of both.
    noise : float
        Standard deviation of the noise.
    random_state : int
        Of the points and of the lines that are drawn.
    """
    rng = np.random.default_rng(random_state)
    x = rng.uniform(-1, 1, size=max(counts))
    y = truth[0] + truth[1] * x + noise * rng.normal(size=len(x))
    prior = np.eye(2) / alpha
    model = BayesianRegression(noise_precision=1 / noise**2, prior_covariance=prior)
    found = {0: (np.zeros(2), prior)}
    for n in range(1, len(x) + 1):
        model.partial_fit(x[n - 1 : n, None], y[n - 1 : n])
        found[n] = (np.append(model.intercept_, model.coef_), model.covariance_)
    kept = {n: found[n] for n in counts}
    return posterior_chart(x, y, kept, noise=noise, truth=truth, random_state=random_state)


def _apart(a: BayesianRegression, b: BayesianRegression) -> float:
    """Return the largest difference of coefficients, intercepts and covariances."""
    return float(
        max(
            np.max(np.abs(a.coef_ - b.coef_)),
            abs(a.intercept_ - b.intercept_),
            np.max(np.abs(a.covariance_ - b.covariance_)),
        )
    )


@experiment(
    "M-X26",
    claim="The predictive variance is small near the data and shrinks with their number, down to "
    "the variance of the noise.",
    items="M432, M433",
)
def predictive_spread(
    *,
    rows: tuple[int, ...] = (5, 20, 100, 1000),
    degree: int = 5,
    beta: float = 25.0,
    random_state: int = 0,
) -> Experiment:
    """Fit a polynomial to the left half of a sine and look at the predictive deviation everywhere.

    Parameters
    ----------
    rows : tuple of int
        Rows N, each set a part of the next.
    degree : int
        Degree of the polynomial.
    beta : float
        Precision of the noise.
    random_state : int
        Of the data.
    """
    rng = np.random.default_rng(random_state)
    x = 0.5 * rng.uniform(size=(max(rows), 1))
    y = np.sin(2 * np.pi * x[:, 0]) + beta**-0.5 * rng.normal(size=max(rows))
    grid = np.linspace(0, 1, 41)[:, None]
    basis = Polynomial(degree, orthogonal=False).fit(grid)
    spread = {}
    for n in rows:
        model = BayesianRegression(1.0, beta).fit(basis.transform(x[:n]), y[:n])
        std = model.predict(basis.transform(grid), return_std=True)[1]  # of the mean
        spread[n] = np.sqrt(std**2 + 1 / beta)
    every = np.array(list(spread.values()))
    near, far = grid[:, 0] <= 0.45, grid[:, 0] >= 0.8
    noise = beta**-0.5
    holds = (
        np.all(np.diff(every, axis=0) < 1e-12)  # more rows: nowhere less sure
        and np.all(every > noise)
        and np.all(every[1:, near].max(axis=1) < every[1:, far].min(axis=1))
        and every[-1, near].max() < 1.02 * noise
    )
    return Experiment(
        columns={"x": grid[:, 0], **{f"{n} rows": each for n, each in spread.items()}},
        holds=bool(holds),
        finding=f"with {rows[-1]:,} rows on [0, 0.5] the predictive deviation is at most "
        f"{every[-1, near].max():.4f} there (noise {noise:g}) and {every[-1, -1]:.2f} at x = 1; "
        f"with {rows[0]} rows {every[0, near].max():.2f} and {every[0, -1]:.2f}",
        draw=partial(
            lines_chart,
            grid[:, 0],
            {
                **{f"{n} rows": each for n, each in spread.items()},
                "noise": np.full(len(grid), noise),
            },
            x_title="x (rows lie left of 0.5)",
            y_title="predictive standard deviation",
            title="Sure where data are, unsure elsewhere",
            subtitle=f"Bayesian regression on powers of x up to {degree}",
            log_y=True,
            dashed=("noise",),
            points=False,
        ),
    )


@experiment(
    "M-X27",
    claim="Intervals of the Bayesian predictive distribution cover better than those of plug-in "
    "maximum likelihood, above all away from the data.",
    items="M430-M432",
    quick={"repeats": 80},
)
def coverage_of_predictions(
    *,
    rows: int = 12,
    degree: int = 4,
    beta: float = 25.0,
    repeats: int = 300,
    random_state: int = 0,
) -> Experiment:
    """Draw truths from the prior, fit, and count how often new responses fall in 95 % intervals.

    With truths from the prior the Bayesian intervals are right by construction, everywhere. The
    plug-in ones take the fitted curve and the fitted noise for the truth.

    Parameters
    ----------
    rows : int
        Rows, uniform on [0, 0.5].
    degree : int
        Degree of the polynomial, of truths and of fits.
    beta : float
        Precision of the noise; that of the prior is 1.
    repeats : int
        Truths.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    grid = np.linspace(0.05, 1.0, 20)[:, None]
    basis = Polynomial(degree, orthogonal=False).fit(grid)
    at = basis.transform(grid)
    critical = norm.ppf(0.975)
    prior = np.eye(degree + 1)
    inside: dict[str, FloatArray] = {
        name: np.zeros((repeats, len(grid)), dtype=bool)
        for name in ("Bayesian", "maximum likelihood")
    }
    for r in range(repeats):
        weights = rng.normal(size=degree + 1)
        x = 0.5 * rng.uniform(size=(rows, 1))
        design = basis.transform(x)
        noise = beta**-0.5 * rng.normal(size=rows)
        y = weights[0] + design @ weights[1:] + noise
        new = weights[0] + at @ weights[1:] + beta**-0.5 * rng.normal(size=len(grid))
        full = BayesianRegression(noise_precision=beta, prior_covariance=prior).fit(design, y)
        low, high = full.interval(at, level=0.95, kind="prediction")
        inside["Bayesian"][r] = (low < new) & (new < high)
        plain = LeastSquares().fit(design, y)
        spread = np.sqrt(np.mean((y - plain.predict(design)) ** 2))  # 1 / sqrt(beta_ML)
        inside["maximum likelihood"][r] = np.abs(new - plain.predict(at)) < critical * spread
    cover = {name: each.mean(axis=0) for name, each in inside.items()}
    far = grid[:, 0] > 0.6
    each_far = {name: each[:, far].mean(axis=1) for name, each in inside.items()}
    error = np.sqrt(0.05 * 0.95 / repeats)
    holds = (
        np.all(np.abs(cover["Bayesian"] - 0.95) < 4.5 * error)
        and np.all(cover["maximum likelihood"] < cover["Bayesian"])
        and cover["maximum likelihood"][far].mean() < 0.6
        and errors_above(each_far["Bayesian"], each_far["maximum likelihood"]) > 5
    )
    close = cover["maximum likelihood"][grid[:, 0] <= 0.5].mean()
    return Experiment(
        columns={"x": grid[:, 0], **cover},
        holds=bool(holds),
        finding=f"95 % intervals of the Bayesian predictive cover {cover['Bayesian'].mean():.1%}, "
        f"plug-in ones {close:.0%} among the data and "
        f"{cover['maximum likelihood'][far].mean():.0%} beyond x = 0.6",
        draw=partial(
            lines_chart,
            grid[:, 0],
            {**cover, "95 %": np.full(len(grid), 0.95)},
            x_title="x (rows lie left of 0.5)",
            y_title="share of new responses inside",
            title="Plug-in intervals are too sure",
            subtitle=f"{rows} rows, polynomials of degree {degree} drawn from the prior",
            dashed=("95 %",),
        ),
    )
