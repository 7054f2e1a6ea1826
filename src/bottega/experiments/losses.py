"""Claims about losses and the best possible predictor."""

from functools import partial

import numpy as np

from bottega.experiments.experiment import Experiment, experiment
from bottega.plot import lines_chart
from bottega.risk.finite import FiniteDistribution
from bottega.risk.hypotheses import labellings
from bottega.risk.losses import ABSOLUTE, LOGARITHMIC, QUADRATIC

__all__ = ["best_predictor", "confident_forecasts"]


@experiment(
    "A-E01",
    claim="The logarithmic loss of a wrong forecast grows without limit with its confidence; the "
    "absolute loss stays at most 1.",
    items="A05, A07",
)
def confident_forecasts(*, decades: int = 12) -> Experiment:
    """Forecast the wrong outcome with more and more confidence, and charge both losses.

    A forecast z of y = 0 leaves it the probability 1 - z. Each time that this gets ten times
    smaller the logarithmic loss grows by ln 10; the absolute loss is z, below 1.

    Parameters
    ----------
    decades : int
        How often the probability left to the truth is divided by ten; at most 15, beyond which
        1 - z is not told from 1.
    """
    left = 10.0 ** -np.arange(1, decades + 1)
    absolute = np.maximum(ABSOLUTE(1, left), ABSOLUTE(0, 1 - left))
    # y = 1 is charged -ln z, in which z = `left` is exact; 1 - z would be rounded for y = 0.
    logarithmic = LOGARITHMIC(1, left)
    mirrored = LOGARITHMIC(0, 1 - left)
    steps = np.diff(logarithmic)
    holds = (
        np.all(absolute <= 1)
        and np.allclose(steps, np.log(10), rtol=1e-9)
        # Near 1 the numbers are 1.1e-16 apart, so 1 - z is known to that part of `left`.
        and np.all(np.abs(mirrored - logarithmic) <= 1e-9 + 2.3e-16 / left)
    )
    return Experiment(
        columns={"left to the truth": left, "absolute": absolute, "logarithmic": logarithmic},
        holds=bool(holds),
        finding=f"with {left[-1]:.0e} left to the truth the logarithmic loss is "
        f"{logarithmic[-1]:.2f}, {np.log(10):.3f} more for each decade, the absolute loss "
        f"{absolute[-1]:.6g}",
        draw=partial(
            lines_chart,
            left,
            {"logarithmic": logarithmic, "absolute": absolute},
            x_title="probability that the forecast leaves to the truth",
            y_title="loss",
            title="What a confident wrong forecast costs",
            subtitle="The logarithmic loss grows by ln 10 a decade, the absolute loss stops at 1",
            log_x=True,
        ),
    )


@experiment(
    "A-E11",
    claim="The Bayes predictor has the least risk; its risk is E min(eta, 1 - eta) for classes "
    "and E Var(Y | X), not Var Y, for the quadratic loss; Var Y = E Var(Y | X) + Var E(Y | X).",
    items="A-4.2, A-4.3, A-4.4, A-4.5",
)
def best_predictor(*, points: int = 8, grid: int = 201, seed: int = 0) -> Experiment:
    """Compute the risk of every classifier, and of every number as a prediction at each point.

    X takes `points` values and Y is 0 or 1 with P(Y = 1 | x) = eta(x). All 2^points classifiers
    are tried; for the quadratic loss each point is predicted by every number of a grid. No
    simulation: risks are sums.

    Parameters
    ----------
    points : int
        Values of X.
    grid : int
        Numbers tried as predictions.
    seed : int
        Of the distribution.
    """
    rng = np.random.default_rng(seed)
    marginal = rng.dirichlet(np.full(points, 2.0))
    eta = rng.uniform(size=points)
    eta[0] = 0.5  # a tie, which goes to 1
    joint = marginal[:, None] * np.column_stack([1 - eta, eta])
    classes = FiniteDistribution(joint, labels=(0, 1))
    risks = classes.risks(labellings(points, (1, 0)))
    formula = float(marginal @ np.minimum(eta, 1 - eta))
    numbers = FiniteDistribution(joint, labels=(0, 1), loss=QUADRATIC)
    z = np.linspace(0, 1, grid)
    at_point = QUADRATIC.risk(numbers.labels, numbers.conditional[:, None, :], z)
    within = float(marginal @ (eta * (1 - eta)))
    mean = float(marginal @ eta)
    total = mean * (1 - mean)
    between = float(marginal @ (eta - mean) ** 2)
    least = z[np.argmin(at_point, axis=1)]
    holds = (
        abs(risks.min() - formula) < 1e-12
        and abs(classes.bayes_risk - formula) < 1e-12
        and np.array_equal(classes.bayes, (eta >= 0.5).astype(int))
        and abs(numbers.bayes_risk - within) < 1e-12
        and np.all(np.abs(least - eta) <= 0.5 / (grid - 1) + 1e-12)
        and np.all(at_point.min(axis=1) >= eta * (1 - eta) - 1e-12)
        and abs(total - within - between) < 1e-12
    )
    shown = np.argsort(eta)[[0, points // 2, -1]]
    return Experiment(
        columns={
            "x": np.arange(points),
            "probability": marginal,
            "eta": eta,
            "best label": classes.bayes,
            "least error": np.minimum(eta, 1 - eta),
            "best number": numbers.bayes,
            "least squared error": eta * (1 - eta),
        },
        holds=bool(holds),
        finding=f"the least risk of all {len(risks)} classifiers is {risks.min():.6f} = "
        f"E min(eta, 1 - eta); the least squared error {within:.6f} = E Var(Y | X), while Var Y = "
        f"{total:.6f} has {between:.6f} more, Var E(Y | X)",
        draw=partial(
            lines_chart,
            z,
            {f"eta(x) = {eta[i]:.2f}": at_point[i] for i in shown},
            x_title="prediction",
            y_title="expected squared error at x",
            title="The best prediction at a point is its conditional mean",
            subtitle="Each curve is lowest at eta(x), where it is eta(x) (1 - eta(x))",
            points=False,
        ),
    )
