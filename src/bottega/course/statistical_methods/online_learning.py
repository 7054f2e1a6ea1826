"""Chapter 10: mistake bounds and regret."""

from functools import partial

import numpy as np

from bottega.core.losses import HINGE
from bottega.course._numbers import log_slope
from bottega.course.experiment import Experiment, experiment
from bottega.online import OnlineGradientDescentRegressor, Perceptron
from bottega.plot import lines_chart
from bottega.risk.bounds import (
    ogd_regret,
    ogd_strongly_convex_regret,
    perceptron_mistakes,
)

__all__ = ["mistake_bound", "regret_rates"]


@experiment(
    "A-E30",
    claim="On any stream and for every u the perceptron makes at most "
    "H + (||u||X)^2 + ||u||X sqrt(H) mistakes, H the summed hinge loss of u.",
    items="A66",
)
def mistake_bound(
    *,
    flips: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5),
    rows: int = 500,
    streams: int = 20,
    columns: int = 5,
    random_state: int = 0,
) -> Experiment:
    """Run the perceptron over streams with more and more flipped labels, against several u.

    The comparators are multiples of the direction that made the labels, a random direction and
    zero, for which the bound is the number of rows.

    Parameters
    ----------
    flips : tuple of float
        Shares of flipped labels; at 0.5 they are coin tosses.
    rows : int
        Rows of a stream.
    streams : int
        Streams of each kind.
    columns : int
        Columns.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    scales = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0])
    mistakes, best = np.zeros((len(flips), streams)), np.zeros((len(flips), streams))
    least = np.inf
    for i, share in enumerate(flips):
        for s in range(streams):
            X = rng.uniform(-1, 1, size=(rows, columns))
            direction = rng.normal(size=columns)
            direction /= np.linalg.norm(direction)
            X += np.sign(X @ direction)[:, None] * 0.1 * direction
            y = np.where(X @ direction > 0, 1, -1) * np.where(rng.uniform(size=rows) < share, -1, 1)
            y[:2] = [-1, 1]  # a stream is read in one pass, with both labels known
            model = Perceptron(max_iter=1, fit_intercept=False).fit(X, y)
            other = rng.normal(size=columns)
            u = np.vstack([np.outer(scales, direction), other])
            hinge = HINGE(y, u @ X.T).sum(axis=1)
            bound = np.asarray(
                perceptron_mistakes(
                    hinge, np.linalg.norm(u, axis=1), np.linalg.norm(X, axis=1).max()
                )
            )
            mistakes[i, s] = model.n_updates_
            best[i, s] = bound.min()
            least = min(least, float(np.min(bound - model.n_updates_)))
    return Experiment(
        columns={
            "flipped": np.array(flips),
            "mistakes": mistakes.mean(axis=1),
            "least bound": best.mean(axis=1),
        },
        holds=bool(least >= 0),
        finding=f"in {len(flips) * streams} streams of {rows} rows no bound of "
        f"{len(scales) + 1} comparators is passed (nearest: {least:.0f} mistakes more allowed); "
        f"mean mistakes {mistakes.mean(axis=1)[0]:.0f} without flips and "
        f"{mistakes.mean(axis=1)[-1]:.0f} with coin tosses",
        draw=partial(
            lines_chart,
            flips,
            {
                "mistakes": mistakes.mean(axis=1),
                "least bound of the comparators": best.mean(axis=1),
                "rows": np.full(len(flips), rows),
            },
            x_title="share of flipped labels",
            y_title="mistakes in one pass",
            title="Mistakes of the perceptron on any stream",
            subtitle=f"Means of {streams} streams of {rows} rows",
            dashed=("least bound of the comparators", "rows"),
        ),
    )


@experiment(
    "A-E31",
    claim="The average regret of online gradient descent falls as 1/sqrt(T) for convex and as "
    "ln(T)/T for strongly convex losses.",
    items="A71, A74",
)
def regret_rates(
    *,
    rounds: tuple[int, ...] = (30, 100, 300, 1000, 3000, 10000),
    sigma: float = 2.0,
    streams: int = 40,
    random_state: int = 0,
) -> Experiment:
    """Toss coins y = -1, +1 and predict them by one number w, with and without a penalty.

    In the ball ``|w| <= 1`` the absolute loss ``|y - w| = 1 - y w`` is linear, the hard case of the
    first bound. With the penalty (sigma/2) w^2, sigma above 1, it is strongly convex where the
    iterates are. The best fixed w is known in both cases, so the regret is exact.

    Parameters
    ----------
    rounds : tuple of int
        Rounds T.
    sigma : float
        Penalty, above 1.
    streams : int
        Streams that regrets are averaged over.
    random_state : int
        Of the coins.
    """
    rng = np.random.default_rng(random_state)
    T = np.array(rounds)
    convex, strong = np.zeros((streams, len(T))), np.zeros((streams, len(T)))
    steepest = np.zeros((streams, 2))
    for s in range(streams):
        y = rng.choice([-1.0, 1.0], size=rounds[-1])
        ones = np.ones((len(y), 1))
        mean = np.cumsum(y)[T - 1] / T
        ball = OnlineGradientDescentRegressor(
            loss="absolute_error",
            projection="ball",
            radius=1.0,
            gradient_bound=1.0,
            fit_intercept=False,
        )
        charged = np.cumsum(ball.learn_block(ones, y))[T - 1] / T
        convex[s] = charged - (1 - np.abs(mean))
        penalised = OnlineGradientDescentRegressor(
            loss="absolute_error", learning_rate="strongly_convex", alpha=sigma, fit_intercept=False
        )
        charged = np.cumsum(penalised.learn_block(ones, y))[T - 1] / T
        strong[s] = charged - (1 - mean**2 / (2 * sigma))
        steepest[s] = ball.max_gradient_, penalised.max_gradient_
    G = steepest.max(axis=0)
    convex_bound = np.asarray(ogd_regret(1.0, G[0], T))
    strong_bound = np.asarray(ogd_strongly_convex_regret(G[1], sigma, T))
    mean_convex, mean_strong = convex.mean(axis=0), strong.mean(axis=0)
    slopes = log_slope(T, mean_convex), log_slope(T, mean_strong / (1 + np.log(T)))
    holds = (
        np.all(convex <= convex_bound + 1e-12)
        and np.all(strong <= strong_bound + 1e-12)
        # Means of 40 streams; the slopes' standard errors are below 0.04.
        and abs(slopes[0] + 0.5) < 0.15
        and abs(slopes[1] + 1) < 0.15
    )
    return Experiment(
        columns={
            "rounds": T,
            "regret, convex": mean_convex,
            "bound, convex": convex_bound,
            "regret, strongly convex": mean_strong,
            "bound, strongly convex": strong_bound,
        },
        holds=bool(holds),
        finding=f"log average regret against log T has slope {slopes[0]:.2f} for linear losses; "
        f"divided by 1 + ln T it has {slopes[1]:.2f} for strongly convex ones; no stream passes "
        "its bound",
        draw=partial(
            lines_chart,
            T,
            {
                "convex": mean_convex,
                "bound U G sqrt(8/T)": convex_bound,
                "strongly convex": mean_strong,
                "bound G^2 (1 + ln T)/(2 sigma T)": strong_bound,
            },
            x_title="rounds T",
            y_title="average regret",
            title="Regret of online gradient descent",
            subtitle=f"Coin tosses, means of {streams} streams",
            log_x=True,
            log_y=True,
            dashed=("bound U G sqrt(8/T)", "bound G^2 (1 + ln T)/(2 sigma T)"),
        ),
    )
