"""What goes in: frames, objects, bad values; and what is stored."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.model_selection import cross_val_score

from bottega.core.errors import InputError, ParameterError
from bottega.core.params import schema
from bottega.neighbors import (
    NearestNeighborsClassifier,
    NearestNeighborsRegressor,
    NeighborSearch,
    ParzenClassifier,
    condense,
    edit,
)

RNG = np.random.default_rng(9)
X, Y = RNG.normal(size=(60, 3)), RNG.integers(0, 3, size=60)
NAMES = ["a", "b", "c"]
MODELS = [
    NearestNeighborsClassifier(),
    NearestNeighborsClassifier(n_neighbors=4, weights="distance", metric="mahalanobis"),
    NearestNeighborsRegressor(),
    NearestNeighborsRegressor(n_neighbors=3, metric="cosine"),
    ParzenClassifier(),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_frames_and_arrays_give_the_same(model: Any) -> None:
    expected = model.fit(X, Y).predict(X + 0.1)
    for frame in (pd.DataFrame, pl.DataFrame):
        table = frame(dict(zip(NAMES, X.T, strict=True)))
        new = frame(dict(zip(NAMES, X.T + 0.1, strict=True)))
        model.fit(table, Y)
        assert model.feature_names_in_.tolist() == NAMES
        np.testing.assert_array_equal(model.predict(new), expected)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_round_trips_through_pickle_and_skops(model: Any) -> None:
    expected = model.fit(X, Y).predict(X + 0.1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X + 0.1), expected)
    stored = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=stored)
    assert all(name.startswith("bottega.") for name in types)
    again = skops.io.loads(stored, trusted=types)
    np.testing.assert_array_equal(again.predict(X + 0.1), expected)
    if hasattr(model, "path_"):
        np.testing.assert_array_equal(again.path_.error, model.path_.error)


def test_stored_strings_come_back() -> None:
    model = NearestNeighborsClassifier(n_neighbors=1, metric="edit").fit(["cat", "dog"], [0, 1])
    stored = skops.io.dumps(model)
    again = skops.io.loads(stored, trusted=skops.io.get_untrusted_types(data=stored))
    assert again.predict(["cot", "dig"]).tolist() == [0, 1]


def test_strings_come_as_list_array_or_one_column() -> None:
    words = ["one", "ones", "two", "twos", "tow"]
    y = [0, 0, 1, 1, 1]
    for form in (
        words,
        tuple(words),
        np.array(words),
        np.array(words, dtype=object)[:, None],
        pd.Series(words),
        pd.DataFrame({"word": words}),
        pl.DataFrame({"word": words}),
    ):
        model = NearestNeighborsClassifier(metric="edit").fit(form, y)
        assert model.path_.values.tolist() == [4, 3, 2, 1]
        assert NearestNeighborsClassifier(1, metric="edit").fit(form, y).predict(["onez"]) == [0]
    path = NearestNeighborsClassifier(metric="edit").path(words * 4, y * 4, cv=2)
    assert path.error[-1] == 0.0


def test_a_callable_sees_the_rows_of_a_table() -> None:
    def manhattan(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.sum(np.abs(a - b)))

    named = NearestNeighborsClassifier(n_neighbors=5, metric="manhattan").fit(X, Y)
    called = NearestNeighborsClassifier(n_neighbors=5, metric=manhattan).fit(X, Y)
    np.testing.assert_array_equal(called.predict(X), named.predict(X))
    frame = NearestNeighborsClassifier(n_neighbors=5, metric=manhattan).fit(pd.DataFrame(X), Y)
    np.testing.assert_array_equal(frame.predict(pd.DataFrame(X)), named.predict(X))
    np.testing.assert_allclose(called.kneighbors(X)[0], named.kneighbors(X)[0], rtol=1e-14)


def test_neighbors_lists_the_k_nearest_in_order() -> None:
    model = NearestNeighborsRegressor(n_neighbors=2).fit([[0.0], [2.0], [2.0], [5.0]], [0, 1, 2, 3])
    distances, indices = model.kneighbors([[3.0]])
    assert distances.tolist() == [[1.0, 1.0]]
    assert indices.tolist() == [[1, 2]]
    assert model.predict([[3.0]])[0] == 1.5


def test_one_class_is_learned_as_such() -> None:
    for model in (NearestNeighborsClassifier(), ParzenClassifier()):
        model.fit(X, np.full(60, "only"))
        assert set(model.predict(X)) == {"only"}
        np.testing.assert_array_equal(model.predict_proba(X), np.ones((60, 1)))


@pytest.mark.parametrize("cls", [NearestNeighborsClassifier, NearestNeighborsRegressor])
def test_bad_parameters_are_named(cls: Any) -> None:
    with pytest.raises(ParameterError, match=r"n_neighbors=0 is not allowed; n_neighbors must be"):
        cls(n_neighbors=0).fit(X, Y)
    with pytest.raises(ParameterError, match="metric='euclid' is not allowed; metric must be one"):
        cls(metric="euclid").fit(X, Y)
    with pytest.raises(ParameterError, match="weights='inverse' is not allowed"):
        cls(weights="inverse").fit(X, Y)
    with pytest.raises(
        InputError, match=r"n_neighbors=61 .* \(n_samples = 60\); give n_neighbors at most 60"
    ):
        cls(n_neighbors=61).fit(X, Y)
    with pytest.raises(InputError, match=r"at least two rows.*n_samples = 1"):
        cls().fit(X[:1], Y[:1])
    with pytest.raises(InputError, match=r"whole number in \[1, 59\]"):
        cls().path(X, Y, values=[60])
    with pytest.raises(InputError, match=r"n_neighbors=1.5 is not allowed"):
        cls().path(X, Y, values=[1.5])
    with pytest.raises(InputError, match="takes no sample_weight"):
        cls().path(X, Y, sample_weight=np.ones(60))


def test_cost_is_for_classes_only() -> None:
    with pytest.raises(ParameterError, match="one of 'uniform', 'distance', or a callable"):
        NearestNeighborsRegressor(weights="balanced").fit(X, Y)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_missing_and_infinite_values_are_refused(model: Any) -> None:
    for bad in (np.nan, np.inf):
        spoiled = X.copy()
        spoiled[4, 1] = bad
        with pytest.raises(ValueError, match="contains"):
            model.fit(spoiled, Y)
        model.fit(X, Y)
        with pytest.raises(ValueError, match="contains"):
            model.predict(spoiled)


def test_other_bad_inputs() -> None:
    with pytest.raises(InputError, match=r"default_label=7 is not a class of y; the classes are 0"):
        NearestNeighborsClassifier(default_label=7).fit(X, Y)
    with pytest.raises(InputError, match=r"compares strings.*got 3"):
        NearestNeighborsClassifier(metric="edit").fit(["a", 3], [0, 1])
    with pytest.raises(InputError, match=r"compares strings.*got a table"):
        NeighborSearch(np.array([["a", "b"]]), "edit")
    with pytest.raises(InputError, match="not a distance"):
        NeighborSearch([1, 2], lambda *_: float("nan")).query([1], 1)
    with pytest.raises(InputError, match="k=4 neighbours were asked for among 3 rows"):
        NeighborSearch(np.eye(3)).query(np.eye(3), 4)
    for metric in ("euclidean", "hamming", "mahalanobis", "cosine"):
        with pytest.raises(InputError, match="X has 2 columns, but the stored rows have 3"):
            NeighborSearch(X, metric).distances(X[:, :2])
    with pytest.raises(InputError, match="sequence of objects; got int"):
        NeighborSearch(5, lambda *_: 0.0)
    with pytest.raises(ParameterError, match=r"bandwidth=0 is not allowed"):
        ParzenClassifier(bandwidth=0).fit(X, Y)
    with pytest.raises(InputError, match=r"bandwidth=-1.0 is not allowed"):
        ParzenClassifier().path(X, Y, values=[1.0, -1.0])
    with pytest.raises(InputError, match="n_neighbors=60 others cannot vote on a row of 60"):
        edit(X, Y, n_neighbors=60)
    with pytest.raises(ParameterError, match="edit: n_neighbors=0 is not allowed"):
        edit(X, Y, n_neighbors=0)
    with pytest.raises(ParameterError, match="condense: random_state='x' is not allowed"):
        condense(X, Y, random_state="x")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        condense(X, Y[:-1])


def test_rows_that_are_all_the_same() -> None:
    same = np.ones((8, 2))
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    for model in (NearestNeighborsClassifier(), ParzenClassifier()):
        assert set(model.fit(same, labels).predict(same)) == {0}
    mean = NearestNeighborsRegressor().fit(same, labels)
    assert mean.predict(same[:1])[0] == pytest.approx(3 / 8)
    assert mean.df_ == pytest.approx(1.0)


def test_works_inside_scikit_learns_tools() -> None:
    easy = np.r_[X, X + 9]
    labels = np.repeat([0, 1], 60)
    for model in (NearestNeighborsClassifier(), ParzenClassifier()):
        assert cross_val_score(model, easy, labels, cv=3).tolist() == [1.0, 1.0, 1.0]


def test_cards_and_schemas_say_what_the_classes_are() -> None:
    for model, knob in [(c, "n_neighbors") for c in MODELS[:4]] + [(MODELS[4], "bandwidth")]:
        cls = type(model)
        assert cls.knob == cls.card.knob == knob
        assert set(cls.params) == set(cls().get_params())
        assert cls.card.standardize
        assert cls.card.probabilities == hasattr(cls, "predict_proba")
        assert schema(cls)["properties"][knob]["default"] == "auto"
