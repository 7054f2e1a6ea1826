"""Handout on linear classifiers: exact half spaces and compression."""

from functools import partial

import numpy as np
from scipy.stats import norm

from bottega.course._numbers import log_slope
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.online import Perceptron
from bottega.plot import lines_chart
from bottega.risk.bounds import (
    perceptron_compression,
)
from bottega.risk.theory.half_space import half_space_erm
from bottega.risk.theory.margin import separable

__all__ = ["compression_coverage", "exact_half_space"]


@experiment(
    "A-E27",
    claim="Exact minimisation of the mistakes of a half space blows up; the perceptron and linear "
    "programming are cheap.",
    items="B04, B05, B06",
)
def exact_half_space(
    *,
    columns: tuple[int, ...] = (1, 2, 3),
    rows: tuple[int, ...] = (10, 14, 20, 28, 40),
    max_iter: int = 20,
    random_state: int = 0,
) -> Experiment:
    """Count the planes that the exact search looks at, and the mistakes that it saves.

    The exact search of d columns and an intercept looks at m over d planes. The perceptron
    makes `max_iter` passes, and keeps no promise on rows that are not separable. That no fast exact
    way exists is a theorem (NP-hardness), not something that can be run.

    Parameters
    ----------
    columns : tuple of int
        Columns d.
    rows : tuple of int
        Training rows m; a fifth of the labels are flipped.
    max_iter : int
        Passes of the perceptron.
    random_state : int
        Of the data.
    """
    planes = {d: np.zeros(len(rows)) for d in columns}
    table: dict[str, list[float]] = {
        name: [] for name in ("columns", "rows", "planes", "least mistakes", "perceptron")
    }
    right = True
    for d in columns:
        for i, m in enumerate(rows):
            S = make.separable(m, n_features=d, margin=0.05, random_state=random_state + i)
            rng = np.random.default_rng([random_state, d, m])
            y = np.where(rng.uniform(size=m) < 0.2, 1 - S.y, S.y)
            y[:2] = [0, 1]
            exact = half_space_erm(S.X, y)
            cheap = Perceptron(max_iter=max_iter).fit(S.X, y)
            signed = np.where(y == 1, 1, -1) * cheap.decision_function(S.X)
            mistakes = int(np.sum(signed <= 0))
            ones = np.column_stack([S.X, np.ones(m)])
            planes[d][i] = exact.planes
            right &= exact.mistakes <= mistakes
            right &= separable(ones, y) == (exact.mistakes == 0)
            for name, value in zip(
                table, (d, m, exact.planes, exact.mistakes, mistakes), strict=True
            ):
                table[name].append(value)
    slopes = {d: log_slope(rows, planes[d]) for d in columns}
    holds = right and all(abs(slopes[d] - d) < 0.5 for d in columns)
    saved = sum(table["perceptron"]) - sum(table["least mistakes"])
    work = np.array(rows) * max_iter
    return Experiment(
        columns=table,
        holds=bool(holds),
        finding="planes looked at grow as "
        + ", ".join(f"m^{slopes[d]:.1f} (d = {d})" for d in columns)
        + f", to {int(planes[columns[-1]][-1]):,}; the perceptron takes {work[-1]:,} steps and "
        f"makes {saved:.0f} more mistakes in {len(table['rows'])} data sets",
        draw=partial(
            lines_chart,
            rows,
            {
                **{f"exact search, d = {d}": planes[d] for d in columns},
                "steps of the perceptron": work,
            },
            x_title="training rows m",
            y_title="planes or steps",
            title="The fewest mistakes are dear",
            subtitle="Planes grow as m^d, steps of the perceptron as m",
            log_x=True,
            log_y=True,
            dashed=("steps of the perceptron",),
        ),
    )


@experiment(
    "A-E28",
    claim="Run again on the rows that it updated on, the perceptron finds the same w; the bound "
    "from the rows that it did not update on covers its risk.",
    items="B10, B11, B12",
)
def compression_coverage(
    *,
    rows: tuple[int, ...] = (100, 300, 1000, 3000),
    repeats: int = 60,
    distance: float = 5.0,
    delta: float = 0.05,
    random_state: int = 0,
) -> Experiment:
    """Draw two normal classes, for which the risk of a half space is known, and count misses.

    The bound is about runs in which at most half of the rows caused an update; M counts distinct
    rows, not updates.

    Parameters
    ----------
    rows : tuple of int
        Training rows m.
    repeats : int
        Training sets of each size.
    distance : float
        Distance between the classes.
    delta : float
        Probability with which the bound may fail.
    random_state : int
        Of all draws.
    """
    same = True
    risk = np.full((len(rows), repeats), np.nan)
    bound = np.full((len(rows), repeats), np.nan)
    for i, m in enumerate(rows):
        for r in range(repeats):
            S = make.two_gaussians(m, distance=distance, random_state=random_state + r)
            model = Perceptron(max_iter=2).fit(S.X, S.y)
            part = model.updated_rows_
            if len(np.unique(S.y[part])) == 2:  # else there is nothing to run a classifier on
                again = Perceptron(max_iter=2).fit(S.X[part], S.y[part])
                same &= bool(
                    np.array_equal(again.coef_, model.coef_)
                    and np.array_equal(again.intercept_, model.intercept_)
                )
            if 2 * len(part) <= m:
                risk[i, r] = half_space_risk(model.coef_[0], float(model.intercept_[0]), distance)
                bound[i, r] = perceptron_compression(model.error_outside_, len(part), m, delta)
    used = np.isfinite(risk)
    misses = np.array([np.mean(risk[i, used[i]] > bound[i, used[i]]) for i in range(len(rows))])
    mean_risk = np.array([np.mean(risk[i, used[i]]) for i in range(len(rows))])
    mean_bound = np.array([np.mean(bound[i, used[i]]) for i in range(len(rows))])
    return Experiment(
        columns={
            "rows": np.array(rows),
            "runs": used.sum(axis=1),
            "risk": mean_risk,
            "bound": mean_bound,
            "misses": misses,
        },
        # The bound is loose by far: a miss has next to no probability, so none may happen.
        holds=bool(same and used.sum() > len(rows) * repeats / 2 and np.all(misses == 0)),
        finding=f"every rerun gives the same weights; in {int(used.sum())} runs the bound is never "
        f"below the risk (allowed: {delta:.0%}), {mean_bound[-1]:.2f} for {mean_risk[-1]:.2f} at "
        f"{rows[-1]:,} rows",
        draw=partial(
            lines_chart,
            rows,
            {"risk": mean_risk, "compression bound": mean_bound},
            x_title="training rows",
            y_title="risk",
            title="What the rows without an update say about the perceptron",
            subtitle=f"Two normal classes {distance:g} apart, two passes",
            log_x=True,
            dashed=("compression bound",),
        ),
    )


def half_space_risk(w: np.ndarray, b: float, distance: float) -> float:
    """Return the risk of sgn(w.x + b) for the two classes of `make.two_gaussians` in two columns.

    Their means are at plus and minus half the distance along the diagonal, with unit covariance.
    """
    shift = float(w.sum()) * distance / (2 * np.sqrt(2))
    size = float(np.linalg.norm(w))
    return float(0.5 * (norm.cdf((b - shift) / size) + norm.cdf(-(b + shift) / size)))
