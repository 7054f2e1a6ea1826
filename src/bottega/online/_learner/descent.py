r"""Online gradient descent: its steps, its pass over a block, and what it promises.

================== ========================================== ===================================
Rule               Step at row t                              Meant for
================== ========================================== ===================================
`invscaling`       :math:`\eta / t^q`, with q = 1/2 unless    a stream without known end, in a
                   it is given                                bounded set
`constant`         :math:`\eta`                               a known number of rows
`strongly_convex`  :math:`1 / (\alpha t)`                     losses with an L2 penalty
                                                              :math:`\alpha > 0`
`optimal`          :math:`1 / (\alpha (t_0 + t - 1))`         the same, with shorter first steps
`adagrad`          :math:`\eta / \sqrt{\sum_{s \le t}         columns on different scales, or rare
                   g_{s,j}^2}` for weight j                   ones
================== ========================================== ===================================

Where :math:`\eta` is not given it is :math:`\sqrt 2\, U / G` (over :math:`\sqrt T` for `constant`,
and :math:`\sqrt 2\, U` for `adagrad`): U is the radius of the comparators in Euclidean norm, G
bounds the norm of every gradient. Where G is not known either, the largest gradient so far stands
for it. The steps still never grow, and the proof goes through with the largest gradient of all for
G: what is promised is the same. The :math:`t_0` of `optimal` is Bottou's, as in scikit-learn: the
first step is as long as weights are expected to be, :math:`\alpha^{-1/4}`, over the slope there.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import ConvergenceWarning, ParameterError, warn_caller
from bottega.core.loaded import insist
from bottega.core.losses import LOSSES, Loss, get_loss
from bottega.core.params import Boolean, Choice, Integer, OrNone, Parameter, Real, Seed
from bottega.core.rows import Rows
from bottega.core.sparse import dense_parts, is_sparse
from bottega.core.typing import Array, FloatArray
from bottega.online._kernels import gradient_descent as _kernels
from bottega.online._kernels.rows import all_finite
from bottega.online._learner.base import OnlineModel
from bottega.optimize._kernels import projections as _sets
from bottega.optimize.projections import onto_simplex

STEPS = {
    "invscaling": _kernels.INVSCALING,
    "constant": _kernels.CONSTANT,
    "strongly_convex": _kernels.STRONGLY_CONVEX,
    "optimal": _kernels.STRONGLY_CONVEX,
    "adagrad": _kernels.ADAGRAD,
}
PROJECTIONS = {
    None: _sets.NOWHERE,
    "ball": _sets.BALL,
    "box": _sets.BOX,
    "simplex": _sets.SIMPLEX,
    "l1_ball": _sets.L1_BALL,
}

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
    "learning_rate": Choice(*STEPS, help="how the step size falls with the rows"),
    "eta0": OrNone(_POSITIVE, help="factor of the step size; None: by the theory"),
    "power_t": Real(0, help="power of learning_rate='invscaling'"),
    "radius": Real(0, open_low=True, log=True, help="radius of the set of weights"),
    "gradient_bound": OrNone(_POSITIVE, help="bound on the gradients; None: the largest so far"),
    "horizon": OrNone(Integer(1), help="rows to come, for learning_rate='constant' without eta0"),
    "projection": OrNone(
        Choice("ball", "box", "simplex", "l1_ball"), help="set the weights are kept in"
    ),
    "alpha": Real(0, log=True, help="L2 penalty: the loss plus alpha/2 ||w||^2"),
    "average": Boolean(help="predict by the mean of the weights over time"),
    "fit_intercept": Boolean(help="append the constant 1 to the inputs"),
    "max_iter": Integer(1, help="passes over the rows of fit"),
    "shuffle": Boolean(help="take the rows of fit in a new order in each pass"),
    "random_state": Seed(help="seed of the orders of shuffle"),
}


class GradientDescent(OnlineModel):
    """Weights that step down the gradient of each row's loss."""

    _may_change: ClassVar[tuple[str, ...]] = ("max_iter", "shuffle", "random_state")

    learning_rate: str
    eta0: float | None
    power_t: float
    radius: float
    gradient_bound: float | None
    horizon: int | None
    projection: str | None
    alpha: float
    average: bool

    def _charged_loss(self) -> Loss:
        return get_loss(self.loss)

    def _check_params(self) -> None:
        super()._check_params()
        if self._divides_by_penalty() and not self.alpha > 0:
            raise ParameterError(
                f"learning_rate={self.learning_rate!r} divides by the L2 penalty, which is "
                f"alpha={self.alpha!r}; give an alpha above 0 or another learning_rate."
            )
        if self.learning_rate == "constant" and self.eta0 is None and self.horizon is None:
            raise ParameterError(
                "learning_rate='constant' needs eta0, or horizon (the number of rows to come) to "
                "choose it by; give one of them, or use learning_rate='invscaling', which needs "
                "neither."
            )
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
        self._squares = np.zeros((vectors, width if self.learning_rate == "adagrad" else 0))
        self._past = np.zeros((vectors, width if self.average else 0))

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        super().check_loaded()
        if hasattr(self, "_state"):
            shape = self._vectors, _kernels.STATE_SIZE
            insist(self._state.shape == shape, "a memory of another size")

    def _reach(self) -> float:
        """Return the largest norm of a comparator."""
        return self.radius * (math.sqrt(self._width()) if self.projection == "box" else 1.0)

    def _divides_by_penalty(self) -> bool:
        return self.learning_rate in ("strongly_convex", "optimal")

    def _head_start(self) -> float:
        """Return how many rows before the first one strongly convex steps count from."""
        if self.learning_rate != "optimal":
            return 0.0
        size = self.alpha**-0.25
        slope = float(self._charged_loss().gradient(1.0, -size))
        return max(1.0, slope) / (size * self.alpha) - 1.0

    def _factor(self) -> tuple[float, float]:
        """Return eta (0: to be found from the gradients) and the reach that it is found with."""
        reach = self._reach()
        if self._divides_by_penalty():
            return self._head_start(), reach
        if self.eta0 is not None:
            return float(self.eta0), reach
        if self.learning_rate == "adagrad":
            return math.sqrt(2.0) * self.radius, reach
        if self.learning_rate == "constant":
            assert self.horizon is not None
            reach /= math.sqrt(self.horizon)
        return 0.0, reach

    def _for_kernel(self, loss: Loss) -> tuple[Any, ...]:
        """Return what the kernels take beside the rows, the weights and the state."""
        code = loss.code if type(loss) in _KERNEL_TYPES else _kernels.GIVEN
        of_loss = (bool(self.fit_intercept), code, float(getattr(loss, "delta", 1.0)))
        bounds = (float(self.gradient_bound or 0.0), float(self.power_t), float(self.alpha))
        region = (PROJECTIONS[self.projection], float(self.radius))
        return (*of_loss, STEPS[self.learning_rate], *self._factor(), *bounds, *region)

    def _targets(self, y: Array) -> list[FloatArray]:
        """Return the truths of each vector of weights."""
        return [y]

    def _learn_rows(self, rows: Rows, *, charge: bool) -> FloatArray:
        """Go through the rows once, for one vector of weights per target; return summed losses."""
        X, targets, loss = rows.X, self._targets(rows.y), self._charged_loss()
        weight = np.empty(0) if rows.weight is None else rows.weight
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
                entries = (X.indptr, X.indices, X.data, y, weight)
                finite += by_entries(*entries, weights[k], *settings, *memory, losses)
                total += losses
                continue
            for part, dense in dense_parts(X):
                losses = np.empty(len(total[part]))
                block = (dense, y[part], weight[part])
                finite += by_rows(*block, weights[k], *settings, *memory, losses)
                total[part] += losses
        if not (math.isfinite(finite) and all_finite(state.ravel())):
            self._refuse(
                X,
                "The weights or gradients overflow: the steps are too long for these inputs. Give "
                "a smaller eta0 or leave eta0=None (with learning_rate='strongly_convex' give a "
                "larger alpha), keep the weights in a set (projection=), or bring the inputs to a "
                "smaller scale.",
            )
        self._weights, self._state, self._squares, self._past = weights, state, squares, past
        self.n_samples_seen_ += X.shape[0]
        return total

    def _touches_few(self) -> bool:
        """Return True if a row changes the weights of its entries only, up to a common factor."""
        if self.projection in ("simplex", "l1_ball"):
            return False
        common_factor = self.alpha > 0 or self.projection == "ball"
        if self.alpha > 0 and (self.projection == "box" or self.learning_rate == "adagrad"):
            return False
        return not (self.average and common_factor)

    def _warn_of_long_steps(self, X: Any, targets: list[FloatArray], loss: Loss) -> None:
        r"""Warn where steps of :math:`1 / (\alpha t)` will overshoot so far that weights explode.

        A step multiplies the error along a row by :math:`1 - (c + \alpha) / (\alpha t)` with c the
        curvature of the loss times the squared norm of the row: more than 1 in size while t is
        below half of that ratio, and the product of those factors grows exponentially with it.
        Where slopes are bounded the weights are too, and a projection keeps them in their set.
        """
        unsafe = self.learning_rate == "strongly_convex" and self.projection is None
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
        ratio = 1 + curvature / self.alpha
        if ratio > max(_MOST_OVERSHOOT, 2 * self.n_samples_seen_):
            warn_caller(
                "learning_rate='strongly_convex' without a projection overshoots in the first "
                f"{ratio / 2:,.0f} rows, where its steps are longer than the curvature of the "
                f"{loss.title} allows: the weights may grow by orders of magnitude. Keep them in "
                "a set (projection='ball', radius=...), or give an alpha above "
                f"{curvature / (_MOST_OVERSHOOT - 1):.3g}.",
                ConvergenceWarning,
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
        return sum(map(self._bound_of, self._state, self._squares))

    def _bound_of(self, state: FloatArray, squares: FloatArray) -> float:
        r"""Return a bound on the summed regret of one vector of weights.

        For steps :math:`\eta_t` that never grow, in a set of diameter D, the regret is at most
        :math:`D^2 / (2 \eta_T) + \tfrac12 \sum_t \eta_t \lVert g_t \rVert^2`; with a constant step
        D is only the distance of the comparator from the start, and no set is needed. With
        :math:`\eta_t = \sqrt 2 U / (G \sqrt t)` on the ball this is at most
        :math:`U G \sqrt{8 T}`; with :math:`1 / (\alpha t)` the first term is paid by the
        strong convexity, but for :math:`\alpha (t_0 - 1) U^2 / 2` where the steps count from
        :math:`t_0` ("optimal"). AdaGrad in the box has
        :math:`(2U^2 / \eta + \eta) \sum_j \sqrt{\sum_t g_{t,j}^2}`; in other sets its proof needs
        another projection than the nearest point.
        """
        rate, spent = float(state[_kernels.RATE]), float(state[_kernels.SPENT])
        if self._divides_by_penalty():
            distance2 = self._reach() ** 2 * (2 if self.projection == "simplex" else 1)
            return self.alpha * max(self._head_start(), 0.0) * distance2 / 2 + spent / 2
        if self.learning_rate == "adagrad":
            if self.projection != "box":
                return math.inf
            eta, _ = self._factor()
            return float((2 * self.radius**2 / eta + eta) * (squares**0.5).sum())
        if rate == 0:  # every gradient was zero: each loss was already at its least
            return 0.0
        known = self.eta0 is not None or self.gradient_bound is not None
        if self.learning_rate == "constant" and known:
            distance = self._reach()
        elif self.projection is None:
            return math.inf
        else:
            distance = (math.sqrt(2.0) if self.projection == "simplex" else 2.0) * self._reach()
        return distance**2 / (2 * rate) + spent / 2


def _descend_by(
    loss: Loss,
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    w: FloatArray,
    intercept: bool,
    *rest: Any,
) -> float:
    """Charge and learn rows under a loss that the kernels do not know: its slope is given them."""
    *settings, losses = rest
    finite, p = 0.0, X.shape[1]
    descend: Any = _kernels.descend_dense
    for i in range(len(y)):
        z = float(X[i] @ w[:p]) + (float(w[p]) if intercept else 0.0)
        charged = losses[i : i + 1]
        slope, c = np.atleast_1d(loss.gradient(y[i], z)), weight[i : i + 1]
        finite += descend(X[i : i + 1], slope, c, w, intercept, *settings, charged)
        charged += loss(y[i], z) * (c[0] if len(c) else 1.0)
    return finite
