"""LightGBM and XGBoost beside our methods, where they are installed."""

import os
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega.core.errors import InputError
from bottega.workbench._outside import boosters


def there(library):
    """Return a library; where all must be there a test without it fails and is not skipped."""
    if os.environ.get("BOTTEGA_REQUIRE_ALL") == "1":
        return import_module(library)
    return pytest.importorskip(library)


@pytest.fixture(scope="module")
def shop():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a [kg]", "b,c"])
    frame["kind"] = rng.choice(["x", "y"], 120)
    frame.loc[::17, "b,c"] = np.nan
    frame["y"] = np.where(frame["a [kg]"] + (frame["kind"] == "x") > 0.3, "yes", "no")
    return frame


@pytest.mark.parametrize("library", boosters.LIBRARIES)
def test_a_library_that_is_not_there_is_asked_for(monkeypatch, shop, library):
    monkeypatch.setattr(boosters, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=rf"is not installed; .*pip install {library}"):
        bottega.compare(shop, "y", with_=[library], methods=["tree"], outer=2)
    plain = bottega.compare(shop, "y", methods=["tree"], outer=2)
    assert library not in plain.skipped


@pytest.mark.parametrize("library", boosters.LIBRARIES)
def test_it_takes_part_only_when_it_is_named(shop, library):
    theirs = there(library)
    found = bottega.compare(shop, "y", methods=["tree"], with_=[library], outer=3, n_jobs=1)
    result = found.results[library]
    assert result.card.title == boosters.LIBRARIES[library]
    assert result.probability.sum(axis=1) == pytest.approx(np.ones(found.n_train), abs=1e-6)
    made = {"lightgbm": "LGBMClassifier", "xgboost": "XGBClassifier"}[library]
    code = np.column_stack(
        [found.train.X[["a [kg]", "b,c"]].to_numpy(float), found.train.X["kind"] == "y"]
    )
    y = (found.y_train == "yes").astype(int)
    own = getattr(theirs, made)(n_jobs=1, random_state=0).fit(code, y).predict_proba(code)
    encode, model = (step for _, step in result.model.steps)
    ours = model.predict_proba(encode.transform(found.train.X))
    if np.allclose(np.asarray(encode.transform(found.train.X))[:, :2], code[:, :2], equal_nan=True):
        assert ours == pytest.approx(own, abs=1e-6)
    alone = bottega.compare(shop, "y", outer=2, methods=["tree"])
    assert library not in {**alone.results, **alone.skipped}


@pytest.mark.parametrize("library", boosters.LIBRARIES)
def test_numbers_and_files(shop, library, tmp_path):
    there(library)
    numbers = shop.assign(y=shop["a [kg]"].fillna(0) * 3 + (shop["kind"] == "x"))
    found = bottega.compare(
        numbers, "y", methods=["baseline"], with_=[library], outer=2, stack=False, n_jobs=1
    )
    assert found.best_method == library
    assert np.isfinite(found.predict(numbers)).all()
    with pytest.raises(InputError, match="cannot be written to a model file"):
        found.save(tmp_path / "model.skops")


@pytest.mark.parametrize("library", boosters.LIBRARIES)
def test_one_class_is_predicted_as_it_is(library):
    there(library)
    made = boosters.installed("classification")[library]
    model = made().fit(np.zeros((4, 1)), ["a"] * 4)
    assert model.predict(np.ones((2, 1))).tolist() == ["a", "a"]
