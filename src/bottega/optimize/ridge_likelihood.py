"""Likelihoods on a few orthonormal columns, by Newton's method, with a ridge.

For tens of columns that are orthonormal under the weights, as those of a small basis can be made,
a step is one solve: no columns are screened and no curvature is kept, as `logistic_path` does for
many. Dozens of such fits (all subsets of a basis) take a few milliseconds each.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from bottega.core.errors import InputError
from bottega.core.likelihood import Family
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.quasi_newton import minimise_smooth

__all__ = ["LikelihoodFit", "fit_classes", "fit_family"]

_HALVINGS = 40
_LEAST = 1e-9  # ridge without which separated responses would have no answer
_LEAST_SHARE = 1e-15
_MOST_NEWTON = 600  # coefficients that have a matrix of second derivatives


@dataclass(frozen=True)
class LikelihoodFit:
    """Coefficients of orthonormal columns, one column for each score."""

    coef: FloatArray  # (m, T)
    deviance: float
    n_iter: int
    converged: bool


def fit_family(
    D: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    family: Family,
    *,
    alpha: float,
    tol: float,
    max_iter: int,
) -> LikelihoodFit:
    r"""Return the coefficients of most likelihood of a response, on orthonormal columns.

    Minimises half the deviance plus :math:`\frac{\lambda}{2} \sum_{j > 0} b_j^2`, with
    :math:`\lambda` the share `alpha` of the information at the mean response.

    Parameters
    ----------
    D : ndarray of shape (n, m)
        Columns of mean square one under the weights, the first of them one.
    y, weight : ndarray of shape (n,)
        Responses and weights.
    family : Family
        Distribution and link.
    alpha : float
        The ridge, as a share of what the rows tell about a coefficient where no input counts. A
        millionth changes coefficients of responses that overlap in their sixth digit, and bounds
        the others.
    tol : float
        Largest Newton decrement, against half the deviance without inputs.
    max_iter : int
        Newton steps.

    Examples
    --------
    >>> from bottega.core.likelihood import POISSON
    >>> D = np.column_stack([np.ones(4), [-1.0, -1.0, 1.0, 1.0]])
    >>> y, how = np.array([1.0, 3.0, 5.0, 11.0]), {"alpha": 0.0, "tol": 1e-9, "max_iter": 20}
    >>> np.exp(D @ fit_family(D, y, np.ones(4), POISSON, **how).coef[:, 0]).round(5)
    array([2., 2., 8., 8.])
    """
    total = float(weight.sum())
    mean = float(weight @ y / total)
    b = np.zeros(D.shape[1])
    if np.all(y == y[0]):  # the mean may be one that no predictor reaches
        b[0] = float(family.link(family.start(y[:1], weight[:1])[0]))
        return _found(family, D, b, y, weight, 0, converged=True)
    b[0] = float(family.link(mean))
    null = _half_deviance(family, D, b, y, weight)
    _, curve0 = family.scores(np.full(1, b[0]), np.full(1, mean), np.ones(1))
    ridge = np.full(len(b), max(alpha, _LEAST) * total * float(curve0[0]))
    ridge[0] = 0.0
    value = null
    goal = tol * max(null, np.finfo(np.float64).tiny)
    for step in range(1, max_iter + 1):
        pull, curve = family.scores(D @ b, y, weight)
        gradient = D.T @ pull - ridge * b
        H = (D * curve[:, None]).T @ D
        H[np.diag_indices_from(H)] += ridge + np.finfo(np.float64).eps * np.trace(H)
        move = linalg.solve(H, gradient, assume_a="pos", check_finite=False)
        left = float(gradient @ move)
        if not left > goal:  # one more step, by which the digits double
            return _found(family, D, b + move, y, weight, step, converged=True)
        for _ in range(_HALVINGS):
            new = b + move
            reached = _half_deviance(family, D, new, y, weight) + 0.5 * float(ridge @ new**2)
            if reached <= value:
                break
            move = move / 2
        else:  # rounding hides what is left
            return _found(family, D, b, y, weight, step, converged=left <= 1e3 * goal)
        b, value = new, reached
    return _found(family, D, b, y, weight, max_iter, converged=False)


def _found(
    family: Family,
    D: FloatArray,
    b: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    steps: int,
    *,
    converged: bool,
) -> LikelihoodFit:
    deviance = 2 * _half_deviance(family, D, b, y, weight)
    return LikelihoodFit(b[:, None], deviance, steps, converged)


def _half_deviance(
    family: Family, D: FloatArray, b: FloatArray, y: FloatArray, weight: FloatArray
) -> float:
    eta = D @ b
    if family.name == "binomial" and family.the_link.name == "logit":
        # Also where means are one but for rounding: of rows that are nearly separated.
        own = special.xlogy(y, y) + special.xlogy(1 - y, 1 - y)
        return float(weight @ (own + np.logaddexp(0.0, eta) - y * eta))
    with np.errstate(all="ignore"):
        mu = family.mean(eta)
        if not family.valid(eta, mu):
            return np.inf
        found = 0.5 * float(family.deviance(y, mu, weight))
    return found if np.isfinite(found) else np.inf


def fit_classes(
    D: FloatArray,
    codes: IntArray,
    weight: FloatArray,
    K: int,
    *,
    alpha: float,
    tol: float,
    max_iter: int,
    start: FloatArray | None = None,
) -> LikelihoodFit:
    """Return the scores of K classes of most likelihood on orthonormal columns.

    There is one score per class; they sum to zero. The ridge is that of `fit_family`. Newton's
    method takes the second derivatives of all classes together; L-BFGS does without them where
    there are very many coefficients.

    Parameters
    ----------
    D, weight, alpha, tol, max_iter
        As in `fit_family`.
    codes : ndarray of shape (n,)
        Classes 0, ..., K - 1, all of which occur.
    K : int
        Number of classes.
    start : ndarray of shape (m, K), optional
        Coefficients to start from.

    Examples
    --------
    >>> codes = np.array([0, 0, 0, 1, 1, 2])
    >>> found = fit_classes(np.ones((6, 1)), codes, np.ones(6), 3, alpha=0, tol=1e-9, max_iter=9)
    >>> np.exp(found.coef[0] - found.coef[0, 2]).round(6)
    array([3., 2., 1.])
    """
    problem = _Classes(D, codes, weight, K, alpha)
    b = problem.without_inputs()
    value = null = problem.at(b)[0]
    if start is not None:
        near = start - start.mean(axis=1, keepdims=True)
        reached = problem.at(near)[0]
        if reached < value:
            b, value = near, reached
    goal = tol * max(null, np.finfo(np.float64).tiny)
    if b.size > _MOST_NEWTON:
        return problem.quasi_newton(b, goal, max_iter)
    for step in range(1, max_iter + 1):
        _, slope, P = problem.at(b)
        move = problem.newton(slope, P)
        left = -float(np.sum(slope * move))
        if not left > goal:  # one more step, by which the digits double
            return problem.found(b + move, step, converged=True)
        for _ in range(_HALVINGS):
            new = b + move
            reached = problem.at(new)[0]
            if reached <= value:
                break
            move = move / 2
        else:  # rounding hides what is left
            return problem.found(b, step, converged=left <= 1e3 * goal)
        b, value = new, reached
    return problem.found(b, max_iter, converged=False)


class _Classes:
    """The multinomial likelihood of orthonormal columns, with its ridge."""

    def __init__(
        self, D: FloatArray, codes: IntArray, weight: FloatArray, K: int, alpha: float
    ) -> None:
        self.D, self.codes, self.weight, self.K = D, codes, weight, K
        self.shares = np.bincount(codes, weight, K) / weight.sum()
        if self.shares.min() < _LEAST_SHARE:
            raise InputError(
                f"The weights of one class are {self.shares.min():.3g} of the sum of all: beside "
                "the others they are lost in floating point. Give its rows more weight, or leave "
                "them out."
            )
        information = float(weight.sum() * (1 - self.shares @ self.shares)) / K
        self.ridge = np.full((D.shape[1], 1), max(alpha, _LEAST) * information)
        self.ridge[0] = 0.0
        self.observed = (codes[:, None] == np.arange(K)) * weight[:, None]

    def without_inputs(self) -> FloatArray:
        """Return the coefficients that the shares of the classes give."""
        b = np.zeros((self.D.shape[1], self.K))
        logs = np.log(self.shares)
        b[0] = logs - logs.mean()
        return b

    def at(self, b: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the negative log-likelihood with its ridge, its slope, and the probabilities."""
        scores = self.D @ b
        scores -= scores.max(axis=1, keepdims=True)
        P = np.exp(scores)
        total = P.sum(axis=1, keepdims=True)
        own = scores[np.arange(len(scores)), self.codes] - np.log(total[:, 0])
        P /= total
        value = -float(self.weight @ own) + 0.5 * float(np.sum(self.ridge * b**2))
        slope = self.D.T @ (P * self.weight[:, None] - self.observed) + self.ridge * b
        return value, slope, P

    def newton(self, slope: FloatArray, P: FloatArray) -> FloatArray:
        """Return the Newton step, of scores that sum to zero: those of all classes but the last."""
        D, weight, m, T = self.D, self.weight, self.D.shape[1], self.K - 1
        blocks = np.empty((T, m, T, m))
        for k in range(T):
            for j in range(k, T):
                curve = weight * P[:, k] * ((k == j) - P[:, j])
                # Scores are centred after a step, so the ridge is on their differences.
                ridge = np.diag(self.ridge[:, 0] * ((k == j) - 1 / self.K))
                blocks[k, :, j] = blocks[j, :, k] = (D * curve[:, None]).T @ D + ridge
        H = blocks.reshape(T * m, T * m)
        H[np.diag_indices_from(H)] += np.finfo(np.float64).eps * np.trace(H)
        free = linalg.solve(H, slope[:, :T].T.ravel(), assume_a="pos", check_finite=False)
        move = np.zeros((m, self.K))
        move[:, :T] = -free.reshape(T, m).T
        return np.asarray(move - move.mean(axis=1, keepdims=True))

    def quasi_newton(self, b: FloatArray, goal: float, max_iter: int) -> LikelihoodFit:
        """Return the fit without second derivatives."""

        def objective(x: FloatArray) -> tuple[float, FloatArray]:
            value, slope, _ = self.at(x.reshape(b.shape))
            return value, slope.ravel()

        # A slope of the root of the gain that may be left, at the least curvature of a class.
        flat = float(np.sqrt(goal * self.weight.sum() * self.shares.min() / b.size))
        x, steps = minimise_smooth(objective, b.ravel(), flat, 20 * max_iter)
        done = float(np.max(np.abs(objective(x)[1]))) <= 10 * flat
        return self.found(x.reshape(b.shape), steps, converged=done)

    def found(self, b: FloatArray, steps: int, *, converged: bool) -> LikelihoodFit:
        """Return the fit at some coefficients."""
        value = self.at(b)[0] - 0.5 * float(np.sum(self.ridge * b**2))
        return LikelihoodFit(b - b.mean(axis=1, keepdims=True), 2 * value, steps, converged)
