"""Online gradient descent for classes and for numbers."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import ParameterError
from bottega.core.losses import LOGISTIC, LOSSES, Huber, Loss, get_loss
from bottega.core.params import AnyOf, Choice, Function, Parameter, Real
from bottega.core.typing import Array, FloatArray
from bottega.online._learner.base import OnlineRegressor
from bottega.online._learner.classifier import CLASS_WEIGHT, OnlineClassifier
from bottega.online._learner.descent import LOSS_NAMES, STEP_PARAMS, GradientDescent

__all__ = ["OnlineGradientDescentClassifier", "OnlineGradientDescentRegressor"]

_SHARED: dict[str, Any] = {
    "method": "online_gradient_descent",
    "strengths": (
        "Learns row by row, millions of rows per second, with the memory of its weights.",
        "Its regret on any stream is bounded by a number that can be computed.",
        "Takes sparse and hashed inputs with very many columns.",
        "Follows the gradient of any convex loss.",
    ),
    "assumptions": (
        "None about how rows arise: the bounds hold on every stream with bounded gradients.",
        "The best weights lie in the set, or within the radius, that the steps are made for.",
    ),
    "cost": "max_iter n p",
    "source": "A64-A74",
    "standardize": True,
    "ordered": True,
    "wide": True,
}
# The logistic loss of labels -1 and +1 goes by scikit-learn's word for it.
_MARGIN_LOSSES = tuple(
    "log_loss" if name == "logistic" else name
    for name in LOSS_NAMES
    if LOSSES[name].labels in ("sign", "real")
)


class OnlineGradientDescentClassifier(GradientDescent, OnlineClassifier):
    r"""Linear classification by online gradient descent.

    At each row the loss :math:`\ell_t(w) = \ell(y_t, w^\top x_t) + \tfrac\alpha2 \lVert w \rVert^2`
    of the present weights is charged, and then
    :math:`w_{t+1} = \Pi\left(w_t - \eta_t \nabla \ell_t(w_t)\right)` with :math:`\Pi` the nearest
    point of a set, if one is asked for. It starts at :math:`w_1 = 0` (on the simplex: at equal
    weights). Labels are any two values, -1 and +1 inside; with more than two classes there is one
    such learner per class, against the rest.

    Parameters
    ----------
    loss : str or Loss
        "log_loss", :math:`\ln(1 + e^{-yz})`, which gives probabilities; "hinge",
        :math:`\max(0, 1 - yz)`, whose slope is taken as 0 at the kink; or any other convex loss of
        `bottega.core.losses` for labels -1 and +1 or for numbers, by name or as an object. Those
        that the kernels do not know are learned at the speed of Python.
    learning_rate : {"invscaling", "constant", "strongly_convex", "optimal", "adagrad"}
        Step size at row t: :math:`\eta / t^{1/2}` (or another power, `power_t`); :math:`\eta`;
        :math:`1 / (\alpha t)`; :math:`1 / (\alpha (t_0 + t - 1))` with the :math:`t_0` of
        scikit-learn; or :math:`\eta` over the root of the summed squares of each weight's
        gradients.
    eta0 : float or None
        Factor of the step size. None takes the theory's: :math:`\sqrt 2\, U / G`, over
        :math:`\sqrt T` for "constant"; :math:`\sqrt 2\, U` for "adagrad". Larger values learn
        faster and stay noisier.
    power_t : float
        Power of t with "invscaling"; the theory is for 1/2.
    radius : float
        U: the radius of the set the weights are kept in; without a projection, the size of weights
        that the steps are made for.
    gradient_bound : float or None
        G, a bound on the norm of every gradient. None takes the largest gradient so far.
    horizon : int or None
        T, the number of rows to come, for ``learning_rate="constant"`` without
        `eta0`.
    projection : {None, "ball", "box", "simplex", "l1_ball"}
        The set: norm at most U; every weight in [-U, U]; weights at least 0 with sum U; absolute
        values with sum at most U.
    alpha : float
        The L2 penalty. Larger values keep the weights smaller.
    average : bool
        Predict by the mean of the weights after each row instead of the last weights.
    fit_intercept : bool
        Append the constant 1 to the inputs as their last column. Its weight is penalised and
        projected like the others: the bounds are about the whole vector.
    max_iter : int
        Passes over the rows of `fit`; a stream is read once.
    shuffle : bool
        Take the rows of `fit` in a new order in each pass, instead of that of the table. Of rows in
        chunks the chunks come in a new order and the rows of each: another than that of `fit`.
    random_state : int, RandomState, Generator or None
        Seed of these orders; None: others in every fit.
    class_weight : dict, "balanced" or None
        Factors on the losses of the classes' rows; "balanced": inversely proportional to how
        frequent the classes are, which a stream cannot know beforehand.

    Attributes
    ----------
    coef_ : ndarray of shape (1, p) or (K, p)
        Weights of the columns: one row for two classes, one per class for more.
    intercept_ : ndarray of shape (1,) or (K,)
        Weights of the constant.
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    n_samples_seen_ : int
        Rows learned, all passes counted.
    n_iter_ : int
        Passes of `fit`.
    max_gradient_ : float
        Largest norm of a gradient so far.
    regret_bound_ : float
        What the summed regret is at most; infinite where nothing is known.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    A row costs p operations per vector, a CSR row the number of its entries (all p of them for the
    simplex, the l1 ball, and some pairs of penalty, projection, AdaGrad and `average`); memory is
    the weights. Inputs are taken as they are: scaling by what is known of all rows is not possible
    in a stream, so bring the columns to a common scale, or use "adagrad", which finds one.

    Against any comparator of the set (with "constant" and "optimal", against any of norm at most U)
    the summed regret of the charged losses, penalty included, is at most `regret_bound_`: with
    "invscaling" and the ball never more than :math:`U G \sqrt{8T}`, with "strongly_convex" never
    more than :math:`G^2 (1 + \ln T) / (2 \alpha)`, with G the largest gradient met. That G need not
    be known beforehand; but with "strongly_convex", no projection and a loss of unbounded slope
    (squared error) it may become astronomic in the first rows, which is warned of. With
    "invscaling" or "adagrad" and no projection nothing is promised. For more than two classes
    losses and bounds are sums over the classes.

    Do not use it where all rows fit in memory and are seen once: a batch method gets more from
    them.

    References
    ----------
    .. [1] Zinkevich, M. (2003). Online convex programming and generalized infinitesimal gradient
       ascent. ICML, 928-936.
    .. [2] Hazan, E., Agarwal, A. and Kale, S. (2007). Logarithmic regret algorithms for online
       convex optimization. Machine Learning 69, 169-192.
    .. [3] Duchi, J., Hazan, E. and Singer, Y. (2011). Adaptive subgradient methods for online
       learning and stochastic optimization. Journal of Machine Learning Research 12, 2121-2159.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.where(X[:, 0] + 0.5 * rng.normal(size=2000) > 0, "up", "down")
    >>> model = OnlineGradientDescentClassifier(projection="ball", radius=3.0)
    >>> model = model.partial_fit(X[:1000], y[:1000], classes=["down", "up"])
    >>> charged = model.learn_block(X[1000:], y[1000:])
    >>> bool(charged.mean() < 0.45), model.n_samples_seen_
    (True, 2000)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "loss": AnyOf(Choice(*_MARGIN_LOSSES), Function(), help="loss whose gradient is followed"),
        **STEP_PARAMS,
        "class_weight": CLASS_WEIGHT,
    }
    card: ClassVar[Card] = Card(
        title="Online gradient descent, classes",
        task="classification",
        weaknesses=(
            "Separates classes by a hyperplane only.",
            "Needs columns on one scale, which a stream cannot be given afterwards.",
            "Uses each row once: a batch method gets more out of rows that fit in memory.",
        ),
        twin_of="logistic_regression",
        **_SHARED,
    )

    def __init__(
        self,
        *,
        loss: str | Loss = "log_loss",
        learning_rate: str = "invscaling",
        eta0: float | None = None,
        power_t: float = 0.5,
        radius: float = 1.0,
        gradient_bound: float | None = None,
        horizon: int | None = None,
        projection: str | None = None,
        alpha: float = 0.0,
        average: bool = False,
        fit_intercept: bool = True,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = 0,
        class_weight: Any = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.radius = radius
        self.gradient_bound = gradient_bound
        self.horizon = horizon
        self.projection = projection
        self.alpha = alpha
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.class_weight = class_weight

    def _charged_loss(self) -> Loss:
        return LOGISTIC if self.loss == "log_loss" else get_loss(self.loss)

    def _check_params(self) -> None:
        super()._check_params()
        loss = self._charged_loss()
        if loss.labels not in ("sign", "real"):
            raise ParameterError(
                f"loss={self.loss!r} takes labels 0 and 1, and a linear classifier learns -1 and "
                "+1; choose log_loss, hinge, or a loss of real numbers."
            )

    def _targets(self, y: Array) -> list[FloatArray]:
        """Return labels -1 and +1: once for two classes, for each class against the rest else."""
        signs = 2 * np.eye(len(self.classes_)) - 1
        return [row.take(y) for row in signs[-self._vectors :]]

    def _gives_probabilities(self) -> bool:
        return bool(self.loss == "log_loss" or self.loss == LOGISTIC)

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, with the log loss.

        For more than two classes the probabilities of each against the rest are scaled to sum to
        one.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            upper = expit(scores)
            return np.column_stack([1 - upper, upper])
        each = np.maximum(expit(scores), np.finfo(np.float64).tiny)
        return np.asarray(each / each.sum(axis=1, keepdims=True))


@documented_like(OnlineGradientDescentClassifier, without=("classes_",))
class OnlineGradientDescentRegressor(GradientDescent, OnlineRegressor):
    r"""Linear regression by online gradient descent.

    At each row the loss of the present weights is charged, penalty included, and then they step
    down its gradient as in `OnlineGradientDescentClassifier`.

    Parameters
    ----------
    loss : str or Loss
        "squared_error" :math:`(y - z)^2` (scikit-learn's ``SGDRegressor`` halves it);
        "absolute_error" :math:`|y - z|`; "huber", quadratic
        (half of it) up to `delta` and linear beyond; or any other convex loss of
        `bottega.core.losses`, by name or as an object. Those that the kernels do not know are
        learned at the speed of Python.
    delta : float
        Where the loss named "huber" turns linear.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Weights of the columns.
    intercept_ : float
        Weight of the constant.

    Notes
    -----
    Cost, scaling and the bounds are as for `OnlineGradientDescentClassifier`. Give as `radius` the
    size of the coefficients you expect. The gradients of the squared error grow with the error and
    large steps diverge; with ``eta0=None`` a step is never longer than
    :math:`\sqrt{2} U / \sqrt t`, whatever the inputs.

    Do not use it for the squared error where p is small: `OnlineRidge` has a far smaller regret at
    a cost of p^2 per row, and needs no step size.

    References
    ----------
    .. [1] Zinkevich, M. (2003). Online convex programming and generalized infinitesimal gradient
       ascent. ICML, 928-936.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 2))
    >>> y = X @ [0.5, -0.5] + 0.1 * rng.normal(size=5000)
    >>> model = OnlineGradientDescentRegressor(projection="ball")
    >>> losses = model.learn_block(X, y)
    >>> best = np.linalg.lstsq(np.column_stack([X, np.ones(5000)]), y)[0]
    >>> regret = losses.sum() - np.sum((y - X @ best[:2] - best[2]) ** 2)
    >>> bool(regret < model.regret_bound_)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "loss": AnyOf(Choice(*LOSS_NAMES), Function(), help="loss whose gradient is followed"),
        "delta": Real(0, open_low=True, log=True, help="where Huber's loss turns linear"),
        **STEP_PARAMS,
    }
    card: ClassVar[Card] = Card(
        title="Online gradient descent, numbers",
        task="regression",
        weaknesses=(
            "Captures linear effects only.",
            "Needs inputs and response on one scale, which a stream cannot be given afterwards.",
            "Uses each row once: recursive least squares and online ridge get more out of it.",
        ),
        twin_of="ridge",
        **_SHARED,
    )

    def __init__(
        self,
        *,
        loss: str | Loss = "squared_error",
        delta: float = 1.0,
        learning_rate: str = "invscaling",
        eta0: float | None = None,
        power_t: float = 0.5,
        radius: float = 1.0,
        gradient_bound: float | None = None,
        horizon: int | None = None,
        projection: str | None = None,
        alpha: float = 0.0,
        average: bool = False,
        fit_intercept: bool = True,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.loss = loss
        self.delta = delta
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.radius = radius
        self.gradient_bound = gradient_bound
        self.horizon = horizon
        self.projection = projection
        self.alpha = alpha
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def _charged_loss(self) -> Loss:
        return Huber(float(self.delta)) if self.loss == "huber" else get_loss(self.loss)

    def _targets(self, y: FloatArray) -> list[FloatArray]:
        loss = self._charged_loss()
        if loss.labels != "real":
            loss(y, 0.5)  # refuses truths that are not its labels, which kernels do not notice
        return [y]

    def predict(self, X: Any) -> FloatArray:
        """Return w.x for each row."""
        X = self._check_new(X)
        return np.asarray(X @ self.coef_) + self.intercept_
