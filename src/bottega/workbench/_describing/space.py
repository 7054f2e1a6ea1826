"""The number columns as the space that clusters and outliers are sought in."""

from dataclasses import dataclass, field

import numpy as np

from bottega.core.typing import FloatArray, IntArray
from bottega.latent import PCA
from bottega.workbench._describing.filling import Filling
from bottega.workbench._describing.inputs import DescribedInputs

__all__ = ["NumberSpace"]

_MOST = 15  # columns that a mixture is fitted to; beyond them, components of them
_SHARE = 0.9  # of the variance that these components must have
_FAR = 6.0  # standard deviations


@dataclass(frozen=True)
class NumberSpace:
    """The numbers that a density can describe, in standard units.

    Attributes
    ----------
    columns : tuple of str
        Their names.
    values : ndarray of shape (n, p)
        Missing ones are NaN.
    axes : PCA or None
        Components that stand for the columns where these are many.
    filling : Filling or None
        What fills gaps before the components are taken.
    """

    columns: tuple[str, ...]
    values: FloatArray = field(repr=False)
    axes: PCA | None = field(repr=False)
    filling: Filling | None = field(repr=False)

    @classmethod
    def of(cls, inputs: DescribedInputs, rows: IntArray) -> "NumberSpace | None":
        """Return the space of a table; None if it has no such numbers."""
        values = inputs.numbers()
        if not values.shape[1]:
            return None
        if values.shape[1] <= _MOST:
            return cls(inputs.dense, values, None, None)
        part = np.clip(values[rows], -_FAR, _FAR)
        filling = Filling.of(part)
        part = filling.fill(part)
        axes = PCA(min(_MOST, len(part) - 1)).fit(part)
        reached = np.cumsum(axes.explained_variance_ratio_)
        enough = int(np.searchsorted(reached, _SHARE)) + 1
        if enough < axes.n_components_:
            axes = PCA(max(enough, 2)).fit(part)
        return cls(inputs.dense, values, axes, filling)

    def points(self) -> FloatArray:
        """Return the rows as a mixture takes them: few columns, nothing farther than 6."""
        found = np.clip(self.values, -_FAR, _FAR)
        if self.axes is None or self.filling is None:
            return found
        scores = self.axes.transform(self.filling.fill(found))
        return np.asarray(scores) / np.sqrt(self.axes.explained_variance_[0])
