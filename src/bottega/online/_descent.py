"""The state of online gradient descent and its pass over a block, for both of its classes."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError, ParameterError
from bottega.core.params import Boolean, Choice, Integer, OrNone, Parameter, Real
from bottega.core.typing import FloatArray
from bottega.online import _kernels
from bottega.online._base import OnlineModel, dense_parts, is_sparse
from bottega.online.projections import onto_simplex
from bottega.online.steps import PROJECTIONS, STEPS, StepRule
from bottega.core.losses import LOSSES

__all__ = ["STEP_PARAMS", "Descent"]

_POSITIVE = Real(0, open_low=True)

STEP_PARAMS: Mapping[str, Parameter] = {
    "step": Choice(*STEPS, help="how the step size falls with the rows"),
    "eta": OrNone(_POSITIVE, help="factor of the step size; None: by the theory"),
    "radius": Real(0, open_low=True, log=True, help="radius of the set of weights"),
    "gradient_bound": OrNone(_POSITIVE, help="bound on the gradients; None: the largest so far"),
    "horizon": OrNone(Integer(1), help="rows to come, for step='constant' without eta"),
    "projection": OrNone(
        Choice("ball", "box", "simplex", "l1_ball"), help="set the weights are kept in"
    ),
    "penalty": Real(0, log=True, help="L2 penalty sigma: the loss plus sigma/2 ||w||^2"),
    "average": Boolean(help="predict by the mean of the weights over time"),
    "fit_intercept": Boolean(help="append the constant 1 to the inputs"),
    "epochs": Integer(1, help="passes over the rows of fit"),
}


class Descent(OnlineModel):
    """Weights that step down the gradient of each row's loss."""

    step: str
    eta: float | None
    radius: float
    gradient_bound: float | None
    horizon: int | None
    projection: str | None
    penalty: float
    average: bool
    fit_intercept: bool
    epochs: int
    loss: str

    def _rule(self) -> StepRule:
        return StepRule(
            step=self.step,
            eta=self.eta,
            gradient_bound=self.gradient_bound,
            horizon=self.horizon,
            sigma=self.penalty,
            projection=self.projection,
            radius=self.radius,
        )

    def _delta(self) -> float:
        """Return where Huber's loss turns linear."""
        return 1.0

    def _settings(self) -> tuple[Any, ...]:
        """Return what may not change in the middle of a stream."""
        return tuple(getattr(self, name) for name in self.params if name != "epochs")

    def _start(self, vectors: int) -> None:
        if self.projection == "simplex" and self.fit_intercept:
            raise ParameterError(
                "projection='simplex' makes all weights parts of one sum, in which an intercept "
                "has no place; set fit_intercept=False."
            )
        width = self._width(self.fit_intercept)
        self._weights = np.zeros((vectors, width))
        if self.projection == "simplex":
            self._weights[:] = onto_simplex(np.zeros(width), self.radius)
        self._state = np.zeros((vectors, _kernels.STATE_SIZE))
        self._squares = np.zeros((vectors, width if self.step == "adagrad" else 0))
        self._past = np.zeros((vectors, width if self.average else 0))
        self._started_with = self._settings()
        eta, reach = self._rule().factor(width)
        self._for_kernel = (
            bool(self.fit_intercept),
            LOSSES[self.loss].code,
            self._delta(),
            STEPS[self.step],
            eta,
            reach,
            float(self.gradient_bound or 0.0),
            float(self.penalty),
            PROJECTIONS[self.projection],
            float(self.radius),
        )
        self.n_samples_seen_ = 0

    def _descend(self, X: Any, targets: list[FloatArray], *, charge: bool) -> FloatArray:
        """Go through the rows once, for one vector of weights a target; return summed losses."""
        if self._started_with != self._settings():
            raise InputError(
                "A parameter has changed since the first rows, and the steps no longer belong "
                "together; call fit to start afresh."
            )
        weights, state = self._weights.copy(), self._state.copy()
        squares, past = self._squares.copy(), self._past.copy()
        settings = self._for_kernel
        total = np.zeros(X.shape[0] if charge else 0)
        finite = 0.0
        by_entries = is_sparse(X) and self._touches_few()
        for k, y in enumerate(targets):
            memory = (state[k], squares[k], past[k])
            if by_entries:
                losses = np.empty(len(total))
                entries = (X.indptr, X.indices, X.data)
                finite += _kernels.descend_csr(*entries, y, weights[k], *settings, *memory, losses)
                total += losses
            else:
                for part, rows in dense_parts(X):
                    losses = np.empty(len(total[part]))
                    finite += _kernels.descend_dense(
                        rows, y[part], weights[k], *settings, *memory, losses
                    )
                    total[part] += losses
        if not (math.isfinite(finite) and _kernels.all_finite(state.ravel())):
            self._refuse(
                X,
                "The weights or gradients overflow: the steps are too long for these inputs. Give "
                "a smaller eta or leave eta=None (with step='strongly_convex' give a larger "
                "penalty), keep the weights in a set (projection=), or bring the inputs to a "
                "smaller scale.",
            )
        self._weights, self._state, self._squares, self._past = weights, state, squares, past
        self.n_samples_seen_ += X.shape[0]
        return total

    def _touches_few(self) -> bool:
        """Tell whether a row changes only the weights of its entries, up to a common factor."""
        if self.projection in ("simplex", "l1_ball"):
            return False
        common_factor = self.penalty > 0 or self.projection == "ball"
        if self.penalty > 0 and (self.projection == "box" or self.step == "adagrad"):
            return False
        return not (self.average and common_factor)

    def _prediction_weights(self) -> FloatArray:
        if self._past.shape[1]:
            return np.asarray(self._weights - self._past / self.n_samples_seen_)
        return self._weights

    @property
    def max_gradient_(self) -> float:
        """Largest norm of a gradient so far, G in the bounds."""
        check_is_fitted(self)
        return float(self._state[:, _kernels.LARGEST].max())

    @property
    def regret_bound_(self) -> float:
        """What the summed regret so far is at most, see Notes; infinite where nothing is known."""
        check_is_fitted(self)
        rule, d = self._rule(), self._weights.shape[1]
        parts = zip(self._state, self._squares, strict=True)
        return float(sum(rule.regret_bound(d, state, squares) for state, squares in parts))
