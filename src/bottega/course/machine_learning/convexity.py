"""Chapter 6: convex functions and convex sets."""

from functools import partial
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._numbers import without_warnings
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.optimize import Piece, convex_hull, convexity, curvature_bounds, gradient_descent
from bottega.optimize.pieces import absolute, exponential, log_sum_exp, logistic, norm, square
from bottega.plot import hull_chart, lines_chart

__all__ = ["largest_at_a_vertex", "one_minimum_of_convex"]


@experiment(
    "M-X35",
    claim="Descent on a convex function reaches the same minimum from any start.",
    items="M605",
    verdict="holds only if the minimum is the least value: where a convex function is flat, the "
    "starts end at different points of that value",
)
def one_minimum_of_convex(
    *, starts: int = 30, steps: int = 1000, random_state: int = 0
) -> Experiment:
    """Descend from random starts on a function with one minimiser, a flat one and one with wells.

    The first is a logistic loss with a ridge penalty, proved convex by rules, the second a squared
    loss of more unknowns than rows; the third, of which a chord is found below the graph, has two
    wells of different depth. All take gradient steps of 1/L.

    Parameters
    ----------
    starts : int
        Random starts on each function.
    steps : int
        Steps from each.
    random_state : int
        Of rows and starts.
    """
    rng = np.random.default_rng(random_state)
    A = rng.normal(size=(40, 2))
    signs = np.where(A[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    strict = (1 / 40) * logistic().of(signs[:, None] * A) + 0.1 * square()
    flat = square().of([[1.0, 2.0]], -1.0)
    wells = _Wells()
    judged = {
        "strictly convex": convexity(strict),
        "flat along a line": convexity(flat),
        "two wells": convexity(
            wells.value, ([-2.0, -2.0], [2.0, 2.0]), gradient=wells.gradient, random_state=0
        ),
    }
    rates = [1 / curvature_bounds(f, ([-3, -3], [3, 3]), n_samples=10, random_state=0).smoothness[1]
             for f in (strict, flat)]  # fmt: skip
    first = rng.uniform(-2, 2, size=(starts, 2))
    runs = {
        "strictly convex": [_descend(strict, x, rates[0], steps) for x in first],
        "flat along a line": [_descend(flat, x, rates[1], steps) for x in first],
        "two wells": [_descend(wells, x, 0.02, steps) for x in first],
    }
    points = {name: np.array([end for end, _ in each]) for name, each in runs.items()}
    values = {name: np.array([curve[-1] for _, curve in each]) for name, each in runs.items()}
    apart = {name: float(np.max(np.ptp(each, axis=0))) for name, each in points.items()}
    spread = {name: float(np.ptp(each)) for name, each in values.items()}
    verdicts = [judged[name].verdict for name in runs]
    parts = [
        Proof("functions proved convex", verdicts.count("convex"), 2,
              verdicts == ["convex", "convex", "not convex"]),
        Proof("strictly convex: spread of the values at the end", spread["strictly convex"], 0,
              spread["strictly convex"] < 1e-10),
        Proof("strictly convex: spread of the points at the end", apart["strictly convex"], 0,
              apart["strictly convex"] < 1e-5),
        Proof("flat along a line: spread of the values", spread["flat along a line"], 0,
              spread["flat along a line"] < 1e-10),
        Proof("flat along a line: spread of the points", apart["flat along a line"], 0.5,
              apart["flat along a line"] > 0.5),
        Proof("two wells: spread of the values", spread["two wells"], 0.1,
              spread["two wells"] > 0.1),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"{starts} starts end at values that differ by {spread['strictly convex']:.1g} on "
        f"a strictly convex function and {spread['flat along a line']:.1g} on a flat one (there at "
        f"points up to {apart['flat along a line']:.1f} apart), and by {spread['two wells']:.2f} "
        "on a function with two wells",
        draw=partial(_draw_descents, runs),
    )


class _Wells:
    """(u^2 - 1)^2 + 0.3 u + v^2: two wells of different depth."""

    def value(self, x: FloatArray) -> float:
        return float((x[0] ** 2 - 1) ** 2 + 0.3 * x[0] + x[1] ** 2)

    def gradient(self, x: FloatArray) -> FloatArray:
        return np.array([4 * x[0] * (x[0] ** 2 - 1) + 0.3, 2 * x[1]])


def _descend(f: Any, x: FloatArray, rate: float, steps: int) -> tuple[FloatArray, FloatArray]:
    """Return where plain gradient steps end, and the values on the way."""
    run = without_warnings(
        gradient_descent, f.value, x, gradient=f.gradient, line_search="fixed", learning_rate=rate,
        tol=0.0, max_iter=steps,
    )  # fmt: skip
    return run.x, np.append(run.trace.values, np.full(steps - run.n_iter, run.value))


def _draw_descents(runs: dict[str, list[tuple[FloatArray, FloatArray]]]) -> Any:
    """Draw, for a convex function and one with two wells, three runs each."""
    lines: dict[str, FloatArray] = {}
    shown = 60
    for name in ("strictly convex", "two wells"):
        curves = [curve for _, curve in runs[name]]
        least = min(float(curve[-1]) for curve in curves)
        order = np.argsort([curve[-1] for curve in curves], kind="stable")
        for word, at in (("one start", order[0]), ("another", order[-1])):
            lines[f"{name}, {word}"] = curves[at][:shown] - least
    return lines_chart(
        np.arange(shown),
        lines,
        x_title="step",
        y_title="value above the least that any start reached",
        title="From every start to the same value, if the function is convex",
        subtitle="With two wells some starts end in the higher one",
        points=False,
    )


@experiment(
    "M-X36",
    claim="A convex function is largest on a polytope at a vertex, and its supremum over a set is "
    "that over the set's convex hull.",
    items="M610-M613",
)
def largest_at_a_vertex(
    *, functions: int = 40, rows: int = 100, draws: int = 2000, random_state: int = 0
) -> Experiment:
    """Maximise random convex functions over points, over vertices, and over draws from the hull.

    Parameters
    ----------
    functions : int
        Random convex functions, in two and three dimensions by turns.
    rows : int
        Points of each set.
    draws : int
        Points drawn from the hull.
    random_state : int
        Of everything.
    """
    rng = np.random.default_rng(random_state)
    above, off, proved, share = [], [], 0, []
    for k in range(functions):
        d = 2 + k % 2
        X = rng.normal(size=(rows, d))
        hull = convex_hull(X)
        f = _random_convex(d, rng)
        proved += f.curvature == "convex"
        best = hull.maximize(f).value
        size = max(abs(best), 1.0)
        off.append(abs(best - max(f(x) for x in X)) / size)
        # Dirichlet weights, mostly on few vertices: near the edges too.
        weights = rng.dirichlet(np.full(len(hull.indices), 0.3), size=draws // functions + 1)
        inside = max(f(x) for x in weights @ hull.vertices)
        above.append((inside - best) / size)
        share.append(len(hull.indices) / rows)
    # Not convex: minus the squared length is largest where the hull is nearest to zero.
    X = rng.normal(size=(rows, 2))
    hull = convex_hull(X)
    corner, centre = hull.maximize(lambda x: -float(x @ x)).value, 0.0
    parts = [
        Proof("functions proved convex by rules", proved, functions, proved == functions),
        Proof("largest gap of all points and vertices", max(off), 0, max(off) < 1e-12),
        Proof("draws from the hull, most above the vertices", max(above), 0, max(above) < 1e-12),
        Proof("share of the points that are vertices", float(np.mean(share)), 1,
              float(np.mean(share)) < 0.6),
        Proof("a concave function: at the best vertex, inside", corner, centre,
              corner < centre and bool(hull.contains([0.0, 0.0]))),
    ]  # fmt: skip
    flat = rng.normal(size=(rows, 2))
    shown = norm().of([[1.0, 0.3], [0.0, 1.0]], [0.5, 0.2])
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"for {functions} random convex functions the largest of {rows} points is a vertex "
        f"of their hull ({np.mean(share):.0%} of the points are), and no draw from the hull is "
        f"above it; a concave function is {corner:.2f} at its best vertex and 0 inside",
        draw=partial(hull_chart, convex_hull(flat), f=shown),
    )


def _random_convex(d: int, rng: np.random.Generator) -> Piece:
    """Return a sum of convex functions with affine maps inside."""
    known = [square(), absolute(), exponential(), log_sum_exp(), norm(), logistic()]
    chosen = rng.choice(len(known), size=3)
    total: Any = 0.0
    for i in chosen:
        total = total + float(rng.uniform(0.1, 1)) * known[i].of(
            rng.normal(size=(d + 1, d)), rng.normal(size=d + 1)
        )
    return total
