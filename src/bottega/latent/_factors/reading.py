"""What fitted factors say: scores of rows, densities, new rows, a table of loadings."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.estimator import Estimator
from bottega.core.params import Integer
from bottega.core.results import term_names
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.latent._factors.density import FactorDensity

__all__ = ["FactorReading"]


class FactorReading(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Fitted common factors with a noise variance per column."""

    scores: str
    rotation: str | None
    lower: float
    density_: FactorDensity
    n_components_: int
    mean_: FloatArray
    components_: FloatArray
    loadings_: FloatArray
    noise_variance_: FloatArray
    uniquenesses_: FloatArray
    factor_correlation_: FloatArray
    heywood_: IntArray
    statistic_: float
    p_value_: float
    dof_: int

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> FloatArray:
        """Return the scores of the factors of each row, as `scores` says.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows.

        Returns
        -------
        ndarray of shape (m, K)
        """
        centred = self._check_new(X) - self.mean_
        W = self.components_.T
        scaled = W / self.noise_variance_[:, None]
        inner = W.T @ scaled
        if self.scores == "regression":
            inner = inner + np.linalg.inv(self.factor_correlation_)
        # Loadings of more factors than there are correlations may have no inverse.
        return np.asarray(centred @ scaled @ np.linalg.pinv(inner, hermitian=True))

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log-likelihood of each row."""
        return self.density_.log_density(self._check_new(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows."""
        return float(np.mean(self.score_samples(X)))

    def get_covariance(self) -> FloatArray:
        """Return the covariance of the rows under the model."""
        check_is_fitted(self)
        return self.density_.covariance()

    def get_precision(self) -> FloatArray:
        """Return the inverse of the covariance of the rows under the model."""
        check_is_fitted(self)
        return self.density_.precision()

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> FloatArray:
        """Return new rows drawn from the fitted density.

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
        f = rng.standard_normal((int(n_samples), self.n_components_))
        noise = np.sqrt(self.noise_variance_) * rng.standard_normal((len(f), len(self.mean_)))
        return np.asarray(f @ self.density_.W.T + self.mean_ + noise)

    def summary(self) -> Summary:
        """Return loadings and uniquenesses as a table, with the test of the number of factors."""
        check_is_fitted(self)
        K = self.n_components_
        table: dict[str, Any] = {"column": term_names(self, intercept=False)}
        table |= {f"factor {k + 1}": self.loadings_[:, k].tolist() for k in range(K)}
        table["uniqueness"] = self.uniquenesses_.tolist()
        factors = f"{K} factor{'s' * (K != 1)}"
        notes = [f"loadings of standardised columns; rotation: {self.rotation or 'none'}"]
        if np.isfinite(self.p_value_):
            notes.append(
                f"test that {factors} {'is' if K == 1 else 'are'} enough: chi-square "
                f"{self.statistic_:.4g} on "
                f"{self.dof_} degrees of freedom, p-value {self.p_value_:.3g}"
            )
        if len(self.heywood_):
            notes.append(f"uniquenesses at the bound {self.lower}: {len(self.heywood_)}")
        return Summary(f"Factor analysis: {factors}", (Section("", table),), tuple(notes))

    def plot(self, X: Any, *, labels: Any = None, names: Any = None) -> Any:
        """Draw the rows at their scores of the first two factors.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows.
        labels : array-like of shape (m,), optional
            Groups of the rows, which give their colours.
        names : array-like of shape (m,), optional
            What each row is called.

        Returns
        -------
        altair.LayerChart
        """
        from bottega.plot import latent_map_chart

        axes = ("factor 1", "factor 2")
        return latent_map_chart(self.transform(X), labels, names=names, axes=axes)
