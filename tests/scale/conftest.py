"""One cluster of two worker processes for all tests of a run."""

import os

import numpy as np
import pandas as pd
import pytest


def needs(module):
    """Skip loudly where the extra is missing; fail where everything must be there."""
    if os.environ.get("BOTTEGA_REQUIRE_ALL") == "1":
        return
    pytest.importorskip(module, reason=f"{module} is missing: pip install 'bottega[scale]'")


@pytest.fixture(scope="session")
def cluster():
    needs("distributed")
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as made:
        yield made


@pytest.fixture
def by_value(request):
    """What is in the file of a test travels as it is: workers cannot import it."""
    import cloudpickle

    cloudpickle.register_pickle_by_value(request.module)
    yield
    cloudpickle.unregister_pickle_by_value(request.module)


@pytest.fixture(params=["cluster", "processes"])
def place(request):
    """Where work is sent: the arguments of `scale.on`."""
    if request.param == "processes":
        return {"where": "processes", "workers": 2}
    return {"where": request.getfixturevalue("cluster").scheduler_address}


@pytest.fixture(scope="session")
def rows():
    """Numbers with a response and three classes."""
    rng = np.random.default_rng(3)
    cluster = np.where(rng.random(700) < 0.4, -2.0, 2.0)  # also what the columns have in common
    X = 0.8 * cluster[:, None] + rng.normal(size=(700, 4))
    X = X * [1.0, 5.0, 0.3, 2.0] + [0.0, 100.0, -3.0, 1.0]
    y = X @ [1.0, -0.2, 4.0, 0.0] + rng.normal(size=700)
    label = np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    weight = rng.integers(1, 4, 700).astype(float)
    return X, y, label, weight


@pytest.fixture
def folder(tmp_path):
    """A messy table in Parquet files: gaps, dates, a late level, rows without a target."""
    rng = np.random.default_rng(0)
    n = 1_200
    size = rng.normal(50, 20, n)
    colour = rng.choice(["red", "blue"], n).astype(object)
    colour[-5:] = "late"
    frame = pd.DataFrame(
        {
            "size": size,
            "count": rng.integers(0, 9, n),
            "colour": colour,
            "member": rng.choice(["yes", "no"], n),
            "empty_first": np.where(np.arange(n) < 450, np.nan, rng.normal(size=n)),
            "weight": rng.integers(0, 3, n).astype(float),
            "y": 2 * size + 5 * (colour == "red") + rng.normal(size=n),
        }
    )
    frame["day"] = np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("timedelta64[D]")
    frame.loc[::7, "size"] = np.nan
    frame.loc[3::50, "y"] = np.nan
    path = tmp_path / "rows"
    path.mkdir()
    for number, start in enumerate(range(0, n, 400)):
        frame[start : start + 400].to_parquet(path / f"part{number}.parquet")
    return path
