"""What a fitted logistic regression tells: predictions, terms, tests and numbers of the fit."""

from typing import Any

import numpy as np
from scipy import stats
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bottega.classify._logistic.inference import LikelihoodProfile, LikelihoodTest, chi_squared
from bottega.core.classes import decided
from bottega.core.errors import InputError, did_you_mean
from bottega.core.likelihood import information_criteria
from bottega.core.results import SelectedResults, check_level, term_names, tidy_columns
from bottega.core.scores import linear_scores
from bottega.core.typing import Array, FloatArray, IntArray


def scores_of(X: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Return the score of every class: of two, that of the first is zero."""
    scores = linear_scores(X, coef, intercept)
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores


def winners(scores: FloatArray) -> IntArray:
    """Return the class of the largest score; of scores equal but for rounding, the first."""
    # A difference of scores is a ratio of probabilities: it is compared with one. How far behind
    # the least of them is does not matter.
    with np.errstate(over="ignore"):
        behind = scores - scores.max(axis=-1, keepdims=True)
    return decided(np.maximum(behind, -1.0) + 1)


class LogisticResults(SelectedResults):
    """Predictions and results of an estimator that sets `coef_` and `intercept_`."""

    classes_: Any
    intercept_: FloatArray
    alpha_: float
    l1_ratio_: float
    df_: float
    fit_intercept: bool
    separated_: bool | None
    _covariance: FloatArray | None
    _totals: dict[str, float]

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class, or with more classes the score of each."""
        scores = self._scores(X)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def _scores(self, X: Any) -> FloatArray:
        return scores_of(self._check_new(X), self.coef_, self.intercept_)  # type: ignore[attr-defined]

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row; of equal ones the first."""
        found = winners(self._scores(X))
        return np.asarray(self.classes_[found])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, one column each."""
        with np.errstate(over="ignore"):
            return np.asarray(softmax(self._scores(X), axis=1))

    def _fit_numbers(self) -> dict[str, Any]:
        n, deviance = int(self._totals["n"]), self._totals["deviance"]
        criteria = information_criteria(deviance, self.df_, n)
        return {
            "nobs": n,
            "df": self.df_,
            "r_squared": 1 - deviance / self._totals["null"],
            "deviance": deviance,
            "loglik": -deviance / 2,
            "aic": float(criteria["aic"]),
            "bic": float(criteria["bic"]),
            "train_error": self._totals["train_error"],
        }

    def _estimates(self) -> FloatArray:
        """Return intercepts and coefficients, (terms, scores)."""
        return np.vstack([self.intercept_, self.coef_.T]) if self.fit_intercept else self.coef_.T

    def _all_terms(self, level: float, reference: Any = None) -> dict[str, Any]:
        estimate, names = self._estimates(), term_names(self, intercept=self.fit_intercept)
        covariance, T = self._covariance, self.coef_.shape[0]
        response = None if T == 1 else self.classes_
        if reference is not None:
            contrast, response = self._against(reference)
            estimate = estimate @ contrast.T
            if covariance is not None:
                turn = np.kron(contrast, np.eye(len(names)))
                covariance = turn @ covariance @ turn.T
        error = None
        if covariance is not None:
            error = np.sqrt(np.diagonal(covariance)).reshape(-1, len(names)).T
        if response is None:
            estimate, error = estimate[:, 0], None if error is None else error[:, 0]
        test: Any = {"std_error": error, "test": error is not None}
        return tidy_columns(names, estimate, level=level, response=response, **test)

    def _against(self, reference: Any) -> tuple[FloatArray, Array]:
        """Return the contrasts of all other classes with one, and their names."""
        place = np.flatnonzero(self.classes_ == reference)
        if not len(place):
            raise InputError(
                f"reference={reference!r} is not one of the classes {self.classes_.tolist()}."
            )
        K, k = len(self.classes_), int(place[0])
        others = np.delete(np.arange(K), k)
        if K == 2:
            return np.array([[1.0 if k == 0 else -1.0]]), self.classes_[others]
        contrast = np.eye(K)[others]
        contrast[:, k] = -1.0
        return contrast, self.classes_[others]

    def tidy(self, level: float = 0.95, reference: Any = None) -> Any:
        """Return one row per term, as a data frame; terms that were left out have estimate zero.

        Parameters
        ----------
        level : float
            Probability that each interval holds.
        reference : label, optional
            With more than two classes, the class that the others are compared with: estimates are
            then log odds against it. By default those of each class against the mean of all.

        Returns
        -------
        data frame
            Columns term, estimate, std_error, statistic, p_value, conf_low, conf_high (with more
            than two classes response first, a row per class and term). Without a penalty these are
            Wald's tests and intervals; `profile_intervals` has better ones. A coefficient that was
            selected by the data, or shrunk, has no test: all but the estimates are missing.
        """
        check_is_fitted(self)
        return self._make_frame(self._all_terms(level, reference))  # type: ignore[attr-defined]

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        """Return the intercepts and the columns in the model."""
        terms = self._all_terms(level)
        intercept = np.array(terms["term"]) == "(Intercept)"
        kept = np.flatnonzero((terms["estimate"] != 0) | intercept)
        return {name: [column[i] for i in kept] for name, column in terms.items()}

    def _glance_row(self) -> dict[str, Any]:
        return super()._glance_row() | {"null_deviance": self._totals["null"]}

    def _notes(self) -> tuple[str, ...]:
        if len(self.classes_) > 2:
            return self._notes_on_tests()
        second = np.asarray(self.classes_).tolist()[1]
        return (*self._notes_on_tests(), f"Estimates are effects on the log odds of {second!r}.")

    def _notes_on_tests(self) -> tuple[str, ...]:
        if self.separated_:
            return ("The classes can be separated, so the likelihood has no maximum: no tests.",)
        if self.alpha_ == 0:
            return ("No penalty. Tests and intervals are Wald's; see profile_intervals.",)
        if np.count_nonzero(self.coef_) < self.coef_.size or self.l1_ratio_ > 0:
            return super()._notes()
        notes = f"Penalty alpha = {self.alpha_:.4g} on squares: estimates are biased towards zero, "
        return notes + "so there are no tests.", *super()._notes()[1:]

    def _inference(self) -> FloatArray:
        check_is_fitted(self)
        if self._covariance is None:
            why = "the classes can be separated" if self.separated_ else "there is a penalty"
            raise InputError(
                f"There are no tests of this fit: {why}. Fit without a penalty (C=np.inf), to "
                "classes that overlap."
            )
        return self._covariance

    def wald_test(self, terms: Any) -> LikelihoodTest:
        """Test whether some terms have no effect on any class, by Wald's statistic.

        Parameters
        ----------
        terms : str or list of str
            Names of columns, as in `tidy`.

        Returns
        -------
        LikelihoodTest
            Of a fit without a penalty.
        """
        covariance = self._inference()
        names = term_names(self, intercept=self.fit_intercept)
        wanted = [terms] if isinstance(terms, str) else list(terms)
        for name in wanted:
            if name not in names:
                raise InputError(f"There is no term {name!r}.{did_you_mean(str(name), names)}")
        T = self.coef_.shape[0]
        at = np.array([t * len(names) + names.index(name) for t in range(T) for name in wanted])
        b, V = self._estimates().T.ravel()[at], covariance[np.ix_(at, at)]
        size, U = np.linalg.eigh(V)
        real = size > 1e-10 * size[-1]
        return chi_squared(float(np.sum((U[:, real].T @ b) ** 2 / size[real])), int(real.sum()))

    def _profile(self, X: Any, y: Any, sample_weight: Any) -> LikelihoodProfile:
        self._inference()
        worker: Any = clone(self)
        rows = worker._read(X, y, sample_weight)
        if not np.array_equal(worker.classes_, self.classes_):
            raise InputError("These rows have other classes than those of the fit; give the same.")
        found = LikelihoodProfile(rows, self._estimates().T, self.fit_intercept)
        if not np.isclose(found.best, self._totals["deviance"], rtol=1e-6):
            raise InputError("These are not the rows of the fit; give X, y and weights as to fit.")
        return found

    def profile_intervals(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        level: float = 0.95,
        reference: Any = None,
    ) -> Any:
        """Return intervals of the coefficients from the profile of the likelihood.

        A value is in the interval if the likelihood-ratio test with the coefficient held there, and
        all others free, does not reject it. Of few rows these are nearer to their level than
        Wald's; a limit may be infinite. Of a fit without a penalty.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit.
        level : float
            Probability that each interval holds.
        reference : label, optional
            With more than two classes, the class that the others are compared with, the first by
            default. Coefficients against the mean of all classes have no profile: with one of them
            held, the others could give way, and the probabilities would be the same.

        Returns
        -------
        data frame
            Columns term, estimate, conf_low, conf_high (with more than two classes response first,
            the classes but the reference).
        """
        profile = self._profile(X, y, sample_weight)
        quantile = float(np.sqrt(stats.chi2.ppf(check_level(level), 1)))
        several = len(self.classes_) > 2
        if several or reference is not None:
            reference = self.classes_[0] if reference is None else reference
        terms = self._all_terms(level, reference)
        names = term_names(self, intercept=self.fit_intercept)
        error = np.asarray(terms["std_error"], dtype=np.float64).reshape(-1, len(names))
        place = [0]
        if several:
            base = int(np.flatnonzero(self.classes_ == reference)[0])
            place = [k for k in range(len(self.classes_)) if k != base]
            profile.compare_with(base)
        ends = np.full((len(place), len(names), 2), np.nan)
        for t, k in enumerate(place):
            for j in np.flatnonzero(np.isfinite(error[t])):
                for side, sign in enumerate((-1, 1)):
                    ends[t, j, side] = profile.limit(k, int(j), error[t, j], sign * quantile)
        if not several and reference is not None and reference == self.classes_[1]:
            ends = -ends[:, :, ::-1]
        kept = [name for name in ("response", "term", "estimate") if name in terms]
        columns: dict[str, Any] = {name: terms[name] for name in kept}
        columns |= {"conf_low": ends[:, :, 0].ravel(), "conf_high": ends[:, :, 1].ravel()}
        if not several:
            columns.pop("response", None)
        return self._make_frame(columns)  # type: ignore[attr-defined]

    def drop_terms(self, X: Any, y: Any, *, sample_weight: Any = None) -> Any:
        """Return the likelihood-ratio test of each column: the fit against that without it.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, which is without a penalty.

        Returns
        -------
        data frame
            Columns term, df, deviance (of the fit without the term), statistic, p_value.
        """
        profile = self._profile(X, y, sample_weight)
        T = self.coef_.shape[0]
        names, first = term_names(self, intercept=False), int(self.fit_intercept)
        found = []
        for j in range(len(names)):
            start = profile.estimates.copy()
            held = np.zeros(start.shape, dtype=bool)
            start[:, first + j], held[:, first + j] = 0.0, True
            deviance = profile.deviance(start, held)
            test = chi_squared(max(deviance - profile.best, 0.0), max(T - 1, 1))
            found.append((test.df, deviance, test.statistic, test.p_value))
        df, deviances, statistic, p_value = np.array(found).T
        columns = {"term": names, "df": df, "deviance": deviances, "statistic": statistic}
        return self._make_frame(columns | {"p_value": p_value})  # type: ignore[attr-defined]
