"""Brier score, log loss and calibration: against scikit-learn, by hand, and their identities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as peer
from sklearn.calibration import calibration_curve

from bottega.core.errors import InputError
from bottega.metrics import brier, calibration, log_loss
from bottega.risk import clopper_pearson

forecasts = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 20), st.integers(1, 3)), min_size=3, max_size=40
).filter(lambda rows: len({hit for hit, _, _ in rows}) == 2)


def read(rows):
    y, p, weight = (np.array(column) for column in zip(*rows, strict=True))
    return y, p / 20, weight


@given(forecasts)
@settings(max_examples=60, deadline=None)
def test_scores_equal_scikit_learn_and_their_parts_add_up(rows):
    y, p, weight = read(rows)
    found = brier(y, p, sample_weight=weight)
    assert found.value == pytest.approx(peer.brier_score_loss(y, p, sample_weight=weight))
    inside = np.clip(p, 0.01, 0.99)
    expected = peer.log_loss(y, inside, sample_weight=weight)
    assert log_loss(y, inside, sample_weight=weight).value == pytest.approx(expected)
    logs = log_loss(y, p, sample_weight=weight)
    for parts in (
        found.decomposition(),
        found.decomposition("bins", bins=4),
        logs.decomposition(),
    ):
        total = parts.miscalibration - parts.discrimination + parts.uncertainty + parts.within
        assert total == pytest.approx(parts.score, abs=1e-9)
        assert parts.miscalibration >= -1e-12
        assert parts.discrimination >= -1e-12


@given(forecasts)
@settings(max_examples=30, deadline=None)
def test_isotonic_parts_are_those_of_the_best_rising_correction(rows):
    from sklearn.isotonic import IsotonicRegression

    y, p, weight = read(rows)
    best = IsotonicRegression().fit(p, y, sample_weight=weight).predict(p)
    parts = brier(y, p, sample_weight=weight).decomposition()
    expected = peer.brier_score_loss(y, np.clip(best, 0, 1), sample_weight=weight)
    assert parts.score - parts.miscalibration == pytest.approx(expected, abs=1e-12)


def test_murphys_parts_by_hand():
    """Two forecasts: 0.2 (hit 1 of 4) and 0.8 (3 of 4): reliability 0.05^2, resolution 0.25^2."""
    p = np.repeat([0.2, 0.8], 4)
    y = np.array([1, 0, 0, 0, 1, 1, 1, 0])
    parts = brier(y, p).decomposition("bins", bins=2)
    assert (parts.miscalibration, parts.discrimination) == pytest.approx((0.0025, 0.0625))
    assert (parts.uncertainty, parts.within) == pytest.approx((0.25, 0))


def test_several_classes():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 80)
    y = np.array(["a", "b", "c"])[[rng.choice(3, p=row) for row in shares]]
    found = brier(y, shares)
    half = peer.brier_score_loss(y, shares, labels=["a", "b", "c"], scale_by_half=True)
    assert found.value == pytest.approx(half)
    for kind in ("isotonic", "bins"):
        parts = found.decomposition(kind)
        total = parts.miscalibration - parts.discrimination + parts.uncertainty + parts.within
        assert total == pytest.approx(found.value, abs=1e-12)
    assert log_loss(y, shares).value == pytest.approx(peer.log_loss(y, shares))
    with pytest.raises(InputError, match="no parts by 3 classes"):
        log_loss(y, shares).decomposition()
    turned = brier(y, shares[:, [2, 0, 1]], classes=["c", "a", "b"])
    assert turned.value == pytest.approx(found.value)


def test_standard_error_is_that_of_a_mean_and_skill_of_the_shares_is_zero():
    y = np.array([0, 0, 1, 0, 1])
    p = np.array([0.1, 0.4, 0.7, 0.2, 0.9])
    found = brier(y, p)
    losses = (y - p) ** 2
    assert found.std_error == pytest.approx(losses.std(ddof=1) / np.sqrt(5))
    assert brier(y, np.full(5, 0.4)).skill == pytest.approx(0)
    assert brier(y, y).skill == 1


def test_bins_equal_scikit_learns_curve_and_have_exact_limits():
    rng = np.random.default_rng(1)
    p = rng.random(400)
    y = rng.random(400) < p
    found = calibration(y, p, strategy="uniform", bins=5)
    share, mean = calibration_curve(y, p, n_bins=5)
    np.testing.assert_allclose(found.observed, share)
    np.testing.assert_allclose(found.predicted, mean)
    for k in range(5):
        hits = round(found.observed[k] * found.n[k])
        limits = clopper_pearson(hits, int(found.n[k]))
        assert (found.lower[k], found.upper[k]) == pytest.approx(limits)
    equal = calibration(y, p)
    assert equal.n.tolist() == [40] * 10
    expected = np.abs(equal.predicted - equal.observed).mean()
    assert equal.expected_error == pytest.approx(expected)
    assert equal.largest_error == np.abs(equal.predicted - equal.observed).max()


def test_slope_and_intercept_undo_a_distortion_of_the_odds():
    """Log odds twice as large and shifted by 1: slope 1/2 and intercept -1/2, to 4 standard errors
    of 20,000 rows."""
    rng = np.random.default_rng(2)
    odds = rng.normal(size=20_000)
    y = rng.random(20_000) < 1 / (1 + np.exp(-odds))
    p = 1 / (1 + np.exp(-(2 * odds + 1)))
    found = calibration(y, p)
    assert (found.slope, found.intercept) == pytest.approx((0.5, -0.5), abs=0.06)
    assert found.p_value < 1e-10
    right = calibration(y, 1 / (1 + np.exp(-odds)))
    assert (right.slope, right.intercept) == pytest.approx((1, 0), abs=0.08)
    assert right.p_value > 1e-3  # false alarm 1 in 1,000


def test_slope_equals_an_unpenalised_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(5)
    p = rng.uniform(0.05, 0.95, 300)
    y = rng.random(300) < p
    odds = np.log(p / (1 - p))[:, None]
    peer_model = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky").fit(odds, y)
    found = calibration(y, p)
    assert found.slope == pytest.approx(peer_model.coef_[0, 0], rel=1e-6)
    assert found.intercept == pytest.approx(peer_model.intercept_[0], rel=1e-5, abs=1e-8)


def test_of_several_classes_the_confidence_is_judged_or_one_of_them():
    shares = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.1, 0.3, 0.6], [0.8, 0.1, 0.1]])
    y = np.array(["a", "a", "c", "a"])
    found = calibration(y, shares, classes=["a", "b", "c"], bins=1)
    assert found.predicted[0] == pytest.approx(np.mean([0.7, 0.4, 0.6, 0.8]))
    assert found.observed[0] == 0.75
    one = calibration(y, shares, classes=["a", "b", "c"], pos_label="a", bins=1)
    assert one.predicted[0] == pytest.approx(np.mean([0.7, 0.3, 0.1, 0.8]))


@pytest.mark.parametrize(
    "make", [brier, log_loss, calibration, lambda y, p: brier(y, p).decomposition()]
)
def test_every_result_is_a_table_a_text_and_a_picture(make):
    rng = np.random.default_rng(0)
    p = rng.random(60)
    found = make(rng.random(60) < p, p)
    assert len(found.tidy()) >= 1
    assert found.tidy(like="polars").columns == list(found.tidy().columns)
    assert "<table>" in found._repr_html_()
    assert found.plot().to_dict()["description"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: brier([0, 1], [0.5, 1.5]), "between 0 and 1"),
        (lambda: brier([0, 1], [0.5, np.nan]), "between 0 and 1"),
        (lambda: brier([0, 1], [[0.5, 0.4], [0.5, 0.5]]), "row 0 sum to 0.9"),
        (lambda: brier([0, 1, 2], [0.5, 0.5, 0.5]), r"need \(3, 3\)"),
        (lambda: brier(["a", "z"], [0.5, 0.5], classes=["a", "b"]), "not among classes: z"),
        (lambda: brier(["a", "b"], [0.5, 0.5], classes=["a", "a"]), "a class twice"),
        (lambda: brier([0, 1], [0.5, 0.5]).decomposition("bin"), "kind='bin'"),
        (lambda: log_loss([0, 1], [0.5, 0.5]).decomposition("bins"), "no parts by bins"),
        (lambda: calibration([0, 1], [0.5, 0.5], strategy="even"), "strategy='even'"),
        (lambda: calibration([0, 1], [0.5, 0.5], bins=0), "bins=0"),
        (lambda: calibration([0, 1], [0.5, 0.5], pos_label=7), "pos_label=7"),
    ],
)
def test_bad_input_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()
