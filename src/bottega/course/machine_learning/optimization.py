"""Chapter 6: optimisation."""

from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from bottega.core.losses import get_loss
from bottega.core.typing import FloatArray
from bottega.course._numbers import errors_above, without_warnings
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.online import Perceptron
from bottega.optimize import gradient_descent, newton, sgd
from bottega.plot import lines_chart

__all__ = ["descent_is_the_perceptron", "passes_over_the_data"]


@experiment(
    "M-X43",
    claim="Stochastic gradient descent on the loss max(0, eps - y f(x)) with batches of one row "
    "and step 1/n is the perceptron.",
    items="M630-M632",
    verdict="holds only if eps is above 0 and small: with eps = 0 and the strict test nothing ever "
    "happens from a zero start, and with eps = 1 (the hinge) rows inside the margin update too",
)
def descent_is_the_perceptron(
    *, rows: int = 200, max_iter: int = 3, random_state: int = 0
) -> Experiment:
    """Run both side by side on rows that overlap, and compare the weights after every row.

    The loss of a row is eps hinge(y f / eps), so its derivative by f is that of the hinge; the sum
    of n losses, estimated from one row, is n times its loss, and n times the step 1/n is one.

    Parameters
    ----------
    rows : int
        Rows.
    max_iter : int
        Passes.
    random_state : int
        Of the rows.
    """
    data = make.two_gaussians(rows, distance=2.0, random_state=random_state)
    sign = 2.0 * data.y - 1
    hinge = get_loss("hinge")
    margins = {"eps = 1e-9": 1e-9, "eps = 0.1": 0.1, "eps = 1": 1.0}
    descent = {name: np.zeros(3) for name in margins}
    model = Perceptron()
    away: dict[str, list[float]] = {name: [] for name in margins}
    moved = 0
    blind = np.zeros(3)
    for _ in range(max_iter):
        for i in range(rows):
            x = np.append(data.X[i], 1.0)
            model.partial_fit(data.X[[i]], data.y[[i]], classes=[0, 1])
            w = np.append(model.coef_[0], model.intercept_[0])
            for name, eps in margins.items():
                slope = float(hinge.gradient(sign[i], descent[name] @ x / eps))
                descent[name] = descent[name] - slope * x
                away[name].append(float(np.max(np.abs(descent[name] - w))))
            blind = blind + sign[i] * x * (sign[i] * (blind @ x) < 0)
            moved += 1
    step = np.arange(1, moved + 1)
    tiny, some, wide = (np.array(each) for each in away.values())
    holds = tiny.max() == 0 and wide.max() > 0.5 and not np.any(blind) and model.n_updates_ > 10
    return Experiment(
        columns={"rows seen": step, **away},
        holds=bool(holds),
        finding=f"after each of {moved} rows ({model.n_updates_} updates) the weights with eps = "
        f"1e-9 differ from the perceptron's by {tiny.max():g}, with eps = 0.1 by up to "
        f"{some.max():.2f}, with eps = 1 by up to {wide.max():.2f}; with eps = 0 they stay at zero",
        draw=partial(
            lines_chart,
            step,
            away,
            x_title="rows seen",
            y_title="largest difference from the perceptron's weights",
            title="The perceptron is stochastic gradient descent",
            subtitle="With a margin eps just above zero; the hinge (eps = 1) is another learner",
            points=False,
        ),
    )


@experiment(
    "M-X42",
    claim="Stochastic gradient descent needs fewer passes over the data than full descent.",
    items="M629, M633",
    verdict="holds only if a rough answer will do: with a constant step the noise keeps "
    "stochastic descent away from the minimum, which full descent reaches; falling steps go on",
    quick={"repeats": 4},
)
def passes_over_the_data(
    *, rows: int = 1000, passes: int = 60, repeats: int = 10, random_state: int = 0
) -> Experiment:
    """Fit a logistic regression with a ridge penalty by full gradients and by batches of ten rows.

    Full descent takes steps of 1/L, stochastic descent steps of a fifth of it, or steps that begin
    at 1/L and fall with the root of their number.

    Parameters
    ----------
    rows : int
        Rows.
    passes : int
        Passes over the data.
    repeats : int
        Draws of rows and batches.
    random_state : int
        Of all of them.
    """
    gaps: dict[str, FloatArray] = {
        name: np.zeros((repeats, passes + 1))
        for name in ("full", "stochastic, constant steps", "stochastic, falling steps")
    }
    full, constant, falling = gaps.values()
    for k in range(repeats):
        rng = np.random.default_rng([random_state, k])
        loss = _RidgeLogistic(rng, rows)
        start = np.zeros(5)
        least = newton(loss.whole, start, gradient=True).value
        known = {"gradient": True, "max_iter": passes, "tol": 0.0}
        longest = 1 / loss.smoothness
        plain = without_warnings(
            gradient_descent, loss.whole, start, line_search="fixed", learning_rate=longest, **known
        )
        some = {"reduction": "mean", "batch_size": 10, "random_state": k, **known}
        fixed = without_warnings(sgd, loss, start, rows, learning_rate=longest / 5, **some)
        slower = without_warnings(
            sgd, loss, start, rows, learning_rate=longest, schedule="invscaling", **some
        )
        for found, run in zip(gaps.values(), (plain, fixed, slower), strict=True):
            found[k] = (run.trace.values - least) / (run.trace.values[0] - least)
    needed = {name: np.argmax(each <= 0.05, axis=1) for name, each in gaps.items()}
    few, many = (needed[name].mean() for name in ("stochastic, falling steps", "full"))
    parts = [
        Proof("gap after one pass, full and constant steps", full[:, 1].mean(),
              constant[:, 1].mean(), errors_above(full[:, 1], constant[:, 1]) > 3),
        Proof("gap after one pass, full and falling steps", full[:, 1].mean(),
              falling[:, 1].mean(), errors_above(full[:, 1], falling[:, 1]) > 3),
        Proof("passes to 5 % of the gap, full and falling steps", many, few, many > 2 * few > 0),
        Proof(f"gap after {passes} passes, constant steps and full", constant[:, -1].mean(),
              full[:, -1].mean(), errors_above(constant[:, -1], full[:, -1]) > 2),
        Proof("the same, constant and falling steps", constant[:, -1].mean(),
              falling[:, -1].mean(), errors_above(constant[:, -1], falling[:, -1]) > 2),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"after one pass {full[:, 1].mean():.0%} of the gap is left with full gradients "
        f"and {constant[:, 1].mean():.1%} with batches; 5 % is reached in {many:.1f} and {few:.1f} "
        f"passes; after {passes} passes {full[:, -1].mean():.0e} is left with full gradients, "
        f"{constant[:, -1].mean():.0e} with batches and constant steps, "
        f"{falling[:, -1].mean():.0e} with falling ones",
        draw=partial(
            lines_chart,
            np.arange(passes + 1),
            {name: np.median(each, axis=0) for name, each in gaps.items()},
            x_title="passes over the data",
            y_title="share of the first gap",
            title="Batches are ahead at first, full gradients in the end",
            subtitle="Logistic regression, medians; falling steps keep the lead longer",
            log_y=True,
            points=False,
        ),
    )


class _RidgeLogistic:
    """The mean logistic loss of rows with a ridge penalty, and its gradient."""

    def __init__(self, rng: np.random.Generator, rows: int) -> None:
        X = rng.normal(size=(rows, 5)) * np.geomspace(1, 0.2, 5)
        signs = np.where(X @ np.full(5, 2.0) + rng.logistic(size=rows) > 0, 1.0, -1.0)
        self.Z, self.alpha = signs[:, None] * X, 0.01
        self.smoothness = 0.25 * float(np.linalg.eigvalsh(X.T @ X / rows)[-1]) + self.alpha

    def __call__(self, w: FloatArray, rows: Any) -> tuple[float, FloatArray]:
        Z = self.Z[rows]
        margins = Z @ w
        slope = -(Z.T @ expit(-margins)) / len(Z) + self.alpha * w
        return float(np.mean(np.logaddexp(0, -margins)) + self.alpha / 2 * w @ w), slope

    def whole(self, w: FloatArray) -> tuple[float, FloatArray]:
        return self(w, slice(None))
