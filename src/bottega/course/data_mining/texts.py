"""Lecture 24: proportions of labels in texts that nobody has read."""

from functools import partial

import numpy as np

from bottega.course._numbers import errors_above
from bottega.course.experiment import Experiment, experiment
from bottega.plot import lines_chart
from bottega.text import AggregateProportions

__all__ = ["errors_of_totals"]


@experiment(
    "D-E19",
    claim="An error of 2-3 % on single texts may be one of 20 % on their totals; the inversion "
    "P(S) = P(S|D) P(D) repairs it.",
    items="D222-D224",
    verdict="holds only if the unread texts have other proportions than the tagged ones",
    quick={"repeats": 6},
)
def errors_of_totals(
    *,
    tagged: int = 3000,
    unread: int = 2000,
    rare: float = 0.05,
    shifts: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 0.6),
    repeats: int = 20,
    random_state: int = 0,
) -> Experiment:
    """Tag texts of which few are against, and estimate how many are where more and more are.

    Where 5 % are against, a classifier that misses half of those errs on few texts, and is right
    to: a text must be very unlike the others to be worth calling against. It goes on missing them
    where they are many, and the count with it.

    Parameters
    ----------
    tagged, unread : int
        Number of texts.
    rare : float
        Share of texts against among the tagged.
    shifts : tuple of float
        Shares of texts against among the unread.
    repeats : int
        Data sets.
    random_state : int
        Of the texts.
    """
    rng = np.random.default_rng(random_state)
    often = rng.uniform(0.05, 0.6, size=(2, 30))
    names = {"classify and count": "count", "inversion": "inversion"}
    off = {name: np.zeros((repeats, len(shifts))) for name in names}
    single = np.zeros(repeats)
    for r in range(repeats):
        S, D = _texts(tagged, rare, often, rng)
        models = {
            name: AggregateProportions(method, cv=5, random_state=r).fit(S, D)
            for name, method in names.items()
        }
        answers = models["classify and count"].answers_.tagged.argmax(axis=1)
        single[r] = np.mean(answers != D)
        for j, share in enumerate(shifts):
            new, truth = _texts(unread, share, often, rng)
            for name, model in models.items():
                off[name][r, j] = np.abs(model.predict(new)[1] - truth.mean())
    counted, inverted = off["classify and count"], off["inversion"]
    holds = (
        0.015 < single.mean() < 0.035
        and counted.mean(axis=0)[0] < 0.03
        and counted.mean(axis=0)[-1] > 0.15
        and inverted.mean(axis=0).max() < 0.06
        and errors_above(counted[:, -1], inverted[:, -1]) > 5
    )
    return Experiment(
        columns={
            "share against": list(shifts),
            "classify and count": counted.mean(axis=0),
            "inversion": inverted.mean(axis=0),
        },
        holds=bool(holds),
        finding=f"an error of {single.mean():.1%} on single tagged texts is one of "
        f"{counted.mean(axis=0)[0]:.1%} on the share against where it is {shifts[0]:.0%}, and of "
        f"{counted.mean(axis=0)[-1]:.0%} where it is {shifts[-1]:.0%}; the inversion is off by at "
        f"most {inverted.mean(axis=0).max():.1%} on average",
        draw=partial(
            lines_chart,
            list(shifts),
            {name: values.mean(axis=0) for name, values in off.items()},
            x_title="share of unread texts that are against",
            y_title="mean absolute error of the estimated share",
            title="Errors on single texts do not cancel in totals",
            subtitle=f"{rare:.0%} of the tagged texts are against; the classifier errs on "
            f"{single.mean():.1%} of them all",
        ),
    )


def _texts(n, share, often, rng):
    """Return which of the stems texts have, and whether each text is against."""
    against = (rng.random(n) < share).astype(int)
    return (rng.random((n, often.shape[1])) < often[against]).astype(np.float64), against
