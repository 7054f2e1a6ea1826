"""Adaptive splines given what they cannot take: the error says what is wrong and what to do."""

import numpy as np
import pandas as pd
import pytest

from bottega.additive import AdaptiveSplines, AdaptiveSplinesClassifier
from bottega.core.errors import InputError, ModelFileError, ParameterError
from bottega.workbench import persist

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.uniform(size=(80, 3)), columns=["age", "income", "height"])
Y = 3 * X["age"].to_numpy() + RNG.normal(size=80)


@pytest.mark.parametrize("name", ["linear_features", "categorical_features"])
def test_columns_that_are_not_there_are_named_with_the_nearest(name):
    with pytest.raises(ParameterError, match=rf"{name} names a column 'incom'.*income"):
        AdaptiveSplines(**{name: ["incom"]}).fit(X, Y)
    with pytest.raises(ParameterError, match="no column"):
        AdaptiveSplines(**{name: [7]}).fit(X, Y)


@pytest.mark.parametrize(
    ("family", "response", "words"),
    [
        ("poisson", -np.ones(80), "counts, and y is -1 in row 0"),
        ("binomial", np.full(80, 1.5), "shares from 0 to 1"),
        ("gamma", np.zeros(80), "must be above zero"),
        ("binomial", np.ones(80), "all responses are 1"),
    ],
)
def test_responses_that_a_family_does_not_have(family, response, words):
    with pytest.raises(InputError, match=words):
        AdaptiveSplines(family=family).fit(X, response)


def test_families_take_one_response():
    with pytest.raises(InputError, match="takes one response; y has 2"):
        AdaptiveSplines(family="poisson").fit(X, np.ones((80, 2)))


def test_a_link_must_suit_the_family():
    with pytest.raises(ParameterError, match="link='logit' does not suit family='poisson'"):
        AdaptiveSplines(family="poisson", link="logit").fit(X, Y)


def test_a_column_of_missing_values_is_not_used():
    data = X.assign(gone=np.nan)
    found = AdaptiveSplines().fit(data, Y)
    assert "gone" not in "".join(found.terms_)
    assert np.all(np.isfinite(found.predict(data)))
    nothing = pd.DataFrame(np.full((80, 2), np.nan), columns=["a", "b"])
    assert AdaptiveSplines().fit(nothing, Y).predict(nothing) == pytest.approx(
        np.full(80, Y.mean())
    )


def test_a_column_of_one_or_two_values_has_no_trouble():
    data = X.assign(constant=1.0, flag=(X["age"] > 0.5).astype(float))
    found = AdaptiveSplines(degree=2).fit(data, data["flag"] * 2 + 1)
    assert found.predict(data) == pytest.approx(data["flag"] * 2 + 1, abs=1e-9)
    assert "constant" not in "".join(found.terms_)


def test_copies_of_columns_do_not_blow_up():
    """Terms that nearly coincide once had coefficients of 1e13 elsewhere."""
    data = pd.concat([X, X.add_suffix("_copy"), (X + 1e-9).add_suffix("_near")], axis=1)
    found = AdaptiveSplines(degree=2, threshold=0.0, penalty=0.0).fit(data, Y)
    assert np.max(np.abs(found.coef_)) < 1e6
    assert np.max(np.abs(found.predict(data))) < 10 * np.max(np.abs(Y))


def test_more_terms_than_there_are_is_all_of_them():
    found = AdaptiveSplines(n_terms=500).fit(X, Y)
    assert found.n_terms_ == len(AdaptiveSplines().fit(X, Y).path_)


def test_one_class_is_refused():
    with pytest.raises(InputError, match="only one class"):
        AdaptiveSplinesClassifier().fit(X, np.zeros(80))


def test_a_frame_with_texts_needs_a_frame_again():
    data = X.assign(city=np.where(Y > 1, "Rome", "Pisa"))
    found = AdaptiveSplines().fit(data, Y)
    with pytest.raises(InputError, match="data frame"):
        found.predict(X.to_numpy())
    with pytest.raises(ValueError, match="feature names"):
        found.predict(data.drop(columns="age"))
    found = AdaptiveSplines().fit(data, Y)
    unseen = data.assign(city="Lucca")
    assert np.all(np.isfinite(found.predict(unseen)))


def test_predictions_far_away_are_numbers_or_said():
    found = AdaptiveSplines(degree=2).fit(X, Y)
    far = X.iloc[:2] * 1e150
    assert np.all(np.isfinite(found.predict(far)))


def shorter(owner, name):
    """Cut an array by its last entry, in a frozen part too."""
    object.__setattr__(owner, name, getattr(owner, name)[:-1].copy())


@pytest.mark.parametrize(
    "edit",
    [
        lambda model: shorter(model, "_coef"),
        lambda model: shorter(model.basis_, "fill"),
        lambda model: shorter(model._anatomy, "mean"),
        lambda model: object.__setattr__(model.basis_.terms[1].factors[0], "variable", 9),
    ],
    ids=["coefficients", "fill", "means", "input"],
)
def test_an_edited_model_file_is_refused(edit, tmp_path):
    model = AdaptiveSplines(2).fit(X, Y)
    path = tmp_path / "model.skops"
    facts = (model.card.method, model.card.task, "y", tuple(X.columns), "", "0")
    persist.save(persist.SavedModel(model, *facts), path)
    assert persist.load(path).model.predict(X) == pytest.approx(model.predict(X), rel=1e-15)
    edit(model)
    persist.save(persist.SavedModel(model, *facts), path)
    with pytest.raises(ModelFileError):
        persist.load(path)
