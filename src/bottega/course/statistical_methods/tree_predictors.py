"""Chapter 3: tree predictors and their impurities."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from bottega.course.experiment import Experiment, experiment
from bottega.plot import lines_chart
from bottega.tree import TreeClassifier
from bottega.tree.impurity import class_impurity

__all__ = ["impurity_order", "impurity_stall", "training_error_of_growth", "tree_as_logic"]

# The four impurities of the notes by the criterion of the trees that is equal to them.
PSI = {"psi1": "error", "psi2": "gini", "psi3": "entropy", "psi4": "sqrt"}
_ROUNDING = 1e-12
_SHOWN = {"psi1": "error", "psi2": "Gini", "psi3": "half the entropy", "psi4": "square root"}


@experiment(
    "A-E07",
    claim="A split never raises the training error, nor any concave impurity.",
    items="A30, A31",
)
def training_error_of_growth(
    *, rows: int = 300, splits: int = 20_000, most_leaves: int = 64, random_state: int = 0
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
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
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
                    TreeClassifier(0.0, criterion=criterion, max_leaf_nodes=int(k))
                    .fit(X, y)
                    .predict(X)
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


def psi(p: Any, name: str) -> Any:
    """Return an impurity of two classes at shares p of the first."""
    p = np.asarray(p, dtype=np.float64)
    shares = np.stack([p, 1 - p], axis=-1).reshape(-1, 2)
    half = 0.5 if name == "psi3" else 1.0  # the criterion is the whole entropy
    return half * class_impurity(shares, PSI[name]).reshape(p.shape) + 0.0  # no minus zero


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
                    TreeClassifier(0.0, criterion=criterion, max_leaf_nodes=int(k))
                    .fit(X, y)
                    .predict(X)
                    != y
                )
                for k in leaves
            ]
        )
        for name, criterion in PSI.items()
    }
    xor = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    blind = [
        TreeClassifier(0.0, criterion=criterion).fit(xor, [0, 1, 1, 0]).nodes_.gain[0] == 0
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
    "A-E10",
    claim="A tree equals the disjunction of the conjunctions along its paths to label +1.",
    items="A33b",
)
def tree_as_logic(*, inputs: int = 4, functions: int = 60, random_state: int = 0) -> Experiment:
    """Grow trees for random Boolean functions and compare each with its formula on every input.

    Parameters
    ----------
    inputs : int
        Boolean inputs d; all 2^d of them are tried.
    functions : int
        Random functions.
    random_state : int
        Of the functions.
    """
    rng = np.random.default_rng(random_state)
    cube = np.array(list(product([0.0, 1.0], repeat=inputs)))
    leaves, positive, terms, wrong = [], [], [], []
    for _ in range(functions):
        y = (rng.permutation(len(cube)) < rng.integers(1, len(cube))).astype(int)  # both labels
        tree = TreeClassifier(0.0, max_leaf_nodes=int(rng.integers(2, len(cube) + 1))).fit(cube, y)
        formula = tree.dnf(1)
        predicted = tree.predict(cube) == 1
        where = np.unique(tree.apply(cube))
        leaves.append(tree.nodes_.n_leaves)
        positive.append(int(np.argmax(tree.nodes_.value[where], axis=1).sum()))
        terms.append(len(formula))
        wrong.append(int(np.sum(formula.holds(cube) != predicted)))
    order = np.unique(leaves)
    mean_positive = np.array([np.mean(np.array(positive)[leaves == k]) for k in order])
    mean_terms = np.array([np.mean(np.array(terms)[leaves == k]) for k in order])
    return Experiment(
        columns={"leaves": leaves, "paths": positive, "terms": terms, "disagreements": wrong},
        holds=sum(wrong) == 0 and all(t <= p for t, p in zip(terms, positive, strict=True)),
        finding=f"{functions} trees agree with their formulas on all {len(cube)} inputs; "
        f"{sum(positive)} paths are written in {sum(terms)} terms after joining",
        draw=partial(
            lines_chart,
            order,
            {"paths that end in +1": mean_positive, "terms after joining": mean_terms},
            x_title="leaves of the tree",
            y_title="mean number",
            title="A tree and its formula",
            subtitle="One conjunction a path; joining paths makes the formula shorter",
        ),
    )
