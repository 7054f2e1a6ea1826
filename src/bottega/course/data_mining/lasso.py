"""Lectures 10 and 11: the lasso, its path and its support."""

from functools import partial
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._designs import correlated_design, standardized
from bottega.course._numbers import errors_above
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.linear import (
    AdaptiveLasso,
    Lasso,
    LeastAngle,
    Ridge,
    irrepresentable,
)
from bottega.plot import lines_chart

__all__ = [
    "exact_zeros",
    "lasso_path_by_two_ways",
    "one_standard_error_rule",
    "support_of_the_lasso",
]


@experiment(
    "D-E7",
    claim="The lasso sets coefficients to exactly zero, ridge does not.",
    items="D80",
)
def exact_zeros(
    *, rows: int = 60, inputs: int = 10, designs: int = 15, points: int = 13, random_state: int = 0
) -> Experiment:
    """Count the zeros of both on random designs, from next to no penalty to the strongest.

    Parameters
    ----------
    rows, inputs : int
        Size of each design; inputs are correlated, all have an effect.
    designs : int
        Random designs.
    points : int
        Penalties, as shares of the one that leaves no input in the lasso.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    share = np.geomspace(0.001, 1.0, points)
    count = {"lasso": np.zeros(points), "ridge": np.zeros(points)}
    for _ in range(designs):
        X = correlated_design(rows, inputs, rng)
        y = X @ rng.normal(size=inputs) + rng.normal(size=rows)
        top = float(np.max(np.abs(X.T @ (y - y.mean()))) / rows)
        for i, each in enumerate(share):
            lasso = Lasso(top * float(each)).fit(X, y)
            ridge = Ridge(top * float(each) * rows).fit(X, y)
            count["lasso"][i] += np.sum(lasso.coef_ == 0)
            count["ridge"][i] += np.sum(ridge.coef_ == 0)
    zeros = {name: each / (designs * inputs) for name, each in count.items()}
    holds = (
        np.all(zeros["ridge"] == 0)
        and zeros["lasso"][-1] == 1
        and zeros["lasso"][points // 2] > 0
        and zeros["lasso"][-2] > zeros["lasso"][0]
    )
    middle = points * 3 // 4
    return Experiment(
        columns={"penalty": share, **zeros},
        holds=bool(holds),
        finding=f"at {share[middle]:.0%} of the strongest penalty the lasso has "
        f"{zeros['lasso'][middle]:.0%} of the coefficients at exactly zero, ridge none at any",
        draw=partial(
            lines_chart,
            share,
            zeros,
            x_title="penalty, share of the one that leaves no input in the lasso",
            y_title="share of coefficients that are exactly zero",
            title="The lasso chooses, ridge does not",
            subtitle=f"{designs} random designs of {inputs} inputs",
            log_x=True,
        ),
    )


@experiment(
    "D-E8",
    claim="Whether the lasso finds the support hinges on the irrepresentable condition and on a "
    "penalty of the order of sqrt(log p / n); the adaptive lasso finds it without the condition.",
    items="D83-D85",
    quick={"rows": (100, 1600), "repeats": 6},
)
def support_of_the_lasso(
    *,
    rows: tuple[int, ...] = (100, 400, 1600, 6400),
    repeats: int = 10,
    noise: float = 1.0,
    random_state: int = 0,
) -> Experiment:
    """Look for the true support on the paths of lasso and adaptive lasso, on two designs.

    Three inputs of twenty matter, one of the others leans on all three: by 0.25 each (the
    condition's value 0.75 is below 1) or by 0.45 each (1.35: the lasso takes it in, for any n). A
    support is found where some penalty of the path has exactly the true inputs; where the condition
    fails, that takes an estimate of the wrong sign for the leaning input, so its probability is at
    most 1/2 for any n. At the largest n the same is counted for penalties c sigma sqrt(log p / n).

    Parameters
    ----------
    rows : tuple of int
        Numbers of rows n.
    repeats : int
        Data sets for each.
    noise : float
        Standard deviation sigma of the noise.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    lean = {"condition met": 0.25, "condition violated": 0.45}
    found = {
        f"{method}, {design}": np.zeros(len(rows))
        for design in lean
        for method in ("lasso", "adaptive lasso")
    }
    factors = np.array([0.1, 0.3, 1.0, 2.0, 4.0, 60.0])
    at_factor = np.zeros(len(factors))
    value = {}
    for i, size in enumerate(rows):
        for design, weight in lean.items():
            for r in range(repeats):
                X, y = leaning_design(size, weight, noise, rng)
                if i == len(rows) - 1 and r == 0:
                    value[design] = irrepresentable(X, [0, 1, 2], signs=[1, 1, 1]).value
                path = LeastAngle(0, method="lasso").fit(X, y).coef_path_
                found[f"lasso, {design}"][i] += _holds_support(path) / repeats
                adaptive = AdaptiveLasso(alphas=60, cv=2).path(X, y).coef
                found[f"adaptive lasso, {design}"][i] += _holds_support(adaptive) / repeats
                if i == len(rows) - 1 and design == "condition met":
                    scale = noise * np.sqrt(np.log(X.shape[1]) / size)
                    for k, factor in enumerate(factors):
                        coef = Lasso(float(factor * scale)).fit(X, y).coef_
                        at_factor[k] += _holds_support(coef[None, :]) / repeats
    last = {name: each[-1] for name, each in found.items()}
    holds = (
        value["condition met"] < 1 < value["condition violated"]
        and last["lasso, condition met"] > 0.8
        and last["lasso, condition violated"] < 0.6
        and last["adaptive lasso, condition violated"] > 0.8
        and last["adaptive lasso, condition met"] > 0.8
        and at_factor[0] < 0.5  # too small a penalty lets noise in
        and at_factor.max() > 0.7
        and at_factor[-1] < 0.5  # too large a one loses what matters
    )
    n = np.array(rows)
    return Experiment(
        columns={"rows": n, **found},
        holds=bool(holds),
        finding=f"at n = {rows[-1]:,} the lasso finds the support in "
        f"{last['lasso, condition met']:.0%} of the data sets with the condition met (value "
        f"{value['condition met']:.2f}) and in {last['lasso, condition violated']:.0%} with "
        f"{value['condition violated']:.2f}, the adaptive lasso then in "
        f"{last['adaptive lasso, condition violated']:.0%}; at a penalty c sigma sqrt(log p / n) "
        + ", ".join(f"{s:.0%} (c = {c:g})" for c, s in zip(factors, at_factor, strict=True)),
        draw=partial(
            lines_chart,
            n,
            found,
            x_title="rows",
            y_title="share of data sets whose path holds the true support",
            title="When the lasso finds the support",
            subtitle="A column that imitates the true ones misleads it for good",
            log_x=True,
        ),
    )


def leaning_design(
    n: int, weight: float, noise: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return inputs 0 to 2 that matter, input 3 that leans on them, and inputs of noise."""
    X = rng.normal(size=(n, 20))
    X[:, 3] = weight * X[:, :3].sum(axis=1) + np.sqrt(1 - 3 * weight**2) * X[:, 3]
    X = standardized(X)
    return X, X[:, :3].sum(axis=1) + noise * rng.normal(size=n)


def _holds_support(path: Any) -> bool:
    """Return whether some row has coefficients for inputs 0, 1 and 2 and no others."""
    used = np.asarray(path) != 0
    return bool(np.any(used[:, :3].all(axis=1) & ~used[:, 3:].any(axis=1)))


@experiment(
    "D-E9",
    claim="The path of least angles with drops is the lasso path of coordinate descent; without "
    "drops it is the same until a coefficient comes back to zero; with them it may take more steps "
    "than there are inputs.",
    items="D89-D93",
    quick={"designs": 10},
)
def lasso_path_by_two_ways(
    *, rows: int = 60, inputs: int = 12, designs: int = 30, random_state: int = 0
) -> Experiment:
    """Compare coefficients of both ways at the knots of the path, on correlated random designs.

    (That coordinate descent is the faster one for many inputs is measured by the benchmarks.)

    Parameters
    ----------
    rows, inputs : int
        Size of each design.
    designs : int
        Random designs.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    gap, same_until, steps, drops = [], [], [], []
    for _ in range(designs):
        X = correlated_design(rows, inputs, rng)
        y = X @ rng.normal(size=inputs) + rng.normal(size=rows)
        lasso = LeastAngle(0, method="lasso").fit(X, y)
        plain = LeastAngle(0, method="lar").fit(X, y)
        inner = lasso.alphas_[1:-1]
        descent = np.array(
            [Lasso(float(a), tol=1e-11, max_iter=100_000).fit(X, y).coef_ for a in inner]
        )
        scale = np.abs(lasso.coef_path_[-1]).max()
        gap.append(float(np.max(np.abs(descent - lasso.coef_path_[1:-1])) / scale))
        steps.append(len(lasso.alphas_) - 1)
        drops.append(len(lasso.drops_))
        common = lasso.drops_[0][0] if lasso.drops_ else len(lasso.alphas_)
        before = lasso.coef_path_[:common] - plain.coef_path_[:common]
        same_until.append(float(np.max(np.abs(before)) / scale))
    count, dropped = np.array(steps), np.array(drops)
    holds = (
        max(gap) < 1e-4  # coordinate descent stops at a duality gap, a square of the coefficients
        and max(same_until) < 1e-9
        and np.array_equal(count, inputs + 2 * dropped)
        and count.max() > inputs
    )
    order = np.argsort(-count, kind="stable")
    return Experiment(
        columns={
            "steps": count,
            "drops": dropped,
            "largest gap": gap,
            "gap before the first drop": same_until,
        },
        holds=bool(holds),
        finding=f"over {designs} designs the two ways differ by at most {max(gap):.0e} of the "
        f"largest coefficient, the two modes before the first drop by {max(same_until):.0e}; with "
        f"{inputs} inputs the lasso takes up to {count.max()} steps, two more for each drop",
        draw=partial(
            lines_chart,
            np.arange(1, designs + 1),
            {"steps of the lasso": count[order], "inputs": np.full(designs, inputs)},
            x_title="design, most steps first",
            y_title="steps",
            title="The lasso path may take more steps than there are inputs",
            subtitle="A column that leaves has to come in again: two more steps",
            dashed=("inputs",),
        ),
    )


@experiment(
    "D-E31",
    claim="The rule of one standard error gives simpler models at little cost.",
    items="D94",
)
def one_standard_error_rule(
    *, rows: int = 100, inputs: int = 30, nonzero: int = 4, repeats: int = 25, random_state: int = 0
) -> Experiment:
    """Choose the penalty of the lasso at the least cross-validated error and by the rule.

    The error on new rows is known: sigma^2 + (b - beta)' C (b - beta), C the covariance of inputs.

    Parameters
    ----------
    rows, inputs, nonzero : int
        Size of the data, and inputs with an effect.
    repeats : int
        Data sets.
    random_state : int
        Of the first data set.
    """
    noise, lag = 3.0, 0.3
    size = {"min": np.zeros(repeats), "one_se": np.zeros(repeats)}
    risk = {"min": np.zeros(repeats), "one_se": np.zeros(repeats)}
    null = np.zeros(repeats)
    place = np.arange(inputs)
    C = lag ** np.abs(np.subtract.outer(place, place))
    for r in range(repeats):
        data = make.sparse_linear(
            rows,
            n_features=inputs,
            n_informative=nonzero,
            noise=noise,
            correlation=lag,
            random_state=random_state + r,
        )
        path = Lasso(cv=10).path(data.X, data.y)
        b = data.bayes(np.eye(inputs))
        null[r] = noise**2 + b @ C @ b
        for rule in size:
            coef = np.asarray(path.coef)[path.best(rule)]
            size[rule][r] = np.count_nonzero(coef)
            risk[rule][r] = noise**2 + (coef - b) @ C @ (coef - b)
    worse = risk["one_se"] / risk["min"] - 1
    holds = (
        errors_above(size["min"], size["one_se"]) > 5
        and size["one_se"].mean() < 0.6 * size["min"].mean()
        and worse.mean() < 0.2
        and np.all(size["one_se"] <= size["min"])
    )
    order = np.arange(1, repeats + 1)
    return Experiment(
        columns={
            "data set": order,
            "inputs by min": size["min"],
            "inputs by one_se": size["one_se"],
            "risk by min": risk["min"],
            "risk by one_se": risk["one_se"],
        },
        holds=bool(holds),
        finding=f"the rule keeps {size['one_se'].mean():.1f} inputs instead of "
        f"{size['min'].mean():.1f} ({nonzero} matter) and its error on new rows is "
        f"{worse.mean():.1%} larger (no input at all: {np.mean(null / risk['min']) - 1:.0%})",
        draw=partial(
            lines_chart,
            order,
            {
                "least error": np.sort(size["min"])[::-1],
                "one standard error": np.sort(size["one_se"])[::-1],
                "inputs that matter": np.full(repeats, nonzero),
            },
            x_title="data set, most inputs first",
            y_title="inputs in the model",
            title="Simpler models at little cost",
            subtitle=f"The error on new rows is {worse.mean():.1%} larger on average",
            dashed=("inputs that matter",),
        ),
    )
