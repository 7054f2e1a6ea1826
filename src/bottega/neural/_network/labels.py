"""What networks that classify share."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from bottega.core.classes import check_classes, decided
from bottega.core.errors import InputError
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.neural._network.estimator import Network

__all__ = ["LabelNetwork"]


class LabelNetwork(ClassifierMixin, Network):
    """A network whose outputs are class probabilities."""

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        rows = super()._read(X, y, sample_weight)
        check_classes(self.classes_)
        before = getattr(self, "_earlier", {}).get("classes_", self.classes_)
        if not np.array_equal(before, self.classes_):
            raise InputError(
                "warm_start can only be used where `y` has the same classes as in the previous "
                f"call to fit. Previously got {before}, `y` has {self.classes_}."
            )
        return rows

    def predict(self, X: Any) -> Array:
        """Return the most probable class for each row, image or sequence of X."""
        probabilities = self.predict_proba(X)
        return self.classes_[decided(probabilities)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class probabilities, one column per class in the order of ``classes_``."""
        return self._outputs(self._check_new(X))
