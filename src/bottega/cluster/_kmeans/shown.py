"""What k-means shows: its centres as a table, rows in the plane, and the way of the centres."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bottega.cluster._kmeans.problem import nearest
from bottega.cluster._shown import places_of
from bottega.core.errors import ParameterError
from bottega.core.estimator import Estimator
from bottega.core.results import term_names
from bottega.core.rows import Rows
from bottega.core.sparse import small_as_dense
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray

__all__ = ["ShownCenters"]


class ShownCenters(Estimator):
    """Gives k-means its `summary`, `plot`, `steps` and `plot_steps`."""

    n_clusters: Any
    norm: Any
    n_clusters_: int
    cluster_centers_: FloatArray
    inertia_: float
    n_iter_: int
    converged_: bool
    predict: Any

    def summary(self) -> Summary:
        """Return the centres as a table that shows itself as text, HTML and Markdown."""
        check_is_fitted(self)
        columns: dict[str, Any] = {"cluster": [str(k) for k in range(self.n_clusters_)]}
        labels = getattr(self, "labels_", None)
        if labels is not None:
            columns["rows"] = np.bincount(labels, minlength=self.n_clusters_).tolist()
        for j, name in enumerate(term_names(self, intercept=False)):
            columns[f"centre {name}"] = self.cluster_centers_[:, j].tolist()
        notes = (
            f"inertia {self.inertia_:.6g}, {self.n_iter_} passes over the rows, "
            f"{'converged' if self.converged_ else 'not converged'}",
        )
        return Summary("K-means", (Section("", columns),), notes)

    def plot(self, X: Any, *, columns: tuple[Any, Any] = (0, 1)) -> Any:
        """Draw rows in a plane of two columns, coloured by cluster, with the centres.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Rows.
        columns : pair of int or str
            Columns to draw.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import clusters_chart

        rows = self._check_new(X)
        places, names = places_of(self, columns)
        centers = self.cluster_centers_[:, places]
        return clusters_chart(
            small_as_dense(rows[:, places]), self.predict(X), centers=centers, names=names
        )

    def steps(self, X: Any, sample_weight: Any = None) -> list[FloatArray]:
        """Return the centres before each pass of Lloyd's algorithm, from its first start on.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Rows to cluster, with `n_clusters` of the parameters, or of the fit.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        list of ndarray of shape (K, p)
            `plot_steps` draws them.
        """
        K, worker, rows = self._worker(X, sample_weight)
        found: list[FloatArray] = worker._prepare(rows).steps(K)
        return found

    def _worker(self, X: Any, sample_weight: Any) -> tuple[int, Any, Rows]:
        """Return the number of clusters, an estimator like this one, and the rows, checked."""
        worker = clone(self)
        worker._check_params()
        if self.norm == 1:
            raise ParameterError("The steps of means are shown, and norm=1 has medians.")
        K = self.n_clusters_ if hasattr(self, "n_clusters_") else self.n_clusters
        if isinstance(K, str):
            raise ParameterError("n_clusters='auto' is known after the fit: fit first.")
        return int(K), worker, worker._read(X, None, sample_weight)

    def plot_steps(self, X: Any, *, columns: tuple[Any, Any] = (0, 1), panels: int = 6) -> Any:
        """Draw the centres step by step, from the first start to the end.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Rows to cluster, as `steps` takes them.
        columns : pair of int or str
            Columns to draw.
        panels : int
            How many steps are shown, more closely at the beginning.

        Returns
        -------
        altair.FacetChart
            The chart.
        """
        from bottega.plot import cluster_steps_chart

        K, worker, rows = self._worker(X, None)
        work = worker._prepare(rows)
        places, names = places_of(worker, columns)
        steps = work.steps(K)
        return cluster_steps_chart(
            small_as_dense(rows.X[:, places]),
            [centers[:, places] for centers in steps],
            labels=[nearest(work.source.X, work.row_map.to(each), self.norm)[0] for each in steps],
            names=names,
            most=panels,
        )
