"""Chapter 5: the risk of tree predictors and structural risk minimisation."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from math import comb, e, log

import numpy as np
from scipy.stats import binom

from bottega.course._numbers import vote_error
from bottega.course.experiment import Experiment, experiment
from bottega.plot import lines_chart
from bottega.risk.bounds import code_length
from bottega.tree import TreeClassifier

__all__ = ["boolean_sample_size", "structural_risk", "tree_counting"]


@experiment(
    "A-E15",
    claim="Over all Boolean trees of d columns ERM needs rows of the order of 2^d, over trees of N "
    "nodes only of the order of N ln d.",
    items="A41, A43",
)
def boolean_sample_size(
    *, eps: float = 0.05, noise: float = 0.1, delta: float = 0.05, most_columns: int = 12
) -> Experiment:
    """Find the rows at which ERM comes within eps of the best, for both classes, exactly.

    The truth is the first of d fair bits, flipped with probability `noise`. ERM over all functions
    takes the majority in each of 2^d cells. ERM over trees of three nodes takes the best of the
    columns, their opposites and the constants, the worst of the minimisers where there are more.
    Both excess risks are sums over binomials.

    Parameters
    ----------
    eps : float
        Excess risk aimed at.
    noise : float
        Probability of a flipped label.
    delta : float
        Probability with which the bounds may fail.
    most_columns : int
        Columns of the largest full class.
    """
    full_d = np.arange(2, most_columns + 1)
    full = np.array(
        [fewest_rows(partial(table_excess, d=int(d), noise=noise), eps) for d in full_d]
    )
    small_d = 2 ** np.arange(1, most_columns + 1)
    small = np.array(
        [fewest_rows(partial(stump_excess, d=int(d), noise=noise), eps) for d in small_d]
    )
    full_bound = 2 / eps**2 * (2.0**full_d * log(2) + log(2 / delta))
    small_bound = 2 / eps**2 * (3 * (1 + np.log(2.0 * small_d)) + log(2 / delta))
    ratio = full[1:] / full[:-1]
    step = np.diff(small)
    holds = (
        np.all(np.abs(ratio[2:] - 2) < 0.05)  # doubles with each column
        and np.all(np.abs(step[2:] - step[2:].mean()) <= 3)  # a fixed number more a doubling of d
        and np.all(full <= full_bound)
        and np.all(small <= small_bound)
    )
    d = np.union1d(full_d, small_d)
    every = {
        "all functions": dict(zip(full_d, full, strict=True)),
        "three nodes": dict(zip(small_d, small, strict=True)),
        "bound, all functions": dict(zip(full_d, full_bound, strict=True)),
        "bound, three nodes": dict(zip(small_d, small_bound, strict=True)),
    }
    columns = {name: np.array([at.get(j, np.nan) for j in d]) for name, at in every.items()}
    return Experiment(
        columns={"columns": d, **columns},
        holds=bool(holds),
        finding=f"for an excess of {eps:g} all functions of {full_d[-1]} columns need "
        f"{full[-1]:,} rows, {full[-1] / 2.0 ** full_d[-1]:.2f} times 2^d; trees of three nodes "
        f"need {small[-1]} among {small_d[-1]:,} columns, {step[2:].mean():.1f} more for each "
        "doubling of d",
        draw=partial(
            lines_chart,
            d,
            columns,
            x_title="columns d",
            y_title=f"rows for an excess risk of {eps:g}",
            title="Rows that a class of trees needs",
            subtitle="2^d for all trees, ln d for small ones; dashed what the bounds ask for",
            log_x=True,
            log_y=True,
            dashed=("bound, all functions", "bound, three nodes"),
        ),
    )


def table_excess(m: int, d: int, noise: float) -> float:
    """Return the expected excess risk of the majority vote in each of 2^d equal cells.

    A vote that is tied, or of no rows, is right half of the time.
    """
    n = np.arange(int(binom.ppf(1 - 1e-13, m, 0.5**d)) + 2)
    wrong = 1 - binom.cdf(np.floor(n / 2), n, noise)
    tied = np.where(n % 2 == 0, binom.pmf(n // 2, n, noise), 0.0)
    return float((1 - 2 * noise) * binom.pmf(n, m, 0.5**d) @ (wrong + tied / 2))


def stump_excess(m: int, d: int, noise: float) -> float:
    """Return the expected excess risk of the worst of the best trees of three nodes.

    The truth errs t times on the rows, its opposite m - t times. The other columns and the
    constants, with their opposites, are d pairs whose errors e and m - e come from m fair coins,
    independent of t and of one another. Their risk is 1/2, so that of two trees of equally few
    errors the opposite of the truth is worst.
    """
    t = np.arange(m + 1)
    least = np.minimum(t, m - t)
    none_below = (binom.cdf(m - least, m, 0.5) - binom.cdf(least - 1, m, 0.5)) ** d
    all_above = np.clip(binom.cdf(m - t - 1, m, 0.5) - binom.cdf(t, m, 0.5), 0, 1) ** d
    excess = np.where(
        2 * t < m,
        (1 - all_above) * (0.5 - noise),
        none_below * (1 - 2 * noise) + (1 - none_below) * (0.5 - noise),
    )
    return float(binom.pmf(t, m, noise) @ excess)


def fewest_rows(excess: Callable[[int], float], eps: float) -> int:
    """Return the least m from which on an excess that falls is at most eps."""
    high = 1
    while excess(high) > eps:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(middle) > eps else (low, middle)
    return high


@experiment(
    "A-E16",
    claim="A binary tree of N nodes has (N + 1)/2 leaves; at most (2de)^N functions have trees of "
    "N nodes; 2^(d+1) - 1 nodes are enough for every function of d bits.",
    items="A40, A42",
)
def tree_counting(*, columns: tuple[int, ...] = (1, 2, 3)) -> Experiment:
    """Count the functions that trees of N nodes compute, by building all of them.

    Functions of d bits are tables of 2^d bits. Those of N nodes are built from those of fewer: a
    test of one column, and any two that share the other N - 1 nodes.

    Parameters
    ----------
    columns : tuple of int
        Numbers of columns d; at most 3.
    """
    rows: dict[str, list[float]] = {
        name: [] for name in ("columns", "nodes", "leaves", "functions", "trees", "bound")
    }
    right = True
    for d in columns:
        most = 2 ** (d + 1) - 1
        found = functions_by_nodes(d, most)
        for n, functions in found.items():
            inner = (n - 1) // 2
            trees = comb(2 * inner, inner) // (inner + 1) * d**inner * 2 ** (inner + 1)
            rows["columns"].append(d)
            rows["nodes"].append(n)
            rows["leaves"].append(n - inner)
            rows["functions"].append(len(functions))
            rows["trees"].append(float(trees))
            rows["bound"].append((2 * d * e) ** n)
            right &= len(functions) <= trees <= (2 * d * e) ** n and n - inner == (n + 1) // 2
        right &= len(found[most]) == 2 ** (2**d)
        right &= len(found[most - 2]) < 2 ** (2**d)  # the parity of d bits needs them all
    d = columns[-1]
    at = np.array(rows["columns"]) == d
    table = {name: np.array(each) for name, each in rows.items()}
    return Experiment(
        columns=table,
        holds=bool(right),
        finding="with 1, 3, 5, ... nodes trees of "
        + f"{d} columns compute {', '.join(f'{k:.0f}' for k in table['functions'][at])} of "
        f"{2 ** (2**d)} functions: {2 ** (d + 1) - 1} nodes are enough for all, two fewer are not",
        draw=partial(
            lines_chart,
            table["nodes"][at],
            {
                "functions": table["functions"][at],
                "labelled trees": table["trees"][at],
                "(2de)^N": table["bound"][at],
            },
            x_title="nodes N",
            y_title="how many",
            title=f"Trees of {d} Boolean columns",
            subtitle="The bound on their number is far above it",
            log_y=True,
            dashed=("(2de)^N",),
        ),
    )


def functions_by_nodes(d: int, most: int) -> dict[int, np.ndarray]:
    """Return the functions, as numbers of 2^d bits, of trees of 1, 3, ..., `most` nodes."""
    cube = np.array(list(product([0, 1], repeat=d)))
    bits = 1 << np.arange(2**d)
    ones = [int(bits[cube[:, j] == 1].sum()) for j in range(d)]
    full = int(bits.sum())
    found = {1: np.array([0, full])}
    for n in range(3, most + 1, 2):
        parts = []
        for left in range(1, n - 1, 2):
            a, b = found[left], found[n - 1 - left]
            parts += [((a[:, None] & mask) | (b[None, :] & (full ^ mask))).ravel() for mask in ones]
        found[n] = np.unique(np.concatenate(parts))
    return found


@experiment(
    "A-E17",
    claim="The code lengths of all trees obey Kraft's inequality; minimising training error plus "
    "their margin overfits less than minimising the training error.",
    items="A44, A45, A46",
)
def structural_risk(
    *,
    rows: tuple[int, ...] = (100, 300, 1000, 3000),
    columns: int = 9,
    noise: float = 0.2,
    repeats: int = 5,
    random_state: int = 0,
) -> Experiment:
    """Add up the Kraft sum over all trees, and choose trees by the bound on noisy Boolean data.

    The truth is (x1 and x2) or x3, flipped with probability `noise`; risks are exact sums over all
    2^d inputs.

    Parameters
    ----------
    rows : tuple of int
        Training rows.
    columns : int
        Boolean columns.
    noise : float
        Probability of a flipped label.
    repeats : int
        Training sets of each size.
    random_state : int
        Of all draws.
    """
    kraft = {d: kraft_sum(d) for d in (1, 2, 5, 10)}
    rng = np.random.default_rng(random_state)
    cube = np.array(list(product([0.0, 1.0], repeat=columns)))
    truth = ((cube[:, 0] * cube[:, 1] + cube[:, 2]) > 0).astype(int)
    eta = np.where(truth == 1, 1 - noise, noise)
    named = ("plain", "structural")
    risk, leaves, bound = (np.zeros((len(rows), repeats, 2)) for _ in range(3))
    for i, m in enumerate(rows):
        for r in range(repeats):
            at = rng.integers(len(cube), size=m)
            y = (rng.uniform(size=m) < eta[at]).astype(int)
            for j, tree in enumerate((TreeClassifier(0.0), TreeClassifier(select="srm", cv=2))):
                tree.fit(cube[at], y)
                risk[i, r, j] = vote_error(eta, tree.predict(cube))
                leaves[i, r, j] = tree.nodes_.n_leaves
                bound[i, r, j] = tree.certificate_.upper
    mean = risk.mean(axis=1)
    size = leaves.mean(axis=1)
    gain = risk[:, :, 0] - risk[:, :, 1]
    se = gain.std(axis=1, ddof=1) / np.sqrt(repeats)
    large = np.array(rows) >= 300
    holds = (
        all(0 < each <= 1 for each in kraft.values())
        and np.all(gain.mean(axis=1)[large] > 3 * se[large])
        and np.all(risk <= bound)  # each may fail with probability 0.05, and none comes near it
        and np.all(size[:, 1] < size[:, 0])
    )
    return Experiment(
        columns={
            "rows": np.array(rows),
            **{f"risk, {name}": mean[:, j] for j, name in enumerate(named)},
            **{f"leaves, {name}": size[:, j] for j, name in enumerate(named)},
            "bound, structural": bound[:, :, 1].mean(axis=1),
        },
        holds=bool(holds),
        finding=f"Kraft sums {', '.join(f'{each:.6f} (d = {d})' for d, each in kraft.items())}; at "
        f"{rows[-1]:,} rows the full tree has {size[-1, 0]:.0f} leaves and risk {mean[-1, 0]:.3f}, "
        f"the tree of least bound {size[-1, 1]:.1f} and {mean[-1, 1]:.3f} (Bayes risk {noise:g})",
        draw=partial(
            lines_chart,
            rows,
            {
                "full tree": mean[:, 0],
                "tree of least bound": mean[:, 1],
                "its bound": bound[:, :, 1].mean(axis=1),
                "Bayes risk": np.full(len(rows), noise),
            },
            x_title="training rows",
            y_title="risk",
            title="Paying for the size of a tree limits overfitting",
            subtitle=f"{columns} Boolean columns, labels flipped with probability {noise:g}",
            log_x=True,
            dashed=("its bound", "Bayes risk"),
        ),
    )


def kraft_sum(d: int, most_nodes: int = 401) -> float:
    """Return the sum of 2^-length over all labelled trees of d tests with up to so many nodes.

    Two nodes more multiply the terms by at most 8d/(d + 3)^2, so that the rest is nothing.
    """
    total = Fraction(0)
    for inner in range((most_nodes + 1) // 2):
        trees = comb(2 * inner, inner) // (inner + 1) * d**inner * 2 ** (inner + 1)
        total += Fraction(trees, 2 ** code_length(2 * inner + 1, d))
    return float(total)
