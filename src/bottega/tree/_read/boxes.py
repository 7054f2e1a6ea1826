"""Boxes: how large they are, and unions of them made short.

A term is a conjunction of conditions, one per column: a box. A union of terms is shortened by
joining boxes that differ in one column, and by dropping what others cover.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray, IntArray
from bottega.tree._read.column_conditions import Term


def conjunction(a: Term, b: Term, n_levels: IntArray) -> Term | None:
    """Return the conjunction of two terms; None where nothing passes."""
    found = dict(a)
    for j, condition in b.items():
        joint = found[j] & condition if j in found else condition
        if joint.no_value and not joint.missing:
            return None
        found[j] = joint
    return {j: c for j, c in found.items() if not c.is_full(int(n_levels[j]))}


def merge(terms: list[Term], n_levels: IntArray) -> list[Term]:
    """Join terms that differ in one column, as long as there are any."""
    count = -1
    while count != len(terms):
        count = len(terms)
        for j in sorted({j for term in terms for j in term}):
            groups: dict[Any, list[Term]] = {}
            for term in terms:
                rest = frozenset((k, c) for k, c in term.items() if k != j)
                groups.setdefault(rest, []).append(term)
            terms = [term for group in groups.values() for term in _join(group, j, n_levels)]
    return terms


def _join(group: list[Term], j: int, n_levels: IntArray) -> list[Term]:
    """Join terms that are equal but for column j."""
    if len(group) == 1:
        return group
    if any(j not in term for term in group):  # one of them asks nothing of the column
        return [next(term for term in group if j not in term)]
    conditions = sorted((term[j] for term in group), key=lambda c: (c.no_value, c.low))
    joined = [conditions[0]]
    for condition in conditions[1:]:
        both = joined[-1].join(condition)
        if both is None:
            joined.append(condition)
        else:
            joined[-1] = both
    rest = {k: c for k, c in group[0].items() if k != j}
    return [
        dict(rest) if condition.is_full(int(n_levels[j])) else {**rest, j: condition}
        for condition in joined
    ]


def _implied(a: Term, b: Term, but: int = -1) -> bool:
    """Return True if every row of `a` passes `b`, column `but` aside."""
    return all(j == but or (j in a and a[j] <= c) for j, c in b.items())


def widen(terms: list[Term], n_levels: IntArray) -> list[Term]:
    """Drop terms inside others, and conditions that others make needless.

    If `a` lies within `b` in every column but one, `a` may take b's values of that column too:
    what it gains is in `b` already.
    """
    changed = True
    while changed:
        changed = False
        for i, a in enumerate(terms):
            for b in terms:
                if a is b:
                    continue
                for j in [j for j in a if j in b and _implied(a, b, j)]:
                    both = a[j].join(b[j])
                    if both is not None and both != a[j]:
                        a = {k: c for k, c in a.items() if k != j}
                        if not both.is_full(int(n_levels[j])):
                            a[j] = both
                        changed = True
            terms[i] = a
        kept: list[Term] = []
        for i, a in enumerate(terms):
            inside = any(
                _implied(a, b) and (k < i or not _implied(b, a))
                for k, b in enumerate(terms)
                if k != i
            )
            kept += [] if inside else [a]
        changed = changed or len(kept) < len(terms)
        terms = kept
    return terms


def cell_diameters(
    terms: Iterable[Term], low: FloatArray, high: FloatArray, n_levels: IntArray
) -> FloatArray:
    """Return the diameter of each cell, columns measured by the range of the training rows.

    The side of a cell in a column of numbers is its share of the range (cells are cut to the
    range); in a category it is 0 with one level and 1 with more. The diameter is the root of the
    sum of the squared sides.
    """
    span = high - low
    whole = np.where(n_levels > 0, n_levels > 1, span > 0).astype(np.float64)
    found = []
    for term in terms:
        side = whole.copy()
        for j, condition in term.items():
            if condition.levels is not None:
                side[j] = len(condition.levels) > 1
            elif span[j] > 0:
                inside = min(condition.high, high[j]) - max(condition.low, low[j])
                side[j] = max(0.0, inside) / span[j]
        found.append(float(np.sqrt(np.sum(side**2))))
    return np.array(found)
