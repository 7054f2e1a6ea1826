"""Neural networks of the notes on data mining: gradients, batches, overfitting and starts."""

from functools import partial
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.neural import NetworkRegressor, Node
from bottega.plot import lines_chart

__all__ = ["network_starts", "vanishing_gradients"]


def _wave(
    rows: int, noise: float, rng: np.random.Generator, rate: float = 1.5
) -> tuple[FloatArray, FloatArray]:
    x = rng.uniform(-3, 3, size=(rows, 1))
    return x, np.sin(rate * x[:, 0]) + noise * rng.normal(size=rows)


def _few_of_many(
    rows: int, noise: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return eight columns, of which two count."""
    X = rng.normal(size=(rows, 8))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + noise * rng.normal(size=rows)


@experiment(
    "D-E20",
    claim="Gradients of sigmoids and of tanh vanish with depth, those of rectifiers do not; small "
    "batches are faster; dropout, decay and early stopping overfit less.",
    items="D232-D239",
    verdict="holds only if weights start at a scale that suits the activation: with Xavier's, "
    "gradients of tanh hardly vanish",
    quick={"repeats": 3},
)
def vanishing_gradients(
    *, depth: int = 10, width: int = 30, repeats: int = 5, random_state: int = 0
) -> Experiment:
    """Measure gradients layer by layer, losses after equal epochs, and errors on new rows.

    Parameters
    ----------
    depth, width : int
        Size of the networks whose gradients are measured.
    repeats : int
        Draws of data for the errors.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    lines = {
        "sigmoid": _by_layer("sigmoid", np.sqrt(1 / width), depth, width, rng),
        "tanh, small start": _by_layer("tanh", 0.5 * np.sqrt(1 / width), depth, width, rng),
        "tanh, Xavier": _by_layer("tanh", np.sqrt(1 / width), depth, width, rng),
        "relu, He": _by_layer("relu", np.sqrt(2 / width), depth, width, rng),
    }
    share = {name: float(sizes[0] / sizes[-1]) for name, sizes in lines.items()}
    x, y = _wave(600, 0.1, rng)
    after = {
        size: float(
            NetworkRegressor(
                (30,), batch_size=size, max_iter=20, learning_rate="constant",
                learning_rate_init=0.01, activation="tanh",
            ).fit(x, y).loss_
        )
        for size in (20, 600)
    }  # fmt: skip
    means: dict[str, dict[str, Any]] = {
        "none": {},
        "decay": {"alpha": 5.0},
        "dropout": {"drop": 0.5},
        "early stopping": {"early_stopping": True, "validation_fraction": 0.25},
    }
    errors: dict[str, list[float]] = {name: [] for name in means}
    for _ in range(repeats):
        x, y = _few_of_many(80, 0.7, rng)
        new, truth = _few_of_many(500, 0.0, rng)
        for name, given in means.items():
            options = {"alpha": 0.0, "learning_rate_init": 0.01, "max_iter": 300,
                       "n_iter_no_change": 600} | given  # fmt: skip
            model = NetworkRegressor((40,), **options).fit(x, y)
            errors[name].append(float(np.mean((model.predict(new) - truth) ** 2)))
    error = {name: float(np.mean(found)) for name, found in errors.items()}
    parts = [
        Proof("gradient of the first layer to the last, sigmoid", share["sigmoid"], 1e-3,
              share["sigmoid"] < 1e-3),
        Proof("the same, tanh from a small start", share["tanh, small start"], 0.1,
              share["tanh, small start"] < 0.1),
        Proof("the same, tanh from Xavier's", share["tanh, Xavier"], 0.1,
              share["tanh, Xavier"] > 0.1),
        Proof("the same, rectifiers", share["relu, He"], 0.1, share["relu, He"] > 0.1),
        Proof("loss after twenty epochs, batches of 20 and all rows", after[20], after[600],
              after[20] < 0.5 * after[600]),
        *(Proof(f"error on new rows with {name}, without", error[name], error["none"],
                error[name] < 0.8 * error["none"]) for name in list(means)[1:]),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"on their way back through {depth} layers gradients change by a factor of "
        f"{share['sigmoid']:.0e} (sigmoid) and {share['relu, He']:.2f} (rectifiers); "
        f"after twenty epochs the loss is {after[20]:.3f} with batches of 20 "
        f"and {after[600]:.3f} with all rows; errors on new rows: "
        + ", ".join(f"{value:.2f} ({name})" for name, value in error.items()),
        draw=partial(
            lines_chart,
            [str(i + 1) for i in range(depth)],
            lines,
            x_title="layer, from the inputs",
            y_title="size of the gradient",
            title="Gradients on their way back through the layers",
            log_y=True,
        ),
    )


def _by_layer(kind: str, sd: float, depth: int, width: int, rng: np.random.Generator) -> FloatArray:
    """Return the size of the gradient by the sums of each layer."""
    z = Node(rng.normal(size=(20, width)))
    sums: list[Node] = []
    for _ in range(depth):
        sums.append(z @ (sd * rng.normal(size=(width, width))))
        z = getattr(sums[-1], kind)()
    (z * rng.normal(size=(20, width))).sum().backward()
    return np.array([float(np.linalg.norm(np.asarray(each.gradient))) for each in sums])


@experiment(
    "D-E27",
    claim="Networks that start near zero are nearly linear; there are many minima; many units with "
    "decay beat few; the scale of the inputs matters for the penalty.",
    items="D151-D156",
    quick={"repeats": 2},
)
def network_starts(*, starts: int = 6, repeats: int = 4, random_state: int = 0) -> Experiment:
    """Train from several starts, with few and with many units, and in several units of measure.

    Parameters
    ----------
    starts : int
        Starts of one network.
    repeats : int
        Draws of data for the errors.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    x, y = _wave(80, 0.2, rng, rate=1.0)
    early, late = (
        _linear_share(
            NetworkRegressor(
                (20,), activation="tanh", init="near_zero", max_iter=epochs,
                learning_rate_init=0.03, n_iter_no_change=2000,
            ).fit(x, y), x
        )
        for epochs in (5, 1500)
    )  # fmt: skip
    x, y = _wave(80, 0.2, rng, rate=2.5)
    ends = [
        float(
            NetworkRegressor(
                (3,), activation="tanh", alpha=0.0, max_iter=2000, learning_rate_init=0.03,
                n_iter_no_change=2000, random_state=start,
            ).fit(x, y).loss_
        )
        for start in range(starts)
    ]  # fmt: skip
    few: list[float] = []
    many: list[float] = []
    for _ in range(repeats):
        x, y = _wave(60, 0.3, rng)
        new, truth = _wave(400, 0.0, rng)
        for found, units, alpha in ((few, 2, 0.0), (many, 40, 0.05)):
            model = NetworkRegressor(
                (units,), activation="tanh", alpha=alpha, max_iter=2000, learning_rate_init=0.02,
                n_iter_no_change=2000,
            ).fit(x, y)  # fmt: skip
            found.append(float(np.mean((model.predict(new) - truth) ** 2)))
    scaled, unscaled = (_unit_matters(x, y, standardize) for standardize in (True, False))
    parts = [
        Proof("linear share of the predictions after 5 epochs", early, 0.99, early > 0.99),
        Proof("the same after 1500 epochs", late, 0.8, late < 0.8),
        Proof("largest loss of the starts, least", max(ends), min(ends),
              max(ends) > 1.2 * min(ends)),
        Proof("error on new rows, 40 units with decay and 2 without", float(np.mean(many)),
              float(np.mean(few)), float(np.mean(many)) < 0.8 * float(np.mean(few))),
        Proof("change of predictions with the unit of x, raw inputs", unscaled, 0.05,
              unscaled > 0.05),
        Proof("the same, standardised inputs", scaled, 0.0, scaled < 1e-3),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"the predictions are {early:.1%} linear after 5 epochs and {late:.0%} after 1500; "
        f"{starts} starts end at losses from {min(ends):.3f} to {max(ends):.3f}; the error on new "
        f"rows is {np.mean(many):.3f} with 40 units and decay, {np.mean(few):.3f} with two",
        draw=partial(
            lines_chart,
            [str(i + 1) for i in range(starts)],
            {"loss at the end": sorted(ends)},
            x_title="start, sorted",
            y_title="training loss",
            title="Different starts end in different minima",
        ),
    )


def _linear_share(model: Any, x: FloatArray) -> float:
    """Return the share of the variance of predictions that a straight line has."""
    return float(np.corrcoef(model.predict(x), x[:, 0])[0, 1] ** 2)


def _unit_matters(x: FloatArray, y: FloatArray, standardize: bool) -> float:
    """Return by how much predictions change when x is measured in a unit ten times as large."""
    found = [
        NetworkRegressor(
            (10,), activation="tanh", alpha=1.0, max_iter=600, learning_rate_init=0.02,
            n_iter_no_change=2000, standardize=standardize,
        ).fit(x / unit, y).predict(x / unit)
        for unit in (1.0, 10.0)
    ]  # fmt: skip
    return float(np.sqrt(np.mean((found[0] - found[1]) ** 2)) / np.std(y))
