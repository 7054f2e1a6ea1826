"""Autoencoders: the linear one is the truncated decomposition, others bend, clean and generate."""

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.linalg import subspace_angles
from sklearn.datasets import load_digits

from bottega.core.errors import InputError, ParameterError
from bottega.latent import low_rank
from bottega.neural import Autoencoder
from bottega.workbench import trusted_types

pytest.importorskip("torch")

EXACT = {
    "hidden_layer_sizes": (),
    "alpha": 0.0,
    "learning_rate": "cosine",
    "learning_rate_init": 0.2,
    "batch_size": 60,
    "max_iter": 800,
    "n_iter_no_change": 800,
}


@pytest.mark.parametrize("L", [1, 2, 3])
def test_the_linear_one_is_the_decomposition_of_rank_l(L):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * [5, 3, 2, 1, 0.5] @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    X += 7
    mean = X.mean(axis=0)
    best = low_rank(X - mean, L)
    model = Autoencoder(L, **EXACT).fit(X)
    # Descent ends within its last steps of the minimum: some 4e-9 of the error here.
    assert model.reconstruction_error_ == pytest.approx(best.error**2 / 60, rel=1e-6)
    np.testing.assert_allclose(model.reconstruct(X), best.matrix + mean, atol=5e-3)
    decoder = model.inverse_transform(np.eye(L)) - model.inverse_transform(np.zeros((1, L)))
    assert np.max(subspace_angles(decoder.T, best.parts.Vt.T)) < 1e-3


def arc(n=200, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, np.pi, n)
    return np.column_stack([np.cos(t), np.sin(t)]) + noise * rng.normal(size=(n, 2)), t


def test_hidden_layers_follow_a_curve():
    X, t = arc()
    model = Autoencoder(1, random_state=1).fit(X)
    assert model.reconstruction_error_ < 0.1 * low_rank(X - X.mean(axis=0), 1).error ** 2 / 200
    code = model.transform(X)[:, 0]
    assert abs(np.corrcoef(np.argsort(np.argsort(code)), np.argsort(np.argsort(t)))[0, 1]) > 0.98
    # The decoder generates: between two codes lies the curve.
    between = model.inverse_transform(np.linspace(code.min(), code.max(), 30)[:, None])
    assert np.max(np.abs(np.linalg.norm(between, axis=1) - 1)) < 0.25
    new, _ = arc(50, seed=1)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(new)), model.reconstruct(new), atol=1e-9
    )


def test_a_noisy_one_takes_noise_away():
    noisy, t = arc(300, noise=0.15, seed=2)
    clean = np.column_stack([np.cos(t), np.sin(t)])
    X, _ = arc(300)
    model = Autoencoder(2, input_noise=0.3).fit(X)
    before = np.mean(np.sum((noisy - clean) ** 2, axis=1))
    after = np.mean(np.sum((model.reconstruct(noisy) - clean) ** 2, axis=1))
    assert after < 0.75 * before


@pytest.fixture(scope="module")
def digits():
    return load_digits().images[:300]


def test_a_convolutional_one_reproduces_images(digits):
    model = Autoencoder(8, hidden_layer_sizes=(), channels=(8,), max_iter=25).fit(digits)
    flat = digits.reshape(300, -1)
    spread = np.mean(np.sum((flat - flat.mean(axis=0)) ** 2, axis=1))
    assert model.reconstruction_error_ < 0.5 * spread
    assert model.image_shape_ == (1, 8, 8)
    assert model.transform(digits[:5]).shape == (5, 8)
    rows = Autoencoder(
        8, hidden_layer_sizes=(), channels=(8,), max_iter=25, image_shape=(8, 8)
    ).fit(flat)
    np.testing.assert_allclose(rows.transform(flat[:5]), model.transform(digits[:5]), atol=1e-9)


def test_the_path_over_epochs_is_judged_by_rows_held_out():
    X, _ = arc(60)
    curve = Autoencoder(1, hidden_layer_sizes=(8,)).path(X, values=[2, 30], cv=3)
    assert curve.estimate == "cv"
    assert curve.error[1] < curve.error[0]
    model = Autoencoder(1, hidden_layer_sizes=(8,), max_iter="auto", max_epochs=10).fit(X)
    assert model.max_iter_ == model.path_.values[model.path_.best("min")]


def test_units_and_names():
    X, _ = arc(50)
    frame = pd.DataFrame(X * [1, 1000], columns=["a", "b"])
    model = Autoencoder(2, max_iter=3, standardize=True).set_output(transform="pandas").fit(frame)
    assert list(model.transform(frame).columns) == ["autoencoder0", "autoencoder1"]
    plain = Autoencoder(2, max_iter=3, standardize=True).fit(X)
    np.testing.assert_allclose(plain.transform(X), model.transform(frame), atol=1e-6)


def test_stored_models_give_the_same_codes():
    X, _ = arc(40)
    model = Autoencoder(2, max_iter=3).fit(X)
    copy = skops.io.loads(skops.io.dumps(model), trusted=trusted_types())
    assert np.array_equal(copy.transform(X), model.transform(X))


def test_bad_input():
    X, _ = arc(40)
    model = Autoencoder(2, max_iter=2).fit(X)
    with pytest.raises(InputError, match="Z has 3 columns; a code has 2"):
        model.inverse_transform(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="NaN"):
        Autoencoder().fit([[np.nan, 1.0], [2.0, 3.0]])
    with pytest.raises(InputError, match="different sizes"):
        Autoencoder().fit([np.zeros((2, 2)), np.zeros((2, 3))])
    with pytest.raises(ParameterError, match="batch_size=50"):
        Autoencoder(batch_size=50).fit(X)
