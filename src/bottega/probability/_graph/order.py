"""In which order to eliminate the variables of a network: the greedy rules."""

from collections.abc import Iterable
from functools import lru_cache

__all__ = ["Sizes", "bits", "elimination_order"]

_CHEAP = 2**16  # cells: a search for a better order takes as long as going through so many


@lru_cache(maxsize=50_000)
def bits(members: int) -> tuple[int, ...]:
    """Return the numbers of the variables in a set, in order.

    Examples
    --------
    >>> bits(0b10110)
    (1, 2, 4)
    """
    found = []
    while members:
        low = members & -members
        found.append(low.bit_length() - 1)
        members ^= low
    return tuple(found)


class Sizes(dict[int, int]):
    """Number of cells of a table over a set of variables, remembered.

    Examples
    --------
    >>> sizes = Sizes([2, 3, 4])
    >>> sizes[0b101], sizes.shape(0b001, 0b101)
    (8, (2, 1))
    """

    def __init__(self, states: list[int]) -> None:
        super().__init__()
        self.states = states

    def __missing__(self, members: int) -> int:
        found = 1
        for variable in bits(members):
            found *= self.states[variable]
        if len(self) > 100_000:
            self.clear()
        self[members] = found
        return found

    def shape(self, members: int, union: int) -> tuple[int, ...] | None:
        """Return the shape that aligns a table with one over a larger set, None if it is the set's.

        Axes that the table lacks have length 1.
        """
        if members == union:
            return None
        return tuple([self.states[v] if members >> v & 1 else 1 for v in bits(union)])


def elimination_order(
    scopes: Iterable[int], keep: int, sizes: Sizes
) -> tuple[list[int], list[int], int]:
    """Return the order of all variables but those to keep, each one's product, and all their cells.

    A product is given as the set of its variables; the last one is that of the variables kept.

    First the variable is taken whose product has the fewest cells (min-weight). Where that is dear,
    the order that adds the fewest edges (min-fill) is tried too, and the cheaper one returned. Ties
    go to the variable with the smaller number.
    """
    near: dict[int, int] = {}  # each variable's neighbours and itself
    final = 0  # what is left at the end is one table
    for scope in scopes:
        final |= scope & keep
        for v in bits(scope):
            near[v] = near.get(v, 0) | scope
    order, cliques, cells = _by_weight(dict(near), keep, sizes)
    if cells > _CHEAP:
        found = _by_fill(near, keep, sizes)
        if found[2] < cells:
            order, cliques, cells = found
    cliques.append(final)
    return order, cliques, cells + sizes[final]


def _by_weight(near: dict[int, int], keep: int, sizes: Sizes) -> tuple[list[int], list[int], int]:
    cost = {v: sizes[near[v]] for v in sorted(near) if not keep >> v & 1}
    order, cliques, cells = [], [], 0
    while cost:
        v = min(cost, key=cost.__getitem__)
        clique, bit, states = near[v], 1 << v, sizes.states[v]
        order.append(v)
        cliques.append(clique)
        cells += cost.pop(v)
        rest = clique ^ bit
        for u in bits(rest):
            before = near[u]
            near[u] = (before | rest) ^ bit
            if u in cost:
                new = rest & ~before
                cost[u] = cost[u] // states * sizes[new] if new else cost[u] // states
    return order, cliques, cells


def _by_fill(near: dict[int, int], keep: int, sizes: Sizes) -> tuple[list[int], list[int], int]:
    def cost_of(v: int) -> tuple[int, int]:
        clique = near[v]
        missing = sum((clique & ~near[u]).bit_count() for u in bits(clique))
        return missing, sizes[clique]

    cost = {v: cost_of(v) for v in sorted(near) if not keep >> v & 1}
    order, cliques, cells = [], [], 0
    while cost:
        v = min(cost, key=cost.__getitem__)
        clique = near[v]
        order.append(v)
        cliques.append(clique)
        cells += cost.pop(v)[1]
        rest = clique ^ (1 << v)
        touched = rest
        for u in bits(rest):
            near[u] = (near[u] | rest) & ~(1 << v)
            touched |= near[u]
        for u in bits(touched):
            if u in cost:
                cost[u] = cost_of(u)
    return order, cliques, cells
