"""What a fitted model of latent variables says: densities, posteriors, imputed values, new rows."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.estimator import Estimator
from bottega.core.frames import with_values
from bottega.core.params import Integer
from bottega.core.results import term_names
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray
from bottega.latent._ppca.latent_normal import LatentNormal
from bottega.latent._ppca.packed import outer_packed, unpacked

__all__ = ["LatentReading"]


class LatentReading(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A fitted density of rows that a few latent variables move."""

    model_: LatentNormal
    n_components_: int
    mean_: FloatArray
    loadings_: FloatArray
    components_: FloatArray
    explained_variance_: FloatArray
    noise_variance_: float
    log_likelihood_: float
    method_: str
    n_iter_: int

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log-likelihood of each row: the density of its observed coordinates."""
        rows, model = self._checked_model(X)
        return model.log_density(rows)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows."""
        return float(np.mean(self.score_samples(X)))

    def _checked_model(self, X: Any) -> tuple[FloatArray, LatentNormal]:
        return self._check_new(X), self.model_

    def posterior(self, X: Any) -> tuple[FloatArray, FloatArray]:
        r"""Return mean and covariance of the latent variables given the observed values of a row.

        With the observed columns o of the row they are :math:`M^{-1} W_o^\top (x_o - \mu_o)` and
        :math:`\sigma^2 M^{-1}`, where :math:`M = W_o^\top W_o + \sigma^2 I_K`.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows; NaN is missing.

        Returns
        -------
        mean : ndarray of shape (m, K)
        covariance : ndarray of shape (m, K, K)
        """
        rows, model = self._checked_model(X)
        mean, _, covariance = model.posterior(rows)
        return mean, unpacked(covariance, self.n_components_)

    def transform(self, X: Any) -> FloatArray:
        """Return the posterior means of the latent variables: a map of the rows."""
        rows, model = self._checked_model(X)
        return model.posterior(rows)[0]

    def inverse_transform(self, Z: Any) -> FloatArray:
        """Return the rows without noise at given latent variables, W z + mu."""
        check_is_fitted(self)
        Z = np.asarray(Z, dtype=np.float64)
        if Z.ndim != 2 or Z.shape[1] != self.n_components_:
            raise InputError(f"Z has shape {Z.shape}; it needs {self.n_components_} columns.")
        return np.asarray(Z @ self.loadings_.T + self.mean_)

    def impute(self, X: Any, return_std: bool = False) -> Any:
        """Return the rows with missing values replaced by their means given the observed ones.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows; NaN is missing.
        return_std : bool
            Whether the standard deviation of each imputed value is returned too: how far a new
            observation would be from it, noise included; zero where observed.

        Returns
        -------
        ndarray or data frame of shape (m, p), or two of them
            Frames of the kind of X, with its names, where X is one.
        """
        filled, std = self._imputed(*self._checked_model(X), return_std)
        return (
            with_values(X, filled) if std is None else (with_values(X, filled), with_values(X, std))
        )

    def _imputed(
        self, rows: FloatArray, model: LatentNormal, return_std: bool
    ) -> tuple[FloatArray, FloatArray | None]:
        missing = np.isnan(rows)
        z, _, covariance = model.posterior(rows)
        filled = np.where(missing, z @ model.W.T + model.mean, rows)
        if not return_std:
            return filled, None
        both = outer_packed(model.W)  # off the diagonal every product counts twice
        rows_of, columns_of = np.tril_indices(self.n_components_)
        twice = np.where(rows_of == columns_of, 1.0, 2.0)
        variance = model.noise + covariance @ (both * twice).T
        return filled, np.where(missing, np.sqrt(variance), 0.0)

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
        z = rng.standard_normal((int(n_samples), self.n_components_))
        noise = np.sqrt(self.noise_variance_) * rng.standard_normal((len(z), len(self.mean_)))
        return np.asarray(z @ self.loadings_.T + self.mean_ + noise)

    def get_covariance(self) -> FloatArray:
        """Return the covariance of the rows under the model, W W' + sigma^2 I."""
        check_is_fitted(self)
        return self.model_.covariance()

    def summary(self) -> Summary:
        """Return the axes as a table: variance, share of the whole, the columns that lead each."""
        check_is_fitted(self)
        K, p = self.n_components_, len(self.mean_)
        total = float(np.sum(self.loadings_**2)) + p * self.noise_variance_
        names = term_names(self, intercept=False)
        leading = [
            ", ".join(f"{names[j]} {axis[j]:+.2f}" for j in np.argsort(-np.abs(axis))[:3])
            for axis in self.components_
        ]
        table = {
            "component": [k + 1 for k in range(K)],
            "variance": self.explained_variance_.tolist(),
            "share": (self.explained_variance_ / total).tolist(),
            "largest entries of the axis": leading,
        }
        notes = (
            f"noise variance {self.noise_variance_:.4g} in each of {p} columns",
            f"log-likelihood {self.log_likelihood_:.6g}; {self.method_}, {self.n_iter_} iterations",
        )
        return Summary(
            f"Probabilistic PCA: {K} component{'s' * (K != 1)}", (Section("", table),), notes
        )

    def plot(self, X: Any, *, labels: Any = None, names: Any = None) -> Any:
        """Draw the rows at their first two latent variables, with the uncertainty of each.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows; NaN is missing.
        labels : array-like of shape (m,), optional
            Groups of the rows, which give their colours.
        names : array-like of shape (m,), optional
            What each row is called.

        Returns
        -------
        altair.LayerChart
        """
        from bottega.plot import latent_map_chart

        mean, covariance = self.posterior(X)
        std = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        axes = ("latent variable 1", "latent variable 2")
        return latent_map_chart(mean, labels, names=names, axes=axes, std=std)

    def plot_imputed(self, X: Any, *, column: int | str | None = None) -> Any:
        """Draw the missing values of a column as imputed, with 95 % limits, sorted.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows; NaN is missing.
        column : int or str, optional
            Number or name of the column; that with the most missing values by default.

        Returns
        -------
        altair.LayerChart
        """
        from bottega.plot import imputation_chart

        rows, model = self._checked_model(X)
        missing = np.isnan(rows)
        names = term_names(self, intercept=False)
        if column is None:
            j = int(np.argmax(missing.sum(axis=0)))
        else:
            j = names.index(column) if isinstance(column, str) else int(column)
        if not missing[:, j].any():
            raise InputError(f"Column {names[j]!r} has no missing value to impute; name another.")
        filled, std = self._imputed(rows, model, True)
        assert std is not None
        gone = missing[:, j]
        return imputation_chart(filled[gone, j], std[gone, j], rows[~gone, j], name=names[j])
