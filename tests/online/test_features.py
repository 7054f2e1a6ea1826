import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher

from bottega.core.errors import InputError
from bottega.online import OnlineGradientDescentClassifier, hashed_rows


def test_rows_are_scikit_learns_hashes():
    named = [{"a": 1.5, "shop": "north"}, {"b": -2.0}]
    expected = FeatureHasher(64).transform(named)
    assert (hashed_rows(named, 64) != expected).nnz == 0
    words = [["red", "red"], ["blue"]]
    expected = FeatureHasher(64, input_type="string").transform(words)
    assert (hashed_rows(words, 64) != expected).nnz == 0


def test_a_stream_of_named_values_is_learned():
    rng = np.random.default_rng(0)
    model = OnlineGradientDescentClassifier(radius=5.0)
    for _ in range(20):
        colour = rng.choice(["red", "green", "blue"], size=100)
        rows = [{"colour": str(c), "noise": float(rng.normal())} for c in colour]
        model.partial_fit(hashed_rows(rows, 1 << 10), colour == "red", classes=[False, True])
    new = hashed_rows([{"colour": "red"}, {"colour": "green"}, {"colour": "blue"}], 1 << 10)
    assert model.predict(new).tolist() == [True, False, False]


def test_bad_input():
    with pytest.raises(InputError, match="no rows"):
        hashed_rows([])
    with pytest.raises(InputError, match="one kind"):
        hashed_rows([{"a": 1.0}, ["a"]])
    with pytest.raises(InputError, match="split it"):
        hashed_rows(["some words"])
