"""Noisy labels of three kinds, and the Bayes risk that they leave."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError
from bottega.data import make
from bottega.neighbors import NearestNeighborsClassifier
from bottega.risk import (
    FiniteDistribution,
    annotators,
    hidden_features,
    learning_curve,
    noisy_features,
)

BITS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def near(count, n, share):
    """Within 5 standard deviations of a binomial count: fails once in a million."""
    return abs(count - n * share) < 5 * np.sqrt(n * share * (1 - share))


@pytest.mark.parametrize("q", [0.0, 0.1, 0.3])
def test_annotators_change_labels_at_their_rate_and_nothing_else(q):
    clean = partial(make.xor, cluster_std=0.7)
    noisy = annotators(clean, q)
    before, after = clean(20_000, random_state=3), noisy(20_000, random_state=3)
    np.testing.assert_array_equal(before.X, after.X)
    assert near(np.count_nonzero(before.y != after.y), 20_000, q) or q == 0
    # A18 with: eta becomes q + (1 - 2q) eta, so the best rule stays.
    assert after.bayes_risk == pytest.approx(q + (1 - 2 * q) * before.bayes_risk)
    assert near(np.count_nonzero(after.bayes(after.X) != after.y), 20_000, after.bayes_risk)


def test_a_majority_of_annotators_errs_less():
    """Three err together with probability 3 q^2 - 2 q^3."""
    q = 0.2
    rate = 3 * q**2 - 2 * q**3
    noisy = annotators(make.separable, q, n_annotators=3)(10_000, random_state=1)
    assert noisy.bayes_risk == pytest.approx(rate)
    assert near(np.count_nonzero(noisy.bayes(noisy.X) != noisy.y), 10_000, rate)


def test_annotators_of_numbers_add_variance():
    """The mean of 4 annotators of standard deviation 0.6 adds 0.09. The mean of 20,000 squared
    normals has standard deviation sqrt(2/20000) of itself: 5 of them."""
    noisy = annotators(make.sine, 0.6, n_annotators=4)(20_000, random_state=2)
    assert noisy.bayes_risk == pytest.approx(0.09 + 0.09)
    error = np.mean((noisy.y - noisy.bayes(noisy.X)) ** 2)
    assert error == pytest.approx(0.18, rel=5 * np.sqrt(2 / 20_000))


@given(
    st.lists(st.integers(0, 9), min_size=12, max_size=12).filter(any),
    st.floats(0, 0.66),
)
@settings(max_examples=50, deadline=None)
def test_the_formula_for_several_classes_is_exact(weights, q):
    """Against the sum over a finite distribution of 4 points and 3 classes."""
    joint = np.array(weights).reshape(4, 3) / sum(weights)
    D = FiniteDistribution(joint, labels=["a", "b", "c"])
    exact = annotators(D, q)
    assert exact.joint.sum() == pytest.approx(1)
    drawn = annotators(partial(D), q, labels=["a", "b", "c"])(3, random_state=0)
    assert drawn.bayes_risk == pytest.approx(exact.bayes_risk, abs=1e-12)


def test_hidden_features_of_a_finite_distribution():
    """XOR of two fair bits: certain with both, a coin toss with one (epistemic)."""
    D = FiniteDistribution(np.array([[1, 0], [0, 1], [0, 1], [1, 0]]) / 4, points=BITS)
    one = hidden_features(D, 0)
    assert one.points.tolist() == [[0], [1]]
    np.testing.assert_allclose(one.joint, 0.25)
    assert one.bayes_risk == 0.5
    # A third bit that says nothing can be hidden at no cost.
    points = np.array([(*bits, c) for bits in BITS for c in (0, 1)])
    wide = FiniteDistribution(np.repeat(D.joint / 2, 2, axis=0), points=points)
    assert hidden_features(wide, [2]).bayes_risk == 0.0


@given(st.lists(st.integers(0, 9), min_size=8, max_size=8).filter(any), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_noise_never_lowers_the_bayes_risk(weights, q):
    """Hiding and misreading are processing of what is seen: the best rule cannot gain."""
    D = FiniteDistribution(np.array(weights).reshape(4, 2) / sum(weights), points=BITS)
    for noisy in (hidden_features(D, 1), noisy_features(D, q), annotators(D, q / 2.1)):
        assert noisy.joint.sum() == pytest.approx(1)
        assert noisy.bayes_risk >= D.bayes_risk - 1e-12


def test_misread_bits():
    """The label is the bit; read wrongly with probability q it is wrong with probability q."""
    D = FiniteDistribution([[0.5, 0], [0, 0.5]])
    assert noisy_features(D, 0.2).bayes_risk == pytest.approx(0.2)
    assert noisy_features(D, 0.8).bayes_risk == pytest.approx(0.2)  # read it the other way round
    pair = FiniteDistribution(np.array([[1, 0], [0, 1], [0, 1], [1, 0]]) / 4, points=BITS)
    # XOR is wrong if exactly one of the two bits is.
    assert noisy_features(pair, 0.1).bayes_risk == pytest.approx(2 * 0.1 * 0.9)
    assert noisy_features(pair, 0.1, columns=0).bayes_risk == pytest.approx(0.1)


def test_noisy_measurement_of_clusters_is_wider_clusters():
    """Errors of 0.3 on clusters of spread 0.4: spread 0.5 exactly."""
    wide = make.xor(1, cluster_std=0.5)
    noisy = noisy_features(
        partial(make.xor, cluster_std=0.4), 0.3, bayes=wide.bayes, bayes_risk=wide.bayes_risk
    )
    sample = noisy(20_000, random_state=5)
    assert near(np.count_nonzero(sample.bayes(sample.X) != sample.y), 20_000, sample.bayes_risk)


def test_what_is_not_known_is_said_to_be_not_known():
    for noisy in (hidden_features(make.xor, 1), noisy_features(make.xor, 0.5)):
        sample = noisy(5)
        assert np.isnan(sample.bayes_risk)
        with pytest.raises(InputError, match="not known after this noise"):
            sample.bayes(sample.X)


def test_kinds_may_be_put_on_top_of_one_another():
    """Twice the same kind uses two streams: labels changed by both come back. With both at 0.2 a
    label is wrong with probability 0.32."""
    once = annotators(partial(make.xor, cluster_std=0.1), 0.2)
    twice = annotators(once, 0.2)(20_000, random_state=1)
    clean = make.xor(20_000, cluster_std=0.1, random_state=1)
    assert near(np.count_nonzero(twice.y != clean.y), 20_000, 0.32)
    assert twice.bayes_risk == pytest.approx(0.32 + 0.36 * clean.bayes_risk)
    hidden = hidden_features(noisy_features(annotators(make.nested_spheres, 0.1), 0.2), [0, 2])
    assert hidden(7).X.shape == (7, 2)


def test_only_the_named_columns_are_measured_with_error():
    clean = make.nested_spheres(50, random_state=1)
    noisy = noisy_features(make.nested_spheres, 1.0, columns=[1])(50, random_state=1)
    np.testing.assert_array_equal(noisy.X[:, [0, 2, 3]], clean.X[:, [0, 2, 3]])
    assert np.all(noisy.X[:, 1] != clean.X[:, 1])
    np.testing.assert_array_equal(noisy.y, clean.y)


def test_noisy_labels_make_one_neighbour_overfit():
    """A18, A23: with 20 % of the labels wrong 1-NN still has training error 0 and about twice the
    Bayes risk; 15-NN comes near it. The risks are over 10 standard errors apart."""
    noisy = annotators(partial(make.xor, cluster_std=0.3), 0.2)
    one, many = (
        learning_curve(NearestNeighborsClassifier(n_neighbors=k), noisy, [400], n_repeats=10)
        for k in (1, 15)
    )
    assert one.train_error[0] == 0
    assert one.risk[0] - many.risk[0] > 10 * np.hypot(one.risk_se[0], many.risk_se[0])
    assert many.excess[0] < 0.03
    assert one.risk[0] == pytest.approx(2 * 0.2 * 0.8, abs=0.03)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: annotators(make.xor, 0.5)(5), "below 0.5"),
        (lambda: annotators(make.xor, -0.1), r"disagreement=-0\.1"),
        (lambda: annotators(make.xor, 0.1, n_annotators=2)(5), "odd number"),
        (lambda: annotators(make.xor, 0.1, labels=[1, 2])(50), r"labels \[0\]"),
        (lambda: annotators("xor", 0.1), "source must be"),
        (lambda: annotators(make.xor, 0.1, n_annotators=0), "n_annotators=0"),
        (lambda: hidden_features(make.xor, 2)(5), "columns 0 to 1"),
        (lambda: hidden_features(make.xor, [0, 1])(5), "leave at least one"),
        (lambda: hidden_features(make.xor, 0.5)(5), "columns 0 to 1"),
        (lambda: noisy_features(make.xor, -1), "noise=-1"),
        (lambda: noisy_features(make.xor, 1, columns=9)(5), "columns 0 to 1"),
        (lambda: noisy_features(FiniteDistribution([[0.5, 0.5]]), 1.5), "a probability"),
    ],
)
def test_bad_input_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()
