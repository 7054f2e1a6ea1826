"""Bayes' rule on a grid: any prior, any likelihood of one parameter."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from bottega.core.errors import DataWarning, InputError
from bottega.core.frames import make_frame
from bottega.core.params import Choice, Integer
from bottega.core.results import check_level
from bottega.core.seeds import seed_of
from bottega.core.stored import stored
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.probability._grid.curves import peak_of, runs_of
from bottega.probability._grid.likelihood import logarithm_of
from bottega.probability._grid.prior import Prior
from bottega.probability._grid.quadrature import halving_edges, rule_on
from bottega.probability._grid.window import next_window, with_ends

__all__ = ["GridPosterior", "grid_posterior"]

_ROUNDS = 200


@stored
@dataclass(frozen=True, eq=False, repr=False)
class GridPosterior(Shown):
    """A posterior on a grid of values of its parameter.

    Attributes
    ----------
    theta : ndarray of shape (m,)
        Values, increasing; closer together where the posterior is high, and at ends of the support.
    weight : ndarray of shape (m,)
        An integral over theta is the sum of heights times these.
    log_prior, log_likelihood, log_posterior : ndarray of shape (m,)
        Logarithms there; the prior and the posterior integrate to one.
    edges, below : ndarray of shape (k,)
        Ends of the intervals of the grid, and the posterior probability below each.
    log_evidence : float
        Logarithm of the integral of prior times likelihood.
    """

    theta: FloatArray
    weight: FloatArray
    log_prior: FloatArray
    log_likelihood: FloatArray
    log_posterior: FloatArray
    edges: FloatArray
    below: FloatArray
    log_evidence: float

    @property
    def density(self) -> FloatArray:
        """Posterior density at `theta`."""
        return np.exp(self.log_posterior)

    @property
    def mass(self) -> FloatArray:
        """Posterior probability that each value stands for."""
        return self.density * self.weight

    def expect(self, function: Callable[[FloatArray], Any]) -> Any:
        """Return the posterior mean of a function of the parameter.

        Parameters
        ----------
        function : callable
            ``function(theta)`` of an array returns one number per value, or an array whose last
            axis is theirs. With the density of a new observation y given theta, this is the
            predictive density of y.

        Returns
        -------
        float or ndarray
        """
        values = np.asarray(function(self.theta), dtype=np.float64)
        found = values @ self.mass if values.ndim else values
        return float(found) if np.ndim(found) == 0 else found

    def mean(self) -> float:
        """Return the posterior mean."""
        return self.expect(lambda theta: theta)

    def std(self) -> float:
        """Return the posterior standard deviation."""
        center = self.mean()
        return math.sqrt(self.expect(lambda theta: (theta - center) ** 2))

    def map(self) -> float:
        """Return the posterior mode: that of a parabola through the highest values of the grid."""
        return self._top(self.log_posterior, "posterior")

    def mle(self) -> float:
        """Return where the likelihood is highest on the grid."""
        return self._top(self.log_likelihood, "likelihood")

    def _top(self, curve: FloatArray, what: str, *, known: bool = False) -> float:
        found = peak_of(self.theta, curve, (float(self.edges[0]), float(self.edges[-1])))
        if math.isnan(found) and not known:
            raise InputError(f"The {what} is the same everywhere; it has no maximum.")
        return found

    def quantile(self, p: Any) -> Any:
        """Return the values with posterior probability p below them."""
        wanted = np.asarray(p, dtype=np.float64)
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise InputError(f"quantile: p must lie between 0 and 1; got {p!r}.")
        rises = np.r_[True, np.diff(self.below) > 1e-15]
        inverse = PchipInterpolator(self.below[rises], self.edges[rises])
        found = np.clip(inverse(wanted), self.edges[0], self.edges[-1])
        return float(found) if found.ndim == 0 else found

    def interval(self, level: float = 0.95, *, kind: str = "equal_tailed") -> tuple[float, float]:
        """Return an interval that holds the parameter with probability `level`.

        Parameters
        ----------
        level : float, default=0.95
            Probability; larger values give wider intervals.
        kind : {"equal_tailed", "highest_density"}
            Leave out as much below as above, or the values of lowest density.

        Returns
        -------
        low, high : float
        """
        check_level(level)
        Choice("equal_tailed", "highest_density").check("GridPosterior", "kind", kind)
        if kind == "equal_tailed":
            low, high = self.quantile([(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)
        pieces = self.highest_density_region(level)
        if len(pieces) > 1:
            raise InputError(
                f"The region of highest density has {len(pieces)} pieces; use "
                "highest_density_region(), or kind='equal_tailed'."
            )
        return pieces[0]

    def highest_density_region(self, level: float = 0.95) -> list[tuple[float, float]]:
        """Return the pieces of the smallest region with probability `level`, to the grid's width.

        Parameters
        ----------
        level : float, default=0.95
            Probability; larger values give larger regions.

        Returns
        -------
        list of (low, high)
        """
        check_level(level)
        # To nine digits: what is as high but for rounding stays together.
        height = np.round(np.maximum(self.log_posterior, self.log_posterior.max() - 1e4), 9)
        order = np.argsort(-height, kind="stable")
        # Half of the mass of a value lies below its own density.
        reached = np.cumsum(self.mass[order]) - 0.5 * self.mass[order]
        at = float(np.interp(level, reached, np.arange(len(order))))
        floor = float(np.interp(at, np.arange(len(order)), height[order]))
        inside = np.zeros(len(order), dtype=np.bool_)
        inside[order[: int(at) + 1]] = True
        return [self._piece(a, b, floor) for a, b in runs_of(inside)]

    def _piece(self, first: int, last: int, floor: float) -> tuple[float, float]:
        """Return the ends of a run of values, where the density crosses the floor."""
        ends = []
        for inner, outer, edge in (
            (first, first - 1, self.edges[0]),
            (last, last + 1, self.edges[-1]),
        ):
            if not 0 <= outer < len(self.theta):
                ends.append(float(edge))
                continue
            a, b = self.log_posterior[inner], max(self.log_posterior[outer], floor - 1e4)
            share = float(np.clip((a - floor) / (a - b), 0, 1)) if a > b else 0.5
            ends.append(float(self.theta[inner] + share * (self.theta[outer] - self.theta[inner])))
        return ends[0], ends[1]

    def sample(self, n: int = 1, *, random_state: Any = None) -> FloatArray:
        """Draw parameters from the posterior.

        Parameters
        ----------
        n : int, default=1
            Number of draws.
        random_state : int, RandomState, Generator or None
            Seed.

        Returns
        -------
        ndarray of shape (n,)
        """
        Integer(0).check("GridPosterior", "n", n)
        rng = np.random.default_rng(seed_of(random_state, "GridPosterior"))
        return np.asarray(self.quantile(rng.random(n)))

    def to_frame(self, like: Any = None) -> Any:
        """Return the grid as a data frame, one row per value.

        Columns: ``theta``, ``weight``, ``log_prior``, ``log_likelihood``, ``log_posterior``,
        ``density`` (the posterior's).
        """
        columns = ("theta", "weight", "log_prior", "log_likelihood", "log_posterior", "density")
        return make_frame({name: getattr(self, name) for name in columns}, like)

    def summary(self, level: float = 0.95) -> Summary:
        """Return estimates and an interval as a table that shows itself."""
        low, high = self.interval(level)
        columns = {
            "mle": [self._top(self.log_likelihood, "likelihood", known=True)],
            "map": [self._top(self.log_posterior, "posterior", known=True)],
            "mean": [self.mean()],
            "std": [self.std()],
            f"{100 * level:g} % low": [low],
            f"{100 * level:g} % high": [high],
        }
        notes = (f"{len(self.theta):,} values; log evidence {self.log_evidence:.6g}.",)
        return Summary("Posterior on a grid", (Section("", columns),), notes)

    def plot(self, parameter: str = "theta") -> Any:
        """Draw prior, likelihood, their product and the posterior in four panels.

        Parameters
        ----------
        parameter : str
            What the parameter is called.

        Returns
        -------
        altair.FacetChart
            The chart.
        """
        from bottega.plot import four_panel_chart

        # Evenly spaced: the grid crowds at the ends of the support.
        x = np.linspace(self.edges[0], self.edges[-1], 321)[1:-1]
        prior, likelihood, posterior = (
            np.interp(x, self.theta, np.maximum(log, log.max() - 1e4))
            for log in (self.log_prior, self.log_likelihood, self.log_posterior)
        )
        low, high = self.interval()
        return four_panel_chart(
            x,
            np.exp(prior),
            np.exp(likelihood - likelihood.max()),
            np.exp(posterior - posterior.max()),
            np.exp(posterior),
            parameter=parameter,
            subtitle=f"Posterior mean {self.mean():.4g}, 95 % between {low:.4g} and {high:.4g}; "
            f"log evidence {self.log_evidence:.6g}.",
        )


def grid_posterior(
    likelihood: Any,
    prior: Any,
    *,
    support: tuple[float, float] | None = None,
    log: bool = True,
    n_points: int = 2048,
) -> GridPosterior:
    r"""Find the posterior of one parameter for any prior and any likelihood.

    .. math:: p(\theta \mid D) = \frac{p(D \mid \theta)\, p(\theta)}
              {\int p(D \mid \theta)\, p(\theta)\, d\theta}

    is computed in logarithms, so the number of observations has no limit, and integrated by Gauss
    and Legendre's rule on a window around the posterior, which is searched for.

    Parameters
    ----------
    likelihood : callable, or model with one parameter
        ``likelihood(theta)`` returns the log-likelihood of all the data at each of an array of
        values; -inf is allowed. A model such as `BetaBernoulli` stands for its likelihood.
    prior : frozen distribution of `scipy.stats`, or callable
        ``prior(theta)`` returns heights of a density, in any unit: it is normalised. It may be
        infinite at the ends of its support, if its integral is finite. Where it is zero the
        posterior is zero too, whatever the data.
    support : (float, float), optional
        Where a prior that is a function is defined; an end may be infinite.
    log : bool, default=True
        Whether `likelihood` returns logarithms. The likelihood itself underflows to 0 with some
        thousand observations.
    n_points : int, default=2048
        Values in the window, in panels of eight; more cost time and serve posteriors with many
        peaks, steps or corners.

    Returns
    -------
    GridPosterior
        Grid, densities, evidence; moments, intervals, draws, the four-panel picture.

    Raises
    ------
    InputError
        If the prior is negative or does not integrate, a function returns NaN, or prior times
        likelihood is zero everywhere.

    Notes
    -----
    Each round of the search calls both functions with `n_points` values; some five rounds are
    needed. Peaks much narrower than the first grid's spacing, other than the highest found, can be
    missed. For more than two or three parameters grids are no use: draw samples instead.

    References
    ----------
    .. [1] Gelman, A. et al. (2013). Bayesian Data Analysis, third edition, section 10.1.

    Examples
    --------
    Three tails in ten tosses, and a prior of a triangle around a fair coin:

    >>> found = grid_posterior(
    ...     lambda t: 3 * np.log(t) + 7 * np.log1p(-t),
    ...     lambda t: 1 - abs(2 * t - 1),
    ...     support=(0, 1),
    ... )
    >>> round(found.mean(), 4), [round(end, 4) for end in found.interval(0.95)]
    (0.3728, [0.1498, 0.6133])
    """
    Integer(64).check("grid_posterior", "n_points", n_points)
    of_theta = logarithm_of(likelihood, log)
    density = Prior(prior, support)

    def look(edges: FloatArray) -> tuple[FloatArray, ...]:
        theta, weight = rule_on(edges)
        # At an end the nodes are rounded to the end itself, where the prior may be infinite.
        kept = (theta > density.low) & (theta < density.high)
        theta, weight = theta[kept], np.where(kept, weight, 0.0)[kept]
        return theta, weight, density.log_density(theta), of_theta(theta)

    panels = n_points // 8
    low, high = density.first_window()
    for _ in range(_ROUNDS):
        edges = halving_edges(
            low, high, panels, to_low=low == density.low, to_high=high == density.high
        )
        theta, weight, log_prior, log_like = look(edges)
        product = log_prior + log_like
        if not (product > -np.inf).any():
            raise InputError(
                "grid_posterior: prior times likelihood is zero at all values tried, between "
                f"{low:.6g} and {high:.6g}; the prior excludes what the data say, or the "
                "likelihood was not given in logarithms and underflowed."
            )
        window = next_window(theta, product, (low, high), density)
        if window == (low, high):
            break
        low, high = window
    if log and 0 <= log_like.min() < log_like.max() <= 1:
        warnings.warn(
            "grid_posterior: the log-likelihood is between 0 and 1 everywhere, as a likelihood "
            "that is not in logarithms would be; if it is one, pass log=False.",
            DataWarning,
            stacklevel=2,
        )
    return _settled(edges, theta, weight, log_prior, log_like, density)


def _settled(
    edges: FloatArray,
    theta: FloatArray,
    weight: FloatArray,
    log_prior: FloatArray,
    log_like: FloatArray,
    prior: Prior,
) -> GridPosterior:
    """Return the posterior on its last grid."""
    weight = with_ends(edges, theta, weight, log_prior, prior)
    product = log_prior + log_like
    top = float(product.max())
    # Relative to the top: logarithms of many observations have no digits left for their ratios.
    log_posterior = product - top
    log_area = math.log(float(np.exp(log_posterior) @ weight))
    log_posterior -= log_area
    mass = np.exp(log_posterior) * weight
    place = np.searchsorted(edges, theta, side="right") - 1
    below = np.r_[0.0, np.cumsum(np.bincount(place, mass, minlength=len(edges) - 1))]
    return GridPosterior(
        theta=theta,
        weight=weight,
        log_prior=log_prior,
        log_likelihood=log_like,
        log_posterior=log_posterior,
        edges=edges,
        below=np.minimum(below / below[-1], 1.0),
        log_evidence=top + log_area,
    )
