"""Chapter 5: classifiers that model the inputs of each class."""

from functools import partial

import numpy as np
from scipy.stats import norm

from bottega.classify import LinearDiscriminant, LogisticRegression, NaiveBayes
from bottega.core.typing import FloatArray, IntArray
from bottega.course._numbers import errors_above
from bottega.course.experiment import Experiment, experiment
from bottega.plot import lines_chart

__all__ = ["boundaries_of_gaussian_classes", "ignored_correlation", "wrong_distribution"]

Model = LinearDiscriminant | NaiveBayes


@experiment(
    "M-X31",
    claim="Discriminant analysis has a linear boundary, Gaussian naive Bayes a quadratic one.",
    items="M525, M528",
)
def boundaries_of_gaussian_classes(
    *, rows: int = 400, lines: int = 61, random_state: int = 0
) -> Experiment:
    """Find points on both boundaries, and fit a line and a conic to them.

    Points are zeros of the log-odds along vertical lines. A conic is
    c1 + c2 x1 + c3 x2 + c4 x1^2 + c5 x2^2 = 0, without the product of the inputs, which naive Bayes
    does not have.

    Parameters
    ----------
    rows : int
        Rows of two normal classes with independent inputs of unequal variances.
    lines : int
        Vertical lines on which zeros are sought.
    random_state : int
        Of the rows.
    """
    rng = np.random.default_rng(random_state)
    y = np.arange(rows) % 2
    X = np.where(y[:, None] == 1, [1.5, 1.0], [0.0, 0.0]) + rng.normal(size=(rows, 2)) * np.where(
        y[:, None] == 1, [0.6, 1.2], [1.0, 0.7]
    )
    models: dict[str, Model] = {
        "discriminant analysis": LinearDiscriminant(shrinkage=0.0),
        "naive Bayes": NaiveBayes(),
    }
    places = np.linspace(-1, 3, lines)
    straight, curved, count = {}, {}, {}
    for name, model in models.items():
        model.fit(X, y)
        at = _zeros(model, places)
        count[name] = len(at)
        ones = np.ones(len(at))
        straight[name] = _flatness(np.column_stack([ones, at]))
        curved[name] = _flatness(np.column_stack([ones, at, at**2]))
    first, second = models
    holds = (
        min(count.values()) > 20
        and straight[first] < 1e-8
        and straight[second] > 1e-3
        and curved[second] < 1e-8
    )
    return Experiment(
        columns={
            "method": list(models),
            "points": [count[name] for name in models],
            "misfit of a line": [straight[name] for name in models],
            "misfit of a conic": [curved[name] for name in models],
        },
        holds=bool(holds),
        finding=f"a line misses points of the boundary by {straight[first]:.0e} (discriminant "
        f"analysis) and {straight[second]:.2g} (naive Bayes), a conic those of naive Bayes by "
        f"{curved[second]:.0e}",
        draw=partial(
            lines_chart,
            places,
            {name: _lowest(model, places) for name, model in models.items()},
            x_title="first input",
            y_title="second input, on the boundary",
            title="A straight and a curved boundary",
            subtitle="Normal classes of unequal variances",
            points=False,
        ),
    )


def _zeros(model: Model, places: FloatArray) -> FloatArray:
    """Return the points (x1, x2) with x1 in `places` at which the log-odds change their sign."""
    f = model.decision_function
    grid = np.linspace(-6, 6, 241)
    x1, x2 = (each.ravel() for each in np.meshgrid(places, grid, indexing="ij"))
    values = f(np.column_stack([x1, x2])).reshape(len(places), -1)
    i, j = np.nonzero(np.sign(values[:, 1:]) != np.sign(values[:, :-1]))
    x1, left, right = places[i], grid[j], grid[j + 1]
    below = values[i, j] < 0
    for _ in range(60):
        middle = (left + right) / 2
        same = (f(np.column_stack([x1, middle])) < 0) == below
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return np.column_stack([x1, (left + right) / 2])


def _flatness(A: FloatArray) -> float:
    """Return how nearly A c = 0 for some unit c: the least singular value over the largest."""
    values = np.linalg.svd(A / np.linalg.norm(A, axis=0), compute_uv=False)
    return float(values[-1] / values[0])


def _lowest(model: Model, places: FloatArray) -> FloatArray:
    """Return the lowest zero on each vertical line, NaN where there is none."""
    at = _zeros(model, places)
    found = np.full(len(places), np.nan)
    for x1, x2 in at[::-1]:
        found[np.searchsorted(places, x1)] = x2
    return found


@experiment(
    "M-X32",
    claim="Naive Bayes ignores correlation, discriminant analysis does not.",
    items="M525, M528, M529",
)
def ignored_correlation(
    *,
    correlations: tuple[float, ...] = (0.0, 0.3, 0.6, 0.8, 0.9),
    rows: int = 2000,
    points: int = 20_000,
    gap: float = 1.5,
    random_state: int = 0,
) -> Experiment:
    """Make the second input useful through its correlation alone.

    The class means differ in the first input, by `gap`. With correlation r the best rule errs with
    probability Phi(-gap / (2 sqrt(1 - r^2))), a rule that ignores it with Phi(-gap / 2).

    Parameters
    ----------
    correlations : tuple of float
        Correlations r, the same in both classes.
    rows, points : int
        Training and new rows.
    gap : float
        Distance of the class means in standard deviations.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    models = {
        "naive Bayes": NaiveBayes(),
        "discriminant analysis": LinearDiscriminant(shrinkage=0.0),
    }
    error: dict[str, list[float]] = {name: [] for name in models}
    r = np.array(correlations)
    for each in correlations:
        X, y = _correlated(rows, each, gap, rng)
        new, label = _correlated(points, each, gap, rng)
        for name, model in models.items():
            error[name].append(float(np.mean(model.fit(X, y).predict(new) != label)))
    best = norm.cdf(-gap / 2 / np.sqrt(1 - r**2))
    blind = np.full(len(r), norm.cdf(-gap / 2))
    # Five standard errors of a share of the new rows; the fits add less.
    close = 5 * np.sqrt(0.25 / points)
    holds = (
        np.all(np.abs(np.array(error["naive Bayes"]) - blind) < close)
        and np.all(np.abs(np.array(error["discriminant analysis"]) - best) < close)
        and best[-1] < blind[-1] / 4
    )
    return Experiment(
        columns={"correlation": r, **error, "best": best, "without correlation": blind},
        holds=bool(holds),
        finding=f"from correlation {r[0]:g} to {r[-1]:g} the error of discriminant analysis falls "
        f"from {error['discriminant analysis'][0]:.3f} to {error['discriminant analysis'][-1]:.3f} "
        f"(best {best[-1]:.3f}), that of naive Bayes stays ({error['naive Bayes'][0]:.3f} and "
        f"{error['naive Bayes'][-1]:.3f})",
        draw=partial(
            lines_chart,
            r,
            {**error, "best": best},
            x_title="correlation of the two inputs",
            y_title="error on new rows",
            title="Naive Bayes ignores correlation",
            subtitle="The second input helps through its correlation with the first alone",
            dashed=("best",),
        ),
    )


def _correlated(
    n: int, r: float, gap: float, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    y = np.arange(n) % 2
    Z = rng.normal(size=(n, 2))
    second = r * Z[:, 0] + np.sqrt(1 - r**2) * Z[:, 1]
    return np.column_stack([Z[:, 0] + gap * y, second]), y


@experiment(
    "M-X34",
    claim="A discriminative method beats a generative one where the assumed distribution is wrong.",
    items="M517, M536",
)
def wrong_distribution(
    *,
    rows: tuple[int, ...] = (40, 200, 1000),
    points: int = 4000,
    repeats: int = 12,
    random_state: int = 0,
) -> Experiment:
    """Fit both to normal classes and to skewed ones.

    Of the skewed inputs the logarithm is normal, and the log-odds of the classes are linear: the
    logistic model is right, the normal classes of discriminant analysis are not. On normal classes
    both are right, and discriminant analysis needs fewer rows.

    Parameters
    ----------
    rows : tuple of int
        Training rows.
    points : int
        New rows.
    repeats : int
        Data sets of each kind and size.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    models = {
        "discriminant analysis": LinearDiscriminant(shrinkage=0.0),
        "logistic": LogisticRegression(C=np.inf),
    }
    names = [f"{name}, {kind} inputs" for kind in ("normal", "skewed") for name in models]
    error = {name: np.zeros((len(rows), repeats)) for name in names}
    for i, n in enumerate(rows):
        for r in range(repeats):
            for kind, draw in (("normal", _normal_classes), ("skewed", _skewed_inputs)):
                X, y = draw(n, rng)
                new, label = draw(points, rng)
                for name, model in models.items():
                    wrong = np.mean(model.fit(X, y).predict(new) != label)
                    error[f"{name}, {kind} inputs"][i, r] = wrong
    generative, logistic, generative_off, logistic_off = (error[name] for name in names)
    mean = {name: each.mean(axis=1) for name, each in error.items()}
    holds = (
        errors_above(generative_off[-1], logistic_off[-1]) > 5
        and mean[names[2]][-1] > mean[names[3]][-1] + 0.01
        and errors_above(logistic[0], generative[0]) > 0
        and abs(mean[names[0]][-1] - mean[names[1]][-1]) < 0.005
    )
    return Experiment(
        columns={"rows": np.array(rows), **mean},
        holds=bool(holds),
        finding=f"with {rows[-1]} rows of skewed inputs the errors are {mean[names[2]][-1]:.3f} "
        f"(discriminant analysis) and {mean[names[3]][-1]:.3f} (logistic); with {rows[0]} rows of "
        f"normal classes {mean[names[0]][0]:.3f} and {mean[names[1]][0]:.3f}",
        draw=partial(
            lines_chart,
            rows,
            mean,
            x_title="training rows",
            y_title="error on new rows",
            title="A wrong distribution costs the generative method more",
            subtitle="On normal classes both end alike, and discriminant analysis needs fewer rows",
            log_x=True,
        ),
    )


def _normal_classes(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    y = np.arange(n) % 2
    return rng.normal(size=(n, 5)) + 0.75 * y[:, None] * np.array([1.0, 1.0, 1.0, 1.0, 0.0]), y


def _skewed_inputs(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    X = np.exp(rng.normal(size=(n, 2)))
    odds = np.exp(np.clip(3 * (X[:, 0] + 0.5 * X[:, 1] - 2), -30, 30))
    y = (rng.uniform(size=n) < odds / (1 + odds)).astype(np.int64)
    y[:2] = 0, 1  # both classes in every sample
    return X, y
