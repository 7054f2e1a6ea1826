"""Claims about complexity: overfitting curves, and the choice of a degree."""

from functools import partial

import numpy as np

from bottega.basis import Polynomial
from bottega.core.smoother import gaussian_criteria
from bottega.core.typing import BoolArray, FloatArray
from bottega.data import make
from bottega.experiments.experiment import Experiment, experiment
from bottega.linear import LeastSquares
from bottega.plot import lines_chart
from bottega.tree import TreeClassifier

__all__ = [
    "choosing_a_degree",
    "overfitting_curve",
    "tree_depth_curve",
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
    *, rows: int = 30, noise: float = 0.3, repeats: int = 400, seed: int = 0
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
    seed : int
        Of the noise.
    """
    rng = np.random.default_rng(seed)
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
    *, rows: int = 60, noise: float = 0.5, top: int = 10, repeats: int = 300, seed: int = 0
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
    seed : int
        Of the noise, the split and the folds.
    """
    rng = np.random.default_rng(seed)
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
    "M-X12",
    claim="As a tree grows, its accuracy on the training rows goes to 100 % while that on "
    "validation rows rises and then falls.",
    items="M221",
)
def tree_depth_curve(
    *, rows: int = 400, validation: int = 4000, flip: float = 0.2, seed: int = 0
) -> Experiment:
    """Prune one full tree to each size and score it on the training and on validation rows.

    Parameters
    ----------
    rows, validation : int
        Training and validation rows.
    flip : float
        Share of training labels turned round: what there is to overfit.
    seed : int
        Of all draws.
    """
    rng = np.random.default_rng(seed)
    data = make.nested_spheres(rows, seed=seed)
    new = make.nested_spheres(validation, seed=seed + 1)
    y = np.where(rng.uniform(size=rows) < flip, 1 - data.y, data.y)
    full = TreeClassifier(0.0).fit(data.X, y).tree_.n_leaves
    leaves = np.unique(np.geomspace(1, full, 16).astype(int))
    train, held = np.zeros(len(leaves)), np.zeros(len(leaves))
    for i, k in enumerate(leaves):
        model = TreeClassifier(n_leaves=int(k), prune_by="impurity").fit(data.X, y)
        train[i] = np.mean(model.predict(data.X) == y)
        held[i] = np.mean(model.predict(new.X) == new.y)
    best = int(np.argmax(held))
    error = 0.5 / np.sqrt(validation)
    holds = (
        train[-1] == 1
        and np.all(np.diff(train) >= -1e-12)
        and 0 < best < len(leaves) - 1
        and held[best] > held[0] + 5 * error
        and held[best] > held[-1] + 5 * error
    )
    return Experiment(
        columns={"leaves": leaves, "training": train, "validation": held},
        holds=bool(holds),
        finding=f"the full tree of {full} leaves is right on all training rows and on "
        f"{held[-1]:.1%} of the validation rows; the best has {leaves[best]} leaves and is right "
        f"on {held[best]:.1%}",
        draw=partial(
            lines_chart,
            leaves,
            {"training rows": train, "validation rows": held},
            x_title="leaves",
            y_title="accuracy",
            title="100 % on the training rows marks a tree not to use",
            subtitle=f"{flip:.0%} of the training labels are wrong",
            log_x=True,
        ),
    )
