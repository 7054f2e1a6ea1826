"""A number out of all proportion to the others of its column is named."""

import numpy as np
import pandas as pd
import pytest

from bottega.data import Table


def findings_of(values):
    y = np.arange(len(values)) % 7
    table = Table(pd.DataFrame({"x": values, "y": y.astype(float) + 0.5}), target="y")
    return [found.message for found in table.warnings if found.code == "far"]


def test_one_slip_of_the_pen_is_named():
    values = np.random.default_rng(0).normal(size=200)
    assert findings_of(values) == []
    values[7] = -1e9
    (message,) = findings_of(values)
    assert "'x' holds -1e+09, while half of its values lie between" in message
    values[8] = 1e8
    (message,) = findings_of(values)
    assert "'x' holds -1e+09 and 1 more such, while half" in message


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).lognormal(10, 2, size=300),  # a long tail is no mistake
        np.r_[np.random.default_rng(0).normal(size=90), np.full(10, 1e9)],  # nor is a group of rows
        np.r_[np.zeros(99), 5.0],  # the quartiles are equal: nothing to compare with
        np.r_[np.arange(8.0), 1e9],  # few rows
        np.random.default_rng(0).normal(size=200) * 1e300,
    ],
)
def test_what_may_well_be_so_is_not_named(values):
    assert findings_of(values) == []
