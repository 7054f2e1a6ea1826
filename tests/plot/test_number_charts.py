import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.plot import leaderboard_chart, observed_chart, residual_chart, target_chart
from bottega.plot.theme import DARK, LIGHT, config, decades, number, plain

BOARD = [
    {"method": "ridge", "title": "Ridge", "error": 2.0, "std_error": 0.25},
    {"method": "baseline", "title": "Mean", "error": 3.0, "std_error": 0.5},
    {"method": "knn", "title": "Neighbours", "error": 2.5, "std_error": 0.25},
]


def test_residuals_are_drawn_as_given(rows_of, layers_of):
    chart = residual_chart([1.0, 2.0, 3.0], [0.5, -0.5, 0.0], what="price")
    assert rows_of(chart) == [
        {"fitted": 1.0, "residual": 0.5},
        {"fitted": 2.0, "residual": -0.5},
        {"fitted": 3.0, "residual": 0.0},
    ]
    cloud, zero = layers_of(chart)
    assert cloud["encoding"]["x"]["title"] == "fitted price"
    assert zero["encoding"]["y"] == {"datum": 0}


def test_observed_is_on_the_y_axis_and_the_diagonal_spans_both(rows_of, layers_of):
    chart = observed_chart([1.0, 5.0], [2.0, 3.0])
    assert rows_of(chart) == [{"fitted": 2.0, "observed": 1.0}, {"fitted": 3.0, "observed": 5.0}]
    diagonal = layers_of(chart)[1]["encoding"]
    assert [diagonal[c]["datum"] for c in ("x", "y", "x2", "y2")] == [2.0, 2.0, 3.0, 3.0]


def test_large_data_are_sampled_the_same_way_twice(rows_of):
    fitted = np.arange(5000.0)
    one, two = residual_chart(fitted, -fitted), residual_chart(fitted, -fitted)
    rows = rows_of(one)
    assert rows == rows_of(two)
    assert len({row["fitted"] for row in rows}) == 2000
    assert all(row["residual"] == -row["fitted"] for row in rows)
    assert one.to_dict()["title"]["subtitle"] == ["A random 2,000 of 5,000 rows."]


def test_rows_without_numbers_are_left_out_and_counted(rows_of):
    chart = residual_chart([1.0, np.nan, 3.0], [0.0, 1.0, np.inf])
    assert rows_of(chart) == [{"fitted": 1.0, "residual": 0.0}]
    assert chart.to_dict()["title"]["subtitle"] == ["2 rows without a number are left out."]


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="equal length"):
        residual_chart([1.0], [1.0, 2.0])


def test_histogram_counts_every_row_once(rows_of):
    y = np.random.default_rng(0).gamma(2, size=1000)
    rows = rows_of(target_chart(y, "regression", name="price"))
    assert sum(row["rows"] for row in rows) == 1000
    assert rows[0]["low"] == pytest.approx(y.min(), rel=1e-6)
    assert rows[-1]["high"] == pytest.approx(y.max(), rel=1e-6)
    inside = [np.count_nonzero((y >= row["low"]) & (y < row["high"])) for row in rows[1:-1]]
    assert inside == [row["rows"] for row in rows[1:-1]]


def test_histogram_never_has_more_than_forty_bins(rows_of):
    y = np.concatenate([np.random.default_rng(0).normal(size=5000), [1e6]])
    assert len(rows_of(target_chart(y, "regression"))) == 40


def test_target_chart_refuses_an_unknown_task():
    with pytest.raises(ValueError, match="not 'ranking'"):
        target_chart([1.0], "ranking")
    with pytest.raises(ValueError, match="no number"):
        target_chart([np.nan], "regression")


@pytest.mark.parametrize("frame", [list, pd.DataFrame, pl.DataFrame])
def test_leaderboard_is_sorted_with_its_best_and_its_baseline(frame, rows_of, layers_of):
    chart = leaderboard_chart(frame(BOARD), loss="squared error")
    rows = rows_of(chart)
    assert [row["method"] for row in rows] == ["ridge", "knn", "baseline"]
    assert [(row["low"], row["high"]) for row in rows] == [(1.75, 2.25), (2.25, 2.75), (2.5, 3.5)]
    assert [row["best"] for row in rows] == [True, False, False]
    line = layers_of(chart)[0]
    assert line["mark"] == {"type": "rule", "style": "reference"}
    assert line["transform"] == [{"filter": "datum.method == 'baseline'"}]
    assert line["encoding"]["x"]["title"] == "mean squared error"


def test_leaderboard_without_baseline_says_so():
    chart = leaderboard_chart(BOARD[:1])
    assert "no baseline" in chart.to_dict()["title"]["subtitle"][0]


def test_leaderboard_of_equal_titles_tells_them_apart(rows_of):
    rows = rows_of(leaderboard_chart([{**row, "title": "Same"} for row in BOARD]))
    assert [row["title"] for row in rows] == ["Same (ridge)", "Same (knn)", "Same (baseline)"]


def test_empty_leaderboard_is_refused():
    with pytest.raises(ValueError, match="no method"):
        leaderboard_chart([])


def test_unvalidated_specification_is_the_same():
    chart = leaderboard_chart(BOARD)
    assert chart.to_dict(validate=False) == chart.to_dict()


def test_every_chart_says_in_words_what_it_shows():
    description = leaderboard_chart(BOARD, loss="squared error").to_dict()["description"]
    assert description == (
        "Dot chart of the mean squared error of 3 methods: Ridge 2, Neighbours 2.5, Mean 3."
    )


def _luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_colours_can_be_told_from_their_background(palette):
    # WCAG 2: 4.5 to 1 for text, 3 to 1 for what is drawn.
    ground = _luminance(palette["surface"])
    for name, color in palette.items():
        if name in ("surface", "grid", "rule"):
            continue
        light, dark = sorted([_luminance(color), ground], reverse=True)
        needed = 4.5 if name in ("ink", "muted", "c2") else 3
        assert (light + 0.05) / (dark + 0.05) >= needed, name


def test_palettes_have_the_same_names():
    assert list(LIGHT) == list(DARK)
    assert config(DARK)["title"]["color"] == DARK["ink"]


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-12, 1e12), st.floats(1.01, 1e12))
def test_ticks_of_a_log_axis_are_few_and_inside(low, ratio):
    ticks = decades(low, low * ratio)
    assert len(ticks) <= 9
    assert all(low * (1 - 1e-8) <= tick <= low * ratio * (1 + 1e-8) for tick in ticks)
    assert ticks == sorted(ticks)
    if ratio >= 10:
        assert ticks


@settings(max_examples=50, deadline=None)
@given(st.floats(allow_nan=True, allow_infinity=True))
def test_plain_is_valid_json_to_seven_digits(value):
    kept = plain(value)
    if np.isfinite(value):
        assert kept == pytest.approx(value, rel=1e-6)
    else:
        assert kept is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (np.nan, "–"), (1234567, "1,234,567"), (1e12, "1e+12"), (-1234.5, "−1,234")],
)
def test_numbers_as_a_reader_wants_them(value, text):
    assert number(value) == text


def test_drawing_library_is_loaded_only_to_draw():
    code = (
        "import sys, bottega.plot, bottega.report; "
        "sys.exit(bool({'altair', 'jinja2', 'vl_convert'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
