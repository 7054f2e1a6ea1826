"""Growth: terms are added where they lower the squares of the residuals most."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from bottega.additive._adaptive.backward import gcv_of, power_of_two
from bottega.additive._adaptive.basis import HINGE, LINE, MISSING, SUBSET, Basis, Factor, Term
from bottega.additive._adaptive.binned import BinnedInputs, binned
from bottega.additive._adaptive.charges import cost_of_sets
from bottega.additive._adaptive.parents import LINE_ONLY, Parent
from bottega.additive._adaptive.refine import refined
from bottega.additive._adaptive.settings import GrowthSettings
from bottega.additive._adaptive.span import Span
from bottega.additive._kernels.adaptive_knots import TIED
from bottega.core import progress
from bottega.core.parallel import in_threads, spare_threads
from bottega.core.rows import are_counts
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray, IntArray

Residual = Callable[[FloatArray], FloatArray]

_WORST = -10.0  # generalised R squared at which the criterion has lost its meaning
_OWN = 1e-4  # share of a hinge to the right, squared, that lies outside the span; else its mirror
_STEPS = 2.0**30  # of the share of a row
_THREADED = 500_000  # rows times inputs; less is over before threads have started


@dataclass(frozen=True, eq=False)
class Growth:
    """What growth has found.

    Attributes
    ----------
    basis : Basis
        The terms in the order in which they came in, the intercept first.
    matrix : ndarray of shape (n, M)
        The terms at the rows, ``basis.matrix(X)``.
    n_terms, rss : ndarray of shape (steps + 1,)
        Terms after each step, and the weighted sum of squared residuals over all responses.
    gains : ndarray of shape (M,)
        By how much the step that brought a term in lowered it (0 for the intercept).
    searched : ndarray of shape (p,)
        Levels of each category that sets of them were looked for in; 0 for numbers.
    stopped : str
        Why growth ended, in words.
    """

    basis: Basis
    matrix: FloatArray
    n_terms: IntArray
    rss: FloatArray
    gains: FloatArray
    searched: IntArray
    stopped: str


def grow(
    X: FloatArray,
    Y: FloatArray,
    weight: FloatArray | None,
    settings: GrowthSettings,
    *,
    n_levels: IntArray | None = None,
    residual: Residual | None = None,
    start: Basis | None = None,
) -> Growth:
    """Return the terms that lower the squared residuals of all responses together.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Numbers, codes from 0 in the columns of categories, NaN where a value is missing.
    Y : ndarray of shape (n, q) or (n,)
        Responses.
    weight : ndarray of shape (n,), optional
        Positive weights of the rows.
    settings : GrowthSettings
        How far to grow.
    n_levels : ndarray of shape (p,), optional
        Levels of each category, 0 for numbers.
    residual : callable, optional
        Given the terms so far at the rows (n, m), it returns what is left of the responses, (n, q),
        orthogonal to the terms under the weights: the scores y - mu of a likelihood fit make growth
        lower a quadratic approximation of the deviance (with the curvature that bounds it). Without
        it, the residuals of least squares.
    start : Basis, optional
        Terms that are there from the start, the intercept first.

    Notes
    -----
    A step looks at every input for each of `fast_k` parents, O(n) for each pair: the sums of the
    earlier steps are kept, so that only the new columns are summed up. A new parent costs O(n m)
    for each input. Knots are first looked for among 512 quantiles of an input (fewer, if there are
    very many inputs), and the best of them is then moved among the values about it. The levels of
    a category that have fewer than 5 rows are in a set together, or none of them is.

    Examples
    --------
    >>> x = np.linspace(0, 1, 101)
    >>> grown = grow(x[:, None], np.abs(x - 0.5), None, GrowthSettings(minspan=1))
    >>> [(factor.knot, factor.sign) for term in grown.basis for factor in term.factors]
    [(0.5, 1), (0.5, -1)]
    """
    n, p = X.shape
    levels = np.zeros(p, dtype=np.int64) if n_levels is None else np.asarray(n_levels)
    with one_thread():  # the products are short, and the searches have threads of their own
        grower = _HingeGrower(X, Y.reshape(n, -1), weight, settings, levels, residual)
        if start is not None:
            grower.resume(start)
        return grower.run()


class _HingeGrower:
    """The terms so far, the space they span and their queue as parents."""

    def __init__(
        self,
        X: FloatArray,
        Y: FloatArray,
        weight: FloatArray | None,
        settings: GrowthSettings,
        n_levels: IntArray,
        residual: Residual | None,
    ) -> None:
        n, p = X.shape
        self.X, self.settings, self.residual = X, settings, residual
        self.most = settings.most_terms(p)
        weight = np.ones(n) if weight is None else weight
        self.mass = _mass(weight)
        unit = power_of_two(float(weight.max()))
        weight = weight / unit
        self.root, self.weight_unit = np.sqrt(weight), unit
        n_parents = self.most if settings.degree > 1 else 1
        self.columns: BinnedInputs = binned(X, self.mass, n_levels, n_parents)
        self.searched = _levels_searched(self.columns)
        self.worth = _worth(self.searched, settings)
        self.unit = power_of_two(float(np.abs(Y).max(initial=0.0)))
        centred = Y / self.unit
        centred -= weight @ centred / weight.sum()
        self.span = Span((centred * self.root[:, None]).T, min(self.most + 2, n))
        self.terms = [Term()]
        self.B: FloatArray = np.empty((n, self.most), order="F")
        self.B[:, 0] = 1.0
        self.span.add(self.root)
        self._look_again()
        self.parents: list[Parent] = []
        self._adopt(0)
        self.gains, self.n_terms, self.rss = [0.0], [1], [self.span.rss]

    def run(self) -> Growth:
        stopped = ""
        while not stopped:
            stopped = self._step()
            progress.report("terms", len(self.terms), self.most)
        with np.errstate(over="ignore"):
            return Growth(
                Basis(tuple(self.terms), self.columns.fill),
                self.B[:, : len(self.terms)],
                np.array(self.n_terms),
                np.array(self.rss) * self.weight_unit * self.unit * self.unit,
                np.array(self.gains) * self.weight_unit * self.unit * self.unit,
                self.searched,
                stopped,
            )

    def _step(self) -> str:
        """Add the best terms there are; return why no more should be, or nothing."""
        total, rss, threshold = self.rss[0], self.rss[-1], self.settings.threshold
        if len(self.terms) >= self.most:
            return "the most terms allowed were grown"
        if total <= 0.0 or rss <= max(threshold, 1e-12) * total:
            return "the terms reproduce the responses"
        self._search()
        size, R = self.span.size, self.span.R.copy()
        factors: list[Factor] = []
        while not factors:  # what rounding has promised may lie in the span
            parent, j = self._best()
            gain = float(parent.gain[j])
            if gain < max(threshold, 1e-12) * total:
                return "no further term raises R squared by the threshold"
            factors = self._factors(parent, j)
            if not factors:
                parent.gain[j] = 0.0
        if len(self.terms) + len(factors) > self.most:
            self.span.size, self.span.R = size, R
            return "the most terms allowed were grown"
        for factor in factors:
            column = self.B[:, parent.position] * factor.values(self.X[:, factor.variable])
            self._append(parent.term.times(factor), column, gain)
        self._look_again()
        self.n_terms.append(len(self.terms))
        self.rss.append(self.span.rss)
        df = self.settings.effective_terms(np.array([1.0, float(len(self.terms))]))
        first, last = gcv_of(np.array([total, self.rss[-1]]), df, float(self.mass.sum()))
        if 1.0 - last / first < _WORST:
            return "the terms are too many for the rows"
        return ""

    def _look_again(self) -> None:
        """Take the residuals from the fit that was asked for."""
        if self.residual is not None:
            R = self.residual(self.B[:, : len(self.terms)]).reshape(len(self.X), -1)
            self.span.leave((R / self.unit * self.root[:, None]).T)

    def _search(self) -> None:
        step = len(self.rss)
        chosen = self._turn(step)
        threads = spare_threads()
        tasks = []
        for parent in chosen:
            variables = np.concatenate([parent.numbers, parent.categories])
            parts = threads if len(chosen) < 2 * threads else 1
            tasks += [(parent, part) for part in np.array_split(variables, parts) if len(part)]
        search = partial(_search_part, self.columns, self.span, self.mass)
        work = sum(len(parent.rows) * len(part) for parent, part in tasks)
        if threads > 1 and work >= _THREADED:
            in_threads(search, tasks)
        else:
            for task in tasks:
                search(task)
        for parent in chosen:
            parent.step, parent.seen = step, self.span.size

    def _turn(self, step: int) -> list[Parent]:
        """Return the parents whose turn it is: those that were best, and those that have waited."""
        most = self.settings.fast_k
        if most <= 0 or len(self.parents) <= most:
            return self.parents
        ranked = sorted(self.parents, key=lambda parent: (-parent.best, parent.position))
        places = [
            -np.inf if parent.step < 0 else place - self.settings.fast_beta * (step - parent.step)
            for place, parent in enumerate(ranked)
        ]
        chosen = sorted(range(len(ranked)), key=lambda place: (places[place], place))[:most]
        return sorted((ranked[place] for place in chosen), key=lambda parent: parent.position)

    def _best(self) -> tuple[Parent, int]:
        """Return the best child; of ties the one of the first parent and the first input.

        A set of levels is worth less than it gains where more was searched than for a knot.
        """
        step = len(self.rss)
        looked = [parent for parent in self.parents if parent.step == step]
        gains = np.array([parent.gain for parent in looked]) * self.worth
        at = int(np.argmax(gains >= gains.max() * (1 - TIED)))
        return looked[at // gains.shape[1]], at % gains.shape[1]

    def _factors(self, parent: Parent, j: int) -> list[Factor]:
        """Take the columns of a child into the span, and return the factors that make them."""
        columns, knot = self.columns, int(parent.knot[j])
        g = self.B[:, parent.position] * self.root
        gone = columns.code[j] == columns.n_bins[j]
        factors = []
        if columns.missing[j] and self.span.add(np.where(gone, g, 0.0)):
            factors.append(Factor(j, MISSING))
        if columns.categorical[j]:
            if knot != LINE_ONLY:
                levels = np.flatnonzero(parent.subset[j][columns.pool[j]])
                chosen = Factor(j, SUBSET, levels=tuple(levels.tolist()))
                if self.span.add(np.where(parent.subset[j][columns.code[j] - gone] & ~gone, g, 0)):
                    factors.append(chosen)
            return factors
        scale = float(columns.scale[j])
        line = self.span.add(g * columns.x[j])
        if knot != LINE_ONLY:
            value = self._knot(parent, j, knot, np.where(gone, 0.0, g))
            pair = [Factor(j, HINGE, value, sign, scale) for sign in (1, -1)]
            sides = [g * hinge.values(self.X[:, j]) for hinge in pair]
            # With the line both hinges span the same; the shorter one tells more of the knot.
            shorter = int(sides[1] @ sides[1] < sides[0] @ sides[0])
            if self.span.add(sides[shorter]):
                if line:
                    return [*factors, *pair]
                own = float(self.span.Q[self.span.size - 1] @ sides[0]) ** 2
                return [*factors, pair[0 if own > _OWN * (sides[0] @ sides[0]) else shorter]]
        if line:
            factors.append(Factor(j, LINE, float(columns.least[j]), 0, scale))
        return factors

    def _knot(self, parent: Parent, j: int, at: int, g: FloatArray) -> float:
        """Return the best knot about the one that was found between bins."""
        columns = self.columns
        if not columns.exact[j]:
            edge = columns.edge[j, : columns.n_bins[j]]
            low = edge[at - 1] if at > 0 else edge[0] - 4.0  # beyond all: the range is 2 at most
            high = edge[at + 1] if at + 1 < len(edge) else edge[-1]
            row = refined(
                self.span,
                g,
                columns.x[j],
                self.mass,
                (float(low), float(edge[at]), float(high)),
                parent.spacing,
                parent.margin,
                leftwards=at < parent.split[j],
            )
            if row is not None:
                return float(self.X[row, j])
        return float(columns.knot[j][at])

    def resume(self, start: Basis) -> None:
        """Take in the terms of an earlier growth."""
        matrix = start.matrix(self.X)
        for k, term in enumerate(start.terms[1 : self.most], start=1):
            if self.span.add(matrix[:, k] * self.root):
                self._append(term, matrix[:, k], 0.0)
        self._look_again()
        self.n_terms.append(len(self.terms))
        self.rss.append(self.span.rss)

    def _append(self, term: Term, column: FloatArray, gain: float) -> None:
        at = len(self.terms)
        self.B[:, at] = column
        self.terms.append(term)
        self.gains.append(gain)
        if term.degree < self.settings.degree:
            self._adopt(at)

    def _adopt(self, at: int) -> None:
        settings, columns = self.settings, self.columns
        self.parents.append(
            Parent(at, self.terms[at], self.B[:, at], self.root, self.mass, columns, settings)
        )


def _levels_searched(columns: BinnedInputs) -> IntArray:
    """Return how many levels with rows each category has, rare ones taken together."""
    found = np.zeros(len(columns.n_bins), dtype=np.intp)
    for j in np.flatnonzero(columns.categorical):
        codes = np.unique(columns.code[j])
        found[j] = np.count_nonzero(codes < columns.n_bins[j])
    return found


def _worth(searched: IntArray, settings: GrowthSettings) -> FloatArray:
    """Return what a gain of each input counts for: as if a set were charged like a pair."""
    half = settings.knot_cost / 2
    sets = [cost_of_sets(1, int(levels), half) if levels > 1 else 1.0 for levels in searched]
    return np.minimum(2 * (1.0 + half) / np.array(sets), 1.0)


def _search_part(
    columns: BinnedInputs, span: Span, mass: FloatArray, task: tuple[Parent, IntArray]
) -> None:
    task[0].search(columns, span, mass, task[1])


def _mass(weight: FloatArray) -> FloatArray:
    """Return how many rows each row counts for: its weight if all are whole, else its share."""
    if are_counts(weight):
        return weight
    # In steps of a power of two: sums are exact, and do not depend on the unit of the weights.
    return np.round(weight * (len(weight) / weight.sum()) * _STEPS) / _STEPS
