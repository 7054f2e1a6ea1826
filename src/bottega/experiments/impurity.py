"""Claims about impurities of class shares: their order, their stalls, entropy and its gain."""

from functools import partial
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.experiments.experiment import Experiment, experiment
from bottega.plot import lines_chart
from bottega.tree import TreeClassifier
from bottega.tree.prune import class_impurity

__all__ = ["entropy_extremes", "impurity_order", "impurity_stall", "training_error_of_growth"]

# The four impurities of the notes by the criterion of the trees that is equal to them.
PSI = {"psi1": "error", "psi2": "gini", "psi3": "entropy", "psi4": "sqrt"}
_SHOWN = {"psi1": "error", "psi2": "Gini", "psi3": "half the entropy", "psi4": "square root"}
_ROUNDING = 1e-12


def psi(p: Any, name: str) -> Any:
    """Return an impurity of two classes at shares p of the first."""
    p = np.asarray(p, dtype=np.float64)
    shares = np.stack([p, 1 - p], axis=-1).reshape(-1, 2)
    return class_impurity(shares, PSI[name]).reshape(p.shape) + 0.0  # no minus zero


@experiment(
    "A-E07",
    claim="A split never raises the training error, nor any concave impurity.",
    items="A30, A31",
)
def training_error_of_growth(
    *, rows: int = 300, splits: int = 20_000, most_leaves: int = 64, seed: int = 0
) -> Experiment:
    """Grow trees leaf by leaf and split nodes at random; nothing may go up.

    For a concave impurity and a node of N rows that is split into N' and N'', Jensen's inequality
    gives psi(p) N >= psi(p') N' + psi(p'') N''; the training error is the case of psi1.

    Parameters
    ----------
    rows : int
        Rows that trees are grown on; labels are half noise.
    splits : int
        Nodes with random counts, each split at random.
    most_leaves : int
        Leaves of the largest tree.
    seed : int
        Of all draws.
    """
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 60, size=(splits, 2))
    left = rng.integers(0, counts + 1)
    right = counts - left
    parts = np.stack([counts, left, right], axis=1).astype(np.float64)
    size = parts.sum(axis=2)
    least = {}
    for name, criterion in PSI.items():
        loss = size * class_impurity(parts.reshape(-1, 2), criterion).reshape(size.shape)
        least[name] = float(np.min((loss[:, 0] - loss[:, 1] - loss[:, 2]) / size[:, 0]))

    X = rng.uniform(size=(rows, 3))
    y = np.where(rng.uniform(size=rows) < 0.5, X[:, 0] > 0.5, rng.uniform(size=rows) < 0.5)
    leaves = np.unique(np.geomspace(1, most_leaves, 13).astype(int))
    curves = {
        _SHOWN[name]: np.array(
            [
                np.mean(
                    TreeClassifier(0.0, criterion=criterion, max_leaves=int(k)).fit(X, y).predict(X)
                    != y
                )
                for k in leaves
            ]
        )
        for name, criterion in PSI.items()
    }
    falls = all(np.all(np.diff(curve) <= _ROUNDING) for curve in curves.values())
    holds = falls and min(least.values()) >= -_ROUNDING
    return Experiment(
        columns={"leaves": leaves, **curves},
        holds=bool(holds),
        finding=f"over {splits:,} random splits the least gain of any impurity is "
        f"{min(least.values()):.1e}; the training error of grown trees falls from "
        f"{curves['Gini'][0]:.3f} to {curves['Gini'][-1]:.3f} without ever rising",
        draw=partial(
            lines_chart,
            leaves,
            curves,
            x_title="leaves",
            y_title="training error",
            title="Growing never raises the training error",
            subtitle="Trees grown by four impurities on the same rows",
            log_x=True,
        ),
    )


@experiment(
    "A-E08",
    claim="The error rate may see no gain where Gini, entropy and the square root do.",
    items="A33",
)
def impurity_stall(*, copies: int = 10, most_leaves: int = 4) -> Experiment:
    """Split a node of share 0.8 into halves of shares 0.6 and 1, and grow trees on such rows.

    By the error rate the split gains 0.2 - (0.4 + 0) / 2 = 0, so growth stops at the root; the
    other impurities gain, and the next split makes every leaf pure. On a balanced XOR, where both
    halves keep the share of the whole, all four are blind: only the strictly concave ones need
    children that differ from their parent.

    Parameters
    ----------
    copies : int
        How often the ten rows of the example are repeated.
    most_leaves : int
        Leaves of the largest tree.
    """
    gains = {
        name: float(psi(0.8, name) - 0.5 * psi(0.6, name) - 0.5 * psi(1.0, name)) for name in PSI
    }
    # Half of the rows are all of class 1; in the other half the second column separates 3 from 2.
    X = np.repeat([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]], [2, 3, 3, 2], axis=0)
    y = np.repeat([1, 1, 1, 0], [2, 3, 3, 2])
    X, y = np.tile(X, (copies, 1)), np.tile(y, copies)
    leaves = np.arange(1, most_leaves + 1)
    curves = {
        _SHOWN[name]: np.array(
            [
                np.mean(
                    TreeClassifier(0.0, criterion=criterion, max_leaves=int(k)).fit(X, y).predict(X)
                    != y
                )
                for k in leaves
            ]
        )
        for name, criterion in PSI.items()
    }
    xor = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    blind = [
        TreeClassifier(0.0, criterion=criterion).fit(xor, [0, 1, 1, 0]).tree_.n_nodes == 1
        for criterion in PSI.values()
    ]
    stalled = abs(gains["psi1"]) < _ROUNDING and curves["error"][-1] == 0.2
    others = all(gains[n] > 0.05 and curves[_SHOWN[n]][-1] == 0 for n in ("psi2", "psi3", "psi4"))
    shown = ", ".join(f"{abs(gains[name]):.6f} ({_SHOWN[name]})" for name in PSI)
    return Experiment(
        columns={"leaves": leaves, **curves},
        holds=bool(stalled and others and all(blind)),
        finding=f"gains {shown}; the tree by the error rate stays a leaf with training error 0.2, "
        "the others reach 0 (on a balanced XOR all four see nothing)",
        draw=partial(
            lines_chart,
            leaves,
            curves,
            x_title="most leaves allowed",
            y_title="training error",
            title="The error rate stalls where other impurities go on",
            subtitle="Root 0.8, halves 0.6 and 1: no gain by the error rate, pure leaves by others",
        ),
    )


@experiment(
    "A-E09",
    claim="psi1 <= psi2 <= psi3 <= psi4; all are symmetric about 1/2 and zero at 0 and 1.",
    items="A32",
)
def impurity_order(*, points: int = 1001) -> Experiment:
    """Compare the four impurities on a grid of shares.

    They are min(p, 1 - p), 2 p (1 - p), half the entropy in bits, and sqrt(p (1 - p)).

    Parameters
    ----------
    points : int
        Points of the grid, ends included.
    """
    p = np.linspace(0, 1, points)
    values = {name: psi(p, name) for name in PSI}
    ordered = np.array(list(values.values()))
    inside = (p > 0) & (p < 1) & (p != 0.5)
    holds = (
        np.all(np.diff(ordered, axis=0) >= -_ROUNDING)
        and np.all(np.diff(ordered[:, inside], axis=0) > 0)
        and np.allclose(ordered, ordered[:, ::-1], rtol=0, atol=_ROUNDING)
        and np.all(ordered[:, [0, -1]] == 0)
    )
    gap = np.min(np.diff(ordered[:, inside], axis=0), axis=1)
    return Experiment(
        columns={"p": p, **values},
        holds=bool(holds),
        finding="the order is strict between 0, 1/2 and 1 (least gaps on the grid "
        + ", ".join(f"{each:.1e}" for each in gap)
        + "); the four meet at 0, 1/2 and 1",
        draw=partial(
            lines_chart,
            p,
            {f"{name}: {_SHOWN[name]}": value for name, value in values.items()},
            x_title="share of a class, p",
            y_title="impurity",
            title="Four impurities",
            subtitle="Symmetric, zero where a node is pure, and ordered everywhere",
            points=False,
        ),
    )


@experiment(
    "A-E37",
    claim="Entropy is 0 for one class and largest for equal shares; information gain is >= 0.",
    items="C12, C13, C14",
)
def entropy_extremes(
    *, classes: int = 6, distributions: int = 5_000, splits: int = 5_000, seed: int = 0
) -> Experiment:
    """Look for class shares above log2 K or below 0 bits, and for splits that lose information.

    Parameters
    ----------
    classes : int
        Classes K of the random shares and splits.
    distributions, splits : int
        How many are drawn; the splits include empty children, which weigh nothing.
    seed : int
        Of all draws.
    """
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(classes, 0.5), size=distributions)
    random_bits = entropy_bits(shares)
    ends = entropy_bits(np.vstack([np.full(classes, 1 / classes), np.eye(classes)]))
    counts = rng.integers(0, 8, size=(splits, classes)) + np.eye(classes, dtype=int)[0]
    left = rng.integers(0, counts + 1)
    parts = np.stack([counts, left, counts - left], axis=1).astype(np.float64)
    size = parts.sum(axis=2)
    bits = entropy_bits(parts.reshape(-1, classes)).reshape(size.shape)
    gain = bits[:, 0] - (size[:, 1] * bits[:, 1] + size[:, 2] * bits[:, 2]) / size[:, 0]
    p = np.linspace(0, 1, 201)
    curve = entropy_bits(np.stack([p, 1 - p], axis=1))
    holds = (
        abs(ends[0] - np.log2(classes)) < _ROUNDING
        and np.all(ends[1:] == 0)
        and np.all((random_bits >= 0) & (random_bits <= ends[0] + _ROUNDING))
        and np.min(gain) >= -_ROUNDING
        and np.argmax(curve) == 100
    )
    return Experiment(
        columns={"p": p, "entropy": curve},
        holds=bool(holds),
        finding=f"equal shares of {classes} classes have {ends[0]:.6f} bits, the most of "
        f"{distributions:,} random shares {random_bits.max():.4f}; the least information gain of "
        f"{splits:,} random splits is {np.min(gain):.1e} bits",
        draw=partial(
            lines_chart,
            p,
            {"entropy": curve},
            x_title="share of a class, p",
            y_title="entropy in bits",
            title="Entropy of two classes",
            subtitle="Nothing to learn at 0 and 1, one whole bit at 1/2",
            points=False,
        ),
    )


def entropy_bits(counts: FloatArray) -> FloatArray:
    """Return the entropy in bits of each row of class counts (twice the criterion of the trees)."""
    return 2 * class_impurity(np.asarray(counts, dtype=np.float64), "entropy") + 0.0  # no -0
