"""The path over the number of clusters: silhouettes, gaps, stability, and what they pick."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_samples

from bottega.cluster import KMeans, gap_statistic, silhouette
from bottega.cluster.gap import _uniform_reference
from bottega.core.errors import InputError, ParameterError


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(m, 0.4, size=(40, 2)) for m in ([0, 0], [4, 0], [2, 4])])


@pytest.fixture(scope="module")
def curve(three):
    return KMeans("auto", max_clusters=6, random_state=0).path(three)


def test_the_path_has_all_that_judges_it(curve, three):
    assert curve.values.tolist() == [1, 2, 3, 4, 5, 6]
    assert curve.estimate == "stability"
    assert set(curve.criteria) == {"silhouette", "gap", "stability"}
    assert curve.error[0] == 0  # one cluster: all pairs are together
    assert np.all((curve.error >= 0) & (curve.error <= 1))
    assert np.all(curve.error_se >= 0)
    assert np.all(np.diff(curve.train_error) <= 0)  # one more cluster never fits worse
    for rule in ("silhouette", "gap", "stability"):
        assert curve.values[curve.best(rule)] == 3, rule
    assert curve.at(2).n_clusters_ == 3
    frame = curve.to_frame()  # as the literature defines them, not reversed
    labels = curve.at(2).labels_
    assert frame["silhouette"][2] == pytest.approx(silhouette(three, labels).mean)
    assert frame["silhouette"].idxmax() == 2
    assert list(frame["stability"]) == pytest.approx(list(1 - curve.error), nan_ok=True)
    assert frame["gap"].idxmax() == 2
    assert curve.criteria["silhouette"][2] == pytest.approx(1 - frame["silhouette"][2])
    assert curve.train_error[0] == pytest.approx(curve.at(0).inertia_ / 120)


@pytest.mark.parametrize("select", ["silhouette", "gap", "stability"])
@pytest.mark.parametrize("norm", [2, 1])
def test_auto_picks_by_the_rule(three, select, norm):
    model = KMeans("auto", norm=norm, select=select, max_clusters=5, random_state=0).fit(three)
    assert model.n_clusters_ == 3
    assert select in model.path_.criteria


def test_the_gap_alone_may_pick_one_cluster():
    X = np.random.default_rng(3).uniform(size=(150, 2))
    assert KMeans("auto", select="gap", max_clusters=5, random_state=0).fit(X).n_clusters_ == 1
    assert gap_statistic(X, n_clusters=5, random_state=0).best() == 1


def test_folds_judge_by_rows_held_out(three):
    curve = KMeans("auto", random_state=0).path(three, values=[1, 2, 3], cv=3)
    assert curve.estimate == "cv"
    assert np.all(np.diff(curve.error) < 0)  # clusters far apart: more centres serve new rows
    rows = np.arange(120)
    held_out = [(np.setdiff1d(rows, test), test) for test in rows.reshape(3, 40)]
    curve = KMeans("auto", random_state=0).path(three, values=[2], cv=held_out)
    by_hand = [-KMeans(2, random_state=0).fit(three[a]).score(three[b]) / 40 for a, b in held_out]
    assert curve.fold_error[:, 0] == pytest.approx(by_hand)


def test_silhouettes_are_those_of_scikit_learn(three):
    labels = KMeans(4, random_state=0).fit(three).labels_
    found = silhouette(three, labels)
    assert found.values == pytest.approx(silhouette_samples(three, labels), abs=1e-12)
    means = found.by_cluster()
    assert means[0] == pytest.approx(found.values[labels == 0].mean())
    assert found.to_frame().shape == (120, 3)
    assert "Silhouettes" in str(found)


def test_silhouettes_by_hand():
    # Rows 0, 1 | 5: a = 1, b = 5 and 4; the row alone in its cluster has 0.
    found = silhouette([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    assert found.values.tolist() == pytest.approx([0.8, 0.75, 0.0])
    # A row on top of another cluster has a negative one.
    assert silhouette([[0.0], [5.0], [5.0], [5.1]], [0, 0, 1, 1]).values[1] < 0


def test_silhouettes_of_weights_noise_and_samples(three):
    labels = np.repeat([0, 1, 2], 40)
    w = np.random.default_rng(1).integers(1, 4, 120)
    weighted = silhouette(three, labels, sample_weight=w)
    repeated = silhouette(np.repeat(three, w, axis=0), np.repeat(labels, w))
    assert np.repeat(weighted.values, w) == pytest.approx(repeated.values)
    assert weighted.mean == pytest.approx(repeated.mean)
    noisy = np.where(np.arange(120) % 10 == 0, -1, labels)
    left = silhouette(three, noisy)
    assert len(left.values) == 108
    assert left.values == pytest.approx(silhouette(three[noisy >= 0], labels[noisy >= 0]).values)
    few = silhouette(three, labels, most_rows=60)
    assert len(few.rows) == 60
    assert few.mean == pytest.approx(silhouette(three, labels).mean, abs=0.05)
    shuffled = np.random.default_rng(0).permutation(120)
    again = silhouette(three[shuffled], labels[shuffled], most_rows=60)
    assert again.mean == pytest.approx(few.mean)  # the sample is that of the rows, not their order


def test_weights_that_are_shares_count_as_rows(three):
    labels = np.repeat([0, 1, 2], 40)
    plain = silhouette(three, labels)
    shares = silhouette(three, labels, sample_weight=np.full(120, 1 / 120))
    assert shares.values == pytest.approx(plain.values)
    # A light row beside another one is not alone: it is judged by the other.
    rows, labels = [[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]
    light = silhouette(rows, labels, sample_weight=[0.01, 0.02, 0.5, 0.5])
    assert light.values[:2].tolist() == pytest.approx([4.5 / 5.5, 3.5 / 4.5])


@pytest.mark.parametrize("select", ["silhouette", "gap", "stability"])
def test_weights_and_shares_choose_the_same_clusters(three, select):
    w = np.random.default_rng(2).uniform(0.2, 1.8, 120)
    w *= 120 / w.sum()
    model = KMeans("auto", select=select, max_clusters=5, random_state=0)
    plain = model.fit(three, sample_weight=w)
    centers, judged = plain.cluster_centers_, plain.path_.criteria[select]
    shares = model.fit(three, sample_weight=w / w.sum())
    assert shares.n_clusters_ == 3
    assert shares.cluster_centers_ == pytest.approx(centers)
    assert shares.path_.criteria[select] == pytest.approx(judged, abs=1e-9, nan_ok=True)
    if select == "stability":
        assert np.all((shares.path_.error >= 0) & (shares.path_.error <= 1))


def test_silhouettes_need_two_clusters(three):
    with pytest.raises(InputError, match="at least 2"):
        silhouette(three, np.zeros(120, int))
    with pytest.raises(InputError, match="one per row"):
        silhouette(three, [0, 1])
    with pytest.raises(InputError, match="square"):
        silhouette(three, np.repeat([0, 1, 2], 40), metric="precomputed")


def test_silhouettes_do_not_depend_on_units(three):
    labels = np.repeat([0, 1, 2], 40)
    plain = silhouette(three, labels).values
    for factor in (1e150, 1e-150):
        assert silhouette(three * factor, labels).values == pytest.approx(plain)


def test_reference_rows_fill_the_box(three):
    rng = np.random.default_rng(0)
    drawn = _uniform_reference(three, "columns")(rng)
    assert drawn.shape == three.shape
    assert np.all(drawn >= three.min(axis=0))
    assert np.all(drawn <= three.max(axis=0))
    line = np.column_stack([np.arange(50.0), np.arange(50.0)])  # one principal axis
    turned = _uniform_reference(line, "pca")(rng)
    assert turned[:, 0] == pytest.approx(turned[:, 1], abs=1e-9)


def test_gap_statistic_refuses(three):
    with pytest.raises(ParameterError, match="consecutive"):
        gap_statistic(three, n_clusters=[1, 3])
    with pytest.raises(InputError, match="n_samples = 120"):
        gap_statistic(three, n_clusters=120)
    with pytest.raises(ParameterError, match="reference"):
        gap_statistic(three, n_clusters=2, reference="sphere")
    with pytest.raises(ParameterError, match="at least 2"):
        gap_statistic(three, n_clusters=3, n_references=1)
    found = gap_statistic(three, n_clusters=4, n_references=5)
    assert found.best() == 3
    assert found.to_frame().shape == (4, 5)
    assert "picks 3" in str(found)


def test_gaps_do_not_depend_on_the_unit_however_large():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (40, 2)), rng.normal(8, 1, (40, 2))]
    plain = gap_statistic(X, n_clusters=4, n_references=5)
    assert plain.best() == 2
    for power in (-700, 2, 660):
        found = gap_statistic(np.ldexp(X, power), n_clusters=4, n_references=5)
        assert found.gap == pytest.approx(plain.gap)
        assert found.log_within == pytest.approx(plain.log_within + 2 * power * np.log(2))


def test_silhouettes_of_what_has_none_are_refused():
    X, labels = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 9.0], [0.0, 10.0]]), [0, 0, 1, 1]
    for missing in ([0, np.nan, 1, 1], ["a", None, "b", "b"]):
        with pytest.raises(InputError, match=r"Row 1 .* has no label"):
            silhouette(X, missing)
    for few in (0, 1):
        with pytest.raises(ParameterError, match="most_rows"):
            silhouette(X, labels, most_rows=few)
    with pytest.raises(InputError, match=r"Row 0 .* all zeros"):
        silhouette(X, labels, metric="cosine")
    turned = X + np.array([1.0, 2.0])
    plain = silhouette(turned, labels, metric="cosine").values
    assert silhouette(turned * 1e200, labels, metric="cosine").values == pytest.approx(plain)


def test_rows_that_do_not_differ_have_no_number_of_clusters():
    with pytest.raises(InputError, match=r"do not differ.*n_clusters=1"):
        KMeans("auto", random_state=0).fit(np.ones((20, 2)))
    assert KMeans(1, random_state=0).fit(np.ones((20, 2))).inertia_ == 0
