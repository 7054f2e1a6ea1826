"""Projection pursuit by squares, of one response or several."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from bottega.additive._pursuit.coordinates import on_grid
from bottega.additive._pursuit.estimator import PursuitEstimator
from bottega.additive._pursuit.model import RidgeSum
from bottega.additive._pursuit.parts import Scale
from bottega.additive._pursuit.targets import Criterion, Squares
from bottega.additive._pursuit.walk import TermWalk
from bottega.core.errors import InputError
from bottega.core.likelihood import gaussian_criteria, gaussian_path
from bottega.core.path import Path
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import with_warning


class PursuitRegression(RegressorMixin, PursuitEstimator):
    """What its regressor does beside finding terms."""

    response_weight: Any

    def _criterion(self, rows: Rows, w: FloatArray) -> tuple[Criterion, Scale]:
        Y = rows.y if rows.y.ndim == 2 else rows.y[:, None]
        self._several = rows.y.ndim == 2
        mean = w @ Y / w.sum()
        size = np.max(np.abs(Y - mean), axis=0)
        size = np.where(size > 0, size, 1.0)
        spread = size * np.sqrt(w @ ((Y - mean) / size) ** 2 / w.sum())
        spread[~(spread > 0)] = 1.0
        if self.response_weight is not None:
            given = np.asarray(self.response_weight, dtype=np.float64)
            if given.shape != mean.shape:
                raise InputError(
                    f"response_weight has {given.size} numbers for {mean.size} responses; give one "
                    "for each."
                )
            # One scale for all: only the ratios of the weights matter.
            unit = 1 / np.sqrt(given)
            spread = unit * float(np.max(spread / unit))
        return Squares(on_grid((Y - mean) / spread), w), Scale(mean, spread)

    def _free(self) -> int:
        return 1

    def _rss(self, work: TermWalk, model: RidgeSum) -> FloatArray:
        """Return the weighted residual sum of squares of each response."""
        R = work.pursuit.criterion.working(model.eta)[0] * work.scale.unit
        return np.asarray(work.rows.weights @ R**2)

    def _curve_of(
        self, work: TermWalk, settings: Any, models: Sequence[RidgeSum], df: FloatArray
    ) -> Path:
        rows, rss = work.rows, np.array([self._rss(work, model) for model in models])
        return gaussian_path(
            settings,
            rss=rss if rss.shape[1] > 1 else rss[:, 0],
            df=df,
            n=len(rows),
            weight=rows.total_weight,
            log_weights=rows.log_weights,
        )

    def _predicted(self, eta: FloatArray, method: str) -> Array:
        return eta if self._several else eta[:, 0]

    def _keep(self, work: TermWalk, model: RidgeSum) -> None:
        rows, n = work.rows, len(work.rows)
        rss = self._rss(work, model)
        Y = rows.y if rows.y.ndim == 2 else rows.y[:, None]
        tss = rows.weights @ (Y - work.scale.shift) ** 2
        one = len(rss) == 1
        criteria = gaussian_criteria(rss, self.df_, n, log_weights=rows.log_weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            self._numbers: dict[str, Any] = {
                "sigma": np.sqrt(rss / (n - self.df_)) if self.df_ < n else np.nan,
                "r_squared": 1 - rss / tss,
                "loglik": self.df_ + 1 - criteria["aic"] / 2,
            }
        self._numbers |= {"deviance": rss} | {k: criteria[k] for k in ("aic", "bic", "gcv")}
        self._numbers = {
            name: float(value[0]) if one and np.ndim(value) else value
            for name, value in self._numbers.items()
        }
        self._train = float(np.mean(rss) / rows.total_weight)

    def predict(self, X: Any) -> FloatArray:
        """Return the mean response of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.

        Returns
        -------
        ndarray of shape (m,), or (m, q) for several responses
            Predictions.
        """
        return with_warning(self._predicted(self._predictor(X), "predict"))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
