"""Probabilistic principal components: a density with few directions, missing values allowed."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from bottega.core.cards import Card
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import ConvergenceWarning, DataWarning, InputError, warn_caller
from bottega.core.folds import Folds
from bottega.core.losses import Loss
from bottega.core.params import Auto, Choice, Integer, Parameter, Real
from bottega.core.path import Path, along
from bottega.core.results import term_names
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.unsupervised import Unsupervised
from bottega.latent._ppca.reading import LatentReading
from bottega.latent._ppca.statistics import GappedMoments
from bottega.latent._ppca.work import LatentWork, prepared, prepared_chunks
from bottega.optimize.em import Ascent

__all__ = ["ProbabilisticPCA"]

_ALL_COUNTS = 200  # components up to which a path from one decomposition has every number


class ProbabilisticPCA(LatentReading, Unsupervised, Chunked):
    r"""Principal components as a density: few latent variables, the same noise in every column.

    Each row comes from K latent variables,

    .. math:: x = W z + \mu + \varepsilon, \quad z \sim N(0, I_K), \quad
              \varepsilon \sim N(0, \sigma^2 I_p),
              \qquad\text{so}\quad x \sim N(\mu,\; C), \quad C = W W^\top + \sigma^2 I_p

    and the likelihood is maximised. With S the covariance of complete rows (divisor n),
    :math:`\lambda_j` its eigenvalues and U its eigenvectors, the maximum is
    :math:`\hat\sigma^2 = \frac{1}{p - K} \sum_{j > K} \lambda_j` and
    :math:`\hat W = U_K (\Lambda_K - \hat\sigma^2 I)^{1/2}`, up to a rotation. Of rows with missing
    values the likelihood of what was observed is maximised: the density of those coordinates is
    normal with the same rows and columns of :math:`\mu` and C.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of latent variables K, from 0 (all columns independent with one variance) to p - 1
        (any covariance); more fit closer. ``"auto"`` picks from the path by the rule `select`.
    method : {"auto", "closed", "em", "gradient"}, default="auto"
        How the maximum is found. ``"auto"`` takes the closed form for complete rows and EM for
        rows with missing values; ``"gradient"`` is L-BFGS on the likelihood.
    select : {"min", "one_se", "aic", "bic"}, default="min"
        Rule that picks from the path: by the log-likelihood of held-out rows, or a criterion.
    cv : int, float, "loo", splitter or list of (train, test), default=5
        Folds that hold rows out, or the share of rows to hold out.
    tol : float, default=1e-5
        EM stops when the gain that the next step promises, in log-likelihood per row, is at most
        this; smaller is closer to the maximum.
    max_iter : int, default=500
        The most iterations of EM or L-BFGS.

    Attributes
    ----------
    n_components_ : int
        The number of latent variables in use, K.
    path_ : Path
        The whole curve, when `n_components` is ``"auto"``.
    mean_ : ndarray of shape (p,)
        Mean of the rows, mu.
    loadings_ : ndarray of shape (p, K)
        W. Its columns are along the principal axes, longest first, each with its largest entry (in
        absolute value) positive.
    components_ : ndarray of shape (K, p)
        The principal axes, of length one.
    explained_variance_ : ndarray of shape (K,)
        Variance along each axis, noise included.
    noise_variance_ : float
        Variance of the noise, sigma squared.
    log_likelihood_ : float
        Log-likelihood of the rows of the fit.
    trace_ : ndarray
        Log-likelihood after each iteration; it never decreases.
    method_ : str
        How the maximum was found.
    n_iter_ : int
        Iterations taken; 1 for the closed form.
    converged_ : bool
        Whether `tol` was reached.

    Notes
    -----
    Complete rows cost one eigendecomposition, :math:`O(n p^2 + p^3)` (of inner products of rows
    where these are fewer), for all K together. An iteration of EM costs
    :math:`O(n p K^2 + n K^3)`: each row has a K x K system of its own, but rows that miss the same
    columns share one, and enter by their moments where they are many. Mean and covariance of the
    latent variables are free in each step (parameter expansion), and steps are extrapolated where
    that raises the likelihood; so a few iterations do unless most of the values are missing.

    Row weights count as repeated rows. The likelihood has no maximum where the rows lie in a plane
    of K dimensions: the noise is then held at 1e-10 of the mean variance of a column, with a
    warning.

    Do not use it where columns differ in their noise (`FactorAnalysis` has one variance per
    column) or in their units (standardise them first). It is no protection against outliers: the
    normal density gives them as much say as principal components do. Values must be missing for
    reasons that the observed values explain; a value that is missing because it is large is
    imputed too small.

    The task of its card is a density, because its path is judged by the likelihood of held-out
    rows: that compares it with mixtures, and reconstruction errors do not.

    References
    ----------
    .. [1] Tipping, M. E. and Bishop, C. M. (1999). Probabilistic principal component analysis.
       Journal of the Royal Statistical Society B 61, 611-622.
    .. [2] Liu, C., Rubin, D. B. and Wu, Y. N. (1998). Parameter expansion to accelerate EM: the
       PX-EM algorithm. Biometrika 85, 755-770.
    .. [3] Henderson, N. C. and Varadhan, R. (2019). Damped Anderson acceleration with restarts and
       monotonicity control for accelerating EM and EM-like algorithms. Journal of Computational
       and Graphical Statistics 28, 834-846.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(200, 6))
    >>> X[rng.random(X.shape) < 0.3] = np.nan
    >>> model = ProbabilisticPCA().fit(X)
    >>> model.n_components_, round(model.noise_variance_ ** 0.5, 2)
    (2, 0.1)
    >>> filled, std = model.impute(X[:1], return_std=True)
    >>> bool(np.isnan(filled).any()), bool(np.array_equal(std > 0, np.isnan(X[:1])))
    (False, True)
    """

    knob: ClassVar[str] = "n_components"
    row_loss: ClassVar[str] = "minus log-likelihood"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": Auto(Integer(0, None), help="number of latent variables"),
        "method": Choice("auto", "closed", "em", "gradient", help="how the maximum is found"),
        "select": Choice("min", "one_se", "aic", "bic", help="rule that picks from the path"),
        "cv": Folds(help="folds that hold rows out"),
        "tol": Real(0, None, open_low=True, help="promised gain per row at which EM stops"),
        "max_iter": Integer(1, None, help="the most iterations"),
    }
    card: ClassVar[Card] = Card(
        method="probabilistic_pca",
        title="Probabilistic principal components",
        task="density",
        strengths=(
            "Missing values enter exactly, by the likelihood of what was observed.",
            "Imputes with the uncertainty of each value.",
            "A density: its number of components is judged by the likelihood of held-out rows.",
            "New rows can be drawn from it.",
        ),
        weaknesses=(
            "Outliers turn its axes as much as those of principal components.",
            "Captures linear structure only.",
            "Depends on the units of the columns, which share one noise variance.",
        ),
        assumptions=(
            "Rows are independent and normal.",
            "The noise has the same variance in every column.",
            "Whether a value is missing depends on observed values only.",
        ),
        cost="n p^2 + p^3 for complete rows, n p K^2 per iteration with missing values",
        source="N131-N142",
        takes=frozenset({"number", "missing"}),
        wide=True,
        standardize=True,
    )
    _least_rows: ClassVar[int] = 2

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        method: str = "auto",
        select: str = "min",
        cv: Any = 5,
        tol: float = 1e-5,
        max_iter: int = 500,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.select = select
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _prepare(self, rows: Rows) -> LatentWork:
        if len(rows) < 2:  # a fold: a fit of so few rows is refused before
            raise InputError(
                "ProbabilisticPCA: holding rows out to choose n_components leaves one row to fit, "
                "which has no density; give more rows, n_components= a number, or select='bic'."
            )
        names = term_names(self, intercept=False)
        return self._checked(prepared(rows, type(self).__name__, names))

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> GappedMoments:
        return GappedMoments().update(X, w=w)

    def _prepare_merged(self, statistics: GappedMoments, chunks: CheckedChunks) -> LatentWork:
        owner, names = type(self).__name__, term_names(self, intercept=False)
        return self._checked(prepared_chunks(statistics.moments, chunks, owner, names))

    def _checked(self, work: LatentWork) -> LatentWork:
        if self.method == "closed" and not work.complete:
            raise InputError(
                "method='closed' needs complete rows, and X has missing values; use method='em' "
                "or 'gradient', or leave it at 'auto'."
            )
        return work

    def _way(self, work: LatentWork) -> str:
        if self.method == "auto":
            return "closed" if work.complete else "em"
        return self.method

    def _solve(self, work: LatentWork, count: int) -> Ascent:
        return work.solve(count, self._way(work), float(self.tol), int(self.max_iter))

    def _settle(self, work: LatentWork, setting: Mapping[str, Any]) -> None:
        self.n_components_ = int(_check_counts([setting["n_components"]], len(work.center))[0])
        self.method_ = self._way(work)
        found = self._solve(work, self.n_components_)
        self._keep(found)
        if not found.converged:
            warn_caller(
                f"ProbabilisticPCA: {self.method_} did not converge in max_iter={self.max_iter} "
                "iterations; raise max_iter, raise tol, or take fewer components.",
                ConvergenceWarning,
            )
        if found.parameters.noise <= work.axes.floor * (1 + 1e-9):
            warn_caller(
                f"ProbabilisticPCA: the rows lie in a plane of n_components="
                f"{self.n_components_} dimensions, so the noise variance is zero and the "
                "likelihood has no maximum; the noise is held at 1e-10 of the mean variance of a "
                "column. Give fewer components, or more rows.",
                DataWarning,
            )

    def _keep(self, found: Ascent) -> None:
        self.model_ = model = found.parameters
        self.mean_, self.loadings_, self.noise_variance_ = model.mean, model.W, model.noise
        sizes = np.sqrt(np.sum(model.W**2, axis=0))
        self.components_ = (model.W / np.where(sizes > 0, sizes, 1.0)).T
        self.explained_variance_ = sizes**2 + model.noise
        self.trace_ = found.log_likelihood
        self.log_likelihood_ = float(self.trace_[-1])
        self.n_iter_, self.converged_ = max(found.n_iter, 1), found.converged

    def _path(self, work: LatentWork, values: Any, loss: Loss | None) -> Path:
        p = len(work.center)
        if values is not None:
            counts = _check_counts(values, p)
        elif self._way(work) == "closed":
            counts = np.arange(min(work.most, _ALL_COUNTS) + 1)
        else:
            counts = _some_counts(work.most)
        if self._way(work) == "closed":
            likelihood = work.axes.log_likelihoods(counts)
        else:
            likelihood = np.array([self._solve(work, k).log_likelihood[-1] for k in counts])
        df = p + p * counts - counts * (counts - 1) / 2 + 1.0
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
        self, work: LatentWork, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        counts = np.array([setting["n_components"] for setting in settings])
        if self._way(work) == "closed" and not np.isnan(X_new).any():
            return -work.axes.log_densities(X_new, counts)
        found = [self._solve(work, int(k)).parameters.log_density(X_new) for k in counts]
        return -np.stack(found, axis=1)

    def _row_losses(self, X: Any) -> FloatArray:
        return -self.model_.log_density(X)


def _check_counts(values: Any, p: int) -> IntArray:
    counts = np.sort(np.asarray(values))
    if counts[-1] > p - 1:
        raise InputError(
            f"n_components={counts[-1]} leaves no direction to the noise (n_features = {p}): give "
            f"at most {p - 1}."
        )
    return counts


def _some_counts(most: int) -> IntArray:
    """Return numbers of components up to `most`, fewer of the large ones: each costs an EM."""
    spread = np.unique(np.round(1.3 ** np.arange(20)).astype(np.intp))
    return np.concatenate([[0], spread[spread <= most]]).astype(np.intp)
