"""Mixtures of probabilistic principal components: clusters, each with few directions of its own."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, ClassVar

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.errors import ConvergenceWarning, DataWarning, InputError, warn_caller
from bottega.core.folds import Folds
from bottega.core.losses import Loss
from bottega.core.params import Auto, Choice, Integer, Parameter, Real, Seed
from bottega.core.path import Path
from bottega.core.results import term_names
from bottega.core.row_counts import as_counts
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.unsupervised import Unsupervised
from bottega.latent._mixture.fit import DistinctRows, PpcaMixtureFit, fit_mixture
from bottega.latent._ppca.packed import unpacked
from bottega.latent._reading.sizes import check_sizes

__all__ = ["MixtureOfPPCA"]

_MOST_CLUSTERS = 6
_MOST_COMPONENTS = 5


class MixtureOfPPCA(DensityMixin, Unsupervised):
    r"""Clusters of rows, each a normal distribution with few directions of its own.

    .. math:: p(x) = \sum_{c=1}^{C} \pi_c\, N(x;\; \mu_c,\; W_c W_c^\top + \sigma_c^2 I_p)

    with K latent variables in every cluster, fitted by EM: rows get the probabilities of the
    clusters, and each cluster the closed form of `ProbabilisticPCA` for its weighted rows. With
    K = p - 1 it is a mixture of normals with any covariance, with K = 0 one of spheres.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters C; more fit closer. ``"auto"`` picks from the path.
    n_components : int or "auto", default="auto"
        Number of latent variables K of each cluster, from 0 to p - 1. ``"auto"`` picks from the
        path, which then has every pair of both numbers.
    select : {"min", "one_se", "aic", "bic"}, default="bic"
        Rule that picks from the path: by the log-likelihood of held-out rows, or a criterion.
    cv : int, float, "loo", splitter or list of (train, test), default=5
        Folds that hold rows out, where the rule asks for their likelihood.
    n_init : int, default=5
        Starts of k-means, of which that with the least distances is where EM starts.
    tol : float, default=1e-5
        EM stops when an iteration gains no more than this in log-likelihood per row.
    max_iter : int, default=500
        The most iterations of EM.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    n_clusters_, n_components_ : int
        The numbers in use.
    path_ : Path
        The whole curve, when one of the numbers is ``"auto"``.
    weights_ : ndarray of shape (C,)
        Shares of the clusters, largest first.
    means_ : ndarray of shape (C, p)
        Their means.
    loadings_ : ndarray of shape (C, p, K)
        Their loadings W, with the signs and order of `ProbabilisticPCA`.
    noise_variances_ : ndarray of shape (C,)
        Their noise variances.
    log_likelihood_ : float
        Log-likelihood of the rows of the fit.
    trace_ : Ascent
        Log-likelihood and bound after each step of EM, which never decrease; ``trace_.plot()``
        draws them.
    n_iter_ : int
        Iterations of EM.
    converged_ : bool
        Whether `tol` was reached.

    Notes
    -----
    An iteration costs :math:`O(C (n p^2 + p^3))`. Equal rows count as one row of their summed
    weight, and rows are sorted first, so neither repetition nor order changes the answer. Weights
    that sum to less than the rows are shares: their mean is taken to be one. The
    likelihood has no maximum: a cluster that shrinks to few rows has a density without bound. The
    noise of every cluster is therefore held above 1e-6 of the mean variance of a column. A model
    with a cluster at that bound is not picked by a criterion, and is reported by a warning.

    EM finds a maximum near its start. Do not use it for rows with missing values
    (`ProbabilisticPCA` takes them), or with fewer rows per cluster than p K parameters bear.

    References
    ----------
    .. [1] Tipping, M. E. and Bishop, C. M. (1999). Mixtures of probabilistic principal component
       analyzers. Neural Computation 11, 443-482.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> line = rng.normal(size=(200, 1))
    >>> X = np.vstack([line[:100] * [1, 1, 0], line[100:] * [1, -1, 0] + [4, 0, 4]])
    >>> X += 0.2 * rng.normal(size=X.shape)
    >>> model = MixtureOfPPCA(random_state=0).fit(X)
    >>> model.n_clusters_, model.n_components_
    (2, 1)
    >>> np.bincount(model.predict(X)).tolist()
    [100, 100]
    """

    knob: ClassVar[str] = "n_clusters"
    knobs: ClassVar[tuple[str, ...]] = ("n_clusters", "n_components")
    row_loss: ClassVar[str] = "minus log-likelihood"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_clusters": Auto(Integer(1, None), help="number of clusters"),
        "n_components": Auto(Integer(0, None), help="number of latent variables of a cluster"),
        "select": Choice("min", "one_se", "aic", "bic", help="rule that picks from the path"),
        "cv": Folds(help="folds that hold rows out"),
        "n_init": Integer(1, None, help="starts of k-means"),
        "tol": Real(0, None, help="gain per row at which EM stops"),
        "max_iter": Integer(1, None, help="the most iterations of EM"),
        "random_state": Seed(help="seed of the starts"),
    }
    card: ClassVar[Card] = Card(
        method="mixture_of_ppca",
        title="Mixture of probabilistic principal components",
        task="density",
        strengths=(
            "Clusters of different shapes and directions with few parameters each.",
            "Gives probabilities of the clusters, a density (low for outliers) and new rows.",
            "A piecewise linear map of rows that lie near a curved surface.",
        ),
        weaknesses=(
            "EM finds a maximum near its start, which need not be the largest.",
            "The likelihood is without bound where a cluster shrinks to few rows.",
            "Depends on the units of the columns, which share one noise variance in a cluster.",
        ),
        assumptions=(
            "Rows are independent.",
            "Within a cluster rows are normal, with the same noise in every column.",
        ),
        cost="C (n p^2 + p^3) per iteration",
        source="N140",
        wide=True,
        standardize=True,
    )
    _least_rows: ClassVar[int] = 2

    def __init__(
        self,
        n_clusters: int | str = "auto",
        n_components: int | str = "auto",
        *,
        select: str = "bic",
        cv: Any = 5,
        n_init: int = 5,
        tol: float = 1e-5,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.select = select
        self.cv = cv
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _prepare(self, rows: Rows) -> DistinctRows:
        check_sizes(rows.X)
        found = DistinctRows.of(rows.X, as_counts(rows.weight))
        if len(found.X) < 2:
            raise InputError(
                "MixtureOfPPCA: the rows of X do not differ, so they have no density; give rows "
                "that vary."
            )
        if not hasattr(self, "_seed"):  # the same for all settings and folds of a fit
            self._seed = seed_of(self.random_state)
        return found

    def _fit_mixture(self, work: DistinctRows, setting: Mapping[str, Any]) -> PpcaMixtureFit:
        C, K, p = int(setting["n_clusters"]), int(setting["n_components"]), work.X.shape[1]
        if len(work.X) < C:
            raise InputError(
                f"n_clusters={C} is more than the {len(work.X)} distinct rows of X: give at most "
                f"{len(work.X)}."
            )
        if p - 1 < K:
            raise InputError(
                f"n_components={K} leaves no direction to the noise (n_features = {p}): give at "
                f"most {p - 1}."
            )
        return fit_mixture(
            work, C, K, seed=self._seed, n_init=int(self.n_init), tol=float(self.tol),
            max_iter=int(self.max_iter),
        )  # fmt: skip

    def _settle(self, work: DistinctRows, setting: Mapping[str, Any]) -> None:
        found = self._fit_mixture(work, setting)
        self.mixture_ = found.mixture
        self.n_clusters_ = int(setting["n_clusters"])
        self.n_components_ = int(setting["n_components"])
        self.weights_ = found.mixture.shares
        self.means_ = np.stack([model.mean for model in found.mixture.models])
        self.loadings_ = np.stack([model.W for model in found.mixture.models])
        self.noise_variances_ = np.array([model.noise for model in found.mixture.models])
        self.log_likelihood_, self.trace_ = found.log_likelihood, found.ascent
        self.n_iter_, self.converged_ = found.ascent.n_iter, found.converged
        if not found.converged:
            warn_caller(
                f"MixtureOfPPCA: EM did not converge in max_iter={self.max_iter} iterations; raise "
                "max_iter, raise tol, or take fewer clusters.",
                ConvergenceWarning,
            )
        if found.degenerate:
            warn_caller(
                f"MixtureOfPPCA: {found.degenerate} of {self.n_clusters_} clusters have rows that "
                f"lie in a plane of {self.n_components_} dimensions, so the likelihood has no "
                "maximum; their noise is held at 1e-6 of the mean variance of a column. Take fewer "
                "clusters or components.",
                DataWarning,
            )

    def _path(self, work: DistinctRows, values: Any, loss: Loss | None) -> Path:
        p = work.X.shape[1]
        settings = sorted(self._settings(work, values), key=lambda each: _df(p, each))
        fits = [self._fit_mixture(work, setting) for setting in settings]
        df = np.array([_df(p, setting) for setting in settings])
        likelihood = np.array([fit.log_likelihood for fit in fits])
        # A likelihood without bound is no reason to pick a model.
        counted = np.where([fit.degenerate > 0 for fit in fits], -np.inf, likelihood)
        return Path(
            settings,
            -likelihood / work.total,
            self.row_loss,
            df=df,
            criteria={"aic": -2 * counted + 2 * df, "bic": -2 * counted + np.log(work.total) * df},
        )

    def _settings(self, work: DistinctRows, values: Any) -> list[dict[str, Any]]:
        n, p = work.X.shape
        if values is not None:
            clusters = [int(value) for value in values]
        elif isinstance(self.n_clusters, str):
            clusters = list(range(1, min(_MOST_CLUSTERS, max(n // 5, 1)) + 1))
        else:
            clusters = [int(self.n_clusters)]
        if isinstance(self.n_components, str):
            components = list(range(min(_MOST_COMPONENTS, p - 1, max(n // 5, 1)) + 1))
        else:
            components = [int(self.n_components)]
        return [{"n_clusters": C, "n_components": K} for C, K in product(clusters, components)]

    def _predictions(
        self, work: DistinctRows, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        found = [self._fit_mixture(work, setting).mixture for setting in settings]
        return -np.stack([mixture.log_density(X_new) for mixture in found], axis=1)

    def _row_losses(self, X: Any) -> FloatArray:
        return -self.mixture_.log_density(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the responsibilities: the probability of each cluster given each row."""
        rows = self._check_new(X)
        return self.mixture_.responsibilities(rows)

    def predict(self, X: Any) -> IntArray:
        """Return the most probable cluster of each row, the larger one of equals."""
        return np.asarray(np.argmax(self.predict_proba(X), axis=1), dtype=np.intp)

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log-likelihood of each row; low for outliers."""
        rows = self._check_new(X)
        return self.mixture_.log_density(rows)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows."""
        return float(np.mean(self.score_samples(X)))

    def posterior(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return mean and covariance of the latent variables given each row and cluster.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows.

        Returns
        -------
        mean : ndarray of shape (m, C, K)
        covariance : ndarray of shape (C, K, K)
            The same for every row.
        """
        rows = self._check_new(X)
        each = [model.posterior(rows) for model in self.mixture_.models]
        K = self.n_components_
        covariance = np.stack([unpacked(packed[0], K) for _, _, packed in each])
        return np.stack([mean for mean, _, _ in each], axis=1), covariance

    def sample(
        self, n_samples: int = 1, *, random_state: Any = None
    ) -> tuple[FloatArray, IntArray]:
        """Return new rows drawn from the fitted density, and their clusters.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, Generator or None
            Seed.
        """
        check_is_fitted(self)
        Integer(1, None).check("sample", "n_samples", n_samples)
        rng = np.random.default_rng(seed_of(random_state))
        labels = rng.choice(self.n_clusters_, size=int(n_samples), p=self.weights_)
        z = rng.standard_normal((len(labels), self.n_components_))
        noise = rng.standard_normal((len(labels), self.means_.shape[1]))
        moved = np.einsum("ipk,ik->ip", self.loadings_[labels], z)
        spread = np.sqrt(self.noise_variances_[labels])[:, None]
        return self.means_[labels] + moved + spread * noise, labels

    def summary(self) -> Summary:
        """Return the clusters as a table: share, noise, variance of their directions, mean."""
        check_is_fitted(self)
        p = self.means_.shape[1]
        names = term_names(self, intercept=False)
        table: dict[str, Any] = {
            "cluster": list(range(self.n_clusters_)),
            "share": self.weights_.tolist(),
            "noise variance": self.noise_variances_.tolist(),
            "variance of directions": np.sum(self.loadings_**2, axis=(1, 2)).tolist(),
        }
        table |= {f"mean of {names[j]}": self.means_[:, j].tolist() for j in range(min(p, 5))}
        notes = (
            f"{self.n_components_} latent variables per cluster; log-likelihood "
            f"{self.log_likelihood_:.6g} after {self.n_iter_} iterations",
        )
        title = f"Mixture of probabilistic PCA: {self.n_clusters_} clusters"
        return Summary(title, (Section("", table),), notes)


def _df(p: int, setting: Mapping[str, Any]) -> float:
    C, K = setting["n_clusters"], setting["n_components"]
    return float(C * (p + p * K - K * (K - 1) / 2 + 1) + C - 1)
