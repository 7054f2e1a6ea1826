"""Chapters 9 and 10: depth and width, convolutions, first weights."""

from functools import partial
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._parts import Proof, all_hold, columns_of, gap
from bottega.course.experiment import Experiment, experiment
from bottega.neural import (
    NetworkRegressor,
    Node,
    conv_parameters,
    conv_size,
    convolve,
    dense_parameters,
    pool,
)
from bottega.plot import lines_chart

__all__ = ["convolution_properties", "depth_and_width", "first_weights"]


def _folds(x: FloatArray, depth: int) -> FloatArray:
    """Return a tent that is folded `depth` times: layers of two rectifiers, with their weights."""
    z = Node(x[:, None])
    for _ in range(depth):
        hidden = (z @ np.ones((1, 2)) + np.array([0.0, -0.5])).relu()
        z = hidden @ np.array([[2.0], [-4.0]])
    return z.value[:, 0]


def _pieces(y: FloatArray) -> int:
    """Return how many straight pieces a curve on an even grid has."""
    return int(np.sum(np.abs(np.diff(y, n=2)) > 1e-9)) + 1


@experiment(
    "N-X3",
    claim="Deep linear networks are one matrix; wider hidden layers err less; with as many weights "
    "a deep network can follow a function that a wide one cannot.",
    items="N11, N21, N22, E4",
    verdict="holds only if enough hidden units of one layer are meant, where the notes say layers; "
    "and depth pays for functions made of repeated steps, not all",
)
def depth_and_width(
    *, widths: tuple[int, ...] = (1, 2, 4, 8, 16, 32), depth: int = 5, random_state: int = 0
) -> Experiment:
    """Train wider and wider layers on a wave, and count the pieces of a tent folded in layers.

    Parameters
    ----------
    widths : tuple of int
        Units of the hidden layer.
    depth : int
        Layers of two rectifiers that fold a tent.
    random_state : int
        Of data and weights.
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(60, 4))
    y = X @ rng.normal(size=4) + np.sin(3 * X[:, 0])
    deep = NetworkRegressor((6, 5), activation="identity", max_iter=300, random_state=random_state)
    predicted = deep.fit(X, y).predict(X)
    plane = np.linalg.lstsq(np.column_stack([X, np.ones(60)]), predicted, rcond=None)[0]
    bent = gap(np.column_stack([X, np.ones(60)]) @ plane, predicted)
    x = np.linspace(-np.pi, np.pi, 100)[:, None]
    wave = np.sin(2 * x[:, 0])
    errors = [
        min(_wave_error(x, wave, width, start) for start in range(random_state, random_state + 3))
        for width in widths
    ]
    # A grid whose step divides the tent's pieces, so that bends fall on its points.
    grid = np.linspace(0, 1, 32 * 2**depth + 1)
    folded = _folds(grid, depth)
    weights = depth * (2 + 2 + 2)  # two slopes, two biases and two output weights per fold
    units = (weights - 1) // 3
    wide = NetworkRegressor((units,), max_iter=400, learning_rate_init=0.02).fit(
        grid[::8, None], folded[::8]
    )
    left = float(np.mean((wide.predict(grid[:, None]) - folded) ** 2) / np.var(folded))
    parts = [
        Proof("bend of a deep linear network", bent, 0.0, bent < 1e-6),
        Proof("error of most units, of one", errors[-1], errors[0], errors[-1] < 0.05 * errors[0]),
        Proof("pieces of the folded tent, 2 to the depth", _pieces(folded), 2**depth,
              _pieces(folded) == 2**depth),
        Proof("most pieces of one layer with as many weights", units + 1, 2**depth,
              units + 1 < 2**depth),
        Proof("share of the tent that such a layer leaves over, the deep one", left, 0.0,
              left > 0.3),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"a deep linear network is a plane up to {bent:.0e}; the error on a wave falls "
        f"from {errors[0]:.2g} for one unit to {errors[-1]:.2g} for {widths[-1]}; {depth} layers "
        f"of two rectifiers have {2**depth} pieces, one layer with as many weights {units + 1}, "
        f"and leaves {left:.0%} of the variance over",
        draw=partial(
            lines_chart,
            list(map(str, widths)),
            {"mean squared error": errors},
            x_title="units of one hidden layer",
            y_title="error on a wave",
            title="More units follow a wave more closely",
            log_y=True,
        ),
    )


def _wave_error(x: FloatArray, wave: FloatArray, width: int, start: int) -> float:
    model = NetworkRegressor(
        (width,), activation="tanh", alpha=0.0, learning_rate_init=0.03, max_iter=800,
        n_iter_no_change=800, random_state=start,
    )  # fmt: skip
    return float(np.mean((model.fit(x, wave).predict(x) - wave) ** 2))


@experiment(
    "N-X9",
    claim="Convolutions need few parameters and follow shifts of the image; pooling cares little "
    "about small shifts; edge filters are zero on constants.",
    items="N54, N59-N74, E9, E10",
)
def convolution_properties(
    *, size: int = 16, draws: int = 200, random_state: int = 0
) -> Experiment:
    """Shift images, and look at what filters and pooling make of them.

    Parameters
    ----------
    size : int
        Height and width of the images.
    draws : int
        Number of images.
    random_state : int
        Of images and filters.
    """
    rng = np.random.default_rng(random_state)
    follows, pooled, plain = 0.0, [], []
    for _ in range(draws):
        image = np.zeros((size, size))
        image[4:-4, 4:-4] = rng.normal(size=(size - 8, size - 8))
        kernel = rng.normal(size=(3, 3))
        shifted = np.roll(image, (1, 1), axis=(0, 1))
        one, two = (convolve(each, kernel, padding="same") for each in (image, shifted))
        follows = max(follows, gap(two, np.roll(one, (1, 1), axis=(0, 1))))
        plain.append(_change(one, two))
        pooled.append(_change(pool(np.abs(one), 4), pool(np.abs(two), 4)))
    flat = np.full((size, size), 7.0)
    edges = [
        float(np.abs(convolve(flat, name)).max()) for name in ("vertical_edges", "horizontal_edges")
    ]
    dense, few = dense_parameters(10_000, 1000, bias=False), conv_parameters(5, 1, 1000, bias=False)
    sizes = [conv_size(15, 3, padding=each) for each in ("valid", "same", "full")]
    parts = [
        Proof("weights of 1000 units on 100 by 100 pixels", dense, 10_000_000, dense == 10_000_000),
        Proof("weights of 1000 filters of 5 by 5", few, 25_000, few == 25_000),
        Proof("largest difference, shifted maps and maps of shifted images", follows, 0.0,
              follows < 1e-12),
        Proof("change of pooled maps by a shift of one pixel, of maps", float(np.mean(pooled)),
              float(np.mean(plain)), float(np.mean(pooled)) < 0.7 * float(np.mean(plain))),
        Proof("response of edge filters to a constant image", max(edges), 0.0, max(edges) < 1e-12),
        Proof("sizes of 15 pixels and a filter of 3: valid", sizes[0], 13, sizes[0] == 13),
        Proof("same", sizes[1], 15, sizes[1] == 15),
        Proof("full", sizes[2], 17, sizes[2] == 17),
    ]  # fmt: skip
    sides = np.arange(10, 210, 10)
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"{few:,} weights instead of {dense:,}; maps follow a shift exactly; it changes "
        f"maps by {np.mean(plain):.2f} of their size and pooled maps by {np.mean(pooled):.2f}; "
        "edge filters see nothing on a constant",
        draw=partial(
            lines_chart,
            sides,
            {
                "dense layer of 1000 units": [float(k) ** 2 * 1000 for k in sides],
                "1000 filters of 5 by 5": [few] * len(sides),
            },
            x_title="height and width of the image",
            y_title="weights",
            title="The weights of filters do not grow with the image",
            log_y=True,
        ),
    )


def _change(one: FloatArray, two: FloatArray) -> float:
    return float(np.linalg.norm(one - two) / np.linalg.norm(one))


@experiment(
    "N-X11",
    claim="Units that start with equal weights stay equal; the scale of the start decides whether "
    "activations vanish, saturate or keep their spread, and Xavier's keeps it.",
    items="N86-N90",
)
def first_weights(
    *, layers: int = 4, units: int = 1000, rows: int = 60, random_state: int = 0
) -> Experiment:
    """Train from equal weights, and send rows through layers of several starting scales.

    Parameters
    ----------
    layers, units : int
        Size of the network.
    rows : int
        Rows that are sent through it.
    random_state : int
        Of rows and weights.
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(80, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    start = ([np.full((2, 5), 0.3), np.full((5, 1), 0.3)], [np.zeros(5), np.zeros(1)])
    equal = NetworkRegressor((5,), init=start, max_iter=200).fit(X, y)
    drawn = NetworkRegressor((5,), max_iter=200, random_state=random_state).fit(X, y)
    apart = [_apart(model) for model in (equal, drawn)]
    moved = float(np.max(np.abs(_first(equal) - 0.3)))
    scales = {"0.01": 0.01, "Xavier": float(np.sqrt(2 / (2 * units))), "0.2": 0.2}
    spreads: dict[str, list[float]] = {name: [] for name in scales}
    saturated = {}
    for name, sd in scales.items():
        z = rng.normal(size=(rows, units))
        for _ in range(layers):
            z = np.tanh(z @ (sd * rng.normal(size=(units, units))))
            spreads[name].append(float(z.std()))
        saturated[name] = float(np.mean(np.abs(z) > 0.99))
    parts = [
        Proof("difference of units that started equal, after training", apart[0], 0.0,
              apart[0] < 1e-9 and moved > 0.01),
        Proof("the same of units that were drawn", apart[1], 0.1, apart[1] > 0.1),
        Proof("spread of the last activations, scale 0.01", spreads["0.01"][-1], 0.02,
              spreads["0.01"][-1] < 0.02),
        Proof("the same, Xavier's scale", spreads["Xavier"][-1], 0.2,
              0.2 < spreads["Xavier"][-1] < 0.8),
        Proof("saturated units at the end, scale 0.2", saturated["0.2"], 0.5,
              saturated["0.2"] > 0.5),
        Proof("saturated units at the end, Xavier's scale", saturated["Xavier"], 0.01,
              saturated["Xavier"] < 0.01),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"units that start equal differ by {apart[0]:.0e} after training; after {layers} "
        f"layers of {units} units the spread is {spreads['0.01'][-1]:.4f} with scale 0.01, "
        f"{spreads['Xavier'][-1]:.2f} with Xavier's, and with 0.2 {saturated['0.2']:.0%} of the "
        "units are saturated",
        draw=partial(
            lines_chart,
            [str(i + 1) for i in range(layers)],
            {f"scale {name}" if name[0] == "0" else f"{name}'s scale": values
             for name, values in spreads.items()},
            x_title="layer",
            y_title="standard deviation of the activations",
            title="The scale of the start decides what reaches the last layer",
            log_y=True,
        ),
    )  # fmt: skip


def _first(model: Any) -> FloatArray:
    """Return the weights of the first layer, a row per unit."""
    return next(np.asarray(each) for each in model.arrays_.values() if np.ndim(each) == 2)


def _apart(model: Any) -> float:
    return float(np.max(np.ptp(_first(model), axis=0)))
