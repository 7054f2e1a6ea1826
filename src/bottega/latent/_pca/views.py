"""What a reader sees of fitted components: tables and charts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.frames import is_frame
from bottega.core.results import term_names
from bottega.core.rows import check_weight
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray
from bottega.latent._pca.mapping import ComponentMap
from bottega.latent._pca.number import parallel_limits
from bottega.latent._pca.words import in_words

__all__ = ["ComponentViews"]

_MOST_SHOWN = 20  # components in a summary


class ComponentViews(ComponentMap):
    """Loadings, summary, supplementary columns and charts of an estimator with components."""

    explained_variance_ratio_: FloatArray
    eigenvalues_: FloatArray
    column_variance_: FloatArray
    n_samples_: int
    solver_: str
    standardize: bool
    _total_variance: float

    def _names(self) -> list[str]:
        return term_names(self, intercept=False)

    def _titles(self) -> list[str]:
        return [f"PC{k + 1}" for k in range(self.n_components_)]

    def loadings(self, kind: str = "vector") -> Any:
        """Return what each column has to do with each component.

        Parameters
        ----------
        kind : {"vector", "correlation"}
            Entries of the unit vectors (`components_`), or correlations of the columns with the
            components, whose squares are the shares of a column's variance.

        Returns
        -------
        data frame
            One row per column: ``term, PC1, PC2, ...``.
        """
        check_is_fitted(self)
        if kind not in ("vector", "correlation"):
            raise InputError(f"kind={kind!r} is not allowed; use 'vector' or 'correlation'.")
        values = self.components_.T
        if kind == "correlation":
            spread = np.sqrt(self.column_variance_)
            spread = np.where(spread > 0, spread, np.inf)
            values = values * np.sqrt(self.explained_variance_) / spread[:, None]
        columns = dict(zip(self._titles(), values.T, strict=True))
        return self._make_frame({"term": self._names(), **columns})

    def in_words(self, most: int | None = 6) -> list[str]:
        """Return each component as the columns that carry it.

        Parameters
        ----------
        most : int, optional
            The most columns that are named.

        Returns
        -------
        list of str
            The fewest columns with 90 % of the squared loadings, those of one sign "against" those
            of the other.
        """
        check_is_fitted(self)
        names = self._names()
        return [in_words(vector, names, most) for vector in self.components_]

    def summary(self) -> Summary:
        """Return the components as a table that shows itself as text, HTML and Markdown."""
        check_is_fitted(self)
        k = min(self.n_components_, _MOST_SHOWN)
        columns = {
            "component": self._titles()[:k],
            "variance": self.explained_variance_[:k].tolist(),
            "share": self.explained_variance_ratio_[:k].tolist(),
            "cumulative": np.cumsum(self.explained_variance_ratio_)[:k].tolist(),
            "carried by": self.in_words()[:k],
        }
        kind = "standardised" if self.standardize else "unscaled"
        kept = float(np.sum(self.explained_variance_ratio_))
        notes = (
            f"{self.n_components_} components of {self.n_features_in_} {kind} columns, with "
            f"{kept:.1%} of their variance; {self.n_samples_:,} rows; solver {self.solver_}.",
            "carried by: the columns with 90 % of the squared loadings.",
        )
        return Summary("Principal components", (Section("", columns),), notes)

    def supplementary(self, X: Any, extra: Any, sample_weight: Any = None) -> Any:
        """Return the correlations of other columns with the components.

        The other columns do not take part in the components: they help to read them.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows, with the columns of the fit.
        extra : array-like or data frame of shape (m,) or (m, q)
            Other columns of the same rows: numbers.
        sample_weight : array-like of shape (m,), optional
            Row weights.

        Returns
        -------
        data frame
            One row per other column: ``term, PC1, PC2, ...``, and ``r_squared``, the share of its
            variance that the components explain together. A column that does not vary has NaN.
        """
        Z = self._scores(self._check_new(X))
        names = list(map(str, extra.columns)) if is_frame(extra) else None
        if names is None and getattr(extra, "name", None) is not None:
            names = [str(extra.name)]
        values = np.asarray(extra)
        try:
            values = check_array(
                values.reshape(len(values), -1), dtype=np.float64, input_name="extra"
            )
        except ValueError as error:
            raise InputError(f"The supplementary columns cannot be used: {error}") from error
        if len(values) != len(Z):
            raise InputError(f"extra has {len(values)} rows and X has {len(Z)}; give the same.")
        w = check_weight(sample_weight, len(Z))
        Z, values = (each - np.average(each, axis=0, weights=w) for each in (Z, values))
        root = 1.0 if w is None else np.sqrt(w)[:, None]
        Z, values = Z * root, values * root
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = values / np.linalg.norm(values, axis=0)
            length = np.linalg.norm(Z, axis=0)
            found = (unit.T @ Z) / np.where(length > 0, length, np.inf)
        columns = dict(zip(self._titles(), found.T, strict=True))
        term = names or [f"extra{j}" for j in range(values.shape[1])]
        # On new rows the components may be correlated: their span counts, not the sum of squares.
        Q = np.linalg.svd(Z, full_matrices=False)[0][:, : np.linalg.matrix_rank(Z)]
        return self._make_frame(
            {"term": term, **columns, "r_squared": np.sum((Q.T @ unit) ** 2, axis=0)}
        )

    def scree(self, *, parallel: bool = True, most: int = 30) -> Any:
        """Draw the variance along each direction, with what chance alone would give.

        Parameters
        ----------
        parallel : bool
            Draw the 95 % quantiles of eigenvalues of independent normal columns (parallel
            analysis): directions below them may be chance.
        most : int
            The most directions that are drawn.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import scree_chart

        check_is_fitted(self)
        limits = None
        m = min(most, len(self.eigenvalues_))
        if parallel:
            limits = parallel_limits(self.n_samples_, self.column_variance_, count=m)
        return scree_chart(
            self.eigenvalues_[:m],
            total=self._total_variance,
            limits=limits,
            kept=self.n_components_,
        )

    def biplot(self, X: Any, components: tuple[int, int] = (1, 2), labels: Any = None) -> Any:
        """Draw rows in two components, with an arrow per column.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows.
        components : tuple of int
            The two components, counted from 1.
        labels : array-like of shape (m,), optional
            Groups that give the rows their colours.

        Returns
        -------
        altair.LayerChart
            Arrows point to where a column grows; their lengths are proportional to its loadings
            times the standard deviations of the components.
        """
        from bottega.plot import biplot_chart

        Z = self._scores(self._check_new(X))
        pair = [int(k) - 1 for k in components]
        if len(pair) != 2 or not all(0 <= k < self.n_components_ for k in pair):
            raise InputError(
                f"components={components!r} is not allowed; give two numbers from 1 to "
                f"{self.n_components_}."
            )
        arrows = self.components_[pair].T * np.sqrt(self.explained_variance_[pair])
        titles = [f"PC{k + 1} ({self.explained_variance_ratio_[k]:.1%})" for k in pair]
        return biplot_chart(Z[:, pair], arrows, self._names(), titles=titles, labels=labels)

    def reconstructions(self, X: Any, counts: Sequence[int] = (1, 2, 5, 10, 30)) -> FloatArray:
        """Return rows rebuilt from their first components.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows.
        counts : sequence of int
            Numbers of components, each at most `n_components_`; 0 gives the mean.

        Returns
        -------
        ndarray of shape (len(counts), m, p)
            In the units of X.
        """
        Z = self._scores(self._check_new(X))
        if any(not 0 <= int(k) <= self.n_components_ for k in counts):
            raise InputError(
                f"counts={list(counts)} is not allowed; give numbers from 0 to n_components_="
                f"{self.n_components_}."
            )
        rebuilt = [Z[:, :k] @ self.components_[:k] * self.scale_ + self.mean_ for k in counts]
        return np.stack(rebuilt)

    def reconstruction_grid(
        self, X: Any, shape: tuple[int, int], counts: Sequence[int] = (1, 2, 5, 10, 30)
    ) -> Any:
        """Draw images beside what their first components make of them.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Images, one per row: few, since all are drawn.
        shape : tuple of int
            Height and width of an image; their product is p.
        counts : sequence of int
            Numbers of components; those above `n_components_` are left out.

        Returns
        -------
        altair.Chart
            One row of panels per image: the image, then its reconstructions.
        """
        from bottega.plot import image_grid_chart

        check_is_fitted(self)
        usable = [int(k) for k in counts if k <= self.n_components_]
        original = np.asarray(X, dtype=np.float64)
        columns = [original, *self.reconstructions(X, usable)]
        titles = ["image", *(f"{k} component{'s' * (k != 1)}" for k in usable)]
        return image_grid_chart(
            columns, titles, shape, title="Images from their principal components"
        )
