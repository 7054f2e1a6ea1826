"""Networks whose inputs are sequences."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.frames import is_frame
from bottega.core.rows import Rows
from bottega.core.typing import Array
from bottega.neural._network.shaped_network import ShapedNetwork
from bottega.neural._sequences.reading import SequenceScale, packed, with_lengths

__all__ = ["SequenceInputs"]


class SequenceInputs(ShapedNetwork):
    """Reads sequences of any form, of any lengths; a row of a table is one of single numbers."""

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        found = packed(X)
        if found is None:
            X, y = super()._check_rows(X, y)
            self.n_channels_, self._of_table = 1, True
            return with_lengths(X), y
        rows, y = super()._check_rows(found[0], y)
        self.n_channels_ = self.n_features_in_ = found[1]
        self._of_table = False
        return rows, y

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        found = packed(X)
        if found is None and not self._of_table and not is_frame(X):
            found = packed([np.asarray(each) for each in X])  # a table: sequences of one length
        if found is None:
            return with_lengths(super()._check_new(X))
        rows, width = found
        if width != self.n_channels_:
            raise InputError(
                f"The steps of X have {width} numbers, and the network was fitted on steps of "
                f"{self.n_channels_}; give the same numbers for each step."
            )
        return rows

    def _learn_inputs(self, rows: Rows) -> SequenceScale:
        return SequenceScale.of(rows.X, self.n_channels_, rows.weight)

    def _arrays(self, X: Any, learned: SequenceScale) -> tuple[Array, ...]:
        return learned.arrays(X)
