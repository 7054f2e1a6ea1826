"""Online gradient descent: its state, and its pass over a block."""

import math
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import ConvergenceWarning, ParameterError
from bottega.core.losses import LOSSES, Loss, get_loss
from bottega.core.params import Boolean, Choice, Integer, OrNone, Parameter, Real
from bottega.core.typing import FloatArray
from bottega.online._kernels import gradient_descent as _kernels
from bottega.online._kernels.rows import all_finite
from bottega.online._learner.base import OnlineModel, dense_parts, is_sparse
from bottega.online._learner.steps import PROJECTIONS, STEPS, StepRule
from bottega.optimize.projections import onto_simplex

_POSITIVE = Real(0, open_low=True)

# Kernels know the derivatives of these; all but the first have a bounded one.
_COMPILED = ("squared_error", "absolute_error", "huber", "hinge", "logistic")
_KERNEL_TYPES = tuple(type(LOSSES[name]) for name in _COMPILED)
_BOUNDED_SLOPE = tuple(type(LOSSES[name]) for name in _COMPILED[1:])
LOSS_NAMES = tuple(name for name, loss in LOSSES.items() if loss.convex)

# Ratio of curvature to penalty from which strongly convex steps are unsafe: weights of normal data
# overshoot a hundredfold at 50, a million times at 130.
_MOST_OVERSHOOT = 50
_FIRST_ROWS = 100  # the steps are checked on

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


class GradientDescent(OnlineModel):
    """Weights that step down the gradient of each row's loss."""

    step: str
    eta: float | None
    radius: float
    gradient_bound: float | None
    horizon: int | None
    projection: str | None
    penalty: float
    average: bool
    epochs: int
    loss: str | Loss

    _may_change: ClassVar[tuple[str, ...]] = ("epochs",)

    def _charged_loss(self) -> Loss:
        return get_loss(self.loss)

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

    def _check_params(self) -> None:
        super()._check_params()
        self._rule()
        if not self._charged_loss().convex:
            raise ParameterError(
                f"loss={self.loss!r} has no gradient to follow; choose one of "
                f"{', '.join(LOSS_NAMES)}, or give a convex Loss."
            )
        if self.projection == "simplex" and self.fit_intercept:
            raise ParameterError(
                "projection='simplex' makes all weights parts of one sum, in which an intercept "
                "has no place; set fit_intercept=False."
            )

    def _start(self) -> None:
        vectors, width = self._vectors, self._width()
        self._weights = np.zeros((vectors, width))
        if self.projection == "simplex":
            self._weights[:] = onto_simplex(np.zeros(width), self.radius)
        self._state = np.zeros((vectors, _kernels.STATE_SIZE))
        self._squares = np.zeros((vectors, width if self.step == "adagrad" else 0))
        self._past = np.zeros((vectors, width if self.average else 0))

    def _for_kernel(self, loss: Loss) -> tuple[Any, ...]:
        """Return what the kernels take beside the rows, the weights and the state."""
        eta, reach = self._rule().factor(self._width())
        return (
            bool(self.fit_intercept),
            loss.code if type(loss) in _KERNEL_TYPES else _kernels.GIVEN,
            float(getattr(loss, "delta", 1.0)),
            STEPS[self.step],
            eta,
            reach,
            float(self.gradient_bound or 0.0),
            float(self.penalty),
            PROJECTIONS[self.projection],
            float(self.radius),
        )

    def _learn_rows(self, X: Any, targets: list[FloatArray], *, charge: bool) -> FloatArray:
        """Go through the rows once, for one vector of weights per target; return summed losses."""
        loss = self._charged_loss()
        settings = self._for_kernel(loss)
        known = type(loss) in _KERNEL_TYPES
        self._warn_of_long_steps(X, targets, loss)
        weights, state = self._weights.copy(), self._state.copy()
        squares, past = self._squares.copy(), self._past.copy()
        total = np.zeros(X.shape[0] if charge else 0)
        finite = 0.0
        by_entries: Any = _kernels.descend_csr
        by_rows: Any = _kernels.descend_dense if known else partial(_descend_by, loss)
        for k, y in enumerate(targets):
            memory = (state[k], squares[k], past[k])
            if known and is_sparse(X) and self._touches_few():
                losses = np.empty(len(total))
                entries = (X.indptr, X.indices, X.data, y)
                finite += by_entries(*entries, weights[k], *settings, *memory, losses)
                total += losses
                continue
            for part, rows in dense_parts(X):
                losses = np.empty(len(total[part]))
                finite += by_rows(rows, y[part], weights[k], *settings, *memory, losses)
                total[part] += losses
        if not (math.isfinite(finite) and all_finite(state.ravel())):
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
        """Return True if a row changes the weights of its entries only, up to a common factor."""
        if self.projection in ("simplex", "l1_ball"):
            return False
        common_factor = self.penalty > 0 or self.projection == "ball"
        if self.penalty > 0 and (self.projection == "box" or self.step == "adagrad"):
            return False
        return not (self.average and common_factor)

    def _warn_of_long_steps(self, X: Any, targets: list[FloatArray], loss: Loss) -> None:
        r"""Warn where steps of :math:`1 / (\sigma t)` will overshoot so far that weights explode.

        A step multiplies the error along a row by :math:`1 - (c + \sigma) / (\sigma t)` with c the
        curvature of the loss times the squared norm of the row: more than 1 in size while t is
        below half of that ratio, and the product of those factors grows exponentially with it.
        Where slopes are bounded the weights are too, and a projection keeps them in their set.
        """
        unsafe = self.step == "strongly_convex" and self.projection is None
        if not unsafe or type(loss) in _BOUNDED_SLOPE or self.n_samples_seen_ >= _FIRST_ROWS:
            return
        rows = X[:_FIRST_ROWS]
        squares = rows.multiply(rows).sum(axis=1) if is_sparse(X) else np.sum(rows**2, axis=1)
        norms = np.asarray(squares).ravel() + bool(self.fit_intercept)
        start = rows @ self._weights[:, : rows.shape[1]].T
        curvature = max(
            float(np.max(loss.curvature(y[:_FIRST_ROWS], start[:, k]) * norms))
            for k, y in enumerate(targets)
        )
        ratio = 1 + curvature / self.penalty
        if ratio > max(_MOST_OVERSHOOT, 2 * self.n_samples_seen_):
            warnings.warn(
                f"step='strongly_convex' without a projection overshoots in the first "
                f"{ratio / 2:,.0f} rows, where its steps are longer than the curvature of the "
                f"{loss.title} allows: the weights may grow by orders of magnitude. Keep them in "
                "a set (projection='ball', radius=...), or give a penalty above "
                f"{curvature / (_MOST_OVERSHOOT - 1):.3g}.",
                ConvergenceWarning,
                stacklevel=5,
            )

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


def _descend_by(
    loss: Loss, X: FloatArray, y: FloatArray, w: FloatArray, intercept: bool, *rest: Any
) -> float:
    """Charge and learn rows under a loss that the kernels do not know: its slope is given them."""
    *settings, losses = rest
    finite, p = 0.0, X.shape[1]
    descend: Any = _kernels.descend_dense
    for i in range(len(y)):
        z = float(X[i] @ w[:p]) + (float(w[p]) if intercept else 0.0)
        charged = losses[i : i + 1]
        slope = np.atleast_1d(loss.gradient(y[i], z))
        finite += descend(X[i : i + 1], slope, w, intercept, *settings, charged)
        charged += loss(y[i], z)
    return finite
