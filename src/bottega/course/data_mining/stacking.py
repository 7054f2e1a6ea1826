"""Lecture 22: stacking and bumping."""

from functools import partial

import numpy as np

from bottega.basis import Polynomial
from bottega.course._numbers import errors_above
from bottega.course.experiment import Experiment, experiment
from bottega.ensemble import (
    BumpingClassifier,
)
from bottega.linear import LeastSquares
from bottega.optimize.nonnegative import nonnegative_least_squares
from bottega.plot import dots_chart, lines_chart
from bottega.tree import TreeClassifier

__all__ = ["bumping_on_xor", "stacking_weights"]


@experiment(
    "D-E33",
    claim="Weights of stacking by least squares on fitted values favour complex members; "
    "leave-one-out predictions with weights of at least 0 do not.",
    items="D188",
)
def stacking_weights(
    *,
    rows: int = 40,
    noise: float = 0.5,
    degrees: tuple[int, ...] = (1, 3, 9, 15),
    repeats: int = 60,
    random_state: int = 0,
) -> Experiment:
    """Stack polynomials of a sine, some far too complex, in both ways.

    Fitted by least squares the members are nested, so on their own fitted values all weight goes
    to the largest, exactly.

    Parameters
    ----------
    rows : int
        Rows, evenly spaced.
    noise : float
        Standard deviation of the noise.
    degrees : tuple of int
        Degrees of the members.
    repeats : int
        Data sets.
    random_state : int
        Of the noise.
    """
    rng = np.random.default_rng(random_state)
    x = ((np.arange(rows) + 0.5) / rows)[:, None]
    truth = np.sin(2 * np.pi * x[:, 0])
    Y = truth[:, None] + noise * rng.normal(size=(rows, repeats))
    smoothers = []
    for degree in degrees:
        design = Polynomial(degree).fit(x).transform(x)
        smoothers.append(LeastSquares().fit(design, Y).smoother_)
    naive, honest = np.zeros((repeats, len(degrees))), np.zeros((repeats, len(degrees)))
    risk = {
        "least squares on fits": np.zeros(repeats),
        "leave-one-out, weights >= 0": np.zeros(repeats),
    }
    for r in range(repeats):
        fitted = np.column_stack([each.fitted[:, r] for each in smoothers])
        unseen = Y[:, [r]] - np.column_stack([each.loo_residuals[:, r] for each in smoothers])
        naive[r] = np.linalg.lstsq(fitted, Y[:, r], rcond=None)[0]
        honest[r] = nonnegative_least_squares(unseen, Y[:, r])
        for name, weight in zip(risk, (naive[r], honest[r]), strict=True):
            risk[name][r] = np.mean((fitted @ weight - truth) ** 2)
    simple = int(np.argmin([np.mean((each.fitted - truth[:, None]) ** 2) for each in smoothers]))
    first, second = risk.values()
    holds = (
        np.allclose(naive[:, -1], 1, atol=1e-8)
        and np.allclose(naive[:, :-1], 0, atol=1e-8)
        and np.argmax(honest.mean(axis=0)) == simple
        and honest[:, -1].mean() < 0.2
        and errors_above(first, second) > 5
        and np.all(honest >= 0)
    )
    names = [f"degree {degree}" for degree in degrees]
    return Experiment(
        columns={
            "member": names,
            "least squares on fits": naive.mean(axis=0),
            "leave-one-out": honest.mean(axis=0),
        },
        holds=bool(holds),
        finding="mean weights "
        + ", ".join(f"{w:.2f}" for w in naive.mean(axis=0))
        + " by least squares on fits, "
        + ", ".join(f"{w:.2f}" for w in honest.mean(axis=0))
        + " by leave-one-out, for degrees "
        + ", ".join(map(str, degrees))
        + f"; squared distance from the truth {first.mean():.3f} and {second.mean():.3f}",
        draw=partial(
            dots_chart,
            names,
            {
                "least squares on fitted values": naive.mean(axis=0),
                "leave-one-out, weights of at least 0": honest.mean(axis=0),
            },
            x_title="mean weight",
            title="Stacking has to pay for complexity",
            subtitle=f"Polynomials for a sine, {rows} rows",
        ),
    )


@experiment(
    "D-E36",
    claim="Bumping finds a good single tree where greedy growth fails.",
    items="D191",
)
def bumping_on_xor(*, side: int = 10, tries: int = 40, random_state: int = 0) -> Experiment:
    """Grow trees of depth two on a balanced XOR and on bootstrap samples of it.

    On the balanced grid no first split lowers the impurity, so greedy growth sees no way on. A
    bootstrap sample is off balance; where its first cut is a central one, the next two finish.

    Parameters
    ----------
    side : int
        Points along each side of the grid.
    tries : int
        Bootstrap samples.
    random_state : int
        Of the samples.
    """
    ticks = np.linspace(-1, 1, side)
    X = np.array([(a, b) for a in ticks for b in ticks])
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    base = TreeClassifier(0.0, max_depth=2, min_impurity_decrease=1e-9)  # only where it gains
    model = BumpingClassifier(base, n_estimators=tries, random_state=random_state).fit(X, y)
    greedy = float(model.errors_[0])
    best = np.minimum.accumulate(model.errors_)
    holds = greedy >= 0.25 and best[-1] <= 0.1 and model.estimator_.nodes_.max_depth <= 2
    count = np.arange(tries + 1)
    return Experiment(
        columns={"samples": count, "error": model.errors_, "best so far": best},
        holds=bool(holds),
        finding=f"the greedy tree errs on {greedy:.0%} of the grid, the best of {tries} bootstrap "
        f"trees of the same depth on {best[-1]:.0%}, with {model.estimator_.nodes_.n_leaves} "
        "leaves",
        draw=partial(
            lines_chart,
            count,
            {"each tree": model.errors_, "best so far": best},
            x_title="bootstrap samples",
            y_title="error on the grid",
            title="Bumping leaves a bad start behind",
            subtitle=f"XOR on a balanced grid of {side} by {side}, trees of depth two",
        ),
    )
