"""A tree read as logic: a leaf is a conjunction, a class a disjunctive normal form.

A leaf is a box: one condition per column, an interval of numbers or a set of levels, and whether a
missing value passes. A class is the union of its leaves, which `dnf_terms` makes short.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import BoolArray, IntArray
from bottega.tree._grow.structure import Tree
from bottega.tree._prune.sequence import cut
from bottega.tree._read.boxes import conjunction, merge, widen
from bottega.tree._read.column_conditions import Condition, Term, Wording

__all__ = ["DNF", "dnf_terms", "leaf_terms"]

_MOST_TERMS = 20_000
_PAIRWISE = 300  # beyond this many terms only those that differ in one column are joined


def _asked(tree: Tree, s: int, child: int, n_levels: int) -> tuple[Condition, Condition]:
    """Return what test s sends to a child, and what it has no answer for."""
    if tree.level_start[s] < tree.level_stop[s]:
        here = slice(int(tree.level_start[s]), int(tree.level_stop[s]))
        known = tree.levels[here].tolist()
        sent = frozenset(tree.levels[here][tree.level_child[here] == child].tolist())
        silent = frozenset(range(n_levels)) - frozenset(known)
        return Condition(levels=sent, missing=False), Condition(levels=silent, missing=True)
    threshold = float(tree.threshold[s])
    below = (child == 0) != bool(tree.reverse[s])
    sent_numbers = (-np.inf, threshold) if below else (threshold, np.inf)
    return Condition.interval(*sent_numbers, False), Condition.interval(np.inf, -np.inf, True)


def _edge(tree: Tree, node: int, child: int, n_levels: IntArray) -> list[Term]:
    """Return the terms that lead from a node to one of its children.

    The k-th test decides where all before it have no answer; where none has, the default does.
    """
    terms: list[Term] = []
    silent: Term | None = {}
    for s in range(int(tree.test_start[node]), int(tree.test_stop[node])):
        j = int(tree.feature[s])
        sent, unanswered = _asked(tree, s, child, int(n_levels[j]))
        if silent is not None:
            found = conjunction(silent, {j: sent}, n_levels)
            terms += [] if found is None else [found]
            silent = conjunction(silent, {j: unanswered}, n_levels)
    if silent is not None and tree.default_child[node] == child:
        terms.append(silent)
    return merge(terms, n_levels)


def leaf_terms(tree: Tree, n_levels: IntArray, *, surrogates: bool = True) -> dict[int, list[Term]]:
    """Return for each leaf, from the left, the terms whose union it is.

    One term per leaf, unless surrogates are looked at.
    """
    if not surrogates:
        tree = tree.at(test_stop=np.minimum(tree.test_stop, tree.test_start + 1))
    found: dict[int, list[Term]] = {}
    stack: list[tuple[int, list[Term]]] = [(0, [{}])]
    count = 0
    while stack:
        node, terms = stack.pop()
        if not tree.n_children[node]:
            found[node] = terms
            count += len(terms)
            if count > _MOST_TERMS:
                raise InputError(
                    f"The tree has more than {_MOST_TERMS:,} terms, too many to read; prune it "
                    "(larger ccp_alpha), or use missing='direction' instead of surrogates."
                )
            continue
        for child, below in reversed(list(enumerate(tree.children(node)))):
            edges = _edge(tree, node, child, n_levels)
            both = [conjunction(a, b, n_levels) for a in terms for b in edges]
            stack.append((below, [term for term in both if term is not None]))
    return found


def dnf_terms(tree: Tree, chosen: BoolArray, n_levels: IntArray) -> list[Term]:
    """Return short terms whose union is that of the chosen leaves.

    Parameters
    ----------
    tree : Tree
        The tree.
    chosen : ndarray of bool, one entry per node
        Whether the leaf belongs to the union; entries of other nodes are not looked at.
    n_levels : ndarray of int
        Levels of each category.

    Notes
    -----
    Branches whose leaves agree become a leaf first. Terms that differ in one column are joined;
    up to 300 terms, conditions that the other terms make needless are dropped too, which costs the
    square of the number of terms per round. The result is short, not always the shortest: that is
    an NP-hard question.
    """
    # Nodes whose leaves all belong, or all do not.
    yes, no = chosen & tree.is_leaf, ~chosen & tree.is_leaf
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.n_children[node]:
            below = tree.children(node)
            yes[node], no[node] = bool(yes[below].all()), bool(no[below].all())
    small = cut(tree.at(value=yes[:, None]), yes | no)
    union = [
        term
        for leaf, terms in leaf_terms(small, n_levels).items()
        if small.value[leaf, 0]
        for term in terms
    ]
    union = merge(union, n_levels)
    if len(union) <= _PAIRWISE:
        union = widen(union, n_levels)
    return sorted(union, key=lambda term: [(j, c.low, c.high) for j, c in sorted(term.items())])


@dataclass(frozen=True, eq=False)
class DNF:
    """A class as "this and that, or that and that": the union of some boxes.

    Attributes
    ----------
    label : object
        The class.
    terms : tuple of dict
        Conditions by the number of their column; a row is in the class if it passes all conditions
        of any term.
    wording : Wording
        Names of columns and levels.

    See Also
    --------
    bottega.tree.TreeClassifier.dnf : makes it.
    """

    label: Any
    terms: tuple[Mapping[int, Condition], ...]
    wording: Wording
    model: Any

    def holds(self, X: Any) -> BoolArray:
        """Return which rows are in the class: the same as ``model.predict(X) == label``."""
        matrix = self.model.columns_in_.read(self.model, X)
        found = np.zeros(len(matrix), dtype=bool)
        for term in self.terms:
            passes = np.ones(len(matrix), dtype=bool)
            for j, condition in term.items():
                passes &= condition.holds(matrix[:, j])
            found |= passes
        return found

    def __len__(self) -> int:
        return len(self.terms)

    def __str__(self) -> str:
        if not self.terms:
            return f"{self.label}: never"
        lines = [self.wording.term(dict(term)) for term in self.terms]
        return f"{self.label}:\n     " + "\n  or ".join(lines)

    def __repr__(self) -> str:
        return f"<DNF of {self.label!r} with {len(self.terms)} terms>"
