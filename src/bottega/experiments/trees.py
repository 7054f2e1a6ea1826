"""Claims about trees as predictors: their logic, their instability, the columns they use."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.data import make
from bottega.experiments._numbers import vote_error
from bottega.experiments.experiment import Experiment, experiment
from bottega.linear import LeastSquares
from bottega.plot import lines_chart
from bottega.tree import TreeClassifier

__all__ = ["tree_as_logic", "tree_cells", "tree_instability"]


@experiment(
    "A-E10",
    claim="A tree equals the disjunction of the conjunctions along its paths to label +1.",
    items="A33b",
)
def tree_as_logic(*, inputs: int = 4, functions: int = 60, seed: int = 0) -> Experiment:
    """Grow trees for random Boolean functions and compare each with its formula on every input.

    Parameters
    ----------
    inputs : int
        Boolean inputs d; all 2^d of them are tried.
    functions : int
        Random functions.
    seed : int
        Of the functions.
    """
    rng = np.random.default_rng(seed)
    cube = np.array(list(product([0.0, 1.0], repeat=inputs)))
    leaves, positive, terms, wrong = [], [], [], []
    for _ in range(functions):
        y = (rng.permutation(len(cube)) < rng.integers(1, len(cube))).astype(int)  # both labels
        tree = TreeClassifier(0.0, max_leaves=int(rng.integers(2, len(cube) + 1))).fit(cube, y)
        formula = tree.dnf(1)
        said = tree.predict(cube) == 1
        where = np.unique(tree.apply(cube))
        leaves.append(tree.tree_.n_leaves)
        positive.append(int(np.argmax(tree.tree_.value[where], axis=1).sum()))
        terms.append(len(formula))
        wrong.append(int(np.sum(formula.holds(cube) != said)))
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
    seed: int = 0,
) -> Experiment:
    """Fit trees and lines to parts of one data set, and see which columns trees use.

    The data are two normal classes told apart by two correlated columns, and `useless` columns of
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
    seed : int
        Of all draws.
    """
    rng = np.random.default_rng(seed)
    S, fresh = (
        make.two_gaussians(n, correlation=0.5, seed=seed + i) for i, n in enumerate((rows, 400))
    )
    X = np.hstack([S.X, rng.normal(size=(rows, useless))])
    new = np.hstack([fresh.X, rng.normal(size=(400, useless))])
    models: dict[str, Any] = {str(k): TreeClassifier(0.0, max_leaves=k) for k in leaves}
    models |= {"full": TreeClassifier(0.0), "pruned": TreeClassifier(cv=5)}
    said: dict[str, list[FloatArray]] = {name: [] for name in (*models, "line")}
    used: dict[str, list[float]] = {name: [] for name in models}
    size, roots = 0.0, set()
    for _ in range(parts):
        drawn = rng.permutation(rows)[: 4 * rows // 5]
        for name, model in models.items():
            tree = model.fit(X[drawn], S.y[drawn]).tree_
            said[name].append(model.predict(new))
            used[name].append(len({int(j) for j in tree.feature if j >= 2}) / useless)
            if name == "full":
                size += tree.n_leaves / parts
                roots.add((int(tree.feature[0]), float(tree.threshold[0])))
        line = LeastSquares().fit(X[drawn], S.y[drawn])
        said["line"].append((line.predict(new) > 0.5).astype(int))
    disagree = {name: disagreement(np.array(each)) for name, each in said.items()}
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
            "method": list(said),
            "disagreement": list(disagree.values()),
            "noise columns used": [noise.get(name, 1.0) for name in said],
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


@experiment(
    "A-E22",
    claim="A greedy tree is consistent if the diameters of its cells go to 0 and their counts of "
    "rows to infinity.",
    items="A55",
)
def tree_cells(
    *,
    rows: tuple[int, ...] = (100, 400, 1600, 6400, 25600),
    points: int = 4000,
    repeats: int = 3,
    seed: int = 0,
) -> Experiment:
    """Grow trees by three schedules and follow cells and risk as rows are added.

    Leaves of at least ln(m)^2 rows meet both conditions. A tree grown to the end has cells that
    shrink but hold single rows, so it keeps the noise; a tree of four leaves has cells full of
    rows that do not shrink. The truth is eta(x) = 1/2 + 1/2 cos(20 x) on [0, 1], whose Bayes risk
    is known, and the risk of each tree is computed with eta.

    Parameters
    ----------
    rows : tuple of int
        Training rows m.
    points : int
        Grid that risks are computed on.
    repeats : int
        Training sets averaged.
    seed : int
        Of the first training set.
    """
    schedules: dict[str, Callable[[int], dict[str, Any]]] = {
        "at least ln(m)^2 rows a leaf": lambda m: {"min_leaf": int(np.log(m) ** 2)},
        "grown to the end": lambda _: {"min_leaf": 1},
        "four leaves": lambda _: {"max_leaves": 4},
    }
    x = (np.arange(points) + 0.5)[:, None] / points
    eta = 0.5 + 0.5 * np.cos(20 * x[:, 0])
    bayes = make.lipschitz(1, c=10.0, features=1).bayes_risk
    excess = {name: np.zeros(len(rows)) for name in schedules}
    diameter = {name: np.zeros(len(rows)) for name in schedules}
    count = {name: np.zeros(len(rows)) for name in schedules}
    for i, m in enumerate(rows):
        for r in range(repeats):
            sample = make.lipschitz(m, c=10.0, features=1, seed=seed + r)
            for name, schedule in schedules.items():
                tree = TreeClassifier(0.0, **schedule(m)).fit(sample.X, sample.y)
                leaves = tree.tree_.is_leaf
                inner = np.sort(tree.tree_.threshold)
                width = np.diff(np.concatenate([[0.0], inner, [1.0]]))
                excess[name][i] += (vote_error(eta, tree.predict(x)) - bayes) / repeats
                diameter[name][i] += float(np.sum(width**2)) / repeats  # of the cell of a new point
                count[name][i] += float(np.median(tree.tree_.n[leaves])) / repeats
    both, full, few = schedules
    holds = (
        excess[both][-1] < 0.02
        and excess[both][-1] < excess[both][0] / 3
        and diameter[both][-1] < diameter[both][0] / 3
        and count[both][-1] > 3 * count[both][0]
        and excess[full][-1] > 0.05
        and count[full][-1] <= 3
        and excess[few][-1] > 0.05
        and diameter[few][-1] > diameter[few][0] / 2
    )
    sizes = np.array(rows)
    return Experiment(
        columns={
            "rows": np.tile(sizes, len(schedules)),
            "schedule": [name for name in schedules for _ in rows],
            "excess risk": np.concatenate(list(excess.values())),
            "cell diameter": np.concatenate(list(diameter.values())),
            "median rows a leaf": np.concatenate(list(count.values())),
        },
        holds=bool(holds),
        finding=f"at {rows[-1]:,} rows the excess risk is {excess[both][-1]:.3f} with both "
        f"conditions, {excess[full][-1]:.3f} with leaves of {count[full][-1]:.0f} rows, "
        f"{excess[few][-1]:.3f} with four leaves",
        draw=partial(
            lines_chart,
            sizes,
            excess,
            x_title="training rows",
            y_title="risk above the Bayes risk",
            title="Trees need cells that shrink and fill up",
            subtitle="Only leaves whose counts grow slowly with the rows come down to the best",
            log_x=True,
        ),
    )


def disagreement(said: FloatArray) -> float:
    """Return the mean share of columns in which two different rows differ."""
    k = len(said)
    ones = said.sum(axis=0)
    return float(np.mean(2 * ones * (k - ones) / (k * (k - 1))))
