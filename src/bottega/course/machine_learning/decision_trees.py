"""Chapter 2: decision trees as they grow, their stability and cost."""

from functools import partial

import numpy as np

from bottega.core.typing import FloatArray, IntArray
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.neighbors import NearestNeighborsClassifier
from bottega.plot import lines_chart
from bottega.tree import TreeClassifier

__all__ = ["root_without_one_row", "tree_depth_curve", "tree_or_neighbors"]


@experiment(
    "M-X12",
    claim="As a tree grows, its accuracy on the training rows goes to 100 % while that on "
    "validation rows rises and then falls.",
    items="M221",
)
def tree_depth_curve(
    *, rows: int = 400, validation: int = 4000, flip: float = 0.2, random_state: int = 0
) -> Experiment:
    """Prune one full tree to each size and score it on the training and on validation rows.

    Parameters
    ----------
    rows, validation : int
        Training and validation rows.
    flip : float
        Share of training labels turned round: what there is to overfit.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    data = make.nested_spheres(rows, random_state=random_state)
    new = make.nested_spheres(validation, random_state=random_state + 1)
    y = np.where(rng.uniform(size=rows) < flip, 1 - data.y, data.y)
    full = TreeClassifier(0.0).fit(data.X, y).nodes_.n_leaves
    leaves = np.unique(np.geomspace(1, full, 16).astype(int))
    train, held = np.zeros(len(leaves)), np.zeros(len(leaves))
    for i, k in enumerate(leaves):
        model = TreeClassifier(n_leaves=int(k), prune_by="impurity").fit(data.X, y)
        train[i] = np.mean(model.predict(data.X) == y)
        held[i] = np.mean(model.predict(new.X) == new.y)
    best = int(np.argmax(held))
    error = 0.5 / np.sqrt(validation)
    holds = (
        train[-1] == 1
        and np.all(np.diff(train) >= -1e-12)
        and 0 < best < len(leaves) - 1
        and held[best] > held[0] + 5 * error
        and held[best] > held[-1] + 5 * error
    )
    return Experiment(
        columns={"leaves": leaves, "training": train, "validation": held},
        holds=bool(holds),
        finding=f"the full tree of {full} leaves is right on all training rows and on "
        f"{held[-1]:.1%} of the validation rows; the best has {leaves[best]} leaves and is right "
        f"on {held[best]:.1%}",
        draw=partial(
            lines_chart,
            leaves,
            {"training rows": train, "validation rows": held},
            x_title="leaves",
            y_title="accuracy",
            title="100 % on the training rows marks a tree not to use",
            subtitle=f"{flip:.0%} of the training labels are wrong",
            log_x=True,
        ),
    )


@experiment(
    "M-X14",
    claim="Trees are unstable: without one row the first split may be another.",
    items="M227",
)
def root_without_one_row(
    *, rows: int = 40, data_sets: int = 10, random_state: int = 0
) -> Experiment:
    """Leave out each row in turn and see whether the root splits on another column or place.

    Parameters
    ----------
    rows : int
        Rows of each data set, from two normal classes with five equal columns.
    data_sets : int
        Data sets.
    random_state : int
        Of the first data set.
    """
    column, place = np.zeros(data_sets), np.zeros(data_sets)
    for r in range(data_sets):
        data = make.two_gaussians(rows, distance=2.0, n_features=5, random_state=random_state + r)
        root = _root(data.X, data.y)
        for i in range(rows):
            other = _root(np.delete(data.X, i, axis=0), np.delete(data.y, i))
            column[r] += (other[0] != root[0]) / rows
            # Leaving a row out moves a midpoint to the next one at most; a jump is farther.
            gap = abs(other[1] - root[1]) > _two_gaps(data.X[:, root[0]], root[1])
            place[r] += (other[0] == root[0] and gap) / rows
    changed = float(np.mean(column + place > 0))
    holds = changed > 0.2 and np.max(column) > 0
    order = np.arange(1, data_sets + 1)
    return Experiment(
        columns={"data set": order, "other column": column, "other place": place},
        holds=bool(holds),
        finding=f"in {changed:.0%} of {data_sets} data sets there is a row without which the root "
        f"splits elsewhere; in the worst {np.max(column):.0%} of the rows change its column",
        draw=partial(
            lines_chart,
            order,
            {
                "root on another column": np.sort(column)[::-1],
                "root at another place": np.sort(place)[::-1],
            },
            x_title="data set, most first",
            y_title="share of rows whose absence does it",
            title="One row may decide the root",
            subtitle=f"{rows} rows of two normal classes, five columns alike",
        ),
    )


def _root(X: FloatArray, y: IntArray) -> tuple[int, float]:
    tree = TreeClassifier(0.0, max_leaf_nodes=2).fit(X, y).nodes_
    return int(tree.feature[0]), float(tree.threshold[0])


def _two_gaps(x: FloatArray, at: float) -> float:
    """Return the distance from a cut to the second row on either side, whichever is farther."""
    below, above = np.sort(x[x <= at])[-2:], np.sort(x[x > at])[:2]
    return float(max(at - below[0], above[-1] - at))


@experiment(
    "M-X15",
    claim="A tree needs little memory and answers fast; nearest neighbours store every row and "
    "compare each query with all of them.",
    items="M228",
    verdict="holds only if the tree is pruned, for the memory: a full tree of noisy labels grows "
    "with the rows too",
)
def tree_or_neighbors(
    *, rows: tuple[int, ...] = (250, 1000, 4000), points: int = 500, random_state: int = 0
) -> Experiment:
    """Count what is stored and what a query looks at, as rows are added.

    A tree stores its tests and leaves and makes one comparison a level. Nearest neighbours store
    the table, and by the definition measure the distance to every row. (Seconds are measured by the
    benchmarks; here everything is counted.)

    Parameters
    ----------
    rows : tuple of int
        Training rows, from two normal classes.
    points : int
        Queries.
    random_state : int
        Of all draws.
    """
    new = make.two_gaussians(points, random_state=random_state + 1)
    stored = {name: np.zeros(len(rows)) for name in ("pruned tree", "full tree", "neighbours")}
    looked = {name: np.zeros(len(rows)) for name in stored}
    error = {name: np.zeros(len(rows)) for name in stored}
    for i, size in enumerate(rows):
        data = make.two_gaussians(size, random_state=random_state)
        models = {
            "pruned tree": TreeClassifier(cv=0.25).fit(data.X, data.y),
            "full tree": TreeClassifier(0.0).fit(data.X, data.y),
            "neighbours": NearestNeighborsClassifier(15).fit(data.X, data.y),
        }
        for name, model in models.items():
            error[name][i] = np.mean(model.predict(new.X) != new.y)
            if name == "neighbours":
                stored[name][i] = data.X.size + size
                looked[name][i] = size
            else:
                tree = model.nodes_
                stored[name][i] = 2 * (tree.n_nodes - tree.n_leaves) + 2 * tree.n_leaves
                looked[name][i] = np.mean(tree.depth[model.apply(new.X)])
    many = np.array(rows) / rows[0]
    growth = {name: each[-1] / each[0] for name, each in stored.items()}
    holds = (
        growth["neighbours"] == many[-1]
        and stored["pruned tree"][-1] < 0.02 * stored["neighbours"][-1]
        and growth["full tree"] > many[-1] / 4
        and np.all(looked["pruned tree"] <= looked["full tree"])
        and looked["full tree"][-1] < 0.02 * rows[-1]
    )
    n = np.array(rows)
    return Experiment(
        columns={
            "rows": n,
            **{f"stored, {name}": each for name, each in stored.items()},
            **{f"comparisons, {name}": each for name, each in looked.items()},
            **{f"error, {name}": each for name, each in error.items()},
        },
        holds=bool(holds),
        finding=f"with {n[-1]:,} rows neighbours keep {stored['neighbours'][-1]:,.0f} numbers and "
        f"compare a query with {n[-1]:,} rows, a pruned tree keeps {stored['pruned tree'][-1]:.0f} "
        f"and makes {looked['pruned tree'][-1]:.1f} tests, a full one "
        f"{stored['full tree'][-1]:,.0f} and {looked['full tree'][-1]:.1f}",
        draw=partial(
            lines_chart,
            n,
            stored,
            x_title="training rows",
            y_title="numbers stored",
            title="What a model has to remember",
            subtitle="Tests and leaves of a tree, or the whole table",
            log_x=True,
            log_y=True,
        ),
    )
