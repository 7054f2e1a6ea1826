"""Logistic regression with a lasso or elastic-net penalty, for two or more classes."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core import progress
from bottega.core.base import Tuned
from bottega.core.cards import Card
from bottega.core.errors import ConvergenceWarning
from bottega.core.folds import fold_rows
from bottega.core.params import AnyOf, Anything, Auto, Boolean, Choice, Integer, Parameter, Real
from bottega.core.path import Path
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.weights import check_weight
from bottega.linear._penalized.folds import check_folds
from bottega.linear.selected_report import SelectedReport
from bottega.optimize.coordinate import alpha_grid, check_alphas
from bottega.optimize.coordinate_columns import columns_of, is_sparse
from bottega.optimize.proximal_newton import LogisticProblem, LogisticSolution, check_classes

__all__ = ["LogisticLasso"]

# Between the strongest penalty and a given one, a step at most this large keeps Newton near.
_STEP = 4.0


class LogisticLasso(SelectedReport, ClassifierMixin, Tuned):
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
    standardize : bool, default=True
        Whether to penalise each input on its own scale.
    fit_intercept : bool, default=True
        Whether there are intercepts, never penalised.
    select : {"min", "one_se", "aic", "aicc", "bic", "hq"}, default="one_se"
        Rule that picks from the path.
    n_alphas : int, default=100
        Number of penalties on the path, from the smallest that leaves no input in.
    cv : int, splitter or list of (train, test), default=10
        Number of folds that judge the path by their misclassification. Each class is spread over
        the folds. Or the folds themselves.
    tol : float, default=1e-8
        Largest duality gap, against the mean negative log-likelihood without inputs.
    max_iter : int, default=1000
        Newton steps for each penalty.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    coef_ : ndarray of shape (1, p) or (K, p)
        Coefficients on the original scale of the inputs.
    intercept_ : ndarray of shape (1,) or (K,)
        Intercepts; those of more than two classes sum to zero.
    alpha_ : float
        The penalty in use.
    df_ : float
        Number of coefficients that are not zero, and one intercept a class but the first.
    path_ : Path
        The whole curve, when `alpha` is ``"auto"``.
    gap_path_ : ndarray
        Relative duality gap at each penalty of `path_`.
    dual_gap_ : float
        Relative duality gap reached.
    n_iter_ : int
        Newton steps taken.
    converged_ : bool
        Whether the gap is within `tol`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (p,)
        Names of the columns, when X is a data frame.

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
        "n_alphas": Integer(2, None, help="number of penalties on the path"),
        "cv": AnyOf(
            Integer(2, None), Anything(), help="number of folds that judge the path, or folds"
        ),
        "tol": Real(0, 1, open_low=True, log=True, help="largest relative duality gap"),
        "max_iter": Integer(1, None, help="Newton steps for each penalty"),
    }
    card: ClassVar[Card] = Card(
        method="logistic_lasso",
        title="Logistic lasso",
        task="classification",
        knob="alpha",
        strengths=(
            "Picks inputs: most coefficients are exactly zero.",
            "Works with many more columns than rows, and with two or more classes.",
            "Gives probabilities from a likelihood.",
        ),
        weaknesses=(
            "Only sees flat boundaries between the classes.",
            "Of correlated inputs it keeps one, and another sample may keep another.",
            "Shrinks: probabilities are drawn towards the shares of the classes.",
        ),
        cost="n p a penalty and fold, and n s^2 a Newton step with s inputs in the fit",
        source="D79, D91-D94",
        wide=True,
        weights=True,
        probabilities=True,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        l1_ratio: float = 1.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        select: str = "one_se",
        n_alphas: int = 100,
        cv: Any = 10,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.select = select
        self.n_alphas = n_alphas
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Classes.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        LogisticLasso
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        X, codes, weight = self._validate(X, y, sample_weight)
        self.__dict__.pop("gap_path_", None)  # of an earlier fit
        alpha = float(self._resolve_knob(X, codes, weight))
        X, codes, weight = _with_weight(X, codes, weight)
        problem = self._problem(X, codes, weight)
        top = problem.alpha_max()
        steps = max(1, int(np.ceil(np.log(top / alpha) / np.log(_STEP)))) if top > alpha else 1
        ladder = np.geomspace(min(top, alpha * _STEP**steps), alpha, steps + 1)[1:]
        ladder[-1] = alpha
        found = problem.path(ladder, self.tol, self.max_iter)
        self.alpha_ = alpha
        self.coef_, self.intercept_ = found.coef[-1].copy(), found.intercept[-1].copy()
        self.dual_gap_, self.n_iter_ = float(found.gap[-1]), int(found.n_iter[-1])
        self.converged_ = bool(self.dual_gap_ <= self.tol)
        self.df_ = float(np.count_nonzero(self.coef_) + self._intercepts())
        wrong = _most_probable(X, self.coef_, self.intercept_) != codes
        self._totals = {
            "n": float(len(codes)),
            "df": self.df_,
            "deviance": float(found.deviance[-1] * problem.weight),
            "train_error": float(np.average(wrong, weights=weight)),
        }
        self._warn(found, len(ladder) - 1)
        return self

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, IntArray, FloatArray | None]:
        X, y = validate_data(
            self, X, y, dtype=np.float64, accept_sparse="csc", ensure_min_samples=2
        )
        check_classification_targets(y)
        weight = check_weight(sample_weight, len(y))
        # Rows of weight zero count for nothing, nor does a class that has no others.
        self.classes_ = np.unique(y if weight is None else y[weight > 0])
        check_classes(self.classes_)
        codes = np.searchsorted(self.classes_, y)
        return X, np.minimum(codes, len(self.classes_) - 1), weight

    def _problem(self, X: Any, codes: IntArray, weight: Any) -> LogisticProblem:
        v = np.ones(len(codes)) if weight is None else weight
        frame = {
            "standardize": bool(self.standardize),
            "fit_intercept": bool(self.fit_intercept),
        }
        columns = columns_of(X, v, **frame)
        return LogisticProblem(columns, codes, v, l1_ratio=float(self.l1_ratio), **frame)

    def _intercepts(self) -> int:
        return (len(self.classes_) - 1) * bool(self.fit_intercept)

    def _warn(self, found: LogisticSolution, start: int = 0) -> None:
        late = np.flatnonzero(~(found.gap[start:] <= self.tol)) + start
        if len(late):
            k = late[np.argmax(found.gap[late])]
            warnings.warn(
                f"LogisticLasso: {len(late)} of {len(found.gap) - start} penalties did not "
                f"converge; the worst is alpha={found.alphas[k]:.4g} with a relative duality gap "
                f"of {found.gap[k]:.2g} after {found.n_iter[k]} Newton steps, above "
                f"tol={self.tol:g}. Increase max_iter or tol, or use a larger alpha.",
                ConvergenceWarning,
                stacklevel=3,
            )

    # ---- the path -------------------------------------------------------------------------------

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        given = X, y, sample_weight
        X, y, sample_weight = _with_weight(X, y, sample_weight)
        n, p = X.shape
        problem = self._problem(X, y, sample_weight)
        if values is None:
            alphas = alpha_grid(problem.alpha_max(), self.n_alphas, "auto", n, p)
        else:
            alphas = check_alphas(values)
            Real(0, None, open_low=True).check("path", "values", float(alphas[-1]))
        found = problem.path(alphas, self.tol, self.max_iter)
        self.gap_path_ = found.gap
        self._warn(found)
        size = np.count_nonzero(found.coef, axis=(1, 2)) + self._intercepts()
        df = np.maximum.accumulate(size.astype(np.float64))
        wrong = (_labels(X, found) != y[:, None]).astype(np.float64)
        minus_two_loglik = found.deviance * problem.weight
        with np.errstate(divide="ignore", invalid="ignore"):
            corrected = np.where(n > df + 1, 2 * df * n / (n - df - 1), np.inf)
        unknown = np.full(len(alphas), np.nan)
        curve = Path(
            knob=self.knob,
            values=alphas,
            df=df,
            train_error=np.average(wrong, axis=0, weights=sample_weight),
            error=unknown,
            error_se=unknown,
            estimate="cv",
            loss="misclassification",
            criteria={
                "aic": minus_two_loglik + 2 * df,
                "aicc": minus_two_loglik + corrected,
                "bic": minus_two_loglik + df * np.log(n),
                "hq": minus_two_loglik + 2 * df * np.log(np.log(n)),
            },
            coef=found.coef if len(self.classes_) > 2 else found.coef[:, 0],
        )
        if not check_folds(self.cv):
            return self._cross_validate(curve, *given, self.cv)
        folds = [(train, test) for train, test in fold_rows(n, self.cv, y) if len(test)]
        return self._cross_validate(curve, X, y, sample_weight, folds)

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        X, y, sample_weight = _with_weight(X, y, sample_weight)
        present, codes = np.unique(y, return_inverse=True)
        if len(present) == 1:  # nothing to tell apart
            return np.full((X_new.shape[0], len(values)), present[0])
        problem = self._problem(X, codes, sample_weight)
        alphas = np.asarray(values, dtype=np.float64)
        found = problem.path(alphas, self.tol, self.max_iter)
        progress.report("penalties", len(alphas), len(alphas))
        return np.asarray(present[_labels(X_new, found)])

    # ---- predicting -----------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class, or with more classes the score of each."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, accept_sparse=("csr", "csc"), reset=False)
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, one column each."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        return np.asarray(softmax(scores, axis=1))

    # ---- reports --------------------------------------------------------------------------------

    def _train_error(self) -> float:
        return self._totals["train_error"]

    def _fit_row(self) -> dict[str, Any]:
        n, df, deviance = (self._totals[name] for name in ("n", "df", "deviance"))
        return {
            "nobs": int(n),
            "df": df,
            "deviance": deviance,
            "loglik": -deviance / 2,
            "aic": deviance + 2 * df,
            "bic": deviance + df * np.log(n),
        }

    def tidy(self) -> Any:
        """Return one row a term with its estimate (with more than two classes: a class and term).

        There are no standard errors: a coefficient that was picked by the data, and shrunk, has
        no test.
        """
        check_is_fitted(self)
        return self._make_frame(self._terms(everything=True))

    def _terms(self, everything: bool = False) -> dict[str, Any]:
        """Return the intercepts and the columns in the model, or all columns."""
        names = getattr(self, "feature_names_in_", None)
        terms = [f"x{j}" if names is None else str(names[j]) for j in range(self.n_features_in_)]
        estimate, kept = self.coef_, everything | (self.coef_ != 0)
        if self.fit_intercept:
            terms = ["(Intercept)", *terms]
            estimate = np.column_stack([self.intercept_, estimate])
            kept = np.column_stack([np.ones(len(kept), bool), kept])
        rows, columns = np.nonzero(kept)
        found = {"term": [terms[j] for j in columns], "estimate": estimate[rows, columns]}
        if len(self.classes_) == 2:
            return found
        return {"response": self.classes_[rows].tolist(), **found}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _with_weight(X: Any, codes: IntArray, weight: Any) -> tuple[Any, IntArray, Any]:
    """Leave out the rows of weight zero."""
    if weight is None or np.all(weight > 0):
        return X, codes, weight
    rows = np.flatnonzero(weight > 0)
    return X[rows], codes[rows], weight[rows]


def _labels(X: Any, found: LogisticSolution) -> IntArray:
    """Return the code of the most probable class, one column an alpha."""
    labels = np.empty((X.shape[0], len(found.alphas)), np.intp)
    dense = X.tocsr() if is_sparse(X) else X
    for k in range(len(found.alphas)):
        labels[:, k] = _most_probable(dense, found.coef[k], found.intercept[k])
    return labels


def _most_probable(X: Any, coef: FloatArray, intercept: FloatArray) -> IntArray:
    """Return the code of the most probable class of each row."""
    scores = np.asarray(X @ coef.T + intercept)
    one = scores.shape[1] == 1
    return (scores[:, 0] > 0).astype(np.intp) if one else np.argmax(scores, axis=1)
