"""The convolutional classifier: forms of images, what it learns, what it refuses."""

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from bottega.core.errors import InputError, ParameterError
from bottega.neural import AUGMENTATIONS, ConvolutionalClassifier, conv_parameters, count_parameters
from bottega.neural._training.batches import without_single_rows
from bottega.workbench import trusted_types

pytest.importorskip("torch")


def bars(n=120, size=6, seed=0):
    """Return images with one bright row or one bright column, somewhere, and noise."""
    rng = np.random.default_rng(seed)
    images, y = 0.3 * rng.normal(size=(n, size, size)), np.arange(n) % 2
    for image, label, at in zip(images, y, rng.integers(size, size=n), strict=True):
        if label:
            image[at] += 1
        else:
            image[:, at] += 1
    return images, np.array(["column", "row"])[y]


SMALL = {"channels": (6,), "max_iter": 12, "learning_rate_init": 0.01}


@pytest.fixture(scope="module")
def fitted():
    return ConvolutionalClassifier(**SMALL).fit(*bars())


def test_learns_what_no_pixel_says(fitted):
    images, y = bars(seed=1)
    assert fitted.score(images, y) > 0.97
    assert fitted.image_shape_ == (1, 6, 6)


def test_the_same_images_in_every_form_give_the_same_answer(fitted):
    images, y = bars()
    expected = fitted.predict_proba(images)
    flat = images.reshape(len(images), -1)
    for given, options in (
        (images[:, None], {}),
        (list(images), {}),
        (flat, {"image_shape": (6, 6)}),
        (flat, {"image_shape": (1, 6, 6)}),
        (pd.DataFrame(flat), {"image_shape": (6, 6)}),
    ):
        model = ConvolutionalClassifier(**SMALL, **options).fit(given, y)
        np.testing.assert_allclose(model.predict_proba(given), expected, atol=1e-6)
        np.testing.assert_allclose(model.predict_proba(images), expected, atol=1e-6)


def test_channels_count():
    images, y = bars(40)
    color = np.stack([images, -images], axis=1)
    model = ConvolutionalClassifier((5, 3), kernel_size=2, batch_norm=False, max_iter=2)
    model.fit(color, y)
    assert model.image_shape_ == (2, 6, 6)
    weights = conv_parameters(2, 2, 5) + conv_parameters(2, 5, 3) + (3 * 1 * 1 + 1)
    assert count_parameters(model._module()) == count_parameters(model) == weights
    assert model.filters(1).shape == (3, 5, 2, 2)
    assert [each.shape for each in model.feature_maps(color[:7])] == [(7, 5, 6, 6), (7, 3, 3, 3)]
    bare = ConvolutionalClassifier((5, 3), activation="identity", pooling=None, max_iter=1)
    assert [each.shape[1] for each in bare.fit(color, y).feature_maps(color[:7])] == [5, 3]


@pytest.mark.parametrize(
    "options",
    [
        {"padding": "valid", "pooling": "mean"},
        {"padding": "full", "pooling": "norm"},
        {"padding": 2, "pooling": None, "stride": 2},
        {"pooling": "norm", "hidden_layer_sizes": (8,), "drop": 0.0},
        {"batch_norm": False, "activation": "tanh", "input_noise": 0.1},
        {"augment": ("shift", "brightness")},
    ],
)
def test_every_kind_of_layer_learns(options):
    model = ConvolutionalClassifier(**{**SMALL, "max_iter": 20, **options}).fit(*bars())
    assert model.score(*bars(seed=1)) > 0.85


def test_stored_models_hold_arrays_and_predict_the_same(fitted):
    images, _ = bars(seed=2)
    content = skops.io.dumps(fitted)
    copy = skops.io.loads(content, trusted=trusted_types())
    assert np.array_equal(copy.predict_proba(images), fitted.predict_proba(images))
    assert np.array_equal(copy.feature_maps(images)[0], fitted.feature_maps(images)[0])


def test_n94_turning_is_not_safe_for_digits():
    """A 6 turned by 180 degrees is a 9: with such copies both are taken for each other."""
    images, y = load_digits(return_X_y=True)
    kept = np.isin(y, (6, 9))
    images, y = images[kept].reshape(-1, 8, 8), y[kept]
    options = {"channels": (8,), "max_iter": 6, "learning_rate_init": 0.01}
    safe, unsafe = (
        ConvolutionalClassifier(**options, augment=kinds).fit(images[:250], y[:250])
        for kinds in (("shift",), ("turn",))
    )
    assert safe.score(images[250:], y[250:]) > 0.95
    assert unsafe.score(images[250:], y[250:]) < safe.score(images[250:], y[250:]) - 0.05
    assert "6 becomes a 9" in AUGMENTATIONS["turn"]


def test_filters_and_maps_are_drawn(fitted):
    images, _ = bars(5)
    filters = fitted.plot_filters().to_dict()
    assert {row["name"] for row in filters["data"]["values"]} <= {
        f"filter {i}" for i in range(1, 7)
    }
    maps = fitted.plot_feature_maps(images[0]).to_dict()
    assert maps["title"]["text"] == "Feature maps of layer 1"
    assert len({row["name"] for row in maps["data"]["values"]}) == 6
    with pytest.raises(InputError, match="layer=3 is not one of the 1 layers"):
        fitted.filters(3)


def test_images_of_different_sizes_are_refused(fitted):
    images, y = bars(20)
    ragged = [*images[:19], images[19][:, :5]]
    with pytest.raises(
        InputError, match=r"images of different sizes, such as \(6, 5\) and \(6, 6\)"
    ):
        ConvolutionalClassifier(**SMALL).fit(ragged, y)
    with pytest.raises(InputError, match=r"images of \(1, 5, 6\).*fitted on \(1, 6, 6\)"):
        fitted.predict(images[:, :5])
    with pytest.raises(InputError, match="at least one pixel"):
        fitted.predict(images[:, :0])


def test_channels_come_first():
    images, y = bars(20)
    color = np.repeat(images[..., None], 3, axis=3)
    with pytest.raises(InputError, match=r"looks like \(height, width, channels\)"):
        ConvolutionalClassifier(**SMALL).fit(color, y)
    model = ConvolutionalClassifier(**{**SMALL, "max_iter": 1}, image_shape=(6, 6, 3))
    assert model.fit(color, y).image_shape_ == (6, 6, 3)


def test_images_in_an_array_of_objects():
    images, y = bars(20)
    objects = np.empty(20, dtype=object)
    objects[:] = list(images)
    assert ConvolutionalClassifier(**{**SMALL, "max_iter": 1}).fit(objects, y).image_shape_[1] == 6


def test_missing_pixels_and_large_batches_are_refused():
    images, y = bars(20)
    bad = images.copy()
    bad[3, 2, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        ConvolutionalClassifier(**SMALL).fit(bad, y)
    with pytest.raises(ParameterError, match="batch_size=21 is larger than the 20 training rows"):
        ConvolutionalClassifier(**SMALL, batch_size=21).fit(images, y)


def test_shapes_that_do_not_fit_are_refused():
    images, y = bars(20)
    flat = images.reshape(20, -1)
    with pytest.raises(ParameterError, match="has 35 pixels and the rows of X have 36"):
        ConvolutionalClassifier(**SMALL, image_shape=(7, 5)).fit(flat, y)
    with pytest.raises(ParameterError, match="leave image_shape out"):
        ConvolutionalClassifier(**SMALL, image_shape=(4, 9)).fit(images, y)
    with pytest.raises(ParameterError, match="filters of layer 3 do not fit into maps of 1 by 1"):
        ConvolutionalClassifier((4, 4, 4), padding="valid").fit(np.zeros((20, 10, 10)), y)
    with pytest.raises(ParameterError, match="augment="):
        ConvolutionalClassifier(augment=("mirror",)).fit(images, y)


def test_a_last_batch_of_one_image_is_avoided():
    rows, y = np.arange(33.0)[:, None], np.arange(33) % 2  # one pixel each
    model = ConvolutionalClassifier(max_iter=1, batch_size=32, batch_norm=True).fit(rows, y)
    assert np.isfinite(model.loss_)
    assert without_single_rows(32, 1057) == 34


@pytest.mark.slow
def test_digits():
    """One seed; five in benchmarks/neural_images.py, whose mean is at least 0.985.

    Of 450 digits 0.98 allows nine errors; the seeds there have two to six.
    """
    digits = load_digits()
    parts = train_test_split(
        digits.images, digits.target, test_size=0.25, random_state=0, stratify=digits.target
    )
    model = ConvolutionalClassifier().fit(parts[0], parts[2])
    assert model.score(parts[1], parts[3]) >= 0.98
