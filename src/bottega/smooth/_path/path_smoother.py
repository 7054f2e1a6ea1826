"""What all linear smoothers of this topic share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from bottega.core.linear_smoother import LinearSmoother
from bottega.core.rows import Rows
from bottega.core.smoother import Smoother
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray
from bottega.smooth._path.in_range import InRange


class PathSmoother(LinearSmoother, RegressorMixin, InRange, Tuned):
    """A linear smoother with a knob, whose path is judged by leaving out one row at a time."""

    _least_rows: ClassVar[int] = 2

    @abstractmethod
    def _curves(self, work: Any, values: Sequence[Any], X_new: FloatArray) -> Array:
        """Return the fits with some values of the knob at checked inputs, one column per value."""

    def _predictions(
        self, work: Any, settings: Sequence[Mapping[str, Any]], X_new: FloatArray, method: str
    ) -> Array:
        return self._curves(work, [setting[self.knob] for setting in settings], X_new)

    @property
    def _pull(self) -> Any:
        """The weights of the rows that count, or one for all."""
        weight = self.smoother_.weight
        return 1.0 if weight is None else weight[weight > 0]

    def _keep_smoother(
        self,
        rows: Rows,
        fitted: FloatArray,
        leverage: FloatArray,
        trace_sst: float | None,
        df: float = np.nan,
    ) -> None:
        self.smoother_ = Smoother(
            rows.y, fitted, leverage, df, rows.weight, trace_sst, self._path_scale
        )
