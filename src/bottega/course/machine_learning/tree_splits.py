"""Chapter 2: what greedy splits of a decision tree miss."""

from functools import partial

import numpy as np

from bottega.core.typing import FloatArray, IntArray
from bottega.course._numbers import errors_above
from bottega.course.experiment import Experiment, experiment
from bottega.course.statistical_methods.nonparametric import entropy_bits
from bottega.data import make
from bottega.plot import dots_chart, lines_chart
from bottega.tree import TreeClassifier
from bottega.tree.impurity import class_impurity

__all__ = ["blind_error_rate", "blind_stopping", "greedy_is_not_optimal", "splits_on_an_identifier"]


def _gain(parent: tuple[int, int], children: list[tuple[int, int]], kind: str) -> float:
    """Return the decrease of an impurity by a split, children weighted by their rows."""
    counts = np.array([parent, *children], dtype=np.float64)
    if kind == "entropy":
        value = entropy_bits(counts)
    else:
        value = class_impurity(counts, "gini" if kind == "Gini" else "error")
    share = counts[1:].sum(axis=1) / counts[0].sum()
    return float(round(value[0] - share @ value[1:], 15) + 0.0)  # no minus zero by rounding


@experiment(
    "M-X9",
    "M-X10",
    claim="The error rate cannot rank two splits that Gini and entropy can, and sees no gain in a "
    "split after which the next one makes every leaf pure.",
    items="M213, M214",
)
def blind_error_rate() -> Experiment:
    """Compute the gains of three splits by three impurities, and grow trees by them.

    Splits a and b divide (400, 400) into (100, 300), (300, 100) and into (200, 400), (200, 0):
    b has a pure child. Split c divides (160, 40) into (80, 0), (80, 40), and the next one could
    divide the second child into (80, 0), (0, 40).
    """
    splits = {
        "a": ((400, 400), [(100, 300), (300, 100)]),
        "b": ((400, 400), [(200, 400), (200, 0)]),
        "c": ((160, 40), [(80, 0), (80, 40)]),
    }
    kinds = ("error rate", "Gini", "entropy")
    gain = {kind: [_gain(*splits[name], kind) for name in splits] for kind in kinds}
    # Rows of split c: the first column makes it, the second makes the next one.
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [40, 40, 80, 40], axis=0)
    y = np.repeat([0, 0, 0, 1], [40, 40, 80, 40])
    leaves = {
        kind: TreeClassifier(0.0, criterion=criterion).fit(X, y).nodes_.n_leaves
        for kind, criterion in zip(kinds, ("error", "gini", "entropy"), strict=True)
    }
    a, b, c = gain["error rate"]
    holds = (
        abs(a - b) < 1e-12
        and abs(c) < 1e-12
        and all(gain[kind][1] > gain[kind][0] + 0.04 for kind in kinds[1:])
        and all(gain[kind][2] > 0.05 for kind in kinds[1:])
        and leaves["error rate"] == 1
        and leaves["Gini"] == leaves["entropy"] == 3
    )
    return Experiment(
        columns={"split": list(splits), **gain},
        holds=bool(holds),
        finding="gains of a, b and c are "
        + "; ".join(
            ", ".join(f"{each:.6f}" for each in gain[kind]) + f" by {kind}" for kind in kinds
        )
        + f"; by the error rate the tree of c stays a leaf, by the others it has {leaves['Gini']} "
        "pure leaves",
        draw=partial(
            dots_chart,
            ["a: (100, 300) (300, 100)", "b: (200, 400) (200, 0)", "c: (80, 0) (80, 40)"],
            gain,
            x_title="gain of the split",
            title="The error rate cannot tell a from b, and sees nothing in c",
            subtitle="Entropy in bits",
        ),
    )


@experiment(
    "M-X11",
    claim="Impurity prefers splits with many outcomes: an identifier wins over a useful column and "
    "is worth nothing on new rows.",
    items="M220",
)
def splits_on_an_identifier(
    *, rows: int = 300, points: int = 2000, repeats: int = 10, random_state: int = 0
) -> Experiment:
    """Offer a useful column and a category, of few levels up to one level per row, that is noise.

    Parameters
    ----------
    rows, points : int
        Training and new rows.
    repeats : int
        Data sets for each number of levels.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    levels = np.array([2, 10, 50, 100, rows])
    first, error = np.zeros(len(levels)), np.zeros((len(levels), repeats))
    plain = np.zeros(repeats)
    for r in range(repeats):
        useful = rng.normal(size=rows)
        y = (useful + rng.normal(size=rows) > 0).astype(int)
        fresh = rng.normal(size=points)
        label = (fresh + rng.normal(size=points) > 0).astype(int)
        stump = TreeClassifier(0.0, max_leaf_nodes=2).fit(useful[:, None], y)
        plain[r] = np.mean(stump.predict(fresh[:, None]) != label)
        for i, count in enumerate(levels):
            code = rng.permutation(rows) % count
            X = np.column_stack([useful, code.astype(float)])
            model = TreeClassifier(0.0, categorical_features=[1], max_leaf_nodes=2).fit(X, y)
            first[i] += model.nodes_.feature[0] == 1
            new = np.column_stack([fresh, rng.integers(count, size=points).astype(float)])
            error[i, r] = np.mean(model.predict(new) != label)
    first /= repeats
    wrong = error.mean(axis=1)
    holds = (
        first[0] == 0
        and first[-1] == 1
        and wrong[-1] > 0.45  # as good as a coin
        and plain.mean() < 0.3
        and abs(wrong[0] - plain.mean()) < 0.02
    )
    return Experiment(
        columns={"levels": levels, "noise split first": first, "error": wrong},
        holds=bool(holds),
        finding=f"a category of noise takes the first split in {first[0]:.0%} of the data sets "
        f"with {levels[0]} levels and in {first[-1]:.0%} with one level per row, where the error "
        f"on new rows is {wrong[-1]:.2f} instead of {plain.mean():.2f}",
        draw=partial(
            lines_chart,
            levels,
            {
                "first split is on noise": first,
                "error on new rows": wrong,
                "error without the category": np.full(len(levels), plain.mean()),
            },
            x_title="levels of a category that is noise",
            y_title="share",
            title="Many values look like a good split",
            subtitle=f"A useful column and a category of noise, {rows} rows",
            log_x=True,
            dashed=("error without the category",),
        ),
    )


@experiment(
    "M-X13",
    claim="Stopping by a least gain is blind: it may stop before a split that purifies; growing "
    "and then pruning does not.",
    items="M224, M225",
)
def blind_stopping(
    *,
    rows: int = 400,
    spread: float = 0.35,
    points: int = 2000,
    repeats: int = 15,
    random_state: int = 0,
) -> Experiment:
    """Grow trees on XOR with a least gain of several sizes, and prune a full tree.

    On XOR the first split gains next to nothing, and the second everything.

    Parameters
    ----------
    rows, points : int
        Training and new rows.
    spread : float
        Standard deviation of each of the four clusters.
    repeats : int
        Data sets.
    random_state : int
        Of the first data set.
    """
    least = np.array([0.0, 0.001, 0.003, 0.01, 0.03])
    stopped, pruned = np.zeros((len(least), repeats)), np.zeros(repeats)
    leaves = np.zeros((len(least), repeats))
    kept = np.zeros(repeats)
    for r in range(repeats):
        data = make.xor(rows, cluster_std=spread, random_state=random_state + r)
        new = make.xor(points, cluster_std=spread, random_state=random_state + 1000 + r)
        for i, gain in enumerate(least):
            model = TreeClassifier(0.0, min_impurity_decrease=float(gain)).fit(data.X, data.y)
            stopped[i, r] = np.mean(model.predict(new.X) != new.y)
            leaves[i, r] = model.nodes_.n_leaves
        model = TreeClassifier(select="reduced_error").fit(data.X, data.y)
        pruned[r] = np.mean(model.predict(new.X) != new.y)
        kept[r] = model.nodes_.n_leaves
    bayes = make.xor(1, cluster_std=spread).bayes_risk
    mean = stopped.mean(axis=1)
    holds = (
        mean[-1] > 0.4  # stopped at the root
        and pruned.mean() < 0.1
        and leaves[0].mean() > kept.mean()
        and errors_above(mean[-1] + np.zeros(repeats), pruned) > 5
    )
    return Experiment(
        columns={"least gain": least, "error": mean, "leaves": leaves.mean(axis=1)},
        holds=bool(holds),
        finding=f"asking for a gain of {least[-1]:g} leaves {leaves[-1].mean():.1f} leaves and an "
        f"error of {mean[-1]:.2f}, no least gain {leaves[0].mean():.0f} leaves; pruning keeps "
        f"{kept.mean():.1f} leaves with error {pruned.mean():.3f} (Bayes {bayes:.3f})",
        draw=partial(
            lines_chart,
            least,
            {
                "stopped by a least gain": mean,
                "grown and pruned": np.full(len(least), pruned.mean()),
            },
            x_title="least gain asked for",
            y_title="error on new rows",
            title="Stopping is blind, pruning is not",
            subtitle="XOR: the first split gains next to nothing, the second everything",
            dashed=("grown and pruned",),
        ),
    )


@experiment(
    "M-X16",
    claim="Greedy growth is not globally optimal: the best tree of depth two errs less.",
    items="M209",
)
def greedy_is_not_optimal(
    *, rows: int = 24, data_sets: int = 25, random_state: int = 0
) -> Experiment:
    """Search all trees of depth two on small data sets and compare with greedy ones.

    Parameters
    ----------
    rows : int
        Rows of each data set, labelled by XOR of two columns with a tenth of the labels wrong; a
        third column is noise.
    data_sets : int
        Data sets.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    greedy, best = np.zeros(data_sets), np.zeros(data_sets)
    for r in range(data_sets):
        X = rng.uniform(-1, 1, size=(rows, 3))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
        y = np.where(rng.uniform(size=rows) < 0.1, 1 - y, y)
        model = TreeClassifier(0.0, max_depth=2).fit(X, y)
        greedy[r] = np.sum(model.predict(X) != y)
        best[r] = least_errors(X, y, 2)
    worse = float(np.mean(greedy > best))
    holds = np.all(greedy >= best) and worse > 0.5
    order = np.argsort(greedy - best, kind="stable")
    return Experiment(
        columns={"greedy": greedy, "best": best},
        holds=bool(holds),
        finding=f"in {worse:.0%} of {data_sets} data sets some tree of depth two errs less than "
        f"the greedy one, {best.mean():.1f} instead of {greedy.mean():.1f} of {rows} rows on "
        "average; never the other way round",
        draw=partial(
            lines_chart,
            np.arange(1, data_sets + 1),
            {"greedy tree": greedy[order], "best tree": best[order]},
            x_title="data set, by the gap",
            y_title="training errors",
            title="Greedy growth is not optimal",
            subtitle="Trees of depth two on XOR with some wrong labels",
        ),
    )


def least_errors(X: FloatArray, y: IntArray, depth: int) -> int:
    """Return the fewest training errors of any tree of so many levels of tests.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> least_errors(X, np.array([0, 1, 1, 0]), 1), least_errors(X, np.array([0, 1, 1, 0]), 2)
    (2, 0)
    """
    here = int(min(np.sum(y), len(y) - np.sum(y)))
    if depth == 0 or here == 0:
        return here
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        cuts = np.flatnonzero(np.diff(X[order, j]) > 0) + 1
        if depth == 1:  # all cuts of a column at once
            left = np.cumsum(y[order])
            n, total = len(y), left[-1]
            ones, size = left[cuts - 1], cuts
            errors = np.minimum(ones, size - ones) + np.minimum(
                total - ones, n - size - (total - ones)
            )
            here = min(here, int(errors.min(initial=here)))
            continue
        for cut in cuts:
            a, b = order[:cut], order[cut:]
            found = least_errors(X[a], y[a], depth - 1)
            if found < here:
                here = min(here, found + least_errors(X[b], y[b], depth - 1))
    return here
