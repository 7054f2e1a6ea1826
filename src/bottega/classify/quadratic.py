"""Quadratic discriminant analysis: normal classes with covariances of their own, regularised."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.classify._generative.base import PRIORS
from bottega.classify._generative.own_covariances import OwnCovariances
from bottega.core.cards import Card
from bottega.core.folds import Folds
from bottega.core.params import Auto, Boolean, Choice, Parameter, Real
from bottega.core.results import CoefficientResults, glance_row, term_names, tidy_columns
from bottega.core.signs import signed
from bottega.core.typing import FloatArray

__all__ = ["QuadraticDiscriminant"]


class QuadraticDiscriminant(CoefficientResults, OwnCovariances):
    r"""Classify by Bayes' rule with a normal distribution for each class.

    With class k normal about :math:`\mu_k` with covariance :math:`\Sigma_k` and prior
    :math:`\pi_k`, a row goes to the class with the largest

    .. math:: \delta_k(x) = \log \pi_k - \tfrac12 \log |\Sigma_k|
              - \tfrac12 (x - \mu_k)^\top \Sigma_k^{-1} (x - \mu_k) ,

    so boundaries are quadratic. Covariances are regularised by two knobs (Friedman's): with
    :math:`S_k` the scatter of class k about its mean and S their sum,

    .. math:: \Sigma_k(\lambda) = \frac{(1 - \lambda) S_k + \lambda S}
              {(1 - \lambda)(n_k - 1) + \lambda (n - K)}, \qquad
              \Sigma_k = (1 - \gamma)\, \Sigma_k(\lambda)
              + \gamma\, \frac{\mathrm{tr}\, \Sigma_k(\lambda)}{p} I .

    Parameters
    ----------
    pooling : float or "auto", default="auto"
        Share :math:`\lambda` of the pooled covariance, from 0 (the classical method) to 1 (linear
        discriminant analysis). ``"auto"`` takes it from the path.
    shrinkage : float or "auto", default=0.0
        Share :math:`\gamma` of a multiple of the identity, from 0 to 1 (every class is a sphere).
        ``"auto"`` takes it from the path, together with `pooling`.
    standardize : bool, default=True
        Whether the identity is that of inputs with unit variance within classes; without it the
        units of the inputs matter where `shrinkage` is not 0.
    priors : array-like of shape (K,), dict or None, default=None
        Probability of each class, in sorted order or by label; None takes their shares. Numbers
        that do not sum to one are divided by their sum, with a warning.
    select : {"min", "one_se"}, default="one_se"
        Rule that picks from the path.
    cv : int, float, splitter or list of (train, test), default=10
        Folds that judge the path by their misclassification, each class spread over them.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    pooling_, shrinkage_ : float
        The two knobs in use.
    priors_ : ndarray of shape (K,)
        Probability of each class.
    means_ : ndarray of shape (K, p)
        Means of the classes.
    class_count_ : ndarray of shape (K,)
        Weight of the rows of each class.
    covariance_ : ndarray of shape (K, p, p)
        The covariances in use.
    rotations_ : list of ndarray of shape (p, p)
        Their principal axes, for each class, a column each.
    scalings_ : list of ndarray of shape (p,)
        Variances along these, from the largest.
    densities_ : Gaussians
        The normal distributions of the classes.
    path_ : Path
        The whole curve, when a knob is ``"auto"``.

    See Also
    --------
    LinearDiscriminant : one covariance for all classes.

    Notes
    -----
    One pass over the rows gives the moments of the classes, :math:`n p^2` operations. In a basis
    of its own, one eigendecomposition per class, the covariance of the class and the pooled one are
    both diagonal, so that all poolings cost little more than one. With shrinkage above 0 each
    pooling takes a decomposition, which serves all shrinkages. The model has K p means and
    K p (p + 1) / 2 covariances.

    A class with no more rows than inputs has no covariance of its own: such settings are left out
    of the path, and refused where they are given. Columns that do not vary within classes are left
    out, with a warning unless they do not vary at all.

    Do not use it with few rows per class and many inputs without regularisation, nor where inputs
    are far from normal: it is more tied to normality than `LinearDiscriminant`.

    References
    ----------
    .. [1] Friedman, J. H. (1989). Regularized discriminant analysis. Journal of the American
       Statistical Association 84, 165-175.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 2)), 4 * rng.normal(size=(60, 2))])
    >>> y = np.repeat(["near", "far"], 60)
    >>> model = QuadraticDiscriminant().fit(X, y)
    >>> model.predict([[0.0, 0.5], [0.0, 8.0]])
    array(['near', 'far'], dtype='<U4')
    >>> bool(model.pooling_ < 1)
    True
    """

    knob: ClassVar[str] = "pooling"
    knobs: ClassVar[tuple[str, ...]] = ("pooling", "shrinkage")
    walks: ClassVar[Mapping[str, Any]] = {"shrinkage": "auto"}
    params: ClassVar[Mapping[str, Parameter]] = {
        "pooling": Auto(Real(0, 1), help="share of the pooled covariance"),
        "shrinkage": Auto(Real(0, 1), help="share of a multiple of the identity"),
        "standardize": Boolean(help="take the identity on the scale of each input"),
        "priors": PRIORS,
        "select": Choice("min", "one_se", help="rule that picks from the path"),
        "cv": Folds(help="number of folds that judge the path, or folds"),
    }
    card: ClassVar[Card] = Card(
        method="quadratic_discriminant",
        title="Quadratic discriminant analysis",
        task="classification",
        strengths=(
            "Made for classification: prior probabilities enter as they are.",
            "Curved boundaries from one pass over the rows, in chunks too.",
            "The path leads from one covariance for all classes to one for each.",
            "A model of the inputs: it draws rows, fills in gaps and finds outliers.",
        ),
        weaknesses=(
            "Restrictive assumptions: more tied to normality than the linear method.",
            "Many parameters: a covariance for each class.",
            "No selection or importance of inputs.",
            "Means and covariances are not robust.",
        ),
        assumptions=("Inputs are normal within each class.", "Independent rows."),
        cost="n p^2",
        source="D202, M518-M523, M536",
    )

    def __init__(
        self,
        pooling: float | str = "auto",
        *,
        shrinkage: float | str = 0.0,
        standardize: bool = True,
        priors: Any = None,
        select: str = "one_se",
        cv: Any = 10,
    ) -> None:
        self.pooling = pooling
        self.shrinkage = shrinkage
        self.standardize = standardize
        self.priors = priors
        self.select = select
        self.cv = cv

    @property
    def rotations_(self) -> list[FloatArray]:
        """Principal axes of the covariance of each class, a column each."""
        check_is_fitted(self)
        return [signed(np.linalg.eigh(each)[1][:, ::-1]) for each in self.covariance_]

    @property
    def scalings_(self) -> list[FloatArray]:
        """Variances along the principal axes of each class, from the largest."""
        check_is_fitted(self)
        return [np.maximum(np.linalg.eigvalsh(each)[::-1], 0.0) for each in self.covariance_]

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        variances = np.diagonal(self.covariance_, axis1=1, axis2=2)
        return tidy_columns(
            term_names(self, intercept=False),
            self.means_.T,
            std_error=np.sqrt(variances / self.class_count_[:, None]).T,
            response=self.classes_,
            level=level,
        )

    def _notes(self) -> tuple[str, ...]:
        return ("Means of the inputs in each class, which are the responses here.",)

    def _glance_row(self) -> dict[str, Any]:
        return glance_row({"nobs": float(self.class_count_.sum())}, **self._choice_row())
