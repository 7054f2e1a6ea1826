"""Columns that a user chooses, the same way for trees and for models of mixed inputs."""

import numpy as np
import pandas as pd
import pytest

from bottega.additive import AdaptiveSplines, AdditiveModel
from bottega.core.errors import ParameterError
from bottega.data.chosen_columns import chosen_columns
from bottega.tree import TreeRegressor

NAMES = [f"c{j}" for j in range(12)]
MODELS = [AdditiveModel, AdaptiveSplines, TreeRegressor]


def shops():
    """Return rows whose effect is one of levels: a number that has no order."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.uniform(size=200), "shop": rng.integers(0, 4, 200)})
    return X, np.array([0.0, 5.0, -3.0, 2.0])[X["shop"]] + 0.1 * rng.normal(size=200)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("auto", []),
        ([], []),
        (["c3", "c1"], [3, 1]),
        ([-1, np.int64(0)], [11, 0]),
        (np.array([j == 4 for j in range(12)]), [4]),
        (tuple(j < 2 for j in range(12)), [0, 1]),
    ],
)
def test_names_positions_and_truth_values(given, expected):
    assert chosen_columns(given, NAMES, "columns") == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("c3", r"columns='c3' is not allowed; .* such as \['c3'\]"),
        (["c33"], "names a column 'c33' .* c9 and 2 more. Did you mean 'c3'"),
        ([12], "names 12, which is no column; X has the columns 0 to 11"),
        ([1.0], "names 1.0, which is no column"),
        ([True, 3], "names True, which is no column"),
        ([True, False], "2 truth values and X has 12 columns"),
    ],
)
def test_what_is_no_choice(given, message):
    with pytest.raises(ParameterError, match=message):
        chosen_columns(given, NAMES, "columns")


@pytest.mark.parametrize("kind", MODELS)
def test_every_model_takes_the_same_choices(kind):
    X, y = shops()
    found = [
        kind(categorical_features=given).fit(X, y).predict(X)
        for given in (["shop"], [1], [False, True], np.array([False, True]))
    ]
    for each in found[1:]:
        assert np.array_equal(each, found[0])
    assert np.mean((found[0] - y) ** 2) < 0.1


@pytest.mark.parametrize("kind", MODELS)
def test_one_name_is_no_list_of_names(kind):
    with pytest.raises(ParameterError, match="categorical_features='shop' is not allowed"):
        kind(categorical_features="shop").fit(*shops())
