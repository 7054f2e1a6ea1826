"""Chapter 3: estimates of a coin and their priors."""

from functools import partial

import numpy as np
from scipy.integrate import quad
from scipy.stats import beta as beta_distribution

from bottega.course._numbers import log_slope
from bottega.course.experiment import Experiment, experiment
from bottega.plot import lines_chart
from bottega.probability import BetaBernoulli, GridPosterior, grid_posterior

__all__ = ["flat_prior", "posterior_leaves_prior", "three_estimates_of_a_coin", "zero_prior"]


def estimates(tails: float, heads: float, a: float, b: float) -> tuple[float, float, float]:
    """Return the maximum likelihood, the posterior mode and the probability of tails next.

    Examples
    --------
    >>> [round(each, 4) for each in estimates(4, 8, 5, 5)]
    [0.3333, 0.4, 0.4091]
    """
    coin = BetaBernoulli(a, b).update([1, 0], sample_weight=[tails, heads])
    return coin.mle(), coin.map(), coin.mean()


@experiment(
    "M-X17",
    claim="Maximum likelihood, posterior mode and the fully Bayesian forecast come together as "
    "data grow: their differences fall as 1/N.",
    items="M307, M315, M323, M324",
)
def three_estimates_of_a_coin(
    *, share: float = 0.2, a: float = 5.0, b: float = 5.0, decades: int = 5
) -> Experiment:
    """Compute the three for more and more flips with the same share of tails.

    Parameters
    ----------
    share : float
        Share of tails.
    a, b : float
        Prior Beta(a, b).
    decades : int
        Flips go from 10 to 10^decades.
    """
    flips = 10 ** np.arange(1, decades + 1)
    found = np.array([estimates(share * n, (1 - share) * n, a, b) for n in flips])
    gap = np.abs(found - found[:, :1])[:, 1:]
    slope = [log_slope(flips[1:], gap[1:, j]) for j in range(2)]
    worked = {
        (4, 8): (4 / 12, 8 / 20, 9 / 22),
        (304, 306): (304 / 610, 308 / 618, 309 / 620),
    }
    exact = max(
        abs(x - y)
        for counts, values in worked.items()
        for x, y in zip(estimates(*counts, 5, 5), values, strict=True)
    )
    holds = all(abs(each + 1) < 0.05 for each in slope) and exact < 1e-12
    return Experiment(
        columns={
            "flips": flips,
            "maximum likelihood": found[:, 0],
            "posterior mode": found[:, 1],
            "fully Bayesian": found[:, 2],
        },
        holds=bool(holds),
        finding=f"after {flips[0]} flips the three are {', '.join(f'{x:.3f}' for x in found[0])}, "
        f"after {flips[-1]:,} {', '.join(f'{x:.5f}' for x in found[-1])}; the differences fall as "
        f"N^{slope[0]:.2f} and N^{slope[1]:.2f}",
        draw=partial(
            lines_chart,
            flips,
            {"posterior mode": gap[:, 0], "fully Bayesian": gap[:, 1]},
            x_title="flips",
            y_title="distance from maximum likelihood",
            title="The prior is forgotten as 1/N",
            subtitle=f"Prior Beta({a:g}, {b:g}), share of tails {share:g}",
            log_x=True,
            log_y=True,
        ),
    )


@experiment(
    "M-X18",
    claim="Where the prior is zero the posterior is zero, whatever the data.",
    items="M309",
)
def zero_prior(*, truth: float = 0.8, above: float = 0.6, decades: int = 4) -> Experiment:
    """Give a coin that shows tails in 80 % a prior that rules out more than 60 %.

    The posterior is computed on a grid. It gathers at the edge of what the prior allows, the more
    data the closer, and never comes to the truth.

    Parameters
    ----------
    truth : float
        Share of tails in the data.
    above : float
        The prior is uniform below and zero from there on.
    decades : int
        Flips go from 10 to 10^decades.
    """
    flips = 10 ** np.arange(1, decades + 1)
    beyond, mean, free = (np.zeros(len(flips)) for _ in range(3))
    for i, n in enumerate(flips):
        posterior = _posterior(truth * n, (1 - truth) * n, above)
        beyond[i] = posterior.mass[posterior.theta >= above].sum()
        mean[i] = posterior.mean()
        free[i] = _posterior(truth * n, (1 - truth) * n, 1.0).mean()
    holds = (
        np.all(beyond == 0)
        and np.all(np.diff(mean) > 0)
        and mean[-1] < above
        and mean[-1] > above - 0.01
        and abs(free[-1] - truth) < 0.001
    )
    return Experiment(
        columns={"flips": flips, "mass beyond": beyond, "mean": mean, "mean, uniform prior": free},
        holds=bool(holds),
        finding=f"after {flips[-1]:,} flips with a share of {truth:g} the posterior mean is "
        f"{mean[-1]:.4f}, at the edge {above:g} of the prior, with probability 0 beyond; with a "
        f"uniform prior {free[-1]:.4f}",
        draw=partial(
            lines_chart,
            flips,
            {
                f"prior zero above {above:g}": mean,
                "uniform prior": free,
                "share in the data": np.full(len(flips), truth),
            },
            x_title="flips",
            y_title="posterior mean",
            title="What the prior rules out, no data bring back",
            subtitle="The posterior gathers at the edge of what is allowed",
            log_x=True,
            dashed=("share in the data",),
        ),
    )


def _posterior(tails: float, heads: float, above: float) -> GridPosterior:
    """Return the posterior of a coin whose prior is uniform below a value and zero above it."""
    return grid_posterior(
        lambda theta: tails * np.log(theta) + heads * np.log1p(-theta),
        lambda theta: np.where(theta < above, 1.0, 0.0),
        support=(0, 1),
    )


@experiment(
    "M-X19",
    claim="As data come in the posterior leaves the prior and approaches the likelihood; a better "
    "prior gets there faster.",
    items="M310",
    verdict="holds only if there are data enough: with a wrong prior the overlap with the "
    "likelihood first falls a little, as both grow sharp while they are still apart",
)
def posterior_leaves_prior(
    *,
    share: float = 0.2,
    flips: tuple[int, ...] = (5, 20, 50, 200, 500, 2000, 10_000),
    points: int = 4000,
) -> Experiment:
    """Measure how much the posterior overlaps the prior and the scaled likelihood.

    The overlap of two densities is the integral of the lesser of them: 1 if they are the same, 0 if
    they have nothing in common. Two priors are tried: Beta(12, 4), which believes in 3/4, and
    Beta(4, 12), which is nearly right.

    Parameters
    ----------
    share : float
        Share of tails in the data.
    flips : tuple of int
        Numbers of flips.
    points : int
        Points of the grid that integrals are sums over.
    """
    theta = (np.arange(points) + 0.5) / points
    priors = {"wrong prior": (12.0, 4.0), "good prior": (4.0, 12.0)}
    with_prior = {name: np.zeros(len(flips)) for name in priors}
    with_data = {name: np.zeros(len(flips)) for name in priors}
    for name, (a, b) in priors.items():
        before = beta_distribution.pdf(theta, a, b)
        for i, count in enumerate(flips):
            tails, heads = share * count, (1 - share) * count
            after = beta_distribution.pdf(theta, a + tails, b + heads)
            likelihood = beta_distribution.pdf(theta, 1 + tails, 1 + heads)
            with_prior[name][i] = np.minimum(before, after).mean()
            with_data[name][i] = np.minimum(likelihood, after).mean()
    wrong, good = with_data["wrong prior"], with_data["good prior"]
    holds = (
        np.all(np.diff(wrong[1:]) > 0)
        and wrong[1] < wrong[0]
        and np.all(np.diff(good) > 0)
        and np.all(np.diff(with_prior["wrong prior"]) < 0)
        and wrong[-1] > 0.85
        and with_prior["wrong prior"][-1] < 0.01
        and np.all(good > wrong)
    )
    n = np.array(flips)
    return Experiment(
        columns={
            "flips": n,
            "overlap with a wrong prior": with_prior["wrong prior"],
            "overlap with the likelihood": wrong,
            "overlap with a good prior": with_prior["good prior"],
            "with the likelihood, good prior": good,
        },
        holds=bool(holds),
        finding=f"from {n[0]} to {n[-1]:,} flips the overlap of the posterior with a wrong prior "
        f"falls from {with_prior['wrong prior'][0]:.2f} to {with_prior['wrong prior'][-1]:.1e} and "
        f"that with the likelihood rises from {wrong[0]:.2f} to {wrong[-1]:.2f} (from "
        f"{good[0]:.2f} to {good[-1]:.2f} with a good prior)",
        draw=partial(
            lines_chart,
            n,
            {
                "with the likelihood, wrong prior": wrong,
                "with the likelihood, good prior": good,
                "with the wrong prior": with_prior["wrong prior"],
                "with the good prior": with_prior["good prior"],
            },
            x_title="flips",
            y_title="overlap of the posterior",
            title="From the prior to the likelihood",
            subtitle="A better prior gets there faster",
            log_x=True,
        ),
    )


@experiment(
    "M-X20",
    claim="With a uniform prior the posterior mode is the maximum likelihood estimate, and the "
    "posterior mode is the mode of a Beta distribution.",
    items="M315-M317, M320",
)
def flat_prior(*, trials: int = 100, random_state: int = 0) -> Experiment:
    """Draw counts and priors, and find the mode of the posterior on a grid.

    Parameters
    ----------
    trials : int
        Pairs of counts and priors.
    random_state : int
        Of the draws.
    """
    rng = np.random.default_rng(random_state)
    theta = (np.arange(10_000) + 0.5) / 10_000
    same, mode, constant = 0.0, 0.0, 0.0
    rows = []
    for _ in range(trials):
        tails, heads = (int(each) for each in rng.integers(1, 60, size=2))
        a, b = (float(each) for each in rng.uniform(1, 8, size=2))
        likelihood, _, _ = estimates(tails, heads, 1, 1)
        flat = estimates(tails, heads, 1, 1)[1]
        found = estimates(tails, heads, a, b)[1]
        density = beta_distribution.pdf(theta, tails + a, heads + b)
        same = max(same, abs(flat - likelihood))
        mode = max(mode, abs(theta[np.argmax(density)] - found))
        rows.append((likelihood, found, theta[np.argmax(density)]))
    # The constant of one posterior by an integral, and by the pattern of the Beta.
    integral = quad(lambda t: t ** (3 + 4) * (1 - t) ** (7 + 4), 0, 1)[0]
    exact = np.exp(beta_distribution.logpdf(0.5, 8, 12) - 7 * np.log(0.5) - 11 * np.log(0.5))
    constant = abs(exact * integral - 1)
    holds = same == 0 and mode <= 0.51 / 10_000 + 1e-12 and constant < 1e-9
    table = np.array(sorted(rows))
    order = np.arange(1, trials + 1)
    return Experiment(
        columns={
            "maximum likelihood": table[:, 0],
            "posterior mode": table[:, 1],
            "mode on a grid": table[:, 2],
        },
        holds=bool(holds),
        finding=f"with a uniform prior the two estimates differ by {same:g} in {trials} trials; "
        f"the formula of the mode and the highest point of a grid of step 1e-4 by {mode:.1e}; the "
        f"normalising constant by an integral and by the Beta by {constant:.0e}",
        draw=partial(
            lines_chart,
            order,
            {"maximum likelihood": table[:, 0], "posterior mode": table[:, 1]},
            x_title="trial, by its share of tails",
            y_title="estimate",
            title="A prior pulls estimates towards itself",
            subtitle="With a uniform prior the two would be the same",
        ),
    )
