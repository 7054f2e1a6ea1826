"""Components of a stream: moments are merged, and the components follow from them."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError, ParameterError
from bottega.core.estimator import AS_IT_IS
from bottega.core.moments import Moments
from bottega.core.rows import Rows, check_weight
from bottega.core.typing import FloatArray
from bottega.core.validate import naming_texts, refuse_doubled_names, refuse_masked

__all__ = ["ComponentStream"]


class ComponentStream(Chunked):
    """An estimator of moments that can take in more rows."""

    components_: FloatArray
    singular_values_: FloatArray
    mean_: FloatArray
    scale_: FloatArray
    n_components_: int
    n_features_in_: int
    n_samples_: int
    svd_solver: str
    device: str | None
    _moments: Moments
    _weight: float

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: the fit to all rows so far, in memory that does not grow.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows; one is enough.
        y : ignored
            There is no response.
        sample_weight : array-like of shape (m,), optional
            Row weights; rows of weight zero count for nothing.

        Returns
        -------
        Self
            The estimator. It has components from two rows on.
        """
        before = self._so_far()
        self._check_params()
        self._refuse_other_solvers()
        first = before is None
        if first:
            self._forget()
        try:
            rows = self._more_rows(X, sample_weight, first)
            merged = Moments().update(rows.X, None, rows.weight)
            if before is not None:  # a new object: an error on the way leaves the first as it was
                merged = Moments().merge(before).merge(merged)
            if merged.count >= 2:
                work = self._prepare_merged(merged, None)
                self._finish(work, None, self._choose(work, None, AS_IT_IS))
        except BaseException:
            if first:
                self._forget()
            raise
        self._moments = merged
        return self

    def _check_chunks(self, chunks: Iterable[Any], *, guess: bool = False) -> CheckedChunks:
        self._refuse_other_solvers()
        return super()._check_chunks(chunks, guess=guess)

    def _refuse_other_solvers(self) -> None:
        """Refuse a solver, or a device, that rows in chunks cannot be given to."""
        owner = type(self).__name__
        if self.svd_solver not in ("auto", "covariance_eigh"):
            raise ParameterError(
                f"{owner}: svd_solver={self.svd_solver!r} takes all rows at once, and fit_chunks "
                "and partial_fit decompose the covariance matrix; use 'auto' or 'covariance_eigh', "
                "or fit."
            )
        if self.device is not None:
            raise ParameterError(
                f"{owner}: device={self.device!r} takes all rows at once; fit_chunks and "
                "partial_fit run without one: use device=None, or fit."
            )

    def _so_far(self) -> Moments | None:
        """Return the moments of the rows so far; None where there are none."""
        if hasattr(self, "_moments"):
            return self._moments
        if not hasattr(self, "components_"):
            return None
        if self.n_components_ < min(self.n_samples_, self.n_features_in_):
            raise InputError(
                f"This {type(self).__name__} was fitted to all rows at once, and the directions "
                "that it left out are not known: no rows can be added. Start the stream by "
                "partial_fit on a new estimator."
            )
        found = Moments()
        found.count, found.weight, found.p = self.n_samples_, self._weight, self.n_features_in_
        root = self.components_.T * self.singular_values_ * self.scale_[:, None]
        found.mean, found.scatter = self.mean_, root @ root.T
        return found

    @abstractmethod
    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks | None) -> Any:
        """Return the prepared work; `chunks` is None where more rows may come."""

    def _check_new(self, X: Any) -> Any:
        if hasattr(self, "_moments") and not hasattr(self, "components_"):
            raise NotFittedError(
                f"This {type(self).__name__} has no components yet: partial_fit has seen "
                f"{self._moments.count} of the two rows that it needs at least. Give it more rows."
            )
        return super()._check_new(X)

    def _more_rows(self, X: Any, sample_weight: Any, first: bool) -> Rows:
        refuse_masked(X=X, sample_weight=sample_weight)
        refuse_doubled_names(X)
        if first:
            self._remember_frame(X)
        options = {**self._input_options(), "ensure_min_samples": 1, "accept_sparse": False}
        with naming_texts(X, type(self).__name__):
            X = validate_data(self, X, reset=first, **options)
        return Rows.of(X, None, check_weight(sample_weight, len(X)))
