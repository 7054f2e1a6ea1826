"""Rosenblatt's perceptron, with what its theorems say about a fit."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.certificate import Certificate
from bottega.core.documents import documented_like
from bottega.core.errors import InputError, NotKept
from bottega.core.losses import ZERO_ONE, Loss
from bottega.core.params import AnyOf, Boolean, Choice, Integer, Jobs, OrNone, Parameter, Real, Seed
from bottega.online._learner.base import with_constant
from bottega.online._learner.classifier import CLASS_WEIGHT
from bottega.online._learner.mistakes import MistakeDriven
from bottega.online.gradient_descent import OnlineGradientDescentClassifier
from bottega.online.regret.mistake_bound import mistake_bound
from bottega.risk.bounds import perceptron_compression

__all__ = ["Perceptron"]


@documented_like(OnlineGradientDescentClassifier, without=("max_gradient_", "regret_bound_"))
class Perceptron(MistakeDriven):
    r"""The perceptron: learn from mistakes only.

    Starts at :math:`w = 0` and goes through the rows in their order; where
    :math:`y\, w^\top x \le 0` it sets :math:`w \leftarrow w + y x`. With more than two classes
    there is one vector per class, and where a rival scores at least as much as the true class,
    x is added to the vector of the truth and taken from that of the best rival (Kesler's
    construction); for two classes this is the plain rule. Labels are any two values, the second in
    sorted order counts as +1, and sgn(0) = +1.

    Parameters
    ----------
    penalty : {None, "l2", "l1", "elasticnet"}
        Shrink the weights (not the intercept) a little at every row: by a factor, towards zero by
        a fixed amount, or both.
    alpha : float
        Size of the penalty.
    l1_ratio : float
        Share of "l1" in the penalty "elasticnet".
    max_iter : int
        The most passes over the rows of `fit`; without a penalty, a pass without a mistake is the
        last one.
    tol : float or None
        Stop when the objective per row (or, with `early_stopping`, the error) has not fallen by
        this much for `n_iter_no_change` passes. None: only `max_iter` and a clean pass end a fit.
    until_clean : bool
        The fit is meant to end with a pass without a mistake, which comes if and only if the rows
        are linearly separable: warn if `max_iter` passes brought none, and stop when the weights
        return to where they were.
    eta0 : float
        Step size. Without a penalty it only changes the length of the weights.
    early_stopping : bool
        Hold out `validation_fraction` of the rows of `fit` and stop by the error on them.
    validation_fraction : float
        Share of the rows that are held out.
    n_iter_no_change : int
        Passes without improvement by `tol` after which a fit stops.
    warm_start : bool
        Start from the weights of the last fit instead of zero.
    verbose : int
        Whether the progress of the fit is written to standard output.
    n_jobs : int or None
        Accepted for compatibility: all classes are learned together, in one pass.
    average : bool
        Predict by the mean of the weights after each row instead of the last weights. It costs
        nothing extra and is much steadier on rows that are not separable.
    fit_intercept : bool
        Append the constant 1 to the inputs as their last column: a hyperplane that need not
        contain the origin. Its weight is learned as the others.
    trace : bool
        Keep the quantities of the convergence proof at each update in `trace_`, and solve for the
        separator of least norm. For two classes, and rows that fit in memory.

    Attributes
    ----------
    n_updates_ : int
        Updates made, M in the convergence and mistake bounds.
    n_updated_rows_ : int
        Distinct rows that caused an update, M in the compression bound. In a stream every row is
        distinct.
    max_norm_ : float
        Largest norm of a row, the constant included.
    converged_ : bool
        Whether the last pass of `fit` was without a mistake, or `tol` has ended it.
    n_iter_ : int
        Passes of `fit`, the clean one included; 1 for a stream.
    updates_by_epoch_ : ndarray of shape (E,)
        Updates of each of the E passes of `fit`.
    updated_rows_ : ndarray of int
        The distinct rows of `fit` that caused an update, in order. Learning from these alone, in
        this order, gives the same weights.
    error_outside_ : float
        Error rate of the fitted classifier on the rows of `fit` that never caused an update.
        Missing if all of them did.
    trace_ : dict of ndarray
        With `trace`, one entry per update: `epoch`, `row`, `norm2` (squared norm of w),
        `norm2_limit` (number of updates times the largest squared norm of a row, never less) and
        `alignment` (w.u for the separator u of least norm, never less than the number of updates).
    separator_ : ndarray of shape (d,) or None
        With `trace`, the u of least norm with :math:`y_t u^\top x_t \ge 1` for all rows, the
        intercept last; None where the rows are not separable.
    convergence_bound_ : float
        With `trace`, the most updates a perceptron can make on these rows:
        :math:`\lVert u \rVert^2 \max_t \lVert x_t \rVert^2`; infinite where they are not separable.

    Notes
    -----
    A row costs p operations, times K for more than two classes; a CSR row the number of its
    entries. Memory is the weights. Inputs are taken as they are: scaling by what is known of all
    rows is not possible in a stream, and columns on very different scales make for many updates.

    Do not use it where probabilities are wanted, or on rows that are far from separable without
    `average`: the last weights then keep changing.

    References
    ----------
    .. [1] Rosenblatt, F. (1958). The perceptron: a probabilistic model for information storage and
       organization in the brain. Psychological Review 65, 386-408.
    .. [2] Novikoff, A. B. (1962). On convergence proofs on perceptrons. Symposium on the
       Mathematical Theory of Automata 12, 615-622.
    .. [3] Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron
       algorithm. Machine Learning 37, 277-296.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = Perceptron(max_iter=100, until_clean=True, trace=True).fit(X, [-1, 1, 1, 1])
    >>> model.coef_, model.intercept_, model.updates_by_epoch_
    (array([[2., 2.]]), array([-1.]), array([3, 1, 2, 2, 1, 0]))
    >>> model.n_updates_, round(model.convergence_bound_, 6)
    (9, 27.0)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "penalty": OrNone(Choice("l2", "l1", "elasticnet"), help="how weights are shrunk"),
        "alpha": Real(0, log=True, help="size of the penalty"),
        "l1_ratio": Real(0, 1, help="share of l1 in the penalty elasticnet"),
        "fit_intercept": Boolean(help="append the constant 1 to the inputs"),
        "max_iter": Integer(1, help="most passes over the rows of fit"),
        "tol": OrNone(Real(0), help="least improvement that counts; None: any number of passes"),
        "shuffle": Boolean(help="take the rows of fit in a new order in each pass"),
        "verbose": AnyOf(Integer(0), Boolean(), help="whether progress is written"),
        "eta0": Real(0, open_low=True, help="step size"),
        "n_jobs": Jobs(),
        "random_state": Seed(help="seed of the orders of shuffle and of the rows held out"),
        "early_stopping": Boolean(help="stop by the error on rows that are held out"),
        "validation_fraction": Real(
            0, 1, open_low=True, open_high=True, help="share of the rows that are held out"
        ),
        "n_iter_no_change": Integer(1, help="passes without improvement that end a fit"),
        "class_weight": CLASS_WEIGHT,
        "warm_start": Boolean(help="start from the weights of the last fit"),
        "until_clean": Boolean(help="go on until a pass has no mistake, and warn if none comes"),
        "average": Boolean(help="predict by the mean of the weights over time"),
        "trace": Boolean(help="keep the quantities of the convergence proof"),
    }
    card: ClassVar[Card] = Card(
        method="perceptron",
        title="Perceptron",
        task="classification",
        strengths=(
            "Learns row by row, millions of rows per second.",
            "Its mistakes are bounded on every stream, by a number that can be computed.",
            "Its risk is bounded by how few rows it had to learn from.",
        ),
        weaknesses=(
            "Separates classes by a hyperplane only.",
            "Without averaging, its last weights are erratic on rows that are not separable.",
            "Gives no probabilities, and the order of the rows matters.",
        ),
        assumptions=(
            "A hyperplane separates the classes, or nearly so.",
            "Columns are on comparable scales.",
        ),
        cost="max_iter n p",
        source="A60-A61, A66, B01-B14",
        standardize=True,
        ordered=True,
        wide=True,
    )

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 10,
        tol: float | None = None,
        shuffle: bool = False,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        until_clean: bool = False,
        average: bool = False,
        trace: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.until_clean = until_clean
        self.average = average
        self.trace = trace

    def _charged_loss(self) -> Loss:
        return ZERO_ONE

    def certificate(self, delta: float = 0.05) -> Certificate:
        r"""Return the compression bound on the risk of the fitted classifier.

        The weights depend on the M distinct rows that caused an update alone; the other
        :math:`m - M` rows test them. With probability at least :math:`1 - \delta` the risk is at
        most their error rate plus
        :math:`\sqrt{\frac 1m \left((M + 1) \ln m + \ln \frac e\delta\right)}`.

        Parameters
        ----------
        delta : float
            Probability with which the claim may be false.

        Returns
        -------
        Certificate
            Needs at most half of the rows updated; refused otherwise, after `partial_fit` (the
            rows are no longer available for testing), and where the weights depend on the other
            rows too: with `average`, a penalty, `tol`, weights or `warm_start`.
        """
        check_is_fitted(self)
        if not hasattr(self, "updated_rows_"):
            raise NotKept(
                "The compression bound needs the rows of a fit; call fit, not partial_fit."
            )
        if self._past.shape[1]:
            raise NotKept(
                "The mean of the weights depends on all rows, not on the updated ones alone, so "
                "the compression bound says nothing about it; set average=False."
            )
        if self._rule_is_changed() or self._weighted or self.tol is not None:
            raise NotKept(
                "The compression bound is for the plain rule, whose weights depend on the updated "
                "rows alone; leave out penalty, eta0, tol, weights, early_stopping and warm_start."
            )
        m = self.n_samples_seen_ // self.n_iter_
        if 2 * self.n_updated_rows_ > m:
            raise NotKept(
                f"{self.n_updated_rows_} of {m} rows caused an update; the compression bound needs "
                "at most half. Use risk.certify with rows kept for testing."
            )
        bound = perceptron_compression(self.error_outside_, self.n_updated_rows_, m, delta)
        return Certificate(
            estimate=self.error_outside_,
            lower=0.0,
            upper=max(self.error_outside_, min(1.0, float(bound))),
            delta=delta,
            method="perceptron compression bound",
            assumptions=(
                "The rows are independent draws from one distribution, new ones too.",
                "The order of the rows and the number of passes were chosen without looking at "
                "the labels.",
            ),
            n=m - self.n_updated_rows_,
            quantity="risk (zero-one loss)",
        )

    @property
    def certificate_(self) -> Certificate:
        """The compression bound with confidence 95%, see `certificate`."""
        return self.certificate()

    def mistake_bound(self, u: Any, X: Any, y: Any) -> float:
        r"""Return the most mistakes a perceptron can make on a stream, by a comparator u.

        :math:`\sum_t h_t(u) + (\lVert u \rVert R)^2 + \lVert u \rVert R \sqrt{\sum_t h_t(u)}` with
        the hinge losses :math:`h_t(u) = \max(0, 1 - y_t u^\top x_t)` and R the largest norm of a
        row. It holds for every u, separable or not.

        Parameters
        ----------
        u : array-like of shape (d,)
            Comparator; with an intercept its weight is the last of ``d = p + 1``.
        X, y : array-like
            The rows this model learned from. Where `fit` went through them several times, so does
            the bound.

        Returns
        -------
        float
            `n_updates_` is never larger.
        """
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise InputError(f"The bound is for two classes; there are {len(self.classes_)}.")
        if self._rule_is_changed() or getattr(self, "_weighted", False):
            raise InputError(
                "The bound is for the plain rule; leave out penalty, eta0, weights, early_stopping "
                "and warm_start."
            )
        rows = with_constant(self._check_new(X), self.fit_intercept)
        signs = self._targets(self._codes(np.asarray(y), None, new=False))
        found = mistake_bound(u, rows, signs, times=self.n_iter_, max_norm=self.max_norm_)
        return found.value
