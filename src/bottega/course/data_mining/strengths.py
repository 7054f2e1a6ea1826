"""Appendix C: strengths and weaknesses of the models."""

from functools import partial

import numpy as np

from bottega.classify import LogisticRegression
from bottega.core.typing import FloatArray, IntArray
from bottega.course._numbers import errors_above
from bottega.course.experiment import Experiment, experiment
from bottega.ensemble import (
    AdaBoostClassifier,
    RandomForestClassifier,
)
from bottega.plot import dots_chart, lines_chart
from bottega.tree import TreeClassifier

__all__ = ["lines_and_boxes", "rare_classes_and_wrong_labels"]


@experiment(
    "D-E34",
    claim="A logistic model is good and a tree poor on diagonal boundaries; on boxes it is the "
    "reverse.",
    items="App. C",
)
def lines_and_boxes(
    *, rows: int = 300, points: int = 3000, repeats: int = 8, random_state: int = 0
) -> Experiment:
    """Fit both to classes divided by the diagonal of a square, and by a box inside it.

    Parameters
    ----------
    rows, points : int
        Training and new rows.
    repeats : int
        Data sets of each kind.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    kinds = ("diagonal", "box")
    error = {name: np.zeros((2, repeats)) for name in ("logistic model", "tree")}
    for r in range(repeats):
        for i, kind in enumerate(kinds):
            X, y = _region(rows, kind, rng)
            new, label = _region(points, kind, rng)
            logit = LogisticRegression(alpha=1e-3, l1_ratio=1.0).fit(X, y)
            tree = TreeClassifier(cv=0.25, select="min").fit(X, y)
            for name, model in (("logistic model", logit), ("tree", tree)):
                error[name][i, r] = np.mean(model.predict(new) != label)
    straight, boxed = error.values()
    holds = errors_above(boxed[0], straight[0]) > 3 and errors_above(straight[1], boxed[1]) > 3
    mean = {name: each.mean(axis=1) for name, each in error.items()}
    return Experiment(
        columns={"boundary": list(kinds), **mean},
        holds=bool(holds),
        finding="; ".join(
            f"{kind}: " + ", ".join(f"{each[i]:.3f} ({name})" for name, each in mean.items())
            for i, kind in enumerate(kinds)
        ),
        draw=partial(
            dots_chart,
            kinds,
            mean,
            x_title="error on new rows",
            title="Each method has its geometry",
            subtitle="Classes divided by a diagonal, and by a box",
        ),
    )


def _region(n: int, kind: str, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    X = rng.uniform(size=(n, 2))
    box = np.all((X > 0.25) & (X < 0.8), axis=1)
    y = X.sum(axis=1) > 1 if kind == "diagonal" else box
    return X, y.astype(np.int64)


@experiment(
    "D-E35",
    claim="With a rare class bagging is poor and boosting better; boosting overfits wrong labels.",
    items="App. C",
    quick={"repeats": 3, "rounds": 200},
)
def rare_classes_and_wrong_labels(
    *,
    rows: int = 300,
    points: int = 1000,
    repeats: int = 6,
    n_estimators: int = 20,
    rounds: int = 300,
    random_state: int = 0,
) -> Experiment:
    """Vary the share of the rare class, then follow boosting along its rounds on wrong labels.

    Recall is the share of the rare class that is found. Labels are turned round at random in the
    training rows only; overfitting is an error that rises again as rounds go on.

    Parameters
    ----------
    rows, points : int
        Training and test rows.
    repeats : int
        Training sets.
    n_estimators : int
        Trees of bagging (a forest that tries all columns).
    rounds : int
        Rounds of boosting, with stumps.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    shares = np.array([0.5, 0.05])
    flips = np.array([0.0, 0.2])
    recall = {name: np.zeros((len(shares), repeats)) for name in ("bagging", "boosting")}
    wrong = {name: np.zeros((len(shares), repeats)) for name in recall}
    along = np.zeros((len(flips), repeats, rounds))
    bagged = np.zeros((2, len(flips), repeats))
    for r in range(repeats):
        models = {
            "bagging": RandomForestClassifier(
                max_features=5, n_estimators=n_estimators, random_state=r
            ),
            "boosting": AdaBoostClassifier(n_estimators=rounds),
        }
        for i, share in enumerate(shares):
            data, new = _ring(rows, float(share), rng), _ring(points, float(share), rng)
            for name, model in models.items():
                predicted = model.fit(*data).predict(new[0])
                recall[name][i, r] = np.mean(predicted[new[1] == 1] == 1)
                wrong[name][i, r] = np.mean(predicted != new[1])
        for i, flip in enumerate(flips):
            X, y = _ring(rows, 0.5, rng)
            y = np.where(rng.uniform(size=rows) < flip, 1 - y, y)
            new = _ring(points, 0.5, rng)
            along[i, r] = models["boosting"].fit(X, y).staged_error(*new)
            for k, few in enumerate((n_estimators // 5, n_estimators)):
                bag = RandomForestClassifier(max_features=5, n_estimators=few, random_state=r).fit(
                    X, y
                )
                bagged[k, i, r] = np.mean(bag.predict(new[0]) != new[1])
    found = {name: each.mean(axis=1) for name, each in recall.items()}
    errors = {name: each[-1].mean() for name, each in wrong.items()}
    curve = along.mean(axis=1)
    # The mean of the last third of the rounds against that of the rounds from 20 to 60 in 300:
    # the very first ones swing too much to be called best.
    early, late = slice(rounds // 15, rounds // 5), slice(2 * rounds // 3, None)
    rises = along[:, :, late].mean(axis=2) - along[:, :, early].mean(axis=2)
    rise = rises.mean(axis=1)
    bag_rise = np.mean(bagged[1] - bagged[0], axis=1)
    holds = (
        errors_above(recall["boosting"][-1], recall["bagging"][-1]) > 2
        and errors["boosting"] < errors["bagging"] + 0.01
        and errors_above(rises[-1], rises[0]) > 2
        and rise[-1] > 0.005 > rise[0]
        and np.all(bag_rise < 0.01)
    )
    count = np.arange(1, rounds + 1)
    shown = np.unique(np.geomspace(1, rounds, 40).astype(int)) - 1
    names = [f"{flip:.0%} wrong labels" for flip in flips]
    return Experiment(
        columns={"rounds": count, **dict(zip(names, curve, strict=True))},
        holds=bool(holds),
        finding=f"with a class of {shares[-1]:.0%} bagging finds {found['bagging'][-1]:.0%} of it, "
        f"boosting {found['boosting'][-1]:.0%} (error rates {errors['bagging']:.3f} and "
        f"{errors['boosting']:.3f}); from early to late rounds the error of boosting changes by "
        + ", ".join(f"{each:+.3f} ({name})" for each, name in zip(rise, names, strict=True))
        + f"; five times the trees change the error of bagging by at most {bag_rise.max():+.3f}",
        draw=partial(
            lines_chart,
            count[shown],
            {name: each[shown] for name, each in zip(names, curve, strict=True)},
            x_title="rounds of boosting",
            y_title="error on right labels",
            title="Boosting chases wrong labels",
            subtitle="With right labels the error settles, with wrong ones it rises again",
            log_x=True,
        ),
    )


def _ring(n: int, share: float, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Return rows of five inputs; a share of them lies near the origin of the first two."""
    y = (rng.uniform(size=n) < share).astype(np.int64)
    X = rng.uniform(-1, 1, size=(n, 5))
    radius = np.where(y == 1, rng.uniform(0.0, 0.55, size=n), rng.uniform(0.45, 1.2, size=n))
    angle = rng.uniform(0, 2 * np.pi, size=n)
    X[:, 0], X[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    return X, y
