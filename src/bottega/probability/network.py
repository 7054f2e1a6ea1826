"""Bayesian networks: a joint distribution as a product of small tables along a graph."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.estimator import Unweighted
from bottega.core.frames import make_frame
from bottega.core.params import Anything, Integer, Parameter
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray, IntArray
from bottega.probability._graph.elimination import Elimination
from bottega.probability._graph.learning import PseudoCounts, pseudo_counts, read_states, shares
from bottega.probability._graph.structure import Graph

__all__ = ["BayesianNetwork"]


class BayesianNetwork(Unweighted):
    r"""Discrete variables on a directed graph without cycles, each with a table given its parents.

    The joint distribution is

    .. math:: p(x_1, \dots, x_V) = \prod_v p(x_v \mid \mathrm{parents}(x_v)).

    Parameters
    ----------
    nodes : mapping of name to (parents, table)
        The parents are a list of names, empty for a root. The table has an axis for each parent, in
        their order, and a last one for the variable itself: the probabilities of its states, which
        sum to one (rows that miss it by at most 1e-6 are rescaled). For a variable with two states
        the last axis may be left out: the numbers are then the probabilities of its second state.
        None stands for a table not yet known; `fit` finds it.
    states : mapping of name to list, optional
        The states of the variables that have others than 0 and 1.
    smoothing : float, or mapping of name to float or array
        What `fit` adds to the counts: the parameters of a Dirichlet prior for each row of a table,
        whose posterior means are the estimates. 1 is Laplace's rule; 0 gives the shares themselves
        (maximum likelihood), and needs every combination of parents in the data. A mapping has a
        number per variable, or one per state, or an array of the table's shape; variables that it
        leaves out get 1.

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
    `joint` takes V look-ups, `sample` V per row. `probability`, `marginal` and `most_probable` are
    exact, by variable elimination: variables that cannot matter are left out, the tables are looked
    up at what is given, and the others are summed out one by one, in a greedy order (fewest cells
    or fewest new edges, whichever is cheaper). The cost grows exponentially in the treewidth of the
    graph, not in the number of variables; a question that needs a table of more than 2^25 numbers
    is refused. The same question with other states of what is given takes only the products.

    References
    ----------
    .. [1] Pearl, J. (1988). Probabilistic Reasoning in Intelligent Systems. Morgan Kaufmann.
    .. [2] Zhang, N. and Poole, D. (1996). Exploiting causal independence in Bayesian network
       inference. Journal of Artificial Intelligence Research 5, 301-328.
    .. [3] Koller, D. and Friedman, N. (2009). Probabilistic Graphical Models, chapter 9. MIT Press.

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
        "smoothing": PseudoCounts(0.0, help="numbers added to the counts"),
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
            "Exact answers cost exponentially much in the treewidth of the graph.",
            "Discrete variables only; a table grows with every parent.",
        ),
        assumptions=(
            "Given its parents, a variable does not depend on its other predecessors.",
            "The states of every variable are known, and no value is missing.",
        ),
        cost="n V; per question V tables of at most k^(treewidth + 1) numbers",
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
        found, exact = 1.0, self._elimination
        if not wanted:
            exact.refuse_impossible(known)
        for name in sorted(wanted, key=exact.number.__getitem__):  # each given those before it
            found *= float(exact.posterior((name,), known)[wanted[name]])
            if found == 0:
                break
            known[name] = wanted[name]
        return found

    def marginal(self, *names: str, given: Mapping[str, Hashable] | None = None) -> Any:
        """Return the joint distribution of one or several variables, given others.

        Parameters
        ----------
        *names : str
            Variables asked for.
        given : mapping of name to state, optional
            What is known.

        Returns
        -------
        data frame
            One row per combination of states: a column per name, and ``probability``.

        Examples
        --------
        >>> network = BayesianNetwork({"a": ([], 0.25), "b": (["a"], [0.5, 1.0])})
        >>> network.marginal("a", given={"b": 1})["probability"].round(2).tolist()
        [0.6, 0.4]
        """
        if not names or len(self._graph.named(names)) < len(names) or "probability" in names:
            raise InputError(
                "marginal needs the names of different variables, none of them 'probability'; got "
                f"{names!r}."
            )
        table = self._elimination.posterior(names, self._graph.encode(given or {}))
        cells = np.indices(table.shape).reshape(len(names), -1)
        columns = {
            name: [self.states_[name][code] for code in codes]
            for name, codes in zip(names, cells, strict=True)
        }
        return make_frame({**columns, "probability": table.ravel()})

    def most_probable(self, given: Mapping[str, Hashable] | None = None) -> dict[str, Hashable]:
        """Return the most probable states of all variables together, given some of them.

        They need not be the most probable ones of each variable by itself. Of equally probable
        ones, one is returned by rule: the same at each call and on each machine.

        Parameters
        ----------
        given : mapping of name to state, optional
            What is known.

        Returns
        -------
        dict of name to state
            The states of all variables; `joint` has their probability.
        """
        codes = self._elimination.most_probable(self._graph.encode(given or {}))
        return {name: states[codes[name]] for name, states in self.states_.items()}

    def d_separated(
        self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Return True if the graph makes variables independent given others, whatever the tables.

        Each path between them has then a variable of `given` at which no two arrows meet, or one at
        which two meet that is neither in `given` nor has descendants there.

        Parameters
        ----------
        a, b : str or list of str
            Variables of the two sides.
        given : str or list of str
            Variables whose states are known.

        Returns
        -------
        bool
            False means only that some tables on this graph make them dependent.
        """
        left, right, known = (self._graph.named(names) for names in (a, b, given))
        both = sorted((left & right) | (left & known) | (right & known))
        if both or not left or not right:
            raise InputError(
                "d_separated needs two sets of variables and a third that is given, without common "
                f"members; got {a!r}, {b!r} and {given!r}."
            )
        return self._graph.separated(left, right, known)

    def plot(self, given: Mapping[str, Hashable] | None = None) -> Any:
        """Draw the graph, with the distribution of each variable once all tables are known.

        Parameters
        ----------
        given : mapping of name to state, optional
            What is known: these variables are marked, and the others have their distributions
            given them.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import directed_graph_chart

        known, words = self._graph.encode(given or {}), {}
        if all(table is not None for table in self.tables_.values()):
            for name, states in self.states_.items():
                table = self._elimination.posterior((name,), known)
                words[name] = dict(zip(map(str, states), table.tolist(), strict=True))
        return directed_graph_chart(
            self.parents_, shares=words, marked=tuple(known), title="Bayesian network"
        )

    @property
    def _elimination(self) -> Elimination:
        """The tables ready for questions, made once for each of them."""
        found: Elimination | None = self.__dict__.get("_prepared")
        if found is None or found.graph is not self._graph or found.given is not self.tables_:
            for name in self.parents_:
                self._table(name)
            found = self._prepared = Elimination(self._graph, self.tables_)  # type: ignore[arg-type]
        return found

    def __getstate__(self) -> Any:
        return {name: part for name, part in super().__getstate__().items() if name != "_prepared"}

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
        return read_states(X, self._graph), None

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        """Estimate every table: the share of each state among rows of equal parents."""
        codes = dict(zip(self.parents_, work.X.T, strict=True))
        prior = pseudo_counts(self.smoothing, self._graph)
        self._learned = {n: shares(n, codes, prior[n], self._graph) for n in self.parents_}
