"""Lecture 22: bagging, forests and boosting."""

from functools import partial

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._numbers import out_of_bag
from bottega.course.experiment import Experiment, experiment
from bottega.data import make
from bottega.ensemble import (
    AdaBoostClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bottega.plot import dots_chart, lines_chart
from bottega.tree import TreeClassifier, TreeRegressor

__all__ = ["bagging_bias_and_variance", "ensembles_on_spheres", "forest_convergence"]


@experiment(
    "D-E15",
    claim="Boosting beats the random forest, the forest bagging, bagging a single tree; trees are "
    "bad at spherical regions.",
    items="D185, D186",
    verdict="holds only if ties are allowed for: the single tree comes last throughout and "
    "boosting first with many rows, but forest and bagging are level, and either may be ahead",
)
def ensembles_on_spheres(
    *,
    rows: tuple[int, ...] = (100, 1500),
    n_estimators: int = 40,
    rounds: int = 150,
    points: int = 1500,
    repeats: int = 3,
    random_state: int = 0,
) -> Experiment:
    """Fit the four to nested spheres with few and with many rows.

    Bagging is the forest that tries all columns at each split; the forest itself tries half of
    them. Six of the ten inputs are useless: trying fewer columns makes trees less alike, and worse.

    Parameters
    ----------
    rows : tuple of int
        Training rows, few and many.
    n_estimators, rounds : int
        Trees of bagging and forest, rounds of boosting.
    points : int
        Test rows.
    repeats : int
        Training sets.
    random_state : int
        Of the first training set.
    """
    names = ("single tree", "bagging", "random forest", "boosting")
    new = make.nested_spheres(points, useless=6, random_state=random_state + 10_000)
    error = {name: np.zeros((len(rows), repeats)) for name in names}
    for i, n in enumerate(rows):
        for r in range(repeats):
            data = make.nested_spheres(n, useless=6, random_state=random_state + r)
            fitted = (
                TreeClassifier(cv=0.25, select="min"),
                RandomForestClassifier(max_features=10, n_estimators=n_estimators, random_state=r),
                RandomForestClassifier(max_features=5, n_estimators=n_estimators, random_state=r),
                AdaBoostClassifier(n_estimators=rounds),
            )
            for name, model in zip(names, fitted, strict=True):
                error[name][i, r] = np.mean(model.fit(data.X, data.y).predict(new.X) != new.y)
    mean = {name: each.mean(axis=1) for name, each in error.items()}
    level = np.abs(mean["bagging"] - mean["random forest"])
    holds = (
        all(np.all(mean["single tree"] > mean[name] + 0.01) for name in names[1:])
        and mean["boosting"][-1] < min(mean["bagging"][-1], mean["random forest"][-1])
        and np.all(level < 0.03)
        and mean["single tree"][-1] > 3 * new.bayes_risk
    )
    return Experiment(
        columns={
            "method": list(names),
            **{f"{n} rows": [mean[name][i] for name in names] for i, n in enumerate(rows)},
        },
        holds=bool(holds),
        finding="; ".join(
            f"with {n} rows " + ", ".join(f"{mean[name][i]:.3f} ({name})" for name in names)
            for i, n in enumerate(rows)
        )
        + f"; Bayes {new.bayes_risk:.3f}",
        draw=partial(
            dots_chart,
            names,
            {f"{n} rows": [mean[name][i] for name in names] for i, n in enumerate(rows)},
            x_title="test error",
            title="An order that holds in general, and not always",
            subtitle=f"Nested spheres with six useless inputs; Bayes risk {new.bayes_risk:.3f}",
        ),
    )


@experiment(
    "D-E16",
    claim="Bagging cuts the variance and keeps the bias, or raises it slightly (the notes say "
    "both); it smooths boundaries, and trees grown to the end do not hurt it.",
    items="D189",
    verdict="holds only if the bias may rise slightly: a bootstrap sample has fewer distinct rows",
    quick={"repeats": 8, "models": 10, "points": 100},
)
def bagging_bias_and_variance(
    *,
    rows: int = 150,
    models: int = 15,
    repeats: int = 15,
    points: int = 200,
    random_state: int = 0,
) -> Experiment:
    """Fit trees of several sizes, alone and bagged, to many samples of Friedman's function.

    Parameters
    ----------
    rows : int
        Rows of each sample.
    models : int
        Trees in a bag.
    repeats : int
        Samples.
    points : int
        Points at which bias and variance are computed.
    random_state : int
        Of the first sample.
    """
    sizes = (4, 16, None)
    new = make.friedman1(points, random_state=random_state + 999)
    truth = new.bayes(new.X)
    predicted: dict[str, FloatArray] = {
        kind: np.zeros((len(sizes), repeats, points)) for kind in ("tree", "bagging")
    }
    for r in range(repeats):
        data = make.friedman1(rows, random_state=random_state + r)
        for i, most in enumerate(sizes):
            tree = TreeRegressor(0.0, max_leaf_nodes=most)
            bag = RandomForestRegressor(  # all ten columns at each split: bagging
                max_features=10,
                n_estimators=models,
                min_samples_leaf=1,
                max_leaf_nodes=most,
                random_state=r,
            )
            predicted["tree"][i, r] = tree.fit(data.X, data.y).predict(new.X)
            predicted["bagging"][i, r] = bag.fit(data.X, data.y).predict(new.X)
    variance = {kind: each.var(axis=1, ddof=1).mean(axis=1) for kind, each in predicted.items()}
    # The mean of the repeats varies too; what that adds to the squared bias is taken off.
    bias = {
        kind: np.mean((each.mean(axis=1) - truth) ** 2, axis=1) - variance[kind] / repeats
        for kind, each in predicted.items()
    }
    risk = {kind: bias[kind] + variance[kind] for kind in predicted}
    steps = {kind: len(np.unique(each[-1, 0].round(9))) for kind, each in predicted.items()}
    raised = bias["bagging"][-1] - bias["tree"][-1]
    saved = variance["tree"][-1] - variance["bagging"][-1]
    leaves = np.array([most or rows for most in sizes])
    holds = (
        variance["bagging"][-1] < 0.35 * variance["tree"][-1]
        and 0 < raised < 0.25 * saved
        and risk["bagging"][-1] < 1.05 * risk["bagging"].min()  # the deepest trees are as good
        and risk["tree"][-1] > risk["bagging"][-1]
    )
    return Experiment(
        columns={
            "leaves": leaves,
            "variance, tree": variance["tree"],
            "variance, bagging": variance["bagging"],
            "bias^2, tree": bias["tree"],
            "bias^2, bagging": bias["bagging"],
        },
        holds=bool(holds),
        finding=f"for full trees the variance falls from {variance['tree'][-1]:.2f} to "
        f"{variance['bagging'][-1]:.2f}, the squared bias goes from {bias['tree'][-1]:.2f} to "
        f"{bias['bagging'][-1]:.2f}; the risk of the bag of full trees is "
        f"{risk['bagging'][-1] / risk['bagging'].min() - 1:.1%} above the least; {points} points "
        f"get {steps['tree']} different values from a tree and {steps['bagging']} from a bag",
        draw=partial(
            lines_chart,
            leaves,
            {
                "variance of a tree": variance["tree"],
                "variance of a bag": variance["bagging"],
                "squared bias of a tree": bias["tree"],
                "squared bias of a bag": bias["bagging"],
            },
            x_title="leaves of each tree",
            y_title="mean over new points",
            title="Bagging cuts the variance",
            subtitle=f"Friedman's function, {rows} rows, {models} trees in a bag",
            log_x=True,
        ),
    )


@experiment(
    "D-E17",
    claim="The error of a random forest settles as trees are added and does not rise; the "
    "out-of-bag error follows the test error, and picks the number of columns tried.",
    items="D190, D195",
    quick={"rows": 300, "n_estimators": 60, "points": 1000},
)
def forest_convergence(
    *, rows: int = 500, n_estimators: int = 100, points: int = 2000, random_state: int = 0
) -> Experiment:
    """Follow both errors as trees are added, and compare them over the columns tried.

    Parameters
    ----------
    rows, points : int
        Training and test rows of nested spheres, with six useless inputs.
    n_estimators : int
        Trees.
    random_state : int
        Of all draws.
    """
    data = make.nested_spheres(rows, useless=6, random_state=random_state)
    new = make.nested_spheres(points, useless=6, random_state=random_state + 1)
    columns = np.array([1, 2, 3, 5, 10])
    forests = [
        RandomForestClassifier(
            max_features=int(k), n_estimators=n_estimators, random_state=random_state
        ).fit(data.X, data.y)
        for k in columns
    ]
    test = np.array([np.mean(each.predict(new.X) != new.y) for each in forests])
    bag = np.array([out_of_bag(each) for each in forests])
    middle = forests[2]
    curve = middle.staged_error(new.X, new.y)
    outside = np.asarray(middle.oob_path_.error)
    error = np.hypot(np.sqrt(0.1 / rows), np.sqrt(0.1 / points))
    picked = int(np.argmin(bag))
    holds = (
        curve[0] > 1.3 * curve[-1]
        and np.ptp(curve[n_estimators // 2 :]) < 0.03
        and curve[-1] < curve[:5].min()
        and np.max(np.abs(bag - test)) < 4 * error
        and test[picked] < test.min() + 0.02
    )
    count = np.arange(1, n_estimators + 1)
    shown = np.unique(np.geomspace(1, n_estimators, 40).astype(int)) - 1
    return Experiment(
        columns={"trees": count, "test": curve, "out of bag": outside},
        holds=bool(holds),
        finding=f"one tree errs on {curve[0]:.3f}, {n_estimators} on {curve[-1]:.3f}, the second "
        f"half of them moves the error by {np.ptp(curve[n_estimators // 2 :]):.3f}; out-of-bag "
        "errors "
        + ", ".join(f"{b:.3f}" for b in bag)
        + " against test errors "
        + ", ".join(f"{t:.3f}" for t in test)
        + " for "
        + ", ".join(map(str, columns))
        + f" columns tried: out of bag picks {columns[picked]}",
        draw=partial(
            lines_chart,
            count[shown],
            {"test rows": curve[shown], "out of bag": outside[shown]},
            x_title="trees",
            y_title="misclassification",
            title="More trees do not overfit",
            subtitle="The rows a tree has not seen judge it as new rows do",
            log_x=True,
        ),
    )
