"""What can be read from components that only add up."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.results import term_names
from bottega.core.sparse import is_sparse
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray

__all__ = ["Parts"]


class Parts:
    """The results of an estimator with `components_` and a trace of its objective."""

    card: ClassVar[Any]
    components_: FloatArray
    n_components_: int
    n_features_in_: int
    objective_: FloatArray
    reconstruction_err_: float
    n_iter_: int
    solver: str

    def inverse_transform(self, X: Any) -> FloatArray:
        """Return the rows that codes stand for.

        Parameters
        ----------
        X : array-like of shape (m, n_components_)
            Codes.

        Returns
        -------
        ndarray of shape (m, p)
            Codes times components.
        """
        check_is_fitted(self)
        codes = X.toarray() if is_sparse(X) else np.asarray(X, dtype=np.float64)
        if codes.ndim != 2 or codes.shape[1] != self.n_components_:
            raise InputError(
                f"Codes have shape {codes.shape}; give one column per component: "
                f"{self.n_components_}."
            )
        return np.asarray(codes @ self.components_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def summary(self) -> Summary:
        """Return the components in words: the columns in which each is largest."""
        check_is_fitted(self)
        names = term_names(self, intercept=False)
        size = self.components_.sum(axis=1)
        words = []
        for row, total in zip(self.components_, size, strict=True):
            first = [j for j in np.argsort(-row, kind="stable")[:5] if row[j] > 0]
            words.append(", ".join(f"{names[j]} {row[j] / total:.0%}" for j in first))
        numbers = list(range(1, len(size) + 1))
        columns: dict[str, list[Any]] = {"component": numbers, "largest columns": words}
        zeros = float(np.mean(self.components_ == 0))
        notes = (
            f"error {self.reconstruction_err_:.6g} after {self.n_iter_} iterations of "
            f"{self.solver}; {zeros:.0%} of the entries of the components are zero",
        )
        return Summary(self.card.title, (Section("", columns),), notes)

    def plot(self, shape: Sequence[int] | None = None) -> Any:
        """Draw the components as images.

        Parameters
        ----------
        shape : (int, int), optional
            Rows and columns of each image; see `bottega.plot.component_images_chart`.

        Returns
        -------
        altair.FacetChart
            One image per component.
        """
        from bottega.plot import component_images_chart

        check_is_fitted(self)
        note = "Rows are sums of these parts; each has a scale of its own."
        return component_images_chart(self.components_, shape, title="Parts", subtitle=note)

    def plot_objective(self) -> Any:
        """Draw the objective against the iterations.

        Returns
        -------
        altair.LayerChart
            A line that never rises.
        """
        from bottega.plot import lines_chart

        check_is_fitted(self)
        return lines_chart(
            np.arange(len(self.objective_)),
            {"objective": self.objective_},
            x_title="iterations that lowered it",
            y_title="objective",
            title="The objective never rises",
            log_y=bool(np.all(self.objective_ > 0)),
            points=False,
        )
