"""The graph of a network: variables, parents, states and given tables, checked."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

_BINARY = (0, 1)
_MOST_LISTED = 12  # names in a message
_ROUNDING = 1e-6  # by which a row of a table may miss one: published tables are rounded


@stored
@dataclass(frozen=True)
class Graph:
    """What the parameters of a network say."""

    parents: dict[str, tuple[str, ...]]
    states: dict[str, tuple[Hashable, ...]]
    tables: dict[str, FloatArray | None]  # None where none is given
    order: tuple[str, ...]  # parents before their children
    codes: dict[str, dict[Hashable, int]]  # the place of each state

    @classmethod
    def of(
        cls, nodes: Mapping[str, Any], states: Mapping[str, Sequence[Hashable]] | None
    ) -> "Graph":
        """Return the checked graph, or raise."""
        if not isinstance(nodes, Mapping):
            raise InputError(
                f"nodes must be a mapping of names to (parents, table); got {type(nodes).__name__}."
            )
        if not nodes:
            raise InputError("A network needs at least one variable; the mapping is empty.")
        states = {} if states is None else states
        for name in states:
            if name not in nodes:
                raise InputError(
                    f"states names {name!r}, which is no variable.{did_you_mean(name, nodes)}"
                )
        parents = {name: _check_parents(name, node, nodes) for name, node in nodes.items()}
        named = {name: _check_states(name, states.get(name, _BINARY)) for name in nodes}
        try:
            order = tuple(TopologicalSorter(parents).static_order())
        except CycleError as error:
            raise InputError(
                f"The graph has the cycle {' -> '.join(error.args[1])}; no variable may be its own "
                "ancestor, so take one of these edges out."
            ) from None
        codes = {
            name: {state: code for code, state in enumerate(found)} for name, found in named.items()
        }
        graph = cls(parents, named, {}, order, codes)
        for name, (_, table) in nodes.items():
            graph.tables[name] = None if table is None else _check_table(name, table, graph)
        return graph

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a table: states of the parents, then of the variable."""
        return tuple(len(self.states[each]) for each in (*self.parents[name], name))

    def ancestors(self, names: set[str]) -> set[str]:
        """Return the names and all above them."""
        found = set(names)
        for name in reversed(self.order):
            if name in found:
                found.update(self.parents[name])
        return found

    def separated(self, left: set[str], right: set[str], given: set[str]) -> bool:
        """Return True if every path between two sets is blocked by a third.

        That is so if no path avoids `given` once only ancestors are kept, the parents of each child
        are joined, and the arrows are taken off [1]_.

        References
        ----------
        .. [1] Lauritzen, S., Dawid, A., Larsen, B. and Leimer, H.-G. (1990). Independence
           properties of directed Markov fields. Networks 20, 491-505.
        """
        families = [
            {name, *self.parents[name]} - given for name in self.ancestors(left | right | given)
        ]
        inside: dict[str, list[set[str]]] = {}
        for family in families:
            for name in family:
                inside.setdefault(name, []).append(family)
        reached, waiting = set(left), list(left)
        while waiting:
            for family in inside.pop(waiting.pop(), ()):
                waiting += family - reached
                reached |= family
        return not reached & right

    def named(self, names: Any) -> set[str]:
        """Return one name or a list of them as a set, or raise for a name that is none."""
        found = [names] if isinstance(names, str) else list(names)
        for name in found:
            if name not in self.parents:
                raise InputError(
                    f"{name!r} is no variable of the network; it has {listed(self.parents)}."
                    f"{did_you_mean(str(name), self.parents)}"
                )
        return set(found)

    def encode(self, assignment: Mapping[str, Hashable]) -> dict[str, int]:
        """Return the codes of named states, or raise for a name or a state that is none."""
        if not isinstance(assignment, Mapping):
            raise InputError(
                f"Give a mapping of names to states, such as {{'rain': 1}}; got {assignment!r}."
            )
        self.named(assignment)
        return {name: self.code(name, state) for name, state in assignment.items()}

    def code(self, name: str, state: Any) -> int:
        """Return the code of one state."""
        try:
            return self.codes[name][state]
        except (KeyError, TypeError):
            raise InputError(
                f"{name!r} has no state {state!r}; its states are {listed(self.states[name])}. "
                "Others are named by states= when the network is made."
            ) from None


def _check_table(name: str, table: Any, graph: Graph) -> FloatArray:
    shape = graph.shape(name)
    try:
        found = np.array(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"The table of {name!r} must be numbers in an array of shape {shape}; got {table!r}."
        ) from None
    if shape[-1] == 2 and found.shape == shape[:-1]:
        found = np.stack([1 - found, found], axis=-1)
    if found.shape != shape:
        axes = ", ".join([*graph.parents[name], name])
        raise InputError(
            f"The table of {name!r} has shape {found.shape}; it needs {shape}: one axis each "
            f"for {axes}."
        )
    if not np.all((found >= 0) & (found <= 1)):
        raise InputError(f"The table of {name!r} has numbers that are no probabilities.")
    sums = found.sum(axis=-1)
    if not np.allclose(sums, 1, rtol=0, atol=_ROUNDING):
        wrong = sums.ravel()[np.argmax(np.abs(sums.ravel() - 1))]
        raise InputError(
            f"The table of {name!r} has a row that sums to {wrong:.10g}; each row must sum to 1."
        )
    rounded = np.abs(sums - 1) > 1e-12
    found[rounded] /= sums[rounded][:, None]
    return found


def _check_parents(name: Any, node: Any, nodes: Mapping[str, Any]) -> tuple[str, ...]:
    if not isinstance(name, str):
        raise InputError(f"The names of variables must be text; got {name!r}.")
    pair = isinstance(node, Sequence) and not isinstance(node, str) and len(node) == 2
    if not pair or isinstance(node[0], str) or not isinstance(node[0], Sequence):
        raise InputError(
            f"{name!r} must come with a pair (list of parents, table), such as ([], 0.3); "
            f"got {node!r}."
        )
    parents = tuple(node[0])
    for each in parents:
        if not isinstance(each, str) or each not in nodes:
            raise InputError(
                f"{name!r} has the parent {each!r}, which is no variable."
                f"{did_you_mean(str(each), nodes)}"
            )
    if len(set(parents)) < len(parents):
        raise InputError(f"{name!r} names a parent twice: {listed(parents)}.")
    return parents


def _check_states(name: str, states: Any) -> tuple[Hashable, ...]:
    found = () if isinstance(states, str) else tuple(states)
    if len(found) < 2 or len(set(found)) < len(found):
        raise InputError(
            f"The states of {name!r} must be a list of at least two different ones; got {states!r}."
        )
    return found


def listed(names: Any) -> str:
    """Return names as a list in words; of many the first."""
    found = [repr(name) for name in names]
    if len(found) > _MOST_LISTED:
        found[_MOST_LISTED - 2 :] = [f"... ({len(found)} in all)"]
    return ", ".join(found)
