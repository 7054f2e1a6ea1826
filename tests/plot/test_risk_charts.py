"""Charts of simulations of risk and of precision and recall."""

from types import SimpleNamespace

import numpy as np
import pytest

from bottega.core import BaselineRegressor
from bottega.core.errors import InputError
from bottega.data import make
from bottega.metrics import confusion
from bottega.neighbors import NearestNeighborsRegressor
from bottega.plot import confusion_table_chart, precision_recall_chart
from bottega.risk import bias_variance, consistency, learning_curve


def lines(rows, name, x="x"):
    return [(row[x], row["y"]) for row in rows if row["line"] == name]


def test_decomposition_along_the_knob(rows_of):
    found = bias_variance(
        NearestNeighborsRegressor(), make.sine, n=30, n_test=20, n_repeats=5, values=[1, 3, 9]
    )
    chart = found.plot()
    rows = rows_of(chart)
    assert lines(rows, "squared bias") == list(zip([1, 3, 9], found.bias2, strict=True))
    assert lines(rows, "expected error")[0][1] == pytest.approx(found.error[0])
    assert [y for _, y in lines(rows, "noise")] == [pytest.approx(0.09)] * 3
    spec = chart.to_dict()
    assert spec["title"]["text"] == "Bias and variance along n_neighbors"
    assert "n = 30, 5 training sets" in spec["title"]["subtitle"][0]


def test_decomposition_along_the_input(rows_of):
    points = [0.9, 0.1, 0.5]
    found = bias_variance(BaselineRegressor(), make.sine, points=points, n_repeats=5)
    rows = rows_of(found.plot())
    assert [x for x, _ in lines(rows, "variance")] == [0.1, 0.5, 0.9]
    expected = found.point_bias[0, 1] ** 2 - found.point_variance[0, 1] / 5
    assert lines(rows, "squared bias")[0][1] == pytest.approx(expected)


def test_decomposition_that_cannot_be_drawn():
    found = bias_variance(BaselineRegressor(), make.friedman1, n_repeats=3, n_test=5)
    with pytest.raises(InputError, match="one input only"):
        found.plot()
    words = bias_variance(
        NearestNeighborsRegressor(n_neighbors=3),
        make.sine,
        n_test=5,
        n_repeats=3,
        knob="weights",
        values=["uniform", "distance"],
    )
    with pytest.raises(InputError, match="no numbers"):
        words.plot()


def test_learning_curve(rows_of):
    curve = learning_curve(BaselineRegressor(), make.sine, [10, 100], n_repeats=4)
    chart = curve.plot()
    rows = rows_of(chart)
    first = rows[0]
    assert first["m"] == 10
    assert first["high"] - first["low"] == pytest.approx(4 * curve.risk_se[0], rel=1e-5)
    bayes = lines(rows, "Bayes risk", "m")
    assert bayes == [(10, 0.09), (100, 0.09)]
    assert "mean squared error" in chart.to_dict()["description"]


def test_learning_curve_without_bayes_risk(rows_of):
    curve = SimpleNamespace(
        train_sizes=np.array([5, 50]),
        risk=np.array([0.4, 0.3]),
        risk_se=np.array([0.01, 0.01]),
        train_error=np.array([0.1, 0.2]),
        bayes_risk=np.nan,
        loss="zero_one",
        n_repeats=3,
    )
    from bottega.plot import learning_curve_chart

    rows = rows_of(learning_curve_chart(curve))
    assert {row["line"] for row in rows} == {"expected risk ± 2 SE", "training error"}


def test_excess_has_the_line_of_its_slope(rows_of):
    def procedure_of(m):
        return BaselineRegressor()

    found = consistency(procedure_of, make.sine, [50, 100, 200, 400], n_repeats=4)
    rows = rows_of(found.plot())
    (name,) = {row["line"] for row in rows if row["line"].startswith("slope")}
    (x0, y0), (x1, y1) = lines(rows, name)
    assert (x0, x1) == found.used == (200, 400)
    assert np.log(y1 / y0) / np.log(x1 / x0) == pytest.approx(found.slope)


def test_precision_and_recall_of_two_methods(rows_of):
    one = SimpleNamespace(
        knob="k",
        values=np.array([1, 5, 9]),
        precision=np.array([0.6, 0.8, np.nan]),
        recall=np.array([0.7, 0.5, 0.0]),
        area=0.53,
    )
    rows = rows_of(precision_recall_chart({"neighbours": one, "other": one}))
    assert len(rows) == 4  # the point without precision is left out
    assert rows[1] == {
        "method": "neighbours (area 0.530)",
        "knob": "k = 5",
        "place": 1,
        "precision": 0.8,
        "recall": 0.5,
    }
    nothing = SimpleNamespace(**{**vars(one), "precision": np.full(3, np.nan)})
    with pytest.raises(InputError, match="nothing to draw"):
        precision_recall_chart({"": nothing})


def test_a_counted_table_is_drawn_as_its_rows_are(rows_of):
    from bottega.plot import confusion_chart

    rng = np.random.default_rng(0)
    y, predicted = rng.integers(0, 25, (2, 400))
    counted = confusion(y, predicted)
    assert rows_of(counted.plot()) == rows_of(confusion_chart(y, predicted))
    with pytest.raises(InputError, match="square"):
        confusion_table_chart([[1, 2]], ["a", "b"])
