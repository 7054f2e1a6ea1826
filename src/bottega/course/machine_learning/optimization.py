"""Chapter 6: optimisation."""

from functools import partial

import numpy as np

from bottega.core.losses import get_loss
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.online import Perceptron
from bottega.plot import lines_chart

__all__ = ["descent_is_the_perceptron"]


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
