"""What adaptive splines for numbers and for classes share: reading rows, the path, the choice."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bottega.additive._adaptive.basis import Basis
from bottega.additive._adaptive.settings import GrowthSettings
from bottega.additive._adaptive_model.anatomy import Anatomy
from bottega.additive._adaptive_model.reading import AdaptiveResults
from bottega.additive._adaptive_model.work import AdaptiveWork, TermLikelihood
from bottega.core.errors import ConvergenceWarning, InputError, ModelFileError, warn_caller
from bottega.core.estimator import Walk
from bottega.core.losses import SQUARED_ERROR, Loss
from bottega.core.path import Path, along
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import read_response
from bottega.data.mixed_inputs import MixedInputs
from bottega.optimize.ridge_likelihood import LikelihoodFit

_AT_ONCE = 2**22  # numbers of terms, or of predictions, that are made at a time


class AdaptiveBase(AdaptiveResults, Tuned):
    """Grows terms, removes them one by one, and keeps the subset that the path picks.

    A subclass gives `_prepare(rows)`, the work of its kind, `_answers(scores, method)`, what scores
    predict, and `_look_back(work, n_terms)`, what is kept of the fit.
    """

    knob: ClassVar[str] = "n_terms"
    _least_rows: ClassVar[int] = 2

    n_terms: int | str
    max_terms: int | str
    degree: int
    penalty: float | str
    threshold: float
    minspan: int | str
    endspan: int | str
    fast_k: int
    fast_beta: float
    rounds: int
    linear_features: Any
    categorical_features: Any
    alpha: float
    tol: float
    max_iter: int
    cv: Any
    converged_: bool
    n_iter_: int

    @abstractmethod
    def _answers(self, work: Any, scores: FloatArray, method: str) -> Array:
        """Return what scores (rows, settings, ...) predict."""

    @abstractmethod
    def _look_back(self, work: Any, n_terms: int) -> None:
        """Set the attributes of the fit that only this kind of model has."""

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        y = read_response(self, y)
        self.columns_in_ = MixedInputs(self.categorical_features)
        X = self.columns_in_.fit(self, X)
        check_consistent_length(X, y)
        if len(X) < self._least_rows:
            raise InputError(
                f"{type(self).__name__} needs at least {self._least_rows} rows; got n_samples = "
                f"{len(X)}."
            )
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        return X, y

    def _check_new(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self.columns_in_.read(self, X)

    def _work_settings(self) -> dict[str, Any]:
        """Return what the work of every kind takes."""
        given: dict[str, Any] = {
            name: None if isinstance(value, str) else value
            for name in ("max_terms", "penalty", "minspan", "endspan")
            for value in (getattr(self, name),)
        }
        columns = self.columns_in_
        lines = () if self.linear_features is None else self.linear_features
        linear = tuple(sorted({columns.number_of(one, "linear_features") for one in lines}))
        levels = [0 if one is None else len(one) for one in columns.levels]
        settings = GrowthSettings(
            degree=int(self.degree),
            threshold=float(self.threshold),
            fast_k=int(self.fast_k),
            fast_beta=float(self.fast_beta),
            rounds=int(self.rounds),
            linear=linear,
            **given,
        )
        return {"settings": settings, "n_levels": np.array(levels, dtype=np.int64)}

    def _fitting(self) -> dict[str, Any]:
        """Return how coefficients by likelihood are found."""
        fitting = {"alpha": float(self.alpha), "tol": float(self.tol)}
        return fitting | {"max_iter": int(self.max_iter)}

    def _path(self, work: AdaptiveWork, values: Any, loss: Loss | None) -> Path:
        sizes = np.arange(1, work.most + 1) if values is None else np.sort(values).astype(np.int64)
        settings, own = along(self.knob, sizes), self._own_loss(work)
        assert own is not None
        train_error = None
        if own != SQUARED_ERROR or isinstance(work, TermLikelihood):
            train_error = self._train_error(work, work.rows, settings, own)
        return work.curve(settings, sizes, train_error=train_error, loss=own.title)

    def _choose(self, work: AdaptiveWork, rows: Any, walk: Walk) -> dict[str, Any]:
        setting = super()._choose(work, rows, walk)
        curve = getattr(self, "path_", None)
        if curve is not None and curve.estimate is None and curve.select == "gcv":
            self.path_ = work.judged_by_gcv(curve, [one[self.knob] for one in curve.settings])
        return setting

    def _predictions(
        self, work: AdaptiveWork, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        sizes = [int(setting[self.knob]) for setting in settings]
        table = work.table(sizes)
        flat = table.reshape(len(table), -1)
        basis, parts = work.growth.basis, []
        for start in range(0, len(X_new), self._block(flat.shape[1], len(basis))):
            rows = X_new[start : start + self._block(flat.shape[1], len(basis))]
            scores = basis.matrix(rows) @ flat
            parts.append(self._answers(work, scores.reshape(-1, *table.shape[1:]), method))
        return np.concatenate(parts)

    @staticmethod
    def _block(*widths: int) -> int:
        return max(1024, _AT_ONCE // max(widths))

    def _settle(self, work: AdaptiveWork, setting: Mapping[str, Any]) -> None:
        m = min(int(setting[self.knob]), work.most)
        kept = work.subset(m)
        self.n_terms_ = m
        self.basis_: Basis = work.growth.basis.take(kept)
        self._coef: FloatArray = work.coefficients(m)
        self.gcv_ = float(work.pruning.gcv[m - 1])
        self.df_ = float(work.pruning.df[m - 1])
        self._anatomy = Anatomy.of(work, m)
        self._look_back(work, m)

    def _scores(self, X: FloatArray) -> FloatArray:
        """Return the scores of checked inputs, (rows, scores)."""
        parts = []
        size = self._block(len(self.basis_))
        for start in range(0, max(len(X), 1), size):
            with np.errstate(over="ignore", invalid="ignore"):
                parts.append(self.basis_.matrix(X[start : start + size]) @ self._coef)
        return np.concatenate(parts)

    def _look_at(self, found: LikelihoodFit | None) -> None:
        """Keep how coefficients were found, and warn if they are not there yet."""
        self.converged_ = found is None or found.converged
        self.n_iter_ = 1 if found is None else max(found.n_iter, 1)
        if not self.converged_:
            warn_caller(
                f"{type(self).__name__}: the likelihood has not reached its maximum after "
                f"{self.n_iter_} Newton steps; increase max_iter or tol.",
                ConvergenceWarning,
            )

    def check_loaded(self) -> None:
        """Raise unless the terms of a model that was read from a file fit its inputs."""
        if not hasattr(self, "basis_"):
            return
        p, terms = len(self.columns_in_.names), len(self.basis_)
        inputs = [j for term in self.basis_ for j in term.variables]
        if (
            self._coef.shape[0] != terms
            or self.basis_.fill.shape != (p,)
            or any(not 0 <= j < p for j in inputs)
            or self._anatomy.mean.shape != (terms,)
        ):
            raise ModelFileError(
                f"The parts of this {type(self).__name__} do not fit together: fit it again, and "
                "save it."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
