"""What every class in the catalogue must do, whatever its method."""

import ast
import inspect
import pickle
import warnings
from collections import Counter
from functools import cache
from pathlib import Path as FilePath

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

import bottega
from bottega.core.cards import CAPABILITIES
from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import Cost, get_loss
from bottega.core.params import Parameter, schema
from bottega.core.path import Path
from bottega.registry import cards, catalogue, estimators, methods
from bottega.smooth import SmoothingSpline
from bottega.tree import TreeRegressor
from bottega.workbench import trusted_types

EVERY = estimators()
# Methods that predict a response for rows of inputs; what others do is tested with them.
ALL = [each for each in EVERY if each.card.task in ("regression", "classification")]
TUNED = [each for each in ALL if each.card.knob is not None]
# Methods without responses that take tables of numbers.
UNSUPERVISED = [
    each
    for each in EVERY
    if each.card.task in ("clustering", "decomposition", "density") and "number" in each.card.takes
]
SMOOTHERS = [each for each in ALL if each.card.linear_smoother]


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


def walking(each, **given):
    """Return an estimator whose path chooses, though its defaults may be scikit-learn's.

    It walks along the knob of its card alone: what else `compare` lets it choose is tested with it.
    """
    knob, free = each.card.knob, each.walks.items()
    alone = {name: value for name, value in free if name == knob or value not in ("auto", "path")}
    few = {"max_epochs": 12} if "max_epochs" in each.params else {}  # what only takes time
    return each(**{**few, **alone, **given})


@cache
def own_path(each):
    """Return the path of a class on its sample; several tests look at it."""
    return walking(each).path(*sample(each))


@cache
def own_model(each):
    """Return a model with default settings, fitted to the sample of its class."""
    return each().fit(*sample(each))


@cache
def own_folds(each):
    """Return rows, three values along the path of a class, and folds to judge them by."""
    X, y = sample(each, n=45)
    curve = walking(each).path(X, y)
    chosen = [curve.values[i].item() for i in (len(curve) // 2, 3 * len(curve) // 4, -1)]
    folds = [(np.setdiff1d(np.arange(45), test), test) for test in np.arange(45).reshape(3, 15)]
    return X, y, chosen, folds


@cache
def fold_models(each, setting):
    """Return the models of a setting, a tuple of pairs, one per fold of `own_folds`."""
    X, y, _, folds = own_folds(each)
    return [walking(each, **dict(setting)).fit(X[train], y[train]) for train, _ in folds]


def assert_same_predictions(each, found, expected, tolerance=1e-9):
    """Labels must be equal; numbers up to the order in which a sum is taken."""
    if each.card.task == "classification":
        assert np.array_equal(found, expected)
    else:
        assert found == pytest.approx(expected, rel=tolerance, abs=tolerance)


_ONE_STEP = "a row of weight two takes one step of twice the length, not two steps"
_RESTLESS = "of three classes that overlap so much the last weights give 84 % to the heavy one"
_ONE_COPY = (
    "its probabilities are fitted to rows left out, and to leave out a row of weight two is not to "
    "leave out one of two copies of it"
)
_BATCHES = (
    "a row of weight two stands in one batch, its two copies may stand in two, and batch "
    "normalisation counts rows"
)
IN_BATCHES = (
    "AttentionClassifier",
    "Autoencoder",
    "ConvolutionalClassifier",
    "RecurrentClassifier",
    "RecurrentRegressor",
)
_WEIGHT_CHECKS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def expected_failures(estimator):
    """Return the checks that a class cannot pass, and why; pytest fails if it passes them."""
    found = {}
    weight_checks = _WEIGHT_CHECKS[: 1 + get_tags(estimator).input_tags.sparse]
    if estimator.card.weights and estimator.card.ordered:
        found |= dict.fromkeys(weight_checks, _ONE_STEP)
    if type(estimator).__name__ in IN_BATCHES:
        found |= dict.fromkeys(weight_checks, _BATCHES)
    if type(estimator).__name__ == "SupportVectorClassifier":
        found |= dict.fromkeys(weight_checks, _ONE_COPY)
    if type(estimator).__name__ == "Perceptron":
        found["check_class_weight_classifiers"] = _RESTLESS
    return found


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


# The checks ask for a contract, not for a good model: what only takes time is small.
SMALL = {"alphas": 10, "cv": 3, "max_estimators": 10, "max_terms": 2, "n_estimators": 10}
SMALL_STEPS = {
    "MixtureOfPPCA": {"n_init": 1, "tol": 1e-2},
    "NonnegativeFactorization": {"tol": 1e-2},
    "TSNE": {"max_iter": 250},
}


def small(each):
    model = each()
    given = model.get_params(deep=False)
    chosen = {name: SMALL[name] for name in SMALL if isinstance(given.get(name), int)}
    chosen |= SMALL_STEPS.get(each.__name__, {})
    if "estimators" in given:
        tree = methods(each.card.task)["tree"]
        depths = {"shallow": 2, "deep": 4}
        chosen["estimators"] = [(k, tree(ccp_alpha=0.0, max_depth=d)) for k, d in depths.items()]
    return model.set_params(**chosen)


# Slow only because there are so many of them.
@pytest.mark.slow
# Some checks have fewer rows than columns, or a y without noise: a method may rightly warn of it.
@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")
@pytest.mark.filterwarnings("ignore:The evidence has no maximum")
@parametrize_with_checks(
    [small(first_columns(each)) for each in ALL],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_estimator_checks(estimator, check):
    if check.func.__name__ in _WEIGHT_CHECKS and estimator.card.knob is not None:
        # The knob is picked by leaving out rows, and to leave out a row of weight two is not to
        # leave out one of two copies of it: the picks may differ. At a fixed knob nothing may.
        curve = own_path(type(estimator))
        estimator = clone(estimator).set_params(**estimator.walks)
        estimator.set_params(**curve.settings[len(curve) // 3])
    with warnings.catch_warnings():
        if check.func.__name__ == "check_class_weight_classifiers":
            # One class weighs ten million times as much as another: of a penalty at which the
            # other's part is lost in rounding a method rightly warns.
            warnings.filterwarnings("ignore", "LogisticRegression: .* did not converge")
        check(estimator)


@pytest.mark.slow
# The checks' few rows give a method reasons to warn: clusters that become empty, few iterations.
@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [small(each) for each in UNSUPERVISED], expected_failed_checks=expected_failures
)
def test_scikit_learn_estimator_checks_without_responses(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")
@pytest.mark.parametrize(
    "each",
    [each for each in TUNED if each.card.weights and each.__name__ not in IN_BATCHES],
    ids=ids,
)
def test_at_a_fixed_knob_weights_are_repeated_rows(each):
    curve = own_path(each)
    model = walking(each, **curve.settings[len(curve) // 2])
    X, y = sample(each)
    w = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = clone(model).fit(X, y, sample_weight=w)
    repeated = clone(model).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_same_predictions(each, weighted.predict(X), repeated.predict(X), 1e-6)


@pytest.mark.parametrize("each", EVERY, ids=ids)
def test_fit_is_the_one_of_core(each):
    """Reading rows, choosing and settling are written once; a method writes the hooks."""
    assert each.fit.__module__ == "bottega.core.estimator"
    if each.card.knob is not None:
        assert each.path.__module__ == "bottega.core.tuned"
    if each.card.chunks:
        assert each.fit_chunks.__module__ == "bottega.core.chunked"


def test_no_two_classes_have_one_name():
    names = Counter(
        node.name.lstrip("_")
        for file in FilePath(inspect.getfile(bottega)).parent.rglob("*.py")
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ClassDef)
    )
    assert not [name for name, count in names.items() if count > 1]


@pytest.mark.parametrize("each", EVERY, ids=ids)
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


@pytest.mark.parametrize("each", EVERY, ids=ids)
def test_docstring_has_its_sections(each):
    doc = NumpyDocString(inspect.cleandoc(each.__doc__))
    for section in ("Attributes", "Notes", "Examples"):
        assert doc[section], f"no section {section}"


@pytest.mark.parametrize("each", EVERY, ids=ids)
def test_card_is_complete(each):
    card = each.card
    assert card.strengths
    assert card.weaknesses
    assert card.assumptions
    assert card.cost
    assert card.source
    assert card.twin_of is None or card.twin_of in methods(card.task)
    for sentence in (*card.strengths, *card.weaknesses, *card.assumptions):
        assert sentence.endswith(".")
        assert sentence[0].isupper()
    if card.knob is not None:
        assert set(each.knobs) <= set(each.params)


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_fit_leaves_parameters_and_global_randomness_as_they_were(each):
    model = each()
    before = model.get_params()
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    assert model.fit(*sample(each)) is model
    assert model.get_params() == before
    assert clone(model).get_params() == before
    model.predict(sample(each)[0])
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_names_can_be_completed(each):
    """What a fit did not keep is not there: nothing but AttributeError, which ``dir`` expects."""
    for model in (each(), own_model(each)):
        assert "fit" in [name for name in object.__dir__(model) if hasattr(model, name)]


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_saved_models_predict_the_same(each):
    X, _ = sample(each)
    model = own_model(each)
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
    from_array = own_model(each).predict(X)
    for frame in (pd.DataFrame(named), pl.DataFrame(named)):
        model = each().fit(frame, y)
        assert_same_predictions(each, model.predict(frame), from_array)
        assert model.feature_names_in_.tolist() == list(named)


@pytest.mark.parametrize("each", [each for each in ALL if not each.card.ordered], ids=ids)
def test_order_of_the_rows_does_not_matter(each):
    X, y = sample(each)
    order = np.random.default_rng(1).permutation(len(X))
    shuffled = each().fit(X[order], y[order])
    assert_same_predictions(each, own_model(each).predict(X), shuffled.predict(X))


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


# The model with the largest likelihood need not have the fewest wrong labels: where classes are not
# normal, independent inputs may be wrong less often on the rows of the fit than correlated ones.
BY_LIKELIHOOD = ("LinearDiscriminant",)


@pytest.mark.parametrize("each", TUNED, ids=ids)
def test_path_keeps_its_contract(each):
    curve = own_path(each)
    assert isinstance(curve, Path)
    assert curve.knob == each.card.knob
    assert np.all(np.diff(curve.complexity) >= -1e-6 * (1 + np.abs(curve.complexity[:-1])))
    assert np.all(np.isfinite(curve.error))
    assert np.all(curve.error_se >= 0)
    assert curve.to_frame().shape[0] == len(curve)
    if each.__name__ not in BY_LIKELIHOOD:
        # A simple model's training error flatters it least.
        assert curve.train_error[0] >= curve.train_error[-1]
    i = curve.best("one_se")
    at = curve.at(i)
    assert getattr(at, f"{curve.knob}_") == curve.values[i]


@pytest.mark.parametrize("each", TUNED, ids=ids)
def test_auto_walks_the_path_and_picks_by_the_rule(each):
    X, y = sample(each)
    curve = own_path(each)
    for rule in ("min", "one_se"):
        model = walking(each, select=rule).fit(X, y)
        # Where no model of the path is simpler to read than others, the least error is picked.
        place = curve.best(rule if each.simplifies else "min")
        picked = curve.settings[place]
        assert getattr(model, f"{each.card.knob}_") == picked[each.card.knob]
        fixed = walking(each, **picked).fit(X, y)
        assert_same_predictions(each, model.predict(X), fixed.predict(X))
        assert_same_predictions(each, curve.at(place).predict(X), fixed.predict(X))
        assert np.array_equal(model.path_.error, curve.error)


@pytest.mark.parametrize(
    ("model", "other"), [(TreeRegressor(n_leaves=3), "n_leaves"), (SmoothingSpline(df=4), "df")]
)
def test_a_model_of_the_path_is_fixed_by_its_knob_alone(model, other):
    X, y = sample(type(model))
    curve = model.path(X, y)
    at = curve.at(len(curve) // 2)
    assert getattr(at, other) is None
    assert clone(at).fit(X, y).predict(X) == pytest.approx(at.predict(X))


def other_loss(each):
    """Return a loss that is not the task's own: of probabilities where the method gives them."""
    if each.card.task == "regression":
        return "absolute_error"
    return "brier_score" if each.card.probabilities else Cost([[0.0, 3.0], [1.0, 0.0]])


@pytest.mark.parametrize("own", [True, False], ids=["own loss", "other loss"])
@pytest.mark.parametrize("each", TUNED, ids=ids)
def test_cross_validated_path_equals_fitting_each_fold_by_hand(each, own):
    X, y, chosen, folds = own_folds(each)
    loss = get_loss(None if own else other_loss(each), each.card.task)
    curve = walking(each).path(X, y, values=chosen, cv=folds, loss=loss)
    assert curve.estimate == "cv"
    assert curve.fold_error.shape == (3, len(curve))
    for i, setting in enumerate(curve.settings):
        by_hand = []
        models = fold_models(each, tuple(sorted(setting.items())))
        for model, (_, test) in zip(models, folds, strict=True):
            predicted = getattr(model, loss.method)(X[test])
            truth = y[test]
            if each.card.task == "classification":
                truth = np.searchsorted(model.classes_, truth)
                if loss.method == "predict":
                    predicted = np.searchsorted(model.classes_, predicted)
            by_hand.append(loss.of_rows(truth, predicted).mean())
        # Fits along a path and alone agree to the tolerance of their solvers.
        assert curve.fold_error[:, i] == pytest.approx(by_hand, rel=1e-6, abs=1e-12)
        assert curve.error[i] == pytest.approx(np.mean(by_hand), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("each", TUNED, ids=ids)
def test_the_own_estimate_can_be_under_another_loss(each):
    X, y = sample(each)
    curve = walking(each).path(X, y, loss=other_loss(each))
    assert len(curve) == len(own_path(each))
    assert curve.loss == get_loss(other_loss(each)).title
    assert np.all(np.isfinite(curve.error))
    assert not np.allclose(curve.error, own_path(each).error)


@pytest.mark.parametrize("each", TUNED, ids=ids)
def test_values_may_come_in_any_order(each):
    X, y = sample(each)
    own = own_path(each)
    values = own.values[[-1, 0, len(own) // 2]]
    curve = walking(each).path(X, y, values=values)
    assert set(curve.values.tolist()) == set(values.tolist())
    assert curve.error == pytest.approx(
        [own.error[np.flatnonzero(own.values == value)[0]] for value in curve.values], rel=1e-6
    )


@pytest.mark.parametrize("each", SMOOTHERS, ids=ids)
def test_a_smoother_predicts_by_its_matrix(each):
    X, y = sample(each)
    weight = np.random.default_rng(2).integers(0, 3, len(y)) if each.card.weights else None
    model = each().fit(X, y, sample_weight=weight)
    S = model.matrix(X[:7])
    assert S.shape == (7, len(y))
    assert S @ y == pytest.approx(model.predict(X[:7]), rel=1e-8, abs=1e-8)
    assert np.diag(model.matrix(X)) == pytest.approx(model.leverage_, rel=1e-8, abs=1e-10)


def test_catalogue_lists_every_class_once():
    frame = catalogue()
    assert len(frame) == len(estimators())
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


def test_a_method_has_one_class_per_task():
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
