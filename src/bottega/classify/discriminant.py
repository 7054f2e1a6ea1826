"""Linear discriminant analysis: normal classes with one covariance, shrunk towards its diagonal."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bottega.classify._generative.base import PRIORS
from bottega.classify._generative.common_covariance import CommonCovariance
from bottega.classify._generative.gaussian import standardized
from bottega.classify._generative.selection import forward_selection
from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.folds import Folds
from bottega.core.params import AnyOf, Choice, Integer, OrNone, Parameter, Real
from bottega.core.results import CoefficientResults, glance_row, term_names, tidy_columns
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["LinearDiscriminant"]


class LinearDiscriminant(
    CoefficientResults, ClassNamePrefixFeaturesOutMixin, TransformerMixin, CommonCovariance
):
    r"""Classify by Bayes' rule with normal classes that share one covariance.

    With class k normal about :math:`\mu_k` with covariance :math:`\Sigma` and prior
    :math:`\pi_k`, a row goes to the class with the largest

    .. math:: \delta_k(x) = x^\top \Sigma^{-1} \mu_k - \tfrac12 \mu_k^\top \Sigma^{-1} \mu_k
              + \log \pi_k ,

    so boundaries are flat. The pooled covariance S within classes (divisor n - K) is shrunk towards
    its diagonal, :math:`\Sigma = (1 - \lambda) S + \lambda\, \mathrm{diag}(S)`.

    Parameters
    ----------
    shrinkage : float, "auto", "ledoit_wolf" or "oas", default="auto"
        Share :math:`\lambda` of the diagonal, from 0 (the classical method) to 1 (inputs
        independent within classes). ``"auto"`` takes it from the path. ``"ledoit_wolf"`` and
        ``"oas"`` are formulas for the least expected squared error of the covariance, the second
        for normal rows; in a stream, which holds no rows out, ``"auto"`` is ``"oas"``.
    priors : array-like of shape (K,), dict or None, default=None
        Probability of each class, in sorted order or by label; None takes their shares. Numbers
        that do not sum to one are divided by their sum, with a warning.
    covariance : {"pooled", "robust"}, default="pooled"
        How means and covariance are estimated. ``"robust"`` is maximum likelihood under a
        multivariate t distribution with 5 degrees of freedom, in which outliers count little,
        scaled to be right for normal rows.
    n_features_to_select : int, "aic", "bic" or None, default=None
        Use the inputs that forward selection by Wilks' lambda takes first: so many, or as many as
        a criterion of the regression of the classes on the inputs picks. None uses all.
    n_components : int or None, default=None
        Number of discriminant coordinates that `transform` returns; None for all.
    select : {"min", "one_se"}, default="min"
        Rule that picks from the path. Shrinkage makes no model that is simpler to read, so both
        take the least error.
    cv : int, float, splitter or list of (train, test), default=10
        Folds that judge the path by their misclassification, each class spread over them.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    shrinkage_ : float
        The shrinkage in use.
    priors_ : ndarray of shape (K,)
        Probability of each class.
    means_ : ndarray of shape (K, p)
        Means of the classes.
    covariance_ : ndarray of shape (p, p)
        The covariance in use.
    class_count_ : ndarray of shape (K,)
        Weight of the rows of each class.
    coef_ : ndarray of shape (1, p) or (K, p)
        Coefficients of the log odds of the second class, or with more classes of each score.
    intercept_ : ndarray of shape (1,) or (K,)
        Intercepts of these.
    selected_ : ndarray of bool, shape (p,)
        Inputs in use.
    xbar_ : ndarray of shape (p,)
        Mean of the class means, by their priors: the origin of the discriminant coordinates.
    scalings_ : ndarray of shape (p, d)
        Directions of the discriminant coordinates, in which each class has unit covariance; d is
        at most K - 1.
    explained_variance_ratio_ : ndarray of shape (d,)
        Share of each coordinate in the variance between classes.
    densities_ : Gaussians
        The normal distributions of the classes.
    path_ : Path
        The whole curve, when `shrinkage` is ``"auto"``.

    See Also
    --------
    QuadraticDiscriminant : a covariance for each class.
    NaiveBayes : inputs of any kind, independent within classes.

    Notes
    -----
    One pass over the rows gives the moments of the classes, :math:`n p^2` operations; one
    eigendecomposition of the correlations within classes then gives every shrinkage. The moments of
    ten folds come from the same pass. They are all that a stream keeps. The model has
    K p means and p (p + 1) / 2 covariances; shrinkage 1 leaves p of the latter.

    Directions in which rows do not vary within classes are left out, with a warning unless they do
    not vary at all. For two classes the coefficients are those of the regression of the class on
    the inputs but for a factor; with classes of one size the boundary is also the same.

    Means and covariance are not robust by default: look at `outlier_score`. Do not use it for
    boundaries that are curved, nor where inputs are far from normal within classes and the
    probabilities matter: logistic regression assumes less.

    References
    ----------
    .. [1] Fisher, R. A. (1936). The use of multiple measurements in taxonomic problems. Annals of
       Eugenics 7, 179-188.
    .. [2] Ledoit, O. and Wolf, M. (2004). A well-conditioned estimator for large-dimensional
       covariance matrices. Journal of Multivariate Analysis 88, 365-411.
    .. [3] Chen, Y., Wiesel, A., Eldar, Y. C. and Hero, A. O. (2010). Shrinkage algorithms for MMSE
       covariance estimation. IEEE Transactions on Signal Processing 58, 5016-5029.
    .. [4] Lange, K. L., Little, R. J. A. and Taylor, J. M. G. (1989). Robust statistical modeling
       using the t distribution. Journal of the American Statistical Association 84, 881-896.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["a", "b", "c"], 30)
    >>> X = rng.normal(size=(90, 4)) + 2.0 * np.eye(3, 4)[np.repeat([0, 1, 2], 30)]
    >>> model = LinearDiscriminant(shrinkage=0).fit(X, y)
    >>> model.predict([[2.0, 0, 0, 0], [0, 0, 2.0, 0]])
    array(['a', 'c'], dtype='<U1')
    >>> model.transform(X).shape
    (90, 2)
    >>> rows, labels = model.sample(5, random_state=0)
    >>> model.fill_in([[2.0, np.nan, 0.0, 0.0]]).shape
    (1, 4)
    """

    knob: ClassVar[str] = "shrinkage"
    simplifies: ClassVar[bool] = False
    params: ClassVar[Mapping[str, Parameter]] = {
        "shrinkage": AnyOf(
            Choice("auto", "ledoit_wolf", "oas"),
            Real(0, 1),
            help="share of the diagonal in the covariance",
        ),
        "priors": PRIORS,
        "covariance": Choice("pooled", "robust", help="how means and covariance are estimated"),
        "n_features_to_select": OrNone(
            AnyOf(Integer(1), Choice("aic", "bic")), help="inputs to use, the most useful first"
        ),
        "n_components": OrNone(Integer(1), help="discriminant coordinates to return"),
        "select": Choice("min", "one_se", help="rule that picks the shrinkage from the path"),
        "cv": Folds(help="number of folds that judge the path, or folds"),
    }
    card: ClassVar[Card] = Card(
        method="linear_discriminant",
        title="Linear discriminant analysis",
        task="classification",
        strengths=(
            "Made for classification: prior probabilities enter as they are.",
            "Simple computing: one pass over the rows, in chunks and streams too.",
            "Stable as new rows arrive, and robust to moderate departures from normality.",
            "Few discriminant coordinates show how the classes differ.",
            "A model of the inputs: it draws rows, fills in gaps and finds outliers.",
        ),
        weaknesses=(
            "Captures flat boundaries between the classes only.",
            "Means and covariance are not robust, unless robust ones are asked for.",
            "No importance of inputs beyond forward selection.",
            "Probabilities suffer where inputs are far from normal within classes.",
        ),
        assumptions=(
            "Inputs are normal within each class, with one covariance for all classes.",
            "Independent rows.",
        ),
        cost="n p^2",
        source="D198-D203, M518-M527, M536",
        wide=True,
    )

    def __init__(
        self,
        shrinkage: float | str = "auto",
        *,
        priors: Any = None,
        covariance: str = "pooled",
        n_features_to_select: int | str | None = None,
        n_components: int | None = None,
        select: str = "min",
        cv: Any = 10,
    ) -> None:
        self.shrinkage = shrinkage
        self.priors = priors
        self.covariance = covariance
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.select = select
        self.cv = cv

    def transform(self, X: Any) -> FloatArray:
        """Return the discriminant coordinates of rows: where the classes differ most.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.

        Returns
        -------
        ndarray of shape (m, d)
            In these coordinates each class has unit covariance, and with all of them the nearest
            class mean (but for the priors) is the class that is predicted.
        """
        X = self._check_new(X)
        d, scale = self._n_features_out, self.densities_.scale
        Z = standardized(X, self.xbar_, scale)
        return np.asarray(Z @ (self.scalings_[:, :d] * scale[:, None]))

    def selection(self) -> Any:
        """Return the inputs in the order of forward selection, with what each adds.

        Returns
        -------
        data frame
            Columns term, wilks_lambda (of the inputs so far; for two classes 1 - R^2 of the
            regression of the class on them), statistic and p_value (F test of what the input adds,
            as if it had not been chosen from many), aic and bic (less that without inputs).
        """
        check_is_fitted(self)
        found = forward_selection(self._statistics_so_far)
        names = term_names(self, intercept=False)
        return self._make_frame(
            {
                "term": [names[j] for j in found.order],
                "wilks_lambda": found.wilks,
                "statistic": found.statistic,
                "p_value": found.p_value,
                "aic": found.aic[1:],
                "bic": found.bic[1:],
            }
        )

    def plot(self, X: Any, y: Any) -> Any:
        """Draw rows and class means in the first discriminant coordinates.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        y : array-like of shape (m,)
            Their classes.

        Returns
        -------
        altair.Chart
            The chart.
        """
        from bottega.plot import discriminant_chart

        points = self.transform(X)
        d, seen = points.shape[1], self._present
        centers = (self.means_[seen] - self.xbar_) @ self.scalings_[:, :d]
        share = self.explained_variance_ratio_[:d]
        return discriminant_chart(points, np.asarray(y), centers, self.classes_[seen], share)

    def _drawn(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        self._refuse_selected("Drawing rows")
        return super()._drawn(codes, rng)

    def _filled(self, X: FloatArray, shares: FloatArray) -> FloatArray:
        self._refuse_selected("Filling in gaps")
        return super()._filled(X, shares)

    def _refuse_selected(self, what: str) -> None:
        if self.n_features_to_select is not None:
            raise InputError(
                f"{what} needs a model of all inputs, and this one has "
                f"{int(self.selected_.sum())} of {self.n_features_in_}; fit it with "
                "n_features_to_select=None."
            )

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        estimate: Array = np.vstack([self.intercept_, self.coef_.T])
        two = len(self.classes_) == 2
        return tidy_columns(
            term_names(self, intercept=True),
            estimate[:, 0] if two else estimate,
            response=None if two else self.classes_,
            level=level,
        )

    def _glance_row(self) -> dict[str, Any]:
        moments, d = self._statistics_so_far, self.densities_
        n, r = float(moments.weight.sum()), d.root[0].shape[1]
        within = moments.within() / np.outer(d.scale, d.scale)
        square = float(np.sum((d.root[0].T @ within) * d.root[0].T))
        log_det = float(d.log_det[0] + 2 * np.sum(np.log(d.scale)))
        seen = moments.weight[self._present]
        loglik = float(seen @ self._log_prior()) - 0.5 * (
            n * (r * np.log(2 * np.pi) + log_det) + square
        )
        row = {"nobs": int(moments.count.sum()), "loglik": loglik, "deviance": -2 * loglik}
        return glance_row(row, **self._choice_row())
