"""What every estimator shares: declared parameters, a card, and the walk along its path."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from bottega.core import progress
from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.frames import backend_of, is_frame, make_frame
from bottega.core.losses import get_loss
from bottega.core.params import Parameter, check_params
from bottega.core.path import Path
from bottega.core.smoother import Smoother, SmootherSums, interval
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray

__all__ = ["Estimator", "LinearSmoother", "Tuned"]


class Estimator(BaseEstimator):
    """A scikit-learn estimator with declared parameters and a card."""

    params: ClassVar[Mapping[str, Parameter]] = {}
    card: ClassVar[Card]

    def _check_params(self) -> None:
        check_params(self)

    def _check_width(self, X: FloatArray) -> FloatArray:
        """Return X, or refuse it where it has more columns than the method takes."""
        most = self.card.n_inputs
        if most is not None and X.shape[1] > most:
            inputs = "one input" if most == 1 else f"at most {most} inputs"
            raise InputError(
                f"{type(self).__name__} takes {inputs}; X has {X.shape[1]} columns. Give it "
                f"{'one column' if most == 1 else 'fewer columns'}, or use a method for several."
            )
        return X

    def _remember_frame(self, X: Any) -> None:
        """Keep which frame library the data came in: results are shown in the same."""
        self._frame = backend_of(X) if is_frame(X) else None

    def _make_frame(self, columns: Mapping[str, Any]) -> Any:
        return make_frame(columns, like=self._frame)


@dataclass(frozen=True)
class _Refit:
    """Fits the estimator of a path at one value of its knob."""

    estimator: Any
    X: Any
    y: Any
    sample_weight: Any

    def __call__(self, value: Any) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        model = clone(self.estimator).set_params(**{self.estimator.knob: value})
        if self.sample_weight is None:
            return model.fit(self.X, self.y)
        return model.fit(self.X, self.y, sample_weight=self.sample_weight)


class Tuned(Estimator):
    """An estimator with a complexity knob.

    A subclass names its `knob` and gives three steps on validated arrays: `_validate`, `_path`
    (the whole curve, with the cheapest exact estimate of error the method has) and
    `_path_predictions` (what each value of the knob predicts for new rows). From these follow
    `path` and cross-validation along the path.
    """

    knob: ClassVar[str]
    select: str

    @abstractmethod
    def _validate(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Return the checked ``X, y, sample_weight``."""

    @abstractmethod
    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        """Return the curve over `values` (None: the method's own), simplest first."""

    @abstractmethod
    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        """Return predictions for `X_new`, one column a value, of the fits to ``X, y``."""

    def path(
        self, X: Any, y: Any, *, sample_weight: Any = None, values: Any = None, cv: Any = None
    ) -> Path:
        """Return the whole curve of models along the complexity knob.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights, where the method has a meaning for them.
        values : array-like, optional
            Values of the knob, in any order; the method's own grid by default.
        cv : int or splitter, optional
            Estimate the error by cross-validation over these folds instead of the method's own
            exact estimate.

        Returns
        -------
        Path
            Ordered from the simplest model to the most complex.
        """
        worker = clone(self)
        worker._check_params()
        X_checked, y_checked, weight = worker._validate(X, y, sample_weight)
        curve: Path = worker._path(X_checked, y_checked, weight, values)
        if cv is not None:
            curve = worker._cross_validate(curve, X_checked, y_checked, weight, cv)
        return replace(curve, refit=_Refit(clone(self), X, y, sample_weight))

    def _cross_validate(self, curve: Path, X: Any, y: Any, weight: Any, cv: Any) -> Path:
        """Replace the error of a curve by its cross-validated estimate."""
        classifier = is_classifier(self)
        task = "classification" if classifier else "regression"
        folds = list(check_cv(cv, y, classifier=classifier).split(X, y))
        fold_error = []
        for done, (train, test) in enumerate(folds):
            predicted = self._path_predictions(
                X[train], y[train], None if weight is None else weight[train], curve.values, X[test]
            )
            several = np.ndim(y) == 2  # then predictions are (rows, values, responses)
            loss = get_loss(None, task).of_rows(y[test][:, None] if several else y[test], predicted)
            if several:
                loss = loss.mean(axis=2)
            share = None if weight is None else weight[test]
            fold_error.append(np.average(loss, axis=0, weights=share))
            progress.report("folds", done + 1, len(folds))
        errors = np.stack(fold_error)
        return replace(
            curve,
            error=errors.mean(axis=0),
            error_se=errors.std(axis=0, ddof=1) / np.sqrt(len(folds)),
            estimate="cv",
        )

    def _resolve_knob(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Return the knob's value: as given, or picked from the path, which is then kept."""
        self.__dict__.pop("path_", None)  # of an earlier fit
        given = getattr(self, self.knob)
        if not (isinstance(given, str) and given == "auto"):
            return given
        curve = self._path(X, y, sample_weight, None)
        self.path_ = curve
        value = curve.values[curve.best(self.select)]
        return value.item() if isinstance(value, np.generic) else value


class LinearSmoother:
    """What an estimator offers after `fit` because it predicts by ``y_hat = S y``.

    The estimator sets `smoother_` and gives `_standard_error(X)`: the standard error of the
    fitted mean at each row of X. The bands say nothing about bias.
    """

    smoother_: Smoother | SmootherSums

    @property
    def df_(self) -> float:
        """Equivalent degrees of freedom, tr S."""
        return self._fitted_smoother().df

    @property
    def leverage_(self) -> FloatArray:
        """Diagonal of S: how far each row pulls its own fitted value."""
        return self._fitted_smoother().leverage

    @property
    def sigma_(self) -> Any:
        """Residual standard deviation."""
        return self._fitted_smoother().sigma

    @property
    def loo_residuals_(self) -> FloatArray:
        """Exact leave-one-out residuals."""
        return self._fitted_smoother().loo_residuals

    @property
    def loo_(self) -> float:
        """Mean squared leave-one-out residual."""
        return self._fitted_smoother().loo

    @property
    def loglik_(self) -> float:
        """Gaussian log-likelihood."""
        return self._fitted_smoother().loglik

    @property
    def gcv_(self) -> float:
        """Generalised cross-validation."""
        return self._fitted_smoother().criteria["gcv"]

    @property
    def aic_(self) -> float:
        """Akaike's criterion."""
        return self._fitted_smoother().criteria["aic"]

    @property
    def aicc_(self) -> float:
        """Akaike's criterion, corrected for small samples."""
        return self._fitted_smoother().criteria["aicc"]

    @property
    def bic_(self) -> float:
        """Schwarz's criterion."""
        return self._fitted_smoother().criteria["bic"]

    @property
    def hq_(self) -> float:
        """Hannan and Quinn's criterion."""
        return self._fitted_smoother().criteria["hq"]

    @property
    def cp_(self) -> float:
        """Mallows' Cp against the richest model of the path (against itself without a path)."""
        return self._fitted_smoother().criteria["cp"]

    def _fitted_smoother(self) -> Smoother | SmootherSums:
        check_is_fitted(self)
        return self.smoother_

    @abstractmethod
    def _standard_error(self, X: Any) -> FloatArray:
        """Return the standard error of the fitted mean at each row."""

    def interval(
        self, X: Any, level: float = 0.95, kind: str = "confidence"
    ) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper limits at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.
        level : float
            Coverage of each interval, pointwise.
        kind : {"confidence", "prediction"}
            For the mean at the point, or for a new observation there.

        Returns
        -------
        lower, upper : ndarray
            The bands ignore bias: they cover the mean of the fit, not the true mean, where the
            fit is too smooth.
        """
        mean = self.predict(X)  # type: ignore[attr-defined]
        return interval(
            mean, self._standard_error(X), self._fitted_smoother(), level=level, kind=kind
        )

    def glance(self) -> Any:
        """Return one row about the model: size, df, scale, fit and criteria."""
        fit = self._fitted_smoother()
        row = {
            "nobs": fit.n,
            "df": fit.df,
            "sigma": fit.sigma,
            "r_squared": fit.r_squared,
            "deviance": fit.rss,
            "loglik": fit.loglik,
            "aic": fit.criteria["aic"],
            "bic": fit.criteria["bic"],
            "gcv": fit.criteria["gcv"],
            "loo": fit.loo,
        }
        columns = {name: [_mean(value)] for name, value in row.items()}
        return self._make_frame(columns)  # type: ignore[attr-defined]

    def augment(self, X: Any = None, y: Any = None) -> Any:
        """Return one row an observation: fitted, residual and, for the training rows, influence.

        Parameters
        ----------
        X, y : array-like, optional
            New rows: their fitted values and residuals. Left out, the training rows are shown with
            `std_residual`, `leverage` and `cooks` too.
        """
        fit = self._fitted_smoother()
        if np.ndim(fit.rss) != 0:
            raise InputError("augment is for one response; select one and fit it alone.")
        if X is not None:
            fitted = self.predict(X)  # type: ignore[attr-defined]
            columns = {"fitted": fitted}
            if y is not None:
                columns["residual"] = np.asarray(y, dtype=np.float64) - fitted
        else:
            columns = {
                "fitted": fit.fitted,
                "residual": fit.residuals,
                "std_residual": fit.std_residuals,
                "leverage": fit.leverage,
                "cooks": fit.cooks,
            }
        return self._make_frame(columns)  # type: ignore[attr-defined]

    def _glance_section(self) -> Section:
        fit = self._fitted_smoother()
        rows = {
            "rows": fit.n,
            "df": fit.df,
            "sigma": _mean(fit.sigma),
            "R squared": _mean(fit.r_squared),
            "LOO error": fit.loo,
            "GCV": fit.criteria["gcv"],
            "AIC": fit.criteria["aic"],
            "BIC": fit.criteria["bic"],
        }
        return Section("", {name: [value] for name, value in rows.items()})

    def summary(self) -> Summary:
        """Return a table about the fit that shows itself as text, HTML and Markdown."""
        return Summary(type(self).__name__, (self._glance_section(),))


def _mean(value: Any) -> Any:
    return value if np.isscalar(value) else float(np.mean(value))
