"""What fitted centres say of rows: their clusters, distances and losses."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from bottega.cluster._kmeans.distances import distances_to
from bottega.cluster._kmeans.problem import RowMap, nearest
from bottega.cluster._kmeans.sparse import by_parts
from bottega.core.estimator import Estimator
from bottega.core.rows import check_weight
from bottega.core.typing import Array, FloatArray

__all__ = ["CenterAnswers"]


class CenterAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Gives k-means its answers about new rows."""

    norm: Any
    cluster_centers_: FloatArray
    _row_map: RowMap
    _centers: FloatArray

    @property
    def _loss_unit(self) -> float:
        """What losses are to be multiplied by to be in the units of the data."""
        return float(self._row_map.unit ** (1 if self.norm == 1 else 2))

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _row_losses(self, X: Any) -> FloatArray:
        return self._nearest(X)[1] * self._loss_unit

    def _nearest(self, X: Any) -> tuple[Array, FloatArray]:
        return self._nearest_of(self._check_new(X))

    def _nearest_of(self, checked: Any) -> tuple[Array, FloatArray]:
        label, far = by_parts(
            checked, lambda part: nearest(self._row_map.to(part), self._centers, self.norm)
        )
        return label, far

    def predict(self, X: Any) -> Array:
        """Return the cluster of each row: its nearest centre, the first among equals.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (m, p)
            Inputs.
        """
        return self._nearest(X)[0]

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row to each centre.

        Euclidean, a sum of absolute differences, or one less the cosine, as `norm` says.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (m, p)
            Inputs.
        """
        (found,) = by_parts(
            self._check_new(X),
            lambda part: (distances_to(self._row_map.to(part), self._centers, self.norm),),
        )
        return np.asarray(found * self._row_map.unit)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the objective of rows: minus their weighted sum of squared distances."""
        losses = self._row_losses(X)
        weight = check_weight(sample_weight, len(losses))
        return -float(losses.sum() if weight is None else weight @ losses)
