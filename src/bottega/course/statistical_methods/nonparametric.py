"""Slides on non-parametric methods: neighbours, trees, entropy."""

from functools import partial
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.linear import LeastSquares
from bottega.neighbors import NearestNeighborsClassifier
from bottega.plot import lines_chart
from bottega.tree import TreeClassifier
from bottega.tree.impurity import class_impurity

__all__ = ["column_scale", "entropy_extremes", "even_votes", "tree_instability"]

# What equal numbers may differ by.
ROUNDING = 1e-12


@experiment(
    "A-E35",
    claim="Rescaling a column changes nearest neighbours and leaves trees as they are.",
    items="C06, C17",
)
def column_scale(
    *, rows: int = 200, points: int = 1000, k: int = 5, random_state: int = 0
) -> Experiment:
    """Multiply a column of noise, in training and new rows, by powers of two.

    Powers of two change no digit of a number, so any change of a tree would be the tree's.

    Parameters
    ----------
    rows, points : int
        Training and new rows.
    k : int
        Neighbours.
    random_state : int
        Of all draws.
    """
    S, new = (
        make.xor(rows, useless=1, random_state=random_state),
        make.xor(points, useless=1, random_state=random_state + 1),
    )
    power = np.arange(-8, 9, 2)
    predicted: dict[str, list[FloatArray]] = {"neighbours": [], "tree": []}
    for each in power:
        scale = np.array([1.0, 1.0, 2.0**each])
        near = NearestNeighborsClassifier(k).fit(S.X * scale, S.y)
        tree = TreeClassifier(0.0).fit(S.X * scale, S.y)
        predicted["neighbours"].append(near.predict(new.X * scale))
        predicted["tree"].append(tree.predict(new.X * scale))
    base = int(np.flatnonzero(power == 0)[0])
    changed = {
        name: np.array([np.mean(each != found[base]) for each in found])
        for name, found in predicted.items()
    }
    error = {
        name: np.array([np.mean(each != new.y) for each in found])
        for name, found in predicted.items()
    }
    factor = 2.0**power
    holds = np.all(changed["tree"] == 0) and changed["neighbours"][-1] > 0.1
    return Experiment(
        columns={
            "factor": factor,
            "changed, neighbours": changed["neighbours"],
            "changed, tree": changed["tree"],
            "error, neighbours": error["neighbours"],
            "error, tree": error["tree"],
        },
        holds=bool(holds),
        finding=f"a column of noise times {factor[-1]:g} changes {changed['neighbours'][-1]:.1%} "
        f"of the predictions of {k} neighbours (error {error['neighbours'][base]:.3f} to "
        f"{error['neighbours'][-1]:.3f}) and none of a tree",
        draw=partial(
            lines_chart,
            factor,
            error,
            x_title="factor of the column of noise",
            y_title="test error",
            title="Nearest neighbours depend on units, trees do not",
            subtitle="One column of noise is measured in other and other units",
            log_x=True,
        ),
    )


@experiment(
    "A-E36",
    claim="Small changes of the data change a tree much; a tree selects its columns by itself.",
    items="C18",
    verdict="holds only if the tree is pruned, for the selection: a full tree splits on noise too",
)
def tree_instability(
    *,
    rows: int = 250,
    useless: int = 8,
    parts: int = 20,
    leaves: tuple[int, ...] = (2, 3, 4, 8, 16),
    random_state: int = 0,
) -> Experiment:
    """Fit trees and lines to parts of one data set, and see which columns trees use.

    The data are two normal classes separated by two correlated columns, and `useless` columns of
    noise. Each fit leaves out a random fifth of the rows. (A bootstrap sample would repeat rows,
    which spoils the cross-validation that prunes.) Instability is the share of new points on which
    two fits of the same method disagree.

    Parameters
    ----------
    rows : int
        Rows of the data set.
    useless : int
        Columns of noise.
    parts : int
        Parts of the data set.
    leaves : tuple of int
        Sizes of trees; a full tree and one pruned by cross-validation are grown too.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    S, fresh = (
        make.two_gaussians(n, correlation=0.5, random_state=random_state + i)
        for i, n in enumerate((rows, 400))
    )
    X = np.hstack([S.X, rng.normal(size=(rows, useless))])
    new = np.hstack([fresh.X, rng.normal(size=(400, useless))])
    models: dict[str, Any] = {str(k): TreeClassifier(0.0, max_leaf_nodes=k) for k in leaves}
    models |= {"full": TreeClassifier(0.0), "pruned": TreeClassifier(cv=5)}
    predicted: dict[str, list[FloatArray]] = {name: [] for name in (*models, "line")}
    used: dict[str, list[float]] = {name: [] for name in models}
    size, roots = 0.0, set()
    for _ in range(parts):
        drawn = rng.permutation(rows)[: 4 * rows // 5]
        for name, model in models.items():
            tree = model.fit(X[drawn], S.y[drawn]).nodes_
            predicted[name].append(model.predict(new))
            used[name].append(len({int(j) for j in tree.feature if j >= 2}) / useless)
            if name == "full":
                size += tree.n_leaves / parts
                roots.add((int(tree.feature[0]), float(tree.threshold[0])))
        line = LeastSquares().fit(X[drawn], S.y[drawn])
        predicted["line"].append((line.predict(new) > 0.5).astype(int))
    disagree = {name: disagreement(np.array(each)) for name, each in predicted.items()}
    noise = {name: float(np.mean(each)) for name, each in used.items()}
    # These numbers are several times apart in every data set tried; the factors leave room.
    holds = (
        disagree["full"] > 1.5 * disagree["line"]
        and len(roots) > 1
        and noise["pruned"] < 0.3
        and noise["full"] > 0.5
    )
    grown = [*map(str, leaves), "full"]
    sizes = np.array([*leaves, size])
    return Experiment(
        columns={
            "method": list(predicted),
            "disagreement": list(disagree.values()),
            "noise columns used": [noise.get(name, 1.0) for name in predicted],
        },
        holds=bool(holds),
        finding=f"two parts of the rows make full trees disagree on {disagree['full']:.1%} of new "
        f"points, lines on {disagree['line']:.1%}, with {len(roots)} different roots in {parts} "
        f"trees; of {useless} columns of noise a pruned tree uses {noise['pruned'] * useless:.1f}, "
        f"a full one {noise['full'] * useless:.1f}",
        draw=partial(
            lines_chart,
            sizes,
            {
                "two trees disagree": np.array([disagree[name] for name in grown]),
                "columns of noise in a tree": np.array([noise[name] for name in grown]),
                "two lines disagree": np.full(len(sizes), disagree["line"]),
            },
            x_title="leaves",
            y_title="share of new points, of columns of noise",
            title="Large trees are unstable, and split on noise",
            subtitle=f"Fits that leave out a fifth of {rows} rows",
            log_x=True,
            dashed=("two lines disagree",),
        ),
    )


def disagreement(predicted: FloatArray) -> float:
    """Return the mean share of columns in which two different rows differ."""
    k = len(predicted)
    ones = predicted.sum(axis=0)
    return float(np.mean(2 * ones * (k - ones) / (k * (k - 1))))


@experiment(
    "A-E37",
    claim="Entropy is 0 for one class and largest for equal shares; information gain is >= 0.",
    items="C12, C13, C14",
)
def entropy_extremes(
    *, classes: int = 6, distributions: int = 5_000, splits: int = 5_000, random_state: int = 0
) -> Experiment:
    """Look for class shares above log2 K or below 0 bits, and for splits that lose information.

    Parameters
    ----------
    classes : int
        Classes K of the random shares and splits.
    distributions, splits : int
        How many are drawn; the splits include empty children, which weigh nothing.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
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
        abs(ends[0] - np.log2(classes)) < ROUNDING
        and np.all(ends[1:] == 0)
        and np.all((random_bits >= 0) & (random_bits <= ends[0] + ROUNDING))
        and np.min(gain) >= -ROUNDING
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
    return class_impurity(np.asarray(counts, dtype=np.float64), "entropy") + 0.0  # no -0


@experiment(
    "A-E38",
    claim="Weighting votes by inverse distance breaks the ties of an even k.",
    items="C03, C04",
    verdict="holds only if the sums of inverse distances of the two sides differ; equal sums, even "
    "of different distances, leave the tie",
)
def even_votes(
    *,
    rows: int = 200,
    points: int = 2000,
    ks: tuple[int, ...] = (2, 4, 6, 8, 10),
    random_state: int = 0,
) -> Experiment:
    """Count tied votes with and without weights, and build two ties that weights cannot break.

    Parameters
    ----------
    rows, points : int
        Training and new rows.
    ks : tuple of int
        Even numbers of neighbours.
    random_state : int
        Of all draws.
    """
    S, new = (
        make.xor(rows, cluster_std=0.8, random_state=random_state),
        make.xor(points, cluster_std=0.8, random_state=random_state + 1),
    )
    ties = {
        weights: np.array(
            [
                np.mean(
                    NearestNeighborsClassifier(k, weights=weights)
                    .fit(S.X, S.y)
                    .predict_proba(new.X)[:, 0]
                    == 0.5
                )
                for k in ks
            ]
        )
        for weights in ("uniform", "distance")
    }
    first = NearestNeighborsClassifier(1).fit(S.X, S.y).predict(new.X)
    two = NearestNeighborsClassifier(2, weights="distance").fit(S.X, S.y).predict(new.X)
    middle = NearestNeighborsClassifier(2, weights="distance").fit([[-2.0], [2.0]], [0, 1])
    # 1/1.5 + 1/3 = 1/2 + 1/2: equal sums from different distances.
    uneven = NearestNeighborsClassifier(4, weights="distance").fit(
        [[-1.5], [3.0], [-2.0], [2.0]], [0, 0, 1, 1]
    )
    stays = all(model.predict_proba([[0.0]])[0, 0] == 0.5 for model in (middle, uneven))
    holds = (
        np.all(ties["uniform"] > 0.03)
        and np.all(ties["distance"] == 0)
        and stays
        and np.array_equal(first, two)
    )
    return Experiment(
        columns={
            "k": np.array(ks),
            "ties, one vote each": ties["uniform"],
            "ties, inverse distance": ties["distance"],
        },
        holds=bool(holds),
        finding=f"{ties['uniform'][0]:.1%} of the votes of two neighbours are ties and "
        f"{ties['uniform'][-1]:.1%} of those of {ks[-1]}, none with weights (two weighted "
        "neighbours are the nearest one); neighbours at 2 and 2, or at 1.5 and 3 against 2 and 2, "
        "stay a tie",
        draw=partial(
            lines_chart,
            ks,
            {"one vote each": ties["uniform"], "by inverse distance": ties["distance"]},
            x_title="neighbours k",
            y_title="share of tied votes",
            title="Ties of an even number of neighbours",
            subtitle="Weights leave a tie only where the sums of inverse distances are equal",
        ),
    )
