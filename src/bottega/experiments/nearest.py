"""Claims about nearest neighbours: training error, noise, cost, scale and ties."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.neighbors import KDTree

from bottega.core.typing import FloatArray
from bottega.data import make
from bottega.experiments._numbers import log_slope
from bottega.experiments.experiment import Experiment, experiment
from bottega.neighbors import NearestNeighborsClassifier, NeighborSearch
from bottega.plot import lines_chart
from bottega.risk.label_noise import annotators, hidden_features, noisy_features
from bottega.tree import TreeClassifier

__all__ = ["column_scale", "even_votes", "neighbors_sweep", "noise_and_neighbors", "query_cost"]


@experiment(
    "A-E04",
    claim="Noisy labels, of whatever cause, make a rule that fits them all overfit.",
    items="A18, A23",
)
def noise_and_neighbors(
    *,
    rows: int = 400,
    ks: tuple[int, ...] = (1, 3, 5, 9, 15, 25, 45),
    points: int = 2000,
    repeats: int = 5,
    seed: int = 0,
) -> Experiment:
    """Put three kinds of noise on labels, and let the number of neighbours grow.

    Without noise the label is that of the quadrant. Annotators err on a fifth of the rows; or the
    third of three columns is hidden, which turns the label round once in four; or columns are
    measured with error. One neighbour fits every training label each time.

    Parameters
    ----------
    rows : int
        Training rows.
    ks : tuple of int
        Odd numbers of neighbours, from 1.
    points : int
        New rows, with the same noise.
    repeats : int
        Training sets of each kind.
    seed : int
        Of all draws.
    """
    kinds = {
        "no noise": _quadrants,
        "annotators": annotators(_quadrants, 0.2),
        "hidden feature": hidden_features(_quadrants_with_switch, 2),
        "measurement": noisy_features(_quadrants, 0.25),
    }
    test = np.zeros((len(kinds), repeats, len(ks)))
    fitted = True
    for i, source in enumerate(kinds.values()):
        for r in range(repeats):
            S, new = source(rows, seed=seed + 2 * r), source(points, seed=seed + 2 * r + 1)
            search = NeighborSearch(S.X)
            _, near = search.query(new.X, ks[-1])
            votes = np.cumsum(S.y[near], axis=1)[:, np.array(ks) - 1]
            test[i, r] = np.mean((votes > np.array(ks) / 2) != (new.y[:, None] == 1), axis=0)
            fitted &= bool(np.all(S.y[search.query(S.X, 1)[1][:, 0]] == S.y))
    mean = test.mean(axis=1)
    best = np.argmin(mean, axis=1)
    each = np.arange(len(kinds))
    gain = test[each, :, 0] - test[each, :, best]
    se = gain.std(axis=1, ddof=1) / np.sqrt(repeats)
    gain = gain.mean(axis=1)
    # Three standard errors of five training sets, and gains of several points, leave little doubt.
    holds = fitted and np.all(gain[1:] > 3 * se[1:]) and np.all(gain[1:] > 0.02) and gain[0] < 0.01
    return Experiment(
        columns={"k": np.array(ks), **dict(zip(kinds, mean, strict=True))},
        holds=bool(holds),
        finding="with training error 0, one neighbour errs more than the best k by "
        + ", ".join(f"{gain[i]:.3f} ({name}, k = {ks[best[i]]})" for i, name in enumerate(kinds)),
        draw=partial(
            lines_chart,
            ks,
            dict(zip(kinds, mean, strict=True)),
            x_title="neighbours k",
            y_title="test error",
            title="Noise is what makes one neighbour overfit",
            subtitle="Training error is 0 at k = 1 every time; only without noise is that best",
            log_x=True,
        ),
    )


def _quadrants(n: int, *, seed: int = 0) -> make.Sample:
    """Draw points of a square, labelled by quadrant, without noise."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    return make.Sample(X, y, _same_sign, 0.0, "zero_one", "quadrants")


def _quadrants_with_switch(n: int, *, seed: int = 0) -> make.Sample:
    """Draw points whose label a third column turns round, once in four."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    y = (X[:, 0] * X[:, 1] * np.where(X[:, 2] > 0.5, -1, 1) > 0).astype(int)
    return make.Sample(X, y, _same_sign, 0.0, "zero_one", "quadrants with a switch")


def _same_sign(X: Any) -> FloatArray:
    X = np.asarray(X)
    turned = np.where(X[:, 2] > 0.5, -1, 1) if X.shape[1] > 2 else 1
    return (X[:, 0] * X[:, 1] * turned > 0).astype(int)


@experiment(
    "A-E05",
    claim="1-NN has training error 0; training error grows with k, to the constant of k = m; test "
    "error is U-shaped in k.",
    items="A20, A23",
    verdict="holds only if no two equal points carry different labels; and the growth with k is a "
    "trend, with steps back",
)
def neighbors_sweep(
    *, rows: int = 101, points: int = 1000, repeats: int = 8, seed: int = 0
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
    seed : int
        Of all draws.
    """
    ks = np.unique(np.append(np.geomspace(1, rows, 12).astype(int) // 2 * 2 + 1, rows))
    ks = ks[ks <= rows]
    train, test = np.zeros((repeats, len(ks))), np.zeros((repeats, len(ks)))
    constant = True
    for r in range(repeats):
        S = make.two_gaussians(rows, seed=seed + 2 * r)
        new = make.two_gaussians(points, seed=seed + 2 * r + 1)
        for i, k in enumerate(ks):
            model = NearestNeighborsClassifier(int(k)).fit(S.X, S.y)
            said = model.predict(new.X)
            train[r, i] = np.mean(model.predict(S.X) != S.y)
            test[r, i] = np.mean(said != new.y)
        majority = int(np.mean(S.y) > 0.5)
        constant &= bool(np.all(said == majority)) and train[r, -1] == np.mean(S.y != majority)
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
    seed: int = 0,
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
    seed : int
        Of all draws.
    """
    rng = np.random.default_rng(seed)
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


@experiment(
    "A-E35",
    claim="Rescaling a column changes nearest neighbours and leaves trees as they are.",
    items="C06, C17",
)
def column_scale(*, rows: int = 200, points: int = 1000, k: int = 5, seed: int = 0) -> Experiment:
    """Multiply a column of noise, in training and new rows, by powers of two.

    Powers of two change no digit of a number, so any change of a tree would be the tree's.

    Parameters
    ----------
    rows, points : int
        Training and new rows.
    k : int
        Neighbours.
    seed : int
        Of all draws.
    """
    S, new = make.xor(rows, useless=1, seed=seed), make.xor(points, useless=1, seed=seed + 1)
    power = np.arange(-8, 9, 2)
    said: dict[str, list[FloatArray]] = {"neighbours": [], "tree": []}
    for each in power:
        scale = np.array([1.0, 1.0, 2.0**each])
        near = NearestNeighborsClassifier(k).fit(S.X * scale, S.y)
        tree = TreeClassifier(0.0).fit(S.X * scale, S.y)
        said["neighbours"].append(near.predict(new.X * scale))
        said["tree"].append(tree.predict(new.X * scale))
    base = int(np.flatnonzero(power == 0)[0])
    changed = {
        name: np.array([np.mean(each != found[base]) for each in found])
        for name, found in said.items()
    }
    error = {
        name: np.array([np.mean(each != new.y) for each in found]) for name, found in said.items()
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
    "A-E38",
    claim="Weighting votes by inverse distance breaks the ties of an even k.",
    items="C03, C04",
    verdict="holds only if the two sides of a tie lie at different distances; at equal ones the "
    "tie stays",
)
def even_votes(
    *, rows: int = 200, points: int = 2000, ks: tuple[int, ...] = (2, 4, 6, 8, 10), seed: int = 0
) -> Experiment:
    """Count tied votes with and without weights, and build a tie that weights cannot break.

    Parameters
    ----------
    rows, points : int
        Training and new rows.
    ks : tuple of int
        Even numbers of neighbours.
    seed : int
        Of all draws.
    """
    S, new = make.xor(rows, spread=0.8, seed=seed), make.xor(points, spread=0.8, seed=seed + 1)
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
    middle = NearestNeighborsClassifier(2, weights="distance").fit([[0.0], [2.0]], [0, 1])
    stays = middle.predict_proba([[1.0]])[0, 0] == 0.5
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
        "neighbours are the nearest one); a point midway between two labels stays a tie",
        draw=partial(
            lines_chart,
            ks,
            {"one vote each": ties["uniform"], "by inverse distance": ties["distance"]},
            x_title="neighbours k",
            y_title="share of tied votes",
            title="Ties of an even number of neighbours",
            subtitle="Weights by inverse distance leave ties to exactly equal distances",
        ),
    )
