"""Logistic regression with a lasso or elastic-net penalty, for two or more classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin

from bottega.core.cards import Card
from bottega.core.classes import decided
from bottega.core.documents import documented_like
from bottega.core.errors import InputError
from bottega.core.folds import Folds
from bottega.core.likelihood import information_criteria
from bottega.core.lists import Alphas, alphas_of
from bottega.core.losses import Loss
from bottega.core.params import Anything, Auto, Boolean, Choice, Integer, Parameter, Real
from bottega.core.path import Path, along
from bottega.core.results import term_names, tidy_columns
from bottega.core.rows import Rows
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.linear._penalized.regression import PenalizedResults
from bottega.linear.lasso import Lasso
from bottega.optimize.coordinate import alpha_grid
from bottega.optimize.coordinate_columns import columns_of
from bottega.optimize.proximal_newton import LogisticProblem, LogisticSolution, with_reference

__all__ = ["LogisticLasso"]

# Between the strongest penalty and a given one, a step at most this large keeps Newton near.
_STEP = 4.0
_ADVICE = " or tol, or use a larger alpha"


@dataclass
class _Likelihood:
    """Rows prepared for every alpha: the classes among them, the problem, the path walked last."""

    rows: Rows
    present: IntArray
    problem: LogisticProblem | None  # None where there is one class only
    path: LogisticSolution | None = None


@documented_like(Lasso, without=("solver_",))
class LogisticLasso(PenalizedResults, ClassifierMixin, Tuned):
    r"""Linear classification that picks inputs: logistic regression with an l1 penalty.

    Minimises, over intercepts that are never penalised and coefficients :math:`\beta`,

    .. math:: -\frac{1}{n} \sum_i \log \hat p(y_i \mid x_i) + \alpha \sum_{c, j}
              \Bigl( l\, |s_j \beta_{cj}| + \frac{1 - l}{2} (s_j \beta_{cj})^2 \Bigr)

    where :math:`s_j` is the (divisor n) standard deviation of input j with ``standardize=True``,
    and one otherwise. Two classes have one vector of coefficients, the log odds of the second;
    more have one each, with probabilities by softmax. With row weights :math:`v_i` the sum is that
    of :math:`v_i` times the logarithms and n the sum of the :math:`v_i`.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the penalty, above 0; larger values leave fewer inputs. ``"auto"`` picks from
        the path by the rule `select`.
    l1_ratio : float, default=1.0
        Share l of the absolute values in the penalty, above 0. 1 is the lasso.
    fit_intercept : bool, default=True
        Whether there are intercepts, never penalised.
    select : {"min", "one_se", "aic", "aicc", "bic", "hq"}, default="one_se"
        Rule that picks from the path.
    cv : int, splitter or list of (train, test), default=10
        Number of folds that judge the path by their misclassification. Each class is spread over
        the folds. Or the folds themselves.
    tol : float, default=1e-8
        Largest duality gap, against the mean negative log-likelihood without inputs.
    max_iter : int, default=1000
        Newton steps for each penalty.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; ``"balanced"`` makes the classes weigh alike. It multiplies the
        weights of the rows, also where the path is judged.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    coef_ : ndarray of shape (1, p) or (K, p)
        Coefficients on the original scale of the inputs.
    intercept_ : ndarray of shape (1,) or (K,)
        Intercepts; those of more than two classes sum to zero.
    df_ : float
        Number of coefficients that are not zero, and one intercept per class but the first.
    dual_gap_ : float
        Relative duality gap reached.
    n_iter_ : int
        Newton steps taken.

    Notes
    -----
    Proximal Newton: each step solves a lasso problem exactly on the columns that the path may have
    reached; what is left out is checked. A step costs n times the square of their number, a check
    n p. Sparse inputs stay sparse. The path's df never decreases, as for `Lasso`; its criteria are
    those of the likelihood with that df.

    With classes that can be separated the coefficients grow without bound as alpha falls, so the
    path ends at a hundredth of the strongest penalty with more columns than rows, and at a
    thousandth else. Do not use it where classes are not divided by (nearly) flat boundaries.

    References
    ----------
    .. [1] Friedman, J., Hastie, T. and Tibshirani, R. (2010). Regularization paths for generalized
       linear models via coordinate descent. Journal of Statistical Software 33(1).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = np.where(X[:, 0] + 0.5 * rng.normal(size=100) > 0, "yes", "no")
    >>> model = LogisticLasso().fit(X, y)
    >>> model.coef_.nonzero()[1]
    array([0])
    >>> model.predict([[2.0, 0, 0, 0, 0]])
    array(['yes'], dtype='<U3')
    """

    knob: ClassVar[str] = "alpha"
    params: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Auto(Real(0, None, open_low=True, log=True), help="strength of the penalty"),
        "l1_ratio": Real(0, 1, open_low=True, help="share of the absolute values in the penalty"),
        "standardize": Boolean(help="penalise each input on its own scale"),
        "fit_intercept": Boolean(help="have intercepts, free of penalty"),
        "select": Choice(
            "min", "one_se", "aic", "aicc", "bic", "hq", help="rule that picks from the path"
        ),
        "alphas": Alphas(),
        "cv": Folds(help="number of folds that judge the path, or folds"),
        "tol": Real(0, 1, open_low=True, log=True, help="largest relative duality gap"),
        "max_iter": Integer(1, None, help="Newton steps for each penalty"),
        "class_weight": Anything(help="weight of each class: a dict, or 'balanced'"),
    }
    card: ClassVar[Card] = Card(
        method="logistic_lasso",
        title="Logistic lasso",
        task="classification",
        strengths=(
            "Selects inputs: most coefficients are exactly zero.",
            "Works with many more columns than rows, and with two or more classes.",
            "Low variance, and good with boundaries oblique to the axes, unlike trees.",
            "Gives probabilities from a likelihood, and readable log odds.",
        ),
        weaknesses=(
            "Captures linear boundaries between the classes only: high bias where they are curved.",
            "Of correlated inputs it keeps one, and another sample may keep another.",
            "Shrinks: probabilities are drawn towards the shares of the classes.",
        ),
        assumptions=(
            "The log odds of the classes are linear in the inputs, and few of them matter.",
            "Independent rows.",
        ),
        cost="n p per penalty and fold, and n s^2 per Newton step with s inputs in the fit",
        source="D79, D91-D94",
        wide=True,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        l1_ratio: float = 1.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        select: str = "one_se",
        alphas: Any = 100,
        cv: Any = 10,
        tol: float = 1e-8,
        max_iter: int = 1000,
        class_weight: Any = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.select = select
        self.alphas = alphas
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    def _prepare(self, rows: Rows) -> _Likelihood:
        if len(self.classes_) < 2:
            raise InputError(
                "There is only one class in y, and a classifier needs at least 2; check the target."
            )
        present, codes = np.unique(rows.y, return_inverse=True)
        if len(present) == 1:  # a fold without the others: nothing to tell apart
            return _Likelihood(rows, present, None)
        frame = {"standardize": bool(self.standardize), "fit_intercept": bool(self.fit_intercept)}
        columns = columns_of(rows.X, rows.weights, **frame)
        ratio = float(self.l1_ratio)
        problem = LogisticProblem(columns, codes, rows.weights, l1_ratio=ratio, **frame)
        return _Likelihood(rows, present, problem)

    def _settle(self, work: _Likelihood, setting: Mapping[str, Any]) -> None:
        problem, alpha = work.problem, float(setting["alpha"])
        assert problem is not None
        found, k = work.path, -1
        if found is not None and alpha in found.alphas:
            k = int(np.flatnonzero(found.alphas == alpha)[0])
        else:
            found = problem.path(_ladder(problem.alpha_max(), alpha), self.tol, self.max_iter)
        self.alpha_ = alpha
        self.coef_, self.intercept_ = found.coef[k].copy(), found.intercept[k].copy()
        self.dual_gap_, self.n_iter_ = float(found.gap[k]), int(found.n_iter[k])
        self.converged_ = bool(self.dual_gap_ <= self.tol)
        self.df_ = float(np.count_nonzero(self.coef_) + self._intercepts())
        if hasattr(self, "path_"):
            self.gap_path_ = work.path.gap  # type: ignore[union-attr]
        wrong = _winners(_scores(work.rows.X, self.coef_, self.intercept_)) != work.rows.y
        self._totals = {
            "n": float(len(work.rows)),
            "deviance": float(found.deviance[k] * problem.weight),
            "train_error": float(np.average(wrong, weights=work.rows.weight)),
        }
        self._warn(found, "Newton steps", _ADVICE, [k])

    def _intercepts(self) -> int:
        return (len(self.classes_) - 1) * bool(self.fit_intercept)

    def _path(self, work: _Likelihood, values: Any, loss: Loss | None) -> Path:
        rows, problem = work.rows, work.problem
        assert problem is not None
        n, p = rows.X.shape
        values = alphas_of(values, self.alphas)
        if values is None:
            alphas = alpha_grid(problem.alpha_max(), self.alphas, "auto", n, p)
        else:
            alphas = np.sort(np.asarray(values, dtype=np.float64))[::-1]
            Real(0, None, open_low=True).check("path", "values", float(alphas[-1]))
        found = work.path = problem.path(alphas, self.tol, self.max_iter)
        self._warn(found, "Newton steps", _ADVICE)
        size = np.count_nonzero(found.coef, axis=(1, 2)) + self._intercepts()
        df = np.maximum.accumulate(size.astype(np.float64))
        settings = along("alpha", alphas)
        wrong = self._predictions(work, settings, rows.X, "predict") != rows.y[:, None]
        return Path(
            settings,
            df=df,
            train_error=np.average(wrong, axis=0, weights=rows.weight),
            loss="misclassification",
            criteria=information_criteria(found.deviance * problem.weight, df, n),
            coef=found.coef if len(self.classes_) > 2 else found.coef[:, 0],
        )

    def _predictions(
        self, work: _Likelihood, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        predict, (m, K) = method == "predict", (X_new.shape[0], len(self.classes_))
        out = np.zeros((m, len(settings)), np.intp) if predict else np.zeros((m, len(settings), K))
        alphas = np.array([float(setting["alpha"]) for setting in settings])
        order = np.argsort(-alphas, kind="stable")
        found = work.path
        if work.problem is None:
            found = None
        elif found is None or not np.array_equal(found.alphas, alphas[order]):
            found = work.problem.path(alphas[order], self.tol, self.max_iter)
        for k, place in enumerate(order):
            scores = np.zeros((m, 1))
            if found is not None:
                scores = _scores(X_new, found.coef[k], found.intercept[k])
            if predict:
                out[:, place] = work.present[_winners(scores)]
            else:
                out[:, place, work.present] = softmax(scores, axis=1)
        return out

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class, or with more classes the score of each."""
        scores = self._scores(X)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def _scores(self, X: Any) -> FloatArray:
        return _scores(self._check_new(X), self.coef_, self.intercept_)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row; of equal ones the first."""
        best = _winners(self._scores(X))
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, one column each."""
        return np.asarray(softmax(self._scores(X), axis=1))

    def _fit_numbers(self) -> dict[str, Any]:
        n, deviance = int(self._totals["n"]), self._totals["deviance"]
        criteria = information_criteria(deviance, self.df_, n)
        return {
            "nobs": n,
            "df": self.df_,
            "deviance": deviance,
            "loglik": -deviance / 2,
            "aic": float(criteria["aic"]),
            "bic": float(criteria["bic"]),
            "train_error": self._totals["train_error"],
        }

    def _all_terms(self, level: float) -> dict[str, Any]:
        estimate = self.coef_.T
        if self.fit_intercept:
            estimate = np.vstack([self.intercept_, estimate])
        two = len(self.classes_) == 2
        return tidy_columns(
            term_names(self, intercept=self.fit_intercept),
            estimate[:, 0] if two else estimate,
            response=None if two else self.classes_,
            level=level,
        )

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        """Return the intercepts and the columns in the model."""
        terms = self._all_terms(level)
        intercept = np.array(terms["term"]) == "(Intercept)"
        kept = np.flatnonzero((terms["estimate"] != 0) | intercept)
        return {name: [column[i] for i in kept] for name, column in terms.items()}


def _ladder(top: float, alpha: float) -> FloatArray:
    """Return penalties from near the strongest useful one down to a given one."""
    if not top > alpha:
        return np.array([alpha])
    steps = max(1, int(np.ceil(np.log(top / alpha) / np.log(_STEP))))
    ladder = np.geomspace(min(top, alpha * _STEP**steps), alpha, steps + 1)[1:]
    ladder[-1] = alpha
    return ladder


def _scores(X: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Return the score of every class: of two, that of the first is zero."""
    return with_reference(np.asarray(X @ coef.T + intercept))


def _winners(scores: FloatArray) -> IntArray:
    """Return the class of the largest score; of scores equal but for rounding, the first."""
    # A difference of scores is a ratio of probabilities: it is compared with one.
    return decided(scores - scores.max(axis=1, keepdims=True) + 1)
