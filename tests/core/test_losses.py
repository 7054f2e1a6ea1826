"""Losses: values, gradients, convexity, Bayes-optimal predictions, labels that they refuse."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from sklearn.metrics import mean_poisson_deviance

from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import (
    ABSOLUTE_ERROR,
    BRIER_SCORE,
    HINGE,
    LOG_LOSS,
    LOGISTIC,
    LOSSES,
    POISSON,
    SQUARED_ERROR,
    ZERO_ONE,
    Cost,
    Huber,
    Loss,
    get_loss,
)

CONVEX = [
    ABSOLUTE_ERROR,
    SQUARED_ERROR,
    LOG_LOSS,
    BRIER_SCORE,
    HINGE,
    LOGISTIC,
    Huber(1.0),
    Huber(0.3),
]
PROBABILITIES = (LOG_LOSS, BRIER_SCORE)
CLASSES = {"sign": [-1.0, 1.0], "unit": [0.0, 1.0]}


def truths(loss):
    return CLASSES.get(loss.labels, [-2.5, -1.0, 0.0, 0.7, 4.0])


def predictions(loss):
    """Numbers that the loss can take as a prediction."""
    low, high = (1e-3, 1 - 1e-3) if loss in PROBABILITIES else (-6.0, 6.0)
    return st.floats(low, high)


def test_values_are_the_formulas():
    y, z = np.array([1.0, -1.0, 1.0]), np.array([0.25, 0.25, -3.0])
    np.testing.assert_array_equal(ABSOLUTE_ERROR(y, z), [0.75, 1.25, 4.0])
    np.testing.assert_array_equal(SQUARED_ERROR(y, z), [0.5625, 1.5625, 16.0])
    np.testing.assert_array_equal(HINGE(y, z), [0.75, 1.25, 4.0])
    np.testing.assert_allclose(LOGISTIC(y, z), np.log(1 + np.exp(-y * z)), rtol=1e-15)
    np.testing.assert_array_equal(Huber(1.0)(y, z), [0.28125, 0.75, 3.5])
    np.testing.assert_array_equal(ZERO_ONE(["a", "b"], ["a", "c"]), [0.0, 1.0])
    np.testing.assert_array_equal(LOG_LOSS([1, 0], [0.25, 0.25]), -np.log([0.25, 0.75]))


def test_a_forecast_of_rain_by_the_absolute_and_the_logarithmic_loss():
    """A05, A07: 1 - z and z; the logarithmic one explodes for a sure forecast that is wrong."""
    z = np.array([0.1, 0.9, 0.999999])
    np.testing.assert_allclose(ABSOLUTE_ERROR(1, z), 1 - z)
    np.testing.assert_allclose(ABSOLUTE_ERROR(0, z), z)
    assert LOG_LOSS(0, z)[-1] > 13 > 1 > ABSOLUTE_ERROR(0, z)[-1]


def test_codes_and_flags_are_those_that_kernels_count_on():
    assert [loss.code for loss in LOSSES.values()] == list(range(8))
    assert list(LOSSES) == [
        "zero_one",
        "absolute_error",
        "squared_error",
        "log_loss",
        "hinge",
        "logistic",
        "huber",
        "brier_score",
    ]
    assert [name for name, loss in LOSSES.items() if loss.bounded] == ["zero_one", "brier_score"]
    assert [name for name, loss in LOSSES.items() if not loss.convex] == ["zero_one"]
    assert [loss.labels for loss in LOSSES.values()] == [
        "any",
        "real",
        "real",
        "unit",
        "sign",
        "sign",
        "real",
        "unit",
    ]


@pytest.mark.parametrize("loss", CONVEX, ids=repr)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_losses_are_never_negative_and_convex_with_their_gradient(loss, data):
    """l(y, b) >= l(y, a) + l'(y, a)(b - a): convexity, and that the gradient is a subgradient."""
    y = data.draw(st.sampled_from(truths(loss)))
    a, b = data.draw(predictions(loss)), data.draw(predictions(loss))
    here, there = loss(y, a), loss(y, b)
    assert here >= 0
    # Rounding of the product is relative to its factors, at most 1e3 * 1 and 4 * 10.
    assert there >= here + loss.gradient(y, a) * (b - a) - 1e-11


@pytest.mark.parametrize("loss", CONVEX, ids=repr)
def test_gradients_are_the_slopes_of_the_values(loss):
    # Points off the kinks; a central difference of step 1e-6 errs by 1e-12 f''' and 1e-10 rounding.
    z = np.linspace(-4.03, 4.07, 41)
    z = np.array([0.13, 0.38, 0.52, 0.91]) if loss in PROBABILITIES else z
    for y in truths(loss):
        slope = (loss(y, z + 1e-6) - loss(y, z - 1e-6)) / 2e-6
        np.testing.assert_allclose(loss.gradient(y, z), slope, rtol=1e-6, atol=1e-7)
        bend = (loss.gradient(y, z + 1e-6) - loss.gradient(y, z - 1e-6)) / 2e-6
        np.testing.assert_allclose(loss.curvature(y, z), bend, rtol=1e-6, atol=1e-7)


def test_at_a_kink_the_gradient_is_zero_where_zero_is_a_subgradient():
    assert ABSOLUTE_ERROR.gradient(2.0, 2.0) == 0
    assert HINGE.gradient(1, 1.0) == 0
    assert HINGE.gradient(-1, 0.0) == 1


@pytest.mark.parametrize(
    "loss", [ZERO_ONE, ABSOLUTE_ERROR, SQUARED_ERROR, HINGE, Huber()], ids=repr
)
def test_the_truth_costs_nothing(loss):
    """A03."""
    y = np.array([-1.0, 1.0])
    np.testing.assert_array_equal(loss(y, y), [0.0, 0.0])


def test_the_truth_costs_nothing_in_the_limit():
    """The logarithmic and the logistic loss never reach the truth."""
    assert 0 < LOG_LOSS(1, 1 - 1e-12) < 1e-11
    assert 0 < LOGISTIC(-1, -30.0) < 1e-12


def test_large_numbers_neither_overflow_nor_lose_digits():
    np.testing.assert_array_equal(LOGISTIC([1, -1], [1e300, 1e300]), [0.0, 1e300])
    np.testing.assert_array_equal(LOGISTIC.gradient([1, -1], [1e4, 1e4]), [-0.0, 1.0])
    assert LOGISTIC(1, 40.0) == pytest.approx(math.exp(-40), rel=1e-12)
    assert LOG_LOSS(0, 1e-20) == pytest.approx(1e-20, rel=1e-12)


def test_arrays_broadcast():
    grid = SQUARED_ERROR(np.arange(3.0)[:, np.newaxis], np.arange(4.0))
    np.testing.assert_array_equal(grid[2], [4, 1, 0, 1])
    assert ZERO_ONE(1, 1).shape == ()


@pytest.mark.parametrize(
    "loss", [ABSOLUTE_ERROR, SQUARED_ERROR, Huber(1.0), Huber(0.2), Huber(50.0)], ids=repr
)
@settings(max_examples=25, deadline=None)
@given(
    values=st.lists(st.integers(-20, 20), min_size=1, max_size=6, unique=True),
    seed=st.integers(0, 10_000),
)
def test_best_prediction_of_a_number_is_where_the_risk_is_least(loss, values, seed):
    share = np.random.default_rng(seed).dirichlet(np.ones(len(values)))
    values = np.array(values) / 4
    least = float(loss.risk(values, share, loss.best(values, share)))
    others = np.concatenate([values, np.linspace(values.min() - 1, values.max() + 1, 301)])
    # A sum of six terms of at most 1e3 is rounded by less than 1e-12.
    assert least <= loss.risk(values, share, others).min() + 1e-12


@pytest.mark.parametrize("loss", [LOG_LOSS, BRIER_SCORE, HINGE, LOGISTIC], ids=repr)
@pytest.mark.parametrize("eta", [0.02, 0.3, 0.5, 0.9])
def test_best_prediction_of_a_class_is_where_the_risk_is_least(loss, eta):
    values, share = truths(loss), [1 - eta, eta]
    limits = (1e-9, 1 - 1e-9) if loss in PROBABILITIES else (-9, 9)
    found = optimize.minimize_scalar(lambda z: float(loss.risk(values, share, z)), bounds=limits)
    least = loss.risk(values, share, loss.best(values, share))
    assert least <= found.fun + 1e-12
    # minimize_scalar stops within 1e-5 of the minimum, where the risk is flat to second order.
    assert least == pytest.approx(found.fun, abs=1e-4)


def test_bayes_predictions_of_the_notes():
    eta = np.array([0.0, 0.2, 0.5, 0.8, 1.0])
    share = np.stack([1 - eta, eta], axis=-1)
    # a tie goes to +1, and the risk is min(eta, 1 - eta).
    np.testing.assert_array_equal(ZERO_ONE.best([-1, 1], share), [-1, -1, 1, 1, 1])
    risk = ZERO_ONE.risk([-1, 1], share, ZERO_ONE.best([-1, 1], share))
    np.testing.assert_allclose(risk, np.minimum(eta, 1 - eta))
    np.testing.assert_array_equal(HINGE.best([-1, 1], share), [-1, -1, 1, 1, 1])
    np.testing.assert_allclose(LOG_LOSS.best([0, 1], share), eta)
    np.testing.assert_allclose(
        LOGISTIC.best([-1, 1], share), [-np.inf, -math.log(4), 0, math.log(4), np.inf]
    )
    np.testing.assert_allclose(
        LOGISTIC.risk([-1, 1], share, LOGISTIC.best([-1, 1], share))[[0, 4]], 0
    )
    # the mean, at a risk of the variance.
    values, p = np.array([0.0, 1.0, 5.0]), np.array([0.5, 0.25, 0.25])
    assert SQUARED_ERROR.best(values, p) == 1.5
    assert SQUARED_ERROR.risk(values, p, 1.5) == pytest.approx(p @ values**2 - 1.5**2)


def test_order_and_repetition_of_the_values_do_not_matter():
    assert ZERO_ONE.best(["b", "a", "b"], [0.3, 0.4, 0.3]) == "b"
    assert ZERO_ONE.best([3, 1, 2], [0.4, 0.4, 0.2]) == 3
    assert ABSOLUTE_ERROR.best([5, 1, 3], [0.2, 0.3, 0.5]) == 3
    assert ABSOLUTE_ERROR.best([0, 1], [0.5, 0.5]) == 0
    # 0.1 + 0.2 + 0.2 is half, whatever the rounding of the running sum.
    assert ABSOLUTE_ERROR.best([1, 2, 3, 4], [0.1, 0.2, 0.2, 0.5]) == 3
    assert HINGE.best([1, -1], [0.7, 0.3]) == 1
    assert LOGISTIC.best([1], [1.0]) == np.inf


def test_huber_lies_between_the_mean_and_the_median():
    values, share = [0.0, 1.0, 10.0], [0.3, 0.4, 0.3]
    assert Huber(100.0).best(values, share) == pytest.approx(3.4)
    assert Huber(1e-6).best(values, share) == pytest.approx(1.0, abs=1e-6)
    assert 1.0 < Huber(2.0).best(values, share) < 3.4


def test_the_poisson_loss_is_half_the_deviance_of_counts():
    y, z = np.array([0.0, 1.0, 4.0, 0.0]), np.array([0.5, 2.0, 3.0, 0.0])
    expected = mean_poisson_deviance(y[:3], z[:3]) / 2
    np.testing.assert_allclose(POISSON(y, z)[:3].mean(), expected, rtol=1e-14)
    assert POISSON(y, z)[3] == 0  # a mean of zero is certain of a zero
    assert POISSON(1, 0) == np.inf
    assert POISSON.best([0, 1, 5], [0.5, 0.25, 0.25]) == 1.5


def test_losses_are_found_by_name_and_equal_after_a_copy():
    assert get_loss("squared_error") is SQUARED_ERROR
    assert get_loss("poisson", "regression") is POISSON
    assert get_loss(Huber(3.0)) == Huber(3.0) != Huber(2.0)
    for loss in LOSSES.values():
        assert copy.deepcopy(loss) == loss == pickle.loads(pickle.dumps(loss))
        assert isinstance(loss, Loss)
    assert HINGE != LOGISTIC
    assert repr(HINGE) == "HINGE"
    with pytest.raises(ParameterError, match="Did you mean 'hinge'"):
        get_loss("hings")
    with pytest.raises(ParameterError, match="not known"):
        get_loss(3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: HINGE([0, 1], [1, 1]), "labels -1 and \\+1"),
        (lambda: LOGISTIC([np.nan], [1]), "labels -1 and \\+1"),
        (lambda: LOG_LOSS([-1, 1], [0.5, 0.5]), "labels 0 and 1"),
        (lambda: LOG_LOSS([0, 1], [0.0, 0.5]), "strictly between"),
        (lambda: LOG_LOSS.gradient([0, 1], [1.0, 0.5]), "strictly between"),
        (lambda: LOG_LOSS([0], [np.nan]), "strictly between"),
        (lambda: ZERO_ONE.gradient([1], [1]), "no gradient"),
        (lambda: Cost([[0, 1], [2, 0]]).curvature([1], [1]), "no gradient"),
        (lambda: BRIER_SCORE([0], [1.5]), "between 0 and 1"),
        (lambda: BRIER_SCORE.of_rows([0, 1], [0.3, 0.7]), "one probability per class"),
        (lambda: LOG_LOSS.of_rows([0, 2], np.full((2, 2), 0.5)), "for 2 classes; y has the codes"),
        (lambda: Cost([[0, 1]]), "one row and one column per class"),
        (lambda: Cost([[0, -1], [1, 0]]), "at least 0"),
        (lambda: Cost([[0, 1], [1, 0]], classes=["a", "a"]), "distinct classes"),
        (lambda: Cost([[0, 1], [1, 0]], classes=["a", "b"])(["a"], ["c"]), "'c' is not among"),
        (lambda: get_loss(None), "loss=None is not known"),
        (lambda: get_loss("hinge", "classification"), "cannot judge a classification; .* brier"),
        (
            lambda: get_loss("brier_score", "regression"),
            "cannot judge a regression; .* squared_error",
        ),
        (lambda: get_loss(lambda *_: 1.0).of_rows([1, 2], [1, 2]), "one number per row"),
        (lambda: Huber(0.0), "above 0"),
        (lambda: Huber(np.nan), "above 0"),
        (lambda: SQUARED_ERROR.best([1, 2], [0.5, 0.6]), "sum to 1"),
        (lambda: SQUARED_ERROR.best([1, 2], [1.5, -0.5]), "at least 0"),
        (lambda: SQUARED_ERROR.best([1, 2], [np.nan, 0.5]), "at least 0"),
        (lambda: SQUARED_ERROR.best([1, 2], [1.0]), "one probability"),
        (lambda: SQUARED_ERROR.best([], []), "one probability"),
    ],
)
def test_what_a_loss_cannot_take_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_rows_are_judged_for_many_models_at_once():
    """One column per model; several responses broadcast where y has an axis for the models."""
    rng = np.random.default_rng(0)
    y, predicted = rng.normal(size=8), rng.normal(size=(8, 3))
    for loss in (SQUARED_ERROR, ABSOLUTE_ERROR, Huber(0.4)):
        expected = np.column_stack([loss(y, column) for column in predicted.T])
        np.testing.assert_array_equal(loss.of_rows(y, predicted), expected)
        np.testing.assert_array_equal(loss.of_rows(y, predicted[:, 0]), expected[:, 0])
    both, many = rng.normal(size=(8, 2)), rng.normal(size=(8, 3, 2))
    np.testing.assert_array_equal(
        SQUARED_ERROR.of_rows(both[:, None], many)[:, 2], (both - many[:, 2]) ** 2
    )
    codes = np.array([0, 2, 1])
    np.testing.assert_array_equal(
        ZERO_ONE.of_rows(codes, np.array([[0, 1], [1, 2], [1, 1]])), [[0, 1], [1, 0], [0, 0]]
    )


def test_probabilities_of_rows_are_judged_by_the_class_that_was_observed():
    codes = np.array([0, 2, 1, 1])
    shares = np.random.default_rng(1).dirichlet(np.ones(3), size=(4, 5))
    own = np.stack([shares[i, :, code] for i, code in enumerate(codes)])
    np.testing.assert_allclose(LOG_LOSS.of_rows(codes, shares), -np.log(own), rtol=1e-15)
    squares = ((shares - np.eye(3)[codes][:, None]) ** 2).sum(axis=-1) / 2
    np.testing.assert_allclose(BRIER_SCORE.of_rows(codes, shares), squares, rtol=1e-13)
    # With two classes both are the losses of P(Y = 1).
    binary, one = np.array([0, 1, 1]), np.array([0.2, 0.7, 0.4])
    two = np.column_stack([1 - one, one])
    for loss in PROBABILITIES:
        np.testing.assert_allclose(loss.of_rows(binary, two), loss(binary, one), rtol=1e-14)
    # What was held impossible is counted as 1e-15, so a mean over rows stays finite.
    assert LOG_LOSS.of_rows([1], [[1.0, 0.0]])[0] == pytest.approx(15 * math.log(10))


def test_costs_are_those_of_the_prediction_in_the_row_and_the_truth_in_the_column():
    loss = Cost([[0, 10], [1, 0]], classes=["well", "ill"])  # an illness overlooked costs 10
    assert loss("ill", "well") == 10
    assert loss("well", "ill") == 1
    assert loss.best(["well", "ill"], [0.91, 0.09]) == "well"
    assert loss.best(["well", "ill"], [0.89, 0.11]) == "ill"
    # Equal costs: the first class in sorted order, also where rounding says otherwise.
    three = Cost(1 - np.eye(3))
    assert three.decide(
        [[0.1 + 0.2, 0.3, 0.4], [0.3, 0.1 + 0.2, 0.4 - 1e-17], [0.2, 0.4, 0.4]]
    ).tolist() == [2, 2, 1]
    assert three.decide([0.3, 0.1 + 0.2, 0.3]) == three.best([0, 1, 2], [1 / 3, 1 / 3, 1 / 3]) == 0
    assert loss.risk(["well", "ill"], [0.89, 0.11], "well") == pytest.approx(1.1)
    # Codes of an estimator follow the sorted classes, whatever the order of the matrix.
    coded = loss.for_classes(np.array(["ill", "well"]))
    np.testing.assert_array_equal(coded.of_rows([0, 1, 0], [[1], [0], [0]]), [[10], [1], [0]])
    assert coded.for_classes(np.array(["ill", "well"])) is coded
    three = Cost(np.arange(9).reshape(3, 3), classes=["c", "a", "b"])
    np.testing.assert_array_equal(three.for_classes(["a", "c"])([0, 0, 1], [0, 1, 0]), [4, 1, 3])
    assert three == copy.deepcopy(three) == pickle.loads(pickle.dumps(three))
    assert hash(three) == hash(copy.deepcopy(three)) != hash(loss)


def test_a_function_of_truth_and_prediction_is_a_loss_that_is_given_labels():
    def half_price(y, z):
        return np.where(y == z, 0.0, np.where(y == "b", 0.5, 1.0))

    loss = get_loss(half_price, "classification")
    assert loss.title == "half price"
    coded = loss.for_classes(["a", "b"])
    np.testing.assert_array_equal(coded.of_rows([0, 1], [[1, 0], [0, 1]]), [[1, 0], [0.5, 0]])
    np.testing.assert_array_equal(loss(["a", "b"], ["b", "a"]), [1, 0.5])


def test_each_task_has_a_loss_of_its_own():
    assert get_loss(None, "regression") is SQUARED_ERROR
    assert get_loss(None, "classification") is ZERO_ONE
    assert [loss.method for loss in (ZERO_ONE, LOG_LOSS, BRIER_SCORE)] == ["predict"] + 2 * [
        "predict_proba"
    ]


def test_a_cost_that_names_its_classes_refuses_others():
    named, unnamed = Cost([[0, 5], [1, 0]], classes=[0, 1]), Cost([[0, 5], [1, 0]])
    assert unnamed.for_classes([1, 2]) == unnamed
    with pytest.raises(InputError, match="2 is not among the classes"):
        named.for_classes([1, 2])
