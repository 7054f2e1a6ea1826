"""Bands about a fitted curve or surface, with what they do not say."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.frames import default_names, make_frame
from bottega.core.results import check_level
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray
from bottega.plot import smooth_chart

__all__ = ["Band", "bands"]

_MOST_POINTS = 5_000  # a simultaneous band decomposes a matrix of this size

_CAUTION = {
    "pointwise": (
        "This is a variability band, not a confidence band for the true curve. It ignores the bias "
        "of the smooth, so it lies beside the truth where the truth bends more than the fit; and "
        "it holds at one point at a time, so somewhere along it the truth is outside more often "
        "than the level says."
    ),
    "simultaneous": (
        "This band covers the mean of the smooth at all of these points at once. It still ignores "
        "the bias of the smooth, so it lies beside the truth where the truth bends more than the "
        "fit, and it takes the knob as fixed, although it may have been picked from the same data."
    ),
}


@dataclass(frozen=True)
class Band:
    """Limits about a fitted mean.

    Attributes
    ----------
    X : ndarray of shape (m, p)
        Points.
    mean, std_error, lower, upper : ndarray of shape (m,)
        The fit, its standard error and the limits ``mean -+ critical * std_error``.
    level : float
        Coverage of the mean of the smooth.
    kind : {"pointwise", "simultaneous"}
        At each point, or at all of them at once.
    critical : float
        How many standard errors the limits are away.
    caution : str
        What the band does not say.
    """

    X: FloatArray
    mean: FloatArray
    std_error: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    kind: str
    critical: float
    caution: str

    def __str__(self) -> str:
        return (
            f"{self.kind} {100 * self.level:g}% band at {len(self.mean):,} points: mean "
            f"-+ {self.critical:.4g} standard errors (between {self.std_error.min():.4g} and "
            f"{self.std_error.max():.4g}).\n{self.caution}"
        )

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per point as a data frame."""
        inputs = dict(zip(default_names(self.X.shape[1]), self.X.T, strict=True))
        if len(inputs) == 1:
            inputs = {"x": self.X[:, 0]}
        columns = {
            "mean": self.mean,
            "std_error": self.std_error,
            "conf_low": self.lower,
            "conf_high": self.upper,
        }
        return make_frame({**inputs, **columns}, like)

    def plot(self, points: Any = None, truth: Any = None) -> Any:
        """Draw the band of a fit to one input, over the data where they are given as (x, y)."""
        return smooth_chart(self, points=points, truth=truth)


def bands(
    model: Any,
    X: Any,
    level: float = 0.95,
    kind: str = "pointwise",
    *,
    n_simulations: int = 10_000,
    random_state: Any = 0,
) -> Band:
    r"""Return a band about the fit of a linear smoother at the points X.

    Parameters
    ----------
    model : fitted linear smoother
        A class of `bottega.smooth`, or one that is linear in the inputs: `LeastSquares`, `Ridge`,
        `PrincipalComponents`.
    X : array-like of shape (m, p)
        Points; several thousand at most for a simultaneous band.
    level : float
        Coverage.
    kind : {"pointwise", "simultaneous"}
        ``"pointwise"``: each interval by itself, by Student's t as `interval` gives it.
        ``"simultaneous"``: all at once, wider by the factor that simulation shows to be needed.
    n_simulations : int
        Number of simulated errors for a simultaneous band. The critical value is known to about
        1% with the 10,000 of the default.
    random_state : int, RandomState, Generator or None
        Seed of the simulation.

    Returns
    -------
    Band
        ``str(band)`` says what it covers and what it does not.

    Notes
    -----
    With :math:`\hat f = S y` and errors of variance :math:`\sigma^2`, the fit minus its own mean
    is :math:`S\varepsilon`. The simultaneous critical value is the quantile of
    :math:`\max_x |(S\varepsilon)(x)| / \mathrm{se}(x)` over simulated Gaussian errors, divided by
    a simulated estimate of :math:`\sigma`. Only the covariance of the fit at the m points is
    needed: from the coefficients where there are some, else from the m rows of S. For
    ``SmoothingSpline(variance="posterior")`` the standard errors are those of the posterior, the
    critical value that of the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.smooth import SmoothingSpline
    >>> rng = np.random.default_rng(0)
    >>> x = np.linspace(0, 6, 100)
    >>> model = SmoothingSpline().fit(x[:, None], np.sin(x) + 0.2 * rng.normal(size=100))
    >>> narrow = bands(model, x[:, None])
    >>> wide = bands(model, x[:, None], kind="simultaneous")
    >>> round(narrow.critical, 2), bool(2.6 < wide.critical < 3.3)
    (1.99, True)
    >>> str(narrow).splitlines()[1][:66]
    'This is a variability band, not a confidence band for the true cur'
    """
    if kind not in _CAUTION:
        raise InputError(f"kind={kind!r} is not allowed; use 'pointwise' or 'simultaneous'.")
    check_level(level)
    check_is_fitted(model)
    smoother = getattr(model, "smoother_", None)
    if smoother is None:
        raise InputError(
            f"{type(model).__name__} is not a linear smoother: it has no standard error to make a "
            "band of."
        )
    if np.ndim(smoother.rss) != 0:
        raise InputError("A band is for one response; select one and fit it alone.")
    mean, error = model.predict(X, return_std=True)
    if not smoother.df_residual > 0 or not np.all(np.isfinite(error)):
        raise InputError(
            f"No band: the fit leaves {max(smoother.df_residual, 0):.3g} of {smoother.n} degrees "
            "of freedom to estimate the noise; fit a simpler model."
        )
    df = float(smoother.df_residual)
    if kind == "pointwise":
        critical = float(stats.t.ppf(0.5 + level / 2, df))
    else:
        if n_simulations < 100:
            raise InputError(f"n_simulations={n_simulations!r} is too few; use at least 100.")
        critical = simultaneous_critical(
            _noise(model, X), df, level, n_simulations, seed_of(random_state, "bands")
        )
    half = critical * error
    points = np.asarray(X, dtype=np.float64)
    points = points.reshape(len(mean), -1)
    return Band(
        points, mean, error, mean - half, mean + half, level, kind, critical, _CAUTION[kind]
    )


def _noise(model: Any, X: Any) -> FloatArray:
    """Return F with F F' proportional to the covariance of the fit at the points."""
    m = len(X)
    if m > _MOST_POINTS:
        raise InputError(
            f"A simultaneous band over {m:,} points is too large; give at most {_MOST_POINTS:,}."
        )
    if hasattr(model, "_noise_rows"):  # sums of basis functions
        return np.asarray(model._noise_rows(model._check_new(X)))
    if hasattr(model, "coef_"):  # linear in the inputs
        return _root(_covariance_of_lines(model, X))
    S = np.asarray(model.matrix(X))
    weight = model.smoother_.weight
    if weight is None:
        return S
    # Var y = sigma^2 / w; rows of weight zero have no part in S.
    return np.asarray(S[:, weight > 0] / np.sqrt(weight[weight > 0]))


def _covariance_of_lines(model: Any, X: Any) -> FloatArray:
    """Return the covariance of a fit that is linear in the inputs, from standard errors alone.

    Half way between two points its variance is (v + v' + 2 c) / 4, which gives the covariance c.
    """
    points = np.asarray(X, dtype=np.float64)
    m = len(points)
    first, second = np.triu_indices(m)
    halfway = (points[first] + points[second]) / 2
    variance = model._unnamed(halfway)._standard_error(halfway) ** 2
    C = np.empty((m, m))
    C[first, second] = C[second, first] = variance
    own = np.diagonal(C).copy()
    return np.asarray(2 * C - (own[:, None] + own) / 2)


def _root(C: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh((C + C.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def simultaneous_critical(F: FloatArray, df: float, level: float, count: int, seed: int) -> float:
    """Return the quantile of the greatest standardised error over the points.

    The covariance of the errors is proportional to F F'; `df` are the degrees of freedom of the
    estimate of their scale, infinite where it is known.
    """
    sizes = np.sqrt((F**2).sum(axis=1))
    F = F[sizes > 0] / sizes[sizes > 0, None]
    if not len(F):
        return float(stats.t.ppf(0.5 + level / 2, df))
    if F.shape[1] > F.shape[0]:
        F = _root(F @ F.T)
    # Directions that hardly vary do not move the greatest error.
    left, strength, _ = np.linalg.svd(F, full_matrices=False)
    kept = strength > 1e-7 * strength[0]
    F = left[:, kept] * strength[kept]
    rng = np.random.default_rng(seed)
    greatest = np.empty(count)
    step = max(1, 4_000_000 // len(F))
    for start in range(0, count, step):
        stop = min(start + step, count)
        errors = F @ rng.standard_normal((F.shape[1], stop - start))
        greatest[start:stop] = np.abs(errors).max(axis=0)
    if np.isfinite(df):
        greatest /= np.sqrt(rng.chisquare(df, size=count) / df)
    return float(np.quantile(greatest, level))
