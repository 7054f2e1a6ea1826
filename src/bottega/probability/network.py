"""Bayesian networks: a joint distribution as a product of small tables along a graph."""

from collections.abc import Hashable, Mapping, Sequence
from math import prod
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.cards import Card
from bottega.core.errors import InputError, did_you_mean
from bottega.core.estimator import Unweighted
from bottega.core.frames import is_frame, make_frame
from bottega.core.params import Anything, Integer, Parameter, Real
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray, IntArray
from bottega.probability._graph.structure import Graph

__all__ = ["BayesianNetwork"]

# Combinations of the variables summed over that `probability` goes through: 32 MB of numbers.
_LARGEST = 2**22


class BayesianNetwork(Unweighted):
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
    smoothing : float
        Number that `fit` adds to every count. 1 is Laplace's rule; 0 gives the shares themselves
        (maximum likelihood), and needs every combination of parents in the data.

    Attributes
    ----------
    parents_ : dict of str to tuple of str
        Parents of each variable.
    states_ : dict of str to tuple
        States of each variable.
    tables_ : dict of str to ndarray or None
        Table of each variable, given or learned, always with its last axis.
    order_ : tuple of str
        The variables, parents before their children.

    Notes
    -----
    `joint` takes V look-ups, `sample` V per row. `probability` sums over every combination of the
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
    >>> network.sample(3, random_state=0).shape
    (3, 3)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "nodes": Anything(help="(parents, table) of each variable"),
        "states": Anything(help="states of the variables that have others than 0 and 1"),
        "smoothing": Real(0.0, help="number added to every count"),
    }
    card: ClassVar[Card] = Card(
        method="bayesian_network",
        title="Bayesian network",
        task="density",
        strengths=(
            "Far fewer parameters than a full joint table, where the graph has few edges.",
            "Answers any question about some variables given others, exactly.",
            "The graph shows what is assumed, and can be drawn before any data.",
        ),
        weaknesses=(
            "The graph has to be given; it is not learned.",
            "Exact answers cost exponentially many terms in the variables summed over.",
            "Discrete variables only; a table grows with every parent.",
        ),
        assumptions=(
            "Given its parents, a variable does not depend on its other predecessors.",
            "The states of every variable are known, and no value is missing.",
        ),
        cost="n V, and a product of states per question",
        source="M417-M419, M434",
        takes=frozenset({"category"}),
    )

    _least_rows: ClassVar[int] = 0  # without rows the tables are those of the smoothing

    def __init__(
        self,
        nodes: Mapping[str, tuple[Sequence[str], Any]],
        *,
        states: Mapping[str, Sequence[Hashable]] | None = None,
        smoothing: float = 1.0,
    ) -> None:
        self.nodes = nodes
        self.states = states
        self.smoothing = smoothing
        _ = self._graph  # a network is of use before any fit: mistakes show at once

    @property
    def _graph(self) -> Graph:
        """The graph of the parameters, checked once for each of them."""
        found: tuple[Any, Any, Graph] | None = self.__dict__.get("_checked")
        if found is None or found[0] is not self.nodes or found[1] is not self.states:
            found = self._checked = (self.nodes, self.states, Graph.of(self.nodes, self.states))
        return found[2]

    @property
    def parents_(self) -> dict[str, tuple[str, ...]]:
        """Parents of each variable."""
        return self._graph.parents

    @property
    def states_(self) -> dict[str, tuple[Hashable, ...]]:
        """States of each variable."""
        return self._graph.states

    @property
    def order_(self) -> tuple[str, ...]:
        """The variables, parents before their children."""
        return self._graph.order

    @property
    def tables_(self) -> dict[str, FloatArray | None]:
        """Table of each variable, given or learned."""
        learned: dict[str, FloatArray | None] | None = self.__dict__.get("_learned")
        return self._graph.tables if learned is None else learned

    def __repr__(self) -> str:
        return f"BayesianNetwork: {self.factorization()}"

    def factorization(self) -> str:
        """Return the joint distribution as a product, such as ``p(a) p(b|a)``."""
        return " ".join(
            f"p({name}|{','.join(parents)})" if parents else f"p({name})"
            for name, parents in self.parents_.items()
        )

    @property
    def n_parameters(self) -> int:
        """Number of free probabilities: one per row of a table and state but the first.

        V binary variables without any structure have 2^V - 1, independent ones V.
        """
        shapes = [self._graph.shape(name) for name in self.parents_]
        return sum(prod(shape[:-1]) * (shape[-1] - 1) for shape in shapes)

    def joint(self, assignment: Mapping[str, Hashable]) -> float:
        """Return the probability that all variables have the given states.

        Parameters
        ----------
        assignment : mapping of name to state
            One state per variable.

        Returns
        -------
        float
        """
        codes = self._graph.encode(assignment)
        absent = [name for name in self.parents_ if name not in codes]
        if absent:
            raise InputError(
                f"The joint probability needs a state of every variable and {absent[0]!r} has "
                "none; for some of the variables alone use probability()."
            )
        cells = [
            self._table(name)[tuple(codes[each] for each in (*parents, name))]
            for name, parents in self.parents_.items()
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
        wanted, known = self._graph.encode(query), self._graph.encode(given or {})
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
        needed = self._graph.ancestors(set(codes))
        free = [name for name in self.order_ if name in needed and name not in codes]
        size = prod(len(self.states_[name]) for name in free)
        if size > _LARGEST:
            raise InputError(
                f"The exact answer sums over {size:,} combinations of {len(free)} variables, and "
                f"the limit is {_LARGEST:,}; ask with more variables given, or use the share of "
                "rows of sample()."
            )
        total = np.ones((1,) * len(free))
        for name in self.order_:
            if name not in needed:
                continue
            axes = (*self.parents_[name], name)
            # What is known is looked up; what is free becomes an axis in the order of `free`.
            table = self._table(name)[tuple(codes.get(each, slice(None)) for each in axes)]
            left = [free.index(each) for each in axes if each in free]
            shape = [1] * len(free)
            for axis in left:
                shape[axis] = len(self.states_[free[axis]])
            total = total * np.transpose(table, np.argsort(left)).reshape(shape)
        return float(total.sum())

    def _table(self, name: str) -> FloatArray:
        table = self.tables_[name]
        if table is None:
            raise InputError(f"{name!r} has no table yet; give one, or call fit.")
        return table

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Draw rows by ancestral sampling: parents first, then each child given its parents.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : int, RandomState, Generator or None
            What makes the draws repeatable.

        Returns
        -------
        data frame
            One column per variable.
        """
        Integer(1).check("sample", "n_samples", n_samples)
        rng = np.random.default_rng(seed_of(random_state, "sample"))
        drawn: dict[str, IntArray] = {}
        for name in self.order_:
            table = self._table(name)
            rows = table[tuple(drawn[each] for each in self.parents_[name])]
            # The last bound is left out: rounding may leave it below one.
            bounds = np.cumsum(rows, axis=-1)[..., :-1]
            drawn[name] = np.sum(rng.random((n_samples, 1)) >= bounds, axis=-1)
        named = {
            name: [found[code] for code in drawn[name]] for name, found in self.states_.items()
        }
        return make_frame(named)

    def _check_rows(self, X: Any, y: Any) -> tuple[IntArray, None]:
        """Return the codes of the states, one column per variable; other columns are ignored."""
        if not is_frame(X):
            raise InputError(f"fit needs a data frame; got {type(X).__name__}.")
        data, graph = nw.from_native(X, eager_only=True), self._graph
        codes = np.empty((len(data), len(graph.parents)), dtype=np.intp)
        for j, name in enumerate(graph.parents):
            if name not in data.columns:
                raise InputError(
                    f"The data have no column {name!r}.{did_you_mean(name, data.columns)}"
                )
            codes[:, j] = [graph.code(name, state) for state in data[name].to_list()]
        return codes, None

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        """Estimate every table: the share of each state among rows of equal parents."""
        codes = dict(zip(self.parents_, work.X.T, strict=True))
        self._learned = {name: self._shares(name, codes) for name in self.parents_}

    def _shares(self, name: str, codes: Mapping[str, IntArray]) -> FloatArray:
        axes, shape = (*self.parents_[name], name), self._graph.shape(name)
        cells = np.ravel_multi_index(tuple(codes[each] for each in axes), shape)
        counts = np.bincount(cells, minlength=prod(shape)).reshape(shape) + float(self.smoothing)
        totals = counts.sum(axis=-1, keepdims=True)
        if not np.all(totals > 0):
            empty = np.argwhere(totals[..., 0] == 0)[0]
            where = ", ".join(
                f"{each}={self.states_[each][code]!r}"
                for each, code in zip(self.parents_[name], empty, strict=True)
            )
            raise InputError(
                f"No row of the data has {where or 'any state'}, so the table of {name!r} is not "
                "known there; give more rows, or smoothing > 0."
            )
        return np.asarray(counts / totals)
