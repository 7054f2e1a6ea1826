"""Rosenblatt's perceptron, with what its theorems say about a fit."""

import math
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core import progress
from bottega.core.cards import Card
from bottega.core.certificate import Certificate
from bottega.core.documents import documented_like
from bottega.core.errors import ConvergenceWarning, InputError
from bottega.core.losses import ZERO_ONE, Loss
from bottega.core.params import AnyOf, Boolean, Choice, Integer, OrNone, Parameter
from bottega.core.typing import Array, FloatArray
from bottega.online._kernels import perceptron as _kernels
from bottega.online._learner.base import is_sparse
from bottega.online._learner.classifier import OnlineClassifier
from bottega.online._learner.convergence import convergence_trace, with_constant
from bottega.online._stream.blocks import dense_rows
from bottega.online.gradient_descent import OnlineGradientDescentClassifier
from bottega.online.regret.mistake_bound import mistake_bound
from bottega.risk.bounds import perceptron_compression
from bottega.risk.theory.margin import separable

__all__ = ["Perceptron"]

_SMALL_PROBLEM = 1_000_000  # numbers in X up to which separability is decided by linear programming
_PASSES: dict[bool, tuple[Any, Any]] = {  # for two classes, for more
    False: (_kernels.perceptron_dense, _kernels.perceptron_many_dense),
    True: (_kernels.perceptron_csr, _kernels.perceptron_many_csr),
}
_OF_A_FIT = (
    "updated_rows_",
    "updates_by_epoch_",
    "error_outside_",
    "trace_",
    "separator_",
    "convergence_bound_",
)


@documented_like(OnlineGradientDescentClassifier, without=("max_gradient_", "regret_bound_"))
class Perceptron(OnlineClassifier):
    r"""The perceptron: learn from mistakes only.

    Starts at :math:`w = 0` and goes through the rows in their order; where
    :math:`y\, w^\top x \le 0` it sets :math:`w \leftarrow w + y x`. With more than two classes
    there is one vector per class, and where a rival scores at least as much as the true class,
    x is added to the vector of the truth and taken from that of the best rival (Kesler's
    construction); for two classes this is the plain rule. Labels are any two values, the second in
    sorted order counts as +1, and sgn(0) = +1.

    Parameters
    ----------
    epochs : int, "auto" or None
        Passes over the rows of `fit`, fewer if one of them is without a mistake. "auto" (or None)
        goes on until such a clean pass, which comes if and only if the rows are linearly
        separable; it stops with a warning when the weights return to where they were or after
        `max_epochs`.
    max_epochs : int
        The most passes of ``epochs="auto"``.
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
        Whether the last pass of `fit` was without a mistake.
    n_epochs_ : int
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
    >>> model = Perceptron(epochs="auto", trace=True).fit(X, [-1, 1, 1, 1])
    >>> model.coef_, model.intercept_, model.updates_by_epoch_
    (array([[2., 2.]]), array([-1.]), array([3, 1, 2, 2, 1, 0]))
    >>> model.n_updates_, round(model.convergence_bound_, 6)
    (9, 27.0)
    """

    _may_change: ClassVar[tuple[str, ...]] = ("epochs", "max_epochs", "trace")

    params: ClassVar[Mapping[str, Parameter]] = {
        "epochs": OrNone(
            AnyOf(Choice("auto"), Integer(1)), help="passes; auto: until one has no mistake"
        ),
        "max_epochs": Integer(1, help="most passes of epochs='auto'"),
        "average": Boolean(help="predict by the mean of the weights over time"),
        "fit_intercept": Boolean(help="append the constant 1 to the inputs"),
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
        cost="epochs n p",
        source="A60-A61, A66, B01-B14",
        standardize=True,
        ordered=True,
        wide=True,
    )

    def __init__(
        self,
        *,
        epochs: int | str | None = 10,
        max_epochs: int = 1000,
        average: bool = False,
        fit_intercept: bool = True,
        trace: bool = False,
    ) -> None:
        self.epochs = epochs
        self.max_epochs = max_epochs
        self.average = average
        self.fit_intercept = fit_intercept
        self.trace = trace

    def _charged_loss(self) -> Loss:
        return ZERO_ONE

    def _start(self) -> None:
        width = self._width()
        self._weights = np.zeros((self._vectors, width))
        self._past = np.zeros((self._vectors, width if self.average else 0))
        self.n_updates_ = self.n_updated_rows_ = 0
        self.max_norm_ = 0.0

    def _targets(self, y: Array) -> Array:
        return 2.0 * y - 1.0 if self._vectors == 1 else y

    def _learn_rows(self, X: Any, targets: Array, *, charge: bool) -> FloatArray:
        for name in _OF_A_FIT:
            self.__dict__.pop(name, None)
        losses = self._pass(X, targets)
        self.n_updated_rows_ += int(losses.sum())
        self.converged_, self.n_epochs_ = False, 1
        return losses

    def _pass(self, X: Any, targets: Array) -> FloatArray:
        """Go through the rows once; return 1 for each mistake."""
        weights, past = self._weights.copy(), self._past.copy()
        losses = np.empty(len(targets))
        rows = (X.indptr, X.indices, X.data) if is_sparse(X) else (X,)
        shared = (bool(self.fit_intercept), float(self.n_samples_seen_))
        one, many = _PASSES[is_sparse(X)]
        if len(weights) == 1:
            longest, total = one(*rows, targets, weights[0], *shared, past[0], losses)
        else:
            longest, total = many(*rows, targets, weights, *shared, past, losses)
        if not math.isfinite(total):
            self._refuse(X, "The squares of the inputs overflow: bring them to a smaller scale.")
        self._weights, self._past = weights, past
        self.n_updates_ += int(losses.sum())
        self.n_samples_seen_ += len(losses)
        self.max_norm_ = max(self.max_norm_, float(np.sqrt(longest)))
        return losses

    def _learn_epochs(self, X: Any, targets: Array) -> None:
        if self.trace and self._vectors > 1:
            raise InputError(
                f"trace=True follows the proof for two classes and y has {len(self.classes_)}; set "
                "trace=False."
            )
        until_clean = self.epochs in (None, "auto")
        limit = int(self.max_epochs if until_clean else self.epochs)  # type: ignore[arg-type]
        updated: list[Array] = []
        # An epoch depends on the weights it starts from alone, so weights that come back at the end
        # of one will come back for ever. They are compared with those of epoch 0, 1, 2, 4, 8 ...
        earlier, refresh, returned = self._weights, 1, False
        for epoch in range(1, limit + 1):
            updated.append(np.flatnonzero(self._pass(X, targets)))
            if limit > 1:
                progress.report("epochs", epoch, limit)
            if not len(updated[-1]):
                break
            if until_clean and np.array_equal(self._weights, earlier):
                returned = True
                break
            if epoch == refresh:
                earlier, refresh = self._weights, 2 * refresh
        self.updates_by_epoch_ = np.array([len(rows) for rows in updated])
        self.n_epochs_ = len(updated)
        self.converged_ = not len(updated[-1])
        self.updated_rows_ = np.unique(np.concatenate(updated))
        self.n_updated_rows_ = len(self.updated_rows_)
        outside = np.delete(np.arange(len(targets)), self.updated_rows_)
        if len(outside):
            decided = self._targets(self._decide(X[outside]))
            self.error_outside_ = float(np.mean(decided != targets[outside]))
        if self.trace:
            self.trace_, self.separator_, self.convergence_bound_ = convergence_trace(
                X, targets, updated, self.fit_intercept
            )
        if until_clean and not self.converged_:
            warnings.warn(self._why_not(X, targets, returned), ConvergenceWarning, stacklevel=7)

    def _why_not(self, X: Any, targets: Array, returned: bool) -> str:
        """Return why there was no clean pass, and what to do."""
        cure = "set epochs to a number, with average=True, or add columns (a basis)"
        if returned:
            return (
                f"After {self.n_epochs_} passes the perceptron's weights are back where they were: "
                f"the rows are not linearly separable and it would never end; {cure}."
            )
        found = f"No pass of max_epochs={self.max_epochs} was without a mistake"
        if self._vectors > 1 or X.shape[0] * X.shape[1] > _SMALL_PROBLEM:
            return (
                f"{found}, and whether the rows are linearly separable was not checked (too large, "
                f"or more than two classes); raise max_epochs, or {cure}."
            )
        if separable(dense_rows(X, self.fit_intercept), targets):
            return f"{found}, but the rows are linearly separable; raise max_epochs."
        return f"{found}: the rows are not linearly separable; {cure}."

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
            rows are no longer available for testing) and with `average` (the mean depends on all
            rows).
        """
        check_is_fitted(self)
        if not hasattr(self, "updated_rows_"):
            raise InputError(
                "The compression bound needs the rows of a fit; call fit, not partial_fit."
            )
        if self._past.shape[1]:
            raise InputError(
                "The mean of the weights depends on all rows, not on the updated ones alone, so "
                "the compression bound says nothing about it; set average=False."
            )
        m = self.n_samples_seen_ // self.n_epochs_
        if 2 * self.n_updated_rows_ > m:
            raise InputError(
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
        rows = with_constant(self._check_new(X), self.fit_intercept)
        signs = self._targets(self._codes(np.asarray(y), None, new=False))
        found = mistake_bound(u, rows, signs, times=self.n_epochs_, max_norm=self.max_norm_)
        return found.value
