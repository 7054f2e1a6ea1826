r"""Concurvity: how far a term of an additive model can be made of the other terms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.additive._penalized.fit import Fit
from bottega.additive._terms.blocks import Block
from bottega.core.typing import FloatArray

__all__ = ["concurvity_columns"]

_ROUNDING = 1e-12


def concurvity_columns(fit: Fit, blocks: Sequence[Block]) -> dict[str, Any]:
    r"""Return three measures of concurvity of each term, between 0 and 1.

    A function f in the space of the term, less its mean, is the sum of its projection g on the
    space of all other terms and a rest; the measures are the share of g in the sum of squares of f
    (weighted as the rows of the working model):

    worst : the largest share of any f of the term,
    observed : the share of the fitted f,
    estimate : the share over all columns of the term together.

    Only X'WX is needed: shares are ratios of quadratic forms in it.
    """
    found: dict[str, Any] = {"term": [], "worst": [], "observed": [], "estimate": []}
    size = sum(fit.sizes)
    gram = _centred(fit.gram[:size, :size], blocks, fit.slices)
    for block, part in zip(blocks, fit.slices, strict=False):
        if block.kind == "intercept":
            continue
        own = gram[part, part]
        others = np.setdiff1d(np.arange(size), np.arange(size)[part])
        cross = gram[part, :][:, others]
        inside = cross @ _inverse(gram[np.ix_(others, others)]) @ cross.T
        half = _inverse_root(own)
        shares = np.linalg.eigvalsh(half @ inside @ half.T) if len(half) else np.zeros(1)
        coef = fit.coef[part]
        found["term"].append(block.name)
        found["worst"].append(_share(float(shares[-1]), 1.0))
        found["observed"].append(_share(float(coef @ inside @ coef), float(coef @ own @ coef)))
        found["estimate"].append(_share(float(np.trace(inside)), float(np.trace(own))))
    return found


def _centred(gram: FloatArray, blocks: Sequence[Block], parts: Sequence[slice]) -> FloatArray:
    """Return the crossproducts of all columns less their means."""
    for block, part in zip(blocks, parts, strict=False):
        if block.kind == "intercept" and gram[part.start, part.start] > 0:
            column = gram[:, part.start]
            return np.asarray(gram - np.outer(column, column) / column[part.start])
    return gram


def _share(part: float, whole: float) -> float:
    return float(np.clip(part / whole, 0.0, 1.0)) if whole > 0 else float("nan")


def _inverse_root(A: FloatArray) -> FloatArray:
    """Return H with H'H the pseudo-inverse of A: a row for each direction that A has."""
    values, vectors = np.linalg.eigh(A)
    kept = values > _ROUNDING * max(values[-1], 0.0)
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])).T)


def _inverse(A: FloatArray) -> FloatArray:
    """Return the pseudo-inverse of A, in units in which its diagonal is one."""
    unit = np.sqrt(np.diagonal(A))
    unit = np.where(unit > 0, unit, 1.0)
    half = _inverse_root(A / unit[:, None] / unit)
    return np.asarray((half.T @ half) / unit[:, None] / unit)
