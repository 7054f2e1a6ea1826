r"""Concurvity: how far a term of an additive model can be made of the other terms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.additive._penalized.fit import Fit
from bottega.additive._terms.blocks import Block
from bottega.core.typing import FloatArray

__all__ = ["concurvity_columns"]

_ROUNDING = 1e-12
_RIDGE = 1e-11  # of columns of unit length: makes columns that others determine nearly so


def concurvity_columns(fit: Fit, blocks: Sequence[Block], *, random: bool = True) -> dict[str, Any]:
    r"""Return three measures of concurvity of each term, between 0 and 1.

    A function f in the space of the term, less its mean, is the sum of its projection g on the
    space of all other terms and a rest; the measures are the share of g in the sum of squares of f
    (weighted as the rows of the working model):

    worst : the largest share of any f of the term,
    observed : the share of the fitted f,
    estimate : the share over all columns of the term together.

    Only X'WX is needed: shares are ratios of quadratic forms in it. Without `random`, random
    effects make no other term: with many levels they could make any, but for their penalty.
    """
    found: dict[str, Any] = {"term": [], "worst": [], "observed": [], "estimate": []}
    size = sum(fit.sizes)
    gram = _centred(fit.gram[:size, :size], blocks, fit.slices)
    for block, part in zip(blocks, fit.slices, strict=False):
        if block.kind == "random" and not random:
            own = gram[part, part].copy()
            gram = gram.copy()
            gram[part], gram[:, part] = 0.0, 0.0
            gram[part, part] = own
    unit = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    unit = np.where(unit > _ROUNDING * unit.max(initial=0.0), unit, 1.0)
    scaled = gram / unit[:, None] / unit
    # The block of the inverse of a term is the inverse of what the other terms leave of it.
    inverse = np.linalg.inv(scaled + _RIDGE * np.eye(size))
    for block, part in zip(blocks, fit.slices, strict=False):
        if block.kind == "intercept":
            continue
        own = scaled[part, part]
        rest = np.linalg.inv(inverse[part, part]) - _RIDGE * np.eye(block.size)
        inside = own - rest
        half = _inverse_root(own)
        shares = np.linalg.eigvalsh(half @ inside @ half.T) if len(half) else np.zeros(1)
        coef, scale = fit.coef[part] * unit[part], unit[part] ** 2
        found["term"].append(block.name)
        found["worst"].append(_share(float(shares[-1]), 1.0))
        found["observed"].append(_share(float(coef @ inside @ coef), float(coef @ own @ coef)))
        total = float(np.diagonal(own) @ scale)
        found["estimate"].append(_share(float(np.diagonal(inside) @ scale), total))
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
