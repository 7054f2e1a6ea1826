"""Inputs that discriminants and naive Bayes cannot use are refused with what to do about it."""

import numpy as np
import pytest

from bottega.classify import LinearDiscriminant, NaiveBayes, QuadraticDiscriminant
from bottega.core.errors import DataWarning, InputError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.repeat(["a", "b"], 20)
ALL = [LinearDiscriminant, QuadraticDiscriminant, NaiveBayes]
NORMAL = ALL[:2]


@pytest.mark.parametrize("each", ALL)
def test_one_class_is_refused(each):
    with pytest.raises(InputError, match="only one class"):
        each().fit(X, np.repeat("a", 40))
    with pytest.raises(InputError, match="only one class"):
        each().fit_chunks([(X, np.repeat("a", 40))])


@pytest.mark.parametrize("each", ALL)
def test_labels_that_are_numbers_of_a_measurement_are_refused(each):
    with pytest.raises(ValueError, match=r"[Uu]nknown label type"):
        each().fit(X, RNG.normal(size=40))


@pytest.mark.parametrize("each", ALL)
@pytest.mark.parametrize(
    "priors", [[0.5], [0.5, -0.5], [0.5, np.nan], {"a": 1.0, "z": 1.0}, {"a": 1.0}, "even"], ids=str
)
def test_priors_that_are_no_probabilities_are_refused(each, priors):
    with pytest.raises(ParameterError, match="priors"):
        each(priors=priors).fit(X, Y)


@pytest.mark.parametrize("each", ALL)
def test_priors_may_come_by_label(each):
    by_label = each(priors={"b": 0.75, "a": 0.25}).fit(X, Y)
    assert by_label.priors_.tolist() == [0.25, 0.75]
    in_order = each(priors=[0.25, 0.75]).fit(X, Y)
    assert np.array_equal(by_label.predict_proba(X), in_order.predict_proba(X))


@pytest.mark.parametrize("each", ALL)
def test_priors_that_do_not_sum_to_one_are_rescaled_and_that_is_said(each):
    with pytest.warns(DataWarning, match="sum to 4"):
        model = each(priors=[1, 3]).fit(X, Y)
    assert model.priors_.tolist() == [0.25, 0.75]


@pytest.mark.parametrize("each", ALL)
def test_a_class_of_one_row_is_taken(each):
    y = np.where(np.arange(40) == 7, "rare", "common")
    model = each().fit(X, y)
    assert model.predict_proba(X).shape == (40, 2)
    assert np.all(np.isfinite(model.predict_proba(X)))


def test_a_class_without_a_covariance_of_its_own_is_named():
    y = np.where(np.arange(40) < 3, "rare", "common")
    with pytest.raises(InputError, match=r"class 'rare' is singular: its 3 rows.*3 inputs"):
        QuadraticDiscriminant(pooling=0).fit(X, y)
    for fine in ({"pooling": 0.1}, {"pooling": 0, "shrinkage": 0.1}):
        assert QuadraticDiscriminant(**fine).fit(X, y).predict(X).shape == (40,)


@pytest.mark.parametrize("each", NORMAL)
def test_inputs_that_do_not_vary_within_classes(each):
    with pytest.raises(InputError, match="No input varies within the classes"):
        each().fit(np.repeat([[0.0], [1.0]], 20, axis=0), Y)
    telling = np.column_stack([X, Y == "b"])
    with pytest.warns(DataWarning, match="input 'x3' does not vary within the classes but differs"):
        model = each().fit(telling, Y)
    expected = each().fit(X, Y).predict_proba(X)
    assert model.predict_proba(telling) == pytest.approx(expected, abs=1e-9)
    constant = np.column_stack([X, np.full(40, 1e7)])  # says nothing, and without a warning
    assert each().fit(constant, Y).predict_proba(constant) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("each", NORMAL)
def test_missing_values_are_refused_by_a_fit(each):
    gaps = X.copy()
    gaps[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        each().fit(gaps, Y)


@pytest.mark.parametrize("each", NORMAL)
@pytest.mark.parametrize("bad", [-0.1, 1.1, "much", None], ids=str)
def test_shares_beyond_their_range_are_refused(each, bad):
    with pytest.raises(ParameterError, match=f"{each.__name__}: {each.knob}="):
        each(bad).fit(X, Y)


def test_too_many_components_or_inputs_are_refused():
    with pytest.raises(ParameterError, match=r"n_components=2 is more than .* = 1"):
        LinearDiscriminant(n_components=2).fit(X, Y)
    with pytest.raises(ParameterError, match="n_features_to_select=4 is more than the 3 columns"):
        LinearDiscriminant(n_features_to_select=4).fit(X, Y)


def test_a_stream_cannot_look_at_rows_twice():
    for model in (LinearDiscriminant("ledoit_wolf"), LinearDiscriminant(0, covariance="robust")):
        with pytest.raises(InputError, match="a stream keeps none; use fit or fit_chunks"):
            model.partial_fit(X, Y)
        assert not hasattr(model, "classes_")


@pytest.mark.parametrize("each", [LinearDiscriminant, NaiveBayes])
def test_streams_say_which_labels_they_know(each):
    with pytest.raises(InputError, match="name them all with the first block"):
        each().partial_fit(X[:5], Y[:5])
    model = each().partial_fit(X, Y)
    with pytest.raises(InputError, match="label 'c' is not among the classes"):
        model.partial_fit(X[:1], ["c"])
    with pytest.raises(InputError, match="are not those of the first block"):
        model.partial_fit(X[:1], ["a"], classes=["a", "c"])
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.partial_fit(X[:1, :2], ["a"])


def test_folds_of_chunks_are_a_number():
    with pytest.raises(InputError, match="give cv= a number of folds, or shrinkage="):
        LinearDiscriminant(cv="loo").fit_chunks([(X, Y)])
    with pytest.raises(InputError, match="cannot hold out rows of its own"):
        LinearDiscriminant(covariance="robust").fit_chunks([(X, Y)])


@pytest.mark.parametrize("each", ALL)
def test_rows_very_far_away_have_probabilities(each):
    model = each().fit(X, Y)
    far = np.array([[1e300, -1e300, 0.0], [1e160, 0.0, 0.0]])
    assert np.all(np.isfinite(model.predict_proba(far)))
    assert model.predict_proba(far).sum(axis=1) == pytest.approx(np.ones(2))
    for scale in (1e160, 1e-160):
        with pytest.raises(InputError, match="squares of"):
            each().fit(X * scale, Y)
