import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import ParameterError
from bottega.core.path import Path, along
from bottega.linear import ElasticNet, Ridge
from bottega.plot import coefficient_chart, path_chart


def make(values, error, train=None, se=None):
    m = len(values)
    return Path(
        along("alpha", values),
        df=np.arange(m) + 1.0,
        train_error=np.ones(m) if train is None else train,
        error=error,
        error_se=np.full(m, 0.1) if se is None else se,
        estimate="cv",
        loss="squared error",
    )


def x_of(layers):
    return next(layer["encoding"]["x"] for layer in layers if "x" in layer["encoding"])


def y_of(layers):
    return next(
        layer["encoding"]["y"]
        for layer in layers
        if layer["encoding"].get("y", {}).get("title") is not None
    )


def texts_of(layers):
    return [layer["mark"]["text"] for layer in layers if "text" in layer["mark"]]


def test_rows_are_the_path(curve, rows_of):
    rows = rows_of(path_chart(curve))
    assert [row["x"] for row in rows] == [9, 5, 1]
    assert [row["df"] for row in rows] == [1.0, 2.0, 10.0]
    assert [row["train"] for row in rows] == [4.0, 2.0, 0.0]
    assert [row["error"] for row in rows] == [4.1, 3.9, 6.0]
    assert [(row["low"], row["high"]) for row in rows] == [(3.9, 4.3), (3.6, 4.2), (5.5, 6.5)]


def test_picked_least_and_limit(curve, rows_of, layers_of):
    chart = path_chart(curve, select="one_se")
    marked = {row["mark"]: row for row in rows_of(chart) if "mark" in row}
    assert marked["picked"]["x"] == curve.values[curve.best("one_se")] == 9
    assert marked["least"]["x"] == curve.values[curve.best("min")] == 5
    assert marked["least"]["limit"] == 4.2  # 3.9 + 0.3
    assert sorted(texts_of(layers_of(chart))) == ["least error: k = 5", "picked: k = 9"]


def test_one_label_when_the_rule_picks_the_least(curve, rows_of, layers_of):
    chart = path_chart(curve, select="min")
    assert [row["x"] for row in rows_of(chart) if "mark" in row] == [5]
    assert texts_of(layers_of(chart)) == ["picked: k = 5"]


def test_pick_by_a_criterion(curve, layers_of):
    curve = dataclasses.replace(curve, criteria={"aic": np.array([3.0, 2.0, 1.0])})
    assert "picked: k = 1" in texts_of(layers_of(path_chart(curve, select="aic")))


def test_unknown_rule_is_refused(curve):
    with pytest.raises(ParameterError, match="no rule 'bic'"):
        path_chart(curve, select="bic")


def test_simplest_stands_left_whichever_way_the_knob_runs(layers_of):
    falling = path_chart(make([3.0, 2.0, 1.0], [3, 1, 2]))
    rising = path_chart(make([1.0, 2.0, 3.0], [3, 1, 2]))
    assert x_of(layers_of(falling))["scale"]["reverse"] is True
    assert x_of(layers_of(rising))["scale"]["reverse"] is False


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1000.0, 30.0, 1.0], "log"),
        ([4.0, 2.0, 1.0, 0.5], "log"),  # equal ratios over a factor of eight
        ([50.0, 30.0, 1.0], None),
        ([1000.0, 1.0, 0.0], "symlog"),
        ([-1000.0, 1.0, 1000.0], None),
    ],
)
def test_knob_axis_is_logarithmic_where_it_should_be(values, scale, layers_of):
    x = x_of(layers_of(path_chart(make(values, np.arange(len(values)) + 1.0))))
    assert x["scale"].get("type") == scale


def test_words_keep_their_order(rows_of, layers_of):
    chart = path_chart(make(np.array(["linear", "cubic", "any"]), [3, 1, 2]))
    assert x_of(layers_of(chart))["sort"] == ["linear", "cubic", "any"]
    assert [row["x"] for row in rows_of(chart)] == ["linear", "cubic", "any"]


def test_infinite_knob_and_error_can_be_drawn(rows_of):
    rows = rows_of(path_chart(make([np.inf, 1.0], [np.inf, 1.0])))
    assert [row["x"] for row in rows] == ["inf", "1"]
    assert [row["error"] for row in rows] == [None, 1.0]


def test_huge_range_of_error_is_drawn_on_a_log_axis(rows_of, layers_of):
    path = make([3.0, 2.0, 1.0], [2000.0, 1.0, 3.0], train=[1500.0, 0.5, 0.0], se=[100, 2.0, 0.1])
    chart = path_chart(path)
    y = y_of(layers_of(chart))
    assert y["scale"]["type"] == "log"
    low = y["scale"]["domain"][0]
    rows = rows_of(chart)
    assert low == pytest.approx(0.5 / 1.3)  # the least positive training error, and some room
    assert rows[1]["low"] == pytest.approx(low)  # 1 - 2 is below zero: the bar stops at the edge
    assert rows[2]["train"] is None  # zero has no logarithm


def test_axis_names_the_loss(curve, layers_of):
    assert y_of(layers_of(path_chart(curve)))["title"] == "mean squared error"


def test_missing_standard_errors_leave_out_the_limit(curve, layers_of):
    curve = dataclasses.replace(curve, error_se=np.full(3, np.nan))
    names = {
        layer["encoding"]["color"]["scale"]["domain"][-1]
        for layer in layers_of(path_chart(curve, select="min"))
        if "color" in layer["encoding"]
    }
    assert names == {"training error"}


def test_long_path_is_thinned_but_keeps_what_is_marked(rows_of):
    m = 5000
    error = 2.0 + np.abs(np.arange(m) - 1234) / m
    path = make(np.arange(m) + 1.0, error, se=np.full(m, 1e-5))
    rows = rows_of(path_chart(path, select="min"))
    assert len(rows) <= 402
    assert [row["x"] for row in rows if "mark" in row] == [1235.0]
    assert (rows[0]["x"], rows[-1]["x"]) == (1.0, 5000.0)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e3), st.sampled_from([1, 1e3])
        ),
        min_size=1,
        max_size=12,
    )
)
def test_every_point_lies_inside_the_axis(points):
    error, train, se, factor = (np.array(column) for column in zip(*points, strict=True))
    path = make(np.arange(len(points)) + 1.0, error * factor, train, se)
    spec = path_chart(path).to_dict(validate=False)
    low, high = y_of(spec["layer"])["scale"]["domain"]
    room = 1e-6 * (abs(low) + abs(high))  # the specification holds seven digits
    rows = spec["data"]["values"]
    for row in rows:
        assert low - room <= row["low"]
        assert row["high"] <= high + room


def test_coefficients_against_df_with_the_picked_model(curve, rows_of):
    rows = rows_of(coefficient_chart(curve, names=["rooms", "age"]))
    # "age" grows to 3, "rooms" to 1: the largest comes first.
    assert [row["coef"] for row in rows if row["name"] == "age"] == [-0.2, -0.4, -3.0]
    assert [row["df"] for row in rows if row["name"] == "rooms"] == [1.0, 2.0, 10.0]
    assert {row["df"] for row in rows if row.get("picked")} == {curve.df[curve.best("one_se")]}
    assert rows[0]["name"] == "age"


def test_only_the_thirty_largest_coefficients_are_drawn(curve, rows_of):
    coef = np.outer([0.0, 0.5, 1.0], np.arange(100.0))
    chart = coefficient_chart(dataclasses.replace(curve, coef=coef))
    assert {row["name"] for row in rows_of(chart)} == {f"x{j}" for j in range(70, 100)}
    assert "30 largest of 100" in chart.to_dict()["title"]["subtitle"][0]


def test_coefficients_are_refused_where_there_are_none(curve):
    with pytest.raises(ValueError, match="no coefficients"):
        coefficient_chart(dataclasses.replace(curve, coef=None))
    with pytest.raises(ValueError, match="one response"):
        coefficient_chart(dataclasses.replace(curve, coef=np.zeros((3, 2, 2))))
    with pytest.raises(ValueError, match="3 entries for 2"):
        coefficient_chart(curve, names=["a", "b", "c"])


def over_two_knobs(C, gamma, select=None):
    m = len(C)
    return Path(
        [{"C": c, "gamma": g} for c, g in zip(C, gamma, strict=True)],
        complexity=np.arange(m) + 1.0,
        train_error=np.linspace(3, 1, m),
        error=3 - np.arange(m) % (m - 1),
        error_se=np.full(m, 0.1),
        estimate="cv",
        loss="misclassification",
        select=select,
    )


def test_a_path_over_two_knobs_has_a_line_per_value_of_the_second(rows_of, layers_of):
    path = over_two_knobs([9.0, 1.0, 4.0, 9.0, 2.0], [0.1, 2.0, 0.1, 2.0, 0.1])
    chart = path_chart(path, select="min")
    assert chart.to_dict()["title"]["text"] == "Error along C, gamma"
    rows = rows_of(chart)
    assert [row["x"] for row in rows] == [9, 1, 4, 9, 2]
    families = ["0.1", "2"]
    assert [row["family"] for row in rows] == [families[i] for i in (0, 1, 0, 1, 0)]
    assert all("df" not in row for row in rows)
    assert texts_of(layers_of(chart)) == ["picked: C = 9, gamma = 2"]
    assert x_of(layers_of(chart))["title"] == "C  (more complex →)"
    lines = [layer for layer in layers_of(chart) if layer["mark"]["type"] == "line"]
    assert len(lines) == 2
    assert all(line["encoding"]["color"]["scale"]["domain"] == families for line in lines)


def test_more_lines_than_can_be_told_apart_are_drawn_by_complexity(rows_of, layers_of):
    many = np.arange(30.0)
    chart = path_chart(over_two_knobs(many, many[::-1]))
    assert [row["x"] for row in rows_of(chart)] == (many + 1).tolist()
    assert x_of(layers_of(chart))["title"] == "complexity  (more complex →)"


def test_the_rule_of_the_path_is_marked(curve, layers_of):
    marked = dataclasses.replace(curve, select="min")
    assert texts_of(layers_of(marked.plot())) == ["picked: k = 5"]
    assert "picked: k = 9" in texts_of(layers_of(marked.plot(select="one_se")))
    model = Ridge(select="aic").fit(*sample_rows())
    assert "least AIC" in str(model.path_.plot().to_dict()["title"])
    assert model.path(*sample_rows()).select == "aic"


def test_a_path_that_was_not_judged_is_drawn_by_its_criterion():
    given = {"df": [1, 2], "train_error": [2, 1], "loss": "squared error", "select": "bic"}
    path = Path(along("alpha", [2.0, 1.0]), criteria={"bic": [3.0, 2.0]}, **given)
    assert path.plot().to_dict()["title"]["text"] == "Criteria along alpha"
    assert "picked by bic" in repr(path)


def test_a_parameter_that_stays_the_same_is_not_said_to_be_picked(layers_of):
    path = ElasticNet(l1_ratio=0.5).fit(*sample_rows()).path_
    assert path.varying == ("alpha",)
    assert all("l1_ratio" not in text for text in texts_of(layers_of(path.plot())))
    both = ElasticNet(l1_ratio="auto").fit(*sample_rows()).path_
    assert all("l1_ratio" in text for text in texts_of(layers_of(both.plot())))


def sample_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, X[:, 0] - X[:, 1] + rng.normal(size=60)


def test_coefficients_of_a_path_without_df_are_drawn_against_the_knob(curve, rows_of, layers_of):
    plain = dataclasses.replace(curve, df=None)
    chart = coefficient_chart(plain)
    assert x_of(layers_of(chart))["title"] == "k  (more complex →)"
    assert all("df" not in row for row in rows_of(chart))
    assert "degrees of freedom" not in chart.to_dict()["description"]
