"""Lectures 8 to 10: collinearity, subsets, principal components, ridge."""

from functools import partial
from typing import Any

import numpy as np
from scipy.stats import t as student

from bottega.core.likelihood import gaussian_criteria
from bottega.course._designs import equicorrelated_design
from bottega.course._numbers import errors_above
from bottega.course.experiment import Experiment, experiment
from bottega.linear import (
    Lasso,
    LeastSquares,
    PrincipalComponentsRegression,
    Ridge,
    SubsetSelection,
)
from bottega.plot import dots_chart, lines_chart

__all__ = [
    "collinear_inputs",
    "components_ignore_the_response",
    "forward_and_backward",
    "ridge_beats_least_squares",
]


@experiment(
    "D-E5",
    claim="Correlated inputs inflate the variance of coefficients and hide effects that are there.",
    items="D58",
)
def collinear_inputs(
    *,
    correlations: tuple[float, ...] = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99),
    rows: int = 50,
    effect: float = 0.6,
    repeats: int = 500,
    random_state: int = 0,
) -> Experiment:
    """Bring two inputs nearer and nearer to one another.

    With two inputs of correlation rho the standard deviation of either coefficient is
    sigma / sqrt(n (1 - rho^2)): the variance inflation factor is 1 / (1 - rho^2). The power is the
    share of data sets whose test finds the first effect at 5 %.

    Parameters
    ----------
    correlations : tuple of float
        Correlations rho of the two inputs, met exactly.
    rows : int
        Rows.
    effect : float
        Coefficient of both; the noise has standard deviation 1.
    repeats : int
        Data sets for each correlation.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    spread, power = np.zeros(len(correlations)), np.zeros(len(correlations))
    noise = rng.normal(size=(rows, repeats))
    critical = student.ppf(0.975, rows - 3)
    for i, each in enumerate(correlations):
        X = equicorrelated_design(rows, 2, each, np.random.default_rng(random_state + 1))
        model = LeastSquares().fit(X, effect * X.sum(axis=1)[:, None] + noise)
        first = model.coef_[:, 0]
        spread[i] = first.std(ddof=1)
        error = model.sigma_ / np.sqrt(rows * (1 - each**2))
        power[i] = np.mean(np.abs(first / error) > critical)
    rho = np.array(correlations)
    theory = 1 / np.sqrt(rows * (1 - rho**2))
    # A simulated standard deviation is off by 1 / sqrt(2 repeats) of itself.
    holds = (
        np.all(np.abs(spread / theory - 1) < 5 / np.sqrt(2 * repeats))
        and np.all(np.diff(spread) > 0)
        and power[0] > 0.9
        and power[-1] < 0.25
    )
    return Experiment(
        columns={
            "correlation": rho,
            "standard deviation": spread,
            "theory": theory,
            "power": power,
        },
        holds=bool(holds),
        finding=f"from correlation 0 to {rho[-1]:g} the standard deviation of a coefficient grows "
        f"{spread[-1] / spread[0]:.1f} times (theory {theory[-1] / theory[0]:.1f}) and the share "
        f"of data sets that find the effect falls from {power[0]:.0%} to {power[-1]:.0%}",
        draw=partial(
            lines_chart,
            rho,
            {"standard deviation of a coefficient": spread, "theory": theory, "power": power},
            x_title="correlation of the two inputs",
            y_title="standard deviation; share of data sets",
            title="Correlated inputs hide their effects",
            subtitle=f"{rows} rows, {repeats} data sets for each correlation",
            dashed=("theory",),
        ),
    )


@experiment(
    "D-E6",
    claim="Some ridge penalty above zero has a smaller mean squared error than least squares, and "
    "choosing a subset varies more from sample to sample than shrinking.",
    items="D71, D75",
    quick={"repeats": 60, "samples": 12},
)
def ridge_beats_least_squares(
    *,
    rows: int = 40,
    inputs: int = 10,
    correlation: float = 0.7,
    effect: float = 0.3,
    repeats: int = 200,
    samples: int = 40,
    random_state: int = 0,
) -> Experiment:
    """Sweep the penalty, and compare how coefficients move when rules see other noise.

    The mean squared error of the coefficients of ridge is known exactly: with X'X = V D V' the
    squared bias is ``alpha^2 ||V'b / (D + alpha)||^2`` and the variance
    ``sigma^2 sum D / (D + alpha)^2``.

    Parameters
    ----------
    rows, inputs : int
        Size of the design, which is the same in all samples.
    correlation : float
        Correlation of every two inputs.
    effect : float
        Coefficient of each input: many small effects. The noise has standard deviation 1.
    repeats : int
        Data sets of the sweep.
    samples : int
        Data sets on which subset selection (by AIC), ridge and lasso (by GCV) are compared.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    X = equicorrelated_design(rows, inputs, correlation, rng)
    truth = np.full(inputs, effect)
    Y = (X @ truth)[:, None] + rng.normal(size=(rows, repeats))
    penalties = np.concatenate([[0.0], np.geomspace(0.1, 1000, 25)])
    error, exact = np.zeros(len(penalties)), np.zeros(len(penalties))
    D, V = np.linalg.eigh(X.T @ X)
    for i, alpha in enumerate(penalties):
        model = LeastSquares() if alpha == 0 else Ridge(float(alpha), standardize=False)
        error[i] = np.mean(np.sum((model.fit(X, Y).coef_ - truth) ** 2, axis=1))
        bias = np.sum((alpha * (V.T @ truth) / (D + alpha)) ** 2)
        exact[i] = bias + np.sum(D / (D + alpha) ** 2)
    rules: dict[str, Any] = {
        "best subset": SubsetSelection(select="aic", cv=2),
        "lasso": Lasso(select="gcv", cv=2),
        "ridge": Ridge(select="gcv"),
    }
    coef = {
        name: np.array([rule.fit(X, Y[:, r]).coef_ for r in range(samples)])
        for name, rule in rules.items()
    }
    moved = {name: np.sum((each - each.mean(axis=0)) ** 2, axis=1) for name, each in coef.items()}
    best = int(np.argmin(exact))
    holds = (
        best > 0
        and error[best] < 0.5 * error[0]
        and np.all(np.abs(error / exact - 1) < 0.2)  # 200 data sets settle a mean to some 5 %
        and errors_above(moved["best subset"], moved["ridge"]) > 3
        and errors_above(moved["best subset"], moved["lasso"]) > 3
    )
    return Experiment(
        columns={"penalty": penalties, "error": error, "exact": exact},
        holds=bool(holds),
        finding=f"the mean squared error falls from {error[0]:.2f} to {error[best]:.2f} at penalty "
        f"{penalties[best]:.3g}; the total variance of the coefficients is "
        + ", ".join(f"{each.mean():.2f} ({name})" for name, each in moved.items()),
        draw=partial(
            lines_chart,
            penalties[1:],
            {
                "ridge": error[1:],
                "exact": exact[1:],
                "least squares": np.full(len(penalties) - 1, error[0]),
            },
            x_title="penalty",
            y_title="mean squared error of the coefficients",
            title="A little bias for a lot of variance",
            subtitle=f"{inputs} small effects of correlated inputs, {rows} rows",
            log_x=True,
            log_y=True,
            dashed=("exact", "least squares"),
        ),
    )


@experiment(
    "D-E30",
    claim="Principal components ignore the response: regression on them fails where a component of "
    "little variance carries the signal, and ridge is their smooth version.",
    items="D69, D77",
)
def components_ignore_the_response(
    *, rows: int = 100, inputs: int = 8, repeats: int = 20, random_state: int = 0
) -> Experiment:
    """Put the signal on the first component or on the last, and count the error by components.

    The fit of ridge is U diag(d^2 / (d^2 + alpha)) U'y where that of J components has ones and
    zeros.

    Parameters
    ----------
    rows, inputs : int
        Size of the design; the standard deviations of the components halve from one to the next.
    repeats : int
        Data sets.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    turn = np.linalg.qr(rng.normal(size=(inputs, inputs)))[0]
    scale = 2.0 ** -np.arange(inputs)
    counts = np.arange(1, inputs + 1)
    risk = {"signal on the first": np.zeros(inputs), "signal on the last": np.zeros(inputs)}
    ridge_risk, smooth = 0.0, 0.0
    for _ in range(repeats):
        Z = rng.normal(size=(rows, inputs))
        X = (Z * scale) @ turn.T
        for name, j in zip(risk, (0, inputs - 1), strict=True):
            truth = 2 * Z[:, j]
            y = truth + rng.normal(size=rows)
            for k in counts:
                model = PrincipalComponentsRegression(int(k), standardize=False).fit(X, y)
                risk[name][k - 1] += np.mean((model.predict(X) - truth) ** 2) / repeats
        ridge = Ridge(1.0, standardize=False).fit(X, y)
        U, d, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        direct = y.mean() + U @ (d**2 / (d**2 + 1.0) * (U.T @ (y - y.mean())))
        smooth = max(smooth, float(np.max(np.abs(direct - ridge.predict(X)))))
        tuned = Ridge(select="gcv", standardize=False).fit(X, y)
        ridge_risk += float(np.mean((tuned.predict(X) - truth) ** 2)) / repeats
    first, last = risk.values()
    holds = (
        np.argmin(first) == 0
        and np.argmin(last) == inputs - 1
        and np.all(last[:-1] > 10 * last[-1])
        and smooth < 1e-9
    )
    return Experiment(
        columns={"components": counts, **risk},
        holds=bool(holds),
        finding=f"with the signal on the last component the error is {last[-2]:.2f} until that "
        f"component is in, then {last[-1]:.3f} (ridge with its penalty by GCV: {ridge_risk:.3f}); "
        f"with it on the first, {first[0]:.3f} with one component; ridge weighs components by "
        f"d^2 / (d^2 + alpha) to {smooth:.0e}",
        draw=partial(
            lines_chart,
            counts,
            risk,
            x_title="components",
            y_title="mean squared error of the fit",
            title="Components are built without looking at the response",
            subtitle="The same inputs, with the signal on the first or on the last component",
            log_y=True,
        ),
    )


@experiment(
    "D-E39",
    claim="Forward selection tends to smaller models than backward, and is possible with more "
    "inputs than rows.",
    items="D63, D64",
    verdict="holds only if the walk stops at the first step that gains nothing: along the whole "
    "path forward ends with the larger model where inputs work in pairs, and with unrelated inputs "
    "both choose the same size",
)
def forward_and_backward(
    *, rows: int = 60, inputs: int = 12, repeats: int = 60, random_state: int = 0
) -> Experiment:
    """Choose by BIC along both paths, with unrelated inputs and with effects in opposed pairs.

    Two nearly equal inputs with opposite effects explain little one by one and much together. Added
    one at a time they do not seem worth it, so a walk that stops at the first step that raises the
    criterion stops too early; one that goes on has taken in others before it finds them. Backward
    starts from all and keeps them.

    Parameters
    ----------
    rows, inputs : int
        Size of the data.
    repeats : int
        Data sets of each kind.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    kinds = ("unrelated inputs", "opposed pairs")
    rules = ("forward, stopped", "backward, stopped", "forward, whole path", "backward, whole path")
    size = {(kind, rule): np.zeros(repeats) for kind in kinds for rule in rules}
    for r in range(repeats):
        for kind in kinds:
            X = rng.normal(size=(rows, inputs))
            effect = 1.0
            if kind == "opposed pairs":
                X[:, [1, 3]] = X[:, [0, 2]] + 0.15 * X[:, [1, 3]]
                effect = 5.0
            y = effect * (X[:, 0] - X[:, 1] + X[:, 2] - X[:, 3]) + rng.normal(size=rows)
            for method in ("forward", "backward"):
                rss = SubsetSelection(inputs, method=method).fit(X, y).rss_
                bic = gaussian_criteria(rss, np.arange(1, inputs + 2), rows)["bic"]
                walk = bic if method == "forward" else bic[::-1]
                rises = np.flatnonzero(np.diff(walk) > 0)
                steps = int(rises[0]) if len(rises) else inputs
                stopped = steps if method == "forward" else inputs - steps
                size[kind, f"{method}, stopped"][r] = stopped
                size[kind, f"{method}, whole path"][r] = np.argmin(bic)
    wide = rng.normal(size=(20, 40))
    response = wide[:, 0] * 3 + rng.normal(size=20)
    chosen = SubsetSelection(5, method="forward").fit(wide, response)
    mean = {key: float(each.mean()) for key, each in size.items()}
    pairs = {rule: size["opposed pairs", rule] for rule in rules}
    alone = [mean["unrelated inputs", rule] for rule in rules]
    holds = (
        errors_above(pairs["backward, stopped"], pairs["forward, stopped"]) > 4
        and errors_above(pairs["forward, whole path"], pairs["backward, whole path"]) > 4
        and np.ptp(alone) < 0.6
        and 0 in chosen.support_
    )
    means = {kind: [mean[kind, rule] for rule in rules] for kind in kinds}
    return Experiment(
        columns={"rule": list(rules), **means},
        holds=bool(holds),
        finding="mean sizes are "
        + "; ".join(
            kind + ": " + ", ".join(f"{mean[kind, rule]:.2f} ({rule})" for rule in rules)
            for kind in kinds
        )
        + "; with 40 inputs and 20 rows forward has the true input among its first five",
        draw=partial(
            dots_chart,
            rules,
            means,
            x_title="mean number of inputs chosen by BIC",
            title="Forward stops early where inputs work in pairs",
            subtitle=f"{inputs} inputs, of which four matter",
        ),
    )
