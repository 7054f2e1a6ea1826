"""Charts of ratings, and of errors over two knobs."""

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.core.path import Path
from bottega.plot import error_grid_chart, ratings_chart


def test_known_ratings_stand_beside_predictions(rows_of):
    chart = ratings_chart(
        [[5, np.nan], [np.nan, 1]], [[4.6, 2.0], [3.0, 1.5]], ["Ann", "Bo"], ["Alien", "Up"]
    )
    rows = {(row["user"], row["item"]): row for row in rows_of(chart)}
    assert len(rows) == 4
    assert rows["Ann", "Alien"]["observed"] == 5
    assert rows["Ann", "Up"]["observed"] is None
    assert rows["Bo", "Up"]["predicted"] == 1.5
    assert "2 of 4 ratings shown are known" in chart.to_dict()["title"]["subtitle"][0]
    with pytest.raises(InputError, match="both must be"):
        ratings_chart([[5.0]], [[5.0]], ["Ann"], ["Alien", "Up"])


def test_the_picked_setting_and_the_least_error_are_marked(rows_of):
    settings = [{"n_components": k, "alpha": a} for k in (1, 2) for a in (4.0, 1.0)]
    path = Path(
        settings,
        train_error=[4, 3, 2, 1.0],
        error=[4, 2.25, 2.3, 2.2],
        error_se=[0.1] * 4,
        complexity=[0.5, 0.8, 1.5, 1.8],
        estimate="entries",
        loss="squared error",
        criteria={"rmse": np.sqrt([4, 2.25, 2.3, 2.2])},
        select="one_se",
    )
    rows = rows_of(error_grid_chart(path))
    assert [row.get("mark") for row in rows] == [None, "picked", None, "least error"]
    assert rows[1]["error"] == 1.5  # the root of the mean squared error
    least = rows_of(error_grid_chart(path, select="min"))
    assert [row.get("mark") for row in least] == [None, None, None, "picked"]
