"""What an additive model refuses, and what it says."""

import numpy as np
import pandas as pd
import pytest

from bottega.additive._terms.facts import TableFacts
from bottega.additive._terms.resolve import place_terms
from bottega.additive.additive_model import AdditiveClassifier, AdditiveModel
from bottega.additive.terms import factor, linear, offset, random, smooth, tensor
from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.data.mixed_inputs import MixedInputs


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 100
    frame = pd.DataFrame({"income": rng.uniform(size=n), "age": rng.integers(20, 30, n) * 1.0})
    frame["sex"] = rng.integers(0, 2, n)
    frame["town"] = rng.choice(["u", "v"], n)
    frame["empty"] = np.nan
    frame["same"] = 3.0
    frame["gappy"] = np.where(np.arange(n) % 4 == 0, np.nan, frame.income)
    return frame, frame.income.to_numpy() + 0.1 * rng.normal(size=n)


REFUSED = [
    ([smooth("incom")], ParameterError, "Did you mean 'income'"),
    ("smooth(age) + incoem", ParameterError, "Did you mean 'income'"),
    ([smooth(12)], ParameterError, "columns 0 to 6"),
    ([smooth("sex")], InputError, "two distinct values.*linear\\(\\) or factor\\(\\)"),
    ([tensor("income", "sex")], InputError, "two distinct values"),
    ([smooth("empty")], InputError, "no value but missing ones"),
    ("empty", InputError, "no value but missing ones"),
    ([linear("same")], InputError, "one value only, 3"),
    ([smooth("age", df=12)], InputError, "10 distinct values.*at most 9"),
    ([smooth("income", df=0.5)], InputError, "df must lie between"),
    ([smooth("income", n_splines=5, df=8)], InputError, "df must lie between"),
    ([smooth("income", n_splines=3)], InputError, "too few for degree 3"),
    ([smooth("town")], InputError, "holds categories; use factor"),
    ([linear("town")], InputError, "holds categories"),
    ([offset("gappy")], InputError, "missing values, which cannot be added"),
    ([smooth("income", by="income")], ParameterError, "by= names a column of the term itself"),
    ([smooth("income", by="agee")], ParameterError, "Did you mean 'age'"),
    ([random("age", by="town")], InputError, "holds categories"),
    ([smooth("income"), smooth("income", df=4)], ParameterError, "given twice"),
    ([smooth("age", basis="cyclic", period=(0, 24))], InputError, "beyond the period"),
    ([], ParameterError, "give a formula"),
    ([3], ParameterError, "which is no term"),
    ({"x": 1}, ParameterError, "give a formula"),
]


@pytest.mark.parametrize(("terms", "error", "said"), REFUSED, ids=[str(one[0]) for one in REFUSED])
def test_terms_that_do_not_suit_the_columns(rows, terms, error, said):
    frame, y = rows
    with pytest.raises(error, match=said):
        AdditiveModel(terms).fit(frame, y)


def test_a_formula_with_a_call_is_refused_with_its_place(rows):
    with pytest.raises(ParameterError, match=r"'eval' at character 10.*not called") as caught:
        AdditiveModel("income + eval(age)").fit(*rows)
    assert str(caught.value).split("\n")[-1] == " " * 11 + "^"


def test_default_terms_suit_their_columns(rows):
    frame, y = rows
    with pytest.warns(DataWarning, match="The column empty has no value but missing ones"):
        model = AdditiveModel().fit(frame, y)
    assert [placed.name for placed in model.terms_] == [
        *("smooth(income)", "smooth(age)", "linear(sex)", "factor(town)", "smooth(gappy)"),
    ]
    assert [block.name for block in model.blocks_][-1] == "gappy missing"


def test_default_terms_of_many_columns_are_smaller():
    rng = np.random.default_rng(3)
    X, inputs = rng.normal(size=(50, 90)), MixedInputs()
    inputs.fit(AdditiveModel(), X)
    facts = TableFacts(X).columns()
    assert place_terms(None, inputs, facts)[0].term.n_splines == 6
    assert place_terms(None, inputs, facts, n_predictors=2)[0].term == linear("x0")
    crowd = pd.DataFrame({"id": [f"row {i}" for i in range(1200)], "x": rng.normal(size=1200)})
    crowd["shop"] = rng.integers(0, 50, 1200).astype(str)
    with pytest.warns(DataWarning, match="The column id has more than 1000 levels"):
        model = AdditiveModel().fit(crowd, rng.normal(size=1200))
    assert [placed.name for placed in model.terms_] == ["smooth(x)", "random(shop)"]


@pytest.mark.parametrize(
    ("family", "y", "said"),
    [
        ("poisson", [1, 2, -1, 0], "y is -1 in row 2.*not negative"),
        ("negative_binomial", [1, 2, -1, 0], "not negative"),
        ("poisson", [0, 0, 0, 0], "all responses are 0"),
        ("gamma", [1, 2, 0, 3], "above zero"),
        ("binomial", [0, 1, 2, 1], "for labels take a classifier"),
    ],
)
def test_responses_that_a_family_cannot_have(family, y, said):
    x = np.arange(80.0)[:, None] % 17
    with pytest.raises(InputError, match=said):
        AdditiveModel(family=family).fit(x, np.tile(y, 20))


def test_an_offset_is_for_one_predictor():
    x = np.arange(60.0)[:, None] % 13
    with pytest.raises(InputError, match="3 classes have several"):
        AdditiveClassifier("offset(x0)").fit(x, np.arange(60) % 3)


def test_families_and_links_that_do_not_go_together():
    x, y = np.arange(20.0)[:, None], np.arange(20.0)
    with pytest.raises(ParameterError, match="use AdditiveClassifier"):
        AdditiveModel(family="multinomial").fit(x, y)
    with pytest.raises(ParameterError, match="does not suit"):
        AdditiveModel(family="poisson", link="logit").fit(x, y)
    with pytest.raises(ParameterError, match="ubre"):
        AdditiveModel(method="ubre").fit(x, y)


@pytest.mark.parametrize("terms", ["smooth(x0)", "linear(x0)"])
def test_classes_that_can_be_separated_are_said_and_bounded(terms):
    x = np.linspace(-1, 1, 60)[:, None]
    hit = x[:, 0] > 0.1
    with pytest.warns(DataWarning, match="separate the classes"):
        model = AdditiveModel(terms, family="binomial").fit(x, hit * 1.0)
    assert np.array_equal(model.predict(x) > 0.5, hit)
    # A classifier is glad of it: it says so where it is read.
    for labels in (np.where(hit, "up", "down"), np.digitize(x[:, 0], [-0.3, 0.4])):
        model = AdditiveClassifier(terms).fit(x, labels)
        assert model.separated_
        assert "separate the classes" in str(model.summary())
        assert np.array_equal(model.predict(x), labels)
        assert np.abs(model.decision_function(x)).max() < 100
    overlap = np.where(np.arange(60) % 7 == 0, "down", np.where(hit, "up", "down"))
    assert not AdditiveClassifier(terms).fit(x, overlap).separated_


def test_terms_that_say_the_same_are_said():
    rng = np.random.default_rng(1)
    x = rng.uniform(size=200)
    X = np.column_stack([x, 2 * x + 1])
    y = np.sin(6 * x) + 0.1 * rng.normal(size=200)
    with pytest.warns(DataWarning, match="do not determine"):
        model = AdditiveModel("linear(x0) + linear(x1)").fit(X, y)
    assert model.df_ == pytest.approx(2)
    one = AdditiveModel("linear(x0)").fit(X, y)
    assert model.predict(X) == pytest.approx(one.predict(X))
    with pytest.warns(DataWarning, match="do not determine"):
        model = AdditiveModel().fit(X, y)
    assert np.mean((model.predict(X) - np.sin(6 * x)) ** 2) < 0.01


def test_more_coefficients_than_rows_are_refused_or_drawn_in():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    assert np.all(np.isfinite(AdditiveModel().fit(X, y).predict(X)))
    with pytest.raises(InputError, match="without a penalty"):
        AdditiveModel().fit(rng.normal(size=(12, 20)), y)


def test_new_rows_must_have_the_columns(rows):
    frame, y = rows
    model = AdditiveModel("smooth(income) + town").fit(frame, y)
    with pytest.raises(InputError, match="data frame"):
        model.predict(np.zeros((2, 7)))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"income": "salary"}))
    with pytest.raises(ParameterError, match="categorical_features names a column 'twon'"):
        AdditiveModel(categorical_features=["twon"]).fit(frame, y)
    coded = AdditiveModel(categorical_features=["age"]).fit(frame[["age", "income"]], y)
    assert [placed.name for placed in coded.terms_] == ["factor(age)", "smooth(income)"]
    assert [repr(one) for one in (factor(3),)] == ["factor(3)"]
