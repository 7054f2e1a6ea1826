"""Every registered experiment supports its verdict, from a quick run with a fixed seed."""

import math

import numpy as np
import pytest
from scipy import stats

from bottega import course
from bottega.core.errors import InputError
from bottega.course._numbers import errors_above
from bottega.course.experiment import experiment
from bottega.plot import dots_chart

CALLS = {claim.call.__name__: claim for claim in course.CLAIMS.values()}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_verdict_is_supported(name):
    claim = CALLS[name]
    found = claim.call(**claim.quick)
    assert isinstance(found.holds, bool)
    assert found.holds, found.finding
    assert str(found) == f"supported: {found.finding}"
    frame = found.to_frame()
    assert len(frame) > 1
    assert list(frame.columns) == list(found.columns)
    chart = found.plot().to_dict()
    assert chart["title"]["text"]
    assert chart["description"]
    assert claim.verdict == "holds" or claim.verdict.startswith(("holds only if ", "wrong: "))
    assert getattr(course, name) is claim.call
    assert name in course.__all__


def test_a_verdict_can_fail():
    """The verdict is computed: a simulation starved of rows does not support it."""
    found = course.neighbor_schedules(rows=(20, 40), repeats=1)
    assert not found.holds
    assert str(found).startswith("NOT supported: ")


def test_claims_are_listed_in_the_order_of_the_notes():
    ids = course.claims()["id"].tolist()
    assert len(ids) == len(course.CLAIMS)
    assert ids[:2] == ["A-E01", "A-E02"]
    assert ids.index("D-E9") < ids.index("D-E10") < ids.index("M-X1")


def test_an_unknown_claim_and_one_registered_twice():
    with pytest.raises(InputError, match="no experiment 'A-E5'"):
        course.run("A-E5")
    with pytest.raises(ValueError, match="A-E05 is registered twice"):
        experiment("A-E05", claim="again", items="")(course.neighbors_sweep)


def test_paired_differences():
    assert errors_above([2, 2], [1, 1]) == math.inf
    assert errors_above([1, 1], [1, 1]) == 0
    gap = [1.0, 2.0, 4.0]
    assert errors_above(gap, [0, 0, 0]) == pytest.approx(stats.ttest_1samp(gap, 0).statistic)


def test_dots_have_one_row_per_name_and_leave_out_what_is_no_number():
    chart = dots_chart(["a", "b"], {"x": [1.0, 2.0], "y": [np.nan, -1.0]}, x_title="n", title="t")
    rows = chart.to_dict()["data"]["values"]
    assert [(row["name"], row["series"], row["x"]) for row in rows] == [
        ("a", "x", 1.0),
        ("b", "x", 2.0),
        ("b", "y", -1.0),
    ]
    chart = dots_chart(["a", "b"], {"x": [0.0, 2.0]}, x_title="n", title="t", log_x=True)
    assert len(chart.to_dict()["data"]["values"]) == 1
    with pytest.raises(ValueError, match="shorter"):
        dots_chart(["a", "b"], {"x": [1.0]}, x_title="n", title="t")
