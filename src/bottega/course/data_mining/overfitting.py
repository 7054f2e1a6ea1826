"""Lectures 5 to 7: overfitting, splits, cross-validation, information criteria."""

from functools import partial

import numpy as np
from scipy.stats import f as fisher

from bottega.basis import Polynomial
from bottega.core.likelihood import gaussian_criteria
from bottega.core.typing import BoolArray, FloatArray
from bottega.course.experiment import Experiment, experiment
from bottega.linear import LeastSquares
from bottega.neighbors import NearestNeighborsRegressor
from bottega.plot import lines_chart

__all__ = [
    "choosing_a_degree",
    "cost_of_a_superfluous_parameter",
    "overfitting_curve",
    "time_ordered_split",
]


def _truth(x: FloatArray) -> FloatArray:
    """Return a smooth curve that no polynomial of low degree is equal to."""
    return np.asarray(np.sin(2 * np.pi * x) + 0.5 * np.exp(x))


def _powers(x: FloatArray, degree: int) -> FloatArray:
    """Return the columns of a polynomial without its constant (none for degree 0)."""
    if degree == 0:
        return np.zeros((len(x), 1))
    return np.asarray(Polynomial(degree).fit(x[:, None]).transform(x[:, None]))


@experiment(
    "D-E3",
    "M-X23",
    claim="Training error falls all the way with complexity while the error on new data falls and "
    "then rises: squared bias goes down, variance up, and they add up to the expected squared "
    "deviation from the truth.",
    items="D37-D42, M416",
)
def overfitting_curve(
    *, rows: int = 30, noise: float = 0.3, repeats: int = 400, random_state: int = 0
) -> Experiment:
    """Fit polynomials of every degree to the same places again and again with new noise.

    New data are new responses at the same places. Then the variance of a degree d is exactly
    sigma^2 (d + 1) / n, the squared bias never rises with d (the models are nested), and degree
    n - 1 goes through every point: training error 0, error on new data 2 sigma^2.

    Parameters
    ----------
    rows : int
        Places, evenly spaced on [0, 1]; degrees go up to rows - 1.
    noise : float
        Standard deviation of the noise.
    repeats : int
        Data sets.
    random_state : int
        Of the noise.
    """
    rng = np.random.default_rng(random_state)
    x = (np.arange(rows) + 0.5) / rows
    truth = _truth(x)[:, None]
    old = truth + noise * rng.normal(size=(rows, repeats))
    new = truth + noise * rng.normal(size=(rows, repeats))
    degrees = np.arange(rows)
    train, fresh, bias, variance, deviation = (np.zeros(rows) for _ in range(5))
    for d in degrees:
        design = _powers(x, int(d))
        fitted = LeastSquares().fit(design, old).predict(design)
        mean = fitted.mean(axis=1, keepdims=True)
        train[d] = np.mean((old - fitted) ** 2)
        fresh[d] = np.mean((new - fitted) ** 2)
        bias[d] = np.mean((mean - truth) ** 2)
        variance[d] = np.mean((fitted - mean) ** 2)
        deviation[d] = np.mean((fitted - truth) ** 2)
    best = int(np.argmin(fresh))
    exact = noise**2 * (degrees + 1) / rows
    # The simulated variance has a relative error of about sqrt(2 / (repeats (d + 1))).
    spread = np.sqrt(2 / (repeats * (degrees + 1)))
    holds = (
        np.all(np.diff(train) <= 1e-12)
        and train[-1] < 1e-12
        and 0 < best < rows - 1
        and fresh[0] > 1.5 * fresh[best] < fresh[-1]
        and np.allclose(bias + variance, deviation, rtol=1e-10, atol=1e-13)
        and np.all(np.diff(variance) > 0)
        and np.all(np.diff(bias - exact / repeats) < 1e-3 * bias[0])
        and np.all(np.abs(variance / exact - 1) < 5 * spread)
    )
    return Experiment(
        columns={
            "degree": degrees,
            "training error": train,
            "error on new data": fresh,
            "squared bias": bias,
            "variance": variance,
            "squared deviation": deviation,
        },
        holds=bool(holds),
        finding=f"training error falls from {train[0]:.3f} to {train[-1]:.1e} at degree "
        f"{rows - 1}; the error on new data is least at degree {best} ({fresh[best]:.3f}) and "
        f"{fresh[-1]:.3f} at the end; bias^2 + variance equals the squared deviation to "
        f"{np.max(np.abs(bias + variance - deviation)):.0e}",
        draw=partial(
            lines_chart,
            degrees,
            {
                "training error": train,
                "error on new data": fresh,
                "squared bias": bias,
                "variance": variance,
            },
            x_title="degree of the polynomial",
            y_title="mean squared error",
            title="Never judge a model by the data it was fitted to",
            subtitle=f"{rows} places, {repeats} data sets; the best degree is {best}",
        ),
    )


@experiment(
    "D-E4",
    claim="Leave-one-out by leverages is exact; the degrees that a split, folds, leave-one-out, "
    "AIC, AICc, BIC and Hannan-Quinn choose scatter around the best one.",
    items="D43-D56",
)
def choosing_a_degree(
    *, rows: int = 60, noise: float = 0.5, top: int = 10, repeats: int = 300, random_state: int = 0
) -> Experiment:
    """Let eight rules choose the degree of a polynomial on many data sets.

    The best degree of a data set (the oracle's) has the least distance from the truth, which only a
    simulation knows. What a rule costs is the mean distance of its choices above the oracle's. AIC
    errs on the side of too many terms, BIC of too few.

    Parameters
    ----------
    rows : int
        Places, evenly spaced; a quarter of them validates in the split form.
    noise : float
        Standard deviation of the noise.
    top : int
        Largest degree.
    repeats : int
        Data sets, over the same places and with the same split and folds.
    random_state : int
        Of the noise, the split and the folds.
    """
    rng = np.random.default_rng(random_state)
    x = (np.arange(rows) + 0.5) / rows
    truth = _truth(x)[:, None]
    Y = truth + noise * rng.normal(size=(rows, repeats))
    held = np.arange(rows) % 4 == 1
    fold = np.arange(rows) * 7 % 10
    score: dict[str, list[FloatArray]] = {}
    loss, shortcut = [], 0.0
    for d in range(top + 1):
        design = _powers(x, d)
        model = LeastSquares().fit(design, Y)
        smoother = model.smoother_
        criteria = gaussian_criteria(smoother.rss, smoother.df, rows)
        for name in ("aic", "aicc", "bic", "hq"):
            score.setdefault(name, []).append(criteria[name])
        score.setdefault("leave-one-out", []).append(np.mean(smoother.loo_residuals**2, axis=0))
        score.setdefault("split", []).append(_held_out(design, Y, held))
        parts = [_held_out(design, Y, fold == k) for k in range(10)]
        score.setdefault("10 folds", []).append(np.mean(parts, axis=0))
        loss.append(np.mean((smoother.fitted - truth) ** 2, axis=0))
        for i in (0, rows // 2):  # the shortcut against a fit without the row
            keep = np.arange(rows) != i
            left = Y[i] - LeastSquares().fit(design[keep], Y[keep]).predict(design[[i]])[0]
            shortcut = max(shortcut, float(np.max(np.abs(left - smoother.loo_residuals[i]))))
    losses = np.array(loss)
    oracle = np.argmin(losses, axis=0)
    center = int(np.bincount(oracle).argmax())
    names = list(score)
    picked = {name: np.argmin(np.array(score[name]), axis=0) for name in names}
    cost = {
        name: float(np.mean(losses[picked[name], np.arange(repeats)] / losses.min(axis=0)))
        for name in names
    }
    mode = {name: int(np.bincount(picked[name]).argmax()) for name in names}
    holds = (
        shortcut < 1e-8  # two ways to the same number in double precision
        and all(abs(mode[name] - center) <= 1 for name in names)
        and all(len(np.unique(picked[name])) > 1 for name in names)
        and picked["aic"].mean() > picked["bic"].mean()
        and picked["aic"].mean() > picked["aicc"].mean()
    )
    degrees = np.arange(top + 1)
    share = {
        name: np.bincount(each, minlength=top + 1) / repeats
        for name, each in {"oracle": oracle, **picked}.items()
    }
    return Experiment(
        columns={"degree": degrees, **share},
        holds=bool(holds),
        finding=f"the oracle's degree is mostly {center}; the rules' most frequent choices are "
        + ", ".join(f"{name} {mode[name]}" for name in names)
        + "; their loss is "
        + ", ".join(f"{cost[name]:.2f} ({name})" for name in names)
        + f" times the oracle's; the shortcut is exact to {shortcut:.0e}",
        draw=partial(
            lines_chart,
            degrees,
            share,
            x_title="degree chosen",
            y_title="share of data sets",
            title="Rules that choose a degree scatter around the best",
            subtitle=f"{repeats} data sets of {rows} rows",
            dashed=("oracle",),
        ),
    )


def _held_out(design: FloatArray, Y: FloatArray, held: BoolArray) -> FloatArray:
    """Return the mean squared errors of all responses on rows left out of the fit."""
    model = LeastSquares().fit(design[~held], Y[~held])
    return np.asarray(np.mean((Y[held] - model.predict(design[held])) ** 2, axis=0))


@experiment(
    "D-E28",
    claim="A superfluous parameter gains on average about 1 on the scale of -2 log-likelihood, as "
    "a chi-squared variable with one degree of freedom; a penalty must ask for more than that.",
    items="D52",
)
def cost_of_a_superfluous_parameter(
    *, rows: int = 100, repeats: int = 2000, random_state: int = 0
) -> Experiment:
    """Add a column of noise to a right model and see by how much twice the log-likelihood rises.

    With the scale estimated the gain is n log(RSS_0 / RSS_1), a little above chi-squared(1) for
    small n. AIC (a penalty of 2) lets the column in where the gain is above 2, a share of 0.157; a
    penalty of 1 in 0.317; BIC's log n in 0.032 at n = 100.

    Parameters
    ----------
    rows : int
        Rows.
    repeats : int
        Data sets, all with the same inputs.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(rows, 3))
    Y = (X[:, :2] @ [1.0, -1.0])[:, None] + rng.normal(size=(rows, repeats))
    small = LeastSquares().fit(X[:, :2], Y).smoother_
    large = LeastSquares().fit(X, Y).smoother_
    gain = rows * np.log(small.rss / large.rss)
    penalty = np.linspace(0, 8, 33)
    entered = np.array([np.mean(gain > each) for each in penalty])
    # The gain is n log(1 + F / (n - 4)) with F of Fisher's F(1, n - 4).
    exact = fisher.sf((rows - 4) * np.expm1(penalty / rows), 1, rows - 4)
    error = np.sqrt(exact * (1 - exact) / repeats)
    mean, mean_error = gain.mean(), gain.std() / np.sqrt(repeats)
    # The mean of n log(1 + F / (n - 4)) is n / (n - 5) to first order in 1 / n: 1.05 at n = 100.
    holds = (
        np.all(np.abs(entered - exact) <= 4.5 * error + 1e-12)
        and abs(mean - 1) < 4 * mean_error + 6 / rows
        and np.all(gain >= 0)
    )
    shown = {"log(n)": np.log(rows), "2": 2.0, "1": 1.0}
    shares = ", ".join(f"{np.mean(gain > at):.3f} at {name}" for name, at in shown.items())
    return Experiment(
        columns={"penalty": penalty, "entered": entered, "exact": exact},
        holds=bool(holds),
        finding=f"the mean gain of a column of noise is {mean:.3f} (standard error "
        f"{mean_error:.3f}); by penalty it enters in a share of {shares}",
        draw=partial(
            lines_chart,
            penalty,
            {"share of data sets": entered, "Fisher's F": exact},
            x_title="penalty of a parameter",
            y_title="share in which the column enters",
            title="What a superfluous parameter costs",
            subtitle=f"Mean gain {mean:.2f} on the scale of -2 log-likelihood",
            dashed=("Fisher's F",),
        ),
    )


@experiment(
    "D-E40",
    claim="A random split leaks for time series, a split by time does not: the last part is held "
    "out, not parts from in between.",
    items="D44",
)
def time_ordered_split(
    *,
    rows: int = 400,
    persistence: float = 0.95,
    k: int = 3,
    repeats: int = 60,
    random_state: int = 0,
) -> Experiment:
    """Predict a slowly moving series from its dates, judge by both splits, then see the future.

    The series is y_t = a y_(t-1) + e_t. Near dates have near values, so nearest neighbours in time
    predict held-out rows in between well; the future has no rows near it. The honest number is the
    error on a stretch after the last row, of the length of the part held out.

    Parameters
    ----------
    rows : int
        Length of the series; a quarter is held out.
    persistence : float
        The coefficient a.
    k : int
        Neighbours.
    repeats : int
        Series.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    held = rows // 4
    shocks = rng.normal(size=(repeats, rows + held)) * np.sqrt(1 - persistence**2)
    y = np.zeros_like(shocks)
    y[:, 0] = rng.normal(size=repeats)
    for t in range(1, rows + held):
        y[:, t] = persistence * y[:, t - 1] + shocks[:, t]
    date = np.arange(rows + held, dtype=float)[:, None]
    error: dict[str, list[float]] = {"random split": [], "last part": [], "future": []}
    for series in y:
        chosen = np.zeros(rows, dtype=bool)
        chosen[rng.permutation(rows)[:held]] = True
        late = np.arange(rows) >= rows - held
        past = date[:rows], series[:rows]
        for name, out in (("random split", chosen), ("last part", late)):
            model = NearestNeighborsRegressor(k).fit(past[0][~out], past[1][~out])
            error[name].append(np.mean((model.predict(past[0][out]) - past[1][out]) ** 2))
        model = NearestNeighborsRegressor(k).fit(*past)
        error["future"].append(np.mean((model.predict(date[rows:]) - series[rows:]) ** 2))
    mean = {name: float(np.mean(each)) for name, each in error.items()}
    spread = {name: float(np.std(each) / np.sqrt(repeats)) for name, each in error.items()}
    gap = np.subtract(error["last part"], error["future"])
    holds = mean["random split"] < 0.25 * mean["future"] and abs(gap.mean()) < 4 * gap.std(
        ddof=1
    ) / np.sqrt(repeats)
    order = np.arange(1, repeats + 1)
    return Experiment(
        columns={"series": order, **error},
        holds=bool(holds),
        finding="the mean squared error is "
        + ", ".join(f"{mean[name]:.2f} (se {spread[name]:.2f}) by {name}" for name in error),
        draw=partial(
            lines_chart,
            order,
            {name: np.sort(each) for name, each in error.items()},
            x_title="series, in the order of its error",
            y_title="mean squared error",
            title="A random split leaks the neighbours of held-out dates",
            subtitle="Only the split by time is as pessimistic as the future",
            log_y=True,
            points=False,
        ),
    )
