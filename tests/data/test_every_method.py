"""One messy table, every method: dates, written numbers, rare and new levels, gaps."""

import warnings

import numpy as np
import pandas as pd
import pytest

from bottega.data import Table, prepare
from bottega.registry import methods

N = 40
CASES = [
    pytest.param(task, method, id=f"{task}-{name}")
    for task in ("regression", "classification")
    for name, method in methods(task).items()
    if "number" in method.card.takes and method.card.n_inputs is None
]


def messy(task):
    """Return a table whose row 0 holds a level that no other row has."""
    rng = np.random.default_rng(0)
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D")
    frame = pd.DataFrame(
        {
            "when": days,
            "town": rng.choice(["Pisa", "Lucca"], N),
            "price": [f"${v:,}" for v in rng.integers(500, 3000, N)],
            "cylinders": rng.choice(["4", "6", "8"], N),
            "x": rng.normal(size=N),
        }
    )
    y = frame["x"] + rng.normal(size=N)
    frame.loc[3, "when"], frame.loc[5, "x"] = pd.NaT, np.nan
    frame.loc[0, "town"], frame.loc[7, "cylinders"] = "Roma", "rotary"
    frame["y"] = y if task == "regression" else np.where(y > 0, "a", "b")
    return frame


@pytest.mark.parametrize(("task", "method"), CASES)
def test_a_messy_table(task, method):
    frame = messy(task)
    table = Table(frame, target="y")
    assert table.task == task
    part = table.take(np.arange(1, N))
    new = frame.drop(columns="y").assign(extra=1)[
        ["extra", "x", "cylinders", "price", "town", "when"]
    ]
    new.loc[1, "town"] = "Siena"
    new.loc[2, "x"] = np.inf if method.card.categories is False else np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # methods say that the levels are collinear, and the like
        model = prepare(method(), table).fit(part.X, part.y)
        found = model.predict(new)
    assert len(found) == N
    if task == "regression":
        assert np.isfinite(found).all()
    else:
        assert set(found) <= {"a", "b"}
