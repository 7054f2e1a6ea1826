"""What AggregateProportions refuses, and what it says then."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.text import AggregateProportions

rng = np.random.default_rng(0)
S = (rng.random((60, 8)) < 0.4).astype(float)
D = np.array(["for", "against", "neutral"] * 20)
S[D == "for", 0] = 1
S[D == "against", 1] = 1


@pytest.fixture(scope="module")
def model():
    return AggregateProportions("inversion", cv=3).fit(S, D)


def refused(match, kind=InputError):
    return pytest.raises(kind, match=match)


def test_tags_of_one_class():
    with refused("at least two classes, and the tags have only one class, 'for'"):
        AggregateProportions().fit(S, np.full(60, "for"))


def test_a_class_without_examples():
    with refused("No tagged text has the label 'off-topic'"):
        AggregateProportions(classes=["for", "against", "neutral", "off-topic"]).fit(S, D)
    with refused("The label 'neutral' of some tagged texts is not among classes"):
        AggregateProportions(classes=["for", "against"]).fit(S, D)
    with refused("Only one tagged text has the label 'odd'"):
        AggregateProportions().fit(S, np.where(np.arange(60) == 3, "odd", D))
    with refused("No tagged text has the label 'for'"):  # those that had it weigh nothing
        AggregateProportions(classes=["for", "neutral", "against"]).fit(
            S, D, sample_weight=(D != "for").astype(float)
        )


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_tags(missing):
    tags = D.astype(object)
    tags[5] = missing
    with pytest.raises(ValueError, match=r"missing label|NaN"):
        AggregateProportions().fit(S, tags)


def test_numbers_that_are_no_labels():
    with pytest.raises(ValueError, match="Unknown label type"):
        AggregateProportions().fit(S, rng.random(60))
    with pytest.raises(ValueError, match="requires y to be passed"):
        AggregateProportions().fit(S)


def test_no_common_stem(model):
    left, right = S.copy(), np.zeros((5, 8))
    left[:, 7], right[:, 7] = 0, 1
    apart = AggregateProportions("inversion", cv=3).fit(left, D)
    with refused("None of the 5 unread texts has a stem that a tagged text has"):
        apart.predict(right)
    with refused("No tagged text has a stem"):
        AggregateProportions("inversion").fit(np.zeros((60, 8)), D)
    few = np.zeros((10, 8))
    few[0] = 1
    with pytest.warns(DataWarning, match="90% of the unread texts have no stem"):
        model.predict(few)


def test_an_empty_set_of_unread_texts(model):
    for empty in (np.zeros((0, 8)), sparse.csr_matrix((0, 8))):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            model.predict(empty)


def test_other_columns_and_missing_values(model):
    with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 8"):
        model.predict(S[:, :5])
    gaps = S.copy()
    gaps[0, 0] = np.nan
    for action in (model.predict, lambda table: AggregateProportions().fit(table, D)):
        with pytest.raises(ValueError, match="NaN"):
            action(gaps)
    with refused("Negative values in data passed to AggregateProportions"):
        model.predict(-S)


def test_weights(model):
    with refused("sample_weight has shape"):
        AggregateProportions().fit(S, D, sample_weight=np.ones(3))
    with refused("must be finite and not negative"):
        model.proportions(S, sample_weight=-np.ones(60))
    half = (np.arange(60) < 30).astype(float)
    with refused("have weight 0"):
        model.proportions(S, sample_weight=half, groups=half)


@pytest.mark.parametrize("method", ["adjusted_em", "inversion"])
def test_the_scale_of_weights_and_the_order_of_texts_mean_nothing(method):
    weight = np.random.default_rng(0).uniform(1, 3, 60)
    expected = AggregateProportions(method).fit(S, D, sample_weight=weight).predict(S)
    for factor in (1e-6, 1e6):
        model = AggregateProportions(method).fit(S, D, sample_weight=factor * weight)
        assert model.predict(S[::-1]) == pytest.approx(expected, abs=1e-8)
        assert model.weight_.mean() == pytest.approx(1)


def test_groups_and_times(model):
    with refused(r"groups has shape \(3,\)"):
        model.proportions(S, groups=[1, 2, 3])
    with refused("time has missing values"):
        model.proportions(S, time=np.where(np.arange(60) < 3, np.nan, 1.0))
    with refused("groups has missing values"):
        model.proportions(S, groups=np.array(["a", pd.NA] * 30, dtype=object))
    with refused("groups mixes values that have no order"):
        model.proportions(S, groups=np.array(["a", 1] * 30, dtype=object))
    one = np.arange(60) == 7
    with pytest.warns(DataWarning, match=r"1 of 2 sets of unread texts has fewer than 10"):
        found = model.proportions(S, groups=one, n_bootstrap=10)
    assert found.n_texts == (59, 1)
    with refused("level=1.5", ParameterError):
        model.proportions(S, level=1.5)
    with refused("n_bootstrap=1", ParameterError):
        model.proportions(S, n_bootstrap=1)


def test_classifiers_and_folds():
    with refused("LinearSVC gives no probabilities; use method='adjusted_count'", ParameterError):
        AggregateProportions(estimator=LinearSVC()).fit(S, D)
    found = AggregateProportions("adjusted_count", estimator=LinearSVC(), cv=3).fit(S, D).predict(S)
    assert found.sum() == pytest.approx(1)
    half = [(np.arange(30), np.arange(30, 60))]
    with refused("holds out 30 of 60 tagged texts", ParameterError):
        AggregateProportions(cv=half).fit(S, D)
    order = np.argsort(D)
    by_class = [(np.delete(order, np.s_[i : i + 20]), order[i : i + 20]) for i in (0, 20, 40)]
    with refused("no text of one of the 3 classes is left", ParameterError):
        AggregateProportions(cv=by_class).fit(S, D)


def test_nothing_to_compare():
    rare = np.zeros((60, 60))
    np.fill_diagonal(rare, 1.0)
    model = AggregateProportions("inversion", cv=3).fit(rare, D)
    with refused("nothing to compare"):
        model.carry_over_test(rare)
    counted = AggregateProportions("count", cv=3).fit(S, D)
    with refused("has no mixture to test", ParameterError):
        counted.carry_over_test(S)


def test_classes_that_are_written_alike_have_wide_intervals():
    tags = np.array(["a", "b"] * 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = AggregateProportions("inversion", cv=3).fit(S[:, 3:], tags).proportions(S[:, 3:])
    low, high = found.interval
    assert np.all(high - low > 0.5)
