"""What every class in the catalogue must do, whatever its method."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from numpydoc.docscrape import NumpyDocString
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from bottega.core.cards import CAPABILITIES
from bottega.core.errors import InputError, ParameterError
from bottega.core.params import Parameter, schema
from bottega.core.path import Path
from bottega.registry import cards, catalogue, estimators, methods
from bottega.workbench import trusted_types

ALL = estimators()
TUNED = [each for each in ALL if each.card.knob is not None]


def ids(each):
    return each.__name__


def sample(each, n=60, p=3, seed=0):
    """Return rows for a class: a regression or a classification, no wider than it takes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    signal = X[:, 0] - X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    X = X[:, : each.card.n_inputs]
    if each.card.task == "regression":
        return X, signal
    return X, np.where(signal > np.median(signal), "yes", "no")


def assert_same_predictions(each, found, expected, tolerance=1e-9):
    """Labels must be equal; numbers up to the order in which a sum is taken."""
    if each.card.task == "classification":
        assert np.array_equal(found, expected)
    else:
        assert found == pytest.approx(expected, rel=tolerance, abs=tolerance)


_REASON = (
    "the knob is picked by leaving out rows: leaving out a row of weight two is not leaving out "
    "one of two copies of it, so the picked knob may differ (with a fixed knob the check passes)"
)


def expected_failures(estimator):
    """Weighted rows and repeated rows need not pick the same knob (see `_REASON`)."""
    if estimator.card.weights and getattr(estimator, estimator.card.knob or "", None) == "auto":
        checks = ["check_sample_weight_equivalence_on_dense_data"]
        if get_tags(estimator).input_tags.sparse:
            checks.append("check_sample_weight_equivalence_on_sparse_data")
        return dict.fromkeys(checks, _REASON)
    return {}


def first_columns(each):
    """Return the class for scikit-learn's checks, which give several columns to everyone.

    A method of few inputs is made to look at the first ones instead of refusing the table.
    """
    most = each.card.n_inputs
    if most is None:
        return each

    def _check_width(self, X):
        return X[:, :most]

    def __sklearn_tags__(self):  # noqa: N807
        tags = super(made, self).__sklearn_tags__()
        if tags.regressor_tags is not None:
            tags.regressor_tags.poor_score = True  # it sees but part of the inputs
        return tags

    parts = {"_check_width": _check_width, "__sklearn_tags__": __sklearn_tags__}
    made = type(each.__name__, (each,), parts)
    globals()[each.__name__] = made  # so that it can be pickled
    return made


# Slow only because there are so many of them.
@pytest.mark.slow
# Some checks give fewer rows than columns, which a method may rightly warn of.
@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")
@parametrize_with_checks(
    [first_columns(each)() for each in ALL],
    expected_failed_checks=expected_failures,
    xfail_strict=False,  # two picks may agree by chance
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def with_fixed_knobs():
    """Every tuned method that takes weights, at a knob in the middle of its path."""
    models = []
    for each in TUNED:
        if each.card.weights:
            curve = each().path(*sample(each))
            models.append(each(**{curve.knob: curve.values[len(curve) // 2].item()}))
    return models


@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")
@pytest.mark.parametrize("model", with_fixed_knobs(), ids=lambda model: type(model).__name__)
def test_at_a_fixed_knob_weights_are_repeated_rows(model):
    X, y = sample(model)
    w = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = clone(model).fit(X, y, sample_weight=w)
    repeated = clone(model).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_same_predictions(type(model), weighted.predict(X), repeated.predict(X), 1e-6)


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_declaration_signature_and_documentation_agree(each):
    signature = list(inspect.signature(each).parameters)
    documented = [
        name.strip()
        for entry in NumpyDocString(inspect.cleandoc(each.__doc__))["Parameters"]
        for name in entry.name.split(",")
    ]
    assert list(each.params) == signature
    assert documented == signature
    for name, declared in each.params.items():
        assert isinstance(declared, Parameter)
        assert declared.help, f"{name} has no line of help"
    assert set(schema(each)["properties"]) <= set(signature)


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_docstring_has_its_sections(each):
    doc = NumpyDocString(inspect.cleandoc(each.__doc__))
    for section in ("Attributes", "Notes", "Examples"):
        assert doc[section], f"no section {section}"


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_card_is_complete(each):
    card = each.card
    assert card.task in ("regression", "classification")
    assert card.strengths
    assert card.weaknesses
    assert card.cost
    assert card.source
    assert card.twin_of is None or card.twin_of in methods(card.task)
    for sentence in (*card.strengths, *card.weaknesses):
        assert sentence.endswith(".")
        assert sentence[0].isupper()
    assert hasattr(each, "predict_proba") == card.probabilities
    assert hasattr(each, "loo_residuals_") == card.linear_smoother
    assert ("sample_weight" in inspect.signature(each.fit).parameters) == card.weights
    assert hasattr(each, "fit_chunks") == card.chunks
    assert hasattr(each, "partial_fit") == card.stream
    if card.knob is not None:
        assert card.knob == each.knob
        assert card.knob in each.params


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_fit_leaves_the_parameters_as_they_were(each):
    model = each()
    before = model.get_params()
    assert model.fit(*sample(each)) is model
    assert model.get_params() == before
    assert clone(model).get_params() == before


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_saved_models_predict_the_same(each):
    X, y = sample(each)
    model = each().fit(X, y)
    content = skops.io.dumps(model)
    foreign = set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
    assert not foreign
    for copy in (
        pickle.loads(pickle.dumps(model)),
        skops.io.loads(content, trusted=trusted_types()),
    ):
        assert np.array_equal(copy.predict(X), model.predict(X))


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_arrays_and_frames_give_the_same_answer(each):
    X, y = sample(each)
    named = {f"c{j}": X[:, j] for j in range(X.shape[1])}
    from_array = each().fit(X, y).predict(X)
    for frame in (pd.DataFrame(named), pl.DataFrame(named)):
        model = each().fit(frame, y)
        assert_same_predictions(each, model.predict(frame), from_array)
        assert model.feature_names_in_.tolist() == list(named)


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_global_randomness_is_untouched(each):
    X, y = sample(each)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    each().fit(X, y).predict(X)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("each", [each for each in ALL if not each.card.ordered], ids=ids)
def test_order_of_the_rows_does_not_matter(each):
    X, y = sample(each)
    order = np.random.default_rng(1).permutation(len(X))
    model = each()
    if each.card.knob is not None:
        curve = each().path(X, y)
        if curve.estimate == "cv":  # other rows are then other folds
            model.set_params(**{curve.knob: curve.values[curve.best("one_se")].item()})
    straight, shuffled = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    assert_same_predictions(each, straight.predict(X), shuffled.predict(X))


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_unfitted_models_say_so(each):
    with pytest.raises(NotFittedError):
        each().predict(np.zeros((2, 3)))


@pytest.mark.parametrize("each", TUNED, ids=ids)
def test_every_declared_parameter_is_checked(each):
    X, y = sample(each)
    for name in each.params:
        if each.params[name].accepts(object()):
            continue
        with pytest.raises(ParameterError, match=f"{each.__name__}: {name}="):
            each(**{name: object()}).fit(X, y)


@pytest.mark.parametrize("each", TUNED, ids=ids)
def test_path_keeps_its_contract(each):
    X, y = sample(each)
    curve = each().path(X, y)
    assert isinstance(curve, Path)
    assert curve.knob == each.card.knob
    assert np.all(np.diff(curve.df) >= -1e-6 * (1 + curve.df[:-1]))
    assert np.all(np.isfinite(curve.error))
    assert np.all(curve.error_se >= 0)
    assert curve.to_frame().shape[0] == len(curve)
    # A simple model's training error flatters it least.
    assert curve.train_error[0] >= curve.train_error[-1]
    i = curve.best("one_se")
    at = curve.at(i)
    assert getattr(at, f"{curve.knob}_") == curve.values[i]


@pytest.mark.parametrize("each", TUNED, ids=ids)
def test_auto_walks_the_path_and_picks_by_the_rule(each):
    X, y = sample(each)
    curve = each().path(X, y)
    for rule in ("min", "one_se"):
        model = each(select=rule).fit(X, y)
        picked = curve.values[curve.best(rule)]
        assert getattr(model, f"{each.card.knob}_") == picked
        fixed = each(**{each.card.knob: picked.item()}).fit(X, y)
        assert np.array_equal(model.predict(X), fixed.predict(X))
        assert np.array_equal(model.path_.error, curve.error)


@pytest.mark.parametrize("each", TUNED, ids=ids)
def test_cross_validated_path_equals_fitting_each_fold_by_hand(each):
    X, y = sample(each, n=45)
    own = each().path(X, y)
    values = own.values[[len(own) // 2, 3 * len(own) // 4, -1]]
    folds = [(np.setdiff1d(np.arange(45), test), test) for test in np.arange(45).reshape(3, 15)]
    curve = each().path(X, y, values=values, cv=folds)
    assert curve.estimate == "cv"
    for value, error in zip(curve.values, curve.error, strict=True):
        by_hand = []
        for train, test in folds:
            model = each(**{curve.knob: value.item()}).fit(X[train], y[train])
            predicted = model.predict(X[test])
            if each.card.task == "classification":
                by_hand.append(np.mean(predicted != y[test]))
            else:
                by_hand.append(np.mean((predicted - y[test]) ** 2))
        assert error == pytest.approx(np.mean(by_hand), rel=1e-9)


@pytest.mark.parametrize("each", TUNED, ids=ids)
def test_values_may_come_in_any_order(each):
    X, y = sample(each)
    own = each().path(X, y)
    values = own.values[[-1, 0, len(own) // 2]]
    curve = each().path(X, y, values=values)
    assert set(curve.values.tolist()) == set(values.tolist())
    assert np.all(np.diff(curve.df) >= -1e-6)
    assert curve.error == pytest.approx(
        [own.error[np.flatnonzero(own.values == value)[0]] for value in curve.values], rel=1e-6
    )


def test_catalogue_lists_every_class_once():
    frame = catalogue()
    assert len(frame) == len(ALL)
    assert frame["estimator"].is_unique
    assert set(CAPABILITIES) <= set(frame.columns)
    assert isinstance(catalogue(like="polars"), pl.DataFrame)


def test_cards_filter():
    assert {card.task for card in cards(task="regression")} == {"regression"}
    assert all(card.missing for card in cards(missing=True))
    found = {card.method for card in cards(task="regression", linear_smoother=True, chunks=True)}
    assert {"least_squares", "ridge"} <= found
    assert "neighbors" not in found
    with pytest.raises(InputError, match="Did you mean 'missing'"):
        cards(misssing=True)


def test_a_method_has_one_class_a_task():
    for task in ("regression", "classification"):
        assert "baseline" in methods(task)
        assert len(methods(task)) == len(cards(task=task))


@pytest.mark.parametrize("each", [each for each in ALL if each.card.n_inputs], ids=ids)
def test_too_many_inputs_are_refused(each):
    most = each.card.n_inputs
    X = np.random.default_rng(0).normal(size=(30, most + 1))
    with pytest.raises(InputError, match=f"X has {most + 1} columns"):
        each().fit(X, X[:, 0])


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_constant_inputs_and_few_rows_are_survived(each):
    X, y = sample(each, n=8)
    X[:, 1:2] = 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(each().fit(X, y).predict(X)) == 8
