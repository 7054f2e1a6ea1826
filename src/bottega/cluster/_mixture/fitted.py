"""What a fitted mixture answers: densities, responsibilities, samples, outliers, pictures."""

from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bottega.cluster._mixture.density import density_of
from bottega.cluster._mixture.families import WORDS
from bottega.cluster._mixture.missing import filled, logs_of_observed
from bottega.cluster._mixture.outliers import tail_scores
from bottega.cluster._mixture.parameters import (
    MixtureParameters,
    MixtureUnits,
    beyond_reach,
    within_reach,
)
from bottega.cluster._shown import places_of
from bottega.core.errors import ParameterError
from bottega.core.frames import with_values
from bottega.core.results import term_names
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray
from bottega.core.unsupervised import Unsupervised
from bottega.optimize.em import Ascent

__all__ = ["FittedMixture", "log_joint"]

_ROWS = 65_536  # of a block


def log_joint(X: FloatArray, units: MixtureUnits, parameters: MixtureParameters) -> FloatArray:
    """Return log of weight times density of each row and component, (n, k), in the data's units."""
    found = np.empty((len(X), len(parameters.weights)))
    density = density_of(parameters)
    for start in range(0, len(X), _ROWS):
        Z = within_reach(units.into(X[start : start + _ROWS]))
        gone = np.isnan(Z)
        holes = gone.any(axis=0)
        part = np.empty((len(parameters.weights), Z.shape[1]))
        if not holes.all():
            part[:, ~holes] = density.logs(np.ascontiguousarray(Z[:, ~holes]))
        if holes.any():
            part[:, holes] = logs_of_observed(Z[:, holes], parameters)
        part -= np.log(units.scale) @ ~gone
        found[start : start + _ROWS] = part.T
    return found


class FittedMixture(Unsupervised):
    """A mixture of normal distributions, once fitted."""

    row_loss: ClassVar[str] = "minus log-likelihood"

    random_state: Any
    weights_: FloatArray
    means_: FloatArray
    covariances_: FloatArray
    covariance_type_: str
    n_components_: int
    n_parameters_: int
    log_likelihood_: float
    trace_: Ascent
    _units: MixtureUnits
    _parameters: MixtureParameters

    # ---- densities -------------------------------------------------------------------------------

    def _joint(self, X: Any) -> FloatArray:
        return log_joint(self._check_new(X), self._units, self._parameters)

    def score_samples(self, X: Any) -> FloatArray:
        """Return the logarithm of the density of each row; of its observed values, with gaps."""
        rows = self._check_new(X)
        found: FloatArray = logsumexp(log_joint(rows, self._units, self._parameters), axis=1)
        found[beyond_reach(self._units.into(rows))] = -np.inf  # less than any number
        return found

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of rows."""
        return float(np.mean(self.score_samples(X)))

    def _row_losses(self, X: Any) -> FloatArray:
        return -self.score_samples(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the responsibilities: how likely each row comes from each component."""
        logs = self._joint(X)
        found: FloatArray = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        return found / found.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the responsibilities, finite however small they are."""
        logs = self._joint(X)
        found: FloatArray = logs - logsumexp(logs, axis=1, keepdims=True)
        return found

    def predict(self, X: Any) -> Array:
        """Return the most likely component of each row; of equals the first."""
        return np.asarray(np.argmax(self._joint(X), axis=1))

    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the most likely component of each row."""
        return self.fit(X).predict(X)

    def uncertainty(self, X: Any) -> FloatArray:
        """Return how likely each row comes from another component than that predicted."""
        return np.asarray(1 - self.predict_proba(X).max(axis=1))

    def outlier_scores(self, X: Any) -> FloatArray:
        r"""Return how unusual each row is: minus the decimal logarithm of a tail probability.

        Of a component, the share :math:`P(\chi^2_p > d^2)` of its rows lies further from its mean
        than a row at Mahalanobis distance d; the shares are averaged with the responsibilities. A
        score of 3 means that one row in 1,000 is as far out.
        """
        Z = self._units.into(self._check_new(X))
        return np.nan_to_num(tail_scores(Z, self._parameters), nan=0.0)

    def impute(self, X: Any) -> Any:
        """Return the rows with what is missing replaced by its expectation given the rest.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows; NaN is missing.

        Returns
        -------
        ndarray or data frame of shape (m, p)
            A frame of the kind of X, with its names, where X is one.
        """
        given, X = X, self._check_new(X)
        holes = np.isnan(X).any(axis=1)
        found = X.copy()
        if holes.any():
            Z = filled(self._units.into(X[holes]), self._parameters)
            guess = Z.T * self._units.scale + self._units.center
            found[holes] = np.where(np.isnan(X[holes]), guess, X[holes])
        return with_values(given, found)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[FloatArray, Array]:
        """Draw rows: a component by its weight, then a row of it.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, Generator or None, default=None
            Seed of the rows; None for the estimator's own.

        Returns
        -------
        X : ndarray of shape (n_samples, p)
            Rows, those of one component together.
        y : ndarray of shape (n_samples,)
            Their components.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ParameterError(f"n_samples={n_samples} is not allowed; draw at least one row.")
        given = self.random_state if random_state is None else random_state
        rng = np.random.default_rng(seed_of(given))
        mine = self._parameters
        share = mine.weights / mine.weights.sum()
        y = np.repeat(np.arange(len(share)), rng.multinomial(n_samples, share))
        noise = rng.standard_normal((n_samples, mine.means.shape[1])) * np.sqrt(mine.values)[y]
        if mine.vectors is not None:
            noise = np.einsum("nij,nj->ni", mine.vectors[y], noise)
        return self._units.center + self._units.scale * (mine.means[y] + noise), y

    # ---- criteria --------------------------------------------------------------------------------

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion on rows; smaller is better."""
        logs = self.score_samples(X)
        return float(-2 * logs.sum() + self.n_parameters_ * np.log(len(logs)))

    def aic(self, X: Any) -> float:
        """Return the criterion of Akaike on rows; smaller is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self.n_parameters_)

    def icl(self, X: Any) -> float:
        """Return the integrated classification likelihood: `bic` with a penalty for overlap.

        The penalty is minus twice the sum of the logarithms of the largest responsibility of each
        row, so the criterion prefers components that do not overlap.
        """
        logs = self._joint(X)
        level = logsumexp(logs, axis=1)
        bic = -2 * level.sum() + self.n_parameters_ * np.log(len(level))
        return float(bic + 2 * np.sum(level - logs.max(axis=1)))

    def summary(self) -> Summary:
        """Return the components as a table that shows itself as text, HTML and Markdown."""
        check_is_fitted(self)
        columns: dict[str, Any] = {
            "component": [str(j) for j in range(self.n_components_)],
            "weight": self.weights_.tolist(),
        }
        deviations = np.sqrt(np.diagonal(self.full_covariances(), axis1=1, axis2=2))
        for j, name in enumerate(term_names(self, intercept=False)):
            columns[f"mean {name}"] = self.means_[:, j].tolist()
            columns[f"sd {name}"] = deviations[:, j].tolist()
        family = WORDS.get(self.covariance_type_, self.covariance_type_)
        notes = [
            f"covariances {self.covariance_type_} ({family}), {self.n_parameters_} parameters",
            f"log-likelihood {self.log_likelihood_:.6g}, {self.trace_.n_iter} iterations, "
            f"{'converged' if self.trace_.converged else 'not converged'}",
        ]
        return Summary("Mixture of normal distributions", (Section("", columns),), tuple(notes))

    def full_covariances(self) -> FloatArray:
        """Return the covariance of each component as a matrix, whatever the covariance type.

        Returns
        -------
        ndarray of shape (K, p, p)
        """
        check_is_fitted(self)
        scale = self._units.scale
        return self._parameters.covariances * scale[:, None] * scale

    # ---- pictures --------------------------------------------------------------------------------

    def plot(self, X: Any, *, columns: tuple[Any, Any] = (0, 1), kind: str = "ellipses") -> Any:
        """Draw rows in a plane of two columns, with the components.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Rows.
        columns : pair of int or str
            Columns to draw.
        kind : {"ellipses", "uncertainty", "density"}
            Ellipses that hold half and 95 % of each component, with rows coloured by component; the
            same with points as large as the doubt about their component; or lines of equal density.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import mixture_chart

        rows = self._check_new(X)
        places, names = places_of(self, columns)
        return mixture_chart(
            rows[:, places],
            self.weights_,
            self.means_[:, places],
            self.full_covariances()[np.ix_(range(self.n_components_), places, places)],
            labels=self.predict(X),
            uncertainty=self.uncertainty(X),
            names=names,
            kind=kind,
        )

    def plot_steps(self, X: Any, *, columns: tuple[Any, Any] = (0, 1), panels: int = 6) -> Any:
        """Draw the components step by step, from the start of this fit to its end.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            The rows that the model was fitted to: expectation-maximisation is run again on them.
        columns : pair of int or str
            Columns to draw.
        panels : int
            How many iterations are shown, more closely at the beginning.

        Returns
        -------
        altair.FacetChart
            The chart.
        """
        from bottega.plot import mixture_steps_chart

        rows = self._check_new(X)
        places, names = places_of(self, columns)
        last = self.trace_.n_iter
        at = np.unique(np.round(np.geomspace(1, last + 1, panels) - 1).astype(int))
        found = []
        for iteration in at.tolist():
            weights, means, covariances = self._start
            if iteration:
                model = clone(self).set_params(
                    n_components=self.n_components_,
                    covariance_type=self.covariance_type_,
                    max_iter=iteration,
                    tol=0.0,
                )
                model._resume = self._start
                model._quiet = True
                model._fit(X, None, None)
                weights, means = model.weights_, model.means_
                covariances = model.full_covariances()
            flat = covariances[np.ix_(range(len(weights)), places, places)]
            height = float(self.trace_.log_likelihood[iteration])
            found.append((iteration, height, weights, means[:, places], flat))
        return mixture_steps_chart(rows[:, places], found, names=names)
