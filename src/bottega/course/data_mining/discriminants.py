"""Lectures 20 and 23: least squares as a classifier, and discriminant analysis."""

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from bottega.basis import Polynomial
from bottega.classify import IndicatorRegression, LinearDiscriminant, LogisticRegression
from bottega.core.typing import FloatArray, IntArray
from bottega.course.experiment import Experiment, experiment
from bottega.linear import LeastSquares
from bottega.plot import dots_chart, lines_chart

__all__ = ["least_squares_and_discriminant", "masked_class"]


@experiment(
    "D-E14",
    claim="Least squares masks the middle of three aligned classes; discriminant analysis, the "
    "multinomial logistic model and quadratic terms do not.",
    items="D164",
)
def masked_class(
    *, rows: int = 300, points: int = 6000, repeats: int = 5, random_state: int = 0
) -> Experiment:
    """Count how often the middle of three clusters in a row is found.

    The indicator of the middle class has no linear trend, so its fitted line is flat at about one
    third and nowhere the largest. A parabola can rise in the middle.

    Parameters
    ----------
    rows : int
        Rows, a third of each class.
    points : int
        New rows.
    repeats : int
        Data sets.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    models: dict[str, Any] = {
        "least squares": IndicatorRegression(),
        "least squares with squares": make_pipeline(Polynomial(2), IndicatorRegression()),
        "discriminant analysis": LinearDiscriminant(shrinkage=0.0),
        "multinomial logistic": LogisticRegression(),
    }
    found = {name: np.zeros(repeats) for name in models}
    error = {name: np.zeros(repeats) for name in models}
    for r in range(repeats):
        X, y = _aligned(rows, rng)
        new, label = _aligned(points, rng)
        for name, model in models.items():
            predicted = model.fit(X, y).predict(new)
            found[name][r] = np.mean(predicted[label == 1] == 1)
            error[name][r] = np.mean(predicted != label)
    names = list(models)
    share = [float(found[name].mean()) for name in names]
    wrong = [float(error[name].mean()) for name in names]
    holds = (
        found["least squares"].max() < 0.05
        and min(found[name].min() for name in names[1:]) > 0.9
        and wrong[0] > 0.25
        and max(wrong[1:]) < 0.05
    )
    return Experiment(
        columns={"method": names, "middle class found": share, "error": wrong},
        holds=bool(holds),
        finding="of the middle class is found: "
        + ", ".join(f"{each:.1%} ({name})" for each, name in zip(share, names, strict=True)),
        draw=partial(
            dots_chart,
            names,
            {"share found": share},
            x_title="share of the middle class that is found",
            title="Least squares masks the class in the middle",
            subtitle="Three clusters in a row: a straight line cannot rise in the middle",
        ),
    )


def _aligned(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Return three normal classes around -4, 0 and 4."""
    y = np.arange(n) % 3
    return (4.0 * (y - 1) + rng.normal(size=n))[:, None], y


@experiment(
    "D-E18",
    claim="The least squares classifier is discriminant analysis when the two classes are "
    "balanced, and not otherwise; selection of columns for the regression serves discriminant "
    "analysis.",
    items="D163, D203",
)
def least_squares_and_discriminant(
    *,
    rows: int = 240,
    shares: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9),
    columns: int = 4,
    random_state: int = 0,
) -> Experiment:
    """Compare the two planes while one class grows, and the order of all subsets of columns.

    The normals agree for any balance; only the place of the plane differs. With n1 and n2 rows and
    Mahalanobis distance D of the means, the regression has
    R^2 = D^2 / (D^2 + n (n - 2) / (n1 n2)): a subset that is better for one is better for the
    other.

    Parameters
    ----------
    rows : int
        Rows.
    shares : tuple of float
        Shares of the larger class.
    columns : int
        Columns; all their subsets are ordered by both.
    random_state : int
        Of the rows.
    """
    rng = np.random.default_rng(random_state)
    mixing = np.eye(columns) + 0.4 * rng.normal(size=(columns, columns))
    means = 0.8 * rng.normal(size=(2, columns))
    turned, moved, same_order = [], [], True
    for share in shares:
        y = (np.arange(rows) < round(share * rows)).astype(np.int64)
        X = means[y] + rng.normal(size=(rows, columns)) @ mixing
        line = LeastSquares().fit(X, y.astype(float))
        discriminant = LinearDiscriminant(shrinkage=0.0).fit(X, y)
        w, v = line.coef_, discriminant.coef_[0]
        cosine = w @ v / np.linalg.norm(w) / np.linalg.norm(v)
        turned.append(float(np.sqrt(max(0.0, 2 - 2 * cosine))))
        # Signed distances of the planes from the origin, along the same unit normal.
        one = (0.5 - line.intercept_) / np.linalg.norm(w)
        two = -discriminant.intercept_[0] / np.linalg.norm(v)
        moved.append(float(abs(one - two)))
        order, distance = [], []
        for size in range(1, columns + 1):
            for subset in combinations(range(columns), size):
                chosen = list(subset)
                order.append(LeastSquares().fit(X[:, chosen], y).score(X[:, chosen], y))
                distance.append(mahalanobis_of_means(X[:, chosen], y))
        expected = np.array(distance) / (
            np.array(distance) + rows * (rows - 2) / (y.sum() * (rows - y.sum()))
        )
        same_order &= bool(np.allclose(order, expected, rtol=1e-9))
    holds = (
        max(turned) < 1e-6
        and moved[0] < 1e-8
        and bool(np.all(np.diff(moved) > 0))
        and moved[-1] > 0.1
        and same_order
    )
    return Experiment(
        columns={"share of the larger class": shares, "angle": turned, "distance": moved},
        holds=bool(holds),
        finding=f"the normals of the planes agree up to {max(turned):.0e}; the planes are "
        + ", ".join(f"{d:.2g} (share {s:g})" for d, s in zip(moved, shares, strict=True))
        + f" apart; all {2**columns - 1} subsets of columns are ordered alike",
        draw=partial(
            lines_chart,
            shares,
            {"distance of the planes": moved},
            x_title="share of the larger class",
            y_title="distance of the two planes",
            title="Least squares is discriminant analysis for balanced classes",
            subtitle="Otherwise the planes are parallel and apart",
        ),
    )


def mahalanobis_of_means(X: FloatArray, y: IntArray) -> float:
    """Return the squared Mahalanobis distance of two class means, pooled with divisor n - 2.

    Examples
    --------
    >>> X = np.array([[0.0], [2.0], [3.0], [5.0]])
    >>> mahalanobis_of_means(X, np.array([0, 0, 1, 1]))
    4.5
    """
    gap = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    scatter = sum((c - c.mean(axis=0)).T @ (c - c.mean(axis=0)) for c in (X[y == 0], X[y == 1]))
    return float(gap @ np.linalg.solve(scatter / (len(y) - 2), gap))
