"""Chapter 11: dimension reduction by principal components, plain and probabilistic."""

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse, stats

from bottega.core.typing import FloatArray
from bottega.course._numbers import log_slope
from bottega.course._parts import Proof, all_hold, columns_of, gap
from bottega.course.experiment import Experiment, experiment
from bottega.latent import PCA, ProbabilisticPCA, VarianceFilter
from bottega.plot import lines_chart

__all__ = ["probabilistic_components", "rotated_variance"]


# ---- principal components ------------------------------------------------------------------------


@experiment(
    "N-X14",
    claim="A filter of low variances fails once the axes are rotated and principal components do "
    "not; they are uncorrelated, and power iteration with deflation finds them.",
    items="N115, N118-N130",
)
def rotated_variance(
    *, angles: int = 19, rows: int = 300, threshold: float = 0.5, random_state: int = 0
) -> Experiment:
    """Rotate a flat cloud and look at variances, then check the identities of the components.

    Parameters
    ----------
    angles : int
        Angles from 0 to 90 degrees.
    rows : int
        Rows of all tables.
    threshold : float
        Variance at and below which a column or component is dropped.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    flat = rng.normal(size=(rows, 2)) * [3.0, 0.3]
    degrees = np.linspace(0, 90, angles)
    turned = [flat @ _rotation(angle) for angle in degrees]
    columns = np.array([X.var(axis=0) for X in turned])
    components = np.array([PCA().fit_transform(X).var(axis=0) for X in turned])
    kept = np.array([VarianceFilter(threshold).fit(X).get_support().sum() for X in turned])
    oblique = np.abs(degrees - 45) <= 30
    dropped = np.sum(components <= threshold, axis=1)
    parts = [
        Proof("columns that the filter keeps, axes as drawn", kept[0], 1, kept[0] == 1),
        Proof(
            "columns that it keeps, rotated by 15 to 75 degrees",
            kept[oblique].min(),
            2,
            bool(np.all(kept[oblique] == 2)),
        ),
        Proof("components dropped at any angle", dropped.min(), 1, bool(np.all(dropped == 1))),
        *_identities(rng, rows),
        *_power_iteration(rng, rows),
    ]
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"at 0 degrees the filter keeps {kept[0]} of 2 columns, from 15 to 75 both; one "
        f"of 2 components is dropped at every angle; covariances of components are "
        f"{parts[5].found:.0e} of the largest variance, and power iteration is "
        f"{parts[7].found:.0e} away from the full decomposition",
        draw=partial(
            lines_chart,
            degrees,
            {
                "column 1": columns[:, 0],
                "column 2": columns[:, 1],
                "component 1": components[:, 0],
                "component 2": components[:, 1],
                "threshold": np.full(angles, threshold),
            },
            x_title="rotation in degrees",
            y_title="variance",
            title="Variances of columns depend on the axes, those of components do not",
            subtitle=f"A flat cloud of {rows} rows, rotated",
            dashed=("threshold",),
        ),
    )


def _rotation(degrees: float) -> FloatArray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, s], [-s, c]])


def _identities(rng: np.random.Generator, rows: int) -> list[Proof]:
    """Compare mean and covariance of X F, the covariance of components, and the 90 % rule."""
    X = rng.normal(size=(rows, 8)) @ rng.normal(size=(8, 8)) + rng.normal(size=8)
    F = np.linalg.qr(rng.normal(size=(8, 3)))[0]
    S = np.cov(X.T, bias=True)
    mean = gap((X @ F).mean(axis=0), X.mean(axis=0) @ F)
    covariance = gap(np.cov((X @ F).T, bias=True), F.T @ S @ F)
    found = np.cov(PCA().fit_transform(X).T, bias=True)
    off = float(np.max(np.abs(found - np.diag(np.diag(found)))) / np.max(found))
    values = np.sort(np.linalg.eigvalsh(S))[::-1]
    counted = int(np.argmax(np.cumsum(values) >= 0.9 * np.trace(S))) + 1
    picked = PCA(0.9).fit(X).n_components_
    return [
        Proof("mean of X F against mean of X, times F", mean, 0, mean < 1e-9),
        Proof("covariance of X F against F' S F", covariance, 0, covariance < 1e-9),
        Proof("largest covariance of two components", off, 0, off < 1e-9),
        Proof("components with 90 % of the trace", picked, counted, picked == counted),
    ]


def _power_iteration(rng: np.random.Generator, rows: int) -> list[Proof]:
    """Find components by powers, and count what that costs on a sparse table."""
    hidden = rng.normal(size=(rows, 3)) * [9.0, 6.0, 4.0]
    X = hidden @ np.linalg.qr(rng.normal(size=(30, 3)))[0].T + 0.5 * rng.normal(size=(rows, 30))
    power = PCA(3, svd_solver="power", random_state=0).fit(X)
    full = PCA(3, svd_solver="full").fit(X)
    away = gap(power.components_, full.components_)

    long, wide = 10 * rows, 400
    loads: Any = sparse.random(long, wide, 0.005, random_state=rng, format="csr")
    first = np.flatnonzero(rng.random(long) < 0.3)
    spike = sparse.csr_matrix((np.full(len(first), 4.0), (first, first % 3)), shape=(long, wide))
    table = sparse.csr_matrix(loads + spike)
    few = PCA(1, svd_solver="power", random_state=0).fit(table)
    sought = PCA(1, svd_solver="full").fit(table.toarray())
    off = gap(few.components_, sought.components_)
    products = int(np.sum(few.n_iter_))
    # Centring takes a vector of each side per product; the covariance all pairs of columns.
    cost = products * (2 * table.nnz + long + wide)
    dense = long * wide**2 + wide**3
    return [
        Proof("power iteration with deflation against the full solver", away, 0, away < 1e-4),
        Proof("the same on a sparse table, one component", off, 0, off < 1e-4),
        Proof("multiplications that it takes, against N d^2 + d^3", cost, dense, cost < dense),
    ]


# Error of imputed values over that of column means. In 100 draws it has mean 0.53 and standard
# deviation 0.05 (99 % quantile 0.65, largest 0.68): four standard deviations above the mean.
_IMPUTED = 0.74


# ---- probabilistic components --------------------------------------------------------------------


@experiment(
    "N-X15",
    claim="Probabilistic principal components become principal components as the noise vanishes, "
    "can be sampled, take missing data by marginals, and are robust to outliers.",
    items="N131-N142",
    verdict="wrong: normal noise is not robust, and outliers turn its axes exactly as far as "
    "those of principal components; the other parts hold",
)
def probabilistic_components(
    *,
    noises: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03, 0.01),
    rows: int = 400,
    distances: tuple[float, ...] = (0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0),
    outliers: int = 8,
    random_state: int = 0,
) -> Experiment:
    """Let the noise vanish, sample, leave values out, and move a few rows far away.

    Parameters
    ----------
    noises : tuple of float
        Standard deviations of the noise.
    rows : int
        Rows of two latent variables behind six columns.
    distances : tuple of float
        How far the outliers are moved.
    outliers : int
        Rows that are moved.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    axes = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    W = axes[:, :2] * [3.0, 2.0]
    latent, errors = rng.normal(size=(rows, 2)), rng.normal(size=(rows, 6))
    away = [_shrinkage(latent @ W.T + sigma * errors) for sigma in noises]
    slope = log_slope(noises, away)
    X = latent @ W.T + 0.5 * errors
    angles = np.array([_outlier_angles(X, axes, outliers, far) for far in distances])
    same, turned = float(np.max(np.abs(angles[:, 0] - angles[:, 1]))), float(angles[-1, 1])
    parts = [
        Proof("W z + mu against PCA's reconstruction, largest noise", away[0], 0, away[0] > 0.01),
        Proof("the same, least noise", away[-1], 0, away[-1] < 1e-4),
        Proof("power of the noise in that gap", slope, 2, abs(slope - 2) < 0.1),
        *_likelihoods(X, rng),
        Proof("degrees that the axis turns, farthest outliers", turned, angles[0, 1], turned > 60),
        Proof("difference from the angle of PCA's axis", same, 0, same < 1e-3),
    ]
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"the gap to PCA falls from {away[0]:.2g} to {away[-1]:.1g}, as the noise to "
        f"the power {slope:.2f}; {outliers} outliers of {rows} rows turn the first axis from "
        f"{angles[0, 1]:.1f} to {turned:.1f} degrees, PCA's by the same up to {same:.0e}",
        draw=partial(
            lines_chart,
            distances,
            {"PCA": angles[:, 0], "probabilistic PCA": angles[:, 1]},
            x_title="distance of the outliers",
            y_title="degrees between first axis and truth",
            title="Normal noise is no protection against outliers",
            subtitle=f"{outliers} of {rows} rows are moved; the two lines are one",
            dashed=("probabilistic PCA",),
        ),
    )


def _shrinkage(X: FloatArray) -> float:
    """Return how far the mean of x given the latent variables is from PCA's reconstruction."""
    model, plain = ProbabilisticPCA(2).fit(X), PCA(2).fit(X)
    mine = model.inverse_transform(model.transform(X))
    return gap(mine, plain.inverse_transform(plain.transform(X)))


def _likelihoods(X: FloatArray, rng: np.random.Generator) -> list[Proof]:
    """Reach the maximum in two ways, draw samples, and leave values out."""
    model = ProbabilisticPCA(2).fit(X)
    climbed = ProbabilisticPCA(2, method="gradient").fit(X)
    top, reached = model.log_likelihood_, climbed.log_likelihood_
    C = model.get_covariance()
    drawn = gap(np.cov(model.sample(20_000, random_state=0).T), C)
    holes = X.copy()
    holes[rng.random(X.shape) < 0.3] = np.nan
    marginal = [
        stats.multivariate_normal(model.mean_[seen], C[np.ix_(seen, seen)]).logpdf(row[seen])
        for row in holes
        for seen in [~np.isnan(row)]
        if seen.any()
    ]
    some = holes[~np.all(np.isnan(holes), axis=1)]
    exact = gap(model.score_samples(some), marginal)
    hidden = np.isnan(some)
    truth = X[~np.all(np.isnan(holes), axis=1)]
    filled = ProbabilisticPCA(2).fit(some).impute(some)
    error = float(np.sqrt(np.mean((filled - truth)[hidden] ** 2)))
    plain = float(np.sqrt(np.mean((np.nanmean(some, axis=0) - truth)[hidden] ** 2)))
    near = top - 1e-5 * abs(top) < reached < top + 1e-9 * abs(top)
    return [
        Proof("log-likelihood of gradient ascent, of the closed form", reached, top, near),
        Proof("covariance of 20,000 samples against W W' + sigma^2 I", drawn, 0, drawn < 0.05),
        Proof("density of what is observed against the marginal", exact, 0, exact < 1e-8),
        Proof("error of imputed values, of column means", error, plain, error < _IMPUTED * plain),
    ]


def _outlier_angles(X: FloatArray, axes: FloatArray, count: int, far: float) -> tuple[float, float]:
    """Return the degrees between the true axis and the first of both methods."""
    moved = X.copy()
    moved[:count] += far * axes[:, 5]  # a direction that the other rows hardly have
    first = [model.fit(moved).components_[0] for model in (PCA(2), ProbabilisticPCA(2))]
    one, two = (float(np.degrees(np.arccos(min(1.0, abs(v @ axes[:, 0]))))) for v in first)
    return one, two
