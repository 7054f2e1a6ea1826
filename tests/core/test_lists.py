"""Parameters that may be several values."""

import numpy as np
import pytest

from bottega.core.lists import Alphas, Listed, alphas_of
from bottega.core.params import Integer, Real


def test_a_list_admits_what_its_item_admits():
    declared = Listed(Integer(1), help="sizes")
    assert declared.help == "sizes"
    for good in ([1, 2], (3,), np.array([4, 5])):
        assert declared.accepts(good)
    for bad in ([], [0], [1.5], 3, "12", [[1, 2]], None):
        assert not declared.accepts(bad)
    assert declared.describe() == "a list, each a whole number in [1, inf)"
    assert declared.schema() == {"type": "array", "items": {"type": "integer", "minimum": 1}}
    assert declared.parse("3,4") == [3, 4]
    with pytest.raises(ValueError, match="invalid literal"):
        declared.parse("3,x")


def test_alphas_are_a_number_of_penalties_or_the_penalties():
    assert Alphas(5).accepts(5)
    assert not Alphas(5).accepts(4)
    assert Alphas().accepts([0.0, 1.0])
    assert not Alphas(zero=False).accepts([0.0, 1.0])
    assert Alphas().parse("7") == 7
    assert Alphas().parse("0.1,1") == [0.1, 1.0]
    assert Real(0).accepts(Alphas().parse("0.1,1")[0])


def test_values_asked_for_come_before_the_parameter():
    assert alphas_of([1.0], [2.0]) == [1.0]
    assert alphas_of(None, [2.0]) == [2.0]
    assert alphas_of(None, 50) is None
