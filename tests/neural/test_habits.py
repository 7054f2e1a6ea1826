"""What people bring along: scikit-learn's words, grids, modules of their own, odd rows."""

import os
from functools import partial

import numpy as np
import pytest
import skops.io
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from bottega.core.errors import InputError, ParameterError
from bottega.neural import (
    Autoencoder,
    ConvolutionalClassifier,
    NetworkClassifier,
    NetworkRegressor,
)
from bottega.workbench import trusted_types

RNG = np.random.default_rng(0)
X = RNG.normal(size=(61, 3))
Y = X[:, 0] * X[:, 1] + X[:, 2]
LABELS = np.where(Y > 0, "up", "down")


# ---- scikit-learn --------------------------------------------------------------------------------


def test_a_grid_for_scikit_learns_network_runs_in_a_pipeline():
    grid = {
        "net__hidden_layer_sizes": [(4,), np.array([4, 3])],
        "net__solver": ["sgd", "adam"],
        "net__learning_rate": ["constant", "adaptive"],
        "net__alpha": [1e-4],
    }
    net = NetworkClassifier(max_iter=5, verbose=0)
    pipe = make_pipeline(StandardScaler(), net)
    pipe.steps[1] = ("net", net)
    search = GridSearchCV(pipe, grid, cv=2).fit(X, LABELS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_its_attributes_are_there():
    model = NetworkClassifier(np.array([5, 4]), max_iter=7, batch_size=20).fit(X, LABELS)
    assert [each.shape for each in model.coefs_] == [(3, 5), (5, 4), (4, 1)]
    assert [each.shape for each in model.intercepts_] == [(5,), (4,), (1,)]
    assert (model.n_iter_, model.t_, model.n_layers_, model.n_outputs_) == (7, 7 * 61, 4, 1)
    assert model.out_activation_ == "logistic"
    assert model.loss_ == model.loss_curve_[-1]
    assert np.array_equal(clone(model).hidden_layer_sizes, [5, 4])
    blocks = NetworkRegressor((3,), batch_size=30).partial_fit(X, Y).partial_fit(X[:1], Y[:1])
    assert blocks.t_ == 62


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lr": 0.1}, "'learning_rate_init'"),
        ({"dropout": 0.1}, "'drop'"),
        ({"epochs": 3}, "'max_iter'"),
        ({"optimizer": "adam"}, "'solver'"),
        ({"weight_decay": 0.1}, "'alpha'"),
        ({"hidden_layers": (3,)}, "'hidden_layer_sizes'"),
    ],
)
def test_other_words_are_answered_with_ours(given, said):
    with pytest.raises(ParameterError, match=said):
        NetworkClassifier(**given)


@pytest.mark.parametrize("more", [{"max_epochs": 3}, {"max_iter": 3, "early_stopping": True}])
def test_a_batch_of_all_rows_is_all_rows_of_a_fold(more):
    model = NetworkRegressor((3,), batch_size=len(X), **more).fit(X, Y)
    assert model.n_iter_ <= 3


def test_a_warm_start_does_not_choose_by_rows_that_it_has_seen():
    model = NetworkRegressor((3,), max_epochs=3, warm_start=True).fit(X, Y)
    with pytest.raises(ParameterError, match="have seen the rows which would be held out"):
        model.fit(X, Y)


@pytest.mark.parametrize("labels", [np.arange(61) % 3, np.where(Y > 0, "up", "low")])
def test_a_warm_start_is_for_the_same_classes(labels):
    model = NetworkClassifier((3,), max_iter=2, warm_start=True).fit(X, LABELS)
    with pytest.raises(InputError, match=r"same classes.*Previously got \['down' 'up'\]"):
        model.fit(X, labels)


def test_rows_held_out_are_spoken_of_as_in_scikit_learn():
    plain = NetworkClassifier((3,), max_iter=3).fit(X, LABELS)
    assert plain.best_loss_ == min(plain.loss_curve_)
    assert plain.validation_scores_ is plain.best_validation_score_ is None
    held = clone(plain).set_params(early_stopping=True).fit(X, LABELS)
    assert held.best_loss_ is None
    assert held.best_validation_score_ == max(held.validation_scores_)
    with pytest.raises(ParameterError, match="does not support early_stopping=True"):
        held.partial_fit(X, LABELS)
    with pytest.raises(InputError, match=r"too small: of 9 rows 1 .*larger validation_fraction"):
        held.fit(X[:9], LABELS[:9])


def test_a_fall_that_is_too_small_ends_early_stopping():
    options = {"max_iter": 300, "early_stopping": True, "solver": "sgd", "n_iter_no_change": 4}
    assert NetworkRegressor((3,), tol=10.0, **options).fit(X, Y).n_iter_ == 6
    options["n_iter_no_change"] = np.inf
    assert NetworkRegressor((3,), tol=10.0, **options).fit(X, Y).n_iter_ == 300


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_are_made_dense(form):
    dense = np.where(np.abs(X) > 1, X, 0.0)
    model = NetworkRegressor((3,), max_iter=3)
    expected = model.fit(dense, Y).predict(dense)
    assert np.array_equal(model.fit(form(dense), Y).predict(form(dense)), expected)
    large = sparse.csr_matrix((5_000, 1_000))
    with pytest.raises(TypeError, match=r"Use '\.toarray\(\)'"):
        model.fit(large, np.zeros(5_000))


def test_rates_that_fall_know_their_end():
    model = NetworkRegressor((3,), learning_rate="cosine", max_iter=2)
    path = model.path(X, Y, values=[1, 4, 8])
    assert len(set(path.train_error)) == 3  # steps are taken beyond max_iter
    with pytest.raises(ParameterError, match=r"learning_rate='cosine' falls over a number"):
        model.partial_fit(X, Y)


# ---- PyTorch -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (nn.Sequential(nn.Linear(3, 1), nn.Flatten(0)), r"outputs of shape \(2,\), and \(2, 1\)"),
        (nn.Linear(3, 4), r"outputs of shape \(2, 4\), and \(2, 1\)"),
        (nn.Linear(5, 1), r"does not take tensors \(n, 3\)"),
        (nn.Linear(3, 1).requires_grad_(False), "no parameters to train"),
    ],
)
def test_modules_that_do_not_fit_are_refused(module, said):
    with pytest.raises(ParameterError, match=said):
        NetworkRegressor(module=module, max_iter=1).fit(X, Y)


def test_the_seed_decides_the_dropout_of_a_given_module():
    state = torch.get_rng_state()

    def make():
        inner = nn.Sequential(nn.Tanh(), nn.Dropout(0.5))
        return nn.Sequential(nn.Linear(3, 8), inner, nn.Linear(8, 1))

    first, again = (NetworkRegressor(module=make, max_iter=3).fit(X, Y) for _ in range(2))
    assert np.array_equal(first.predict(X), again.predict(X))
    assert torch.equal(state, torch.get_rng_state())


def compiled_as_plain():
    options = {"max_iter": 3, "batch_size": 61, "batch_norm": True}
    compiled = NetworkRegressor((4,), compile=True, **options).fit(X, Y)
    plain = NetworkRegressor((4,), **options).fit(X, Y)
    assert compiled.predict(X) == pytest.approx(plain.predict(X), rel=1e-9)  # other order of sums
    return compiled


@pytest.mark.slow  # PyTorch loads its compiler
def test_a_compiled_module_is_the_same_network(monkeypatch):
    """All of torch.compile but the C++ that it writes: the graphs forward and back are run."""
    compile_with = partial(torch.compile, backend="aot_eager")
    seen = []
    monkeypatch.setattr(torch, "compile", lambda one: seen.append(one) or compile_with(one))
    compiled = compiled_as_plain()
    assert seen == [compiled._module()]


def test_a_compiler_that_is_not_there_is_said(monkeypatch):
    error = type("InductorError", (RuntimeError,), {"__module__": "torch._inductor.exc"})

    def fails(*inputs):
        raise error("No working C++ compiler found")

    monkeypatch.setattr(torch, "compile", lambda _: fails)
    with pytest.raises(ParameterError, match=r"No working C\+\+ compiler.*give compile=False"):
        NetworkRegressor((4,), max_iter=1, compile=True).fit(X, Y)


@pytest.mark.skipif(
    os.environ.get("BOTTEGA_REQUIRE_ALL") != "1",
    reason="the C++ compiler takes up to a minute: it is run with BOTTEGA_REQUIRE_ALL=1",
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's of itself
@pytest.mark.slow
def test_what_the_compiler_makes_is_the_same_network():
    compiled_as_plain()


# ---- odd rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [20, 30, 60])
def test_no_row_is_normalised_alone(size):
    model = NetworkRegressor((4,), batch_norm=True, batch_size=size, max_iter=2).fit(X, Y)
    assert np.isfinite(model.predict(X)).all()
    given = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
    NetworkRegressor(module=given, batch_size=size, max_iter=1).fit(X, Y)


def test_batch_normalisation_of_one_row_is_refused():
    model = NetworkRegressor((4,), batch_norm=True, max_iter=1)
    for each, n in ((model, 1), (clone(model).set_params(batch_size=1), len(X))):
        with pytest.raises(InputError, match="a batch of one row has none"):
            each.fit(X[:n], Y[:n])
    images = RNG.random((6, 8, 8))  # of one image there are many pixels
    ConvolutionalClassifier((2,), batch_size=1, max_iter=1).fit(images, [0, 1] * 3)


def test_equal_responses_are_predicted_as_they_are():
    model = NetworkRegressor((4,), max_iter=2)
    found = model.fit(X, np.full(61, 3e-5)).predict(X)
    assert found == pytest.approx(np.full(61, 3e-5), rel=1e-14)  # the mean of copies is rounded
    two = model.fit(X, np.column_stack([Y, np.full(61, 1e9)])).predict(X)
    assert two[:, 1] == pytest.approx(np.full(61, 1e9), rel=1e-14)
    assert np.std(two[:, 0]) > 0
    code = Autoencoder(1, max_iter=1, standardize=True).fit(np.column_stack([X, np.full(61, 5.0)]))
    assert code.inverse_transform([[0.0], [2.0]])[:, 3] == pytest.approx([5.0, 5.0], rel=1e-14)


def test_words_that_are_no_first_weights_are_refused():
    with pytest.raises(ParameterError, match=r"init='gauss' is not allowed.*'gaussian'"):
        NetworkRegressor(init="gauss").fit(X, Y)


def test_means_of_far_points_are_finite():
    model = NetworkRegressor((4,), loss="poisson", max_iter=5).fit(X, np.exp(Y))
    for way in np.eye(3):
        assert np.isfinite(model.predict([1e9 * way, -1e9 * way])).all()


def test_networks_that_no_memory_holds_are_refused():
    with pytest.raises(InputError, match=r"too little memory for the weights.*smaller layers"):
        NetworkRegressor((10**12, 10**6), max_iter=1).fit(X, Y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_far_points_have_predictions(dtype):
    model = NetworkClassifier((4,), max_iter=2, dtype=dtype).fit(X, LABELS)
    for far in (1e10, 1e40, 1e300):
        assert np.isfinite(model.predict_proba(np.full((2, 3), far))).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights_of_any_size(dtype):
    options = {"max_iter": 5, "alpha": 0.0, "dtype": dtype, "batch_size": 20}
    plain = NetworkRegressor((4,), **options).fit(X, Y, np.arange(1.0, 62)).predict(X)
    for size in (2.0**-300, 2.0**300):  # powers of two round nothing
        found = NetworkRegressor((4,), **options).fit(X, Y, size * np.arange(1.0, 62)).predict(X)
        assert np.array_equal(found, plain)
    few = NetworkRegressor((4,), max_iter=2, dtype=dtype).fit(X, Y, np.full(61, 1e-60))
    assert np.isfinite(few.predict(X)).all()


def test_large_numbers_are_encoded_without_warnings():
    model = Autoencoder(max_iter=1).fit(X * 1e300)
    assert np.isfinite(model.transform(X * 1e300)).all()


def test_more_dimensions_than_images_have_are_refused():
    with pytest.raises(InputError, match=r"\(4, 1, 2, 3, 3\); images come as \(n, height"):
        ConvolutionalClassifier().fit(np.ones((4, 1, 2, 3, 3)), [0, 1, 0, 1])


def test_no_images_are_refused():
    with pytest.raises(InputError, match="at least one image"):
        ConvolutionalClassifier().fit(np.zeros((0, 8, 8)), [])


@pytest.mark.parametrize(
    "edit",
    [
        lambda model: model.arrays_.update({"body.0.weight": np.zeros((2, 2))}),
        lambda model: model.arrays_.update({"body.0.weight": np.array(["a"])}),
        lambda model: model.arrays_.pop("body.0.bias"),
        lambda model: model.description_.pop("levels"),
        lambda model: model.description_.update(hidden_layer_sizes=["a"]),
        lambda model: model.description_.update(n_numbers=-5),
        lambda model: model.description_.update(activation="system"),
    ],
)
def test_files_that_were_edited_are_refused(edit):
    model = NetworkRegressor((4,), max_iter=1).fit(X, Y)
    edit(model)
    loaded = skops.io.loads(skops.io.dumps(model), trusted=trusted_types())
    with pytest.raises(InputError, match="do not fit its module"):
        loaded.predict(X)
