"""Chapter 11: feature maps and kernels."""

from functools import partial
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course.experiment import Experiment, experiment
from bottega.linear import Ridge
from bottega.online import Perceptron
from bottega.plot import lines_chart
from bottega.risk.bounds import kernel_perceptron
from bottega.risk.theory.margin import hard_margin, separable

__all__ = ["conics", "kernel_learners", "kernels_and_maps"]


@experiment(
    "A-E32",
    claim="The quadratic map makes conics linear: classes inside and outside of a circle, and XOR, "
    "become separable.",
    items="A75",
)
def conics(
    *,
    gaps: tuple[float, ...] = (0.1, 0.2, 0.4, 0.8),
    rows: int = 80,
    max_epochs: int = 5000,
    random_state: int = 0,
) -> Experiment:
    """Run the perceptron on (1, x1^2, x2^2, x1, x2, x1 x2) of a disc in a ring, and of XOR.

    A linear program says that no line separates them, and that a plane after the map does.

    Parameters
    ----------
    gaps : tuple of float
        Widths of the empty ring between the classes, about radius 1.
    rows : int
        Points.
    max_epochs : int
        Most passes of the perceptron.
    random_state : int
        Of the points.
    """
    rng = np.random.default_rng(random_state)
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    opposite = np.array([1, -1, -1, 1])
    sets = {"XOR": (corners, opposite)}
    for gap in gaps:
        angle, y = rng.uniform(0, 2 * np.pi, size=rows), np.resize([-1, 1], rows)
        radius = 1 + y * (gap / 2 + 0.5 * rng.uniform(size=rows))
        sets[f"gap {gap:g}"] = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None], y
    updates, bounds, fine = [], [], True
    for X, y in sets.values():
        phi = quadratic_map(X)
        fine &= not separable(np.column_stack([X, np.ones(len(X))]), y) and separable(phi, y)
        model = Perceptron(max_iter=max_epochs, until_clean=True, fit_intercept=False, trace=True)
        model.fit(phi, y)
        fine &= model.converged_ and bool(np.all(model.predict(phi) == y))
        fine &= model.n_updates_ <= model.convergence_bound_ * (1 + 1e-9)
        updates.append(model.n_updates_)
        bounds.append(model.convergence_bound_)
    return Experiment(
        columns={"data": list(sets), "updates": updates, "bound": bounds},
        holds=bool(fine),
        finding=f"no line separates XOR or the discs; after the map the perceptron stops after "
        f"{updates[0]} updates on XOR (bound {bounds[0]:.0f}) and {updates[1]} at a gap of "
        f"{gaps[0]:g} (bound {bounds[1]:,.0f})",
        draw=partial(
            lines_chart,
            gaps,
            {"updates": updates[1:], "bound": bounds[1:]},
            x_title="gap between disc and ring",
            y_title="updates of the perceptron",
            title="A circle is a plane after the quadratic map",
            subtitle="No line separates the classes; six monomials do",
            log_x=True,
            log_y=True,
            dashed=("bound",),
        ),
    )


def quadratic_map(X: FloatArray) -> FloatArray:
    """Return (1, x1^2, x2^2, x1, x2, x1 x2) of points of the plane."""
    a, b = X.T
    return np.column_stack([np.ones(len(X)), a**2, b**2, a, b, a * b])


@experiment(
    "A-E33",
    claim="(1 + x.x')^n is the inner product of explicit monomials and cheaper; a Gram matrix "
    "without negative eigenvalues is what kernels have and others lack.",
    items="A76, A77, A78, A79, A80",
    verdict="holds only if accepting means not refuting: a sample of points can show that a "
    "function is no kernel, never that it is one",
)
def kernels_and_maps(
    *,
    columns: int = 3,
    degrees: tuple[int, ...] = (1, 2, 3, 4, 5),
    points: int = 40,
    random_state: int = 0,
) -> Experiment:
    """Compare kernels with their maps, count products, and look at eigenvalues of Gram matrices.

    The map has all monomials of degree up to n, each times the root of its multinomial
    coefficient: (d + n over n) of them, where the kernel takes d + 1 products and a power.

    Parameters
    ----------
    columns : int
        Columns d.
    degrees : tuple of int
        Degrees n.
    points : int
        Random points.
    random_state : int
        Of the points.
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(points, columns))
    inner = X @ X.T
    worst, size, least = 0.0, [], []
    for n in degrees:
        kernel, phi = (1 + inner) ** n, monomials(X, n)
        scale = np.sqrt(np.outer(np.diag(kernel), np.diag(kernel)))
        worst = max(worst, float(np.max(np.abs(phi @ phi.T - kernel) / scale)))
        size.append(phi.shape[1])
        least.append(least_eigenvalue(kernel))
    square = np.sum(X**2, axis=1)
    distance2 = np.maximum(square[:, None] - 2 * inner + square, 0)
    kernels = {
        "Gaussian": np.exp(-distance2 / 2),
        "minus squared distance": -distance2,
        "tanh(x.x' - 1)": np.tanh(inner - 1),
    }
    lows = {name: least_eigenvalue(K) for name, K in kernels.items()}
    # Two points at right angles, of length 2, show nothing wrong with the second impostor.
    unseen = least_eigenvalue(np.tanh(4 * np.eye(2) - 1)) > 0
    holds = (
        worst < 1e-12
        and size == [comb(columns + n, n) for n in degrees]
        and min(least) > -1e-10
        and lows["Gaussian"] > -1e-10
        and lows["minus squared distance"] < -0.1
        and lows["tanh(x.x' - 1)"] < -0.01
        and unseen
    )
    products = np.array(size)
    cheap = np.full(len(degrees), columns + 1)
    return Experiment(
        columns={"degree": np.array(degrees), "monomials": products, "least eigenvalue": least},
        holds=bool(holds),
        finding=f"kernel and map agree up to {worst:.0e}; degree {degrees[-1]} has {size[-1]} "
        f"monomials where the kernel takes {columns + 1} products; relative least eigenvalues: "
        + ", ".join(f"{low:.2g} ({name})" for name, low in lows.items()),
        draw=partial(
            lines_chart,
            degrees,
            {"explicit map": products, "kernel": cheap},
            x_title="degree n",
            y_title="products for one inner product",
            title="What the kernel saves",
            subtitle=f"{columns} columns: (d + n over n) monomials against d + 1 products",
            log_y=True,
        ),
    )


def monomials(X: FloatArray, n: int) -> FloatArray:
    """Return the map whose inner product is (1 + x.x')^n.

    One column for each choice, with repetition, of n factors among 1, x_1, ..., x_d, times the
    root of the number of orders of the choice.
    """
    factors = np.column_stack([np.ones(len(X)), X])
    columns = []
    for chosen in combinations_with_replacement(range(factors.shape[1]), n):
        orders = factorial(n) // prod(factorial(chosen.count(j)) for j in set(chosen))
        columns.append(np.sqrt(orders) * np.prod(factors[:, chosen], axis=1))
    return np.column_stack(columns)


def least_eigenvalue(K: FloatArray) -> float:
    """Return the least eigenvalue of a symmetric matrix, relative to the largest in size."""
    values = np.linalg.eigvalsh(K)
    return float(values[0] / np.max(np.abs(values)))


@experiment(
    "A-E34",
    claim="The kernel perceptron makes at most ||f||^2 max K(x, x) updates; kernel ridge "
    "regression with the linear kernel is ridge regression.",
    items="A82, A83",
)
def kernel_learners(
    *,
    widths: tuple[float, ...] = (0.0003, 0.001, 0.003, 0.01),
    rows: int = 40,
    max_epochs: int = 1000,
    alpha: float = 0.7,
    random_state: int = 0,
) -> Experiment:
    """Run the kernel perceptron on random labels, and ridge regression with its Gram matrix.

    The Gaussian kernel exp(-||x - x'||^2 / (2 gamma)) separates any labels of distinct points. The
    f of least norm with margin 1 is found in coordinates in which the Gram matrix is an inner
    product: the rows of its Cholesky factor.

    Parameters
    ----------
    widths : tuple of float
        gamma of the Gaussian kernel.
    rows : int
        Random points of a square with random labels.
    max_epochs : int
        Most passes.
    alpha : float
        Penalty of the ridge regressions.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    X = rng.uniform(size=(rows, 2))
    y = np.resize([-1.0, 1.0], rows)
    square = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    updates, bounds, fine = [], [], True
    for gamma in widths:
        # A little is added to the diagonal of the kernel itself, so that rounding cannot matter.
        K = np.exp(-square / (2 * gamma)) + 1e-6 * np.eye(rows)
        made, clean = kernel_perceptron_updates(K, y, max_epochs)
        f = hard_margin(np.linalg.cholesky(K), y)
        bounds.append(float(kernel_perceptron(float(f @ f), float(np.max(np.diag(K))))))
        updates.append(made)
        fine &= clean and made <= bounds[-1] * (1 + 1e-9)
    linear = Perceptron(max_iter=3, fit_intercept=False).fit(X, y)
    same = kernel_perceptron_updates(X @ X.T, y, 3)[0] == linear.n_updates_

    S, target, new = rng.normal(size=(rows, 3)), rng.normal(size=rows), rng.normal(size=(5, 3))
    ridge = Ridge(alpha, standardize=False, fit_intercept=False).fit(S, target).predict(new)
    dual = target @ np.linalg.solve(alpha * np.eye(rows) + S @ S.T, S @ new.T)
    gap = float(np.max(np.abs(ridge - dual)))
    return Experiment(
        columns={"gamma": np.array(widths), "updates": updates, "bound": bounds},
        holds=bool(fine and same and gap < 1e-10),
        finding=f"updates {updates} stay below their bounds (from {bounds[0]:.0f} to "
        f"{bounds[-1]:,.0f}); with the linear kernel the perceptron makes the same updates and "
        f"ridge regression the same predictions up to {gap:.0e}",
        draw=partial(
            lines_chart,
            widths,
            {"updates": updates, "bound": bounds},
            x_title="gamma of the Gaussian kernel",
            y_title="updates",
            title="The kernel perceptron within its bound",
            subtitle=f"{rows} points with random labels; a wide kernel makes them hard to separate",
            log_x=True,
            log_y=True,
            dashed=("bound",),
        ),
    )


def kernel_perceptron_updates(K: FloatArray, y: FloatArray, max_epochs: int) -> tuple[int, bool]:
    """Return the updates of the kernel perceptron, and whether an epoch was without any.

    f = sum of y_s K(x_s, .) over the updates s so far; an update is made where y f(x) <= 0, as the
    perceptron does.
    """
    f = np.zeros(len(y))
    total = 0
    for _ in range(max_epochs):
        before = total
        for t in range(len(y)):
            if y[t] * f[t] <= 0:
                f += y[t] * K[t]
                total += 1
        if total == before:
            return total, True
    return total, False
