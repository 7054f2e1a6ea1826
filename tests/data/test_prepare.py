"""Each method gets the preprocessing its card asks for."""

import numpy as np
import pandas as pd
import pytest

from bottega.core import BaselineRegressor
from bottega.data import Table, prepare
from bottega.linear import Ridge
from bottega.neighbors import NearestNeighborsRegressor

AREA = 2  # behind the two columns of the towns


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["Pisa", "Lucca"], 40), "area": rng.normal(size=40)})
    frame.loc[3, "area"] = np.nan
    frame["price"] = 3 * frame["area"].fillna(0) + (frame["town"] == "Pisa")
    return Table(frame, target="price")


def test_numbers_for_those_that_need_them_on_one_scale_where_asked(table):
    model = prepare(NearestNeighborsRegressor(n_neighbors=3), table).fit(table.X, table.y)
    area = model[0].transform(table.X)[:, AREA]
    assert area.mean() == pytest.approx(0, abs=1e-12)
    assert area.std() == pytest.approx(1)
    raw = prepare(Ridge(alpha=1.0), table).fit(table.X, table.y)
    seen = ~np.isnan(table.X["area"])
    assert raw[0].transform(table.X)[seen, AREA] == pytest.approx(table.X["area"][seen])
    assert raw.score(table.X, table.y) > 0.9


def test_the_table_as_it_is_for_those_that_take_it(table):
    model = prepare(BaselineRegressor(), table).fit(table.X, table.y)
    assert len(model.steps) == 1
    assert model.predict(table.X) == pytest.approx(np.full(40, table.y.mean()))
