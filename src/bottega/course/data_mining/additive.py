"""Lectures 16 and 17: additive models, projection pursuit and adaptive splines on two surfaces."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bottega.additive import (
    AdaptiveSplines,
    AdditiveModel,
    ProjectionPursuitRegressor,
)
from bottega.core.typing import FloatArray
from bottega.course.experiment import Experiment, experiment
from bottega.ensemble import GradientBoostingRegressor
from bottega.plot import dots_chart

__all__ = ["local_peaks"]

ADDITIVE = ("additive model", "boosted stumps")
METHODS: dict[str, Callable[[], Any]] = {
    "additive model": AdditiveModel,
    "boosted stumps": partial(GradientBoostingRegressor, n_estimators=500, max_depth=1),
    "additive model with a product": partial(AdditiveModel, "tensor(x0, x1)"),
    "projection pursuit": partial(ProjectionPursuitRegressor, n_terms=4),
    "adaptive splines of degree 2": partial(AdaptiveSplines, degree=2),
    "boosted trees of depth 2": partial(GradientBoostingRegressor, n_estimators=500, max_depth=2),
}
# The middle of the square and points towards its edges, at which an additive surface has no
# freedom: f(a, b) - f(a, d) - f(c, b) + f(c, d) is zero.
CORNERS = np.array([[0.5, 0.5], [0.5, 0.1], [0.1, 0.5], [0.1, 0.1]])


def _bump(X: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * np.sum((X - 0.5) ** 2, axis=1) / 0.12**2))


def _ridge(X: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * (X.sum(axis=1) - 1) ** 2 / 0.2**2))


SURFACES = {"bump": _bump, "rotated ridge": _ridge}


@experiment(
    "D-E12",
    claim="Additive models and boosted stumps cannot make a local peak; interactions, projection "
    "pursuit, adaptive splines and boosted trees of depth 2 can.",
    items="D131-D139, D193",
    quick={"repeats": 1},
)
def local_peaks(
    *, rows: int = 500, noise: float = 0.1, repeats: int = 8, random_state: int = 0
) -> Experiment:
    """Fit a bump in the middle of a square, and a ridge along its diagonal.

    Two numbers are looked at: the share of the variance of the true surface that is missed on a
    grid, and the height of the peak over its surroundings as a contrast of four points, which is
    zero for every sum of functions of one input.

    Parameters
    ----------
    rows : int
        Training rows, uniform on the square.
    noise : float
        Standard deviation of the noise; the peaks have height one.
    repeats : int
        Training samples.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    axis = (np.arange(40) + 0.5) / 40
    grid = np.column_stack([each.ravel() for each in np.meshgrid(axis, axis)])
    missed = {name: np.zeros((len(SURFACES), repeats)) for name in METHODS}
    height = {name: np.zeros((len(SURFACES), repeats)) for name in METHODS}
    for r in range(repeats):
        X = rng.uniform(size=(rows, 2))
        e = noise * rng.normal(size=rows)
        for i, surface in enumerate(SURFACES.values()):
            truth = surface(grid)
            for name, make in METHODS.items():
                model = make().fit(X, surface(X) + e)
                gap = model.predict(grid) - truth
                missed[name][i, r] = np.mean(gap**2) / truth.var()
                height[name][i, r] = model.predict(CORNERS) @ [1, -1, -1, 1]
    lost = {name: each.mean(axis=1) for name, each in missed.items()}
    peak = {name: each.mean(axis=1) for name, each in height.items()}
    real = [float(surface(CORNERS) @ [1, -1, -1, 1]) for surface in SURFACES.values()]
    flexible = [name for name in METHODS if name not in ADDITIVE]
    holds = (
        all(np.max(np.abs(height[name])) < 1e-9 for name in ADDITIVE)
        and all(lost[name].min() > 0.3 for name in ADDITIVE)
        and all(np.all(lost[name] < 0.6 * lost["additive model"]) for name in flexible)
        and all(np.all(peak[name] > 0.25 * np.array(real)) for name in flexible)
        # One direction is all that a ridge has: nothing finds it as well as projection pursuit.
        and lost["projection pursuit"][1] == min(each[1] for each in lost.values())
    )
    shown = {f"missed, {kind}": [lost[m][i] for m in METHODS] for i, kind in enumerate(SURFACES)}
    tall = {f"height, {kind}": [peak[m][i] for m in METHODS] for i, kind in enumerate(SURFACES)}
    return Experiment(
        columns={"method": list(METHODS), **shown, **tall},
        holds=bool(holds),
        finding="share of the variance missed, bump and ridge: "
        + ", ".join(f"{lost[m][0]:.2f} and {lost[m][1]:.2f} ({m})" for m in METHODS)
        + f"; the contrast of the additive ones is 0, of the truth {real[0]:.2f} and {real[1]:.2f}",
        draw=partial(
            dots_chart,
            list(METHODS),
            {kind: [float(lost[m][i]) for m in METHODS] for i, kind in enumerate(SURFACES)},
            x_title="share of the variance of the surface that is missed",
            title="Sums of functions of one input have no peaks",
            subtitle=f"A bump and a rotated ridge over a square, {rows} rows",
        ),
    )
