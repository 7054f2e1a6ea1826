"""Predictions of a fitted additive model: predictors, and the effect of each term."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.additive._backfitting.engine import BackfittedFit
from bottega.additive._backfitting.work import BackfittedTerms, term_effects
from bottega.additive._model.work import STEP, block_columns, predictors
from bottega.additive._penalized.fit import Fit
from bottega.additive._terms.blocks import Block
from bottega.additive._terms.resolve import PlacedTerm
from bottega.core.errors import InputError
from bottega.core.loaded import insist
from bottega.core.rows import split_rows
from bottega.core.typing import FloatArray

__all__ = ["AdditivePredictions"]


class AdditivePredictions:
    """Predictors and effects of an estimator that sets `fit_`, `blocks_` and `terms_`."""

    fit_: Fit | BackfittedFit
    blocks_: Sequence[Block]
    terms_: Sequence[PlacedTerm]
    _pieces: BackfittedTerms | None

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        fit = getattr(self, "fit_", None)
        if isinstance(fit, Fit):
            sizes = tuple(block.size for block in self.blocks_)
            insist(tuple(fit.sizes) == sizes, "coefficients that do not fit the terms")

    def _predictors(self, X: FloatArray) -> FloatArray:
        """Return the predictors (n, D) at checked inputs."""
        fit = self.fit_
        if isinstance(fit, BackfittedFit):
            rest, effects = self._effects(X)
            return rest + effects.sum(axis=1)[:, None]
        return predictors(self.blocks_, self.terms_, fit.coef, X)

    def _effects(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what belongs to no term (n, D), and the effects of the terms (n, terms * D)."""
        terms, fit = self.terms_, self.fit_
        offsets = [k for k, placed in enumerate(terms) if placed.term.word == "offset"]
        if isinstance(fit, BackfittedFit):
            assert self._pieces is not None
            rest, found = term_effects(self._pieces, fit, X, len(terms))
            rest, found = rest[:, None], found.copy()
        else:
            D = fit.n_predictors
            rest = np.zeros((len(X), D))
            found = np.zeros((len(X), len(terms) * D))
            coef = fit.coef.reshape(D, -1)
            for block, part in zip(self.blocks_, fit.slices, strict=False):
                values = block.effect(X, coef[:, part].T)
                if block.term < 0:
                    rest += values
                else:
                    found[:, block.term :: len(terms)] += values
        for k in offsets:
            found[:, k :: len(terms)] += X[:, terms[k].columns]
        return rest, found

    def _term_frame(self, X: Any, names: Sequence[str]) -> Any:
        """Return the effects as a frame; `names` are those of several predictors."""
        rest, found = self._effects(X)
        terms = [placed.name for placed in self.terms_]
        columns: dict[str, Any] = {}
        for d in range(rest.shape[1]):
            tail = f"[{names[d]}]" if names else ""
            columns[f"(Intercept){tail}"] = rest[:, d]
            for k, name in enumerate(terms):
                columns[f"{name}{tail}"] = found[:, d * len(terms) + k]
        return self._make_frame(columns)  # type: ignore[attr-defined]

    def _mean_error(self, X: FloatArray) -> FloatArray:
        """Return the standard error of the predictor (n,) at checked inputs."""
        fit = self.fit_
        if isinstance(fit, BackfittedFit):
            raise InputError(
                "A backfitted model has no standard errors of its mean; use engine='penalized'."
            )
        variance = np.empty(len(X))
        for part in split_rows(len(X), STEP):
            rows = block_columns(self.blocks_, X[part])
            variance[part] = np.einsum("ij,ij->i", rows @ fit.covariance, rows)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
