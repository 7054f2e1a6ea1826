"""Lecture 4: the computation of least squares."""

from functools import partial

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._numbers import log_slope
from bottega.course.experiment import Experiment, experiment
from bottega.linear import (
    LeastSquares,
    RecursiveLeastSquares,
    gram_schmidt,
)
from bottega.plot import lines_chart

__all__ = ["cholesky_or_qr", "lost_orthogonality", "recursive_start"]


@experiment(
    "D-E25",
    claim="Recursive least squares started from zero with V = I has a bias that is negligible with "
    "many rows: it is ridge with penalty 1, the intercept penalised too.",
    items="D34",
)
def recursive_start(
    *, rows: tuple[int, ...] = (30, 100, 300, 1000, 3000, 10_000), random_state: int = 0
) -> Experiment:
    """Measure the distance of the cheap start from least squares as rows come in.

    Parameters
    ----------
    rows : tuple of int
        Rows seen.
    random_state : int
        Of the data.
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(max(rows), 3))
    y = 2 + X @ [1.0, -2.0, 0.5] + rng.normal(size=max(rows))
    A = np.column_stack([np.ones(len(X)), X])
    away, error, wrong = [], [], 0.0
    model, seen = RecursiveLeastSquares(start="ridge"), 0
    for n in rows:
        model.partial_fit(X[seen:n], y[seen:n])
        seen = n
        found = np.append(model.intercept_, model.coef_)
        exact = np.linalg.solve(A[:n].T @ A[:n] + np.eye(4), A[:n].T @ y[:n])
        wrong = max(wrong, float(np.max(np.abs(found - exact))))
        plain = LeastSquares().fit(X[:n], y[:n])
        away.append(float(np.linalg.norm(found - np.append(plain.intercept_, plain.coef_))))
        error.append(float(np.sqrt(np.trace(plain.covariance()))))
    slope = log_slope(rows, away)
    holds = wrong < 1e-9 and abs(slope + 1) < 0.2 and away[-1] < 0.05 * error[-1]
    return Experiment(
        columns={"rows": np.array(rows), "distance": away, "standard error": error},
        holds=bool(holds),
        finding=f"the distance from least squares falls as n^{slope:.2f}, from {away[0]:.2f} at "
        f"{rows[0]} rows to {away[-1]:.5f} at {rows[-1]:,}, {away[-1] / error[-1]:.1%} of the "
        f"standard error; it is ridge with penalty 1 to {wrong:.0e}",
        draw=partial(
            lines_chart,
            np.array(rows),
            {"distance from least squares": away, "standard error of least squares": error},
            x_title="rows seen",
            y_title="length of the difference",
            title="The cost of a cheap start",
            subtitle="Recursive least squares from coefficients 0 and V = I",
            log_x=True,
            log_y=True,
        ),
    )


def _with_condition(n: int, p: int, condition: float, rng: np.random.Generator) -> FloatArray:
    """Return a design whose singular values fall geometrically from 1 to 1 / condition."""
    U = np.linalg.qr(rng.normal(size=(n, p)))[0]
    V = np.linalg.qr(rng.normal(size=(p, p)))[0]
    return np.asarray((U * np.geomspace(1, 1 / condition, p)) @ V.T)


@experiment(
    "D-E37",
    claim="Normal equations by Cholesky take p^3 + n p^2 / 2 operations, QR 2 n p^2; on badly "
    "conditioned inputs Cholesky loses twice as many digits.",
    items="D27, D28",
)
def cholesky_or_qr(
    *,
    conditions: tuple[float, ...] = (10.0, 100.0, 1e3, 1e4, 1e5),
    rows: int = 200,
    inputs: int = 8,
    repeats: int = 20,
    random_state: int = 0,
) -> Experiment:
    """Solve problems with a known solution and no noise, by both ways.

    The error of QR is at most of the order of the condition number times 1e-16 where nothing is
    left over, that of the normal equations of its square. (Seconds are measured by the benchmarks;
    operations are counted.)

    Parameters
    ----------
    conditions : tuple of float
        Condition numbers; above 1e6 `LeastSquares` would call columns collinear.
    rows, inputs : int
        Size of each problem.
    repeats : int
        Problems for each condition.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    error = {name: np.zeros((len(conditions), repeats)) for name in ("cholesky", "qr")}
    flops = {}
    truth = np.ones(inputs)
    for i, each in enumerate(conditions):
        for r in range(repeats):
            X = _with_condition(rows, inputs, each, rng)
            for name in error:
                model = LeastSquares(method=name, fit_intercept=False).fit(X, X @ truth)
                error[name][i, r] = np.max(np.abs(model.coef_ - truth))
                flops[name] = model.flops_
    middle = {name: np.median(found, axis=1) for name, found in error.items()}
    slope = {name: log_slope(conditions, found) for name, found in middle.items()}
    counted = {
        "cholesky": inputs**3 + rows * inputs**2 / 2,
        "qr": 2 * rows * inputs**2,
    }
    holds = (
        abs(slope["cholesky"] - 2) < 0.4
        and 0.3 < slope["qr"] < 1.2
        and middle["cholesky"][-1] > 1000 * middle["qr"][-1]
        and all(flops[name] == counted[name] for name in flops)
    )
    condition = np.array(conditions)
    return Experiment(
        columns={"condition": condition, **middle},
        holds=bool(holds),
        finding=f"at a condition number of {condition[-1]:.0e} the error is "
        f"{middle['cholesky'][-1]:.0e} by Cholesky and {middle['qr'][-1]:.0e} by QR; errors grow "
        f"as its power {slope['cholesky']:.2f} and {slope['qr']:.2f}; operations "
        f"{flops['cholesky']:,.0f} and {flops['qr']:,.0f} for {rows} rows and {inputs} inputs",
        draw=partial(
            lines_chart,
            condition,
            {"Cholesky of X'X": middle["cholesky"], "QR of X": middle["qr"]},
            x_title="condition number of X",
            y_title="largest error of a coefficient",
            title="Normal equations square the condition number",
            subtitle="Exact problems, median error",
            log_x=True,
            log_y=True,
        ),
    )


@experiment(
    "D-E38",
    claim="Gram-Schmidt loses orthogonality on nearly collinear inputs.",
    items="D29",
)
def lost_orthogonality(
    *,
    conditions: tuple[float, ...] = (10.0, 100.0, 1e3, 1e4, 1e5),
    rows: int = 100,
    inputs: int = 8,
    repeats: int = 20,
    random_state: int = 0,
) -> Experiment:
    """Orthogonalise by the printed formula, by the modified one, and by reflections.

    The printed formula takes all coefficients from the original column: its loss goes as the square
    of the condition number. Taking each from what is left of the column (`gram_schmidt`) makes it
    the first power; Householder's reflections lose nothing.

    Parameters
    ----------
    conditions : tuple of float
        Condition numbers of the inputs.
    rows, inputs : int
        Size of each design.
    repeats : int
        Designs for each condition.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    lost = {name: np.zeros((len(conditions), repeats)) for name in ("printed", "modified", "qr")}
    for i, each in enumerate(conditions):
        for r in range(repeats):
            X = _with_condition(rows, inputs, each, rng)
            modified = gram_schmidt(X, intercept=False)[0]
            for name, Z in (
                ("printed", printed_gram_schmidt(X)),
                ("modified", modified),
                ("qr", np.linalg.qr(X)[0]),
            ):
                Q = Z / np.linalg.norm(Z, axis=0)
                lost[name][i, r] = np.max(np.abs(Q.T @ Q - np.eye(inputs)))
    middle = {name: np.median(found, axis=1) for name, found in lost.items()}
    slope = {name: log_slope(conditions, found) for name, found in middle.items()}
    holds = (
        abs(slope["printed"] - 2) < 0.5
        and abs(slope["modified"] - 1) < 0.4
        and middle["qr"].max() < 1e-14
        and middle["printed"][-1] > 100 * middle["modified"][-1]
    )
    condition = np.array(conditions)
    return Experiment(
        columns={"condition": condition, **middle},
        holds=bool(holds),
        finding=f"at a condition number of {condition[-1]:.0e} columns that should be orthogonal "
        f"have cosines up to {middle['printed'][-1]:.0e} by the printed formula, "
        f"{middle['modified'][-1]:.0e} by the modified one and {middle['qr'][-1]:.0e} by "
        f"reflections; they grow as its power {slope['printed']:.2f}, {slope['modified']:.2f} and "
        f"{slope['qr']:.2f}",
        draw=partial(
            lines_chart,
            condition,
            {
                "Gram-Schmidt as printed": middle["printed"],
                "modified Gram-Schmidt": middle["modified"],
                "Householder's QR": middle["qr"],
            },
            x_title="condition number of X",
            y_title="largest cosine of two columns",
            title="Gram-Schmidt loses orthogonality",
            subtitle="The modified form loses half the digits, reflections none",
            log_x=True,
            log_y=True,
        ),
    )


def printed_gram_schmidt(X: FloatArray) -> FloatArray:
    """Orthogonalise columns with coefficients from the original column, as the formula is printed.

    Examples
    --------
    >>> printed_gram_schmidt(np.array([[1.0, 1.0], [0.0, 1.0]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    Z = np.array(X, dtype=np.float64)
    for j in range(1, Z.shape[1]):
        done = Z[:, :j]
        Z[:, j] = X[:, j] - done @ (done.T @ X[:, j] / np.sum(done**2, axis=0))
    return Z
