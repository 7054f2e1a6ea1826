"""Chapter 2: nearest neighbours."""

from functools import partial

import numpy as np
from sklearn.neighbors import KDTree

from bottega.core.typing import FloatArray
from bottega.course._numbers import log_slope
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.neighbors import NearestNeighborsClassifier, NeighborSearch
from bottega.plot import lines_chart

__all__ = ["neighbors_sweep", "query_cost"]


@experiment(
    "A-E05",
    claim="1-NN has training error 0; training error grows with k, to the constant of k = m; test "
    "error is U-shaped in k.",
    items="A20, A23",
    verdict="holds only if no two equal points carry different labels; and the growth with k is a "
    "trend, with steps back",
)
def neighbors_sweep(
    *, rows: int = 101, points: int = 1000, repeats: int = 8, random_state: int = 0
) -> Experiment:
    """Let k go from 1 to all rows; then repeat points with both labels.

    Parameters
    ----------
    rows : int
        Training rows; odd, so that no vote of all is a tie.
    points : int
        New rows.
    repeats : int
        Training sets.
    random_state : int
        Of all draws.
    """
    ks = np.unique(np.append(np.geomspace(1, rows, 12).astype(int) // 2 * 2 + 1, rows))
    ks = ks[ks <= rows]
    train, test = np.zeros((repeats, len(ks))), np.zeros((repeats, len(ks)))
    constant = True
    for r in range(repeats):
        S = make.two_gaussians(rows, random_state=random_state + 2 * r)
        new = make.two_gaussians(points, random_state=random_state + 2 * r + 1)
        for i, k in enumerate(ks):
            model = NearestNeighborsClassifier(int(k)).fit(S.X, S.y)
            predicted = model.predict(new.X)
            train[r, i] = np.mean(model.predict(S.X) != S.y)
            test[r, i] = np.mean(predicted != new.y)
        majority = int(np.mean(S.y) > 0.5)
        constant &= bool(np.all(predicted == majority)) and train[r, -1] == np.mean(S.y != majority)
    # The same points once more with the other label: half of all labels cannot be fitted.
    twice = np.vstack([S.X, S.X]), np.concatenate([S.y, 1 - S.y])
    clash = float(np.mean(NearestNeighborsClassifier(1).fit(*twice).predict(twice[0]) != twice[1]))
    steps_back = int(np.sum(np.diff(train, axis=1) < 0))
    mean_train, mean_test = train.mean(axis=0), test.mean(axis=0)
    se = test.std(axis=0, ddof=1) / np.sqrt(repeats)
    best = int(np.argmin(mean_test))
    holds = (
        np.all(train[:, 0] == 0)
        and constant
        and clash == 0.5
        and steps_back > 0
        and mean_train[0] < mean_train[len(ks) // 2] < mean_train[-1]
        and mean_test[0] - mean_test[best] > 3 * np.hypot(se[0], se[best])
        and mean_test[-1] - mean_test[best] > 3 * np.hypot(se[-1], se[best])
    )
    bayes = make.two_gaussians(1).bayes_risk
    return Experiment(
        columns={"k": ks, "training error": mean_train, "test error": mean_test},
        holds=bool(holds),
        finding=f"training error 0 at k = 1 and {mean_train[-1]:.3f} at k = {rows}; test error "
        f"{mean_test[0]:.3f}, {mean_test[best]:.3f} at k = {ks[best]}, {mean_test[-1]:.3f}; single "
        f"training errors fell {steps_back} times from one k to the next; with every point there "
        f"twice, under both labels, 1-NN has training error {clash:g}",
        draw=partial(
            lines_chart,
            ks,
            {
                "test error": mean_test,
                "training error": mean_train,
                "Bayes risk": np.full(len(ks), bayes),
            },
            x_title="neighbours k",
            y_title="error",
            title="From one neighbour to all of them",
            subtitle="Training error starts at 0; test error is lowest in between",
            log_x=True,
            dashed=("Bayes risk",),
        ),
    )


@experiment(
    "A-E06",
    claim="A query costs time linear in the number of rows and in the number of columns.",
    items="A19, C07",
    verdict="holds only if every distance is computed: a k-d tree looks at far fewer rows where "
    "columns are few",
)
def query_cost(
    *,
    rows: tuple[int, ...] = (250, 500, 1000, 2000, 4000, 8000),
    few: int = 2,
    many: int = 20,
    queries: int = 50,
    random_state: int = 0,
) -> Experiment:
    """Count the distances to rows and boxes that a query computes, plainly and with a k-d tree.

    A distance takes d subtractions, products and sums, so work is counted and not timed. A search
    by any callable distance computes all m of them.

    Parameters
    ----------
    rows : tuple of int
        Training rows m.
    few, many : int
        Columns d.
    queries : int
        Queries that counts are averaged over.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    brute = []
    for m in rows[:3]:
        touched = _Counter()
        NeighborSearch(rng.uniform(size=(m, few)), touched).query(rng.uniform(size=(2, few)), 1)
        brute.append(touched.numbers / 2)
    tree: dict[int, list[float]] = {d: [] for d in (few, many)}
    for d in tree:
        for m in rows:
            index = KDTree(rng.uniform(size=(m, d)), leaf_size=1)
            index.reset_n_calls()
            before = np.array(index.get_tree_stats())
            index.query(rng.uniform(size=(queries, d)), k=1)
            boxes = np.sum(np.array(index.get_tree_stats()) - before)
            tree[d].append((index.get_n_calls() + boxes) / queries)
    sizes = np.array(rows)
    linear = bool(np.all(np.array(brute) == sizes[:3] * few))
    slopes = {d: log_slope(sizes, counts) for d, counts in tree.items()}
    holds = linear and slopes[few] < 0.5 and slopes[many] > 0.6
    return Experiment(
        columns={
            "rows": sizes,
            "every distance": sizes,
            f"k-d tree, {few} columns": tree[few],
            f"k-d tree, {many} columns": tree[many],
        },
        holds=bool(holds),
        finding=f"the plain search looks at m d numbers exactly; of {rows[-1]:,} distances "
        f"a k-d tree computes {tree[few][-1]:.0f} in {few} columns (growing as "
        f"m^{slopes[few]:.2f}), {tree[many][-1]:.0f} in {many} (m^{slopes[many]:.2f})",
        draw=partial(
            lines_chart,
            sizes,
            {
                "every distance": sizes,
                f"k-d tree, {many} columns": tree[many],
                f"k-d tree, {few} columns": tree[few],
            },
            x_title="training rows",
            y_title="distances a query",
            title="What a query costs",
            subtitle="A tree helps where columns are few, and hardly where they are many",
            log_x=True,
            log_y=True,
            dashed=("every distance",),
        ),
    )


class _Counter:
    """A distance that counts the numbers it looks at."""

    def __init__(self) -> None:
        self.numbers = 0

    def __call__(self, a: FloatArray, b: FloatArray) -> float:
        self.numbers += len(a)
        return float(np.sqrt(np.sum((a - b) ** 2)))
