"""What a model of adaptive splines keeps of its rows: importance, shares, ranges, outlines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from bottega.additive._adaptive.backward import gcv_of
from bottega.core.stored import stored
from bottega.core.typing import FloatArray


@stored
@dataclass(frozen=True, eq=False)
class Anatomy:
    """The chosen terms, in numbers that are computed once from the rows of the fit.

    Attributes
    ----------
    mean : ndarray of shape (m,)
        Mean of each term over the rows.
    covariance : ndarray of shape (m, m)
        Covariances of the terms (divisor: the weight of the rows).
    importance : ndarray of shape (p, 3)
        Of each input: subsets that it is in, and the sums of what GCV and RSS fall by in them.
    groups : list of list of int
        The inputs of each group of terms that have the same inputs, simple groups first.
    without : ndarray of shape (groups,)
        GCV of least squares without the terms of the group.
    low, high : ndarray of shape (p,)
        Range of each input.
    shown : ndarray of shape (p, 2)
        The stretch over which an input's own curve is shown: its range, or between its quantiles
        0.025 and 0.975 where it is in products too, without which the ends mislead.
    pairs : list of list of int
        Pairs of inputs that occur together in some term.
    outline : list of ndarray of shape (points, 2)
        Of each pair: corners of the convex hull of the rows; of a pair with a category the rows
        with the least and greatest other value of each level.
    """

    mean: FloatArray
    covariance: FloatArray
    importance: FloatArray
    groups: list[list[int]]
    without: FloatArray
    low: FloatArray
    high: FloatArray
    shown: FloatArray
    pairs: list[list[int]]
    outline: list[FloatArray]

    @classmethod
    def of(cls, work: Any, n_terms: int) -> "Anatomy":
        """Return the numbers of the model of so many terms."""
        kept, X = work.subset(n_terms), work.rows.X
        terms = [work.growth.basis.terms[int(k)] for k in kept]
        weight = work.weight / work.weight.sum()
        centred = work.columns.B[:, kept]
        mean = weight @ centred
        centred -= mean
        centred[:, 0] = 0.0  # the constant, but for rounding
        groups = sorted({tuple(sorted(term.variables)) for term in terms if term.factors})
        groups.sort(key=len)
        pairs = sorted({pair for group in groups for pair in _pairs(group)})
        with np.errstate(invalid="ignore"):
            low, high = (np.asarray(of.reduce(X, axis=0)) for of in (np.fmin, np.fmax))
        shown = np.column_stack([low, high])
        for j in {j for pair in pairs for j in pair}:
            if np.isfinite(low[j]):
                shown[j] = np.nanquantile(X[:, j], [0.025, 0.975])
        return cls(
            mean,
            (centred * weight[:, None]).T @ centred,
            credit(work, n_terms),
            [list(group) for group in groups],
            np.array([_gcv_without(work, n_terms, group) for group in groups]),
            low,
            high,
            shown,
            [list(pair) for pair in pairs],
            [_outline(X[:, list(pair)], work.n_levels[list(pair)] > 0) for pair in pairs],
        )

    def spread(self, members: Sequence[int], coef: FloatArray) -> float:
        """Return the standard deviation over the rows of what some terms add up to."""
        c = coef[list(members)]
        square = np.einsum("kt,kl,lt->t", c, self.covariance[np.ix_(members, members)], c)
        return float(np.sqrt(np.maximum(square, 0.0).sum()))


def _pairs(group: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(a, b) for k, a in enumerate(group) for b in group[k + 1 :]]


def credit(work: Any, n_terms: int) -> FloatArray:
    """Return, for each input, the subsets with it, and the falls of GCV and RSS in them."""
    pruning, terms = work.pruning, work.growth.basis.terms
    found = np.zeros((work.rows.X.shape[1], 3))
    rss, gcv = pruning.rss.sum(axis=1), pruning.gcv
    for m in range(2, n_terms + 1):
        inputs = {j for k in work.subset(m) for j in terms[int(k)].variables}
        falls = (1.0, gcv[m - 2] - gcv[m - 1], rss[m - 2] - rss[m - 1])
        found[sorted(inputs)] += falls
    return found


def _gcv_without(work: Any, n_terms: int, group: tuple[int, ...]) -> float:
    """Return the GCV of least squares on the chosen terms but those of one group."""
    terms = work.growth.basis.terms
    rest = np.array([k for k in work.subset(n_terms) if sorted(terms[k].variables) != [*group]])
    df = np.array(work.charges.df(rest))
    return float(gcv_of(work.squares(rest), df, len(work.rows)))


def _outline(points: FloatArray, category: Any) -> FloatArray:
    """Return corners within which all points lie, levels of a category one by one."""
    points = points[~np.any(np.isnan(points), axis=1)]
    if not len(points) or category.all():
        return np.unique(points, axis=0)
    if category.any():
        k = int(np.argmax(category))
        order = np.lexsort((points[:, 1 - k], points[:, k]))
        points = points[order]
        first = np.r_[True, points[1:, k] != points[:-1, k]]
        return points[first | np.r_[first[1:], True]]
    spread = np.ptp(points, axis=0)
    unit = (points - points.min(axis=0)) / np.where(spread > 0, spread, 1.0)
    try:
        return points[ConvexHull(unit).vertices]
    except QhullError:  # on a line, or fewer than three of them
        along = unit @ np.linalg.svd(unit - unit.mean(axis=0), full_matrices=False)[2][0]
        return points[[int(along.argmin()), int(along.argmax())]]
