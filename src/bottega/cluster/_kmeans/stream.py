"""K-means over a stream: centres as running means of the batches so far."""

from typing import Any, Self

import numpy as np

from bottega.cluster._kmeans.lloyd import Clustering
from bottega.cluster._kmeans.minibatch import batch_step
from bottega.cluster._kmeans.source import ArraySource
from bottega.core.errors import InputError
from bottega.core.estimator import Estimator
from bottega.core.rows import Rows, check_weight
from bottega.core.sparse import is_sparse

__all__ = ["CenterStream"]


class CenterStream(Estimator):
    """Gives k-means its `partial_fit`."""

    n_clusters: Any
    norm: Any
    standardize: bool
    device: str | None
    n_steps_: int
    _centers: Any
    _row_map: Any
    _mass: Any
    _keep: Any

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Move the centres by one batch of rows.

        The first batch gives the start, so it needs at least `n_clusters` rows; the more it has,
        the better. Each centre is the mean of all rows that it was ever given.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        y : None
            Ignored.
        sample_weight : array-like of shape (m,), optional
            Row weights.

        Returns
        -------
        Self
            With ``labels_`` and ``inertia_`` those of the batch.
        """
        self._check_params()
        if isinstance(self.n_clusters, str) or self.norm == 1 or self.standardize:
            raise InputError(
                "A stream needs a number for n_clusters, means for centres (norm=2 or 'cosine') "
                "and columns as they are (standardize=False): the rows to come are not known."
            )
        if self.device is not None:
            raise InputError(
                f"partial_fit runs on this processor; got device={self.device!r}: leave it None."
            )
        X = X.toarray() if is_sparse(X) else X
        first = not hasattr(self, "_mass")
        if first:
            self._forget()
            rows = self._read(X, None, sample_weight)
            work: Any = self._prepare(rows)
            centers = work.start(int(self.n_clusters))
            self._row_map, self._mass, self.n_steps_ = work.row_map, np.zeros(len(centers)), 0
            batch = work.source
        else:
            centers = self._centers
            X = self._check_new(X)
            rows = Rows.of(X, None, check_weight(sample_weight, len(X)))
            batch = ArraySource(self._row_map.to(rows.X), rows.weight)
        sphere = self.norm == "cosine"
        moved, mass, label, far = batch_step(batch, centers, self._mass, sphere)
        total = float(batch.w @ far if len(batch.w) else far.sum()) / (2 if sphere else 1)
        steps = self.n_steps_ + 1
        self._keep(Clustering(moved, label, total, steps, True), self._row_map)
        self._mass, self.n_steps_ = mass, steps
        if rows.given is not None:
            self._restore(rows)
        return self
