"""Krippendorff's alpha, against its author's worked example."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError, ParameterError
from bottega.metrics import krippendorff_alpha

REFERENCE = Path(__file__).parents[1] / "reference/text/krippendorff_alpha.json"
CASES = json.loads(REFERENCE.read_text())["cases"]
# Four observers, twelve units; section C of Krippendorff (2011), "Computing Krippendorff's
# alpha-reliability", which prints alpha to three decimals for each measurement.
NONE = None
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]


@pytest.mark.parametrize(
    ("measurement", "printed"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_the_published_example(measurement, printed):
    found = krippendorff_alpha(np.array(OBSERVERS, dtype=object).T, measurement=measurement)
    assert found.value == pytest.approx(printed, abs=5e-4)  # as printed
    assert found.n_units == 11  # one has a single value
    assert found.coincidences.sum() == pytest.approx(40)
    low, high = found.interval(n_resamples=200)
    assert low < found.value < high


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("measurement", ["nominal", "ordinal", "interval", "ratio"])
def test_it_agrees_with_a_peer(case, measurement):
    found = krippendorff_alpha(CASES[case]["ratings"], measurement=measurement)
    # Closed forms of sums of some hundred numbers.
    assert found.value == pytest.approx(CASES[case][measurement], rel=1e-12, abs=1e-13)


def test_two_observers_without_gaps():
    """Section A of the same text: ten units, two values, alpha 0.095."""
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    found = krippendorff_alpha(np.column_stack([first, second]))
    assert found.value == pytest.approx(0.095, abs=5e-4)
    assert found.coincidences.tolist() == [[10, 4], [4, 2]]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=3), min_size=2, max_size=8))
def test_it_depends_on_no_order(rows):
    found = krippendorff_alpha(rows).value
    turned = krippendorff_alpha([row[::-1] for row in rows[::-1]]).value
    assert found == pytest.approx(turned, nan_ok=True)
    assert not found > 1 + 1e-12


def test_extremes():
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]).value == 1
    alike = krippendorff_alpha([["a", "a"], ["a", "a"]])
    assert np.isnan(alike.value)  # one class: chance alone agrees
    assert np.isnan(alike.interval(n_resamples=10)).all()
    assert krippendorff_alpha([["a", "b"], ["b", "a"]]).value < 0
    assert "alpha (nominal)" in str(krippendorff_alpha([["a", "a"], ["b", "c"]]))


def test_bad_ratings_are_refused():
    with pytest.raises(ParameterError, match="'nominal'"):
        krippendorff_alpha([["a", "a"]], measurement="cardinal")
    with pytest.raises(InputError, match="two annotators"):
        krippendorff_alpha([["a", None], [None, "b"]])
    with pytest.raises(InputError, match="'a', which is not a number"):
        krippendorff_alpha([["a", "a"]], measurement="interval")
    with pytest.raises(InputError, match="below zero"):
        krippendorff_alpha([[-1, 2]], measurement="ratio")
    with pytest.raises(InputError, match="one row per unit"):
        krippendorff_alpha(["a", "b"])
    with pytest.raises(InputError, match="texts and numbers"):
        krippendorff_alpha([["a", 1]])
