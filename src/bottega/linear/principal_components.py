"""Regression on principal components: least squares on the directions in which the inputs vary."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.base import Tuned
from bottega.core.cards import Card
from bottega.core.chunks import LossSums
from bottega.core.errors import InputError
from bottega.core.folds import fold_rows
from bottega.core.params import AnyOf, Auto, Boolean, Choice, Integer, Parameter
from bottega.core.path import Path, Rule
from bottega.core.smoother import Smoother, SmootherSums, gaussian_criteria, mean_and_se
from bottega.core.tables import Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.weights import check_weight
from bottega.linear._decomposition.centering import squeeze
from bottega.linear._decomposition.component_folds import chunk_fold_errors
from bottega.linear._decomposition.components import (
    component_coef,
    component_residuals,
    component_rss,
    truncate,
)
from bottega.linear._decomposition.problem import (
    DecomposedProblem,
    decompose_chunks,
    decompose_rows,
)
from bottega.linear.chunked import CheckedChunks
from bottega.linear.inference import CoefficientInference

__all__ = ["PrincipalComponentsRegression"]


class PrincipalComponentsRegression(RegressorMixin, CoefficientInference, Tuned):
    r"""Least squares on the first few principal components of the inputs.

    With :math:`X = U D V^\top` the singular value decomposition of the centred (and, with
    ``standardize=True``, scaled) inputs and :math:`U_J` the first J columns of U,

    .. math:: \hat y = \bar y + U_J U_J^\top y = \bar y + \sum_{j \le J} \hat\gamma_j z_j,
              \qquad z_j = X v_j, \quad \hat\gamma_j = \frac{z_j^\top y}{z_j^\top z_j}

    so each coefficient is a simple regression: the components are orthogonal. Where ridge shrinks
    direction j by :math:`d_j^2 / (d_j^2 + \alpha)`, this keeps the first J whole and drops the
    rest. There is always an intercept.

    Parameters
    ----------
    components : int or "auto", default="auto"
        How many components are kept, from 0 (the mean) to the rank of the inputs (least squares);
        more fit closer. ``"auto"`` picks from the path by the rule `select`.
    standardize : bool, default=True
        Whether the components are those of the correlation matrix (each input counts the same) or
        of the covariance matrix (an input counts by its spread).
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the cross-validated error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).
    cv : int or "loo", default=10
        Number of folds, or every row left out by itself (n decompositions: for small data).

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (q, p)
        Coefficients on the original scale of the inputs; in general none is zero.
    intercept_ : float or ndarray of shape (q,)
        Intercept.
    components_ : int
        The number of components in use, J.
    path_ : Path
        The whole curve, when `components` is ``"auto"``.
    rotation_ : ndarray of shape (p, J)
        Direction of each component in the (standardised) inputs, V.
    component_coef_ : ndarray of shape (J,) or (q, J)
        Coefficients of the components, gamma.
    explained_variance_ : ndarray of shape (r,)
        Variance (divisor n) of every component, r the rank of the inputs.
    explained_variance_ratio_ : ndarray of shape (r,)
        Their shares of the whole variance of the inputs.
    solver_ : {"svd", "gram", "qr", "dual"}
        How the inputs were decomposed, as in `Ridge`.
    smoother_ : Smoother or SmootherSums
        What df, sigma, leverages and the criteria follow from.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (p,)
        Names of the columns, when X is a data frame.

    Notes
    -----
    One decomposition, :math:`O(n p \min(n, p))`, gives the fits and criteria for every J; df is
    J + 1. The honest error of the path is found by cross-validation in which the centre, scale and
    components are computed anew from the rows of each training part: `cv` decompositions more. A
    training part of lower rank than J uses all the components it has.

    `loo_residuals_` and `loo_` follow from the leverages and so hold the components fixed: they
    flatter a little, because a row left out would have changed the components too. ``cv="loo"``
    refits everything.

    Do not use it when the response may hang on a direction in which the inputs vary little: the
    components are built without looking at y, and those of small variance go first. Nor to select
    inputs: every input is in every component. Standard errors take the dropped components to
    have no effect; unless all p are kept the t tests do not hold, and are left out.

    References
    ----------
    .. [1] Massy, W. F. (1965). Principal components regression in exploratory statistical research.
       Journal of the American Statistical Association 60, 234-256.
    .. [2] Jolliffe, I. T. (1982). A note on the use of principal components in regression.
       Applied Statistics 31, 300-303.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(60, 2))
    >>> X = hidden @ rng.normal(size=(2, 8)) + 0.1 * rng.normal(size=(60, 8))
    >>> y = hidden[:, 0] - hidden[:, 1] + 0.3 * rng.normal(size=60)
    >>> model = PrincipalComponentsRegression().fit(X, y)
    >>> model.components_, model.df_
    (2, 3.0)
    >>> model.explained_variance_ratio_[:3].round(3)
    array([0.681, 0.307, 0.007])
    """

    knob: ClassVar[str] = "components"
    params: ClassVar[Mapping[str, Parameter]] = {
        "components": Auto(Integer(0, None), help="number of components kept"),
        "standardize": Boolean(help="take the components of inputs on one scale"),
        "select": Rule(),
        "cv": AnyOf(Integer(2, None), Choice("loo"), help="folds of the cross-validation"),
    }
    card: ClassVar[Card] = Card(
        method="pcr",
        title="Principal components regression",
        task="regression",
        knob="components",
        strengths=(
            "Works with more columns than rows and with collinear columns.",
            "Few numbers describe the fit where the inputs share a few causes.",
            "The fits for every number of components come from one decomposition.",
        ),
        weaknesses=(
            "Components are built without looking at the response: a signal in a direction of "
            "small variance is dropped first.",
            "Keeps every input, in combinations that are hard to read.",
            "Only sees straight lines: anything curved or interacting is bias.",
        ),
        cost="k n p min(n, p) for k folds",
        source="D68-D70, D77",
        wide=True,
        weights=True,
        multioutput=True,
        chunks=True,
        linear_smoother=True,
    )
    # What the inference of the linear methods asks for: among the components kept there is no
    # penalty, and there is always an intercept.
    alpha_: ClassVar[float] = 0.0  # type: ignore[misc]
    fit_intercept: ClassVar[bool] = True  # type: ignore[misc]

    def __init__(
        self,
        components: int | str = "auto",
        *,
        standardize: bool = True,
        select: str = "one_se",
        cv: int | str = 10,
    ) -> None:
        self.components = components
        self.standardize = standardize
        self.select = select
        self.cv = cv

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,) or (n, q)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        PrincipalComponentsRegression
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        X, y, weight = self._validate(X, y, sample_weight)
        problem = self._decompose(X, y, weight)
        curve = scale = None
        if isinstance(self.components, str):
            curve, scale = self._curve(problem, None, y.ndim)
            curve = self._judge(curve, X, y, weight)
        self._settle(problem, curve, y.ndim)
        rows = slice(None) if weight is None else weight > 0
        parts = list(component_residuals(problem, self.components_))
        residuals = np.concatenate([part[0] for part in parts])
        fitted, leverage = self._evaluate(X), np.zeros(len(y))
        # What the decomposition says about a row has more digits than its prediction.
        fitted[rows] = y[rows] - (residuals if y.ndim == 2 else residuals[:, 0])
        leverage[rows] = 1 - np.concatenate([part[1] for part in parts])
        self.smoother_ = Smoother(
            y,
            fitted,
            leverage,
            df=self.components_ + 1.0,
            weight=weight,
            trace_sst=self.components_ + 1.0,  # a projection
            scale=scale,
        )
        return self

    def fit_chunks(self, chunks: Iterable[Any]) -> Self:
        """Fit to rows that come in chunks, in memory that does not grow with their number.

        Parameters
        ----------
        chunks : re-iterable of (X, y) or (X, y, w)
            Something that can be gone through several times: a list, or an object whose
            ``__iter__`` starts afresh.

        Returns
        -------
        PrincipalComponentsRegression
            With the same number of components, coefficients, df, sigma, errors and criteria as
            `fit` on all rows together. What is per row (leverages, residuals) is not kept.
        """
        self._check_params()
        checked = self._check_chunks(chunks)
        problem = decompose_chunks(checked, standardize=self.standardize, fit_intercept=True)
        y_ndim = checked.y_ndim
        curve = scale = None
        if isinstance(self.components, str):
            if isinstance(self.cv, str):
                raise InputError(
                    "cv='loo' decomposes the rows once for every row left out, which a fit in "
                    "chunks cannot: give cv= a number of folds, or components= a number."
                )
            _check_enough_rows(problem.centering.n)
            curve, scale = self._curve(problem, None, y_ndim)
            errors = chunk_fold_errors(checked, self.cv, curve.values, standardize=self.standardize)
            error_se = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
            curve = replace(curve, error=errors.mean(axis=0), error_se=error_se)
        self._settle(problem, curve, y_ndim)
        sums, rss = LossSums(), np.zeros(len(problem.tss))
        for residuals, room, w in component_residuals(problem, self.components_):
            square = residuals**2
            rss += square.sum(axis=0) if w is None else w @ square
            with np.errstate(divide="ignore", invalid="ignore"):
                left_out = square / room[:, None] ** 2
            sums.update(left_out.mean(axis=1, keepdims=True), w)
        self.smoother_ = SmootherSums(
            n=problem.centering.n,
            rss=squeeze(rss, y_ndim),
            tss=squeeze(problem.tss, y_ndim),
            df=self.components_ + 1.0,
            loo=float(sums.mean_and_se()[0][0]),
            log_weights=problem.log_weights,
            trace_sst=self.components_ + 1.0,
            scale=scale,
        )
        return self

    def _check_chunks(self, chunks: Iterable[Any]) -> CheckedChunks:
        first = next(iter(chunks), None)
        if first is None:
            raise InputError("There are no chunks to fit; give at least one (X, y).")
        X, y, *_ = first
        self._remember_frame(X)
        # Sets the number of columns and their names; the rows are checked chunk by chunk.
        validate_data(self, X, skip_check_array=True)
        return CheckedChunks(chunks, self.n_features_in_, np.ndim(y))

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        X, y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        y = np.asarray(y, dtype=np.float64)
        return X, y, check_weight(sample_weight, len(y))

    def _decompose(
        self, X: FloatArray, y: FloatArray, weight: FloatArray | None
    ) -> DecomposedProblem:
        return decompose_rows(
            X, y.reshape(len(y), -1), weight, standardize=self.standardize, fit_intercept=True
        )

    def _settle(self, problem: DecomposedProblem, curve: Path | None, y_ndim: int) -> None:
        """Choose the number of components and keep what follows from it."""
        self.__dict__.pop("path_", None)  # of an earlier fit
        spectrum, centering = problem.spectrum, problem.centering
        if curve is not None:
            self.path_ = curve
            self.components_ = int(curve.values[curve.best(self.select)])
        else:
            self.components_ = int(_check_components([self.components], spectrum.rank)[0])
        kept = truncate(spectrum, self.components_)
        scaled = component_coef(kept, np.array([self.components_]))
        coef, intercept = centering.original(scaled[0])
        self.coef_, self.intercept_ = squeeze(coef, y_ndim), squeeze(intercept, y_ndim)
        self.rotation_ = kept.V
        self.component_coef_ = squeeze((kept.rotated / np.sqrt(kept.lam)[:, None]).T, y_ndim)
        self.explained_variance_ = spectrum.lam / centering.weight
        total = self.explained_variance_.sum()
        self.explained_variance_ratio_ = self.explained_variance_ / (total if total else 1.0)
        self.solver_ = problem.solver
        self._centering, self._spectrum = centering, kept

    # ---- the path -------------------------------------------------------------------------------

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        problem = self._decompose(X, y, sample_weight)
        return self._judge(self._curve(problem, values, y.ndim)[0], X, y, sample_weight)

    def _curve(self, problem: DecomposedProblem, values: Any, y_ndim: int) -> tuple[Path, Any]:
        """Return the path but for its honest error, and the scale of its richest model, for Cp."""
        spectrum, n = problem.spectrum, problem.centering.n
        if values is None:
            counts = np.arange(spectrum.rank + 1)
        else:
            counts = _check_components(values, spectrum.rank)
        df = counts.astype(np.float64) + 1
        rss = component_rss(problem)[counts]
        scale = _scale(rss, df, n, y_ndim)
        each = gaussian_criteria(rss, df[:, None], n, scale=scale, log_weights=problem.log_weights)
        coef, _ = problem.centering.original(component_coef(spectrum, counts))
        missing = np.full(len(counts), np.nan)
        curve = Path(
            knob=self.knob,
            values=counts,
            df=df,
            train_error=rss.mean(axis=1) / problem.centering.weight,
            error=missing,
            error_se=missing,
            estimate="cv",
            loss="squared error",
            criteria={
                # Components that reproduce the responses leave no residuals to judge by.
                name: np.where(df < n, found.mean(1) if name == "gcv" else found.sum(1), np.inf)
                for name, found in each.items()
            },
            coef=coef if y_ndim == 2 else coef[:, 0],
        )
        return curve, scale

    def _judge(self, curve: Path, X: FloatArray, y: FloatArray, weight: Any) -> Path:
        """Give a path its honest error: everything is computed anew in each training part."""
        if weight is not None:
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        n = len(y)
        _check_enough_rows(n)
        if isinstance(self.cv, int | np.integer) and self.cv < n:
            folds = fold_rows(n, int(self.cv))
            return self._cross_validate(curve, X, y, weight, folds)
        loss = np.empty((n, len(curve)))
        for i in range(n):
            rest = np.arange(n) != i
            predicted = self._path_predictions(
                X[rest], y[rest], None if weight is None else weight[rest], curve.values, X[[i]]
            )
            gap = (predicted[0] - y[i]) ** 2
            loss[i] = gap if gap.ndim == 1 else gap.mean(axis=1)
        error, error_se = mean_and_se(loss, weight)
        return replace(curve, error=error, error_se=error_se, estimate="loo")

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        problem = self._decompose(X, y, sample_weight)
        coef, intercept = problem.centering.original(component_coef(problem.spectrum, values))
        predicted: FloatArray = np.moveaxis(X_new @ np.swapaxes(coef, 1, 2), 0, 1) + intercept
        return predicted if y.ndim == 2 else predicted[:, :, 0]

    # ---- predicting -----------------------------------------------------------------------------

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the fitted mean at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.
        return_std : bool
            Whether to return the standard error of the fitted mean too, the components given.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, q)
        std : ndarray of the same shape
            Only with `return_std`.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        mean = self._evaluate(X)
        return (mean, self._error_at(X)) if return_std else mean

    def component_scores(self, X: Any) -> FloatArray:
        """Return the components of each row: its (standardised) inputs times `rotation_`."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self._centering.inputs(X) @ self.rotation_

    def _evaluate(self, X: FloatArray) -> FloatArray:
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _standard_error(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._error_at(validate_data(self, X, dtype=np.float64, reset=False))

    # ---- inference ------------------------------------------------------------------------------

    def covariance(self, kind: str = "sampling") -> FloatArray:
        r"""Return the covariance matrix of `coef_` on the original scale.

        Parameters
        ----------
        kind : {"sampling"}
            Over repeated responses at the same inputs: :math:`\sigma^2 V_J D_J^{-2} V_J^\top`.

        Returns
        -------
        ndarray of shape (p, p) or (q, p, p)
        """
        if kind != "sampling":
            raise InputError(f"kind={kind!r} is not allowed; components have no prior: 'sampling'.")
        return super().covariance("sampling")

    def _term_errors(self, kind: str) -> FloatArray:
        return super()._term_errors("sampling")

    def tidy(self, level: float = 0.95) -> Any:
        """Return one row a term, as a data frame.

        Parameters
        ----------
        level : float
            Probability that each interval holds.

        Returns
        -------
        data frame
            Columns term, estimate, std_error, statistic, p_value, conf_low, conf_high (and response
            where there are several). Unless all p components are kept the estimates are biased and
            the t test does not hold: `statistic` and `p_value` are missing, and the limits cover
            the mean of the estimate.
        """
        return super().tidy(level)

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        terms = super()._terms(level)
        if self.components_ < self.n_features_in_:
            none = np.full_like(terms["estimate"], np.nan)
            terms |= {"statistic": none, "p_value": none}
        return terms

    def summary(self) -> Summary:
        """Return tables about the fit and its coefficients, as text, HTML and Markdown."""
        found = super().summary()
        share = self.explained_variance_ratio_[: self.components_].sum()
        notes = [
            f"{self.components_} of {len(self.explained_variance_)} components of "
            f"{'standardised' if self.standardize else 'unscaled'} inputs, with {share:.1%} of "
            f"their variance; solver {self.solver_}."
        ]
        if self.components_ < self.n_features_in_:
            notes.append("Standard errors take the dropped components to have no effect: no tests.")
        return replace(found, notes=(*notes, *found.notes[1:]))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _check_components(values: Any, rank: int) -> IntArray:
    counts = np.asarray(values)
    if counts.ndim != 1 or not len(counts) or counts.dtype.kind not in "iu" or np.any(counts < 0):
        raise InputError(
            f"values must be a list of numbers of components, none negative; got {values!r}."
        )
    if counts.max() > rank:
        raise InputError(
            f"components={counts.max()} is more than the {rank} directions in which these inputs "
            f"vary: give at most {rank}."
        )
    return np.sort(counts)


def _check_enough_rows(n: int) -> None:
    if n < 3:
        raise InputError(
            f"There are {n} rows, and choosing the components by cross-validation needs at least "
            "3: give more rows, or components= a number."
        )


def _scale(rss: FloatArray, df: FloatArray, n: int, y_ndim: int) -> Any:
    """Return the residual standard deviation of the richest model that leaves residuals."""
    rich = np.flatnonzero(n - df >= 1)
    if not len(rich):
        return None
    scale = np.sqrt(rss[rich[-1]] / (n - df[rich[-1]]))
    return squeeze(scale, y_ndim) if np.all(scale > 0) else None
