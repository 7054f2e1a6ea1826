"""Regret, nearest neighbours, rates and the slow source: numbers of the notes, and simulations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial import cKDTree

from bottega.core.errors import InputError, ParameterError
from bottega.risk import (
    cover_hart,
    nn_asymptotic,
    nn_lipschitz,
    no_free_lunch,
    ogd_regret,
    ogd_strongly_convex_regret,
    rate,
)


def test_numbers_of_the_notes():
    """A54, A59, A71, A74."""
    assert ogd_regret(1, 1, 100) == pytest.approx(0.282843, abs=5e-7)
    assert ogd_strongly_convex_regret(1, 1, 100) == pytest.approx(0.028026, abs=5e-7)
    np.testing.assert_allclose(
        nn_asymptotic(0.1, [1, 3, 5, 25, 100]), [0.7325, 0.4651, 0.3828, 0.2265, 0.1632], atol=5e-5
    )
    assert nn_lipschitz(0, 1, 2, 1000) == pytest.approx(0.56569, abs=5e-6)
    assert nn_lipschitz(0.1, 1, 2, 1000) == pytest.approx(0.2 + 0.56569, abs=5e-6)
    assert rate(10_000) == pytest.approx(0.01)
    np.testing.assert_allclose(rate(1000, [1, 2, 9]), [1000**-0.5, 0.1, 1000**-0.1])


# ---- regret: certain for every stream, so the tests raise no false alarm ------------------------


def directions(seed, T):
    """Return T random gradients of length 1 in two columns."""
    gradients = np.random.default_rng(seed).normal(size=(T, 2))
    return gradients / np.linalg.norm(gradients, axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("T", [1, 2, 10, 300])
def test_projected_descent_on_linear_losses_stays_below_its_bound(seed, T):
    """The best point of the ball is known in closed form: -U times the direction of the sum."""
    U, G = 2.0, 1.0
    random = directions(seed, T)
    w, loss, total = np.zeros(2), 0.0, np.zeros(2)
    for t in range(1, T + 1):
        # Half of the seeds: an adversary who always pushes away from where the learner stands.
        away = w / np.linalg.norm(w) if w.any() else np.array([1.0, 0.0])
        g = away if seed % 2 else random[t - 1]
        loss += g @ w
        total += g
        w = w - math.sqrt(2) * U / G / math.sqrt(t) * g
        if np.linalg.norm(w) > U:
            w *= U / np.linalg.norm(w)
    regret = (loss + U * np.linalg.norm(total)) / T
    assert regret <= ogd_regret(U, G, T)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("T", [1, 2, 10, 300])
def test_descent_on_strongly_convex_losses_stays_below_its_bound(seed, T):
    """l_t(w) = sigma/2 |w|^2 + g_t w: the comparator is -mean(g)/sigma, G the largest gradient."""
    sigma = 0.5
    g = directions(seed, T)
    w, losses, largest = np.zeros(2), 0.0, 0.0
    for t in range(1, T + 1):
        losses += sigma / 2 * w @ w + g[t - 1] @ w
        gradient = sigma * w + g[t - 1]
        largest = max(largest, float(np.linalg.norm(gradient)))
        w = w - gradient / (sigma * t)
    mean = g.mean(axis=0)
    regret = losses / T + mean @ mean / (2 * sigma)
    assert regret <= ogd_strongly_convex_regret(largest, sigma, T) + 1e-12


# ---- nearest neighbours -------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 25, 100, 101])
def test_asymptotic_bound_holds_at_every_conditional_probability(k):
    """In the limit k neighbours vote with independent labels of the same eta (ties by a coin).

    The bound is concave in the Bayes risk, so what holds for every eta holds for every mixture.
    """
    p = np.linspace(0, 0.5, 2001)
    votes = np.arange(k + 1)[:, np.newaxis]
    minority = np.where(2 * votes > k, 1.0, np.where(2 * votes == k, 0.5, 0.0))
    chosen = (stats.binom.pmf(votes, k, p) * minority).sum(axis=0)
    risk = (1 - p) * chosen + p * (1 - chosen)
    assert np.all(risk <= nn_asymptotic(p, k) + 1e-12)
    if k == 1:
        np.testing.assert_allclose(risk, cover_hart(p), atol=1e-12)
        assert np.all(risk <= 2 * p + 1e-12)


def test_cover_and_hart_is_the_risk_of_a_uniform_confusion():
    """K classes, one with probability 1 - R, the others equal: two labels differ so often."""
    for classes, risk in ((2, 0.3), (3, 0.5), (10, 0.9)):
        p = np.full(classes, risk / (classes - 1))
        p[0] = 1 - risk
        assert cover_hart(risk, classes) == pytest.approx(1 - p @ p)


@pytest.mark.parametrize("d", [1, 2, 3, 10, 50])
def test_the_constant_of_the_lipschitz_bound(d):
    """The bracket in the derivation of `nn_lipschitz` is at most 2 for the better of two T."""
    q = np.linspace(1, 60, 200_001)
    floor = np.floor(q)
    bracket = np.minimum(*(q / T + (T / q) ** d / math.e for T in (floor, floor + 1)))
    assert bracket.max() <= 2


@pytest.mark.parametrize(("d", "m"), [(1, 1), (1, 10), (2, 30), (3, 200)])
def test_lipschitz_bound_covers_on_the_cube(d, m):
    """Nearest neighbour of 2000 queries, each with m rows of its own, uniform on [-1, 1]^d.

    eta(x) = 1/2 + x_1/4 is 1/4-Lipschitz, with a Bayes risk of 3/8. The probability of an error
    given the two points lies in [0, 1]: by Hoeffding the mean of 2000 is within 0.0588 of its
    expectation but for 1e-6. The expected distance is checked as well, in units of the diameter.
    """
    rng = np.random.default_rng(d)
    rows = rng.uniform(-1, 1, size=(2000, m, d))
    query = rng.uniform(-1, 1, size=(2000, d))
    distance = np.linalg.norm(rows - query[:, np.newaxis], axis=2)
    nearest = rows[np.arange(2000), distance.argmin(axis=1)]
    eta, other = 0.5 + query[:, 0] / 4, 0.5 + nearest[:, 0] / 4
    risk = (eta * (1 - other) + (1 - eta) * other).mean()
    assert risk <= nn_lipschitz(3 / 8, 1 / 4, d, m) + 0.0588
    mean = distance.min(axis=1).mean()
    assert mean <= 4 * math.sqrt(d) * m ** (-1 / (d + 1)) + 0.0588 * 2 * math.sqrt(d)


def test_distance_to_the_nearest_row_shrinks_no_faster_than_the_curse_says():
    """Slope of the log distance is about -1/d, steeper than the bound's -1/(d+1), far from -1/2."""
    rng = np.random.default_rng(0)
    sizes = np.array([200, 800, 3200, 12_800])
    for d in (2, 8):
        means = [
            cKDTree(rng.uniform(-1, 1, size=(m, d)))
            .query(rng.uniform(-1, 1, size=(500, d)))[0]
            .mean()
            for m in sizes
        ]
        slope = np.polyfit(np.log(sizes), np.log(means), 1)[0]
        # 500 distances with a relative deviation below 1/2: the slope errs by less than 0.02.
        assert -1 / d - 0.1 < slope < -1 / (d + 1) + 0.1


# ---- no free lunch ------------------------------------------------------------------------------


SLOW = {
    "logarithm": 1 / (16 * (1 + np.log(np.arange(1, 3001)))),
    "root": np.arange(1, 3001.0) ** -0.5 / 16,
    "constant": np.full(100, 1 / 16),
    "steps": np.repeat([0.06, 0.05, 0.01, 0.001], 250),
    "one": np.array([0.05]),
}


@pytest.mark.parametrize("name", SLOW)
def test_the_slow_source_is_learnt_as_slowly_as_asked(name):
    sequence = SLOW[name]
    source = no_free_lunch(sequence)
    m = np.arange(1, len(sequence) + 1)
    assert np.all(source.expected_risk(m) >= sequence)
    assert (source.counts * source.probabilities).sum() == pytest.approx(1)
    assert source.expected_risk(10**9) < 1e-3 * source.expected_risk(1)  # consistent all the same
    assert "Bayes risk 0" in source.claim


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(1e-6, 1 / 16), min_size=1, max_size=300))
def test_every_falling_sequence_has_its_source(terms):
    sequence = np.sort(terms)[::-1]
    source = no_free_lunch(sequence)
    assert np.all(source.expected_risk(np.arange(1, len(terms) + 1)) >= sequence * (1 - 1e-12))


@pytest.mark.parametrize("m", [1, 20, 500])
def test_a_remembering_rule_has_the_exact_risk(m):
    """A table that tosses a coin for what it has not seen, against the closed form.

    One repetition's risk lies in [0, 1]; by Hoeffding the mean of 4000 is within 0.0426 of its
    expectation but for 1e-6. The labels enter by their average of one half.
    """
    source = no_free_lunch(SLOW["logarithm"])
    p = np.repeat(source.probabilities, source.counts)
    rng = np.random.default_rng(m)
    missing = np.empty(4000)
    for r in range(4000):
        unseen = np.ones(len(p), bool)
        unseen[source.sample(m, rng)] = False
        missing[r] = p[unseen].sum()
    assert missing.mean() == pytest.approx(source.missing_mass(m), abs=0.0426)
    assert source.missing_mass(m) == pytest.approx((p * (1 - p) ** m).sum(), rel=1e-12)
    assert source.expected_risk(m) == pytest.approx(source.missing_mass(m) / 2)


def test_no_rule_beats_half_of_what_it_has_not_seen():
    """All labellings of a small source: nearest neighbour on the numbers of the points.

    The average over labellings is exact, so the only chance is in the rows: none is left when all
    5^3 samples are enumerated with their probabilities.
    """
    p = np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    labellings = np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
    samples = np.array(np.meshgrid(*[range(5)] * 3)).reshape(3, -1).T
    weight = p[samples].prod(axis=1)
    nearest = np.abs(np.arange(5)[:, np.newaxis] - samples[:, np.newaxis]).argmin(axis=2)
    neighbour = np.take_along_axis(samples, nearest, axis=1)
    risk = sum(
        w * (p * (labellings[:, near] != labellings)).sum(axis=1).mean()
        for w, near in zip(weight, neighbour, strict=True)
    )
    assert risk == pytest.approx(0.5 * (p * (1 - p) ** 3).sum())


def test_points_are_drawn_with_their_probabilities():
    source = no_free_lunch([0.05, 0.04, 0.03, 0.02])
    drawn = np.bincount(source.sample(50_000, 0), minlength=source.n_points)
    p = np.repeat(source.probabilities, source.counts)
    # Six standard errors of each share: false alarm below 1e-7 in all.
    assert np.all(np.abs(drawn / 50_000 - p) < 6 * np.sqrt(p * (1 - p) / 50_000))
    labels = source.labels(0)
    assert labels.shape == (source.n_points,)
    assert set(labels) <= {-1.0, 1.0}


@pytest.mark.parametrize(
    ("sequence", "words"),
    [
        ([0.1, 0.05], "at most 1/16"),
        ([0.05, 0.06], "rises after term 1"),
        ([0.05, 0.0], "above 0"),
        ([], "list of finite"),
        ([0.05, math.nan], "list of finite"),
        (0.05, "list of finite"),
    ],
)
def test_sequences_that_the_theorem_does_not_know_are_refused(sequence, words):
    with pytest.raises(InputError, match=words):
        no_free_lunch(sequence)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ogd_regret(0, 1, 10), "U=0"),
        (lambda: ogd_regret(1, -1, 10), "G=-1"),
        (lambda: ogd_regret(1, 1, 0), "T=0"),
        (lambda: ogd_strongly_convex_regret(1, 0, 10), "sigma"),
        (lambda: ogd_strongly_convex_regret(math.nan, 1, 10), "G=nan"),
        (lambda: nn_asymptotic(0.6), "bayes_risk"),
        (lambda: nn_asymptotic(0.1, 0), "k=0"),
        (lambda: cover_hart(0.6), "bayes_risk"),
        (lambda: cover_hart(0.1, 1), "n_classes"),
        (lambda: nn_lipschitz(0.1, -1, 2, 10), "c=-1"),
        (lambda: nn_lipschitz(0.1, 1, 0, 10), "d=0"),
        (lambda: nn_lipschitz(0.1, 1, 2, 0), "m=0"),
        (lambda: rate(0), "m=0"),
        (lambda: rate(10, -1), "d=-1"),
        (lambda: no_free_lunch([0.05]).expected_risk(-1), "m=-1"),
    ],
)
def test_bad_numbers_are_refused(call, words):
    with pytest.raises(ParameterError, match=words):
        call()
