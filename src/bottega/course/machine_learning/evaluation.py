"""Chapter 1: evaluation of classifiers where a class is rare."""

from functools import partial

import numpy as np
from scipy.special import comb

from bottega.core.frames import make_frame
from bottega.course.experiment import Experiment, experiment
from bottega.data import make, read
from bottega.neighbors import NearestNeighborsClassifier
from bottega.plot import lines_chart

__all__ = ["all_positive", "constant_predictor", "stratified_splits"]


@experiment(
    "M-X3",
    claim="Raising recall lowers precision; calling everything positive is the extreme, with "
    "recall 1 and the share of positives as precision.",
    items="M117, M118",
    quick={"points": 1000},
)
def all_positive(
    *,
    rows: int = 2000,
    points: int = 20_000,
    prior: float = 0.2,
    k: int = 100,
    random_state: int = 0,
) -> Experiment:
    """Lower the threshold on the share of positive neighbours from one to zero.

    Recall can only rise as the threshold falls, precision falls on the whole: for a score that
    orders the rows well it is exact in the limit of many rows.

    Parameters
    ----------
    rows, points : int
        Training and new rows, from two normal classes.
    prior : float
        Share of the positive class.
    k : int
        Neighbours.
    random_state : int
        Of all draws.
    """
    data = make.two_gaussians(rows, prior=prior, random_state=random_state)
    new = make.two_gaussians(points, prior=prior, random_state=random_state + 1)
    model = NearestNeighborsClassifier(k).fit(data.X, data.y)
    score = model.predict_proba(new.X)[:, 1]
    threshold = np.array([0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0])
    positive = [score >= each for each in threshold]
    recall = np.array([np.mean(each[new.y == 1]) for each in positive])
    precision = np.array([np.mean(new.y[each] == 1) for each in positive])
    prevalence = float(np.mean(new.y))
    # The precision of the fewest rows called positive has a standard error of about 0.01.
    holds = (
        np.all(np.diff(recall) >= 0)
        and np.all(np.diff(precision) < 0.015)
        and recall[-1] == 1
        and precision[-1] == prevalence
        and precision[0] > precision[-1] + 0.5
    )
    return Experiment(
        columns={"threshold": threshold, "recall": recall, "precision": precision},
        holds=bool(holds),
        finding=f"from threshold {threshold[0]:g} to 0 recall goes from {recall[0]:.2f} to 1 and "
        f"precision from {precision[0]:.2f} to {precision[-1]:.3f}, the share of positives",
        draw=partial(
            lines_chart,
            threshold,
            {
                "recall": recall,
                "precision": precision,
                "share of positives": np.full(len(threshold), prevalence),
            },
            x_title="least share of positive neighbours that makes a positive",
            y_title="share",
            title="Recall is bought with precision",
            subtitle="Calling everything positive: recall 1, precision the share of positives",
            dashed=("share of positives",),
        ),
    )


@experiment(
    "M-X4",
    claim="Accuracy misleads where classes are unbalanced: a constant predictor gets 0.9 on 90/10.",
    items="M116, M124",
)
def constant_predictor(
    *,
    shares: tuple[float, ...] = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99),
    rows: int = 2000,
    random_state: int = 0,
) -> Experiment:
    """Compare nearest neighbours with the majority class on classes that overlap much.

    Parameters
    ----------
    shares : tuple of float
        Shares of the majority.
    rows : int
        Training rows and new rows.
    random_state : int
        Of all draws.
    """
    constant, model, balanced = (np.zeros(len(shares)) for _ in range(3))
    for i, share in enumerate(shares):
        data = make.two_gaussians(rows, prior=1 - share, distance=1.0, random_state=random_state)
        new = make.two_gaussians(rows, prior=1 - share, distance=1.0, random_state=random_state + 1)
        predicted = NearestNeighborsClassifier(25).fit(data.X, data.y).predict(new.X)
        constant[i] = np.mean(new.y == 0)
        model[i] = np.mean(predicted == new.y)
        balanced[i] = (
            np.mean(predicted[new.y == 0] == 0) + np.mean(predicted[new.y == 1] == 1)
        ) / 2
    major = np.array(shares)
    error = np.sqrt(major * (1 - major) / rows)
    exact = float(np.mean(np.repeat([0, 1], [90, 10]) == 0))
    holds = (
        exact == 0.9
        and np.all(np.abs(constant - major) < 4.5 * error + 1e-12)
        and model[0] > constant[0] + 0.1
        and np.all(np.abs(model[3:] - constant[3:]) < 0.01)
        and balanced[-1] < 0.55
    )
    return Experiment(
        columns={
            "majority": major,
            "constant": constant,
            "neighbours": model,
            "balanced accuracy": balanced,
        },
        holds=bool(holds),
        finding=f"at 90/10 always saying the majority is right on {constant[3]:.3f} of new rows, "
        f"25 neighbours on {model[3]:.3f} with a balanced accuracy of {balanced[3]:.2f}; at 50/50 "
        f"on {constant[0]:.2f} and {model[0]:.2f}",
        draw=partial(
            lines_chart,
            major,
            {
                "constant predictor": constant,
                "25 neighbours": model,
                "balanced accuracy of the neighbours": balanced,
            },
            x_title="share of the majority",
            y_title="accuracy",
            title="Accuracy without a baseline misleads",
            subtitle="The mean over classes shows what is learnt",
        ),
    )


@experiment(
    "M-X5",
    claim="A stratified split keeps the shares of the classes, a random one does not and may even "
    "leave a class out.",
    items="M113, M114",
)
def stratified_splits(
    *, rows: int = 60, rare: int = 6, repeats: int = 60, random_state: int = 0
) -> Experiment:
    """Split one table at random and stratified, with many seeds, and look at the test part.

    A random test part of m of n rows leaves out all r rare rows with probability
    C(n - r, m) / C(n, m).

    Parameters
    ----------
    rows, rare : int
        Rows, and those of the rare class.
    repeats : int
        Seeds.
    random_state : int
        The first.
    """
    label = np.repeat(["common", "rare"], [rows - rare, rare])
    frame = make_frame({"x": np.random.default_rng(random_state).normal(size=rows), "label": label})
    table = read(frame, target="label")
    share = {"random": np.zeros(repeats), "stratified": np.zeros(repeats)}
    size = 0
    for r in range(repeats):
        for name in share:
            parts = table.split(stratify=name == "stratified", random_state=random_state + r)
            assert parts.test is not None  # a quarter of the rows by default
            test = parts.test.open(ledger=False)  # shares are counted, nothing is judged
            size = test.n_rows
            share[name][r] = np.mean(np.asarray(test.y) == "rare")
    spread = {name: float(each.std(ddof=1)) for name, each in share.items()}
    missing = float(np.mean(share["random"] == 0))
    expected = float(comb(rows - rare, size) / comb(rows, size))
    error = np.sqrt(expected * (1 - expected) / repeats)
    true = rare / rows
    # A hypergeometric share has variance p (1 - p) / m (n - m) / (n - 1).
    theory = np.sqrt(true * (1 - true) / size * (rows - size) / (rows - 1))
    holds = (
        np.max(np.abs(share["stratified"] - true)) <= 1 / size
        and spread["stratified"] < 0.3 * spread["random"]
        and abs(spread["random"] / theory - 1) < 4 / np.sqrt(2 * repeats)
        and abs(missing - expected) < 4.5 * error
    )
    order = np.arange(1, repeats + 1)
    return Experiment(
        columns={"seed": order, **share},
        holds=bool(holds),
        finding=f"the share of the rare class ({true:.0%}) in a test part of {size} rows has a "
        f"standard deviation of {spread['random']:.3f} at random (theory {theory:.3f}) and "
        f"{spread['stratified']:.3f} stratified; {missing:.0%} of the random parts have none "
        f"(theory {expected:.0%})",
        draw=partial(
            lines_chart,
            order,
            {name: np.sort(each) for name, each in share.items()},
            x_title="split, in the order of its share",
            y_title="share of the rare class in the test part",
            title="Stratified splits keep the classes",
            subtitle=f"{rare} rare rows of {rows}",
            points=False,
        ),
    )
