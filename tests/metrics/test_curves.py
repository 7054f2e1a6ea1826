"""ROC, precision-recall, lift and cost curves: against scikit-learn, by hand, and their bands."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as peer

from bottega.core.errors import InputError
from bottega.core.losses import Cost
from bottega.metrics import (
    cost_curve,
    lift,
    per_class,
    precision_recall,
    roc,
    threshold_costs,
)

scored = st.lists(
    st.tuples(st.booleans(), st.integers(0, 8), st.integers(1, 4)), min_size=2, max_size=40
).filter(lambda rows: len({hit for hit, _, _ in rows}) == 2)


def columns(rows):
    return (np.array(column) for column in zip(*rows, strict=True))


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.3
    return y, y + rng.normal(size=300)


@given(scored)
@settings(max_examples=60, deadline=None)
def test_points_and_areas_equal_scikit_learn(rows):
    y, score, weight = columns(rows)
    found = roc(y, score, sample_weight=weight)
    expected = peer.roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    for ours, theirs in zip((found.fpr, found.tpr, found.thresholds), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert found.auc == pytest.approx(peer.roc_auc_score(y, score, sample_weight=weight))
    assert found.partial_auc((0, 1)) == pytest.approx(found.auc)
    curve = precision_recall(y, score, sample_weight=weight)
    area = peer.average_precision_score(y, score, sample_weight=weight)
    assert curve.average_precision == pytest.approx(area)
    precision, recall, thresholds = peer.precision_recall_curve(y, score, sample_weight=weight)
    np.testing.assert_allclose(curve.precision[::-1], precision[:-1], atol=1e-12)
    np.testing.assert_allclose(curve.recall[::-1], recall[:-1], atol=1e-12)
    np.testing.assert_array_equal(curve.thresholds[::-1], thresholds)


@given(scored)
@settings(max_examples=40, deadline=None)
def test_weights_are_repeated_rows(rows):
    y, score, weight = columns(rows)
    twice = np.repeat(np.arange(len(y)), weight)
    pairs = [
        (make(y, score, sample_weight=weight), make(y[twice], score[twice]))
        for make in (roc, precision_recall, lift, cost_curve)
    ]
    for one, two in pairs:
        for name, column in one._columns().items():
            np.testing.assert_allclose(column, two._columns()[name], atol=1e-9)


@given(scored)
@settings(max_examples=40, deadline=None)
def test_curves_are_consistent_with_each_other(rows):
    y, score, _ = columns(rows)
    curve, gains = roc(y, score), lift(y, score)
    assert gains.gini == pytest.approx(curve.gini, abs=1e-12)
    assert gains.ks == pytest.approx(np.max(np.abs(curve.tpr - curve.fpr)))
    assert gains.at(1.0) == pytest.approx(1)
    # The other class by the opposite score is the same picture turned round.
    other = roc(~y, -score)
    assert other.auc == pytest.approx(curve.auc)
    # Wherever a rising function maps the scores, nothing changes.
    assert roc(y, np.exp(score)).auc == curve.auc
    hull = curve.hull()
    costs = cost_curve(y, score)
    expected = np.min(
        costs.at[:, None] * (1 - curve.tpr[hull]) + (1 - costs.at[:, None]) * curve.fpr[hull],
        axis=1,
    )
    np.testing.assert_allclose(costs.cost, expected, atol=1e-12)
    assert np.all(costs.cost <= costs.trivial + 1e-12)


def test_precision_is_joined_by_mixtures_of_thresholds():
    """The area equals that of very many points between the given ones."""
    y = np.array([1, 0, 1, 1, 0, 0, 1, 0])
    score = np.array([9, 9, 7, 6, 6, 5, 3, 3])
    found = precision_recall(y, score)
    tp, fp = found.ranked.true_positive, found.ranked.false_positive
    share = np.linspace(0, len(tp) - 1, 400_001)
    hits, false = (np.interp(share, np.arange(len(tp)), each) for each in (tp, fp))
    middle = hits[1:] / (hits[1:] + false[1:])
    assert found.area == pytest.approx(np.sum(np.diff(hits) * middle) / tp[-1], abs=1e-5)


def test_f_beta_along_the_threshold_equals_scikit_learn(sample):
    y, score = sample
    found = precision_recall(y, score)
    for beta in (0.5, 1, 2):
        place = 40
        called = score >= found.thresholds[place]
        assert found.fbeta(beta)[place] == pytest.approx(peer.fbeta_score(y, called, beta=beta))
    best = found.best(2)
    called = score >= best["threshold"]
    assert peer.fbeta_score(y, called, beta=2) == pytest.approx(best["fbeta"])
    assert best["fbeta"] == found.fbeta(2).max()


def test_deciles_add_up_and_perfect_scores_have_the_largest_lift():
    y = np.arange(100) < 20
    found = lift(y, -np.arange(100.0))
    table = found.parts(5)
    assert table["found"].tolist() == pytest.approx([20, 0, 0, 0, 0])
    assert table["lift"].tolist() == pytest.approx([5, 0, 0, 0, 0])
    assert table["gain"].tolist() == pytest.approx([1] * 5)
    assert (found.at(0.2), found.gain(0.1), found.ks) == pytest.approx((5, 0.5, 1))
    tied = lift(y, np.zeros(100)).parts(4)
    assert tied["rate"].tolist() == pytest.approx([0.2] * 4)


def test_costs_along_the_threshold_by_hand():
    y = np.array(["ill", "well", "ill", "well"])
    score = np.array([0.9, 0.7, 0.4, 0.1])
    cost = Cost([[0, 1], [6, 0]], classes=["ill", "well"])  # calling an ill one well costs 6
    found = threshold_costs(y, score, cost, pos_label="ill")
    # None called ill: 2 x 6 = 12; then 6, 7, 1, 2; per row a quarter of it.
    assert found.cost.tolist() == [3.0, 1.5, 1.75, 0.25, 0.5]
    assert found.best() == {"threshold": 0.4, "cost": 0.25}
    assert found.calibrated_threshold == pytest.approx(1 / 7)
    turned = threshold_costs(y, 1 - score, cost)
    assert turned.cost[::-1].tolist() == found.cost.tolist()


def test_bands_hold_their_curve_and_widen_with_the_level(sample):
    y, score = sample
    for make in (roc, precision_recall, lift, cost_curve):
        curve = make(y, score)
        narrow = curve.band(0.8, n_resamples=200)
        wide = curve.band(0.99, n_resamples=200)
        whole = curve.band(0.8, kind="simultaneous", n_resamples=200)
        assert np.all(narrow.lower <= narrow.estimate + 1e-12)
        assert np.all(narrow.estimate <= narrow.upper + 1e-12)
        assert np.all(wide.upper - wide.lower >= narrow.upper - narrow.lower - 1e-12)
        assert np.mean(whole.upper - whole.lower) > np.mean(narrow.upper - narrow.lower)
        same = curve.band(0.8, n_resamples=200)
        np.testing.assert_array_equal(same.lower, narrow.lower)


def test_the_band_of_the_lift_is_that_of_the_gain_per_row(sample):
    y, score = sample
    found = lift(y, score)
    gain, ratio = (found.band(curve=curve, n_resamples=100) for curve in ("gain", "lift"))
    np.testing.assert_allclose(ratio.upper * ratio.at, gain.upper[1:])
    assert ratio.estimate[-1] == pytest.approx(1)


def test_many_scores_are_resampled_in_groups():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.2
    score = y + rng.normal(size=20_000)
    found = roc(y, score).band(n_resamples=100)
    inside = (found.estimate > 0.02) & (found.estimate < 0.98)
    # Normal limits of the share found at a given threshold: not narrower, not much wider.
    half = 1.96 * np.sqrt(found.estimate * (1 - found.estimate) / y.sum())
    ratio = (found.upper - found.lower)[inside] / (2 * half[inside])
    assert np.all((ratio > 0.7) & (ratio < 2.0))


@pytest.mark.parametrize("kind", ["pointwise", "simultaneous", "distribution_free"])
def test_bands_cover_the_true_curve(kind):
    """Normal scores two apart by 1: 60 samples at 90 %. A pointwise band must hold three places
    together in 39 or more of 60 (expected 54 each); the others all places in 47 or more: below
    that a right band falls with probability 0.002."""
    from scipy import stats

    hits = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.arange(160) < 70
        found = roc(y, y + rng.normal(size=160)).band(0.9, kind=kind, n_resamples=200)
        truth = stats.norm.sf(stats.norm.isf(found.at) - 1)
        places = np.array([10, 30, 60]) if kind == "pointwise" else np.arange(8, 93)
        inside = (found.lower <= truth + 1e-9) & (truth <= found.upper + 1e-9)
        hits += bool(np.all(inside[places]))
    assert hits >= (39 if kind == "pointwise" else 47)


def test_delong_covers_the_true_area():
    """200 samples at 90 %: right intervals miss 14 to 30 times but for probability 0.01; with
    samples this small DeLong's covers a little less, so at least 160 must hold it."""
    from scipy import stats

    truth = stats.norm.cdf(1 / np.sqrt(2))
    hits = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = np.arange(120) < 50
        low, high = roc(y, y + rng.normal(size=120)).interval(0.9)
        hits += low <= truth <= high
    assert 160 <= hits <= 196


def test_extreme_scores_and_logit_intervals():
    perfect = roc([0, 0, 1, 1], [-1e300, 1e-300, 1e155, np.inf])
    assert perfect.auc == 1
    assert perfect.interval() == (1, 1)
    assert perfect.interval(scale="logit") == (1, 1)
    near = roc([0] * 20 + [1] * 20, [*range(20), *range(17, 37)])
    assert near.interval()[1] == 1
    assert near.interval(scale="logit")[1] < 1
    single = roc([0, 0, 1], [1, 2, 3])
    assert np.isnan(single.std_error)


def test_per_class_gives_curves_by_label_and_skips_what_is_missing():
    y = np.array(["a", "b", "a", "b", "a"])
    scores = np.random.default_rng(0).random((5, 3))
    found = per_class(y, scores, classes=["a", "b", "c"], measure="lift")
    assert found["b"].label == "b"
    assert np.isnan(found.values[2])
    assert found.average() == pytest.approx(np.nanmean(found.values))
    assert set(found.points()["label"]) == {"a", "b"}
    with pytest.raises(InputError, match="no curve of the class 'c'"):
        found["c"]


@pytest.mark.parametrize(
    "make",
    [
        roc,
        lambda y, s: roc(y, s).compare(roc(y, -s)),
        lambda y, s: roc(y, s).band(n_resamples=50),
        precision_recall,
        lift,
        cost_curve,
        lambda y, s: threshold_costs(y, s, [[0, 3], [1, 0]]),
        lambda y, s: per_class(y, np.column_stack([-s, s])),
        lambda y, s: per_class(y, np.column_stack([-s, s]), measure="precision_recall"),
        lambda y, s: per_class(y, np.column_stack([-s, s]), measure="lift"),
    ],
)
def test_every_result_is_a_table_a_text_and_a_picture(make, sample):
    found = make(*sample)
    frame = found.tidy()
    assert len(frame) >= 1
    assert found.tidy(like="polars").columns == list(frame.columns)
    assert "<table>" in found._repr_html_()
    spec = found.plot().to_dict()
    assert spec["title"]["text"]
    assert spec["description"]


def test_pictures_hold_their_bands(sample):
    for make in (roc, precision_recall, lift, cost_curve):
        rows = make(*sample).plot().to_dict()["data"]["values"]
        assert sum("low" in row for row in rows) >= 100
        assert not any(
            "low" in row for row in make(*sample).plot(band=None).to_dict()["data"]["values"]
        )
    assert "lift" in lift(*sample).plot(curve="lift").to_dict()["title"]["text"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: roc([0, 0], [1, 2]), "no row is of the class 1"),
        (lambda: roc(["a", "b", "c"], [1, 2, 3]), "3 classes; say which"),
        (lambda: roc(["cat", "dog"], [1, 2], pos_label="dgo"), "Did you mean 'dog'"),
        (lambda: roc([0, 1], [1, np.nan]), "score has 1 missing"),
        (lambda: roc([0, 1], [1, 2, 3]), r"score has shape \(3,\)"),
        (lambda: roc([0, 1], [1, 2], sample_weight=[1, 0]), "no row is of the class 1"),
        (lambda: roc([0, 1], [1, 2]).interval(1.5), "level=1.5"),
        (lambda: roc([0, 1], [1, 2]).interval(scale="log"), "scale='log'"),
        (lambda: roc([0, 1], [1, 2]).partial_auc((0.5, 0.1)), "from < to"),
        (lambda: roc([0, 1], [1, 2]).band(kind="wide"), "kind='wide'"),
        (lambda: roc([0, 1], [1, 2]).band(n_resamples=1), "n_resamples=1"),
        (
            lambda: roc([0, 1, 1], [1, 2, 3], sample_weight=[1, 2, 1]).band(
                kind="distribution_free"
            ),
            "rows without weights",
        ),
        (lambda: roc([0, 1], [1, 2]).compare(roc([1, 0], [1, 2])), "same rows"),
        (lambda: precision_recall([0, 1], [1, 2]).fbeta(0), "beta=0"),
        (lambda: lift([0, 1], [1, 2]).at(0), r"must lie in \(0, 1\]"),
        (lambda: lift([0, 1], [1, 2]).band(curve="area"), "curve='area'"),
        (lambda: threshold_costs([0, 1, 2], [1, 2, 3], np.eye(3), pos_label=1), "of two classes"),
        (lambda: per_class([0, 1], [[1, 2]]), "scores has shape"),
        (lambda: per_class(["a", "b"], np.eye(2), measure="roq"), "measure='roq'"),
        (lambda: per_class(["a", "z"], np.eye(2), classes=["a", "b"]), "not among classes: z"),
    ],
)
def test_bad_input_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()


@pytest.mark.parametrize("measure", [roc, precision_recall, lift])
def test_masked_labels_and_scores_are_refused(measure):
    y, score = np.array([0, 1, 1, 0]), np.array([0.1, 0.9, 0.4, 0.2])
    hidden = [False, False, True, False]
    with pytest.raises(InputError, match="y_true has 1 masked value"):
        measure(np.ma.array(y, mask=hidden), score)
    with pytest.raises(InputError, match="score has 1 masked value"):
        measure(y, np.ma.array(score, mask=hidden))


def test_labels_of_one_class_are_said_to_be_so():
    with pytest.raises(InputError, match="only one class, 'ill'"):
        roc(["ill"] * 5, np.arange(5.0))


def test_legends_are_not_as_pale_as_the_bands():
    label = np.arange(40) % 3 == 0
    score = np.sin(np.arange(40.0)) + label
    for measure in (lift(label, score), cost_curve(label, score)):
        assert '"symbolOpacity": 1' in measure.plot().to_json()
