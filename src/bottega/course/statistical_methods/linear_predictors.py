"""Chapter 9: half spaces, the perceptron, ridge regression."""

from functools import partial
from itertools import product
from math import comb
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.linear import LeastSquares, Ridge
from bottega.online import Perceptron
from bottega.plot import lines_chart
from bottega.risk.theory.margin import hard_margin, separable

__all__ = [
    "perceptron_convergence_trace",
    "plane_geometry",
    "ridge_stability",
    "separability_by_program",
]

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
GATES = {"OR": [-1, 1, 1, 1], "AND": [-1, -1, -1, 1], "XOR": [-1, 1, 1, -1]}


@experiment(
    "A-E24",
    claim="On separable rows the perceptron stops within min ||u||^2 max ||x||^2 updates, and "
    "every update keeps the proof's two inequalities; on XOR it never stops.",
    items="A61, B13, B13b, B14",
)
def perceptron_convergence_trace(
    *,
    margins: tuple[float, ...] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    rows: int = 60,
    repeats: int = 6,
    max_iter: int = 200,
    random_state: int = 0,
) -> Experiment:
    """Trace the perceptron on logical gates and on separable rows of known margin.

    After M updates the squared norm of w is at most M max ||x||^2, and w.u at least M for the u of
    least norm with margin 1, of any separable rows. On XOR the weights come back to 0 every epoch.

    Parameters
    ----------
    margins : tuple of float
        Distances of the separable rows from their plane.
    rows : int
        Separable rows.
    repeats : int
        Data sets for each margin.
    max_iter : int
        Passes over XOR.
    random_state : int
        Of the separable rows.
    """
    gates = {
        name: Perceptron(max_iter=1000, until_clean=True, trace=True).fit(CORNERS, GATES[name])
        for name in ("OR", "AND")
    }
    xor = Perceptron(max_iter=max_iter).fit(CORNERS, GATES["XOR"])
    circles = bool(np.all(xor.updates_by_epoch_ == 4)) and not np.any(xor.coef_)
    updates, bounds, fine = np.zeros(len(margins)), np.zeros(len(margins)), circles
    for model in gates.values():
        fine &= _certified(model)
    for i, margin in enumerate(margins):
        for r in range(repeats):
            S = make.separable(rows, margin=margin, random_state=random_state + r)
            model = Perceptron(
                max_iter=10_000, until_clean=True, fit_intercept=False, trace=True
            ).fit(S.X, S.y)
            fine &= _certified(model)
            updates[i] += model.n_updates_ / repeats
            bounds[i] += model.convergence_bound_ / repeats
    shown = ", ".join(
        f"{name} {model.n_updates_} updates (bound {model.convergence_bound_:.0f})"
        for name, model in gates.items()
    )
    return Experiment(
        columns={"margin": np.array(margins), "updates": updates, "bound": bounds},
        holds=bool(fine),
        finding=f"{shown}; XOR makes 4 updates an epoch for {max_iter} epochs and is back at w = 0 "
        f"after each; separable rows {margins[0]:g} from their plane take {updates[0]:.0f} updates "
        f"where the bound is {bounds[0]:,.0f}",
        draw=partial(
            lines_chart,
            margins,
            {"updates": updates, "bound": bounds},
            x_title="least distance of the rows from the plane drawn",
            y_title="updates until a clean epoch",
            title="The perceptron stops, within its bound",
            subtitle=f"{rows} separable rows, means of {repeats} data sets",
            log_x=True,
            log_y=True,
            dashed=("bound",),
        ),
    )


def _certified(model: Perceptron) -> bool:
    """Return whether a traced perceptron stopped within its bound, as its proof has it.

    The separator has margin 1 up to rounding in its ninth digit.
    """
    trace = model.trace_
    after = np.arange(1, len(trace["row"]) + 1)
    return bool(
        model.converged_
        and model.n_updates_ == len(after)
        and model.n_updates_ <= model.convergence_bound_ * (1 + 1e-9)
        and np.all(trace["norm2"] <= trace["norm2_limit"] * (1 + 1e-9))
        and np.all(trace["alignment"] >= after * (1 - 1e-6))
    )


@experiment(
    "A-E25",
    claim="The norm of w does not matter; a plane in d columns is one through the origin in d + 1; "
    "it lies c/||v|| from the origin.",
    items="A60b, B01, B03",
)
def plane_geometry(
    *, planes: int = 200, points: int = 500, columns: int = 3, random_state: int = 0
) -> Experiment:
    """Rescale, homogenise and measure random planes v.x = c.

    Parameters
    ----------
    planes : int
        Random planes.
    points : int
        Points that classifiers are compared on.
    columns : int
        Columns d.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    factors = 2.0 ** np.array([-30, -1, 1, 30])  # exact: powers of two change no digit
    same = moved = True
    far, feet, off_plane = [], [], 0.0
    for _ in range(planes):
        v, c = rng.normal(size=columns), float(rng.normal())
        X = rng.normal(size=(points, columns))
        inside = X @ v - c >= 0
        ones = np.column_stack([X, np.ones(points)])
        # The two sums round differently, by some 1e-15 of their terms; the points are not so near.
        same &= bool(np.array_equal(ones @ np.append(v, -c) >= 0, inside))
        moved &= all(np.array_equal(X @ (f * v) - f * c >= 0, inside) for f in factors)
        foot = c * v / (v @ v)
        off_plane = max(off_plane, abs(float(v @ foot) - c))
        # Other points of the plane: from the foot along directions at right angles to v.
        aside = X - np.outer(X @ v, v) / (v @ v)
        least = np.linalg.norm(foot + aside, axis=1).min()
        far.append(abs(c) / np.linalg.norm(v))
        feet.append(np.linalg.norm(foot))
        moved &= bool(least >= feet[-1] * (1 - 1e-12))
    predicted, nearest = np.array(far), np.array(feet)
    gap = float(np.max(np.abs(predicted - nearest)))
    order = np.argsort(predicted)
    return Experiment(
        columns={"c/||v||": predicted, "distance": nearest},
        holds=bool(same and moved and gap < 1e-12 and off_plane < 1e-12),
        finding=f"{planes} planes classify {points} points the same after scaling by 2^-30 to 2^30 "
        f"and after homogenising; the foot of the perpendicular is c/||v|| away up to {gap:.0e}",
        draw=partial(
            lines_chart,
            predicted[order],
            {"distance of the plane": nearest[order], "c/||v||": predicted[order]},
            x_title="|c|/||v||",
            y_title="distance from the origin",
            title="How far a plane is from the origin",
            subtitle="The foot of the perpendicular, c v/||v||^2, is its nearest point",
            dashed=("c/||v||",),
        ),
    )


@experiment(
    "A-E26",
    claim="A linear program decides whether rows are linearly separable.",
    items="A60d, B08",
)
def separability_by_program(
    *, columns: int = 3, most_rows: int = 8, random_state: int = 0
) -> Experiment:
    """Ask the program about every labelling of random points, and count its yeses.

    Of the 2^m labellings of m points in general position exactly
    2 sum_{k<d} (m - 1 over k) are separated by a plane through the origin (Cover, 1965): the
    program must find that many, and each yes comes with a separator that is checked.

    Parameters
    ----------
    columns : int
        Columns d.
    most_rows : int
        Rows m of the largest set.
    random_state : int
        Of the points.
    """
    X = np.random.default_rng(random_state).normal(size=(most_rows, columns))
    rows = np.arange(1, most_rows + 1)
    counted, margins = [], []
    for m in rows:
        yes = 0
        # A labelling is separable with its opposite, so that the first label may be fixed.
        for rest in product([-1, 1], repeat=int(m) - 1):
            y = np.array([1, *rest])
            if separable(X[:m], y):
                yes += 1
                if m == most_rows:
                    margins.append(float(np.min(y * (X[:m] @ hard_margin(X[:m], y)))))
        counted.append(2 * yes)
    cover = np.array([cover_count(int(m), columns) for m in rows])
    share = cover / 2.0**rows
    holds = np.array_equal(counted, cover) and min(margins) >= 1 - 1e-6
    return Experiment(
        columns={"rows": rows, "separable": counted, "Cover's count": cover, "share": share},
        holds=bool(holds),
        finding=f"of the {2**most_rows} labellings of {most_rows} points in {columns} columns the "
        f"program separates {counted[-1]}, as Cover counts; the share is 1 up to {columns} points "
        f"and 1/2 at {2 * columns}",
        draw=partial(
            lines_chart,
            rows,
            {"by linear program": np.array(counted) / 2.0**rows, "Cover's count": share},
            x_title=f"points in {columns} columns",
            y_title="share of separable labellings",
            title="Which labellings a plane through the origin separates",
            subtitle="All of them up to d points, half of them at 2d",
            dashed=("Cover's count",),
        ),
    )


def cover_count(m: int, d: int) -> int:
    """Return how many labellings of m points in general position a plane through 0 separates."""
    return 2 * sum(comb(m - 1, k) for k in range(d))


@experiment(
    "A-E29",
    claim="Ridge regression is more stable than least squares: a larger alpha lowers the variance "
    "of w and raises its bias.",
    items="A62, A63",
)
def ridge_stability(
    *,
    rows: int = 40,
    columns: int = 5,
    correlation: float = 0.95,
    noise: float = 1.0,
    alphas: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 100.0),
    repeats: int = 100,
    random_state: int = 0,
) -> Experiment:
    """Draw new noise on the same correlated inputs many times, and compare the coefficients.

    With singular values s_j of the inputs S the variance of w is noise^2 sum (s_j/(s_j^2 +
    alpha))^2, which only falls with alpha; the simulation must agree with it.

    Parameters
    ----------
    rows, columns : int
        Shape of the inputs; no intercept.
    correlation : float
        Of each pair of neighbouring columns.
    noise : float
        Standard deviation of the noise.
    alphas : tuple of float
        Penalties.
    repeats : int
        Draws of the noise.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    S = rng.normal(size=(rows, columns))
    for j in range(1, columns):
        S[:, j] = correlation * S[:, j - 1] + np.sqrt(1 - correlation**2) * S[:, j]
    w = np.resize([1.0, -1.0], columns)
    Y = (S @ w)[:, None] + noise * rng.normal(size=(rows, repeats))
    models: list[Any] = [
        LeastSquares(fit_intercept=False),
        *(Ridge(alpha, standardize=False, fit_intercept=False) for alpha in alphas),
    ]
    every = [np.array([model.fit(S, y).coef_ for y in Y.T]) for model in models]
    variance = np.array([each.var(axis=0, ddof=1).sum() for each in every])
    bias2 = np.array([np.sum((each.mean(axis=0) - w) ** 2) for each in every])
    penalty = np.array([0.0, *alphas])
    exact, exact_bias2 = coefficient_moments(S, w, penalty, noise)
    holds = (
        np.all(np.diff(exact) < 0)
        and np.all(np.diff(exact_bias2) > 0)
        # A variance from 100 draws has a relative standard error of at most sqrt(2/99) = 0.14.
        and np.all(np.abs(variance / exact - 1) < 0.6)
        and variance[-1] < variance[0] / 10
        and bias2[-1] > bias2[0]
    )
    return Experiment(
        columns={
            "alpha": penalty,
            "variance of w": variance,
            "exact variance": exact,
            "squared bias of w": bias2,
            "exact squared bias": exact_bias2,
        },
        holds=bool(holds),
        finding=f"the summed variance of {columns} coefficients is {variance[0]:.2f} for least "
        f"squares and {variance[-1]:.4f} at alpha = {alphas[-1]:g}; the squared bias goes from 0 "
        f"to {exact_bias2[-1]:.2f}",
        draw=partial(
            lines_chart,
            penalty[1:],
            {
                "variance": variance[1:],
                "variance by the formula": exact[1:],
                "squared bias by the formula": exact_bias2[1:],
                "variance of least squares": np.full(len(alphas), exact[0]),
            },
            x_title="penalty alpha",
            y_title="sum over the coefficients",
            title="Ridge trades variance for bias",
            subtitle=f"{rows} rows, {columns} columns with correlation {correlation:g}",
            log_x=True,
            log_y=True,
            dashed=("variance by the formula", "variance of least squares"),
        ),
    )


def coefficient_moments(
    S: FloatArray, w: FloatArray, penalty: FloatArray, noise: float
) -> tuple[FloatArray, FloatArray]:
    """Return the summed variance and the squared bias of the coefficients, one entry a penalty."""
    _, s, axes = np.linalg.svd(S, full_matrices=False)
    kept = s / (s**2 + penalty[:, None])
    lost = penalty[:, None] / (s**2 + penalty[:, None])
    return noise**2 * np.sum(kept**2, axis=1), np.sum((lost * (axes @ w)) ** 2, axis=1)
