"""Chapter 8: the risk of one nearest neighbour and the curse of dimensionality."""

from functools import partial

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._numbers import log_slope, vote_error
from bottega.course.experiment import Experiment, experiment
from bottega.neighbors import NeighborSearch
from bottega.plot import lines_chart
from bottega.risk.bounds import nn_lipschitz

__all__ = ["nearest_distances", "one_neighbor_risk"]


@experiment(
    "A-E20",
    claim="The risk of 1-NN lies between R* and 2R* in the limit, and is at most "
    "2R* + 4 c sqrt(d) m^(-1/(d+1)) if eta is c-Lipschitz.",
    items="A59",
    verdict="holds only if the inputs stay in a bounded cube, [-1, 1]^d, which the notes do not "
    "say; and before the limit the risk may be above 2R*",
)
def one_neighbor_risk(
    *,
    rows: tuple[int, ...] = (4, 16, 64, 256, 1024, 4096),
    columns: int = 1,
    slope: float = 10.0,
    stretch: float = 1e4,
    points: int = 500,
    repeats: int = 80,
    random_state: int = 0,
) -> Experiment:
    """Follow the risk of one neighbour for a steep eta, and stretch the cube.

    x is uniform on [0, 1]^d and eta is a ramp from 0 to 1 in the first column with slope c: it is
    c-Lipschitz and R* = 1/(4c). Stretching the inputs by L changes no neighbour and no risk, but
    divides c by L: without a limit on the inputs the bound would shrink to 2R*.

    Parameters
    ----------
    rows : tuple of int
        Training rows m.
    columns : int
        Columns d.
    slope : float
        Lipschitz constant c, at least 1.
    stretch : float
        Factor L.
    points : int
        New rows for each training set.
    repeats : int
        Training sets of each size.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    bayes = 1 / (4 * slope)
    risk, distance = np.zeros((len(rows), repeats)), np.zeros(len(rows))
    for i, m in enumerate(rows):
        for r in range(repeats):
            X, new = rng.uniform(size=(m, columns)), rng.uniform(size=(points, columns))
            y = rng.uniform(size=m) < ramp(X, slope)
            far, near = NeighborSearch(X).query(new, 1)
            risk[i, r] = vote_error(ramp(new, slope), y[near[:, 0]])
            distance[i] += far.mean() / repeats
    mean, se = risk.mean(axis=1), risk.std(axis=1, ddof=1) / np.sqrt(repeats)
    sizes = np.array(rows)
    bound = np.asarray(nn_lipschitz(bayes, slope, columns, sizes))
    by_distance = 2 * bayes + slope * distance
    stretched = np.asarray(nn_lipschitz(bayes, slope / stretch, columns, sizes))
    holds = (
        np.all(mean + 3 * se <= bound)
        and np.all(mean + 3 * se <= by_distance)
        and np.all(mean + 3 * se >= bayes)
        and mean[-1] + 3 * se[-1] <= 2 * bayes
        and mean[0] - 3 * se[0] > 2 * bayes  # before the limit
        and mean[0] - 3 * se[0] > stretched[0]  # without a bounded cube
    )
    return Experiment(
        columns={
            "rows": sizes,
            "risk": mean,
            "standard error": se,
            "2R* + c E distance": by_distance,
            "bound": bound,
            f"bound after stretching by {stretch:g}": stretched,
        },
        holds=bool(holds),
        finding=f"with R* = {bayes:g} the risk falls from {mean[0]:.4f} at {rows[0]} rows, above "
        f"2R*, to {mean[-1]:.4f} at {rows[-1]:,}; the bound is {bound[-1]:.2f} there, and would "
        f"claim {stretched[0]:.4f} at {rows[0]} rows if the same inputs were stretched",
        draw=partial(
            lines_chart,
            sizes,
            {
                "risk of 1-NN": mean,
                "2R* + c E distance": by_distance,
                "bound": bound,
                "2R*": np.full(len(sizes), 2 * bayes),
                "R*": np.full(len(sizes), bayes),
            },
            x_title="training rows",
            y_title="risk",
            title="One neighbour: between the Bayes risk and its double, in the end",
            subtitle=f"eta with slope c = {slope:g}, d = {columns}",
            log_x=True,
            log_y=True,
            dashed=("2R* + c E distance", "bound", "2R*", "R*"),
        ),
    )


def ramp(X: FloatArray, slope: float) -> FloatArray:
    """Return an eta that rises from 0 to 1 with a slope, in the middle of the first column."""
    return np.clip(0.5 + slope * (X[:, 0] - 0.5), 0, 1)


@experiment(
    "A-E21",
    claim="The distance to the nearest neighbour falls with m the slower the more columns there "
    "are.",
    items="A58, A59",
)
def nearest_distances(
    *,
    columns: tuple[int, ...] = (1, 2, 3, 5, 10),
    rows: tuple[int, ...] = (100, 300, 1000, 3000, 10000),
    points: int = 400,
    random_state: int = 0,
) -> Experiment:
    """Measure mean distances in cubes and the slope of their logarithm.

    In d columns the distance falls as m^(-1/d), a little faster at few rows, where many points
    are next to a face of the cube. The rate m^(-1/(d+1)) of the bound on the risk is slower still.

    Parameters
    ----------
    columns : tuple of int
        Dimensions d.
    rows : tuple of int
        Training rows m.
    points : int
        New points that distances are averaged over.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    distance = {}
    for d in columns:
        means = []
        for m in rows:
            far, _ = NeighborSearch(rng.uniform(size=(m, d))).query(
                rng.uniform(size=(points, d)), 1
            )
            means.append(float(far.mean()))
        distance[d] = np.array(means)
    slopes = np.array([log_slope(rows, distance[d]) for d in columns])
    expected = -1 / np.array(columns)
    holds = (
        np.all(np.diff(slopes) > 0)
        # The standard error of a slope is below 0.02; faces of the cube add up to 0.03.
        and np.all(np.abs(slopes - expected) < 0.07)
        and np.all(slopes <= -1 / (np.array(columns) + 1) + 0.02)
    )
    return Experiment(
        columns={
            "columns": np.array(columns),
            "slope": slopes,
            "-1/d": expected,
            "-1/(d+1)": -1 / (np.array(columns) + 1.0),
            f"distance at {rows[-1]}": np.array([distance[d][-1] for d in columns]),
        },
        holds=bool(holds),
        finding="slopes of log distance against log m: "
        + ", ".join(f"{s:.2f} (d = {d})" for d, s in zip(columns, slopes, strict=True)),
        draw=partial(
            lines_chart,
            rows,
            {f"d = {d}": distance[d] for d in columns},
            x_title="training rows",
            y_title="mean distance to the nearest",
            title="The curse of dimensionality",
            subtitle="Each line falls as m^(-1/d): in ten columns rows hardly help",
            log_x=True,
            log_y=True,
        ),
    )
