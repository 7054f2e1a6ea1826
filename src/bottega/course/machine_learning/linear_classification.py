"""Chapter 5: linear classification."""

from functools import partial
from itertools import combinations

import numpy as np

from bottega.classify import LogisticRegression
from bottega.core.losses import get_loss
from bottega.core.typing import FloatArray
from bottega.course._numbers import errors_above
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.linear import LeastSquares
from bottega.online import Perceptron
from bottega.plot import dots_chart, lines_chart
from bottega.risk import separable

__all__ = [
    "ambiguous_regions",
    "diverging_logistic",
    "perceptron_orders",
    "rings_made_separable",
    "too_correct_points",
]


@experiment(
    "M-X28",
    claim="Points that are too correct hurt the least squares classifier, not the logistic one.",
    items="M509",
)
def too_correct_points(
    *, rows: int = 100, far: int = 20, points: int = 4000, repeats: int = 10, random_state: int = 0
) -> Experiment:
    """Add points of one class farther and farther on its own side, and judge on the others.

    Parameters
    ----------
    rows : int
        Rows of two normal classes.
    far : int
        Points added to the second class.
    points : int
        New rows, without far points.
    repeats : int
        Data sets.
    random_state : int
        Of the first data set.
    """
    distance = np.array([0.0, 2.0, 5.0, 10.0, 20.0])
    error = {name: np.zeros((len(distance), repeats)) for name in ("least squares", "logistic")}
    for r in range(repeats):
        data = make.two_gaussians(rows, distance=3.0, random_state=random_state + r)
        new = make.two_gaussians(points, distance=3.0, random_state=random_state + 1000 + r)
        rng = np.random.default_rng(random_state + r)
        bayes = float(np.mean(new.bayes(new.X) != new.y))
        toward = np.array([1.0, 1.0]) / np.sqrt(2)  # from one class to the other
        cloud = rng.normal(size=(far, 2)) * 0.5
        for i, each in enumerate(distance):
            X = np.vstack([data.X, toward * (1.5 + each) + cloud])
            y = np.concatenate([data.y, np.ones(far, dtype=int)])
            line = LeastSquares().fit(X, y)
            predicted = (line.predict(new.X) > 0.5).astype(int)
            error["least squares"][i, r] = np.mean(predicted != new.y) - bayes
            logit = LogisticRegression(alpha=1e-4, l1_ratio=1.0).fit(X, y)
            error["logistic"][i, r] = np.mean(logit.predict(new.X) != new.y) - bayes
    mean = {name: each.mean(axis=1) for name, each in error.items()}
    holds = (
        errors_above(error["least squares"][-1], error["least squares"][0]) > 5
        and mean["least squares"][-1] > 0.05
        and abs(mean["logistic"][-1] - mean["logistic"][0]) < 0.02
        and errors_above(error["least squares"][-1], error["logistic"][-1]) > 5
    )
    return Experiment(
        columns={"distance": distance, **mean},
        holds=bool(holds),
        finding=f"with {far} points moved {distance[-1]:g} farther onto their own side the error "
        f"above the best goes from {mean['least squares'][0]:.3f} to "
        f"{mean['least squares'][-1]:.3f} for least squares and from {mean['logistic'][0]:.3f} to "
        f"{mean['logistic'][-1]:.3f} for the logistic model",
        draw=partial(
            lines_chart,
            distance,
            mean,
            x_title="how much farther on their own side the added points are",
            y_title="error above the best possible",
            title="Least squares punishes points for being too correct",
            subtitle=f"{far} points added to {rows}",
        ),
    )


@experiment(
    "M-X29",
    claim="On separable rows the perceptron stops after finitely many updates, at a plane that "
    "depends on the order of the rows; on others it never settles.",
    items="M511, M512",
)
def perceptron_orders(
    *, rows: int = 60, orders: int = 20, max_iter: int = 200, random_state: int = 0
) -> Experiment:
    """Run it on the same rows in many orders, and on rows that overlap.

    It starts at w = 0; another start is the same as having seen other rows before.

    Parameters
    ----------
    rows : int
        Rows of each kind.
    orders : int
        Orders of the separable rows.
    max_iter : int
        Passes over the rows that overlap.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    data = make.separable(rows, margin=0.05, random_state=random_state)
    y = 2 * data.y - 1
    updates, angle, wrong = np.zeros(orders), np.zeros(orders), 0
    for k in range(orders):
        order = rng.permutation(rows)
        model = Perceptron(max_iter=1000, until_clean=True).fit(data.X[order], y[order])
        updates[k] = model.n_updates_
        angle[k] = np.degrees(np.arctan2(model.coef_[0, 1], model.coef_[0, 0]))
        wrong += int(np.sum(model.predict(data.X) != y)) + (not model.converged_)
    overlap = make.two_gaussians(rows, distance=1.0, random_state=random_state)
    restless = Perceptron(max_iter=max_iter).fit(overlap.X, overlap.y)
    each = np.asarray(restless.updates_by_epoch_)
    late = each[len(each) // 2 :]
    spread = float(np.ptp(np.unwrap(np.radians(angle))) * 180 / np.pi)
    holds = (
        wrong == 0
        and len(np.unique(angle.round(6))) > orders / 2
        and not separable(np.column_stack([overlap.X, np.ones(rows)]), overlap.y)
        and len(each) == max_iter
        and late.min() > 0
        and not restless.converged_
    )
    count = np.arange(1, orders + 1)
    return Experiment(
        columns={"order": count, "updates": updates, "angle": angle},
        holds=bool(holds),
        finding=f"in {orders} orders of {rows} separable rows it stops after {updates.min():.0f} "
        f"to {updates.max():.0f} updates, at planes turned by up to {spread:.0f} degrees; on rows "
        f"that overlap it still makes {late.min()} to {late.max()} updates an epoch after "
        f"{len(each) // 2} epochs",
        draw=partial(
            lines_chart,
            np.arange(1, len(each) + 1),
            {"rows that overlap": each},
            x_title="epoch",
            y_title="updates",
            title="On rows that overlap the perceptron never settles",
            subtitle=f"On separable rows it stops, after {updates.min():.0f} to "
            f"{updates.max():.0f} updates",
            points=False,
        ),
    )


@experiment(
    "M-X30",
    claim="Maps of the inputs make rings separable by a plane: polar coordinates, a paraboloid, a "
    "cone.",
    items="M513, M514, M820",
)
def rings_made_separable(*, rows: int = 200, gap: float = 0.3, random_state: int = 0) -> Experiment:
    """Ask a linear program, and the perceptron, about rows on two rings, raw and mapped.

    Parameters
    ----------
    rows : int
        Rows.
    gap : float
        Least distance between the rings.
    random_state : int
        Of the rows.
    """
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, size=rows)
    radius = rng.uniform(0.3, 1.0, size=rows) + y * (0.7 + gap)
    angle = rng.uniform(-np.pi, np.pi, size=rows)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    norm = np.linalg.norm(X, axis=1)
    maps = {
        "none": X,
        "polar: radius and angle": np.column_stack([norm, np.arctan2(X[:, 1], X[:, 0])]),
        "paraboloid: x1, x2, x1^2 + x2^2": np.column_stack([X, norm**2]),
        "cone: x1, x2, -sqrt(x1^2 + x2^2)": np.column_stack([X, -norm]),
    }
    parted = {name: separable(np.column_stack([Z, np.ones(rows)]), y) for name, Z in maps.items()}
    epochs, errors = {}, {}
    for name, Z in maps.items():
        model = Perceptron(max_iter=2000).fit(Z, y)
        epochs[name] = model.n_iter_
        errors[name] = float(np.mean(model.predict(Z) != y))
    names = list(maps)
    holds = (
        not parted["none"]
        and errors["none"] > 0.1
        and all(parted[name] and errors[name] == 0 for name in names[1:])
    )
    return Experiment(
        columns={
            "map": names,
            "separable": [parted[name] for name in names],
            "epochs": [epochs[name] for name in names],
            "error": [errors[name] for name in names],
        },
        holds=bool(holds),
        finding=f"raw rings are not separable (the perceptron errs on {errors['none']:.0%} after "
        f"{epochs['none']} epochs); mapped they are, and it stops after "
        + ", ".join(f"{epochs[name]} epochs ({name.split(':')[0]})" for name in names[1:]),
        draw=partial(
            dots_chart,
            names,
            {"error of the perceptron": [errors[name] for name in names]},
            x_title="error on the rows",
            title="A map makes rings separable",
            subtitle="The perceptron on raw and on mapped rows",
        ),
    )


@experiment(
    "M-X33",
    claim="Without a penalty the weights of logistic regression grow without limit on separable "
    "rows.",
    items="M531-M533",
)
def diverging_logistic(
    *, rows: int = 60, steps: int = 20_000, rate: float = 1.0, random_state: int = 0
) -> Experiment:
    """Descend the mean logistic loss on separable rows and on rows that overlap.

    On separable rows the loss has no minimum: the norm grows as the logarithm of the steps. With a
    penalty, or with overlap, there is one.

    Parameters
    ----------
    rows : int
        Rows of each kind.
    steps : int
        Steps of gradient descent.
    rate : float
        Size of a step.
    random_state : int
        Of the rows.
    """
    loss = get_loss("logistic")
    parted = make.separable(rows, margin=0.1, random_state=random_state)
    mixed = make.two_gaussians(rows, distance=1.5, random_state=random_state)
    shown = np.unique(np.geomspace(1, steps, 40).astype(int))
    norms: dict[str, FloatArray] = {}
    for name, sample in (("separable", parted), ("overlapping", mixed)):
        sign = 2.0 * sample.y - 1
        w, norm = np.zeros(2), []
        for _ in range(steps):
            w = w - rate * (loss.gradient(sign, sample.X @ w) @ sample.X) / rows
            norm.append(float(np.linalg.norm(w)))
        norms[name] = np.array(norm)[shown - 1]
    penalties = (1e-2, 1e-3, 1e-4)
    with_penalty = []
    for each in penalties:
        lasso = LogisticRegression(alpha=each, l1_ratio=1.0, fit_intercept=False)
        with_penalty.append(float(np.linalg.norm(lasso.fit(parted.X, parted.y).coef_)))
    grown = norms["separable"]
    late = shown >= steps // 20
    per_step = np.polyfit(np.log(shown[late]), grown[late], 1)[0]
    settled = norms["overlapping"]
    holds = (
        np.all(np.diff(grown) > 0)
        and per_step > 0.3  # still growing by a fixed amount for each factor of the steps
        and abs(settled[-1] / settled[-5] - 1) < 1e-6
        and grown[-1] > 3 * settled[-1]
        and np.all(np.diff(with_penalty) > 0)
    )
    return Experiment(
        columns={"steps": shown, **norms},
        holds=bool(holds),
        finding=f"after {steps:,} steps the norm is {grown[-1]:.1f} on separable rows, growing by "
        f"{per_step * np.log(10):.1f} for ten times the steps, and {settled[-1]:.2f} on "
        "overlapping ones, settled; a penalty bounds it at "
        + ", ".join(f"{n:.1f} ({p:g})" for n, p in zip(with_penalty, penalties, strict=True)),
        draw=partial(
            lines_chart,
            shown,
            norms,
            x_title="steps of gradient descent",
            y_title="norm of the weights",
            title="Logistic regression diverges on separable rows",
            subtitle="As the logarithm of the steps; overlap or a penalty stops it",
            log_x=True,
        ),
    )


@experiment(
    "M-X55",
    claim="One against the rest and one against one leave regions without a clear class; the "
    "largest score leaves none.",
    items="M506-M508",
)
def ambiguous_regions(*, rows: int = 90, grid: int = 300, random_state: int = 0) -> Experiment:
    """Fit linear scores for three classes and measure the areas that rules cannot decide.

    Parameters
    ----------
    rows : int
        Rows, a third of each class.
    grid : int
        Points along each side of the square that areas are measured in.
    random_state : int
        Of the rows.
    """
    rng = np.random.default_rng(random_state)
    centers = np.array([[0.0, 1.0], [-0.9, -0.5], [0.9, -0.5]])
    shape = np.array([[0.8, 0.2], [0.2, 0.6], [0.5, 0.3]])  # standard deviations, class by class
    y = np.arange(rows) % 3
    X = centers[y] + shape[y] * rng.normal(size=(rows, 2))
    ticks = np.linspace(-2, 2, grid)
    points = np.array(np.meshgrid(ticks, ticks)).reshape(2, -1).T
    indicators = (y[:, None] == np.arange(3)).astype(float)
    score = LeastSquares().fit(X, indicators).predict(points)
    claimed = np.sum(score > 0.5, axis=1)
    votes = np.zeros_like(score)
    for a, b in combinations(range(3), 2):
        pair = (y == a) | (y == b)
        side = LeastSquares().fit(X[pair], (y[pair] == a).astype(float)).predict(points) > 0.5
        votes[:, a] += side
        votes[:, b] += ~side
    ordered = np.sort(votes, axis=1)
    area = {
        "one against the rest: none": float(np.mean(claimed == 0)),
        "one against the rest: several": float(np.mean(claimed > 1)),
        "one against one: tied": float(np.mean(ordered[:, -1] == ordered[:, -2])),
        "largest score: tied": _tied(score),
    }
    names = list(area)
    holds = (
        area[names[0]] + area[names[1]] > 0.01
        and area["one against one: tied"] > 0
        and area["largest score: tied"] == 0
        and np.allclose(score.sum(axis=1), 1)
    )
    return Experiment(
        columns={"rule": names, "share of the square": list(area.values())},
        holds=bool(holds),
        finding="shares of the square left open: "
        + ", ".join(f"{share:.2%} ({name})" for name, share in area.items()),
        draw=partial(
            dots_chart,
            names,
            {"share": list(area.values())},
            x_title="share of the square that is left open",
            title="Only the largest score always decides",
            subtitle="Three classes, linear scores by least squares",
        ),
    )


def _tied(score: FloatArray) -> float:
    ordered = np.sort(score, axis=1)
    return float(np.mean(ordered[:, -1] == ordered[:, -2]))
