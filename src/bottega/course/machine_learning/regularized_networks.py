"""Chapter 10: losses, and what keeps a network from learning noise."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from bottega.core.typing import FloatArray
from bottega.course._parts import Proof, all_hold, columns_of, gap
from bottega.course.experiment import Experiment, experiment
from bottega.neural import ConvolutionalClassifier, NetworkClassifier, NetworkRegressor, Node
from bottega.plot import lines_chart

__all__ = ["losses_and_outliers", "network_regularizers"]


@experiment(
    "N-X8",
    claim="Outliers move a fit by squared errors most, by absolute errors and Huber's loss least.",
    items="N49-N51",
)
def losses_and_outliers(
    *,
    sizes: tuple[float, ...] = (0.0, 5.0, 20.0, 80.0),
    share: float = 0.1,
    rows: int = 120,
    random_state: int = 0,
) -> Experiment:
    """Fit a line, a network without hidden units, by three losses to data with outliers.

    Parameters
    ----------
    sizes : tuple of float
        How far outliers lie above the line.
    share : float
        Share of the rows that are outliers.
    rows : int
        Number of rows.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    x = rng.uniform(-2, 2, size=(rows, 1))
    line = 1 + 2 * x[:, 0]
    noise, far = 0.5 * rng.normal(size=rows), rng.random(rows) < share
    errors: dict[str, list[float]] = {"squared_error": [], "absolute_error": [], "huber": []}
    for size in sizes:
        y = line + noise + size * far
        unit = float(np.std(y))  # in which the network measures, and Huber's threshold with it
        for loss, found in errors.items():
            model = NetworkRegressor(
                (), loss=loss, huber_delta=1.35 * 0.5 / unit, alpha=0.0, learning_rate="cosine",
                learning_rate_init=0.1, max_iter=400, n_iter_no_change=400,
            ).fit(x, y)  # fmt: skip
            found.append(float(np.sqrt(np.mean((model.predict(x) - line) ** 2))))
    gaps = Node(np.array([1.0, 10.0, 100.0]))
    gaps.square().sum().backward()
    steep = np.asarray(gaps.gradient)
    moved = {loss: found[-1] - found[0] for loss, found in errors.items()}
    parts = [
        Proof("gradient of a squared error at 100, at 1", steep[2], steep[0],
              steep[2] == 100 * steep[0]),
        Proof("error of squared errors, farthest outliers and none", errors["squared_error"][-1],
              errors["squared_error"][0], errors["squared_error"][-1] > 5),
        *(Proof(f"what outliers add, {loss} and squared_error", moved[loss],
                moved["squared_error"], moved[loss] < 0.05 * moved["squared_error"])
          for loss in ("absolute_error", "huber")),
        Proof("error without outliers, squared and absolute", errors["squared_error"][0],
              errors["absolute_error"][0], errors["squared_error"][0] < 0.15),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"with {share:.0%} outliers {sizes[-1]:g} away the line is off by "
        + ", ".join(f"{found[-1]:.2f} ({loss})" for loss, found in errors.items()),
        draw=partial(
            lines_chart,
            list(map(str, sizes)),
            {loss.replace("_", " "): found for loss, found in errors.items()},
            x_title="distance of the outliers",
            y_title="error of the fitted line",
            title="Squared errors follow outliers wherever they go",
        ),
    )


@experiment(
    "N-X12",
    claim="Decay shrinks weights and the lasso zeroes them; noise, augmentation, dropout and batch "
    "normalisation regularise; features are to be on one scale; a shifted distribution needs new "
    "training.",
    items="N91-N104",
    verdict="holds only if augmentation keeps labels right (a 6 turned round is a 9), and zero "
    "means near zero: steps along gradients make no weight exactly zero",
)
def network_regularizers(
    *, alphas: tuple[float, ...] = (0.0, 0.1, 0.3, 1.0), rows: int = 80, random_state: int = 0
) -> Experiment:
    """Go through the means one by one, each on a small example.

    Parameters
    ----------
    alphas : tuple of float
        Weight decays.
    rows : int
        Rows of the data.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(rows, 10))
    y = X[:, 0] - 2 * X[:, 1] + 0.5 * rng.normal(size=rows)
    sizes = [float(np.linalg.norm(_weights((8,), X, y, alpha=alpha))) for alpha in alphas]
    decayed, lassoed = (_weights((), X, y, **{name: 0.3 * rows}) for name in ("alpha", "l1"))
    nothing = _weights((), X, y)
    noisy = _weights((), X, y, input_noise=1.0, max_iter=600)
    parts = [
        Proof("size of weights, largest decay and none", sizes[-1], sizes[0],
              bool(np.all(np.diff(sizes) < 0)) and sizes[-1] < 0.5 * sizes[0]),
        Proof("weights below 0.005 of ten, lasso and decay", int(np.sum(np.abs(lassoed) < 0.005)),
              int(np.sum(np.abs(decayed) < 0.005)),
              bool(np.sum(np.abs(lassoed) < 0.005) >= 8 > np.sum(np.abs(decayed) < 0.005))),
        Proof("weights that are exactly zero, lasso", int(np.sum(lassoed == 0)), 0,
              not np.any(lassoed == 0)),
        # Noise of variance one doubles that of standardised inputs: weights are halved.
        Proof("size of weights with noise at the inputs, half of those without",
              float(np.linalg.norm(noisy)), float(np.linalg.norm(nothing)) / 2,
              bool(abs(np.linalg.norm(noisy) / np.linalg.norm(nothing) - 0.5) < 0.1)),
        *_dropout(rng),
        *_batch_normalization(rng),
        *_scales_and_shift(rng),
        *_turned_digits(random_state),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"a decay of {alphas[-1]:g} shrinks weights from {sizes[0]:.1f} to {sizes[-1]:.1f}"
        f"; the lasso leaves {int(np.sum(np.abs(lassoed) >= 0.005))} of ten; noise at the inputs "
        "halves them; copies of digits turned round cost accuracy",
        draw=partial(
            lines_chart,
            list(map(str, alphas)),
            {"size of all weights": sizes},
            x_title="weight decay",
            y_title="root of the sum of squares",
            title="Decay pulls weights towards zero",
        ),
    )


def _weights(hidden: tuple[int, ...], X: FloatArray, y: FloatArray, **options: Any) -> FloatArray:
    """Return the weights, without biases, of a trained network."""
    given: dict[str, Any] = {"alpha": 0.0, "learning_rate": "cosine", "learning_rate_init": 0.05,
                             "max_iter": 300, "n_iter_no_change": 600} | options  # fmt: skip
    model = NetworkRegressor(hidden, activation="tanh", **given).fit(X, y)
    return np.concatenate([np.ravel(each) for each in model.arrays_.values() if np.ndim(each) == 2])


def _dropout(rng: np.random.Generator) -> list[Proof]:
    """Average a layer over all the networks that dropout draws from."""
    keep, h, w = 0.7, rng.normal(size=4), rng.normal(size=4)
    masks = np.array(list(product((0, 1), repeat=4)))
    chance = np.prod(np.where(masks == 1, keep, 1 - keep), axis=1)
    mean = float(chance @ (masks * h / keep) @ w)
    return [
        Proof("networks in dropout of 4 units", len(masks), 16, len(masks) == 2**4),
        Proof("mean output over all of them, of the whole", mean, float(h @ w),
              abs(mean - float(h @ w)) < 1e-12),
    ]  # fmt: skip


def _batch_normalization(rng: np.random.Generator) -> list[Proof]:
    """Normalise sums of several scales, and undo it."""
    z, eps = rng.normal(3, 2, size=(50, 4)), 1e-5
    mean, var = z.mean(axis=0), z.var(axis=0)
    normal = (z - mean) / np.sqrt(var + eps)
    undone = np.sqrt(var + eps) * normal + mean
    X, W = rng.normal(size=(4, 60)), rng.normal(size=(5, 4))
    bare: list[float] = []
    normed: list[float] = []
    for scale in (1.0, 20.0):
        for norm, found in ((False, bare), (True, normed)):
            sums = Node(scale * W) @ X
            if norm:
                middle = sums - sums.row_sums() / 60.0
                spread = middle.square().row_sums() / 60.0 + eps
                sums = middle * (-0.5 * spread.log()).exp()
            sums.sigmoid().sum().backward()
            out = np.asarray(sums.sigmoid().value)
            found.append(float(np.mean(out * (1 - out))))
    return [
        Proof("batch normalisation undone by its own scale and shift", gap(undone, z), 0.0,
              gap(undone, z) < 1e-12),
        Proof("mean slope of sigmoids, weights 20 times as large, as they were", bare[1], bare[0],
              bare[1] < 0.3 * bare[0]),
        Proof("the same with batch normalisation", normed[1], normed[0],
              abs(normed[1] / normed[0] - 1) < 1e-3),
    ]  # fmt: skip


def _scales_and_shift(rng: np.random.Generator) -> list[Proof]:
    """Train on columns of unequal scale, and ask for rows from elsewhere."""
    X = rng.uniform(size=(200, 2)) * [1, 1000]
    y = X[:, 0] + X[:, 1] / 1000 > 1
    right = [
        float(
            NetworkClassifier((), solver="sgd", learning_rate_init=0.05, max_iter=100,
                              standardize=scaled).fit(X, y).score(X, y)
        )
        for scaled in (True, False)
    ]  # fmt: skip
    old, new = rng.normal(0, 1, size=(200, 1)), rng.normal(4, 1, size=(200, 1))
    model = NetworkRegressor((16,), activation="tanh", max_iter=300, learning_rate_init=0.02)
    model.fit(old, np.sin(old[:, 0]))
    errors = [float(np.mean((model.predict(x) - np.sin(x[:, 0])) ** 2)) for x in (old, new)]
    return [
        Proof("share right with columns on one scale, in 0-1 and 0-1000", right[0], right[1],
              right[0] > 0.95 > right[1] + 0.05),
        Proof("error on rows from elsewhere, on those of the training", errors[1], errors[0],
              errors[1] > 10 * errors[0]),
    ]  # fmt: skip


def _turned_digits(random_state: int) -> list[Proof]:
    """Augment images of 6 and 9 by shifts, which are safe, and by half turns, which are not."""
    images, y = load_digits(return_X_y=True)
    kept = np.isin(y, (6, 9))
    images, y = images[kept].reshape(-1, 8, 8), y[kept]
    right = [
        float(
            ConvolutionalClassifier(
                (8,), max_iter=5, learning_rate_init=0.01, augment=kinds, random_state=random_state
            ).fit(images[:250], y[:250]).score(images[250:], y[250:])
        )
        for kinds in (("shift",), ("turn",))
    ]  # fmt: skip
    return [
        Proof("digits 6 and 9 right, copies turned round and copies shifted", right[1], right[0],
              right[0] > 0.95 and right[1] < right[0] - 0.05),
    ]  # fmt: skip
