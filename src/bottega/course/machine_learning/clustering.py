"""Chapter 12: k-means, mixtures and expectation-maximisation."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import logsumexp
from sklearn.metrics import adjusted_rand_score

from bottega.cluster import DensityClusters, GaussianMixture, KMeans
from bottega.core.errors import ConvergenceWarning
from bottega.core.typing import FloatArray
from bottega.course._numbers import errors_above
from bottega.course._parts import Proof, all_hold, columns_of, gap
from bottega.course.experiment import Experiment, experiment
from bottega.plot import ascent_chart, lines_chart

__all__ = ["mixtures_and_bounds", "starts_of_kmeans"]


# ---- k-means -------------------------------------------------------------------------------------


@experiment(
    "N-X19",
    claim="Lloyd's objective never rises and its end depends on the start; k-means++ starts are "
    "better than random ones; outliers and clusters that are not convex break it; silhouettes "
    "pick the number of clusters.",
    items="N175-N180",
)
def starts_of_kmeans(*, starts: int = 30, rows: int = 30, random_state: int = 0) -> Experiment:
    """Start often on nine groups, then add outliers, rings and an unknown number of groups.

    Parameters
    ----------
    starts : int
        Starts of each kind.
    rows : int
        Rows per group.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    grid = 6.0 * np.array([[i, j] for i in range(3) for j in range(3)])
    X = _groups(grid, rows, rng)
    curves = {name: _curves(X, name, starts) for name in ("random", "k-means++")}
    ends = {name: np.array([curve[-1] for curve in each]) for name, each in curves.items()}
    least = min(each.min() for each in ends.values())
    ratio = {name: float(np.mean(each) / least) for name, each in ends.items()}
    best = {name: float(np.mean(each < 1.01 * least)) for name, each in ends.items()}
    rise = max(float(np.max(np.diff(c) / c[:-1])) for each in curves.values() for c in each)
    different = len(np.unique(ends["random"].round(6)))
    parts = [
        Proof("largest rise of the objective in a pass", max(rise, 0.0), 0, rise < 1e-12),
        Proof("different ends of random starts", different, 1, different > 3),
        Proof(
            "mean end over the least, random and k-means++",
            ratio["random"],
            ratio["k-means++"],
            errors_above(ends["random"], ends["k-means++"]) > 3,
        ),
        Proof(
            "share of starts at the least, random and k-means++",
            best["random"],
            best["k-means++"],
            best["random"] < best["k-means++"],
        ),
        *_failures(rows, rng),
        *_silhouettes(rows, rng),
    ]
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"{starts} random starts end in {different} places, on average at "
        f"{ratio['random']:.2f} times the least objective, those of k-means++ at "
        f"{ratio['k-means++']:.2f} times; {best['random']:.0%} and {best['k-means++']:.0%} of "
        "them reach the least",
        draw=partial(_draw_curves, curves, least),
    )


def _groups(centers: FloatArray, rows: int, rng: np.random.Generator) -> FloatArray:
    return np.vstack([center + rng.normal(size=(rows, centers.shape[1])) for center in centers])


def _objective(X: FloatArray, centers: FloatArray) -> float:
    squares = np.sum((X[:, None] - centers) ** 2, axis=2)
    return float(np.min(squares, axis=1).sum())


def _curves(X: FloatArray, init: str, starts: int) -> list[FloatArray]:
    """Return the objective before each pass and at the end, of every start."""
    found = []
    for seed in range(starts):
        model = KMeans(9, init=init, n_init=1, tol=0, random_state=seed)
        found.append(np.array([_objective(X, centers) for centers in model.steps(X)]))
    return found


def _draw_curves(curves: dict[str, list[FloatArray]], least: float) -> Any:
    """Draw the objective of the worst and the best start of each kind."""
    passes = max(len(curve) for each in curves.values() for curve in each)
    lines = {}
    for name, each in curves.items():
        order = np.argsort([curve[-1] for curve in each], kind="stable")
        for word, at in (("worst", order[-1]), ("best", order[0])):
            curve = each[at] / least
            lines[f"{name}, {word} end"] = np.append(curve, np.full(passes - len(curve), curve[-1]))
    return lines_chart(
        np.arange(passes),
        lines,
        x_title="pass of Lloyd's algorithm",
        y_title="objective over the least found",
        title="The objective falls in every pass, to an end that the start decides",
        subtitle="Nine groups on a grid",
        log_y=True,
    )


def _failures(rows: int, rng: np.random.Generator) -> list[Proof]:
    """Add far rows to three groups, and cluster two rings."""
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])
    X = _groups(centers, rows, rng)
    far = np.array([[60.0, 60.0], [61.0, 59.0], [59.0, 61.0]])
    off = [_farthest(centers, each) for each in (X, np.vstack([X, far]))]
    angle = rng.uniform(0, 2 * np.pi, size=6 * rows)
    truth = (np.arange(len(angle)) >= 2 * rows).astype(np.int64)
    radius = np.where(truth, 5.0, 1.0) + 0.2 * rng.normal(size=len(angle))
    rings = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    cut = adjusted_rand_score(truth, KMeans(2, n_init=10, random_state=0).fit(rings).labels_)
    dense = adjusted_rand_score(truth, DensityClusters(1.8).fit(rings).labels_)
    return [
        Proof("distance of a group from its centre, with three outliers and without", off[1],
             off[0], off[1] > 3 > 1 > off[0]),
        Proof("agreement with two rings, k-means and density clusters", cut, dense,
             cut < 0.2 and dense > 0.95),
    ]  # fmt: skip


def _farthest(centers: FloatArray, X: FloatArray) -> float:
    """Return how far the worst true centre is from the nearest one found."""
    found = KMeans(len(centers), n_init=10, random_state=0).fit(X).cluster_centers_
    return float(np.max(np.min(np.linalg.norm(centers[:, None] - found, axis=2), axis=1)))


def _silhouettes(rows: int, rng: np.random.Generator, draws: int = 4) -> list[Proof]:
    """Let silhouettes pick the number of two to five groups."""
    right = []
    for K in range(2, 2 + draws):
        turn = 2 * np.pi * np.arange(K) / K
        X = _groups(8.0 * np.column_stack([np.cos(turn), np.sin(turn)]), rows, rng)
        right.append(KMeans("auto", max_clusters=8, random_state=0).fit(X).n_clusters_ == K)
    return [Proof("numbers of groups that silhouettes pick rightly", sum(right), draws, all(right))]


# ---- mixtures ------------------------------------------------------------------------------------


@experiment(
    "N-X20",
    claim="Expectation-maximisation never lowers the likelihood, which is the bound plus the "
    "Kullback-Leibler distance; a shared covariance gives linear borders, and a sum of densities "
    "is not a normal one.",
    items="N181-N193",
)
def mixtures_and_bounds(*, rows: int = 300, starts: int = 8, random_state: int = 0) -> Experiment:
    """Fit mixtures from several starts, and check bound, borders and densities.

    Parameters
    ----------
    rows : int
        Rows of three components.
    starts : int
        Random starts.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    X = _three_components(rows, rng)
    fits = {
        start: [_mixture(X, init_params=start, random_state=seed) for seed in range(starts)]
        for start in ("random", "kmeans")
    }
    falls = [np.diff(model.lower_bounds_).min() for each in fits.values() for model in each]
    steps = {start: float(np.mean([m.n_iter_ for m in each])) for start, each in fits.items()}
    model = fits["kmeans"][0]
    bent = {kind: _curvature(X, kind) for kind in ("tied", "EEI", "full", "diag")}
    shared, own = max(bent["tied"], bent["EEI"]), min(bent["full"], bent["diag"])
    fall = max(-min(falls), 0.0)
    parts = [
        Proof("largest fall of the likelihood in an iteration", fall, 0, fall < 1e-9),
        *_bound(X, model, rng),
        Proof("iterations from k-means, from random responsibilities", steps["kmeans"],
             steps["random"], steps["kmeans"] < 0.5 * steps["random"]),
        Proof("bend of borders, one covariance (full or diagonal)", shared, 0, shared < 1e-6),
        Proof("bend of borders, own covariances (full or diagonal)", own, 0, own > 0.05),
        *_sums(rng),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"the likelihood falls in none of {len(falls)} fits, and is bound plus distance "
        f"up to {parts[1].found:.0e} for any q; k-means saves "
        f"{steps['random'] - steps['kmeans']:.0f} of {steps['random']:.0f} iterations; log odds "
        f"bend by {shared:.0e} with one covariance and by at least {own:.2g} with own ones, "
        "diagonal or not",
        draw=partial(ascent_chart, fits["random"][0].trace_),
    )


def _three_components(rows: int, rng: np.random.Generator) -> FloatArray:
    each = rows // 3
    return np.vstack(
        [
            rng.normal(size=(each, 2)) * [1.5, 0.5],
            rng.normal(size=(each, 2)) * [0.6, 1.2] + [3.5, 1.0],
            rng.normal(size=(each, 2)) * 0.8 + [0.5, 4.0],
        ]
    )


def _mixture(X: FloatArray, **options: Any) -> GaussianMixture:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of random starts, cut short
        return GaussianMixture(3, tol=1e-7, max_iter=400, **options).fit(X)


def _bound(X: FloatArray, model: GaussianMixture, rng: np.random.Generator) -> list[Proof]:
    """Split the log-likelihood for a random q, and for the posterior."""
    joint = np.column_stack(
        [
            np.log(weight) + stats.multivariate_normal(mean, covariance).logpdf(X)
            for weight, mean, covariance in zip(
                model.weights_, model.means_, model.covariances_, strict=True
            )
        ]
    )
    whole = logsumexp(joint, axis=1)
    posterior = joint - whole[:, None]
    total = float(model.score_samples(X).sum())
    split = []
    for log_q in (np.log(rng.dirichlet(np.ones(3), size=len(X))), posterior):
        q = np.exp(log_q)
        split.append((float(np.sum(q * (joint - log_q))), float(np.sum(q * (log_q - posterior)))))
    (bound, distance), (touching, none) = split
    off = abs(bound + distance - total) / abs(total)
    return [
        Proof("bound plus distance against the log-likelihood, random q", off, 0, off < 1e-10),
        Proof("bound, log-likelihood", bound, total, bound < total and distance > 0),
        Proof("bound of the posterior, log-likelihood", touching, total,
             abs(none) < 1e-8 and gap(touching, total) < 1e-10),
    ]  # fmt: skip


def _curvature(X: FloatArray, kind: str) -> float:
    """Return the share of log odds between two components that no plane explains."""
    model = _mixture(X, covariance_type=kind, random_state=0)
    low, high = X.min(axis=0), X.max(axis=0)
    points = np.random.default_rng(0).uniform(low, high, size=(500, 2))
    chances = model.predict_proba(points)[:, :2]
    known = np.all(chances > 1e-250, axis=1)
    y = np.log(chances[known, 0]) - np.log(chances[known, 1])
    F = np.column_stack([np.ones(len(y)), points[known]])
    rest = y - F @ np.linalg.lstsq(F, y, rcond=None)[0]
    return float(np.sqrt(np.mean(rest**2) / np.var(y)))


def _sums(rng: np.random.Generator, draws: int = 20_000) -> list[Proof]:
    """Compare a sum of two densities with the sum of two variables."""
    one, two = rng.normal(-2, 1, size=draws), rng.normal(2, 1, size=draws)
    mixed = np.where(rng.random(draws) < 0.5, one, two)
    # Half the density at -2 and half at 2: variance 1 + 4, fourth moment 3 + 6 * 4 + 16.
    exact = (3 + 6 * 4 + 16) / 5**2 - 3
    found, added = float(stats.kurtosis(mixed)), float(stats.kurtosis(one + two))
    return [
        Proof("excess kurtosis of half of two densities, exact", found, exact,
             abs(found - exact) < 0.05),
        Proof("excess kurtosis of a sum of two variables", added, 0, abs(added) < 0.15),
    ]  # fmt: skip
