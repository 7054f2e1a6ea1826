"""Several responses, weights by a function, and neighbours without the row itself."""

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from bottega.core.errors import InputError, ParameterError
from bottega.neighbors import NearestNeighborsClassifier, NearestNeighborsRegressor

RNG = np.random.default_rng(21)
X, NEW = RNG.normal(size=(70, 3)), RNG.normal(size=(15, 3))
Y = np.column_stack([X[:, 0] + RNG.normal(size=70), X[:, 1] ** 2])
LABELS = np.column_stack([Y[:, 0] > 0, RNG.integers(0, 3, size=70)]).astype(int)


def squares(distances: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return 1 / distances**2


@pytest.mark.parametrize("weights", ["uniform", "distance", None, squares])
def test_several_responses_are_scikit_learns(weights: Any) -> None:
    peer = KNeighborsRegressor(6, weights=weights).fit(X, Y)
    ours = NearestNeighborsRegressor(6, weights=weights).fit(X, Y)
    np.testing.assert_allclose(ours.predict(NEW), peer.predict(NEW))
    np.testing.assert_allclose(ours.score(NEW, NEW[:, :2]), peer.score(NEW, NEW[:, :2]))
    voted = KNeighborsClassifier(7, weights=weights).fit(X, LABELS)
    model = NearestNeighborsClassifier(7, weights=weights).fit(X, LABELS)
    np.testing.assert_array_equal(model.predict(NEW), voted.predict(NEW))
    assert model.outputs_2d_
    for shares, expected in zip(model.predict_proba(NEW), voted.predict_proba(NEW), strict=True):
        np.testing.assert_allclose(shares, expected)
    one = NearestNeighborsClassifier(7, weights=weights).fit(X, LABELS[:, 1])
    np.testing.assert_array_equal(model.predict(NEW)[:, 1], one.predict(NEW))
    assert not one.outputs_2d_


def test_one_column_is_one_response() -> None:
    column = Y[:, :1]
    assert NearestNeighborsRegressor(4).fit(X, column).predict(NEW).shape == (15, 1)
    with pytest.warns(UserWarning, match="column-vector"):
        model = NearestNeighborsClassifier(4).fit(X, LABELS[:, 1:])
    assert model.predict(NEW).shape == (15,)


def test_text_labels_of_several_responses() -> None:
    words = np.column_stack(
        [np.where(LABELS[:, 0], "yes", "no"), np.array(list("abc"))[LABELS[:, 1]]]
    )
    model = NearestNeighborsClassifier(7).fit(X, words)
    codes = NearestNeighborsClassifier(7).fit(X, LABELS).predict(NEW)
    assert model.predict(NEW)[:, 1].tolist() == [["a", "b", "c"][c] for c in codes[:, 1]]
    leaning = NearestNeighborsClassifier(70, default_label="no").fit(X, words)
    assert set(leaning.predict(NEW)[:, 0]) <= {"yes", "no"}
    with pytest.raises(InputError, match="default_label='d' is not a class of y"):
        NearestNeighborsClassifier(default_label="d").fit(X, words)


@pytest.mark.parametrize("weights", ["uniform", "distance", squares])
def test_the_path_of_several_responses_is_leave_one_out(weights: Any) -> None:
    model = NearestNeighborsRegressor(weights=weights, max_neighbors=9)
    path = model.path(X, Y)
    alone = [model.path(X, y) for y in Y.T]
    np.testing.assert_allclose(path.error, np.mean([each.error for each in alone], axis=0))
    np.testing.assert_allclose(path.train_error, np.mean([p.train_error for p in alone], axis=0))
    for name in {"aic", "bic", "cp"} & set(path.criteria):
        np.testing.assert_allclose(
            path.criteria[name], np.sum([each.criteria[name] for each in alone], axis=0)
        )
    at_three = NearestNeighborsRegressor(3, weights=weights).fit(X, Y)
    np.testing.assert_allclose(np.mean((Y - at_three.predict(None)) ** 2), path.error[-3])
    assert at_three.df_ == pytest.approx(path.df[-3])
    voting = NearestNeighborsClassifier(weights=weights, max_neighbors=9)
    votes = voting.path(X, LABELS)
    expected = np.mean([voting.path(X, each).error for each in LABELS.T], axis=0)
    np.testing.assert_allclose(votes.error, expected)
    for loss in ("log_loss", "zero_one"):
        both = voting.path(X, LABELS, loss=loss, values=[5, 9])
        each = [voting.path(X, y, loss=loss, values=[5, 9]).error for y in LABELS.T]
        np.testing.assert_allclose(both.error, np.mean(each, axis=0))
    judged = model.path(X, Y, cv=5)
    assert np.all(np.isfinite(judged.error))


def test_a_function_of_distances_is_its_named_twin() -> None:
    def inverse(distances: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return 1 / distances

    for each, y in (
        (NearestNeighborsRegressor, Y[:, 0]),
        (NearestNeighborsClassifier, LABELS[:, 1]),
    ):
        named, called = each(weights="distance").fit(X, y), each(weights=inverse).fit(X, y)
        assert called.n_neighbors_ == named.n_neighbors_
        np.testing.assert_allclose(called.path_.error, named.path_.error)
        np.testing.assert_allclose(called.path_.df, named.path_.df)
        np.testing.assert_allclose(
            called.predict(np.r_[X[:5], NEW]), named.predict(np.r_[X[:5], NEW])
        )
        even = each(5, weights=np.ones_like).fit(X, y)
        np.testing.assert_allclose(even.predict(NEW), each(5).fit(X, y).predict(NEW))
        assert even.df_ == pytest.approx(each(5).fit(X, y).df_)


def test_a_function_sees_whole_neighbourhoods() -> None:
    seen = []

    def weights(distances: np.ndarray) -> np.ndarray:
        seen.append(distances.shape)
        return np.ones(distances.shape)

    model = NearestNeighborsRegressor(2, weights=weights).fit(
        [[0.0], [1.0], [1.0], [5.0]], [0, 1, 2, 9]
    )
    assert model.predict([[0.2], [4.0]]).tolist() == [1.0, 4.0]
    assert seen == [(2, 3)]  # the two rows at 1 tie, from both sides


def test_bad_functions_of_distances_are_named() -> None:
    for function in (lambda d: -d - 1, lambda d: d[:, :1], lambda d: d * np.nan):
        with pytest.raises(InputError, match="must return a number at least 0"):
            NearestNeighborsRegressor(3, weights=function).fit(X, Y).predict(NEW)
    for each in (NearestNeighborsRegressor, NearestNeighborsClassifier):
        with pytest.raises(InputError, match="zero weights"):
            each(3, weights=np.zeros_like).fit(X, LABELS[:, 0]).predict(NEW)


def test_neighbours_of_the_training_rows_leave_themselves_out() -> None:
    """Equal rows are neighbours of each other, and of those the first are listed."""
    rows = np.r_[X, X[:5]]
    model = NearestNeighborsRegressor(3).fit(rows, np.r_[Y[:, 0], Y[:5, 0]])
    distances, indices = model.kneighbors()
    assert distances.shape == (75, 3)
    assert not np.any(indices == np.arange(75)[:, None])
    assert indices[:5, 0].tolist() == [70, 71, 72, 73, 74]
    peer = KNeighborsRegressor(3).fit(X, Y[:, 0])
    ours = NearestNeighborsRegressor(3).fit(X, Y[:, 0])
    for mode in ("connectivity", "distance"):
        for given in (None, NEW):
            found, expected = (m.kneighbors_graph(given, 4, mode) for m in (ours, peer))
            np.testing.assert_allclose(found.toarray(), expected.toarray())
    np.testing.assert_allclose(ours.predict(None), peer.predict(None))
    np.testing.assert_array_equal(ours.kneighbors(NEW, 2, False), peer.kneighbors(NEW, 2, False))
    with pytest.raises(ParameterError, match="mode='ones' is not allowed"):
        ours.kneighbors_graph(mode="ones")
    for bad in (0, 1.5, "3"):
        with pytest.raises(ParameterError, match=r"n_neighbors=.* is not allowed"):
            ours.kneighbors(NEW, bad)
    with pytest.raises(InputError, match="Expected n_neighbors <= 70"):
        ours.kneighbors(NEW, 71)
    with pytest.raises(InputError, match="Expected n_neighbors <= 69"):
        ours.kneighbors(None, 70)
    with pytest.raises(InputError, match="Without itself a row has 69 neighbours"):
        NearestNeighborsRegressor(70).fit(X, Y).predict(None)
