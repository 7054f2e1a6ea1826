"""The claim that ridge regression is steadier than least squares."""

from functools import partial
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.experiments.experiment import Experiment, experiment
from bottega.linear import LeastSquares, Ridge
from bottega.plot import lines_chart

__all__ = ["ridge_stability"]


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
    seed: int = 0,
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
    seed : int
        Of all draws.
    """
    rng = np.random.default_rng(seed)
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
