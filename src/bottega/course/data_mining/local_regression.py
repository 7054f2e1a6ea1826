"""Lectures 12 to 14: local regression, bandwidths, bands, the curse of dimensionality."""

from functools import partial

import numpy as np
from scipy.stats import t as student

from bottega.core.typing import FloatArray
from bottega.course._numbers import log_slope
from bottega.course.experiment import Experiment, experiment
from bottega.neighbors import NeighborSearch
from bottega.plot import curse_chart, lines_chart, rate_chart
from bottega.smooth import (
    KERNELS,
    LocalRegression,
    curse_numbers,
    nearest_distance,
    rate_experiment,
)

__all__ = [
    "curse_of_dimensionality",
    "kernel_and_bandwidth",
    "rate_of_local_regression",
    "undercoverage_of_bands",
]


@experiment(
    "D-E10",
    claim="The error of local linear regression falls as n^(-4/5), that of a right linear model as "
    "1/n; where the truth is linear the line wins.",
    items="D104",
)
def rate_of_local_regression(
    *, rows: tuple[int, ...] = (100, 300, 1000, 3000), designs: int = 3, random_state: int = 0
) -> Experiment:
    """Follow both errors on logarithmic axes; given the places x they are exact.

    Parameters
    ----------
    rows : tuple of int
        Numbers of rows n.
    designs : int
        Draws of x that are averaged.
    random_state : int
        Of the draws.
    """
    found = rate_experiment(rows, designs=designs, random_state=random_state)
    slopes = found.slopes
    # On a line local regression has no bias: the wider the window, the nearer it comes to the line.
    x = (np.arange(rows[0]) + 0.5) / rows[0]
    local = LocalRegression(float(found.bandwidth[0])).fit(x[:, None], x)
    unit = float(np.mean(local.smoother_.leverage))  # variance of the fit over sigma^2
    line = 2 / rows[0]
    holds = (
        abs(slopes["local"] + 0.8) < 0.06
        and abs(slopes["linear"] + 1) < 0.03
        and np.all(found.linear < found.local)
        and unit > 2 * line
    )
    return Experiment(
        columns={name: getattr(found, name) for name in ("n", "bandwidth", "local", "linear")},
        holds=bool(holds),
        finding=f"slopes {slopes['local']:.3f} (theory -0.8) and {slopes['linear']:.3f} (-1); on a "
        f"straight truth with {rows[0]} rows the window costs {unit / line:.1f} times the variance "
        "of the line",
        draw=partial(rate_chart, found),
    )


def _bump(x: FloatArray) -> FloatArray:
    return np.asarray(np.sin(2 * np.pi * x) + 1.5 * np.exp(-((x - 0.5) ** 2) / 0.002))


@experiment(
    "D-E11",
    claim="Variability bands, which disregard the bias, cover too little where the truth bends "
    "sharply, and are not simultaneous.",
    items="D105",
)
def undercoverage_of_bands(
    *,
    rows: int = 200,
    bandwidth: float = 0.04,
    noise: float = 0.3,
    repeats: int = 400,
    random_state: int = 0,
) -> Experiment:
    """Count how often 95 % bands hold the truth, place by place and everywhere at once.

    Parameters
    ----------
    rows : int
        Places, evenly spaced on [0, 1].
    bandwidth : float
        Standard deviation of the normal weights of local linear regression.
    noise : float
        Standard deviation of the noise.
    repeats : int
        Data sets.
    random_state : int
        Of the noise.
    """
    rng = np.random.default_rng(random_state)
    x = (np.arange(rows) + 0.5) / rows
    grid = np.linspace(0.05, 0.95, 91)
    truth = _bump(x)
    Y = truth[:, None] + noise * rng.normal(size=(rows, repeats))
    model = LocalRegression(bandwidth).fit(x[:, None], truth)
    inside, at_rows = model.matrix(grid[:, None]), model.matrix(x[:, None])
    df = float(np.trace(at_rows))
    sigma = np.sqrt(np.sum((Y - at_rows @ Y) ** 2, axis=0) / (rows - df))
    error = sigma[None, :] * np.linalg.norm(inside, axis=1)[:, None]
    critical = student.ppf(0.975, rows - df)
    center = inside @ truth  # what the fit is on average: the truth plus its bias
    off = np.abs(inside @ Y - _bump(grid)[:, None]) <= critical * error
    mean_off = np.abs(inside @ Y - center[:, None]) <= critical * error
    coverage, of_mean = off.mean(axis=1), mean_off.mean(axis=1)
    calm = np.abs(grid - 0.5) > 0.2
    joint = float(np.mean(np.all(mean_off, axis=0)))
    peak = int(np.argmin(coverage))
    # A share of 400 has a standard error of 0.011 at 0.95.
    holds = (
        coverage[peak] < 0.3
        and abs(grid[peak] - 0.5) < 0.1
        and np.mean(coverage[calm]) > 0.85
        and np.mean(of_mean) > 0.93
        and joint < 0.7
    )
    return Experiment(
        columns={"x": grid, "coverage of the truth": coverage, "coverage of its mean": of_mean},
        holds=bool(holds),
        finding=f"95 % bands hold the truth in {np.mean(coverage[calm]):.0%} of the data sets "
        f"where it is calm, in {coverage[peak]:.0%} at the peak; the mean of the fit, unbiased, "
        f"in {np.mean(of_mean):.0%} at each place but in only {joint:.0%} at all places at once",
        draw=partial(
            lines_chart,
            grid,
            {
                "truth": coverage,
                "mean of the fit": of_mean,
                "95 %": np.full(len(grid), 0.95),
            },
            x_title="x",
            y_title="share of data sets inside the band",
            title="Bands disregard the bias",
            subtitle=f"All places at once are covered in {joint:.0%}; the truth has a peak at 0.5",
            dashed=("95 %",),
            points=False,
        ),
    )


@experiment(
    "D-E21",
    "M-X8",
    claim="With many inputs the nearest rows are far, the ball fills nothing of its cube, and 1 % "
    "of the data takes 63 % of each of ten ranges.",
    items="D110-D112, M139",
)
def curse_of_dimensionality(
    *,
    inputs: tuple[int, ...] = (1, 2, 3, 5, 10, 20, 50),
    rows: int = 500,
    repeats: int = 40,
    random_state: int = 0,
) -> Experiment:
    """Simulate the distance of the nearest of n rows and compare it with its formula.

    Points are uniform in the unit ball, seen from its centre, where the median of the least
    distance is (1 - 2^(-1/n))^(1/p). (The notes speak of a cube; for Euclidean distances there the
    formula is wrong.)

    Parameters
    ----------
    inputs : tuple of int
        Dimensions p.
    rows : int
        Points n.
    repeats : int
        Clouds for each p.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    median, ratio = np.zeros(len(inputs)), np.zeros(len(inputs))
    spread = np.zeros(len(inputs))
    for i, d in enumerate(inputs):
        least = np.zeros(repeats)
        contrast = np.zeros(repeats)
        for r in range(repeats):
            cloud = rng.normal(size=(rows, d))
            cloud /= np.linalg.norm(cloud, axis=1, keepdims=True)
            cloud *= rng.uniform(size=(rows, 1)) ** (1 / d)
            distance = NeighborSearch(cloud).distances(np.zeros((1, d)))[0]
            least[r] = distance.min()
            contrast[r] = distance.min() / distance.max()
        median[i], ratio[i] = np.median(least), np.median(contrast)
        # The least distance to the power p is nearly exponential with mean 1 / n: the median of
        # repeats of them varies by 1 / (log 2 sqrt(repeats)) of itself.
        spread[i] = 1 / (np.log(2) * np.sqrt(repeats) * d)
    p = np.array(inputs)
    theory = nearest_distance(p, rows)
    numbers = curse_numbers(inputs, n=rows)
    holds = (
        np.all(np.abs(np.log(median / theory)) < 4.5 * spread)
        and np.all(np.diff(ratio) > 0)
        and ratio[-1] > 0.8
        and np.all(np.diff(numbers.ball) < 0)
        and numbers.ball[-1] < 1e-20
        and abs(float(np.interp(10, p, numbers.edge)) - 0.631) < 0.001
    )
    return Experiment(
        columns={
            "inputs": p,
            "nearest": median,
            "theory": theory,
            "nearest over farthest": ratio,
            "edge of 1 %": numbers.edge,
            "ball in cube": numbers.ball,
        },
        holds=bool(holds),
        finding=f"of {rows} points in the unit ball the nearest to the centre is at "
        + ", ".join(f"{m:.3f} (p = {k})" for k, m in zip(p, median, strict=True))
        + f"; at p = {p[-1]} the nearest is {ratio[-1]:.0%} as far as the farthest, and the ball "
        f"fills {numbers.ball[-1]:.0e} of the cube",
        draw=partial(curse_chart, numbers),
    )


@experiment(
    "D-E22",
    claim="The kernel matters little, the bandwidth a lot; the best bandwidth goes as n^(-1/5).",
    items="D101-D103",
)
def kernel_and_bandwidth(
    *, rows: tuple[int, ...] = (100, 200, 400, 800), noise: float = 0.3, random_state: int = 0
) -> Experiment:
    """Compute the mean squared error over kernels and bandwidths; given x it is exact.

    Bandwidths of different kernels are compared by the standard deviation of the weights.

    Parameters
    ----------
    rows : tuple of int
        Numbers of rows n; kernels are compared at the second.
    noise : float
        Standard deviation of the noise.
    random_state : int
        Of the places x, uniform on [0, 1].
    """
    rng = np.random.default_rng(random_state)
    grid = np.linspace(0.1, 0.9, 81)
    kernels = ("normal", "epanechnikov", "biquadratic", "tricube")
    factor = np.geomspace(0.35, 3.0, 13)
    best_width = np.zeros(len(rows))
    error = {name: np.zeros(len(factor)) for name in kernels}
    for i, n in enumerate(rows):
        x = np.sort(rng.uniform(size=n))
        widths = 0.07 * (n / 200) ** -0.2 * factor
        for name in kernels if i == 1 else ("normal",):
            scale = KERNELS[name].deviation
            curve = np.zeros(len(widths))
            for k, width in enumerate(widths):
                model = LocalRegression(float(width / scale), kernel=name, standardize=False)
                S = model.fit(x[:, None], x).matrix(grid[:, None])
                bias = S @ np.sin(2 * np.pi * x) - np.sin(2 * np.pi * grid)
                curve[k] = np.mean(bias**2 + noise**2 * np.sum(S**2, axis=1))
            if i == 1:
                error[name] = curve
            if name == "normal":
                # A parabola through the least three points of the logarithms.
                at = int(np.clip(np.argmin(curve), 1, len(curve) - 2))
                near = slice(at - 1, at + 2)
                a, b, _ = np.polyfit(np.log(widths[near]), np.log(curve[near]), 2)
                best_width[i] = np.exp(-b / (2 * a))
    least = np.array([error[name].min() for name in kernels])
    slope = log_slope(rows, best_width)
    across = float(error["normal"].max() / error["normal"].min())
    between = float(least.max() / least.min())
    holds = between < 1.1 and across > 2 and abs(slope + 0.2) < 0.1
    widths = 0.07 * (rows[1] / 200) ** -0.2 * factor
    return Experiment(
        columns={"bandwidth": widths, **error},
        holds=bool(holds),
        finding=f"the best errors of the four kernels are within {between - 1:.1%} of one another, "
        f"a wrong bandwidth costs up to {across:.1f} times the best; the best bandwidth goes as "
        f"n^{slope:.2f} (theory -0.2)",
        draw=partial(
            lines_chart,
            widths,
            error,
            x_title="standard deviation of the weights",
            y_title="mean squared error",
            title="The bandwidth matters, the kernel hardly",
            subtitle=f"Local linear regression on {rows[1]} rows of a sine",
            log_x=True,
            log_y=True,
        ),
    )
