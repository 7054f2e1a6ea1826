"""Support vectors of one class: rows that are unlike the others."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin

from bottega.core.cards import Card
from bottega.core.params import Parameter, Real
from bottega.core.rows import Rows
from bottega.core.sparse import small_as_dense
from bottega.core.typing import Array, FloatArray
from bottega.kernel._inputs.points import GramRows
from bottega.kernel._support.base import GAMMA, KERNEL_PARAMS, SOLVER_PARAMS
from bottega.kernel._support.fitted import KernelMachine
from bottega.kernel._support.machines import one_class

__all__ = ["OneClass"]

_ROUNDING = 1e-12  # of the level: rows so near to the edge are on it


class OneClass(OutlierMixin, KernelMachine):
    r"""Support vectors of one class: the smallest region that holds most rows.

    Minimises, over a function f of the kernel's space and a level :math:`\rho`,

    .. math:: \tfrac12 \lVert f \rVert^2 + \sum_i v_i\, \xi_i - \nu \Bigl(\sum_i v_i\Bigr) \rho
              \quad\text{with}\quad f(x_i) \ge \rho - \xi_i, \quad \xi_i \ge 0

    for row weights :math:`v_i`. Rows with :math:`f(x) < \rho` are outliers. At most the share
    :math:`\nu` of the training rows are, and at least the share :math:`\nu` are support vectors.

    Parameters
    ----------
    nu : float, default=0.5
        Share of the rows that may be outside, above 0 and at most 1.
    kernel : {"rbf", "linear", "poly", "laplacian", "sigmoid", "precomputed"}, Kernel or callable
        The kernel: a word, an object of `bottega.kernel`, or a function of two tables that
        returns the matrix of all pairs. With ``"precomputed"`` X is that matrix.
    degree : int, default=3
        Degree of ``"poly"``.
    gamma : float, "scale" or "auto", default="scale"
        Factor in ``"rbf"``, ``"poly"``, ``"laplacian"`` and ``"sigmoid"``; ``"scale"`` is
        1 / (p var(X)), ``"auto"`` 1 / p.
    coef0 : float, default=0.0
        Constant of ``"poly"`` and ``"sigmoid"``.
    shrinking : bool, default=True
        Whether rows that stay at a bound are left out for a while; the answer is the same.
    tol : float, default=1e-3
        Largest violation of the conditions of the minimum.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix.
    verbose : bool or int, default=False
        Whether the progress of the fit is written to standard output.
    max_iter : int, default=-1
        The most rounds, in each of which several hundred rows are solved among themselves; -1 for
        no limit.

    Attributes
    ----------
    support_ : ndarray of shape (s,)
        Rows that are support vectors: on the edge of the region or outside.
    support_vectors_ : ndarray of shape (s, p)
        Their inputs.
    n_support_ : ndarray of shape (1,)
        Their number.
    dual_coef_ : ndarray of shape (1, s)
        Their coefficients.
    intercept_ : ndarray of shape (1,)
        Minus the level.
    offset_ : float
        The level: `decision_function` is `score_samples` less this.
    kernel_ : Kernel
        The kernel.
    gamma_ : float
        What was used.
    primal_objective_, dual_objective_ : float
        The two objectives; at the minimum they are equal.
    kkt_residual_ : float
        Largest violation of the conditions of the minimum.
    n_iter_ : int
        Rounds taken.
    converged_ : bool
        Whether the residual is within `tol`.
    fit_status_ : int
        0 where it is, else 1.
    shape_fit_ : tuple of int
        Rows and columns of the inputs of the fit.

    Notes
    -----
    Solved as `SupportVectorClassifier`. A fit costs about n times the number of support vectors
    times p. With a Gaussian kernel it is a density estimate on few of the rows, cut at a level.

    Do not use it with inputs on different scales, or where the share of outliers is unknown and
    matters: `nu` is that share.

    References
    ----------
    .. [1] Schoelkopf, B., Platt, J., Shawe-Taylor, J., Smola, A. and Williamson, R. (2001).
       Estimating the support of a high-dimensional distribution. Neural Computation 13, 1443-1471.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> model = OneClass(nu=0.05).fit(rng.normal(size=(200, 2)))
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "nu": Real(0, 1, open_low=True, help="share of the rows that may be outside"),
        **KERNEL_PARAMS,
        "gamma": GAMMA,
        **SOLVER_PARAMS,
    }
    card: ClassVar[Card] = Card(
        method="one_class",
        title="One-class support vectors",
        task="density",
        strengths=(
            "Finds outliers without a model of the ordinary rows, in regions of any shape.",
            "The share of training rows outside is bounded by a parameter.",
        ),
        weaknesses=(
            "The share of outliers must be known beforehand.",
            "Inputs that are noise spoil the distances.",
        ),
        assumptions=("Inputs are on one scale.", "Most of the training rows are ordinary."),
        cost="n times the support vectors times p",
        source="M801-M833",
        wide=True,
        standardize=True,
    )

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool | int = False,
        max_iter: int = -1,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        X = work.X if isinstance(work.X, GramRows) else small_as_dense(work.X)
        self.kernel_ = self._kernel_for(X, work.weight)
        self.gamma_ = self.kernel_.row_kernel.gamma
        self._warn_indefinite(X, len(work))
        machine = one_class(X, self.kernel_, work.weights, float(self.nu), self._how())
        support = np.flatnonzero(machine.beta)
        self._keep_points(work, X, support)
        self.n_support_ = np.array([len(support)])
        self.dual_coef_ = machine.beta[None, support]
        self.intercept_ = np.array([machine.bias])
        self.offset_ = -machine.bias
        self._report([machine])

    def _columns(self) -> FloatArray:
        return self.dual_coef_.T

    def _own_numbers(self) -> dict[str, float]:
        return {"level": self.offset_}

    def score_samples(self, X: Any) -> FloatArray:
        """Return f(x) of each row: the higher, the more like the training rows."""
        found = self._decide(X)[:, 0]
        near = np.abs(found - self.offset_) <= _ROUNDING * abs(self.offset_)
        return np.where(near, self.offset_, found)

    def decision_function(self, X: Any) -> FloatArray:
        """Return f(x) less the level: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """Return 1 for each row inside the region, and -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
