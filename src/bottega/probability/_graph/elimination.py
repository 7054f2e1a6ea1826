"""Exact answers by variable elimination: first a plan of table products, then the products.

Sets of variables are whole numbers, one bit per variable. The axes of every table are in the order
of the variables' numbers, so that two tables are aligned by a reshape alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.probability._graph.order import Sizes, bits, elimination_order
from bottega.probability._graph.structure import Graph

__all__ = ["Elimination"]

LARGEST = 2**25  # numbers of an intermediate table: 256 MB
_MOST_PLANS = 512
_SMALL = 1e-250  # a probability that may have lost its digits on the way
_ALL = slice(None)

Operand = tuple[int, tuple[int, ...] | None]  # where a table lies, and its shape when aligned


class Step(NamedTuple):
    """Multiply some tables and take one variable out of the product."""

    operands: tuple[Operand, ...]
    axis: int  # of the variable that goes
    variable: int
    scope: int  # variables of the result


class EliminationPlan(NamedTuple):
    """What to multiply and in which order, for any states of the evidence."""

    tables: tuple[tuple[int, tuple[int, ...]], ...]  # variable, and its axes if any is observed
    steps: tuple[Step, ...]
    last: tuple[Operand, ...]  # what is left, a function of the variables asked for
    rest: "EliminationPlan | None"  # for tables that may only make the evidence impossible


class Elimination:
    """Tables of a network, ready to answer questions about any variables given any others."""

    def __init__(self, graph: Graph, tables: Mapping[str, FloatArray]) -> None:
        self.graph, self.given = graph, tables
        self.number = {name: i for i, name in enumerate(graph.order)}
        families = [[self.number[each] for each in (*graph.parents[n], n)] for n in graph.order]
        self.axes = [tuple(sorted(family)) for family in families]
        self.family = [sum(1 << i for i in family) for family in families]
        self.above: list[int] = []  # each variable and its ancestors
        for v, family in enumerate(families):
            above = 1 << v
            for parent in family[:-1]:
                above |= self.above[parent]
            self.above.append(above)
        self.sizes = Sizes([len(graph.states[name]) for name in graph.order])
        self.tables = [
            np.ascontiguousarray(np.transpose(tables[name], np.argsort(family)))
            for name, family in zip(graph.order, families, strict=True)
        ]
        self.positive = [bool(table.min() > 0) for table in self.tables]
        self.plans: dict[tuple[int, int], EliminationPlan] = {}

    # ---- answers ---------------------------------------------------------------------------------

    def posterior(self, names: Sequence[str], codes: Mapping[str, int]) -> FloatArray:
        """Return the probabilities of the names' states given codes, one axis per name."""
        known = {self.number[name]: code for name, code in codes.items()}
        wanted = [self.number[name] for name in names]
        free = [v for v in wanted if v not in known]
        found = self._normalized(free, known)
        if len(free) < len(wanted):  # what is known has all the probability
            table = np.zeros([self.sizes.states[v] for v in wanted])
            table[tuple(known.get(v, _ALL) for v in wanted)] = found
            return table
        return found

    def refuse_impossible(self, codes: Mapping[str, int]) -> None:
        """Raise if the probability of the given codes is 0."""
        self._normalized([], {self.number[name]: code for name, code in codes.items()})

    def most_probable(self, codes: Mapping[str, int]) -> dict[str, int]:
        """Return the codes of the most probable states of all variables."""
        known = {self.number[name]: code for name, code in codes.items()}
        plan = self._build(range(len(self.tables)), _set_of(known), 0)
        values, choices = self._load(plan, known), []
        for step in plan.steps:
            product = _product(values, step.operands, rescaled=True)
            choices.append(np.asarray(product.argmax(axis=step.axis)))
            values.append(product.max(axis=step.axis))
        if not _product(values, plan.last, rescaled=True) > 0:
            self._raise_impossible(known)
        found = dict(known)
        for step, choice in zip(reversed(plan.steps), reversed(choices), strict=True):
            found[step.variable] = int(choice[tuple(found[v] for v in bits(step.scope))])
        return {name: found[v] for name, v in self.number.items()}

    def _normalized(self, wanted: Sequence[int], known: Mapping[int, int]) -> FloatArray:
        plan = self._plan(_set_of(wanted), _set_of(known))
        if plan.rest is not None:
            self._shares(plan.rest, known)
        found = self._shares(plan, known)
        if len(wanted) > 1:  # its axes are in the order of the numbers
            return np.transpose(found, np.argsort(np.argsort(wanted)))
        return found

    def _shares(self, plan: EliminationPlan, known: Mapping[int, int]) -> FloatArray:
        """Return what a plan gives, divided by its sum; raise if that is 0."""
        found = self._sum(plan, known)
        total = found.sum()
        if total < _SMALL:
            found = self._sum(plan, known, rescaled=True)
            total = found.sum()
            if total == 0:
                self._raise_impossible(known)
        return np.asarray(found / total)

    def _raise_impossible(self, known: Mapping[int, int]) -> None:
        order, states = self.graph.order, self.graph.states
        given = [f"{order[v]!r}: {states[order[v]][code]!r}" for v, code in known.items()]
        shown = ", ".join(given[:6]) + (", ..." if len(given) > 6 else "")
        raise InputError(f"What is given, {{{shown}}}, has probability 0; nothing follows from it.")

    # ---- products --------------------------------------------------------------------------------

    def _load(self, plan: EliminationPlan, known: Mapping[int, int]) -> list[FloatArray]:
        """Return the tables of a plan at the observed states."""
        return [
            self.tables[v][tuple([known.get(axis, _ALL) for axis in axes])]
            if axes
            else self.tables[v]
            for v, axes in plan.tables
        ]

    def _sum(
        self, plan: EliminationPlan, known: Mapping[int, int], rescaled: bool = False
    ) -> FloatArray:
        """Return the product of all tables, summed over what is eliminated.

        Rescaled, the answer is right up to a factor, and products of many small numbers do not
        underflow.
        """
        values = self._load(plan, known)
        for step in plan.steps:
            values.append(np.add.reduce(_product(values, step.operands, rescaled), axis=step.axis))
        return np.asarray(_product(values, plan.last, rescaled))

    # ---- plans -----------------------------------------------------------------------------------

    def _needed(self, names: int) -> tuple[int, ...]:
        """Return the tables of some variables and of their ancestors: others sum to one."""
        needed = 0
        for v in bits(names):
            needed |= self.above[v]
        return bits(needed)

    def _plan(self, query: int, observed: int) -> EliminationPlan:
        """Return how to answer a question; kept, for the same with evidence in other states."""
        plan = self.plans.get((query, observed))
        if plan is None:
            needed, inside = self._needed(query | observed), query & ~observed
            scopes = [self.family[v] & ~observed for v in needed]
            waiting = [scope for scope in scopes if scope & ~inside]
            while waiting:  # what is connected to the question
                before = inside
                for scope in waiting:
                    if scope & inside:
                        inside |= scope
                if inside == before:
                    break
                waiting = [scope for scope in waiting if scope & ~inside]
            pairs = list(zip(needed, scopes, strict=True))
            plan = self._build([v for v, scope in pairs if scope & inside], observed, query)
            rest = [v for v, scope in pairs if not scope & inside]
            if not all(self.positive[v] for v in rest):
                plan = plan._replace(rest=self._build(rest, observed, 0))
            if len(self.plans) >= _MOST_PLANS:
                self.plans.clear()
            self.plans[query, observed] = plan
        return plan

    def _build(self, chosen: Iterable[int], observed: int, query: int) -> EliminationPlan:
        """Return the plan that sums over all variables neither observed nor asked for."""
        chosen, family = list(chosen), self.family
        scopes = [family[v] & ~observed for v in chosen]
        order, cliques, cells = elimination_order(scopes, query, self.sizes)
        if cells > LARGEST:
            self._refuse(max(cliques, key=self.sizes.__getitem__))
        shape, sizes = self.sizes.shape, self.sizes
        turn = dict.fromkeys(bits(query), len(order)) | {v: i for i, v in enumerate(order)}
        # A table waits until the first of its variables goes.
        waiting: list[list[int]] = [[] for _ in range(len(order) + 1)]
        for place, scope in enumerate(scopes):
            waiting[min([turn[v] for v in bits(scope)], default=-1)].append(place)
        steps = []
        for variable, union, used in zip(order, cliques, waiting, strict=False):
            if len(used) > 2:  # the smallest first: only the last product has the full size
                used.sort(key=lambda place: sizes[scopes[place]])
            bit = 1 << variable
            operands = tuple([(place, shape(scopes[place], union)) for place in used])
            steps.append(Step(operands, (union & (bit - 1)).bit_count(), variable, union ^ bit))
            turns = [turn[v] for v in bits(union ^ bit)]
            waiting[min(turns, default=-1)].append(len(scopes))
            scopes.append(union ^ bit)
        last = tuple([(place, shape(scopes[place], query)) for place in waiting[-1]])
        axes = [self.axes[v] if family[v] & observed else () for v in chosen]
        return EliminationPlan(tuple(zip(chosen, axes, strict=True)), tuple(steps), last, None)

    def _refuse(self, clique: int) -> None:
        """Raise if the largest table of a plan is too large."""
        if self.sizes[clique] > LARGEST:
            names = [self.graph.order[v] for v in bits(clique)]
            raise InputError(
                f"The exact answer needs a table of {self.sizes[clique]:,} numbers: the best order "
                f"found has width {len(names) - 1}, with {', '.join(names[:4])}, ... "
                f"({len(names)} variables) in one product. The limit is {LARGEST:,}; ask for fewer "
                "variables at once, give the states of more, or use the share of rows of sample()."
            )


def _set_of(variables: Iterable[int]) -> int:
    found = 0
    for v in variables:
        found |= 1 << v
    return found


def _product(
    values: Sequence[FloatArray], operands: tuple[Operand, ...], rescaled: bool = False
) -> FloatArray:
    """Return the product of some tables, rescaled by a power of two to a maximum below one."""
    found: FloatArray | None = None
    for place, shape in operands:
        table = values[place]
        if shape is not None:
            table = table.reshape(shape)
        found = table if found is None else found * table
        if rescaled:
            found = np.ldexp(found, -np.frexp(found.max())[1])
    return np.ones(()) if found is None else found
