r"""The algebra of linear smoothers, written once.

Whatever predicts by :math:`\hat y = S y`, with :math:`S` not depending on :math:`y`, shares degrees
of freedom, leverages, exact leave-one-out residuals, generalised cross-validation, the residual
scale, information criteria and the approximate F test. All of them follow from
:math:`\hat y = Sy`, :math:`\mathrm{diag}\, S` and :math:`\mathrm{tr}\, S`.

Symbols
-------
n       rows with a positive weight
rss     sum of w (y - y_hat)^2
df      tr S
sigma^2 rss / (n - df)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.errors import BottegaError, InputError, NotKept
from bottega.core.judge import mean_and_se
from bottega.core.lazy import cached_property
from bottega.core.likelihood import gaussian_criteria
from bottega.core.results import check_level
from bottega.core.stored import stored
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray

__all__ = ["FTest", "Smoother", "SmootherSums", "f_test", "interval"]


class _Scalars:
    """What a smoother tells about the fit as a whole, from sums over its rows alone."""

    n: int
    rss: Any
    tss: Any
    log_weights: float
    df: float
    trace_sst: float | None
    scale: Any

    @property
    def df_residual(self) -> float:
        """Degrees of freedom left for the residuals."""
        return self.n - self.df

    @property
    def df_definitions(self) -> dict[str, float]:
        """The three equivalent degrees of freedom: tr S, tr SS' and tr(2S - SS')."""
        if self.trace_sst is None:
            raise BottegaError("tr SS' was not asked for when this smoother was fitted.")
        return {
            "tr S": self.df,
            "tr SS'": self.trace_sst,
            "tr(2S - SS')": 2 * self.df - self.trace_sst,
        }

    @property
    def sigma(self) -> Any:
        """Residual standard deviation (nan where no degrees of freedom are left)."""
        left = self.df_residual
        return np.sqrt(self.rss / left) if left > 1e-9 * self.n else np.full_like(self.rss, np.nan)

    @cached_property
    def criteria(self) -> dict[str, float]:
        """Information criteria of the fit; of several responses, the sum (gcv: the mean)."""
        scale = self.scale if self.scale is not None else self.sigma
        found = gaussian_criteria(
            self.rss, self.df, self.n, scale=scale, log_weights=self.log_weights
        )
        return {
            name: float(np.mean(each) if name == "gcv" else np.sum(each))
            for name, each in found.items()
        }

    @property
    def loglik(self) -> float:
        """Gaussian log-likelihood at its maximum over the scale."""
        return -0.5 * (self.criteria["aic"] - 2 * np.size(self.rss) * (self.df + 1))

    @property
    def r_squared(self) -> Any:
        """Share of the variation about the (weighted) mean that is explained."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - self.rss / self.tss


@stored
@dataclass(frozen=True)
class Smoother(_Scalars):
    r"""A fitted linear smoother, reduced to the numbers everything else follows from.

    Parameters
    ----------
    y : ndarray of shape (n,) or (n, q)
        Responses.
    fitted : ndarray of the shape of `y`
        :math:`S y`.
    leverage : ndarray of shape (n,)
        Diagonal of :math:`S`.
    df : float, optional
        Trace of :math:`S`; the sum of the leverages by default.
    weight : ndarray of shape (n,), optional
        Row weights; rows of weight zero count for nothing.
    trace_sst : float, optional
        :math:`\mathrm{tr}\, SS^\top`, where the other two definitions of df are wanted.
    scale : float, optional
        Residual standard deviation for Cp (of the richest model); the fit's own by default.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> mean = Smoother(y, np.full(3, 3.0), np.full(3, 1 / 3))
    >>> mean.df, float(mean.sigma), mean.loo_residuals
    (1.0, 2.6457513110645907, array([-3. , -1.5,  4.5]))
    """

    y: FloatArray
    fitted: FloatArray
    leverage: FloatArray
    df: float = np.nan
    weight: FloatArray | None = None
    trace_sst: float | None = None
    scale: Any = None

    def __post_init__(self) -> None:
        if np.isnan(self.df):
            object.__setattr__(self, "df", float(np.sum(self.leverage)))

    @property
    def n(self) -> int:  # type: ignore[override]
        """Number of rows that count."""
        return len(self.y) if self.weight is None else int(np.count_nonzero(self.weight))

    @property
    def residuals(self) -> FloatArray:
        """Observed minus fitted."""
        return self.y - self.fitted

    @property
    def _column_weight(self) -> Any:
        if self.weight is None:
            return 1.0
        return self.weight if self.y.ndim == 1 else self.weight[:, None]

    @cached_property
    def rss(self) -> Any:
        """Weighted residual sum of squares, one entry per response."""
        return np.sum(self._column_weight * self.residuals**2, axis=0)

    @property
    def loo_residuals(self) -> FloatArray:
        """Residual of each row under the fit without it: (y - y_hat) / (1 - h)."""
        left = 1 - self.leverage
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.residuals / (left if self.y.ndim == 1 else left[:, None])

    @property
    def loo(self) -> float:
        """Mean squared leave-one-out residual."""
        squared = self.loo_residuals**2
        per_row = squared if squared.ndim == 1 else squared.mean(axis=1)
        return float(mean_and_se(per_row, self.weight)[0])

    @property
    def tss(self) -> Any:
        """Weighted sum of squares about the (weighted) mean, one entry per response."""
        w = self._column_weight
        total_weight = len(self.y) if self.weight is None else self.weight.sum()
        center = np.sum(w * self.y, axis=0) / total_weight
        return np.sum(w * (self.y - center) ** 2, axis=0)

    @property
    def log_weights(self) -> float:  # type: ignore[override]
        """Sum of the logarithms of the weights."""
        if self.weight is None:
            return 0.0
        return float(np.sum(np.log(self.weight[self.weight > 0])))

    @property
    def std_residuals(self) -> FloatArray:
        """Residuals divided by their estimated standard deviation."""
        left = np.where(self.leverage < 1, 1 - self.leverage, np.nan)
        root_weight = 1.0 if self.weight is None else np.sqrt(self.weight)
        factor = root_weight / np.sqrt(left)
        scaled: FloatArray = self.residuals * (factor if self.y.ndim == 1 else factor[:, None])
        return scaled / np.asarray(self.sigma, dtype=np.float64)

    @property
    def cooks(self) -> FloatArray:
        """Cook's distance: how far all fitted values move when the row is left out."""
        odds = self.leverage / np.where(self.leverage < 1, 1 - self.leverage, np.nan)
        factor = odds if self.y.ndim == 1 else odds[:, None]
        return self.std_residuals**2 * factor / self.df


@stored
@dataclass(frozen=True)
class SmootherSums(_Scalars):
    """A linear smoother fitted chunk by chunk: its sums, without any number per row.

    Attributes
    ----------
    n : int
        Rows with a positive weight.
    rss, tss : float or ndarray of shape (q,)
        Weighted residual and total sums of squares.
    df : float
        Trace of S.
    loo : float
        Mean squared leave-one-out residual; beyond a million rows that of generalised
        cross-validation.
    log_weights, trace_sst, scale
        As in `Smoother`.
    """

    n: int
    rss: Any
    tss: Any
    df: float
    loo: float
    log_weights: float = 0.0
    trace_sst: float | None = None
    scale: Any = None

    def _absent(self) -> Any:
        raise NotKept(
            "A fit in chunks keeps no numbers per row (leverages, residuals, fitted values): "
            "give the rows to predict, or fit in memory."
        )

    y = property(_absent)
    weight = property(_absent)
    fitted = property(_absent)
    leverage = property(_absent)
    residuals = property(_absent)
    loo_residuals = property(_absent)
    std_residuals = property(_absent)
    cooks = property(_absent)


def interval(
    mean: FloatArray,
    standard_error: FloatArray,
    smoother: "Smoother | SmootherSums",
    *,
    level: float = 0.95,
    kind: str = "confidence",
) -> tuple[FloatArray, FloatArray]:
    """Return the limits about `mean` by Student's t with n - df degrees of freedom.

    ``"confidence"`` is for the mean at a point, ``"prediction"`` for a new observation there.
    """
    check_level(level)
    if kind not in ("confidence", "prediction"):
        raise InputError(f"kind={kind!r} is not allowed; use 'confidence' or 'prediction'.")
    if not smoother.df_residual > 0:
        raise InputError(
            f"No interval: the fit uses all {smoother.n} degrees of freedom; fit a simpler model."
        )
    spread = standard_error
    if kind == "prediction":
        spread = np.sqrt(standard_error**2 + smoother.sigma**2)
    half = stats.t.ppf(0.5 + level / 2, smoother.df_residual) * spread
    return mean - half, mean + half


@dataclass(frozen=True)
class FTest:
    """The approximate F test of a small smoother inside a big one."""

    statistic: float
    df: tuple[float, float]
    p_value: float

    def summary(self) -> Summary:
        """Return the test as a table."""
        row = {
            "F": [self.statistic],
            "df": [self.df[0]],
            "df residual": [self.df[1]],
            "p value": [self.p_value],
        }
        note = "Approximate unless both fits are projections; the small model must be nested."
        return Summary("F test between nested smoothers", (Section("", row),), (note,))

    def __str__(self) -> str:
        return str(self.summary())


def f_test(small: Any, big: Any) -> FTest:
    """Test whether the bigger of two nested smoothers explains more than noise.

    Parameters
    ----------
    small, big : Smoother or fitted estimator
        Fits of the same response; `big` has more degrees of freedom.

    Returns
    -------
    FTest
        With ``F = ((rss_small - rss_big) / (df_big - df_small)) / (rss_big / (n - df_big))``.
    """
    for model in (small, big):
        if hasattr(model, "deviance_") and not hasattr(model, "smoother_"):
            raise InputError(
                f"An F test is for linear smoothers, and {type(model).__name__} is fitted by "
                "likelihood; use bottega.additive.deviance_test for additive models."
            )
    small, big = (getattr(model, "smoother_", model) for model in (small, big))
    if small.y.shape != big.y.shape or not np.array_equal(small.y, big.y):
        raise InputError("An F test needs two fits of the same response; these differ.")
    if small.y.ndim != 1:
        raise InputError("An F test is for one response at a time; these fits have several.")
    gained = big.df - small.df
    if not gained > 0:
        raise InputError(
            f"The first fit must be the smaller: df {small.df:.4g} is not below {big.df:.4g}."
        )
    if not big.df_residual > 0:
        raise InputError("The bigger fit leaves no degrees of freedom for the residuals.")
    statistic = float((small.rss - big.rss) / gained / (big.rss / big.df_residual))
    return FTest(
        statistic,
        (gained, big.df_residual),
        float(stats.f.sf(statistic, gained, big.df_residual)),
    )
