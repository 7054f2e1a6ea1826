"""Chapter 7: consistency of nearest neighbours and trees, and slow convergence."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom

from bottega.core.typing import FloatArray
from bottega.course._numbers import vote_error
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.neighbors import NeighborSearch
from bottega.plot import lines_chart
from bottega.risk.bounds import nn_asymptotic, no_free_lunch
from bottega.tree import TreeClassifier

__all__ = ["neighbor_schedules", "slow_convergence", "tree_cells"]


@experiment(
    "A-E19",
    claim="k-NN with k_m about sqrt(m) reaches the Bayes risk R*; a fixed k stays within "
    "2 sqrt(R*/k) of it.",
    items="A53, A54",
)
def neighbor_schedules(
    *,
    rows: tuple[int, ...] = (100, 400, 1600, 6400, 25600),
    fixed: tuple[int, ...] = (1, 5),
    points: int = 1000,
    repeats: int = 4,
    random_state: int = 0,
) -> Experiment:
    """Follow the risk of fixed and growing numbers of neighbours as rows are added.

    x is uniform on [0, 1] and eta(x) = 1/2 + 1/2 cos(2 pi x), with Bayes risk 1/2 - 1/pi. The
    limit of a fixed k is known too: k labels at x itself vote.

    Parameters
    ----------
    rows : tuple of int
        Training rows m.
    fixed : tuple of int
        Fixed odd numbers of neighbours.
    points : int
        Grid that risks are computed on.
    repeats : int
        Training sets of each size.
    random_state : int
        Of all draws.
    """
    x = (np.arange(points) + 0.5)[:, None] / points
    eta = 0.5 + 0.5 * np.cos(2 * np.pi * x[:, 0])
    bayes = make.lipschitz(1, c=float(np.pi), n_features=1).bayes_risk
    names = [f"k = {k}" for k in fixed] + ["k near sqrt(m)"]
    risk = np.zeros((len(names), len(rows)))
    for i, m in enumerate(rows):
        growing = int(np.sqrt(m)) // 2 * 2 + 1
        for r in range(repeats):
            S = make.lipschitz(m, c=float(np.pi), n_features=1, random_state=random_state + r)
            _, near = NeighborSearch(S.X).query(x, max(growing, *fixed))
            votes = np.cumsum(S.y[near], axis=1)
            for j, k in enumerate((*fixed, growing)):
                risk[j, i] += vote_error(eta, votes[:, k - 1] > k / 2) / repeats
    limit = np.array([limit_risk(eta, k) for k in fixed])
    most = np.asarray(nn_asymptotic(bayes, np.array(fixed)))
    sizes = np.array(rows)
    holds = (
        risk[-1, -1] - bayes < 0.01
        and risk[-1, -1] - bayes < (risk[-1, 0] - bayes) / 2
        and np.all(limit <= most)
        # A mean over the grid of several training sets is within 0.02 of its limit at 25,600 rows.
        and np.all(np.abs(risk[:-1, -1] - limit) < 0.02)
        and np.all(risk[:-1, -1] > risk[-1, -1] + 0.01)
    )
    return Experiment(
        columns={"rows": sizes, **dict(zip(names, risk, strict=True))},
        holds=bool(holds),
        finding=f"at {rows[-1]:,} rows k near sqrt(m) has risk {risk[-1, -1]:.4f} (Bayes "
        f"{bayes:.4f}); "
        + ", ".join(
            f"k = {k} has {risk[j, -1]:.4f}, limit {limit[j]:.4f}, at most {most[j]:.4f}"
            for j, k in enumerate(fixed)
        ),
        draw=partial(
            lines_chart,
            sizes,
            {**dict(zip(names, risk, strict=True)), "Bayes risk": np.full(len(sizes), bayes)},
            x_title="training rows m",
            y_title="risk",
            title="Neighbours must grow in number, slower than the rows",
            subtitle="A fixed k stops above the Bayes risk",
            log_x=True,
            dashed=("Bayes risk",),
        ),
    )


def limit_risk(eta: FloatArray, k: int) -> float:
    """Return the risk of a vote of k labels drawn at the point itself, k odd."""
    loses = binom.cdf(k // 2, k, eta)  # probability that the vote says 0
    return float(np.mean(eta * loses + (1 - eta) * (1 - loses)))


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
    random_state: int = 0,
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
    random_state : int
        Of the first training set.
    """
    schedules: dict[str, Callable[[int], dict[str, Any]]] = {
        "at least ln(m)^2 rows a leaf": lambda m: {"min_samples_leaf": int(np.log(m) ** 2)},
        "grown to the end": lambda _: {"min_samples_leaf": 1},
        "four leaves": lambda _: {"max_leaf_nodes": 4},
    }
    x = (np.arange(points) + 0.5)[:, None] / points
    eta = 0.5 + 0.5 * np.cos(20 * x[:, 0])
    bayes = make.lipschitz(1, c=10.0, n_features=1).bayes_risk
    excess = {name: np.zeros(len(rows)) for name in schedules}
    diameter = {name: np.zeros(len(rows)) for name in schedules}
    count = {name: np.zeros(len(rows)) for name in schedules}
    for i, m in enumerate(rows):
        for r in range(repeats):
            sample = make.lipschitz(m, c=10.0, n_features=1, random_state=random_state + r)
            for name, schedule in schedules.items():
                tree = TreeClassifier(0.0, **schedule(m)).fit(sample.X, sample.y)
                leaves = tree.nodes_.is_leaf
                inner = np.sort(tree.nodes_.threshold)
                width = np.diff(np.concatenate([[0.0], inner, [1.0]]))
                excess[name][i] += (vote_error(eta, tree.predict(x)) - bayes) / repeats
                diameter[name][i] += float(np.sum(width**2)) / repeats  # of the cell of a new point
                count[name][i] += float(np.median(tree.nodes_.n[leaves])) / repeats
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


@experiment(
    "A-E23",
    claim="However slow a sequence a_m falls to 0, some source with Bayes risk 0 is learnt no "
    "faster by a given consistent rule.",
    items="A57",
)
def slow_convergence(*, most: int = 100_000) -> Experiment:
    """Build a source for each of two sequences and compute the risk of a rule that remembers.

    The sources spread a little probability over ever more points, so that m rows leave enough of
    it unseen. The rule answers what it has seen and is consistent; its expected risk over fair
    labels is a sum, no simulation.

    Parameters
    ----------
    most : int
        Largest number of rows m.
    """
    m = np.arange(1, most + 1)
    sequences = {
        "1/(16 m^0.5)": 1 / (16 * np.sqrt(m)),
        "1/(16 (1 + ln m))": 1 / (16 * (1 + np.log(m))),
    }
    at = np.unique(np.geomspace(1, most, 120).astype(int))
    risks, ok = {}, True
    for name, a in sequences.items():
        source = no_free_lunch(a)
        risks[name] = np.asarray(source.expected_risk(at))
        ok &= bool(np.all(risks[name] >= a[at - 1]))
        # Consistent on this source: all of it is seen in the end.
        ok &= bool(source.expected_risk(most * 10**6) < 1e-6)
    fast, slow = sequences
    return Experiment(
        columns={
            "rows": at,
            **{f"risk, {name}": each for name, each in risks.items()},
            **{f"a_m, {name}": each[at - 1] for name, each in sequences.items()},
        },
        holds=ok,
        finding=f"after {most:,} rows the same rule has risk {risks[fast][-1]:.4f}, "
        f"{risks[slow][-1]:.4f} on two sources of Bayes risk 0, never below the sequence given",
        draw=partial(
            lines_chart,
            at,
            {
                **{f"risk, {name}": each for name, each in risks.items()},
                **{f"a_m = {name}": each[at - 1] for name, each in sequences.items()},
            },
            x_title="training rows m",
            y_title="expected risk of a rule that remembers",
            title="No rate of learning holds for every source",
            subtitle="Solid: exact risk; dashed: the sequence it was built to stay above",
            log_x=True,
            log_y=True,
            dashed=tuple(f"a_m = {name}" for name in sequences),
            points=False,
        ),
    )
