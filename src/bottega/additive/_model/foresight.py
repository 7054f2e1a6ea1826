"""One pass for bins and products: the columns of the design are guessed before all rows are seen.

The columns of a smooth term follow from the range of its input and, where rows crowd in a part of
it, from the weights of the bins. A sample of the rows mostly tells which it is. So the pass that
weighs the bins also sums the products of the columns before their constraints are absorbed, and the
rows are passed over once more only where other columns come out. Where files tell the ranges of
their columns, the first chunk is the sample, and no other pass comes before.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.additive._penalized.bins import Binning, Ranges
from bottega.additive._penalized.design import Design, is_scalar
from bottega.additive._penalized.gaussian import DesignProducts, ResponseUnits, squares_of
from bottega.additive._penalized.problem import Pass
from bottega.additive._terms.bases import CurveBasis, PlateBasis
from bottega.additive._terms.blocks import Block
from bottega.additive._terms.build import Building, build_blocks
from bottega.additive._terms.facts import ColumnFacts
from bottega.additive._terms.resolve import PlacedTerm
from bottega.additive._terms.sums import RowSums, binned_sets
from bottega.basis.spline_functions import even_knots
from bottega.core.added_sums import AddedSums
from bottega.core.errors import BottegaError, DataWarning
from bottega.core.typing import FloatArray
from bottega.data.mixed_inputs import MixedInputs

__all__ = ["BinnedProducts", "Foresight"]


class _WantsRows(Exception):
    """A block is built from sums over all rows."""


def _refuse_pass(_: Any) -> Any:
    raise _WantsRows


@dataclass
class BinnedProducts:
    """The bins of a block of rows, and its products with the raw columns; mergeable."""

    binning: Binning
    found: Pass

    def merge(self, other: Self) -> Self:
        """Take in what another block of rows gave."""
        self.binning.merge(other.binning)
        self.found = self.found.merge(other.found)
        return self


class Foresight:
    """The columns that a least squares fit will probably have.

    Parameters
    ----------
    binning : Binning
        Bins without rows.
    design : Design
        The guessed columns, before constraints are absorbed.
    scale : ResponseUnits
        What responses are standardised by.
    """

    def __init__(self, binning: Binning, design: Design, scale: ResponseUnits) -> None:
        self.binning, self.design, self.scale = binning, design, scale
        self.found: Pass | None = None

    @classmethod
    def of(
        cls,
        terms: Sequence[PlacedTerm],
        inputs: MixedInputs,
        facts: Sequence[ColumnFacts],
        ranges: Ranges,
        n_splines: int,
        scale: ResponseUnits,
    ) -> Self | None:
        """Return the columns that terms will probably have; None where that is not to be told."""
        wanted = binned_sets(terms)
        if any(placed.term.word == "offset" for placed in terms) or any(
            len(columns) > 1 for columns in wanted
        ):
            return None
        binning = Binning(ranges, wanted)
        guess = binning.guessed(ranges)
        sums = RowSums(_refuse_pass, guess)
        try:
            with warnings.catch_warnings():  # what there is to say is said of the rows themselves
                warnings.simplefilter("ignore", DataWarning)
                about = Building(inputs, facts, sums.gram, sums.points, n_splines)
                blocks = build_blocks(terms, about)
        except (BottegaError, _WantsRows):
            return None
        if not all(map(_is_certain, blocks)):
            return None
        return cls(binning, Design(blocks, guess).raw(), scale)

    def of_rows(self, X: FloatArray, y: FloatArray, w: FloatArray | None) -> BinnedProducts:
        """Return bins and products of a block of rows."""
        binning = self.binning.like()
        codes = binning.taken(X, w)
        standard = (y - self.scale.middle) / self.scale.unit
        return BinnedProducts(
            binning, squares_of(self.design, self.design.coded(codes, X, standard, w))
        )

    @property
    def follows_from_ranges(self) -> bool:
        """Whether the columns are the same for all rows with the same ranges.

        Those of a line are about the mean of all rows, and points may stand at their quantiles.
        """
        axes = (axis for axes in self.binning.axes.values() for axis in axes)
        margins = (margin for block in self.design.blocks for margin in block.margins)
        return all(axis.rounding != "nearest" for axis in axes) and not any(map(is_scalar, margins))

    def has_bins_of(self, ranges: Ranges) -> bool:
        """Return True if rows of some ranges are rounded to the points that were guessed."""
        return all(
            mine.rounding == theirs.rounding and np.array_equal(mine.points, theirs.points)
            for columns, axes in self.binning.axes.items()
            for mine, theirs in zip(axes, ranges.axes(columns), strict=True)
        )

    def products(self, design: Design) -> DesignProducts | None:
        """Return the products with the columns of a design, if they were foreseen."""
        if self.found is None or not design.has_columns_of(self.design):
            return None
        deviance, pull, gram = self.found.sums.values
        sums = AddedSums((deviance, *design.absorbed(pull, gram)))
        return DesignProducts(self.scale, Pass(sums, self.found.counts))


def _is_certain(block: Block) -> bool:
    """Return True if the columns of a block do not depend on the weights of bins."""
    for margin in block.margins:
        basis = margin.basis
        if isinstance(basis, PlateBasis) or margin.transform is not None:
            return False
        if isinstance(basis, CurveBasis):
            even = even_knots(0.0, 1.0, basis.size, basis.degree)
            if not np.array_equal(basis.knots, even):
                return False
    return True
