"""Charts of networks: attention maps, activation functions, graphs with notes."""

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.plot import activation_functions_chart, attention_chart, directed_graph_chart


def test_attention_has_a_cell_per_pair():
    chart = attention_chart([[0.9, 0.1], [0.4, 0.6]], ["the", "cat"]).to_dict()
    cells = {(row["from"], row["to"]): row["weight"] for row in chart["data"]["values"]}
    assert cells == {
        ("the", "the"): 0.9, ("the", "cat"): 0.1, ("cat", "the"): 0.4, ("cat", "cat"): 0.6
    }  # fmt: skip
    assert chart["encoding"]["color"]["scale"]["domain"] == [0, 0.9]


def test_negative_weights_have_a_scale_about_zero():
    chart = attention_chart([[-2.0, 1.0], [0.5, 0.0]]).to_dict()
    assert chart["encoding"]["color"]["scale"]["domain"] == [-2, 2]


@pytest.mark.parametrize("bad", [np.zeros((2, 3)), np.zeros((0, 0)), np.zeros((61, 61))])
def test_attention_takes_small_squares(bad):
    with pytest.raises(InputError, match="give a square of at most 60"):
        attention_chart(bad)


def test_names_are_one_per_place():
    with pytest.raises(InputError, match="1 names for 2 places"):
        attention_chart(np.eye(2), ["a"])


def test_activation_functions_have_two_lines_each():
    chart = activation_functions_chart([0.0, 1.0], {"square": ([0.0, 1.0], [0.0, 2.0])}).to_dict()
    rows = chart["data"]["values"]
    assert [(row["kind"], row["y"]) for row in rows] == [
        ("function", 0), ("function", 1), ("derivative", 0), ("derivative", 2)
    ]  # fmt: skip
    with pytest.raises(InputError, match="derivative of 'square'"):
        activation_functions_chart([0.0, 1.0], {"square": ([0.0, 1.0], [0.0])})


def test_notes_stand_under_names():
    chart = directed_graph_chart(
        {"a": [], "b": ["a"]}, notes={"b": "4 ← 1"}, subtitle="values"
    ).to_dict()
    rows = chart["data"]["values"]
    (note,) = (row for row in rows if row["kind"] == "note")
    box = next(row for row in rows if row["kind"] == "node" and row["name"] == "b")
    assert note["text"] == "4 ← 1"
    assert box["y"] < note["y"] < box["bottom"]
    assert chart["title"]["subtitle"] == ["values"]
