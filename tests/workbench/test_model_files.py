"""A saved model predicts the same, and a file that is not ours is never opened."""

import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LinearRegression

import bottega
from bottega.core.errors import InputError, ModelFileError


@pytest.fixture(scope="module")
def found():
    return bottega.compare("iris", outer=3, methods=["neighbors", "parzen"])


@pytest.fixture(scope="module")
def model_file(found, tmp_path_factory):
    return found.save(tmp_path_factory.mktemp("models") / "iris.skops")


def test_a_loaded_model_predicts_the_same(found, model_file):
    saved = bottega.load(model_file)
    X = found.train.X
    assert np.array_equal(saved.predict(X), found.best.predict(X))
    assert np.array_equal(saved.predict_proba(X), found.best.predict_proba(X))
    assert (saved.method, saved.target, saved.task) == (
        found.best_method,
        "target",
        "classification",
    )
    assert saved.version == bottega.__version__
    assert list(saved.classes) == list(found.train.classes)


@pytest.mark.parametrize("method", ["baseline", "ridge", "neighbors"])
def test_every_method_can_be_saved(method, tmp_path):
    found = bottega.compare("diabetes", methods=[method], outer=2)
    result = found.results[method]
    alone = found.results.copy()
    found.results = {method: alone[method]}
    saved = bottega.load(found.save(tmp_path / "m.skops"))
    assert np.array_equal(saved.predict(found.train.X), result.model.predict(found.train.X))


def test_columns_may_come_in_any_order_with_others_beside_them(found, model_file):
    saved = bottega.load(model_file)
    X = found.train.X
    mixed = X[X.columns[::-1]].assign(extra="x")
    assert np.array_equal(saved.predict(mixed), saved.predict(X))


def test_a_missing_column_is_named(found, model_file):
    X = found.train.X.rename(columns={"petal length (cm)": "petal lenght (cm)"})
    with pytest.raises(InputError, match=r"'petal length \(cm\)'.*Did you mean 'petal lenght"):
        bottega.load(model_file).predict(X)


def test_a_category_never_seen_is_predicted_by_rule(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": rng.choice(["a", "b"], 60), "x": rng.normal(size=60)})
    frame["y"] = frame["x"] + (frame["c"] == "a")
    found = bottega.compare(frame, "y", methods=["ridge"], outer=2)
    saved = bottega.load(found.save(tmp_path / "m.skops"))
    found = saved.predict(frame.assign(c="new"))
    # No column of a known level is marked, so the new one lies between what the two would give.
    known = [saved.predict(frame.assign(c=level)) for level in ("a", "b")]
    assert np.all(found >= np.minimum(*known) - 1e-9)
    assert np.all(found <= np.maximum(*known) + 1e-9)


def test_regression_models_have_no_probabilities(tmp_path):
    found = bottega.compare("diabetes", methods=["ridge"], outer=2)
    with pytest.raises(InputError, match="gives no probabilities"):
        bottega.load(found.save(tmp_path / "m.skops")).predict_proba(found.train.X)


def not_zip(path):
    path.write_text("x,y\n1,2\n")


def empty(path):
    path.write_bytes(b"")


def pickled(path):
    path.write_bytes(pickle.dumps({"model": 1}))


def other_zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")


def plain_sklearn(path):
    skops.io.dump(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), path)


class Foreign:
    pass


def foreign_type(path):
    skops.io.dump({"format": "bottega model 1", "model": Foreign()}, path)


@pytest.mark.parametrize("make", [not_zip, empty, pickled, other_zip, plain_sklearn, foreign_type])
def test_a_file_that_is_not_ours_is_refused(make, tmp_path):
    path = tmp_path / "m.skops"
    make(path)
    with pytest.raises(ModelFileError, match=r"m\.skops") as caught:
        bottega.load(path)
    assert "\n" not in str(caught.value)


def test_a_cut_off_file_is_refused(model_file, tmp_path):
    whole = model_file.read_bytes()
    for share in (0.3, 0.9):
        cut = tmp_path / "cut.skops"
        cut.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ModelFileError):
            bottega.load(cut)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelFileError, match="no file"):
        bottega.load(tmp_path / "none.skops")


def test_saving_where_it_cannot_be_is_said_and_leaves_nothing(found, tmp_path):
    with pytest.raises(InputError, match="Cannot write"):
        found.save(tmp_path / "no" / "m.skops")
    assert list(tmp_path.iterdir()) == []
