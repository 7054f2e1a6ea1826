"""Charts of latent structure: their data against numbers computed by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from bottega.core.errors import InputError
from bottega.core.path import Path, along
from bottega.latent import PCA
from bottega.plot import biplot_chart, criteria_chart, image_grid_chart, scree_chart

# ---- scree ---------------------------------------------------------------------------------------


def test_scree_tells_shares_and_what_chance_gives(rows_of):
    chart = scree_chart([6.0, 3.0, 1.0], limits=[2.0, 4.0, 0.5], kept=2)
    rows = rows_of(chart)
    assert [row["share"] for row in rows] == pytest.approx([0.6, 0.3, 0.1])
    assert [row["reached"] for row in rows] == pytest.approx([0.6, 0.9, 1.0])
    assert [row["kept"] for row in rows] == [True, True, False]
    assert [row["limit"] for row in rows] == [2.0, 4.0, 0.5]
    # The second is below its limit: the third does not count, though it is above.
    text = chart.to_dict()["title"]["subtitle"][0]
    assert "90.0%" in text
    assert "would keep 1." in text


def test_scree_without_a_component_says_so():
    chart = scree_chart([2.0, 1.0], limits=[3.0, 2.0], kept=0)
    assert chart.title.subtitle[0] == "None kept. Parallel analysis would keep none."


def test_scree_of_some_directions_has_shares_of_all(rows_of):
    rows = rows_of(scree_chart([6.0, 3.0], total=12.0))
    assert [row["share"] for row in rows] == pytest.approx([0.5, 0.25])
    assert "limit" not in rows[0]


def test_bad_scree_is_refused():
    with pytest.raises(InputError, match="limits has shape"):
        scree_chart([1.0, 2.0], limits=[1.0])
    with pytest.raises(InputError, match="list of numbers"):
        scree_chart([])


def test_scree_of_a_model_draws_parallel_analysis(rows_of):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1)) @ np.ones((1, 4)) + rng.normal(size=(100, 4))
    chart = PCA(1).fit(X).scree()
    assert "would keep 1." in chart.to_dict()["title"]["subtitle"][0]
    assert len(rows_of(chart)) == 4
    assert "limit" not in rows_of(PCA(1).fit(X).scree(parallel=False))[0]


# ---- biplot --------------------------------------------------------------------------------------


def test_biplot_arrows_are_stretched_by_one_factor(rows_of):
    Z = np.array([[4.0, 0.0], [-4.0, 1.0]])
    arrows = np.array([[2.0, 0.0], [0.0, -1.0]])
    rows = rows_of(biplot_chart(Z, arrows, ["a", "b"], labels=["u", "v"]))
    points = [row for row in rows if row["kind"] == "row"]
    assert [(row["x"], row["y"], row["label"]) for row in points] == [(4, 0, "u"), (-4, 1, "v")]
    drawn = [row for row in rows if row["kind"] == "arrow"]
    tips = np.array([[row["tx"], row["ty"]] for row in drawn])
    assert_allclose(tips, arrows * 0.85 * 4 / 2)
    assert [row["angle"] for row in drawn] == [90, 180]  # to the right, and down


def test_biplot_words_do_not_cover_each_other(rows_of):
    Z = np.array([[4.0, 0.0], [-4.0, 1.0]])
    rows = rows_of(biplot_chart(Z, [[2.0, 0.01], [2.0, 0.0], [2.0, 0.02]], ["a", "b", "c"]))
    heights = sorted(row["ly"] for row in rows if row["kind"] == "arrow")
    assert np.all(np.diff(heights) >= 0.29)  # a line of text


def test_biplot_of_a_model(rows_of):
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = PCA(2).fit(X)
    rows = rows_of(model.biplot(X, components=(2, 1)))
    points = np.array([[row["x"], row["y"]] for row in rows if row["kind"] == "row"])
    assert_allclose(points, model.transform(X)[:, ::-1], rtol=1e-6)
    with pytest.raises(InputError, match="from 1 to 2"):
        model.biplot(X, components=(1, 3))
    with pytest.raises(InputError, match="labels has shape"):
        model.biplot(X, labels=["a"])
    with pytest.raises(InputError, match="two components per row"):
        biplot_chart(X, X, ["a"])


# ---- images --------------------------------------------------------------------------------------


def test_images_are_drawn_pixel_by_pixel(rows_of):
    rows = rows_of(image_grid_chart([[[1, 2, 3, 4, 5, 6]], [[6, 5, 4, 3, 2, 1]]], "ab", (2, 3)))
    assert len(rows) == 12
    first = {(row["y"], row["x"]): row["value"] for row in rows if row["column"] == "a"}
    assert first == {(0, 0): 1, (0, 1): 2, (0, 2): 3, (1, 0): 4, (1, 1): 5, (1, 2): 6}


def test_digits_from_few_components(rows_of):
    X = load_digits().data[:200]
    model = PCA(10).fit(X)
    chart = model.reconstruction_grid(X[:3], (8, 8))
    rows = rows_of(chart)
    assert {row["column"] for row in rows} == {
        *("image", "1 component", "2 components", "5 components", "10 components")
    }
    rebuilt = [row["value"] for row in rows if row["column"] == "10 components"]
    expected = model.inverse_transform(model.transform(X[:3]))
    assert_allclose(rebuilt, expected.ravel(), rtol=1e-5, atol=1e-6)
    errors = [np.mean((each - X) ** 2) for each in model.reconstructions(X, [0, 1, 2, 5, 10])]
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] * 64 == pytest.approx(model.reconstruction_error_)


def test_bad_images_are_refused():
    with pytest.raises(InputError, match="3 by 3"):
        image_grid_chart([[[1, 2, 3, 4]]], ["a"], (3, 3))
    with pytest.raises(InputError, match="can be drawn"):
        image_grid_chart([np.zeros((10, 10_000))], ["a"], (100, 100))
    with pytest.raises(InputError, match="from 0 to"):
        PCA(1).fit(np.eye(3)).reconstructions(np.eye(3), [2])


# ---- criteria ------------------------------------------------------------------------------------


def test_criteria_of_components_are_drawn(rows_of):
    curve = Path(
        along("n_components", [0, 1, 2]),
        train_error=[3.0, 1.0, 0.5],
        loss="squared reconstruction error",
        complexity=[0, 1, 2],
        criteria={"parallel": [0.0, -2.0, -1.5], "mle": [np.nan, 10.0, 12.0]},
        select="parallel",
    )
    rows = rows_of(curve.plot())
    assert [row["loss"] for row in rows] == [2.0, 0.0, 0.5]
    assert len(rows_of(criteria_chart(curve, which=["mle"]))) == 2
