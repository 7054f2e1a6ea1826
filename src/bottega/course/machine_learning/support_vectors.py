"""Chapter 8: margins and support vectors."""

from functools import partial
from typing import Any

import numpy as np

from bottega.classify import hyperplane
from bottega.core.typing import FloatArray, IntArray
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.kernel import GaussianKernel, SupportVectorClassifier
from bottega.online import Perceptron
from bottega.plot import dots_chart, lines_chart

__all__ = [
    "cost_of_slack",
    "hinge_and_dual",
    "only_support_vectors",
    "slack_bounds_errors",
    "widest_margin",
]


def machine(C: float = 1.0, kernel: Any = "linear") -> SupportVectorClassifier:
    """Return a machine that is solved to the last digits, without probabilities."""
    return SupportVectorClassifier(C, kernel=kernel, tol=1e-8, probability=False)


@experiment(
    "M-X48",
    claim="The margin of the support vector machine is at least that of any perceptron.",
    items="M801, M805",
)
def widest_margin(
    *, samples: int = 5, rows: int = 60, orders: int = 20, random_state: int = 0
) -> Experiment:
    """Run the perceptron on separable rows in many orders, and measure how far its planes stay.

    The margin is the distance of the closest row from the plane. The widest is found twice: by the
    dual problem of support vectors, and by the quadratic program that they come from.

    Parameters
    ----------
    samples : int
        Separable samples.
    rows : int
        Rows of a sample.
    orders : int
        Orders of the rows.
    random_state : int
        Of the first sample.
    """
    widest, program, best, worst = np.zeros((4, samples))
    for s in range(samples):
        data = make.separable(rows, margin=0.1, random_state=random_state + s)
        rng = np.random.default_rng(random_state + s)
        model = machine(np.inf).fit(data.X, data.y)
        widest[s] = hyperplane.margin(model.coef_[0], model.intercept_[0], data.X, data.y)
        program[s] = hyperplane.minimum_norm_separator(data.X, data.y).margin(data.X, data.y)
        found = []
        for _ in range(orders):
            order = rng.permutation(rows)
            other = Perceptron(max_iter=2000, until_clean=True).fit(data.X[order], data.y[order])
            found.append(hyperplane.margin(other.coef_[0], other.intercept_[0], data.X, data.y))
        best[s], worst[s] = max(found), min(found)
    holds = np.all(worst > 0) and np.all(best < widest) and np.allclose(widest, program, rtol=1e-6)
    count = np.arange(1, samples + 1)
    return Experiment(
        columns={"sample": count, "widest": widest, "perceptron, best": best, "worst": worst},
        holds=bool(holds),
        finding=f"in {samples} samples the margins of {orders} perceptrons are at most "
        f"{np.max(best / widest):.0%} of the widest, and on average {np.mean(worst / widest):.0%} "
        "in the worst order",
        draw=partial(
            dots_chart,
            [f"sample {s}" for s in count],
            {"support vectors": widest, "perceptron, best order": best, "worst order": worst},
            x_title="distance of the closest row",
            title="No perceptron has a wider margin",
            subtitle=f"{orders} orders of {rows} separable rows",
        ),
    )


@experiment(
    "M-X49",
    claim="Only the support vectors matter: without the other rows the plane is the same.",
    items="M810, M811, M817",
)
def only_support_vectors(*, rows: int = 120, random_state: int = 0) -> Experiment:
    """Delete the rows that are no support vectors and fit again, then delete one that is.

    Parameters
    ----------
    rows : int
        Rows.
    random_state : int
        Of the rows.
    """
    rng = np.random.default_rng(random_state)
    parted = make.separable(rows, margin=0.2, random_state=random_state)
    mixed = make.two_gaussians(rows, distance=2.0, random_state=random_state)
    ringed = make.xor(rows, cluster_std=0.5, random_state=random_state)
    cases = {
        "hard margin": (parted, machine(np.inf)),
        "soft margin": (mixed, machine()),
        "Gaussian kernel": (ringed, machine(kernel=GaussianKernel(1.0))),
    }
    kept: list[int] = []
    without_others: list[float] = []
    without_one: list[float] = []
    for data, model in cases.values():
        points = rng.normal(size=(200, 2))
        whole = model.fit(data.X, data.y).decision_function(points)
        support, strength = model.support_, np.abs(model.dual_coef_[0])
        others = np.delete(np.arange(rows), support[np.argmax(strength)])
        kept.append(len(support))
        for rest, change in ((support, without_others), (others, without_one)):
            again = model.fit(data.X[rest], data.y[rest]).decision_function(points)
            change.append(float(np.max(np.abs(again - whole)) / np.max(np.abs(whole))))
    holds = max(kept) < rows and max(without_others) < 1e-5 and min(without_one) > 1e-3
    names = list(cases)
    return Experiment(
        columns={
            "case": names,
            "support vectors": kept,
            "change without the others": without_others,
            "change without one support vector": without_one,
        },
        holds=bool(holds),
        finding=f"{', '.join(map(str, kept))} of {rows} rows are support vectors "
        f"({', '.join(names)}); without all others the decision changes by "
        f"{max(without_others):.0e} at most, without one support vector by "
        f"{min(without_one):.1g} at least",
        draw=partial(
            dots_chart,
            names,
            {"without all others": without_others, "without one support vector": without_one},
            x_title="largest change of the decision function, relative",
            title="Only the support vectors matter",
            subtitle="Fitted again without the other rows, and without one support vector",
            log_x=True,
        ),
    )


@experiment(
    "M-X50",
    claim="The summed slack is at least the number of errors on the training rows.",
    items="M812, M814",
)
def slack_bounds_errors(
    *,
    costs: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 100.0),
    rows: int = 200,
    random_state: int = 0,
) -> Experiment:
    """Sum the slacks max(0, 1 - y f(x)) on rows that overlap, for several C.

    A row on the wrong side has a slack of 1 or more, every other one of 0 or more.

    Parameters
    ----------
    costs : tuple of float
        Values of C.
    rows : int
        Rows.
    random_state : int
        Of the rows.
    """
    data = make.two_gaussians(rows, distance=1.5, random_state=random_state)
    sign = 2.0 * data.y - 1
    total, errors, inside, least_wrong = [], [], [], []
    for C in costs:
        model = machine(C).fit(data.X, data.y)
        value = sign * model.decision_function(data.X)
        slack = np.maximum(0, 1 - value)
        wrong = model.predict(data.X) != data.y
        total.append(float(slack.sum()))
        errors.append(int(wrong.sum()))
        inside.append(int(np.sum((slack > 0) & (slack < 1))))
        least_wrong.append(float(slack[wrong].min()))
    holds = (
        all(t >= e for t, e in zip(total, errors, strict=True))
        and min(least_wrong) >= 1 - 1e-9
        and min(inside) > 0
        and bool(np.all(np.diff(total) <= 1e-6 * rows))
    )
    return Experiment(
        columns={"C": np.array(costs), "summed slack": total, "errors": errors, "inside": inside},
        holds=bool(holds),
        finding="summed slack and errors: "
        + ", ".join(
            f"{t:.1f} and {e} (C = {C:g})" for C, t, e in zip(costs, total, errors, strict=True)
        )
        + f"; the least slack of a row on the wrong side is {min(least_wrong):.3f}",
        draw=partial(
            lines_chart,
            costs,
            {"summed slack": total, "errors": errors},
            x_title="C",
            y_title="sum over the training rows",
            title="The slack is above the number of errors",
            subtitle="Two normal classes that overlap",
            log_x=True,
        ),
    )


@experiment(
    "M-X51",
    claim="With C to infinity the margin is hard; with C to zero it is wide, and the machine "
    "underfits.",
    items="M818",
)
def cost_of_slack(
    *,
    costs: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e4),
    rows: int = 80,
    points: int = 2000,
    random_state: int = 0,
) -> Experiment:
    """Walk along C on separable rows, of which the means are no guide to the plane.

    The width of the margin is 2 / ||w||. It does not grow with C.

    Parameters
    ----------
    costs : tuple of float
        Values of C, increasing.
    rows, points : int
        Training and new rows.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    X, y = _thin_strips(rows, rng)
    new, label = _thin_strips(points, rng)
    hard_width = float(machine(np.inf).fit(X, y).margin_)
    width, train, test = [], [], []
    for C in costs:
        model = machine(C).fit(X, y)
        width.append(float(model.margin_))
        train.append(float(np.mean(model.predict(X) != y)))
        test.append(float(np.mean(model.predict(new) != label)))
    holds = (
        bool(np.all(np.diff(width) <= 1e-4 * np.array(width[:-1])))
        and abs(width[-1] / hard_width - 1) < 1e-4
        and width[0] > 20 * hard_width
        and train[0] > 0.1
        and train[-1] == 0
        and test[0] > test[-1] + 0.1
    )
    return Experiment(
        columns={"C": np.array(costs), "width": width, "training error": train, "error": test},
        holds=bool(holds),
        finding=f"from C = {costs[0]:g} to {costs[-1]:g} the width falls from {width[0]:.3g} to "
        f"{width[-1]:.3g} (hard margin {hard_width:.3g}) and the error on new rows from "
        f"{test[0]:.3f} to {test[-1]:.3f}",
        draw=partial(
            lines_chart,
            costs,
            {"width of the margin": width, "hard margin": np.full(len(costs), hard_width)},
            x_title="C",
            y_title="width of the margin",
            title="From a wide margin to the hard one",
            subtitle="Separable rows; with a small C the machine underfits",
            log_x=True,
            log_y=True,
            dashed=("hard margin",),
        ),
    )


def _thin_strips(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Return two long strips side by side, shifted along: a small input separates them."""
    y = np.arange(n) % 2
    along = 3 * rng.normal(size=n) + np.where(y == 1, 1.5, -1.5)
    across = rng.uniform(0.1, 0.4, size=n) * np.where(y == 1, 1.0, -1.0)
    return np.column_stack([along, across]), y


@experiment(
    "M-X52",
    claim="The hinge form and the dual have the same optimum.",
    items="M816, M819",
)
def hinge_and_dual(
    *, C: float = 1.0, rows: int = 100, steps: int = 3000, random_state: int = 0
) -> Experiment:
    """Descend the hinge form, and compare with the dual that support vectors solve.

    Hinge form: 1/2 ||w||^2 + C sum of max(0, 1 - y f(x)). Dual: sum of alpha - 1/2 ||w||^2 with
    w = sum of alpha y x, 0 <= alpha <= C and sum of alpha y = 0. Every value of the hinge form is
    above every value of the dual.

    Parameters
    ----------
    C : float
        Weight of the slack.
    rows : int
        Rows.
    steps : int
        Steps of subgradient descent; step t is the subgradient over t + 10 C.
    random_state : int
        Of the rows.
    """
    data = make.two_gaussians(rows, distance=2.0, random_state=random_state)
    sign = 2.0 * data.y - 1
    model = machine(C).fit(data.X, data.y)
    alpha = np.zeros(rows)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    w = (alpha * sign) @ data.X
    dual = float(alpha.sum() - w @ w / 2)
    primal = _hinge_form(w, model.intercept_[0], data.X, sign, C)
    shown = np.unique(np.geomspace(1, steps, 40).astype(int))
    u, b, best, along = np.zeros(2), 0.0, np.inf, []
    for t in range(1, steps + 1):
        short = sign * (data.X @ u + b) < 1
        step = 1 / (t + 10 * C)
        u = u - step * (u - C * (sign * short) @ data.X)
        b = b + step * C * float(np.sum(sign * short))
        best = min(best, _hinge_form(u, b, data.X, sign, C))
        along.append(best)
    values = np.array(along)[shown - 1]
    feasible = bool(
        np.all(alpha >= 0) and np.all(alpha <= C * (1 + 1e-12)) and abs(alpha @ sign) < 1e-8 * rows
    )
    holds = (
        feasible
        and -1e-9 * primal < primal - dual < 1e-6 * primal
        and np.all(values >= dual * (1 - 1e-9))
        and values[-1] < 1.02 * dual
    )
    return Experiment(
        columns={"steps": shown, "hinge form": values, "dual": np.full(len(shown), dual)},
        holds=bool(holds),
        finding=f"the dual optimum is {dual:.6f}, the hinge form at its plane {primal:.6f}; "
        f"subgradient descent reaches {values[-1]:.6f} after {steps} steps and never less than "
        "the dual",
        draw=partial(
            lines_chart,
            shown,
            {"hinge form, by descent": values, "dual optimum": np.full(len(shown), dual)},
            x_title="steps of subgradient descent",
            y_title="objective",
            title="The hinge form comes down to the dual",
            subtitle=f"C = {C:g}, {rows} rows",
            log_x=True,
            dashed=("dual optimum",),
            points=False,
        ),
    )


def _hinge_form(w: FloatArray, b: float, X: FloatArray, sign: FloatArray, C: float) -> float:
    return float(w @ w / 2 + C * np.sum(np.maximum(0, 1 - sign * (X @ w + b))))
