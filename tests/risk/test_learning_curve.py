"""Learning curves and consistency: closed forms, coverage, verdicts, input."""

from functools import partial

import numpy as np
import pytest

from bottega.core import BaselineClassifier, BaselineRegressor
from bottega.core.errors import InputError
from bottega.data import make
from bottega.data.make import Sample
from bottega.neighbors import NearestNeighborsClassifier
from bottega.risk import consistency, learning_curve


def mean_of(X, y):
    centre = y.mean()
    return lambda X_new: np.full(len(X_new), centre)


def always(procedure):
    """The same procedure whatever the number of rows."""

    def procedure_of(m):
        return procedure

    return procedure_of


def bayes_of_xor(X, y):
    return make.xor(1).bayes


def zero(X):
    return np.zeros(len(X))


def noise(n, *, random_state=0):
    """Responses that have nothing to do with x: the mean of m of them has excess risk 1/m."""
    rng = np.random.default_rng(random_state)
    return Sample(rng.uniform(size=(n, 1)), rng.normal(size=n), zero, 1.0, "squared_error", "noise")


def test_the_mean_has_a_known_learning_curve():
    """On responses of variance v the mean of m has risk v (1 + 1/m) and training error v (1 - 1/m).

    Limits of 5 standard errors (60 repeats): false alarm below 1e-4 over the twelve numbers, the
    standard errors being estimated.
    """
    sizes = [2, 5, 20, 80]
    curve = learning_curve(BaselineRegressor(), make.sine, sizes, n_repeats=60, n_test=200)
    v, m = 0.5 + 0.3**2, np.array(sizes)
    assert np.all(np.abs(curve.risk - v * (1 + 1 / m)) < 5 * curve.risk_se)
    assert np.all(np.abs(curve.train_error - v * (1 - 1 / m)) < 5 * curve.train_error_se)
    assert np.all(np.abs(curve.excess - (0.5 + v / m)) < 5 * curve.excess_se)
    assert curve.bayes_risk == pytest.approx(0.09)
    assert curve.loss == "squared_error"


def test_the_constant_classifier_errs_as_often_as_the_other_class_comes():
    """Misses ~ Binomial(40 * 500, 0.2): 5 standard deviations fail once in a million."""
    source = partial(make.two_gaussians, prior=0.2)
    curve = learning_curve(BaselineClassifier(), source, [200], n_repeats=40, n_test=500)
    assert curve.risk[0] == pytest.approx(0.2, abs=5 * np.sqrt(0.2 * 0.8 / 20_000))
    assert curve.excess[0] == pytest.approx(0.2 - curve.bayes_risk, abs=5 * curve.excess_se[0])
    assert curve.loss == "zero_one"


def test_excess_is_sharper_than_the_difference_of_risks():
    curve = learning_curve(bayes_of_xor, make.xor, [5, 50], n_repeats=10, n_test=300)
    np.testing.assert_array_equal(curve.excess, 0.0)
    assert np.all(curve.risk_se > 0)


def test_a_seed_that_fixes_the_truth_keeps_it_for_the_test_rows():
    """`make.separable` draws a new plane with each seed; half the labels would be wrong if the
    test rows came from another one."""
    model = NearestNeighborsClassifier(n_neighbors=1)
    curve = learning_curve(model, make.separable, [400], n_repeats=10, n_test=200)
    assert curve.risk[0] < 0.05
    assert curve.train_error[0] == 0.0


def test_sizes_are_sorted_and_runs_repeat():
    once = learning_curve(mean_of, noise, [50, 5, 50], n_repeats=3)
    again = learning_curve(mean_of, noise, [5, 50], n_repeats=3)
    assert once.train_sizes.tolist() == [5, 50]
    np.testing.assert_array_equal(once.risk, again.risk)
    frame = once.to_frame()
    assert frame["m"].tolist() == [5, 50]
    np.testing.assert_array_equal(frame["risk"], once.risk)


def test_an_unknown_bayes_risk_leaves_no_excess():
    def nobody_knows(n, *, random_state=0):
        sample = noise(n, random_state=random_state)
        return Sample(sample.X, sample.y, zero, np.nan, "squared_error", "unknown")

    curve = learning_curve(mean_of, nobody_knows, [5], n_repeats=3)
    assert np.isfinite(curve.risk[0])
    assert np.isnan(curve.excess[0])
    with pytest.raises(InputError, match="Bayes risk of this generator is not known"):
        consistency(always(mean_of), nobody_knows, [5, 10], n_repeats=3)


def test_the_slope_of_the_mean_is_minus_one():
    """Excess exactly 1/m. 5 standard errors: false alarm about one in a million."""
    found = consistency(always(mean_of), noise, [10, 40, 160, 640], n_repeats=200, n_test=20)
    assert found.used == (160, 640)
    half = (found.slope_high - found.slope_low) / 2
    assert abs(found.slope + 1) < 5 * half / 1.96
    assert half < 0.35
    assert found.verdict == "falling"
    assert "consistency is a limit" in str(found)


@pytest.mark.slow
def test_the_interval_of_the_slope_covers():
    """Excess 1/m, 150 simulations at level 0.9: misses ~ Binomial(150, about 0.1). More than 34
    has probability below 1e-5 at 0.1, and below 1e-3 at the 0.12 that 60 repeats, whose squared
    means are skewed, may bring it to."""
    missed = 0
    for seed in range(150):
        found = consistency(
            always(mean_of), noise, [4, 16], n_repeats=60, n_test=1, level=0.9, random_state=seed
        )
        missed += not found.slope_low <= -1 <= found.slope_high
    assert missed <= 34


def test_a_constant_is_not_consistent_for_a_sine():
    found = consistency(always(BaselineRegressor()), make.sine, [100, 400, 1600], n_repeats=10)
    assert found.verdict == "not falling"
    assert found.curve.excess[-1] == pytest.approx(0.5, abs=0.03)
    assert "no sign that it goes on falling" in str(found)


def test_the_bayes_rule_reaches_the_bayes_risk():
    found = consistency(always(bayes_of_xor), make.xor, [10, 20], n_repeats=3)
    assert found.verdict == "reached"
    assert np.isnan(found.slope)
    assert found.used == ()


def test_one_size_with_a_clear_excess_says_nothing():
    """The first procedure is wrong by 1 everywhere, the second by a little that is lost in noise
    of the simulation only at small repeats; the slope needs two clear sizes."""

    def procedure(m):
        def off(X, y):
            return lambda X_new: np.full(len(X_new), 1.0 if m == 10 else y[0] + 1.0)

        return off

    found = consistency(procedure, noise, [10, 20], n_repeats=4, n_test=5, random_state=2)
    # (y0 + 1)^2 has mean 2 and standard deviation 2.4: four of them are no clear excess.
    assert found.curve.excess_se[1] * 3 > found.curve.excess[1]
    assert np.isnan(found.slope)
    assert found.verdict in ("unclear", "reached")


def root(m):
    """The odd number next to the square root."""
    return 2 * round((np.sqrt(m) - 1) / 2) + 1


def test_neighbours_that_grow_with_the_root_reach_what_one_neighbour_does_not():
    """A53, A54, A59: with k_m near sqrt(m) the excess falls; 1-NN stays below twice the Bayes risk
    and at an excess that no number of rows removes. Excesses differ by over 20 standard errors.
    """
    source = partial(make.lipschitz, c=2.0, n_features=1)
    sizes = [100, 400, 1600, 6400]
    grows = consistency(
        lambda m: NearestNeighborsClassifier(n_neighbors=root(m)), source, sizes, n_repeats=12
    )
    fixed = consistency(
        always(NearestNeighborsClassifier(n_neighbors=1)), source, sizes, n_repeats=12
    )
    assert grows.verdict in ("falling", "reached")
    assert fixed.verdict == "not falling"
    bayes = fixed.curve.bayes_risk
    assert np.all(fixed.curve.risk - 5 * fixed.curve.risk_se < 2 * bayes)
    assert fixed.curve.excess[-1] > grows.curve.excess[-1] + 20 * grows.curve.excess_se[-1]


@pytest.mark.parametrize(
    ("sizes", "options", "says"),
    [
        ([], {}, "sizes is empty"),
        ([0], {}, "size=0 is not allowed"),
        ([2.5], {}, r"size=2\.5 is not allowed"),
        ([5], {"n_repeats": 1}, "n_repeats=1 is not allowed"),
        ([5], {"n_test": 0}, "n_test=0 is not allowed"),
    ],
)
def test_bad_options_are_refused(sizes, options, says):
    with pytest.raises(InputError, match=says):
        learning_curve(mean_of, noise, sizes, **options)


def test_bad_options_of_consistency_are_refused():
    with pytest.raises(InputError, match="at least two"):
        consistency(always(mean_of), noise, [5, 5], n_repeats=3)
    with pytest.raises(InputError, match=r"level=1\.5"):
        consistency(always(mean_of), noise, [5, 6], level=1.5)
    with pytest.raises(InputError, match="callable from the number of rows"):
        consistency(BaselineRegressor(), noise, [5, 6])
