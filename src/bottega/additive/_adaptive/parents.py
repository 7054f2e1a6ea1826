"""Terms that others may be multiplied onto, and what their best children are worth."""

import numpy as np

from bottega.additive._adaptive.basis import Term
from bottega.additive._adaptive.binned import BinnedInputs
from bottega.additive._adaptive.settings import GrowthSettings
from bottega.additive._adaptive.span import Span
from bottega.additive._kernels.adaptive_knots import search_knots
from bottega.additive._kernels.adaptive_levels import search_levels
from bottega.additive._kernels.adaptive_start import start_knots
from bottega.core.typing import BoolArray, FloatArray, IntArray

LINE_ONLY, NOTHING = -1, -2  # what is found in place of a knot


class Parent:
    """One term, with the sums that give the worth of its knots in every input it may be joined to.

    Attributes
    ----------
    position : int
        Its place among the terms.
    gain : FloatArray
        For each input, by how much its best child would lower the squared residuals, when last
        looked at.
    knot : IntArray
        The bin of that child's knot, or `LINE_ONLY`, or `NOTHING`.
    subset : dict
        Levels of that child, for inputs that are categories.
    step : int
        When it was last looked at.
    """

    def __init__(
        self,
        position: int,
        term: Term,
        column: FloatArray,
        root: FloatArray,
        mass: FloatArray,
        columns: BinnedInputs,
        settings: GrowthSettings,
    ) -> None:
        p = len(columns.n_bins)
        self.position, self.term = position, term
        self.rows = np.flatnonzero(column).astype(np.int32)
        self.g = (column * root)[self.rows]
        self.gain, self.knot = np.zeros(p), np.full(p, NOTHING)
        self.subset: dict[int, BoolArray] = {}
        self.levels: dict[int, tuple[FloatArray, FloatArray]] = {}  # sums over the rows of each
        self.step = -1
        free = np.ones(p, dtype=bool)
        free[list(term.variables)] = False
        self.numbers = np.flatnonzero(free & ~columns.categorical)
        self.categories = np.flatnonzero(free & columns.categorical)
        self.spacing = settings.spacing(float(mass[self.rows].sum()), p)
        self.margin = settings.margin(p, product=term.degree > 0)
        # A knot must pay, beyond a line, what GCV charges for a term: two for each of its degrees.
        self.price = 2.0 * (1.0 + settings.knot_cost / 2) / float(mass.sum())
        self.seen = 0  # columns of the span that the sums have taken in
        self.state = np.empty((p, 4, columns.edge.shape[1]))
        self.own = np.empty((p, 5))
        self.split = np.empty(p, dtype=np.int64)
        self.linear = settings.linear

    @property
    def best(self) -> float:
        """What its best child is worth; not known before it was looked at."""
        return np.inf if self.step < 0 else float(self.gain.max())

    def start(self, columns: BinnedInputs, mass: FloatArray, variables: IntArray) -> None:
        """Sum up what does not depend on the other terms."""
        start_knots(
            self.rows, self.g, mass, columns.x, columns.code, columns.edge, columns.n_bins,
            variables, self.spacing, self.margin, self.state, self.own, self.split,
        )  # fmt: skip
        for j in set(self.linear) & set(variables.tolist()):
            self.state[j, 3] = -1.0

    def search(
        self, columns: BinnedInputs, span: Span, mass: FloatArray, variables: IntArray
    ) -> None:
        """Find the best child in some inputs, given the terms so far."""
        numbers = variables[~columns.categorical[variables]]
        found = np.zeros((len(self.gain), 3))
        if len(numbers):
            if self.seen == 0:
                self.start(columns, mass, numbers)
            search_knots(
                self.rows, self.g, span.Q, self.seen, span.size, span.R, columns.x, columns.code,
                columns.edge, columns.n_bins, columns.exact, numbers, self.state, self.own,
                self.split, span.rss, self.price, found,
            )  # fmt: skip
            self.gain[numbers] = found[numbers, 0]
            self.knot[numbers] = found[numbers, 1]
        for j in variables[columns.categorical[variables]]:
            self._search_levels(columns, span, int(j))

    def _search_levels(self, columns: BinnedInputs, span: Span, j: int) -> None:
        n_levels = int(columns.n_bins[j])
        chosen = np.zeros(n_levels, dtype=np.bool_)
        if self.seen == 0:
            self.levels[j] = np.zeros(n_levels + 1), np.zeros((n_levels + 1, len(span.Q)))
        self.gain[j], with_missing = search_levels(
            self.rows, self.g, span.Q, self.seen, span.size, span.R, columns.code[j], n_levels,
            *self.levels[j], chosen,
        )  # fmt: skip
        self.subset[j] = chosen
        found = LINE_ONLY if with_missing > 0.0 else NOTHING
        self.knot[j] = 0 if chosen.any() else found
