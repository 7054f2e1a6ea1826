"""Chapter 1: nearest neighbours and distances."""

from functools import partial

import numpy as np

from bottega.course._numbers import errors_above
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.neighbors import NearestNeighborsClassifier, NeighborSearch
from bottega.plot import dots_chart, lines_chart

__all__ = [
    "mahalanobis_and_whitening",
    "one_neighbor_and_noise",
    "stripes_of_a_wide_column",
    "votes_of_a_minority",
]


@experiment(
    "M-X1",
    claim="One nearest neighbour is sensitive to noise: with wrong labels in the training rows a "
    "larger k is more accurate.",
    items="M104, M110",
)
def one_neighbor_and_noise(
    *, rows: int = 300, points: int = 2000, repeats: int = 6, random_state: int = 0
) -> Experiment:
    """Turn a growing share of the training labels round.

    Without noise of its own (the classes are far apart) one neighbour errs as often as labels are
    wrong; many neighbours outvote them.

    Parameters
    ----------
    rows, points : int
        Training and new rows, from two normal classes.
    repeats : int
        Data sets.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    flips = np.array([0.0, 0.05, 0.1, 0.2, 0.3])
    one, chosen = np.zeros((len(flips), repeats)), np.zeros((len(flips), repeats))
    ks = np.zeros((len(flips), repeats))
    for r in range(repeats):
        data = make.two_gaussians(rows, distance=4.0, random_state=random_state + r)
        new = make.two_gaussians(points, distance=4.0, random_state=random_state + 1000 + r)
        order = rng.permutation(rows)
        for i, flip in enumerate(flips):
            y = data.y.copy()
            y[order[: round(flip * rows)]] ^= 1
            model = NearestNeighborsClassifier(select="min", max_neighbors=60).fit(data.X, y)
            ks[i, r] = model.n_neighbors_
            chosen[i, r] = np.mean(model.predict(new.X) == new.y)
            first = NearestNeighborsClassifier(1).fit(data.X, y)
            one[i, r] = np.mean(first.predict(new.X) == new.y)
    a, b = one.mean(axis=1), chosen.mean(axis=1)
    holds = (
        all(errors_above(chosen[i], one[i]) > 4 for i in range(1, len(flips)))
        and np.all(np.diff(a) < 0)
        and abs((1 - a[-1]) - (1 - a[0]) - flips[-1]) < 0.05
        and b[-1] > a[-1] + 0.15
    )
    return Experiment(
        columns={"wrong labels": flips, "k = 1": a, "chosen k": b, "mean k": ks.mean(axis=1)},
        holds=bool(holds),
        finding=f"with {flips[-1]:.0%} wrong labels one neighbour is right on {a[-1]:.1%} of new "
        f"rows, the k chosen by leave-one-out ({ks[-1].mean():.0f} on average) on {b[-1]:.1%}",
        draw=partial(
            lines_chart,
            flips,
            {"k = 1": a, "k chosen by leave-one-out": b},
            x_title="share of wrong labels in training",
            y_title="accuracy on new rows",
            title="One neighbour believes every label",
            subtitle="The k chosen by leave-one-out outvotes the wrong ones",
        ),
    )


@experiment(
    "M-X2",
    claim="Multiplying the votes of the minority by the ratio of the classes rescues it: its "
    "recall rises.",
    items="M106",
    verdict="holds only if recall is what counts: the accuracy falls, as more of the majority is "
    "called minority",
)
def votes_of_a_minority(
    *, rows: int = 400, k: int = 10, points: int = 4000, repeats: int = 10, random_state: int = 0
) -> Experiment:
    """Classify an 80/20 set by plain votes and by votes times the ratio of the classes.

    Of ten neighbours, 6 of the majority and 4 of the minority, with a ratio of 4: 6 against 16.

    Parameters
    ----------
    rows, points : int
        Training and new rows.
    k : int
        Neighbours.
    repeats : int
        Data sets.
    random_state : int
        Of the first data set.
    """
    kinds = {"plain votes": "uniform", "votes times the ratio": "balanced"}
    recall = {name: np.zeros(repeats) for name in kinds}
    precision = {name: np.zeros(repeats) for name in kinds}
    accuracy = {name: np.zeros(repeats) for name in kinds}
    for r in range(repeats):
        data = make.two_gaussians(rows, prior=0.2, distance=1.5, random_state=random_state + r)
        new = make.two_gaussians(
            points, prior=0.2, distance=1.5, random_state=random_state + 1000 + r
        )
        for name, weights in kinds.items():
            predicted = (
                NearestNeighborsClassifier(k, weights=weights).fit(data.X, data.y).predict(new.X)
            )
            recall[name][r] = np.mean(predicted[new.y == 1] == 1)
            precision[name][r] = np.mean(new.y[predicted == 1] == 1)
            accuracy[name][r] = np.mean(predicted == new.y)
    # Ten rows at one place, then a query there: 6 votes against 4 times the ratio.
    X = np.repeat([[0.0], [9.0]], [10, 10], axis=0)
    y = np.array([0] * 6 + [1] * 4 + [0] * 10)
    model = NearestNeighborsClassifier(10, weights="balanced").fit(X, y)
    share = model.predict_proba([[0.0]])[0, 1]
    exact = 16 / 22
    plain, ratio = recall.values()
    first, second = accuracy.values()
    holds = (
        errors_above(ratio, plain) > 5
        and errors_above(first, second) > 3
        and abs(share - exact) < 1e-12
    )
    measures = {"recall": recall, "precision": precision, "accuracy": accuracy}
    return Experiment(
        columns={
            "measure": list(measures),
            **{name: [float(each[name].mean()) for each in measures.values()] for name in kinds},
        },
        holds=bool(holds),
        finding=f"the recall of the minority rises from {plain.mean():.2f} to {ratio.mean():.2f}, "
        f"its precision goes from {precision['plain votes'].mean():.2f} to "
        f"{precision['votes times the ratio'].mean():.2f}, the accuracy from {first.mean():.3f} to "
        f"{second.mean():.3f}; 6 votes against 4 become 6 against 16",
        draw=partial(
            dots_chart,
            list(measures),
            {name: [float(each[name].mean()) for each in measures.values()] for name in kinds},
            x_title="share",
            title="Votes that count for a rare class",
            subtitle=f"A class of 20 %, {k} neighbours",
        ),
    )


@experiment(
    "M-X6",
    claim="Mahalanobis distances are Euclidean ones on standardised data.",
    items="M131, M138",
    verdict="holds only if the covariance is diagonal; in general they are Euclidean on whitened "
    "data, not on standardised ones",
)
def mahalanobis_and_whitening(*, rows: int = 200, random_state: int = 0) -> Experiment:
    """Compare the two distances on correlated columns and on columns made uncorrelated.

    Parameters
    ----------
    rows : int
        Rows.
    random_state : int
        Of the data.
    """
    rng = np.random.default_rng(random_state)
    correlations = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.9])
    Q = np.linalg.qr(rng.normal(size=(rows, 2)) - 0.0)[0]
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0] * np.sqrt(rows)  # uncorrelated exactly
    standard, white = np.zeros(len(correlations)), np.zeros(len(correlations))
    for i, rho in enumerate(correlations):
        X = Q @ np.linalg.cholesky([[1, rho], [rho, 1]]).T * [5.0, 0.2]
        exact = NeighborSearch(X, "mahalanobis").distances(X)
        scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
        root = np.linalg.cholesky(np.cov(X.T))
        whitened = np.linalg.solve(root, (X - X.mean(axis=0)).T).T
        standard[i] = np.max(np.abs(NeighborSearch(scaled).distances(scaled) - exact))
        white[i] = np.max(np.abs(NeighborSearch(whitened).distances(whitened) - exact))
    holds = white.max() < 1e-6 and standard[0] < 1e-6 and np.all(standard[1:] > 0.05)
    return Experiment(
        columns={"correlation": correlations, "standardised": standard, "whitened": white},
        holds=bool(holds),
        finding=f"on whitened data the largest difference is {white.max():.0e}; on standardised "
        f"data {standard[0]:.0e} without correlation, {standard[-1]:.2f} at {correlations[-1]:g}",
        draw=partial(
            lines_chart,
            correlations,
            {"standardised": standard, "whitened": white},
            x_title="correlation of the two columns",
            y_title="largest difference from Mahalanobis",
            title="Mahalanobis is Euclid on whitened data",
            subtitle="Standardising is enough only without correlation",
        ),
    )


@experiment(
    "M-X7",
    claim="The scale of a column spoils nearest neighbours: with x1 in [0, 50] and x2 in [0, 6], "
    "the one that matters, the regions become stripes of x1.",
    items="M136",
)
def stripes_of_a_wide_column(
    *, rows: int = 30, points: int = 2000, repeats: int = 10, random_state: int = 0
) -> Experiment:
    """Classify by x2 > 3 with raw and with standardised columns, widening x1 step by step.

    Parameters
    ----------
    rows, points : int
        Training and new rows.
    repeats : int
        Data sets.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    widths = np.array([6.0, 12.0, 25.0, 50.0, 100.0, 400.0])
    error = {name: np.zeros((len(widths), repeats)) for name in ("raw", "standardised")}
    turned = np.zeros((len(widths), repeats))
    for r in range(repeats):
        unit, fresh = rng.uniform(size=(rows, 2)), rng.uniform(size=(points, 2))
        y, label = (unit[:, 1] > 0.5).astype(int), (fresh[:, 1] > 0.5).astype(int)
        for i, width in enumerate(widths):
            X, new = unit * [width, 6.0], fresh * [width, 6.0]
            center, scale = X.mean(axis=0), X.std(axis=0)
            model = NearestNeighborsClassifier(1).fit(X, y)
            predicted = model.predict(new)
            error["raw"][i, r] = np.mean(predicted != label)
            # A stripe of x1: moving along x2 changes nothing.
            moved = new.copy()
            moved[:, 1] = 6.0 * rng.uniform(size=points)
            turned[i, r] = np.mean(model.predict(moved) == predicted)
            model = NearestNeighborsClassifier(1).fit((X - center) / scale, y)
            error["standardised"][i, r] = np.mean(model.predict((new - center) / scale) != label)
    raw, fine = (each.mean(axis=1) for each in error.values())
    stripes = turned.mean(axis=1)
    at = int(np.flatnonzero(widths == 50)[0])
    holds = (
        np.ptp(fine) < 1e-9
        and np.all(np.diff(raw) > 0)
        and errors_above(error["raw"][at], error["standardised"][at]) > 5
        and raw[at] > 2 * fine[at]
        and raw[-1] > 0.35
        and stripes[-1] > 0.85
        and stripes[0] < 0.65
    )
    return Experiment(
        columns={"range of x1": widths, "raw": raw, "standardised": fine, "same along x2": stripes},
        holds=bool(holds),
        finding=f"with x1 in [0, 50] one neighbour errs on {raw[at]:.2f} of new rows instead of "
        f"{fine[at]:.2f}, with [0, {widths[-1]:g}] on {raw[-1]:.2f}; there {stripes[-1]:.0%} of "
        f"the predictions stay the same whatever x2 is (with equal ranges {stripes[0]:.0%})",
        draw=partial(
            lines_chart,
            widths,
            {"raw columns": raw, "standardised columns": fine, "same prediction along x2": stripes},
            x_title="range of x1 (x2, which decides, has range 6)",
            y_title="share of new rows",
            title="A wide column decides who is near",
            subtitle="One nearest neighbour, classes divided at x2 = 3",
            log_x=True,
        ),
    )
