"""Maximum likelihood of any distribution of SciPy, with standard errors and profiles."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.errors import (
    ConvergenceWarning,
    InputError,
    ParameterError,
    did_you_mean,
    warn_caller,
)
from bottega.core.frames import make_frame
from bottega.core.params import Choice, Integer
from bottega.core.results import check_level
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.probability._conjugate.seen import read_observations, read_weights
from bottega.probability._likelihood.borders import find_borders, refuse_unbounded
from bottega.probability._likelihood.law import law_of, why_impossible
from bottega.probability._likelihood.profile import ProfileLikelihood, profile_of
from bottega.probability._likelihood.search import (
    NegativeLogLikelihood,
    SearchEnd,
    curvature,
    held_at,
    search,
)
from bottega.probability._likelihood.space import Space, space_of

__all__ = ["MaximumLikelihood", "ProfileLikelihood", "maximum_likelihood"]


@dataclass(frozen=True, eq=False, repr=False)
class MaximumLikelihood(Shown):
    """A distribution fitted by maximum likelihood.

    Attributes
    ----------
    params : dict of str to float
        All parameters, in the order of `scipy.stats`.
    std_errors : dict of str to float
        Standard errors of those that were estimated, from the observed information; NaN where that
        is not valid (see `status`).
    covariance : ndarray of shape (p, p)
        Covariance of the estimates, in the order of `free`; NaN like `std_errors`.
    status : dict of str to str
        "estimated", "fixed", "at the border" (the likelihood is highest at the end of the
        parameter's range), "on the edge of the support" (it is highest where an observation is
        about to leave the support) or "at a corner" (it has no second derivative there). In the
        last three cases there is no standard error, and those of the others take the parameter for
        known.
    log_likelihood : float
        Log-likelihood of the data there.
    aic, bic : float
        Information criteria.
    n : float
        Number of observations, or their total weight.
    n_iter : int
        Iterations of the search that found the estimates.
    converged : bool
        Whether it reached its tolerance.
    """

    params: dict[str, float]
    std_errors: dict[str, float]
    covariance: FloatArray
    status: dict[str, str]
    log_likelihood: float
    n: float
    n_iter: int
    converged: bool
    space: Space
    objective: NegativeLogLikelihood
    u: FloatArray

    @property
    def free(self) -> tuple[str, ...]:
        """Names of the parameters that were estimated."""
        return self.space.free

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * len(self.free) - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion."""
        return len(self.free) * math.log(self.n) - 2 * self.log_likelihood

    def distribution(self) -> Any:
        """Return the fitted distribution, of `scipy.stats`."""
        return self.space.distribution(*self.params.values())

    def interval(
        self, parameter: str | None = None, level: float = 0.95, *, kind: str = "profile"
    ) -> tuple[float, float]:
        """Return a confidence interval of a parameter.

        Parameters
        ----------
        parameter : str, optional
            Which one; not needed where there is only one.
        level : float, default=0.95
            Confidence; larger values give wider intervals.
        kind : {"profile", "wald"}
            Values that the likelihood-ratio test does not reject, or the estimate plus and minus
            a multiple of its standard error. The former follows the shape of the likelihood, keeps
            to the range of the parameter, and takes some twenty searches.

        Returns
        -------
        low, high : float
            Infinite, or the end of the range, where the likelihood does not fall far enough.
        """
        name = self._named(parameter)
        check_level(level)
        Choice("profile", "wald").check("MaximumLikelihood", "kind", kind)
        if kind == "profile":
            return self.profile(name, level=level, n_points=5).interval
        half = float(stats.norm.isf((1 - level) / 2)) * self.std_errors[name]
        if math.isnan(half):
            raise InputError(
                f"maximum_likelihood: {name} is {self.status[name]}, and has no standard error; "
                "use kind='profile'."
            )
        return self.params[name] - half, self.params[name] + half

    def profile(
        self, parameter: str | None = None, *, level: float = 0.95, n_points: int = 41
    ) -> ProfileLikelihood:
        """Return the likelihood as a function of one parameter, the others being maximised over.

        Parameters
        ----------
        parameter : str, optional
            Which one; not needed where there is only one.
        level : float, default=0.95
            Confidence of the interval.
        n_points : int, default=41
            Values at which the profile is computed, one search each.

        Returns
        -------
        ProfileLikelihood
            With `interval`, `to_frame()` and `plot()`.
        """
        check_level(level)
        Integer(5).check("profile", "n_points", n_points)
        name = self._named(parameter)
        for other in self.free:
            if other != name and self.status[other] == "on the edge of the support":
                raise InputError(
                    f"maximum_likelihood: {other} is on the edge of the support, where the others "
                    f"cannot be maximised over; fix it to profile {name}."
                )
        index = self.free.index(name)
        error = self.std_errors[name] / float(self.space.slopes(self.u)[index])
        return profile_of(self.objective, self.u, index, error, level, n_points)

    def to_frame(self, level: float = 0.95, *, like: Any = None) -> Any:
        """Return the estimates as a data frame, one row per parameter.

        Columns: ``parameter``, ``estimate``, ``std_error``, ``conf_low`` and ``conf_high`` (the
        estimate plus and minus a multiple of its standard error), ``status``.
        """
        return make_frame(self._table(level), like)

    def summary(self, level: float = 0.95) -> Summary:
        """Return the estimates as a table that shows itself."""
        table = {name.replace("_", " "): list(c) for name, c in self._table(level).items()}
        notes = [
            f"{self.n:g} observations; log-likelihood {self.log_likelihood:.6g}, "
            f"AIC {self.aic:.6g}, BIC {self.bic:.6g}."
        ]
        for name, status in self.status.items():
            if status not in ("estimated", "fixed"):
                notes.append(f"{name} is {status}: the standard errors take it for known.")
        title = f"Maximum likelihood: {self.space.distribution.name}"
        return Summary(title, (Section("", table),), tuple(notes))

    def plot(self) -> Any:
        """Draw the data as a histogram, and the fitted density or probabilities.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import fitted_chart

        about = ", ".join(f"{name} {value:.4g}" for name, value in self.params.items())
        return fitted_chart(
            self.objective.data,
            self.distribution(),
            weights=self.objective.weights,
            title=f"{self.space.distribution.name} fitted by maximum likelihood",
            subtitle=f"{about}; log-likelihood {self.log_likelihood:.6g}",
        )

    def _named(self, parameter: str | None) -> str:
        if parameter is None and len(self.free) == 1:
            return self.free[0]
        if parameter not in self.free:
            raise ParameterError(
                f"maximum_likelihood: parameter={parameter!r} is not allowed; the estimated ones "
                f"are {', '.join(self.free)}.{did_you_mean(str(parameter), self.free)}"
            )
        return parameter

    def _table(self, level: float) -> dict[str, Any]:
        z = float(stats.norm.isf((1 - check_level(level)) / 2))
        estimate = np.array(list(self.params.values()))
        error = np.array([self.std_errors.get(name, np.nan) for name in self.params])
        return {
            "parameter": list(self.params),
            "estimate": estimate,
            "std_error": error,
            "conf_low": estimate - z * error,
            "conf_high": estimate + z * error,
            "status": [self.status[name] for name in self.params],
        }


def maximum_likelihood(
    distribution: Any,
    data: Any,
    *,
    fixed: Mapping[str, float] | None = None,
    free: Iterable[str] = (),
    sample_weight: Any = None,
    max_iter: int = 200,
) -> MaximumLikelihood:
    r"""Fit a distribution of SciPy by maximum likelihood.

    Maximises :math:`\sum_i w_i \log p(x_i \mid \theta)` over the parameters that are not held, by
    Newton's method in coordinates without limits (logarithms of positive parameters, log odds of
    probabilities), from several starts: SciPy's own fit, and shapes on a grid with location and
    scale that match quantiles. Standard errors come from the second derivatives at the maximum
    (the observed information).

    Parameters
    ----------
    distribution : distribution of `scipy.stats`, or its name
        Continuous or discrete, not frozen: ``scipy.stats.gamma`` or ``"gamma"``.
    data : array-like of shape (n,)
        Observations.
    fixed : mapping of str to float, optional
        Parameters that are known.
    free : iterable of str, optional
        Parameters to be found that are held otherwise: ``loc`` is held at 0 for distributions whose
        support has a fixed end (gamma, Weibull, Poisson, ...), and ``scale`` at 1 for those with
        two (beta). With a free ``loc`` many of them have no maximum of the likelihood.
    sample_weight : array-like of shape (n,), optional
        How often each observation occurred.
    max_iter : int, default=200
        The most iterations from each start.

    Returns
    -------
    MaximumLikelihood
        Parameters, standard errors, covariance, criteria; intervals, profiles, a picture.

    Raises
    ------
    InputError
        If an observation lies outside the support, or the likelihood grows without bound.

    Warns
    -----
    ConvergenceWarning
        If no start converged.

    Notes
    -----
    Some hundred evaluations of the likelihood per start: 0.05 to 0.5 s for a thousand
    observations. Standard errors are for many observations; for few, or near the border of a
    parameter's range, use the profile's interval.

    References
    ----------
    .. [1] Pawitan, Y. (2001). In All Likelihood. Oxford University Press.
    .. [2] Venables, W. and Ripley, B. (2002). Modern Applied Statistics with S, fourth edition.

    Examples
    --------
    >>> found = maximum_likelihood("expon", [1.0, 2.0, 4.5, 0.5])
    >>> round(found.params["scale"], 6), round(found.std_errors["scale"], 6)
    (2.0, 1.0)
    >>> [round(end, 3) for end in found.interval("scale")]
    [0.861, 6.442]
    """
    law = law_of(distribution)
    Integer(1).check("maximum_likelihood", "max_iter", max_iter)
    values = read_observations(data, "maximum_likelihood")
    weights = read_weights(sample_weight, len(values), "maximum_likelihood")
    values, weights = values[weights > 0], weights[weights > 0]
    if not values.size:
        raise InputError("maximum_likelihood: there are no observations (of positive weight).")
    space = space_of(law, fixed or {}, free, values)
    if "scale" in space.free and "loc" in space.free and np.ptp(values) == 0:
        raise InputError(
            f"maximum_likelihood: all observations are {values[0]:g}, so the likelihood grows "
            "without bound as the scale shrinks; fix the scale."
        )
    objective = NegativeLogLikelihood(space, values, weights)
    best = search(objective, max_iter)
    if best is None:
        raise InputError(why_impossible(objective))
    refuse_unbounded(objective, best.u)
    u, status = find_borders(objective, best.u, max_iter)
    best = _again(objective, best, u, status, max_iter)
    if not best.converged and "on the edge of the support" not in status.values():
        warn_caller(
            f"maximum_likelihood: the search did not converge in {max_iter} iterations; raise "
            "max_iter, fix a parameter, or give the data in other units.",
            ConvergenceWarning,
        )
    errors, correlation = _uncertainty(objective, best.u, status)
    for name, error in zip(space.free, errors, strict=True):
        if status[name] == "estimated" and math.isnan(error):
            status[name] = "at a corner"
    with np.errstate(over="ignore", under="ignore"):  # of errors beyond the root of all numbers
        covariance = errors[:, None] * correlation * errors
    return MaximumLikelihood(
        params=space.values(best.u),
        std_errors=dict(zip(space.free, errors.tolist(), strict=True)),
        covariance=covariance,
        status={name: status.get(name, "fixed") for name in space.names},
        log_likelihood=-best.value,
        n=float(weights.sum()),
        n_iter=best.n_iter,
        converged=best.converged,
        space=space,
        objective=objective,
        u=best.u,
    )


def _again(
    objective: NegativeLogLikelihood,
    best: SearchEnd,
    u: FloatArray,
    status: Mapping[str, str],
    max_iter: int,
) -> SearchEnd:
    """Return the best point with the parameters at a border held there."""
    held = np.array([status[name] == "at the border" for name in objective.space.free])
    return held_at(objective, u, held, max_iter) if held.any() else best


def _uncertainty(
    objective: NegativeLogLikelihood, u: FloatArray, status: Mapping[str, str]
) -> tuple[FloatArray, FloatArray]:
    """Return standard errors and correlations by the inverse of the observed information.

    They are NaN for what is at a border or an edge.
    """
    space = objective.space
    errors, correlation = np.full(len(u), np.nan), np.full((len(u), len(u)), np.nan)
    inner = np.flatnonzero([status[name] == "estimated" for name in space.free])
    if not inner.size:
        return errors, correlation

    def part(v: FloatArray) -> float:
        full = u.copy()
        full[inner] = v
        return objective(full)

    hessian = curvature(part, u[inner])
    smooth = np.isfinite(np.diag(hessian)) & (np.diag(hessian) > 0)
    inner, hessian = inner[smooth], hessian[np.ix_(smooth, smooth)]
    scale = np.sqrt(np.diag(hessian))
    slopes = space.slopes(u)[inner]
    if not inner.size or not np.isfinite(hessian).all():
        return errors, correlation
    eigen, vectors = np.linalg.eigh(hessian / np.outer(scale, scale))
    if eigen.min() <= 1e-10:
        return errors, correlation
    inverse = (vectors / eigen) @ vectors.T
    size = np.sqrt(np.diag(inverse))
    errors[inner] = slopes / scale * size  # slopes are above zero
    correlation[np.ix_(inner, inner)] = inverse / np.outer(size, size)
    return errors, correlation
