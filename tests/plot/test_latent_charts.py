import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.plot import component_images_chart, latent_map_chart


def test_map_places_rows_and_names_them(rows_of, layers_of):
    chart = latent_map_chart(
        [[0.0, 1.0, 9.0], [2.0, -1.0, 9.0]], names=["Rome", "Oslo"], axes=("u", "v")
    )
    assert rows_of(chart) == [
        {"x": 0.0, "y": 1.0, "name": "Rome"},
        {"x": 2.0, "y": -1.0, "name": "Oslo"},
    ]
    points, words = layers_of(chart)
    assert points["encoding"]["x"]["title"] == "u"
    assert words["encoding"]["text"]["field"] == "name"
    assert (
        len(layers_of(latent_map_chart(np.zeros((31, 2)), names=np.arange(31)))) == 1
    )  # too many to name
    assert (
        len(layers_of(latent_map_chart(np.zeros((31, 2)), names=np.arange(31), show_names=True)))
        == 2
    )


def test_map_colours_classes_by_name_and_noise_last(rows_of, layers_of):
    chart = latent_map_chart(np.eye(4)[:, :2], labels=[10, -1, 2, 2])
    assert [row["label"] for row in rows_of(chart)] == ["10", "noise", "2", "2"]
    assert layers_of(chart)[0]["encoding"]["color"]["scale"]["domain"] == ["2", "10", "noise"]
    assert [row["solid"] for row in rows_of(chart)] == [1.0, 0.0, 1.0, 1.0]
    named = latent_map_chart(np.eye(2), labels=["b", "a"])
    assert layers_of(named)[0]["encoding"]["color"]["scale"]["domain"] == ["a", "b"]


def test_map_shades_numbers_from_low_to_high(rows_of):
    chart = latent_map_chart(np.zeros((3, 2)), labels=[1.0, 3.0, 2.0], label_title="age")
    assert [row["share"] for row in rows_of(chart)] == [0.0, 1.0, 0.5]
    assert chart.to_dict()["title"]["subtitle"] == ["age: from 1 (pale) to 3 (dark)."]


def test_map_of_many_rows_draws_some_and_says_so(rows_of):
    chart = latent_map_chart(np.random.default_rng(0).normal(size=(5_000, 1)))
    assert len(rows_of(chart)) == 2_000
    assert chart.to_dict()["title"]["subtitle"] == ["2,000 of 5,000 rows are drawn."]
    assert {row["y"] for row in rows_of(chart)} == {0.0}  # one coordinate lies on a line


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"points": np.zeros((2, 2, 2))}, "one row of coordinates per point"),
        ({"points": [[np.nan, 1.0]]}, "nothing to draw"),
        ({"points": np.eye(2), "names": ["a"]}, r"names has shape \(1,\)"),
        ({"points": np.eye(2), "labels": [1, 2, 3]}, r"labels has shape \(3,\)"),
    ],
)
def test_map_refuses_what_it_cannot_place(given, message):
    with pytest.raises(InputError, match=message):
        latent_map_chart(**given)


def test_images_put_entries_at_their_cells():
    chart = component_images_chart([[0.0, 2.0, 0.0, 0.0, 0.0, -4.0]], (2, 3))
    rows = chart.to_dict()["data"]["values"]
    assert [(row["top"], row["left"], row["share"]) for row in rows] == [(0, 1, 0.5), (1, 2, 1.0)]
    assert [row["kind"] for row in rows] == ["above zero", "below zero"]


def test_images_are_squares_or_lines_by_default():
    square = component_images_chart(np.ones((1, 9))).to_dict()["data"]["values"]
    line = component_images_chart(np.ones((1, 8))).to_dict()["data"]["values"]
    assert max(row["bottom"] for row in square) == 3
    assert max(row["bottom"] for row in line) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"components": np.ones(4)}, "a row per image"),
        ({"components": np.zeros((2, 4))}, "All components are zero"),
        ({"components": np.ones((1, 4)), "shape": (3, 2)}, "has not the 4 cells"),
        ({"components": np.ones((1, 4)), "names": ["a", "b"]}, "2 names for 1 components"),
    ],
)
def test_images_refuse_what_they_cannot_draw(given, message):
    with pytest.raises(InputError, match=message):
        component_images_chart(**given)
