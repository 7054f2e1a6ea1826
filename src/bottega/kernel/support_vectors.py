"""Support vector machines for classes and for numbers."""

from collections.abc import Mapping
from typing import Any, ClassVar

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.params import (
    AnyOf,
    Auto,
    Boolean,
    Choice,
    ClassWeight,
    Parameter,
    Real,
    Seed,
)
from bottega.kernel._support.base import COST, KERNEL_PARAMS, SHARED_PARAMS, SOLVER_PARAMS
from bottega.kernel._support.classifier import PairMachines
from bottega.kernel._support.regressor import TubeMachine

__all__ = ["SupportVectorClassifier", "SupportVectorRegressor"]

_CARD: dict[str, Any] = {
    "method": "support_vectors",
    "title": "Support vectors",
    "cost": "n times the support vectors times p, for the path and each fold little more than for "
    "its last C",
    "source": "D204-D213, M801-M833",
    "wide": True,
    "standardize": True,
    "most_rows": 10_000,
}


class SupportVectorClassifier(PairMachines):
    r"""Support vector machine: the boundary of widest margin in the space of a kernel.

    Minimises, over a function f of the kernel's space and a bias b,

    .. math:: \tfrac12 \lVert f \rVert^2 + C \sum_i v_i\, \xi_i
              \quad\text{with}\quad y_i (f(x_i) + b) \ge 1 - \xi_i, \quad \xi_i \ge 0

    for labels -1 and +1 and row weights :math:`v_i`; with ``C=inf`` no slack :math:`\xi` is
    allowed (hard margin). The margin is :math:`2 / \lVert f \rVert`, and f is a sum over the
    support vectors, the rows on the margin or on its wrong side. More than two classes are decided
    by machines for all pairs of them, by vote; of equal votes the first class wins.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Cost of slack, above 0: the larger, the narrower the margin. ``inf`` is the hard margin.
        ``"auto"`` picks from the path by the rule `select`.
    kernel : {"rbf", "linear", "poly", "laplacian", "sigmoid", "precomputed"}, Kernel or callable
        The kernel: a word, an object of `bottega.kernel`, or a function of two tables that
        returns the matrix of all pairs. With ``"precomputed"`` X is that matrix.
    degree : int, default=3
        Degree of ``"poly"``.
    gamma : float, "scale", "auto", "path" or list of float, default="scale"
        Factor in ``"rbf"``, ``"poly"``, ``"laplacian"`` and ``"sigmoid"``; ``"scale"`` is
        1 / (p var(X)), ``"auto"`` 1 / p, as in scikit-learn. ``"path"`` chooses it together with C,
        from five values, each four times the one before and about ``"scale"``; a list from its own.
    coef0 : float, default=0.0
        Constant of ``"poly"`` and ``"sigmoid"``.
    shrinking : bool, default=True
        Whether rows that stay at a bound are left out for a while; the answer is the same.
    probability : bool, "sigmoid" or "isotonic", default=True
        Whether there are probabilities, by Platt's sigmoid (True) or by isotonic regression. They
        take no further fits, but a linear system of the rows on the margin, about half the time of
        a fit; scikit-learn's, which are off by default, take five more fits.
    tol : float, default=1e-3
        Largest violation of the conditions of the minimum.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; it multiplies C and the weights of the rows.
    verbose : bool or int, default=False
        Whether the progress of the fit is written to standard output.
    max_iter : int, default=-1
        The most rounds, in each of which several hundred rows are solved among themselves; -1 for
        no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With more than two classes, what `decision_function` returns: a score per class, or the
        values of the machines of all pairs.
    break_ties : bool, default=False
        Whether the scores of the classes decide between equal votes.
    random_state : int or None, default=None
        Accepted for compatibility: nothing here is random.
    select : {"min", "one_se"}, default="min"
        Rule that picks from the path.
    Cs : int or list of float, default=10
        Values of C on the path: how many, or which.
    cv : int, splitter or list of (train, test), default=10
        Number of folds that judge the path by their misclassification. Each class is spread over
        the folds. Or the folds themselves.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    support_ : ndarray of shape (s,)
        Rows that are support vectors, class by class.
    support_vectors_ : ndarray of shape (s, p)
        Their inputs.
    n_support_ : ndarray of shape (K,)
        Their number in each class.
    dual_coef_ : ndarray of shape (K - 1, s)
        Their coefficients, label times dual variable, in every pair of classes; the positive ones
        are of the second class if there are two, else of the first class of the pair.
    intercept_ : ndarray of shape (K (K - 1) / 2,)
        Bias of each machine: the mean over all support vectors that are on the margin.
    coef_ : ndarray of shape (K (K - 1) / 2, p)
        Coefficients of the inputs, of the linear kernel alone.
    margin_ : float, or ndarray with more than two classes
        Width of the margin of each machine.
    kernel_ : Kernel
        The kernel.
    C_, gamma_ : float
        What was used.
    primal_objective_, dual_objective_ : float, or ndarray with more than two classes
        The two objectives of each machine; at the minimum they are equal.
    kkt_residual_ : float
        Largest violation of the conditions of the minimum (Karush, Kuhn, Tucker): by how much a
        pair of rows could still improve the objective, to first order.
    n_iter_ : int
        Rounds taken.
    converged_ : bool
        Whether the residual is within `tol`.
    fit_status_ : int
        0 where it is, else 1.
    shape_fit_ : tuple of int
        Rows and columns of the inputs of the fit.
    path_ : Path
        With ``C="auto"`` or several `gamma`: the error of each setting.

    See Also
    --------
    SupportVectorRegressor : the same for numbers.

    Notes
    -----
    The dual problem is solved by sequential minimal optimization [1]_ with working sets of second
    order [2]_, several hundred rows at a time, so that kernels are computed as products of
    matrices. A fit costs about n times the number of support vectors times p. On a path each C
    starts from the solution of the one before; the values run from 0.01 to 100, over the mean of
    the kernel's diagonal. Up to 2,000 rows, with at most 1,000 on the margin, the solution ends
    with the linear system of those and is exact, whatever `tol`. Of more rows a Gaussian kernel is
    computed in single precision, and again in double precision where rounding could matter.

    Probabilities are fitted to the decision values of rows left out, by the span rule, which needs
    no further fits; of several classes they come from coupled pairs. They need not agree with
    `predict`.

    Do not use it with inputs on different scales (standardise them first), with many rows
    (beyond some 50,000), or where many inputs are noise: the kernel cannot leave them out.

    References
    ----------
    .. [1] Platt, J. (1998). Fast training of support vector machines using sequential minimal
       optimization. Advances in Kernel Methods, 185-208. MIT Press.
    .. [2] Fan, R.-E., Chen, P.-H. and Lin, C.-J. (2005). Working set selection using second order
       information for training support vector machines. JMLR 6, 1889-1918.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    >>> model = SupportVectorClassifier(np.inf, kernel="linear").fit(X, [-1, -1, 1, 1])
    >>> model.support_, model.dual_coef_, model.margin_
    (array([1, 2]), array([[-0.5,  0.5]]), 2.0)
    >>> model.predict([[0.5]])
    array([1])
    """

    walks: ClassVar[Mapping[str, Any]] = {"C": "auto", "gamma": "auto"}
    params: ClassVar[Mapping[str, Parameter]] = {
        "C": Auto(COST, help="cost of slack; inf for the hard margin"),
        **KERNEL_PARAMS,
        "shrinking": SOLVER_PARAMS["shrinking"],
        "probability": AnyOf(
            Boolean(), Choice("sigmoid", "isotonic"), help="whether and how to give probabilities"
        ),
        "tol": SOLVER_PARAMS["tol"],
        "cache_size": SOLVER_PARAMS["cache_size"],
        "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
        "verbose": SOLVER_PARAMS["verbose"],
        "max_iter": SOLVER_PARAMS["max_iter"],
        "decision_function_shape": Choice(
            "ovr", "ovo", help="a score per class, or the values of all pairs"
        ),
        "break_ties": Boolean(help="let the scores decide between equal votes"),
        "random_state": Seed(help="accepted for compatibility"),
        **SHARED_PARAMS,
    }
    card: ClassVar[Card] = Card(
        task="classification",
        strengths=(
            "Curved boundaries of any shape, by the choice of a kernel.",
            "Its solution is unique, and depends on the support vectors alone.",
            "Works with many more columns than rows: of all boundaries it takes the widest margin.",
        ),
        weaknesses=(
            "Inputs that are noise spoil the distances, and are not left out.",
            "Cannot be read, but for the linear kernel.",
            "Its cost grows faster than the number of rows.",
            "Probabilities are fitted afterwards, and need not agree with its decisions.",
        ),
        assumptions=(
            "Inputs are on one scale, and all of them matter.",
            "Points that are near in the space of the kernel are mostly of one class.",
        ),
        **_CARD,
    )

    def __init__(
        self,
        C: float | str = 1.0,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        select: str = "min",
        Cs: Any = 10,
        cv: Any = 10,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.select = select
        self.Cs = Cs
        self.cv = cv


@documented_like(
    SupportVectorClassifier,
    without=("classes_", "n_support_", "margin_", "dual_coef_", "intercept_", "coef_"),
)
class SupportVectorRegressor(TubeMachine):
    r"""Support vector regression: the flattest function with most rows inside a tube around it.

    Minimises, over a function f of the kernel's space and a bias b,

    .. math:: \tfrac12 \lVert f \rVert^2 + C \sum_i v_i\, \xi_i
              \quad\text{with}\quad |y_i - f(x_i) - b| \le \varepsilon + \xi_i, \quad \xi_i \ge 0

    for row weights :math:`v_i`. Rows inside the tube of half width epsilon cost nothing, and are
    no support vectors; the loss of the others is linear, so that outliers count for little.

    Parameters
    ----------
    C : float, "scale" or "auto", default="scale"
        Cost of slack, above 0, in units of the response: the larger, the more closely f follows
        the rows. ``inf`` allows no row outside of the tube. ``"scale"`` is the standard deviation
        of the response, and ``"auto"`` picks from the path by the rule `select`.
    epsilon : float or "scale", default="scale"
        Half width of the tube, in units of the response; ``"scale"`` is a tenth of its standard
        deviation.
    tol : float, default=1e-3
        Largest violation of the conditions of the minimum, in standard deviations of the response.
    cv : int, splitter or list of (train, test), default=10
        Number of folds that judge the path by their squared error, or the folds themselves.

    Attributes
    ----------
    support_ : ndarray of shape (s,)
        Rows that are support vectors: on the edge of the tube or outside of it.
    n_support_ : ndarray of shape (1,)
        Their number.
    dual_coef_ : ndarray of shape (1, s)
        Their coefficients: positive for rows above the tube.
    intercept_ : ndarray of shape (1,)
        Bias: the mean over all support vectors on the edge of the tube.
    coef_ : ndarray of shape (1, p)
        Coefficients of the inputs, of the linear kernel alone.
    epsilon_ : float
        Half width of the tube.

    See Also
    --------
    SupportVectorClassifier : the same for classes.

    Notes
    -----
    Solved as `SupportVectorClassifier`, with one coefficient per row between -C and C. The path
    has values of C in standard deviations of the response.

    Do not use it with inputs on different scales (standardise them first), with many rows
    (beyond some 50,000), or where many inputs are noise: the kernel cannot leave them out.

    References
    ----------
    .. [1] Smola, A. J. and Schoelkopf, B. (2004). A tutorial on support vector regression.
       Statistics and Computing 14, 199-222.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = SupportVectorRegressor(10.0, gamma=1.0, epsilon=0.1).fit(X, np.sin(X[:, 0]))
    >>> len(model.support_), model.predict([[1.5]]).round(1)
    (8, array([0.9]))
    """

    walks: ClassVar[Mapping[str, Any]] = {"C": "auto", "gamma": "auto"}
    params: ClassVar[Mapping[str, Parameter]] = {
        "C": AnyOf(Choice("scale", "auto"), COST, help="cost of slack; inf for none"),
        **KERNEL_PARAMS,
        "epsilon": AnyOf(Choice("scale"), Real(0), help="half width of the tube"),
        **SOLVER_PARAMS,
        **SHARED_PARAMS,
    }
    card: ClassVar[Card] = Card(
        task="regression",
        strengths=(
            "Curves and surfaces of any shape, by the choice of a kernel.",
            "Outliers in the response count for little: its loss is linear, and zero in a tube.",
            "Works with many more columns than rows.",
        ),
        weaknesses=(
            "Inputs that are noise spoil the distances, and are not left out.",
            "Cannot be read, but for the linear kernel, and has no standard errors.",
            "Its cost grows faster than the number of rows.",
        ),
        assumptions=(
            "Inputs are on one scale, and all of them matter.",
            "The response is smooth in the space of the kernel.",
        ),
        **_CARD,
    )

    def __init__(
        self,
        C: float | str = "scale",
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        epsilon: float | str = "scale",
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool | int = False,
        max_iter: int = -1,
        select: str = "min",
        Cs: Any = 10,
        cv: Any = 10,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.select = select
        self.Cs = Cs
        self.cv = cv
