"""What governs the growth and the removal of the terms of adaptive splines."""

import math
from dataclasses import dataclass

from bottega.core.typing import FloatArray

_ALPHA = 0.05  # chance of a run of noise in one direction that the spans should not follow


@dataclass(frozen=True)
class GrowthSettings:
    """How terms are grown and counted.

    Attributes
    ----------
    max_terms : int, optional
        Most terms grown, the intercept among them; None: twice the columns, at least 20 and at most
        200, and one.
    degree : int
        Most inputs in a product.
    threshold : float
        Growth stops when a step raises R squared by less, or when R squared is within it of one.
    minspan, endspan : int, optional
        Rows from one knot to the next, and beyond the outermost ones; None: Friedman's rules. A
        row counts as often as its weight says, where all weights are whole numbers.
    endspan_factor : float
        How many times larger `endspan` is in products.
    fast_k : int
        Parents looked at in each step (0: all); the others wait until their turn comes.
    fast_beta : float
        By how many places of the queue a step of waiting moves a parent up.
    penalty : float, optional
        Degrees of freedom that each knot counts for in GCV; None: 2 for degree 1, 3 beyond.
    linear : tuple of int
        Columns that enter without knots.
    rounds : int
        How often terms are grown and removed: each further round grows on from the terms that were
        kept, and ends the search if GCV does not fall.
    """

    max_terms: int | None = None
    degree: int = 1
    threshold: float = 0.001
    minspan: int | None = None
    endspan: int | None = None
    endspan_factor: float = 2.0
    fast_k: int = 20
    fast_beta: float = 1.0
    penalty: float | None = None
    linear: tuple[int, ...] = ()
    rounds: int = 1

    def most_terms(self, n_columns: int) -> int:
        """Return how many terms may be grown from so many columns."""
        if self.max_terms is not None:
            return self.max_terms
        return min(200, max(20, 2 * n_columns)) + 1

    @property
    def knot_cost(self) -> float:
        """Return the degrees of freedom that a knot counts for."""
        if self.penalty is not None:
            return self.penalty
        return 2.0 if self.degree == 1 else 3.0

    def spacing(self, n_rows: float, n_columns: int) -> float:
        """Return how many rows of a parent lie from knot to knot."""
        if self.minspan is not None:
            return max(float(self.minspan), 1.0)
        trials = max(n_columns * n_rows, 1.0)
        return max(math.floor(-math.log2(-math.log1p(-_ALPHA) / trials) / 2.5), 1.0)

    def margin(self, n_columns: int, *, product: bool) -> float:
        """Return how many rows of a parent lie beyond the outermost knots."""
        if self.endspan is None:
            rows = math.floor(3.0 - math.log2(_ALPHA / n_columns))
        else:
            rows = self.endspan
        return max(rows * (self.endspan_factor if product else 1.0), 1.0)

    def effective_terms(self, n_terms: FloatArray) -> FloatArray:
        """Return the degrees of freedom that GCV counts for a model of so many terms."""
        return n_terms + self.knot_cost * (n_terms - 1) / 2
