"""Bayesian networks: a joint distribution as a product of small tables along a graph."""

from collections.abc import Hashable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from math import prod
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import is_frame, make_frame
from bottega.core.typing import FloatArray, IntArray

__all__ = ["BayesianNetwork"]

_BINARY = (0, 1)
# Combinations of the variables summed over that `probability` goes through: 32 MB of numbers.
_LARGEST = 2**22
_ROUNDING = 1e-9  # by which a row of a table may miss one


class BayesianNetwork:
    r"""Discrete variables on a directed graph without cycles, each with a table given its parents.

    The joint distribution is

    .. math:: p(x_1, \dots, x_V) = \prod_v p(x_v \mid \mathrm{parents}(x_v)).

    Parameters
    ----------
    nodes : mapping of name to (parents, table)
        The parents are a list of names, empty for a root. The table has an axis for each parent, in
        their order, and a last one for the variable itself: the probabilities of its states, which
        sum to one. For a variable with two states the last axis may be left out: the numbers are
        then the probabilities of its second state. None stands for a table not yet known; `fit`
        finds it.
    states : mapping of name to list, optional
        The states of the variables that have others than 0 and 1.

    Attributes
    ----------
    parents : dict of str to tuple of str
        Parents of each variable.
    states : dict of str to tuple
        States of each variable.
    tables : dict of str to ndarray or None
        Table of each variable, always with its last axis.
    order : tuple of str
        The variables, parents before their children.

    Notes
    -----
    `joint` takes V look-ups, `sample` V a row. `probability` sums over every combination of the
    variables that are neither asked for nor given; those that are no ancestors of either are left
    out first. That is exact, and exponential in their number: for networks with more than some
    twenty such variables use the share of rows of `sample` instead.

    References
    ----------
    .. [1] Pearl, J. (1988). Probabilistic Reasoning in Intelligent Systems. Morgan Kaufmann.

    Examples
    --------
    >>> network = BayesianNetwork({
    ...     "rain": ([], 0.2),
    ...     "sprinkler": (["rain"], [0.4, 0.01]),
    ...     "wet": (["sprinkler", "rain"], [[0.0, 0.8], [0.9, 0.99]]),
    ... })
    >>> network.factorization()
    'p(rain) p(sprinkler|rain) p(wet|sprinkler,rain)'
    >>> network.n_parameters
    7
    >>> round(network.joint({"rain": 1, "sprinkler": 0, "wet": 1}), 4)
    0.1584
    >>> round(network.probability({"rain": 1}, given={"wet": 1}), 4)
    0.3577
    >>> network.sample(3, seed=0).shape
    (3, 3)
    """

    parents: dict[str, tuple[str, ...]]
    states: dict[str, tuple[Hashable, ...]]
    tables: dict[str, FloatArray | None]
    order: tuple[str, ...]

    def __init__(
        self,
        nodes: Mapping[str, tuple[Sequence[str], Any]],
        *,
        states: Mapping[str, Sequence[Hashable]] | None = None,
    ) -> None:
        if not nodes:
            raise InputError("A network needs at least one variable; the mapping is empty.")
        states = {} if states is None else states
        for name in states:
            if name not in nodes:
                raise InputError(
                    f"states names {name!r}, which is no variable.{did_you_mean(name, nodes)}"
                )
        self.parents = {name: _check_parents(name, node, nodes) for name, node in nodes.items()}
        self.states = {name: _check_states(name, states.get(name, _BINARY)) for name in nodes}
        try:
            self.order = tuple(TopologicalSorter(self.parents).static_order())
        except CycleError as error:
            raise InputError(
                f"The graph has the cycle {' -> '.join(error.args[1])}; no variable may be its own "
                "ancestor, so take one of these edges out."
            ) from None
        self.tables = {
            name: None if table is None else self._check_table(name, table)
            for name, (_, table) in nodes.items()
        }
        self._codes = {
            name: {state: code for code, state in enumerate(found)}
            for name, found in self.states.items()
        }

    def __repr__(self) -> str:
        return f"BayesianNetwork: {self.factorization()}"

    # ---- the graph ------------------------------------------------------------------------------

    def factorization(self) -> str:
        """Return the joint distribution as a product, such as ``p(a) p(b|a)``."""
        return " ".join(
            f"p({name}|{','.join(parents)})" if parents else f"p({name})"
            for name, parents in self.parents.items()
        )

    @property
    def n_parameters(self) -> int:
        """Number of free probabilities: one a row of a table and state but the first.

        V binary variables without any structure have 2^V - 1, independent ones V.
        """
        shapes = [self._shape(name) for name in self.parents]
        return sum(prod(shape[:-1]) * (shape[-1] - 1) for shape in shapes)

    def _shape(self, name: str) -> tuple[int, ...]:
        return tuple(len(self.states[each]) for each in (*self.parents[name], name))

    def _ancestors(self, names: set[str]) -> set[str]:
        """Return the names and all above them."""
        for name in reversed(self.order):
            if name in names:
                names = names | set(self.parents[name])
        return names

    # ---- probabilities --------------------------------------------------------------------------

    def joint(self, assignment: Mapping[str, Hashable]) -> float:
        """Return the probability that all variables have the given states.

        Parameters
        ----------
        assignment : mapping of name to state
            One state a variable.

        Returns
        -------
        float
        """
        codes = self._encode(assignment)
        absent = [name for name in self.parents if name not in codes]
        if absent:
            raise InputError(
                f"The joint probability needs a state of every variable and {absent[0]!r} has "
                "none; for some of the variables alone use probability()."
            )
        cells = [
            self._table(name)[tuple(codes[each] for each in (*parents, name))]
            for name, parents in self.parents.items()
        ]
        return float(prod(cells))

    def probability(
        self, query: Mapping[str, Hashable], given: Mapping[str, Hashable] | None = None
    ) -> float:
        """Return the probability of some states given others, exactly.

        Parameters
        ----------
        query : mapping of name to state
            What is asked for.
        given : mapping of name to state, optional
            What is known.

        Returns
        -------
        float
        """
        wanted, known = self._encode(query), self._encode({} if given is None else given)
        evidence = self._marginal(known)
        if evidence == 0:
            raise InputError(
                f"What is given, {dict(given or {})!r}, has probability 0; nothing follows from it."
            )
        if any(known.get(name, code) != code for name, code in wanted.items()):
            return 0.0
        return self._marginal(known | wanted) / evidence

    def _marginal(self, codes: Mapping[str, int]) -> float:
        """Return the probability of the coded states, summed over all other variables."""
        needed = self._ancestors(set(codes))
        free = [name for name in self.order if name in needed and name not in codes]
        size = prod(len(self.states[name]) for name in free)
        if size > _LARGEST:
            raise InputError(
                f"The exact answer sums over {size:,} combinations of {len(free)} variables, and "
                f"the limit is {_LARGEST:,}; ask with more variables given, or use the share of "
                "rows of sample()."
            )
        total = np.ones((1,) * len(free))
        for name in self.order:
            if name not in needed:
                continue
            axes = (*self.parents[name], name)
            # What is known is looked up; what is free becomes an axis in the order of `free`.
            table = self._table(name)[tuple(codes.get(each, slice(None)) for each in axes)]
            left = [free.index(each) for each in axes if each in free]
            shape = [1] * len(free)
            for axis in left:
                shape[axis] = len(self.states[free[axis]])
            total = total * np.transpose(table, np.argsort(left)).reshape(shape)
        return float(total.sum())

    def _encode(self, assignment: Mapping[str, Hashable]) -> dict[str, int]:
        for name in assignment:
            if name not in self.parents:
                raise InputError(
                    f"{name!r} is no variable of the network; it has {_listed(self.parents)}."
                    f"{did_you_mean(name, self.parents)}"
                )
        return {name: self._code(name, state) for name, state in assignment.items()}

    def _code(self, name: str, state: Any) -> int:
        try:
            return self._codes[name][state]
        except (KeyError, TypeError):
            raise InputError(
                f"{name!r} has no state {state!r}; its states are {_listed(self.states[name])}. "
                "Others are named by states= when the network is made."
            ) from None

    def _table(self, name: str) -> FloatArray:
        table = self.tables[name]
        if table is None:
            raise InputError(f"{name!r} has no table yet; give one, or call fit.")
        return table

    # ---- data -----------------------------------------------------------------------------------

    def sample(self, n: int, seed: Any = None) -> Any:
        """Draw rows by ancestral sampling: parents first, then each child given its parents.

        Parameters
        ----------
        n : int
            Number of rows.
        seed : int, numpy.random.Generator or None
            What makes the draws repeatable.

        Returns
        -------
        data frame
            One column a variable.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"n={n!r} is not allowed; ask for a whole number of rows, at least 1.")
        rng = np.random.default_rng(seed)
        drawn: dict[str, IntArray] = {}
        for name in self.order:
            table = self._table(name)
            rows = table[tuple(drawn[each] for each in self.parents[name])]
            # The last bound is left out: rounding may leave it below one.
            bounds = np.cumsum(rows, axis=-1)[..., :-1]
            drawn[name] = np.sum(rng.random((n, 1)) >= bounds, axis=-1)
        named = {name: [found[code] for code in drawn[name]] for name, found in self.states.items()}
        return make_frame(named)

    def fit(self, frame: Any, *, smoothing: float = 1.0) -> Self:
        """Estimate every table from data: the share of each state among rows of equal parents.

        Parameters
        ----------
        frame : data frame
            One column a variable; further columns are left alone.
        smoothing : float
            Number added to every count. 1 is Laplace's rule; 0 gives the shares themselves (maximum
            likelihood), and needs every combination of parents in the data.

        Returns
        -------
        BayesianNetwork
            The network, with its new tables.
        """
        if not np.isfinite(smoothing) or smoothing < 0:
            raise InputError(f"smoothing={smoothing!r} is not allowed; give a number from 0 on.")
        if not is_frame(frame):
            raise InputError(f"fit needs a data frame; got {type(frame).__name__}.")
        data = nw.from_native(frame, eager_only=True)
        codes = {}
        for name in self.parents:
            if name not in data.columns:
                raise InputError(
                    f"The data have no column {name!r}.{did_you_mean(name, data.columns)}"
                )
            column = [self._code(name, state) for state in data[name].to_list()]
            codes[name] = np.array(column, dtype=np.intp)
        self.tables = {name: self._shares(name, codes, smoothing) for name in self.parents}
        return self

    def _shares(self, name: str, codes: Mapping[str, IntArray], smoothing: float) -> FloatArray:
        axes, shape = (*self.parents[name], name), self._shape(name)
        cells = np.ravel_multi_index(tuple(codes[each] for each in axes), shape)
        counts = np.bincount(cells, minlength=prod(shape)).reshape(shape) + float(smoothing)
        totals = counts.sum(axis=-1, keepdims=True)
        if not np.all(totals > 0):
            empty = np.argwhere(totals[..., 0] == 0)[0]
            where = ", ".join(
                f"{each}={self.states[each][code]!r}"
                for each, code in zip(self.parents[name], empty, strict=True)
            )
            raise InputError(
                f"No row of the data has {where or 'any state'}, so the table of {name!r} is not "
                "known there; give more rows, or smoothing > 0."
            )
        return np.asarray(counts / totals)

    # ---- checks ---------------------------------------------------------------------------------

    def _check_table(self, name: str, table: Any) -> FloatArray:
        shape = self._shape(name)
        try:
            found = np.array(table, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"The table of {name!r} must be numbers in an array of shape {shape}; "
                f"got {table!r}."
            ) from None
        if shape[-1] == 2 and found.shape == shape[:-1]:
            found = np.stack([1 - found, found], axis=-1)
        if found.shape != shape:
            axes = ", ".join([*self.parents[name], name])
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
                f"The table of {name!r} has a row that sums to {wrong:.10g}; each row must sum "
                "to 1."
            )
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
        raise InputError(f"{name!r} names a parent twice: {_listed(parents)}.")
    return parents


def _check_states(name: str, states: Any) -> tuple[Hashable, ...]:
    found = () if isinstance(states, str) else tuple(states)
    if len(found) < 2 or len(set(found)) < len(found):
        raise InputError(
            f"The states of {name!r} must be a list of at least two different ones; got {states!r}."
        )
    return found


def _listed(names: Any) -> str:
    return ", ".join(repr(name) for name in names)
