"""Factor analysis by maximum likelihood, with rotations."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import stats

from bottega.core.cards import Card
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import ConvergenceWarning, DataWarning, InputError, warn_caller
from bottega.core.folds import Folds
from bottega.core.losses import Loss
from bottega.core.moments import Moments
from bottega.core.params import (
    AnyOf,
    Anything,
    Boolean,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
    Seed,
)
from bottega.core.path import Path, along
from bottega.core.results import term_names
from bottega.core.rows import Rows
from bottega.core.signs import signs
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.unsupervised import Unsupervised
from bottega.data.scatter import row_moments
from bottega.latent._factors.likelihood import FactorSolution, maximise
from bottega.latent._factors.reading import FactorReading
from bottega.latent._factors.work import FactorWork, degrees_of_freedom
from bottega.latent._reading.sizes import check_sizes
from bottega.latent._rotation.orthomax import orthomax
from bottega.latent._rotation.promax import promax

__all__ = ["FactorAnalysis"]

_IGNORED = "taken because scikit-learn has it; without effect"


class FactorAnalysis(FactorReading, Unsupervised, Chunked):
    r"""Common factors behind the columns, and a noise variance per column.

    .. math:: x = \mu + \Lambda f + \varepsilon, \quad f \sim N(0, I_K), \quad
              \varepsilon \sim N(0, \Psi), \quad \Psi \text{ diagonal}

    fitted by maximum likelihood. For given :math:`\Psi` the best loadings follow from an
    eigendecomposition; the rest is minimised over the logarithms of the p uniquenesses. The answer
    does not depend on the units of the columns. The loadings are found up to a rotation, which
    `rotation` chooses.

    Parameters
    ----------
    n_components : int, None or "auto", default=None
        Number of factors K; None for as many as columns, as in scikit-learn. More fit closer;
        beyond :math:`(p - K)^2 < p + K` the model has more parameters than there are covariances.
        ``"auto"`` picks from the path by the rule `select`.
    tol : float, default=1e-8
        Largest slope of the log-likelihood per row at which the ascent stops (in logarithms of
        the uniquenesses). scikit-learn's is a gain of EM and larger.
    copy : bool, default=True
        Taken because scikit-learn has it; X is never changed.
    max_iter : int, default=1000
        The most iterations.
    noise_variance_init : array-like of shape (p,), optional
        Noise variances to start from; by default a part of what the other columns do not explain.
    svd_method : {"randomized", "lapack"}, default="randomized"
        Taken because scikit-learn has it; without effect: there is no SVD of the rows.
    iterated_power : int, default=3
        Taken because scikit-learn has it; without effect.
    rotation : {None, "none", "varimax", "quartimax", "promax"}, default=None
        None (or ``"none"``) keeps the loadings whose columns are orthogonal in units of the noise;
        ``"varimax"`` and ``"quartimax"`` rotate them to many small and few large entries, rows
        scaled to length one first (Kaiser); ``"promax"`` lets the factors be correlated.
    random_state : int, default=0
        Taken because scikit-learn has it; without effect: nothing is drawn.
    scores : {"regression", "bartlett"}, default="regression"
        What `transform` gives: the mean of the factors given the row (shrunk towards zero), or
        Bartlett's estimate (unbiased given the factors).
    power : int, default=4
        Of promax; larger allows more correlation between the factors.
    lower : float, default=0.005
        Least uniqueness, as a share of the variance of the column. At this bound a column is
        explained wholly (a Heywood case), which a warning says.
    select : {"min", "one_se", "aic", "bic"}, default="bic"
        Rule that picks from the path.
    cv : int, float, "loo", splitter or list of (train, test), default=5
        Folds that hold rows out, where the rule asks for their likelihood.

    Attributes
    ----------
    n_components_ : int
        The number of factors.
    path_ : Path
        The whole curve, when `n_components` is ``"auto"``.
    mean_ : ndarray of shape (p,)
        Means of the columns.
    components_ : ndarray of shape (K, p)
        Loadings in the units of the columns, rotated; factors in order of their squared
        (standardised) loadings, each with its largest entry (in absolute value) positive.
    noise_variance_ : ndarray of shape (p,)
        Variance of each column that the factors leave.
    loadings_ : ndarray of shape (p, K)
        Loadings of standardised columns, rotated.
    uniquenesses_ : ndarray of shape (p,)
        Share of the variance of each column that the factors leave.
    rotation_matrix_ : ndarray of shape (K, K)
        Turns the unrotated loadings into `loadings_`.
    factor_correlation_ : ndarray of shape (K, K)
        Correlations of the factors; the identity unless the rotation is oblique.
    log_likelihood_ : float
        Log-likelihood of the rows of the fit.
    loglike_ : list of float
        Log-likelihood after each iteration.
    dof_ : int
        Covariances less parameters: degrees of freedom of the test.
    statistic_, p_value_ : float
        Chi-square test (with Bartlett's correction) that K factors are enough; NaN where there are
        no degrees of freedom, or the correlations have no inverse.
    heywood_ : ndarray of int
        Columns whose uniqueness is at its bound.
    n_iter_ : int
        Iterations taken.
    converged_ : bool
        Whether `tol` was reached.

    Notes
    -----
    One pass over the rows for the correlations, :math:`O(n p^2)`, then :math:`O(p^3)` per
    iteration; a few dozen iterations do. Row weights count as repeated rows, unless they sum to
    less than the rows (shares): then their mean is taken to be one. Rows may come in chunks.

    Do not use it where the aim is to keep variance (`PCA` does that): factors explain covariances.
    Do not read meaning into loadings of more factors than the test or the path supports, nor into
    those of a Heywood case: the uniqueness is at its bound because the likelihood has no maximum
    inside.

    References
    ----------
    .. [1] Joreskog, K. G. (1967). Some contributions to maximum likelihood factor analysis.
       Psychometrika 32, 443-482.
    .. [2] Lawley, D. N. and Maxwell, A. E. (1971). Factor analysis as a statistical method,
       2nd edition. Butterworths.
    .. [3] Kaiser, H. F. (1958). The varimax criterion for analytic rotation in factor analysis.
       Psychometrika 23, 187-200.
    .. [4] Hendrickson, A. E. and White, P. O. (1964). Promax: a quick method for rotation to
       oblique simple structure. British Journal of Statistical Psychology 17, 65-70.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> f = rng.normal(size=(500, 2))
    >>> W = np.array([[1.0, 0.8, 0.9, 0, 0, 0], [0, 0, 0, 1.0, 0.7, 0.8]])
    >>> X = f @ W + rng.normal(size=(500, 6)) * [0.3, 0.5, 0.7, 0.4, 0.6, 0.5]
    >>> model = FactorAnalysis("auto", rotation="varimax").fit(X)
    >>> model.n_components_, model.p_value_ > 0.05
    (2, True)
    >>> (np.abs(model.loadings_) > 0.3).astype(int).tolist()
    [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    """

    knob: ClassVar[str] = "n_components"
    row_loss: ClassVar[str] = "minus log-likelihood"
    walks: ClassVar[Mapping[str, Any]] = {"n_components": "auto"}
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": AnyOf(
            Choice("auto"), OrNone(Integer(0, None)), help="number of factors; None for all columns"
        ),
        "tol": Real(0, None, open_low=True, help="largest slope at which the ascent stops"),
        "copy": Boolean(help=_IGNORED),
        "max_iter": Integer(1, None, help="the most iterations"),
        "noise_variance_init": OrNone(Anything(), help="noise variances to start from"),
        "svd_method": Choice("randomized", "lapack", help=_IGNORED),
        "iterated_power": Integer(0, None, help=_IGNORED),
        "rotation": OrNone(
            Choice("none", "varimax", "quartimax", "promax"), help="rotation of the loadings"
        ),
        "random_state": Seed(help=_IGNORED),
        "scores": Choice("regression", "bartlett", help="what transform gives"),
        "power": Integer(2, None, help="of promax; larger allows more correlation"),
        "lower": Real(0, 1, open_low=True, open_high=True, help="least uniqueness"),
        "select": Choice("min", "one_se", "aic", "bic", help="rule that picks from the path"),
        "cv": Folds(help="folds that hold rows out"),
    }
    card: ClassVar[Card] = Card(
        method="factor_analysis",
        title="Factor analysis",
        task="decomposition",
        strengths=(
            "Separates what columns share from the noise of each.",
            "Does not depend on the units of the columns.",
            "A test says whether the factors are enough, and held-out likelihood how many to take.",
            "Rotations make the loadings readable.",
        ),
        weaknesses=(
            "Loadings are found up to a rotation only.",
            "Captures linear structure only, and outliers distort it.",
            "The likelihood may have no maximum inside: a column is then explained wholly.",
        ),
        assumptions=(
            "Rows are independent and normal.",
            "The noise of different columns is independent.",
        ),
        cost="n p^2 + p^3 per iteration",
        source="D220",
        wide=True,
    )
    _least_rows: ClassVar[int] = 3

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        tol: float = 1e-8,
        copy: bool = True,
        max_iter: int = 1000,
        noise_variance_init: Any = None,
        svd_method: str = "randomized",
        iterated_power: int = 3,
        rotation: str | None = None,
        random_state: Any = 0,
        scores: str = "regression",
        power: int = 4,
        lower: float = 0.005,
        select: str = "bic",
        cv: Any = 5,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.copy = copy
        self.max_iter = max_iter
        self.noise_variance_init = noise_variance_init
        self.svd_method = svd_method
        self.iterated_power = iterated_power
        self.rotation = rotation
        self.random_state = random_state
        self.scores = scores
        self.power = power
        self.lower = lower
        self.select = select
        self.cv = cv

    def _prepare(self, rows: Rows) -> FactorWork:
        moments = self._statistics(rows.X, None, rows.weight, None)
        return FactorWork.of(moments, type(self).__name__, term_names(self, intercept=False))

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Moments:
        check_sizes(X, each=True)
        return row_moments(X, w)

    def _prepare_merged(self, statistics: Moments, chunks: CheckedChunks) -> FactorWork:
        return FactorWork.of(statistics, type(self).__name__, term_names(self, intercept=False))

    def _given(self, work: FactorWork) -> dict[str, Any] | None:
        if self.n_components is None:
            return {"n_components": len(work.mean)}
        return super()._given(work)

    def _solve(self, work: FactorWork, count: int) -> FactorSolution:
        start = None
        if self.noise_variance_init is not None:
            start = np.asarray(self.noise_variance_init, dtype=np.float64)
            if start.shape != work.mean.shape or not np.all(start > 0):
                raise InputError(
                    f"noise_variance_init has shape {start.shape}; give one number above zero per "
                    f"column, ({len(work.mean)},)."
                )
            start = start / work.scale**2
        return maximise(
            work.R, count, lower=float(self.lower), tol=float(self.tol),
            max_iter=int(self.max_iter), start=start,
        )  # fmt: skip

    def _settle(self, work: FactorWork, setting: Mapping[str, Any]) -> None:
        p = len(work.mean)
        self.n_components_ = K = int(_check_counts([setting["n_components"]], p)[0])
        found = self._solve(work, K)
        self.density_ = work.density(found)
        self.mean_, self.noise_variance_ = self.density_.mean, self.density_.noise
        self.uniquenesses_ = found.uniquenesses
        self._rotate(found.loadings, work.scale)
        self.log_likelihood_ = work.log_likelihood(found)
        self.loglike_ = work.log_likelihoods(found)
        self.dof_ = degrees_of_freedom(p, K)
        factor = work.weight - 1 - (2 * p + 5) / 6 - 2 * K / 3
        tested = self.dof_ > 0 and factor > 0
        self.statistic_ = factor * work.excess(found) if tested else float("nan")
        self.p_value_ = float(stats.chi2.sf(self.statistic_, self.dof_)) if tested else float("nan")
        self.heywood_ = np.flatnonzero(found.at_bound)
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        self._warn(p)

    def _rotate(self, loadings: FloatArray, scale: FloatArray) -> None:
        K = loadings.shape[1]
        if self.rotation == "promax":
            T = promax(loadings, int(self.power))
        elif self.rotation in ("varimax", "quartimax"):
            T = orthomax(loadings, float(self.rotation == "varimax"))
        else:
            T = np.eye(K)
        rotated = loadings @ T
        order = np.argsort(-np.sum(rotated**2, axis=0), kind="stable")
        T = T[:, order] * signs(rotated[:, order])
        self.loadings_ = loadings @ T
        self.components_ = (self.loadings_ * scale[:, None]).T
        self.rotation_matrix_ = T
        inverse = np.linalg.inv(T)
        self.factor_correlation_ = inverse @ inverse.T

    def _warn(self, p: int) -> None:
        if not self.converged_:
            warn_caller(
                f"FactorAnalysis: the ascent did not converge in max_iter={self.max_iter} "
                "iterations; raise max_iter, or take fewer factors.",
                ConvergenceWarning,
            )
        if len(self.heywood_) and self.dof_ >= 0:
            names = term_names(self, intercept=False)
            which = [repr(names[j]) for j in self.heywood_]
            warn_caller(
                f"FactorAnalysis: the uniqueness of column {', '.join(which)} is at its bound "
                f"lower={self.lower} (a Heywood case): the likelihood has no maximum inside. Take "
                "fewer factors, leave the column out, or give more rows.",
                DataWarning,
            )

    def _path(self, work: FactorWork, values: Any, loss: Loss | None) -> Path:
        p = len(work.mean)
        counts = np.arange(work.most + 1) if values is None else _check_counts(values, p)
        likelihood = np.array([work.log_likelihood(self._solve(work, int(k))) for k in counts])
        df = 2 * p + p * counts - counts * (counts - 1) / 2
        return Path(
            along("n_components", counts),
            -likelihood / work.weight,
            self.row_loss,
            df=df,
            criteria={
                "aic": -2 * likelihood + 2 * df,
                "bic": -2 * likelihood + np.log(work.weight) * df,
            },
        )

    def _predictions(
        self, work: FactorWork, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        solutions = [self._solve(work, int(setting["n_components"])) for setting in settings]
        return -np.stack([work.density(each).log_density(X_new) for each in solutions], axis=1)

    def _row_losses(self, X: Any) -> FloatArray:
        return -self.density_.log_density(X)


def _check_counts(values: Any, p: int) -> IntArray:
    counts = np.sort(np.asarray(values))
    if counts[-1] > p:
        raise InputError(
            f"n_components={counts[-1]} is more than the {p} columns of X: give at most {p}."
        )
    return counts
