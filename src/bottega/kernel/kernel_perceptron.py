"""The perceptron in the space of a kernel."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.classes import NoProbabilities, check_classes, decided
from bottega.core.errors import InputError, NotKept
from bottega.core.estimator import Unweighted
from bottega.core.frames import take_rows
from bottega.core.params import AnyOf, Boolean, Choice, Integer, OrNone, Parameter, Real, Seed
from bottega.core.results import CoefficientResults, glance_row, tidy_columns
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.kernel._inputs.points import KERNEL, KernelInputs, finite_kernel
from bottega.kernel._perceptron.updates import Updates, learn_pass
from bottega.kernel.expansion import KernelExpansion
from bottega.risk.bounds import kernel_perceptron, perceptron_mistakes
from bottega.risk.theory.margin import hard_margin, separable

__all__ = ["KernelPerceptron"]

_WHOLE = 5000  # rows up to which the kernel matrix is computed once
_BLOCK = 2**22  # kernels in a block of new rows


class KernelPerceptron(
    NoProbabilities, CoefficientResults, KernelInputs, ClassifierMixin, Unweighted
):
    r"""The perceptron on the features of a kernel: learn from mistakes only.

    Starts at :math:`f = 0` and goes through the rows in their order; where
    :math:`y f(x) \le 0` it sets :math:`f \leftarrow f + y K(x, \cdot)`. With more than two classes
    there is one function per class, and where a rival scores at least as much as the true class,
    K(x, .) is added to the function of the truth and taken from that of the best rival. With the
    linear kernel this is `bottega.online.Perceptron` without intercept. Labels are any two values,
    the second in sorted order counts as +1, and sgn(0) = +1.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        ``"rbf"`` (Gaussian), ``"linear"``, ``"poly"``, ``"laplacian"``, ``"sigmoid"``,
        ``"cosine"``; a kernel object, for texts too; a function of two tables; or
        ``"precomputed"``, where X is the matrix of the kernels of all pairs.
    gamma : float, "scale", "auto" or None, default="scale"
        Factor in the kernel: ``"scale"`` is 1 / (p var(X)), ``"auto"`` and None are 1 / p.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial and the sigmoid kernel.
    combine : {"average", "vote", "last"}, default="average"
        Predict by the mean of the functions after each row; by their votes, each function with the
        number of rows that it lasted; or by the last one.
    max_iter : int, default=10
        Most passes over the rows; a pass without a mistake is the last one.
    shuffle : bool, default=False
        Whether to take the rows in a new order in each pass.
    random_state : int, RandomState, Generator or None, default=0
        Seed of these orders.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, in sorted order.
    kernel_ : Kernel
        The kernel in use.
    n_updates_ : int
        Updates made, M in the bounds.
    support_ : ndarray of int
        The distinct rows that caused an update.
    support_vectors_ : ndarray, sparse matrix or objects
        Their inputs.
    dual_coef_ : ndarray of shape (n_support, 1) or (n_support, n_classes)
        Coefficients of the kernels with them: of the mean function with ``combine="average"``, else
        of the last one.
    updates_by_epoch_ : ndarray of int
        Updates of each pass.
    n_iter_ : int
        Passes, the clean one included.
    converged_ : bool
        Whether the last pass was without a mistake: the rows are separated.
    max_kernel_ : float
        Largest K(x, x) of a row.
    expansion_ : KernelExpansion
        The function of two classes, with its norm.

    Notes
    -----
    A pass costs n times the number of distinct rows updated so far; up to 5,000 rows the kernel
    matrix is computed once. A prediction costs as many kernels as there are such rows; of votes it
    also takes the number of updates.

    On any rows and for every f of the kernel's space the number of updates is at most
    :math:`H + (\lVert f \rVert R)^2 + \lVert f \rVert R \sqrt H`, with the sum H of the hinge
    losses of f and :math:`R^2 = \max_t K(x_t, x_t)`; for f that separates with margin 1 this is
    :math:`\lVert f \rVert^2 R^2`.

    Do not use it where probabilities are wanted, or on many rows that are far from separable: most
    of them become part of the function.

    References
    ----------
    .. [1] Aizerman, M. A., Braverman, E. M. and Rozonoer, L. I. (1964). Theoretical foundations of
       the potential function method in pattern recognition learning. Automation and Remote Control
       25, 821-837.
    .. [2] Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron
       algorithm. Machine Learning 37, 277-296.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, combine="last", max_iter=100)
    >>> model.fit(X, [-1, 1, 1, -1]).predict(X)  # exclusive or
    array([-1,  1,  1, -1])
    >>> model.converged_, model.n_updates_ <= model.convergence_bound()
    (True, True)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "kernel": KERNEL,
        "gamma": OrNone(
            AnyOf(Choice("scale", "auto"), Real(0, None, open_low=True, log=True)),
            help="factor in the kernel",
        ),
        "degree": Integer(1, help="degree of the polynomial kernel"),
        "coef0": Real(help="constant of the polynomial and the sigmoid kernel"),
        "combine": Choice("average", "vote", "last", help="which of the functions predict"),
        "max_iter": Integer(1, help="most passes over the rows"),
        "shuffle": Boolean(help="take the rows in a new order in each pass"),
        "random_state": Seed(help="seed of the orders of shuffle"),
    }
    card: ClassVar[Card] = Card(
        method="kernel_perceptron",
        title="Kernel perceptron",
        task="classification",
        strengths=(
            "Curved boundaries from one simple rule, on whatever has a kernel.",
            "Its updates are bounded on every sequence of rows, by a number that can be computed.",
            "Averaged or voted it comes close to a support vector machine at a fraction of the "
            "work.",
        ),
        weaknesses=(
            "Gives no probabilities, and the order of the rows matters.",
            "Where classes overlap most rows become part of the function.",
            "Depends on the scale of the inputs: standardise them.",
        ),
        assumptions=(
            "A function of the kernel's space separates the classes, or nearly so.",
            "Distances between rows mean something: the inputs share a scale.",
        ),
        cost="max_iter n times the rows updated",
        source="A76, A77, A82",
        wide=True,
        standardize=True,
        ordered=True,
        most_rows=20_000,
    )

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | str | None = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        combine: str = "average",
        max_iter: int = 10,
        shuffle: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.combine = combine
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        n_classes = len(self.classes_)
        check_classes(self.classes_)
        self.kernel_ = self._kernel_for(work.X)
        self._learn_rows(work, n_classes)

    def _learn_rows(self, rows: Rows, n_classes: int) -> None:
        n, vectors = len(rows), 1 if n_classes == 2 else n_classes
        whole = None
        if n <= _WHOLE:
            whole = finite_kernel(self._between(self.kernel_, rows.X, rows.X))

        def between(some: IntArray, others: IntArray) -> FloatArray:
            if whole is not None:
                return whole[np.ix_(some, others)]
            points = take_rows(rows.X, others)
            return finite_kernel(self._between(self.kernel_, take_rows(rows.X, some), points))

        y = np.where(rows.y == 1, 1.0, -1.0) if vectors == 1 else rows.y
        A, rng = np.zeros((n, vectors)), np.random.default_rng(seed_of(self.random_state))
        order, found, counts = np.arange(n), [], []
        for epoch in range(int(self.max_iter)):
            if self.shuffle:
                order = rng.permutation(n)
            row, change, place = learn_pass(between, y, order, A)
            found.append((row, change, place + epoch * n))
            counts.append(len(row))
            if not len(row):
                break
        row, change, time = (np.concatenate(each) for each in zip(*found, strict=True))
        used, place = np.unique(row, return_inverse=True)
        self.updates_ = Updates(used, place, change, time, n * len(counts))
        self.n_iter_, self.converged_ = len(counts), counts[-1] == 0
        self.n_updates_, self.updates_by_epoch_ = len(row), np.array(counts)
        self.support_, self._n_rows = used, n
        self._points = take_rows(rows.X, used)
        self.dual_coef_ = self.updates_.mean if self.combine == "average" else self.updates_.last
        every = np.arange(n)
        self.max_kernel_ = float(np.max(_diagonal(between, every)))

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        names, coef = [f"row {row}" for row in self.support_], self.dual_coef_
        if coef.shape[1] == 1:
            return tidy_columns(names, coef[:, 0], level=level)
        return tidy_columns(names, coef, level=level, response=self.classes_)

    def _glance_row(self) -> dict[str, Any]:
        sizes = {"n_support": len(self.support_), "n_updates": self.n_updates_}
        return glance_row({"nobs": self._n_rows}, **sizes, passes=self.n_iter_)

    def _notes(self) -> tuple[str, ...]:
        how = "without" if self.converged_ else "with"
        return (
            f"Terms are the kernels of rows that caused an update; the last pass was {how} one.",
        )

    @property
    def support_vectors_(self) -> Any:
        """Inputs of the rows that caused an update."""
        check_is_fitted(self)
        if self._precomputed:
            raise NotKept("With kernel='precomputed' there are no inputs, see support_.")
        return self._points

    @property
    def expansion_(self) -> KernelExpansion:
        """The fitted function of two classes."""
        check_is_fitted(self)
        if self.dual_coef_.shape[1] != 1 or self._precomputed:
            raise NotKept("An expansion is of two classes, with points and a kernel.")
        return KernelExpansion(self.kernel_, self._points, self.dual_coef_[:, 0])

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of the rows.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.

        Returns
        -------
        ndarray of shape (m,) or (m, n_classes)
            f(x): for two classes at least 0 means the second; else one column per class. With
            ``combine="vote"`` the share of votes for the second class minus that for the first, or
            the shares of the classes.
        """
        X = self._check_new(X)
        found = []
        step = max(1, _BLOCK // len(self.support_))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, X.shape[0], step):
                K = self._between(self.kernel_, X[start : start + step], self._points)
                if self.combine == "vote":
                    found.append(self.updates_.votes(K) / self.updates_.total)
                else:
                    found.append(K @ self.dual_coef_)
        scores = np.concatenate(found)
        if len(self.classes_) > 2:
            return scores
        return scores[:, 1] - scores[:, 0] if self.combine == "vote" else scores[:, 0]

    def predict(self, X: Any) -> Array:
        """Return the class of each row: sgn(0) is +1, the second class; of equals the first."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores >= 0).astype(np.intp)]
        return self.classes_[decided(scores)]

    def mistake_bound(self, f: KernelExpansion, X: Any, y: Any) -> float:
        r"""Return the most updates a kernel perceptron can make, by a function f.

        :math:`H + (\lVert f \rVert R)^2 + \lVert f \rVert R \sqrt H` with the sum H of the hinge
        losses of f over all passes and :math:`R^2 = \max_t K(x_t, x_t)`. It holds for every f.

        Parameters
        ----------
        f : KernelExpansion
            A function of the space of this kernel.
        X, y : array-like
            The rows this model learned from.

        Returns
        -------
        float
            `n_updates_` is never larger.
        """
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise InputError(f"The bound is for two classes; there are {len(self.classes_)}.")
        if f.kernel != self.kernel_:
            raise InputError("The function must be one of the space of this model's kernel.")
        signs = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        hinge = self.n_iter_ * float(np.sum(np.maximum(0.0, 1 - signs * f(X))))
        return float(perceptron_mistakes(hinge, f.norm(), np.sqrt(self.max_kernel_)))

    def convergence_bound(self) -> float:
        r"""Return :math:`\lVert f \rVert^2 \max K(x, x)` of the shortest f that separates.

        Over the rows that caused an update: a perceptron that sees no other row makes the same
        updates. Infinite where no function of the space separates them.
        """
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise InputError(f"The bound is for two classes; there are {len(self.classes_)}.")
        K = self._between(self.kernel_, self._points, self._points)
        lam, Q = np.linalg.eigh(K)
        held = lam > 1e-12 * lam[-1]
        signs = np.sign(self.updates_.last[:, 0])  # all updates of a row have its sign
        rows = Q[:, held] * np.sqrt(lam[held])
        if not separable(rows, signs):
            return np.inf
        f = hard_margin(rows, signs)
        return float(kernel_perceptron(float(f @ f), self.max_kernel_))


def _diagonal(between: Any, rows: IntArray) -> FloatArray:
    return np.concatenate(
        [np.diagonal(between(part, part)) for part in np.array_split(rows, -(-len(rows) // 512))]
    )
