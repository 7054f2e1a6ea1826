"""Methods without responses that have a knob: judged by what they lose on rows held out."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bottega.core._losses.base import Loss
from bottega.core.errors import ParameterError
from bottega.core.estimator import Walk
from bottega.core.path import Path
from bottega.core.rows import Rows
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray

__all__ = ["Unsupervised"]


class Unsupervised(Tuned):
    """An estimator with a knob and without responses.

    A subclass names the loss of one row in words (`row_loss`: the minus log-likelihood, a squared
    reconstruction error) and gives it by `_row_losses`; folds then judge its path by rows that they
    hold out, as they judge a regression. Criteria that need nothing held out (``bic``) are columns
    of the path as everywhere. A method that holds out something other than rows overrides `_judge`.
    """

    row_loss: ClassVar[str]

    @abstractmethod
    def _row_losses(self, X: Any) -> FloatArray:
        """Return what each row of checked inputs costs under the fitted model."""

    def _own_loss(self, work: Any) -> Loss | None:
        return _LossOfRows(self.row_loss)

    def _curve(self, work: Any, rows: Rows | None, walk: Walk, honest: bool = True) -> Path:
        if walk.loss is not None:
            raise ParameterError(
                f"{type(self).__name__} has no responses, so loss={walk.loss!r} cannot judge it; "
                f"its paths are judged by the {self.row_loss}."
            )
        return super()._curve(work, rows, walk, honest)


@dataclass(frozen=True, repr=False)
class _LossOfRows(Loss):
    """The loss of each row under the fitted model itself: there is no response to compare with."""

    title: str  # type: ignore[misc]

    name, labels, task = "own", "any", None
    method = "_row_losses"

    def of_rows(self, y: Any, predicted: Any) -> FloatArray:
        return np.asarray(predicted, dtype=np.float64)

    def _value(self, y: Array, z: Array) -> Array:
        return z
