"""Chapter 9: what one unit cannot do, and two or three can."""

from functools import partial
from itertools import product
from math import comb

import numpy as np

from bottega.classify import LogisticRegression
from bottega.core.typing import FloatArray
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.neural import Node
from bottega.optimize.separators import separator
from bottega.plot import lines_chart

__all__ = ["exclusive_or", "output_bias", "separable_labelings"]

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
EXCLUSIVE_OR = np.array([0, 1, 1, 0])


def separable_labelings(n: int, d: int) -> int:
    """Return how many labelings of n points in general position in d dimensions a plane gives.

    Examples
    --------
    >>> [separable_labelings(n, 2) for n in (3, 4, 6, 12)]
    [8, 14, 32, 134]
    """
    return 2 * sum(comb(n - 1, j) for j in range(d + 1))


def rectifier_network(rows: FloatArray) -> Node:
    """Return the outputs of the network of two rectifiers with the weights of the notes (N4)."""
    hidden = (Node(rows) @ np.ones((2, 2)) + np.array([0.0, -1.0])).relu()
    return hidden @ np.array([[1.0], [-2.0]])


def sigmoid_basis(rows: FloatArray) -> FloatArray:
    """Return the two sigmoids 5 + x1 + x2 and 5 - x1 - x2 of rows (N7)."""
    return (Node(rows) @ np.array([[1.0, -1.0], [1.0, -1.0]]) + 5.0).sigmoid().value


def _is_separable(X: FloatArray, labels: FloatArray, bias: bool = True) -> bool:
    columns = np.column_stack([X, np.ones(len(X))]) if bias else X
    return separator(np.where(labels > 0, 1.0, -1.0)[:, None] * columns) is not None


def _count_separable(X: FloatArray) -> int:
    return sum(_is_separable(X, np.array(each)) for each in product((0, 1), repeat=len(X)))


@experiment(
    "N-X1",
    claim="No plane separates an exclusive-or and a small network does; a plane gives 14 of the 16 "
    "labelings of four points, and the share falls with the number of points.",
    items="N3-N5, E1",
    verdict="holds only if the share is as corrected: it is not 0 for more points than dimensions, "
    "as printed, but 1 up to D + 1 points and one half at 2 (D + 1)",
)
def exclusive_or(
    *, dimensions: tuple[int, ...] = (2, 10, 50), points: int = 6, random_state: int = 0
) -> Experiment:
    """Count labelings that a plane gives, by linear programs and by Cover's formula.

    Parameters
    ----------
    dimensions : tuple of int
        Dimensions D whose shares are drawn.
    points : int
        Points in the plane whose labelings are all tried.
    random_state : int
        Of the points.
    """
    X = np.random.default_rng(random_state).normal(size=(points, 2))
    model = LogisticRegression(penalty=None).fit(CORNERS, EXCLUSIVE_OR)
    right = int(np.sum(model.predict(CORNERS) == EXCLUSIVE_OR))
    net = rectifier_network(CORNERS).value.ravel()
    corners, drawn = _count_separable(CORNERS), _count_separable(X)
    missing = [
        each for each in product((0, 1), repeat=4) if not _is_separable(CORNERS, np.array(each))
    ]
    parts = [
        Proof("corners right by logistic regression", right, 4, right <= 3),
        Proof("corners right by two rectifiers", int(np.sum(net == EXCLUSIVE_OR)), 4,
              bool(np.array_equal(net, EXCLUSIVE_OR))),
        Proof("labelings of the corners that a plane gives", corners, 14, corners == 14),
        Proof("labelings that it does not", len(missing), 2,
              missing == [(0, 1, 1, 0), (1, 0, 0, 1)]),
        Proof(f"labelings of {points} points, by the formula", drawn,
              separable_labelings(points, 2), drawn == separable_labelings(points, 2)),
    ]  # fmt: skip
    for d in dimensions:
        half = separable_labelings(2 * (d + 1), d) / 2 ** (2 * (d + 1))
        full = separable_labelings(d + 1, d) / 2 ** (d + 1)
        parts += [
            Proof(f"share of {2 * (d + 1)} points in {d} dimensions", half, 0.5, half == 0.5),
            Proof(f"share of {d + 1} points in {d} dimensions", full, 1.0, full == 1.0),
        ]
    ratios = np.arange(1, 17) / 4
    lines = {}
    for d in dimensions:
        counts = np.maximum(np.round(ratios * (d + 1)), 1).astype(int)
        lines[f"{d} dimensions"] = [separable_labelings(n, d) / 2**n for n in counts.tolist()]
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"logistic regression has {right} of 4 corners right, two rectifiers all; a plane "
        f"gives {corners} of 16 labelings, all but an exclusive-or and its opposite, and half of "
        "the labelings of 2 (D + 1) points",
        draw=partial(
            lines_chart,
            ratios,
            lines,
            x_title="points per dimension, N / (D + 1)",
            y_title="share of labelings that a plane gives",
            title="Up to D + 1 points every labeling, at twice as many one half",
            subtitle="Points in general position; the more dimensions, the sharper the fall.",
        ),
    )


@experiment(
    "N-X2",
    claim="The two sigmoids of the notes separate an exclusive-or.",
    items="N7, E2",
    verdict="holds only if the output has a bias, which the printed network has not",
)
def output_bias(
    *,
    scales: tuple[float, ...] = (1.0, 5.0, 10.0),
    spread: float = 0.15,
    random_state: int = 0,
) -> Experiment:
    """Look for output weights that separate, with and without a bias, by linear programs.

    Parameters
    ----------
    scales : tuple of float
        Sizes of the square on which the exclusive-or lies.
    spread : float
        Standard deviation of clusters about its corners, as a share of its size.
    random_state : int
        Of the clusters.
    """
    rng = np.random.default_rng(random_state)
    parts = []
    for scale in scales:
        for shift, name in ((0.0, "0 and 1"), (0.5, "-1/2 and 1/2")):
            phi = sigmoid_basis(scale * (CORNERS - shift))
            with_bias = _is_separable(phi, EXCLUSIVE_OR)
            without = _is_separable(phi, EXCLUSIVE_OR, bias=False)
            parts += [
                Proof(f"corners {name} times {scale:g}, with bias", with_bias, 1, with_bias),
                Proof(f"corners {name} times {scale:g}, without", without, 0, not without),
            ]
    X = np.repeat(CORNERS, 20, axis=0) + spread * rng.normal(size=(80, 2))
    y = np.repeat(EXCLUSIVE_OR, 20)
    clusters = _is_separable(sigmoid_basis(X), y, bias=False)
    parts.append(Proof("clusters, without bias", clusters, 0, not clusters))
    sums = np.linspace(-8, 8, 81)
    phi = sigmoid_basis(np.column_stack([sums, np.zeros(81)]))
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding="with a bias the corners are separable at every scale, without one at none: the "
        "ends lie on both sides of the middle, and a plane through the origin has all on one",
        draw=partial(
            lines_chart,
            sums,
            {"σ(5 + s)": phi[:, 0], "σ(5 − s)": phi[:, 1], "their sum": phi.sum(axis=1)},
            x_title="s = x₁ + x₂",
            y_title="height",
            title="The sum of the two sigmoids is largest in the middle",
            subtitle="It is never below zero: only a bias cuts between the middle and the ends.",
            points=False,
        ),
    )
