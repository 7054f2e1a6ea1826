"""What every classifier with a model of the inputs offers, written once.

A model of the classes' shares and of the inputs within each class gives Bayes' rule, and more: it
draws new rows, says how improbable a row is, and fills in what a row misses.
"""

from abc import abstractmethod
from collections.abc import Mapping
from functools import reduce
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.classes import decided
from bottega.core.errors import DataWarning, ParameterError, warn_caller
from bottega.core.estimator import Estimator
from bottega.core.frames import is_frame, make_frame
from bottega.core.params import Anything, Integer
from bottega.core.seeds import seed_of
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.validate import naming_texts, refuse_doubled_names, refuse_masked

__all__ = ["PRIORS", "Generative", "checked_priors", "normalized", "shifted"]

PRIORS = Anything(help="probability of each class, in sorted order, or a dict; None: their shares")
_LEAST = -700.0  # below this an exponential is zero beside one
_SUM = 1e-5  # how far from one the sum of priors may be by rounding: 1/3 is often 0.33333


def checked_priors(given: Any, classes: Array, weight: FloatArray) -> FloatArray:
    """Return the probability of each class: as given, or its share of the weight.

    Numbers that do not sum to one are divided by their sum, with a warning.

    Examples
    --------
    >>> checked_priors(None, np.array(["a", "b"]), np.array([3.0, 1.0]))
    array([0.75, 0.25])
    >>> checked_priors({"b": 0.5, "a": 0.5}, np.array(["a", "b"]), np.array([3.0, 1.0]))
    array([0.5, 0.5])
    """
    if given is None:
        return np.asarray(weight / weight.sum())
    priors = given
    if isinstance(given, Mapping):
        labels = classes.tolist()
        strange = [label for label in given if label not in labels]
        if strange:
            raise ParameterError(
                f"priors: the class {strange[0]!r} is not a class of y; the classes are "
                f"{', '.join(map(repr, labels))}."
            )
        priors = [given.get(label, 0.0) for label in labels]
    try:
        priors = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        priors = np.empty(0)
    if priors.shape != classes.shape or not np.all(np.isfinite(priors) & (priors > 0)):
        raise ParameterError(
            f"priors must be {len(classes)} positive numbers, one per class in sorted order, or a "
            f"dict of them; got {given!r}."
        )
    total = float(priors.sum())
    if abs(total - 1) > _SUM:
        warn_caller(
            f"The priors sum to {total:.6g}, not to 1; they are divided by their sum.", DataWarning
        )
    return np.asarray(priors / total)


def shifted(scores: FloatArray, log_prior: FloatArray) -> FloatArray:
    """Return log-probabilities up to a constant per row: the largest is 0, none is below -700.

    Rows that no class can have produced are left to the classes' own probabilities.
    """
    top = _largest(scores)
    lost = ~np.isfinite(top)
    if lost.any():
        scores = scores.copy()
        scores[lost] = log_prior
        top = _largest(scores)
    found = scores - top[..., None]
    return np.maximum(found, _LEAST, out=found)


def _largest(scores: FloatArray) -> FloatArray:
    """Return the largest score of each row, column by column: faster than along the last axis."""
    return np.asarray(reduce(np.maximum, [scores[..., k] for k in range(scores.shape[-1])]))


def normalized(scores: FloatArray, log_prior: FloatArray) -> FloatArray:
    """Return probabilities from log-probabilities up to a constant per row.

    Examples
    --------
    >>> normalized(np.array([[1000.0, 1000.0], [-np.inf, -np.inf]]), np.log([0.25, 0.75]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    found = np.exp(shifted(scores, log_prior))
    found /= found.sum(axis=-1, keepdims=True)
    return found


class Generative(ClassifierMixin, Estimator):
    """A classifier that models the inputs within each class.

    A fit sets `priors_`, and `_present`: the codes of the classes that were seen, all of them
    unless a stream has yet to bring some. Scores have a column for each of these.
    """

    classes_: Array
    priors_: FloatArray
    _present: IntArray

    @abstractmethod
    def _log_joint(self, X: FloatArray) -> FloatArray:
        """Return log of prior times density for each class that was seen; X may miss values."""

    @abstractmethod
    def _drawn(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return a row from each of these classes, as positions among those that were seen."""

    @abstractmethod
    def _filled(self, X: FloatArray, shares: FloatArray) -> FloatArray:
        """Return rows without gaps; `shares` are probabilities of the classes that were seen."""

    def _scores(self, X: Any) -> FloatArray:
        """Return what Bayes' rule compares at checked rows, up to a constant per row."""
        return self._log_joint(X)

    def _log_prior(self) -> FloatArray:
        return np.asarray(np.log(self.priors_[self._present]))

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row; of equal ones the first."""
        scores = self._scores(self._check_new(X))
        return self.classes_[self._present[decided(shifted(scores, self._log_prior()))]]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes given the inputs, one column each."""
        return self._spread(normalized(self._scores(self._check_new(X)), self._log_prior()))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class, or with more classes the score of each.

        A score is the logarithm of prior times density, up to a constant per row.
        """
        scores = self._scores(self._check_new(X))
        wide = np.full((len(scores), len(self.classes_)), -np.inf)
        wide[:, self._present] = scores
        return wide[:, 1] - wide[:, 0] if len(self.classes_) == 2 else wide

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of prior times density of each class, one column each.

        A class that was not seen yet has minus infinity.
        """
        joint = self._log_joint(self._check_gappy(X))
        wide = np.full((len(joint), len(self.classes_)), -np.inf)
        wide[:, self._present] = joint
        return wide

    def _spread(self, shares: FloatArray) -> FloatArray:
        """Return probabilities of the classes seen as those of all classes."""
        if len(self._present) == len(self.classes_):
            return shares
        wide = np.zeros((*shares.shape[:-1], len(self.classes_)))
        wide[..., self._present] = shares
        return wide

    def log_density(self, X: Any) -> FloatArray:
        r"""Return the logarithm of the density of the inputs, whatever their class.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs. A row that misses values has the density of what is observed of it.

        Returns
        -------
        ndarray of shape (m,)
            :math:`\log \sum_k \pi_k\, p_k(x)`.
        """
        joint = self._log_joint(self._check_gappy(X))
        top = joint.max(axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.exp(joint - top).sum(axis=1)) + top[:, 0])

    def outlier_score(self, X: Any) -> FloatArray:
        """Return how improbable each row is: minus `log_density`, larger for stranger rows.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs; a row that misses values is judged by what is observed of it.

        Returns
        -------
        ndarray of shape (m,)
            Scores. Compare them with those of the rows of the fit: a quantile of these is a limit.
        """
        return -self.log_density(X)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Draw new rows: a class by the priors, then inputs from the model of that class.

        Parameters
        ----------
        n_samples : int
            How many rows.
        random_state : int, RandomState, Generator or None
            Seed of the draws.

        Returns
        -------
        X : ndarray of shape (n_samples, p), or a data frame if the model was fitted to one
            Inputs.
        y : ndarray of shape (n_samples,)
            Their classes.
        """
        check_is_fitted(self)
        Integer(1).check(type(self).__name__, "n_samples", n_samples)
        rng = np.random.default_rng(seed_of(random_state, type(self).__name__))
        share = self.priors_[self._present]
        codes = rng.choice(len(share), size=int(n_samples), p=share / share.sum())
        X = self._written(self._drawn(codes, rng), self._frame)
        return X, self.classes_[self._present[codes]]

    def fill_in(self, X: Any) -> Any:
        """Return rows with their missing values filled in by what the model expects there.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs; NaN, or null in a frame, is missing.

        Returns
        -------
        ndarray or data frame
            As X, without gaps: a number is its mean given what is observed of the row (over the
            classes, by their probabilities), a category its most probable level.
        """
        checked = self._check_gappy(X)
        shares = normalized(self._log_joint(checked), self._log_prior())
        like = None
        if is_frame(X):
            like = str(nw.from_native(X, eager_only=True).implementation.name).lower()
        return self._written(self._filled(checked, shares), like)

    def _check_gappy(self, X: Any) -> FloatArray:
        """Return the inputs of rows that may miss values, checked."""
        check_is_fitted(self)
        refuse_masked(X=X)
        refuse_doubled_names(X)
        how = self._input_options(new=True) | {"ensure_all_finite": "allow-nan"}
        with naming_texts(X):
            return np.asarray(validate_data(self, X, reset=False, **how))

    def _written(self, X: FloatArray, like: str | None) -> Any:
        """Return rows as a user gives them: an array, or a frame of the library `like`."""
        names = getattr(self, "feature_names_in_", None)
        if like is None or names is None:
            return X
        return make_frame({str(name): X[:, j] for j, name in enumerate(names)}, like)
