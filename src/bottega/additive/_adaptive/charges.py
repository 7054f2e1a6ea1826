r"""What terms cost in GCV: hinges half a knot each, sets of levels what was searched for them.

The best cut of L levels in two is the best of :math:`2^{L - 1} - 1` sets, and on responses of pure
noise it takes about 2 / pi of the L - 1 squares between the levels. A set therefore counts like
(L - 1) / 2 terms in its knots, a further one of the same category like one term less, and all of
them together like no more than L - 1 terms: then every level has its own mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bottega.additive._adaptive.basis import SUBSET, Term
from bottega.additive._adaptive.settings import GrowthSettings
from bottega.core.typing import BoolArray, FloatArray, IntArray

__all__ = ["Charges", "cost_of_sets"]


def cost_of_sets(count: int, levels: int, half_knot: float) -> float:
    """Return the degrees of freedom of so many sets of the levels of one category.

    Examples
    --------
    >>> [cost_of_sets(count, 3, 1.0) for count in (1, 2)]  # as of any other terms
    [2.0, 4.0]
    >>> [cost_of_sets(count, 12, 1.0) for count in (1, 2, 3, 4, 11)]
    [6.5, 12.5, 18.0, 22.0, 22.0]
    """
    left = levels - 1 - np.arange(count)
    searched = float(np.sum(1.0 + half_knot * np.maximum(left / 2, 1.0)))
    return min(searched, max(levels - 1, count) * (1.0 + half_knot))


@dataclass(frozen=True, eq=False)
class Charges:
    """Degrees of freedom that GCV counts for subsets of some terms.

    Attributes
    ----------
    half_knot : float
        What a term counts for beside itself.
    group : ndarray of int of shape (M,)
        For a set of levels the number of its category and parent, -1 for other terms.
    levels : ndarray of int
        Levels searched in each group.
    """

    half_knot: float
    group: IntArray
    levels: IntArray

    @classmethod
    def of(
        cls, terms: Sequence[Term], n_levels: IntArray | None, settings: GrowthSettings
    ) -> "Charges":
        """Return the charges of terms; `n_levels` are the levels searched of each input."""
        known: dict[tuple[Term, int], int] = {}
        group = np.full(len(terms), -1)
        for k, term in enumerate(terms):
            if term.factors and term.factors[-1].kind == SUBSET:
                parent = Term(term.factors[:-1])
                group[k] = known.setdefault((parent, term.factors[-1].variable), len(known))
        found = [0 if n_levels is None else int(n_levels[j]) for _, j in known]
        return cls(settings.knot_cost / 2, group, np.array(found, dtype=np.intp))

    def df(self, kept: IntArray) -> float:
        """Return the degrees of freedom of some terms, the intercept among them."""
        mine = self.group[kept]
        plain = int(np.count_nonzero(mine < 0))
        found = plain + self.half_knot * (plain - 1)
        for number, count in zip(*np.unique(mine[mine >= 0], return_counts=True), strict=True):
            found += cost_of_sets(int(count), int(self.levels[number]), self.half_knot)
        return float(found)

    def each(self, kept: IntArray) -> FloatArray:
        """Return what each of some terms is charged; sets of one category share their charge."""
        mine = self.group[kept]
        found = np.full(len(kept), 1.0 + self.half_knot)
        for number, count in zip(*np.unique(mine[mine >= 0], return_counts=True), strict=True):
            total = cost_of_sets(int(count), int(self.levels[number]), self.half_knot)
            found[mine == number] = total / count
        return found

    def dearer(self, kept: IntArray, out: IntArray) -> BoolArray:
        """Return which exchanges of a term kept for another raise the degrees of freedom."""
        now, others = self.df(kept), np.unique(self.group[out])
        found = np.zeros((len(kept), len(out)), dtype=np.bool_)
        for mine in np.unique(self.group[kept[1:]]):
            rest = np.delete(kept, 1 + int(np.argmax(self.group[kept[1:]] == mine)))
            for other in others[others != mine]:
                new = out[np.argmax(self.group[out] == other)]
                if self.df(np.append(rest, new)) > now:
                    found |= np.outer(self.group[kept] == mine, self.group[out] == other)
        return found
