"""Models that grow: interactions added to the terms, or terms taken in one after the other."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from bottega.additive._model.forward import score_tests
from bottega.additive._model.work import PenalizedWork
from bottega.additive._terms.blocks import Block
from bottega.additive._terms.build import Building, build_blocks
from bottega.additive._terms.resolve import PlacedTerm, placed_term
from bottega.additive.terms import SmoothTerm, TensorTerm

__all__ = ["forward_works", "with_interactions"]

Make = Callable[[tuple[PlacedTerm, ...]], PenalizedWork]

_LEVEL = 0.05  # of the test of all pairs together
_CANDIDATE = 4  # B-splines of each column of a pair that is tried
_FOUND = 10  # at most, of one that is taken in


def with_interactions(work: PenalizedWork, about: Building, make: Make, most: int) -> PenalizedWork:
    """Return the model with at most so many interactions of two smooth columns.

    Each step adds the pair whose pure interaction has the least p-value by its score test, if it is
    below the level over the number of pairs.
    """
    for _ in range(most):
        pairs = _pairs(work.terms, about)
        if not pairs:
            break
        candidates = [build_blocks([pair], about)[1:2] for pair in pairs]
        tests = score_tests(work, work.fit(), candidates)
        best = int(np.argmin([test.p_value for test in tests]))
        if tests[best].p_value > _LEVEL / len(pairs):
            break
        columns = pairs[best].columns
        names = tuple(about.inputs.names[j] for j in columns)
        term = TensorTerm(names, n_splines=min(about.n_splines, _FOUND), main=False)
        work = make((*work.terms, placed_term(term, columns, None, about.inputs)))
    return work


def _pairs(terms: Sequence[PlacedTerm], about: Building) -> list[PlacedTerm]:
    """Return the pure interactions that may be tried."""
    curves = [
        placed.columns[0]
        for placed in terms
        if isinstance(placed.term, SmoothTerm)
        and placed.term.basis == "pspline"
        and placed.by is None
        and about.facts[placed.columns[0]].distinct >= _CANDIDATE
    ]
    taken = {frozenset(placed.columns) for placed in terms if len(placed.columns) == 2}
    found = []
    for pair in combinations(sorted(set(curves)), 2):
        if frozenset(pair) not in taken:
            names = tuple(about.inputs.names[j] for j in pair)
            term = TensorTerm(names, n_splines=_CANDIDATE, main=False)
            found.append(placed_term(term, pair, None, about.inputs))
    return found


def forward_works(whole: PenalizedWork, make: Make, most: int | None = None) -> list[PenalizedWork]:
    """Return the models with 0, 1, 2, ... terms: each takes in the one that its test picks.

    Offsets belong to no count: they are in all models.
    """
    blocks: dict[int, list[Block]] = {}
    for block in whole.blocks:
        if block.term >= 0:
            blocks.setdefault(block.term, []).append(block)
    left = sorted(blocks)
    chosen = [k for k, placed in enumerate(whole.terms) if placed.term.word == "offset"]
    count = len(left) if most is None else min(most, len(left))
    found = [make(_of(whole, chosen))]
    for _ in range(count):
        tests = score_tests(found[-1], found[-1].fit(), [blocks[k] for k in left])
        best = min(range(len(left)), key=lambda i: (tests[i].p_value, -tests[i].statistic))
        chosen.append(left.pop(best))
        found.append(make(_of(whole, chosen)))
    return found


def _of(whole: PenalizedWork, chosen: Sequence[int]) -> tuple[PlacedTerm, ...]:
    return tuple(whole.terms[k] for k in sorted(chosen))
