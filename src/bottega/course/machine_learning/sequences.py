"""Chapter 10: sequences, by recurrence and by attention."""

from functools import partial

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.neural import (
    AttentionClassifier,
    NetworkClassifier,
    Node,
    RecurrentClassifier,
    count_parameters,
)
from bottega.plot import attention_chart, lines_chart

__all__ = ["attention_weights", "recurrent_gradients"]


@experiment(
    "N-X10",
    claim="The weights of a recurrent network do not depend on the length of sequences; its "
    "gradients vanish or explode with the distance in time.",
    items="N79, N83-N85",
)
def recurrent_gradients(
    *,
    lengths: tuple[int, ...] = (5, 50),
    radii: tuple[float, ...] = (0.7, 1.0, 1.3),
    steps: int = 30,
    random_state: int = 0,
) -> Experiment:
    """Unfold a recurrence as a graph, and measure what early inputs do to the last state.

    Parameters
    ----------
    lengths : tuple of int
        Lengths of sequences whose networks are counted.
    radii : tuple of float
        Sizes of the eigenvalues of the recurrent weights.
    steps : int
        Steps of the unfolded graph.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    counts = []
    for length in lengths:
        X = rng.normal(size=(20, length))
        counts.append(count_parameters(RecurrentClassifier(8, max_iter=1).fit(X, X[:, 0] > 0)))
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    lines, rates = {}, []
    for radius in radii:
        norms = _influence(radius * Q, steps, bent=False)
        rates.append(float((norms[-1] / norms[0]) ** (1 / (steps - 1))))
        lines[f"radius {radius:g}"] = norms
    bent = _influence(radii[-1] * Q, steps, bent=True)
    parts = [
        Proof(f"weights for sequences of {lengths[0]}, of {lengths[-1]}", counts[0], counts[-1],
              len(set(counts)) == 1),
        *(Proof(f"growth per step, radius {radius:g}", rate, radius, abs(rate - radius) < 1e-6)
          for radius, rate in zip(radii, rates, strict=True)),
        Proof("the same largest radius with tanh, which saturates", bent[-1],
              lines[f"radius {radii[-1]:g}"][-1], bent[-1] < lines[f"radius {radii[-1]:g}"][-1]),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"{counts[0]} weights for every length; over {steps - 1} steps gradients change by "
        + ", ".join(f"{norms[-1] / norms[0]:.1e} ({name})" for name, norms in lines.items()),
        draw=partial(
            lines_chart,
            np.arange(steps),
            {**lines, f"radius {radii[-1]:g}, tanh": bent},
            x_title="steps between an input and the last state",
            y_title="size of the gradient",
            title="What lies far back has a vanishing or exploding gradient",
            log_y=True,
            points=False,
        ),
    )


def _influence(W: FloatArray, steps: int, bent: bool) -> FloatArray:
    """Return the size of the gradient of the last state by each input, from the latest back."""
    inputs = [Node(np.full((1, len(W)), 0.05)) for _ in range(steps)]
    h = inputs[0]
    for each in inputs[1:]:
        h = h @ W + each
        h = h.tanh() if bent else h
    (h * np.linspace(-1, 1, len(W))).sum().backward()
    sizes = [float(np.linalg.norm(np.asarray(each.gradient))) for each in inputs]
    return np.array(sizes[::-1])


@experiment(
    "N-X13",
    claim="Rows of softmax attention sum to one, those of plain products do not; a network that is "
    "right can overfit a single batch.",
    items="N105-N109, E11",
    verdict="holds only if the sum of one is claimed of the softmax alone, not of both as printed",
)
def attention_weights(*, rows: int = 120, steps: int = 8, random_state: int = 0) -> Experiment:
    """Train both forms of attention to find a step, and one network on one batch.

    Parameters
    ----------
    rows, steps : int
        Sequences and their length.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(rows, steps))
    y = X.max(axis=1) > 1.4
    found = {}
    for kind in ("softmax", "dot"):
        model = AttentionClassifier(
            8, attention=kind, max_iter=15, learning_rate_init=0.01, random_state=random_state
        )
        found[kind] = model.fit(X, y).attention_maps(X)[:, 0, 0]
    off = {kind: float(np.max(np.abs(maps.sum(axis=2) - 1))) for kind, maps in found.items()}
    below = float(np.mean(found["dot"] < 0))
    batch, labels = X[:16], rng.integers(2, size=16)  # labels without any sense
    model = NetworkClassifier((32,), alpha=0.0, learning_rate_init=0.02, max_iter=150)
    right = float(model.fit(batch, labels).score(batch, labels))
    one = NetworkClassifier((), alpha=0.0, learning_rate_init=0.02, max_iter=150)
    flat = float(one.fit(batch, labels).score(batch, labels))
    parts = [
        Proof("farthest sum of a row from one, softmax", off["softmax"], 0.0,
              off["softmax"] < 1e-6),
        Proof("farthest sum of a row from one, products", off["dot"], 0.1, off["dot"] > 0.1),
        Proof("share of negative weights, products", below, 0.0, below > 0.05),
        Proof("share right of a batch with senseless labels, 32 units", right, 1.0, right == 1.0),
        Proof("the same without hidden units, which cannot", flat, 1.0, flat < 1.0),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"rows of softmax weights sum to one up to {off['softmax']:.0e}, sums of products "
        f"are off by up to {off['dot']:.1f} and {below:.0%} of these weights are negative; 32 "
        f"units learn 16 senseless labels by heart, none reach {flat:.0%}",
        draw=partial(
            attention_chart,
            found["softmax"][int(np.argmax(X.max(axis=1)))],
            [f"{value:.1f}" for value in X[int(np.argmax(X.max(axis=1)))]],
            title="Where each step of one sequence looks",
        ),
    )
