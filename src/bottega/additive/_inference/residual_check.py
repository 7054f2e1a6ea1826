"""What the residuals of an additive model say: their quantiles, and each basis by itself."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from bottega.additive._inference.neighbours import neighbour_ratio
from bottega.additive._terms.bases import IndicatorBasis, ValueBasis
from bottega.additive._terms.blocks import Block
from bottega.core.errors import InputError
from bottega.core.likelihood import Family
from bottega.core.typing import FloatArray

__all__ = ["basis_columns", "deviance_residuals", "pearson_dispersion", "quantiles_of_residuals"]


def deviance_residuals(
    y: FloatArray, mu: FloatArray, weight: FloatArray, family: Family
) -> FloatArray:
    """Return the signed square root of what each row adds to the deviance."""
    return np.asarray(np.sign(y - mu) * np.sqrt(weight * family.unit_deviance(y, mu)))


def pearson_dispersion(
    y: FloatArray, mu: FloatArray, weight: FloatArray, family: Family, df: float
) -> float:
    """Return the sum of squared Pearson residuals over the residual degrees of freedom."""
    if not df > 0:
        return float("nan")
    return float(np.sum(weight * (y - mu) ** 2 / family.variance(mu)) / df)


def simulated_responses(
    mu: FloatArray, weight: FloatArray, family: Family, scale: float, rng: np.random.Generator
) -> FloatArray:
    """Return responses drawn from the fitted model, one per row."""
    if family.name == "gaussian":
        return mu + np.sqrt(scale / weight) * rng.standard_normal(len(mu))
    if family.name == "binomial":
        trials = np.maximum(np.rint(weight), 1).astype(np.int64)
        return rng.binomial(trials, np.clip(mu, 0.0, 1.0)) / trials
    if family.name == "poisson":
        return rng.poisson(mu).astype(np.float64)
    if family.name == "gamma":
        shape = weight / scale
        return np.maximum(rng.gamma(shape, mu / shape), np.finfo(float).tiny)
    if family.name == "negative_binomial":
        theta: float = getattr(family, "theta", 1.0)
        return rng.poisson(rng.gamma(theta, mu / theta)).astype(np.float64)
    raise InputError(f"No responses can be drawn for family={family.name!r}.")


def quantiles_of_residuals(
    y: FloatArray,
    mu: FloatArray,
    weight: FloatArray,
    fit: Any,
    *,
    level: float,
    count: int,
    seed: int,
) -> dict[str, FloatArray]:
    """Return the sorted deviance residuals, and those of responses drawn from the model.

    Returns
    -------
    dict
        `observed`, their expectation `expected`, and the limits `low` and `high` between which
        each lies with probability `level` if the model holds.
    """
    rng = np.random.default_rng(seed)
    drawn = np.empty((count, len(y)))
    for each in drawn:
        new = simulated_responses(mu, weight, fit.family, fit.scale, rng)
        each[:] = np.sort(deviance_residuals(new, mu, weight, fit.family))
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    observed = np.sort(deviance_residuals(y, mu, weight, fit.family))
    return {"expected": drawn.mean(axis=0), "observed": observed, "low": low, "high": high}


def basis_columns(
    parts: Iterable[tuple[Block, slice]], fit: Any, X: FloatArray, residual: FloatArray
) -> dict[str, Any]:
    """Return for each smooth term its number of functions, df, and the ratio of neighbours.

    `parts` are the blocks with the places of their coefficients.
    """
    found: dict[str, Any] = {"term": [], "size": [], "edf": [], "index": [], "p_value": []}
    for block, part in parts:
        if block.kind not in ("smooth", "tensor"):
            continue
        rows = np.ones(len(X), dtype=bool)
        columns: list[int] = []
        for margin in block.margins:
            if isinstance(margin.basis, IndicatorBasis):
                rows &= X[:, margin.columns[0]] == margin.basis.code
            elif not isinstance(margin.basis, ValueBasis):
                columns += margin.columns
        ratio = neighbour_ratio(X[rows][:, columns], residual[rows])
        found["term"].append(block.name)
        found["size"].append(block.size)
        found["edf"].append(float(fit.edf[part].sum()))
        found["index"].append(ratio.index)
        found["p_value"].append(ratio.p_value)
    return found
