"""What the two classes do with rows: starts, stopping, penalties, categories, blocks, files."""

import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
import torch
from sklearn.base import clone

import bottega
from bottega.core.errors import InputError, ParameterError
from bottega.core.parallel import in_threads
from bottega.core.stored import refuse_functions
from bottega.neural import NetworkClassifier, NetworkRegressor
from bottega.workbench import trusted_types


def sample(n=120, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=n)


X, y = sample()
LABELS = np.where(y > 0, "up", "down")


def test_the_seed_decides_everything_and_torch_is_left_alone():
    options = {"keep": 0.7, "input_noise": 0.1, "batch_size": 30, "max_iter": 5}
    state = torch.get_rng_state()
    first = NetworkRegressor((6,), **options).fit(X, y).predict(X)
    again = NetworkRegressor((6,), **options).fit(X, y).predict(X)
    other = NetworkRegressor((6,), random_state=1, **options).fit(X, y).predict(X)
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)
    assert torch.equal(state, torch.get_rng_state())


def test_networks_side_by_side_are_those_one_by_one():
    def fitted(seed):
        model = NetworkRegressor((6,), keep=0.7, batch_size=30, max_iter=5, random_state=seed)
        return model.fit(X, y).predict(X)

    state = torch.get_rng_state()
    together = in_threads(fitted, range(4))
    for seed, found in enumerate(together):
        assert np.array_equal(found, fitted(seed))
    assert torch.equal(state, torch.get_rng_state())


def test_keep_and_drop_are_one_thing():
    kept = NetworkRegressor((6,), keep=0.75, max_iter=5).fit(X, y)
    dropped = NetworkRegressor((6,), drop=0.25, max_iter=5).fit(X, y)
    assert np.array_equal(kept.predict(X), dropped.predict(X))
    with pytest.raises(ParameterError, match=r"drop=0.2 and keep=0.8 say the same thing twice"):
        NetworkRegressor(drop=0.2, keep=0.8).fit(X, y)


def test_early_stopping_keeps_the_best_epoch():
    model = NetworkRegressor(
        (30,), max_iter=300, early_stopping=True, validation_fraction=0.25, learning_rate_init=0.05
    ).fit(X, y)
    assert model.n_iter_ < 300
    best = int(np.argmin(model.validation_loss_curve_))
    assert model.n_iter_ == best + 1 + model.n_iter_no_change + 1
    assert len(model.validation_scores_) == model.n_iter_
    assert model.best_validation_score_ == max(model.validation_scores_)
    shorter = clone(model).set_params(max_iter=best + 1).fit(X, y)
    assert np.array_equal(shorter.predict(X), model.predict(X))


def test_the_best_of_several_starts_is_kept():
    options = {"max_iter": 10, "validation_fraction": 0.25}
    several = NetworkRegressor((4,), n_starts=3, **options).fit(X, y)
    ends = [
        NetworkRegressor((4,), n_starts=k, **options).fit(X, y).validation_loss_curve_[-1]
        for k in (2, 3)
    ]
    assert several.validation_loss_curve_[-1] == ends[1] <= ends[0]


def test_the_path_chooses_width_and_decay():
    model = NetworkRegressor("auto", alpha="auto", max_epochs=20).fit(X[:60], y[:60])
    curve = model.path_
    assert curve.knobs == ("max_iter", "hidden_layer_sizes", "alpha")
    assert len({(s["hidden_layer_sizes"], s["alpha"]) for s in curve.settings}) == 12
    picked = curve.settings[curve.best("min")]
    assert model.hidden_layer_sizes_ == picked["hidden_layer_sizes"]
    assert model.alpha_ == picked["alpha"]
    fixed = NetworkRegressor(**picked, max_epochs=20).fit(X[:60], y[:60])
    assert np.array_equal(fixed.predict(X), model.predict(X))
    assert len(curve.to_frame()) == len(curve)


def test_penalties_do_what_they_say():
    longer = {"max_iter": 100, "learning_rate_init": 0.02}
    plain = NetworkRegressor((10,), alpha=0.0, **longer).fit(X, y)
    size = sum(np.abs(w).sum() for w in plain.coefs_)
    for name in ("alpha", "l1"):
        shrunk = NetworkRegressor((10,), **{"alpha": 0.0, name: 100.0}, **longer).fit(X, y)
        assert sum(np.abs(w).sum() for w in shrunk.coefs_) < 0.5 * size
    tied = NetworkRegressor((10,), tie=1e4, tie_to=plain, random_state=5, **longer)
    gap = tied.fit(X, y).coefs_[0] - plain.coefs_[0]
    free = NetworkRegressor((10,), random_state=5, **longer).fit(X, y)
    assert np.abs(gap).mean() < 0.3 * np.abs(free.coefs_[0] - plain.coefs_[0]).mean()
    with pytest.raises(ParameterError, match="tie_to is not a fitted network of the same layers"):
        NetworkRegressor((9,), max_iter=2, tie=1.0, tie_to=plain).fit(X, y)


def test_categories_are_embedded_and_missing_values_masked():
    rng = np.random.default_rng(1)
    n = 200
    kind = rng.choice(["a", "b", "c"], n)
    number = rng.normal(size=n)
    hidden = rng.random(n) < 0.3
    response = (kind == "a") * 3.0 + np.where(hidden, -2.0, number)
    frame = pd.DataFrame({"kind": kind, "number": np.where(hidden, np.nan, number)})
    model = NetworkRegressor((16,), max_iter=150, learning_rate_init=0.02).fit(frame, response)
    # The noise is none; a linear fit without the category or the mask has R squared below 0.7.
    assert model.score(frame, response) > 0.95
    assert model.description_["levels"] == [3]
    unknown = pd.DataFrame({"kind": ["new", None], "number": [0.5, 0.5]})
    found = model.predict(unknown)
    assert found[0] == found[1]
    copied = skops.io.loads(skops.io.dumps(model), trusted=trusted_types())
    assert np.array_equal(copied.predict(frame), model.predict(frame))


def test_missing_values_may_be_refused():
    hole = X.copy()
    hole[3, 1] = np.nan
    with pytest.raises(InputError, match=r"column 'x1' misses values.*use missing='mask'"):
        NetworkRegressor(missing="refuse", max_iter=2).fit(hole, y)
    model = NetworkRegressor(missing="refuse", max_iter=2).fit(X, y)
    with pytest.raises(InputError, match="misses values"):
        model.predict(hole)


def test_class_weights_multiply_rows():
    weight = {"up": 3.0, "down": 1.0}
    by_class = NetworkClassifier((5,), max_iter=10, class_weight=weight).fit(X, LABELS)
    by_row = NetworkClassifier((5,), max_iter=10)
    by_row.fit(X, LABELS, sample_weight=[weight[label] for label in LABELS])
    assert by_class.predict_proba(X) == pytest.approx(by_row.predict_proba(X), rel=1e-12)


def test_products_in_bfloat16_learn_nearly_the_same():
    options = {"max_iter": 30, "early_stopping": True, "dtype": "float32"}
    exact, coarse = (
        NetworkClassifier((16,), autocast=autocast, **options).fit(X, LABELS)
        for autocast in (False, True)
    )
    assert coarse.predict_proba(X).dtype == np.float64
    # bfloat16 has 8 bits: the shares differ by a few hundredths, the labels hardly.
    assert np.mean(coarse.predict(X) == exact.predict(X)) > 0.9
    assert not np.array_equal(coarse.predict_proba(X), exact.predict_proba(X))


def test_several_responses():
    both = np.column_stack([y, -2 * y])
    model = NetworkRegressor((20,), max_iter=200, learning_rate_init=0.02).fit(X, both)
    assert model.predict(X).shape == both.shape
    assert model.score(X, both) > 0.9


def test_blocks_continue_where_the_last_ended():
    """Blocks that are all rows are epochs; names of classes come with the first."""
    stream = NetworkClassifier((5,), batch_size=len(X), shuffle=False)
    for _ in range(6):
        stream.partial_fit(X, LABELS, classes=["up", "down"])
    whole = NetworkClassifier((5,), batch_size=len(X), shuffle=False, max_iter=6, tol=0.0)
    assert stream.predict_proba(X) == pytest.approx(whole.fit(X, LABELS).predict_proba(X), rel=1e-9)
    assert stream.n_iter_ == 6
    with pytest.raises(InputError, match="'sideways' is not among the classes"):
        stream.partial_fit(X[:2], ["up", "sideways"])
    assert stream.n_iter_ == 6
    regression = NetworkRegressor((5,)).partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    assert regression.n_iter_ == 2


def test_a_warm_start_goes_on_from_the_weights():
    model = NetworkRegressor((8,), max_iter=30, warm_start=True).fit(X, y)
    first = model.loss_
    model.fit(X, y)
    assert model.loss_curve_[0] < 1.2 * first
    assert model.loss_ < first
    with pytest.raises(
        ParameterError, match="warm_start=True goes on from weights of other layers"
    ):
        model.set_params(hidden_layer_sizes=(3,)).fit(X, y)


def make_module():
    return torch.nn.Sequential(torch.nn.Linear(3, 7), torch.nn.Tanh(), torch.nn.Linear(7, 1))


@pytest.mark.parametrize("given", [make_module, make_module()], ids=["factory", "module"])
def test_any_module_is_trained_and_its_file_holds_arrays(given):
    model = NetworkRegressor(module=given, max_iter=60, learning_rate_init=0.02).fit(X, y)
    assert model.score(X, y) > 0.5
    refuse_functions(model)  # as a file would, of other functions
    content = skops.io.dumps(model)
    from_file = skops.io.loads(content, trusted=trusted_types())
    for copied in (pickle.loads(pickle.dumps(model)), from_file):
        assert copied.module is None
        with pytest.raises(InputError, match=r"a module of your own.*give it the module again"):
            copied.predict(X)
        copied.set_params(module=given)
        assert np.array_equal(copied.predict(X), model.predict(X))
    with pytest.raises(ParameterError, match="gives no torch"):
        NetworkRegressor(module=lambda: 3, max_iter=1).fit(X, y)


def test_bad_input_is_refused_with_the_remedy():
    with pytest.raises(ParameterError, match="batch_size=500 is larger than the 120 training rows"):
        NetworkRegressor(batch_size=500, max_iter=1).fit(X, y)
    with pytest.raises(ParameterError, match=r"device='nowhere'.*use device='cpu'"):
        NetworkRegressor(device="nowhere").fit(X, y)
    with pytest.raises(ParameterError, match="neither a word, nor a fitted network, nor a pair"):
        NetworkRegressor((4,), init=([np.ones((2, 2))], [np.ones(2)]), max_iter=1).fit(X, y)
    with pytest.raises(InputError, match="only one class"):
        NetworkClassifier().fit(X, np.ones(len(X)))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_said():
    with pytest.raises(ParameterError, match=r"device='cuda' cannot be used here.*device='cpu'"):
        NetworkRegressor(device="cuda").fit(X, y)


def test_without_torch_one_sentence_says_what_to_install(monkeypatch):
    from bottega.core import errors
    from bottega.workbench import entrants

    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(errors, "import_module", missing)
    with pytest.raises(errors.MissingExtra, match=r"pip install 'bottega\[neural\]'"):
        NetworkRegressor().fit(X, y)
    monkeypatch.setattr(entrants, "find_spec", lambda _: None)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    found = bottega.compare(frame, "y", methods=["ridge", "network"], outer=3, stack=False)
    assert "network" not in found.results
    assert "pip install 'bottega[neural]'" in found.skipped["network"]
