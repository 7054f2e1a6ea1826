"""K-means: with bounds it is Lloyd's algorithm; starts, norms, weights, chunks, bad input."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans as TheirKMeans
from sklearn.exceptions import ConvergenceWarning

from bottega.cluster import KMeans
from bottega.core.errors import DataWarning, InputError, MissingExtra, ParameterError
from bottega.workbench import trusted_types


def blobs(n=300, p=3, K=4, apart=3.0, seed=0):
    rng = np.random.default_rng(seed)
    centers = apart * rng.normal(size=(K, p))
    return centers[rng.integers(K, size=n)] + rng.normal(size=(n, p))


def plain_lloyd(X, C, max_iter=500):
    """The algorithm as it is taught, by direct distances: ties to the first, until labels stay."""
    labels = None
    for _ in range(max_iter):
        far = ((X[:, None] - C[None]) ** 2).sum(axis=2)
        new = far.argmin(axis=1)
        if labels is not None and np.array_equal(new, labels):
            break
        labels = new
        C = np.array([X[labels == k].mean(axis=0) for k in range(len(C))])
    return C, labels


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(20, 400),
    p=st.integers(1, 6),
    K=st.integers(1, 12),
    apart=st.sampled_from([0.0, 1.0, 5.0]),
)
def test_bounds_give_the_labels_of_the_plain_algorithm(seed, n, p, K, apart):
    X = blobs(n, p, K, apart, seed)
    start = X[np.random.default_rng(seed).permutation(n)[:K]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # reseeding is compared with "plain" below
        fits = [
            KMeans(K, init=start, tol=0, max_iter=500, algorithm=how).fit(X)
            for how in ("lloyd", "plain")
        ]
    bounded, plain = fits
    assert np.array_equal(bounded.labels_, plain.labels_)
    assert bounded.n_iter_ == plain.n_iter_
    assert bounded.cluster_centers_ == pytest.approx(plain.cluster_centers_, rel=1e-10, abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the taught form has no empty clusters
        C, labels = plain_lloyd(X, start)
    if not np.any(np.isnan(C)):
        assert np.array_equal(bounded.labels_, labels)
        assert bounded.cluster_centers_ == pytest.approx(C, rel=1e-10, abs=1e-12)


def corners(rng):
    """Clusters at corners that are 1e10 times as far apart as the rows in them."""
    return np.eye(4)[rng.integers(4, size=300)] * 1e4 + 1e-6 * rng.normal(size=(300, 4))


def one_far_row(rng):
    return np.vstack([rng.normal(size=(299, 3)), [[1e9, 0.0, 0.0]]])


@pytest.mark.parametrize("rows", [corners, one_far_row])
@pytest.mark.parametrize("seed", range(5))
def test_where_single_precision_cannot_tell_double_does(rows, seed):
    rng = np.random.default_rng(seed)
    X = rows(rng)
    start = X[np.append(rng.permutation(299)[:8], 299)]
    C, labels = plain_lloyd(X, start)
    for how in ("lloyd", "plain"):
        found = KMeans(9, init=start, tol=0, algorithm=how).fit(X)
        assert np.array_equal(found.labels_, labels)
        assert found.cluster_centers_ == pytest.approx(C, rel=1e-12, abs=1e-12)


def test_a_start_beyond_single_precision():
    X = blobs(50)
    start = np.vstack([X[:2], np.full((1, 3), 1e60)])
    with pytest.warns(DataWarning, match="started again"):
        found = KMeans(3, init=start).fit(X)
    assert np.array_equal(found.labels_, plain_lloyd(X, found.cluster_centers_)[1])


def test_ties_of_round_numbers_go_to_the_first_centre_in_any_order():
    X = np.array([[0.0], [1.0], [2.0], [7.0], [3.0], [11.0], [5.0]]) / 4
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(7)
        found = KMeans(2, init=np.array([[0.0], [2.0]]) / 4, max_iter=1, tol=1e9).fit(X[order])
        # The row half way between the first centres belongs to the first: means 0.5 and 5.6.
        assert found.cluster_centers_[:, 0] * 4 == pytest.approx([0.5, 5.6], rel=1e-15)


def test_large_tables_are_worked_on_in_threads_with_the_same_answer():
    X = blobs(40_000, 20, 8, 1.0)  # several parts, in threads
    start = X[:8]
    ours = KMeans(8, init=start).fit(X)
    theirs = TheirKMeans(8, init=start, n_init=1).fit(X)
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-10)  # sums in another order
    assert ours.cluster_centers_ == pytest.approx(theirs.cluster_centers_, rel=1e-8, abs=1e-10)
    one = KMeans(8, init=start)
    from bottega.core.parallel import at_most

    with at_most(1):
        one.fit(X)
    assert np.array_equal(one.cluster_centers_, ours.cluster_centers_)


def test_weights_are_those_of_scikit_learn():
    X, start = blobs(), blobs()[:5]
    w = np.random.default_rng(1).random(len(X)) + 0.1
    ours = KMeans(5, init=start).fit(X, sample_weight=w)
    theirs = TheirKMeans(5, init=start, n_init=1).fit(X, sample_weight=w)
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    assert ours.score(X, sample_weight=w) == pytest.approx(theirs.score(X, sample_weight=w))
    assert ours.transform(X) == pytest.approx(theirs.transform(X))


@pytest.mark.parametrize("norm", [2, 1, "cosine"])
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_weights_are_repeated_rows_and_order_does_not_matter(norm, init):
    X = blobs(80)
    rng = np.random.default_rng(3)
    w = rng.integers(0, 4, len(X))
    model = KMeans(3, norm=norm, init=init, random_state=0)
    weighted = model.fit(X, sample_weight=w)
    labels, inertia, centers = weighted.labels_, weighted.inertia_, weighted.cluster_centers_
    assert np.array_equal(labels, weighted.predict(X))  # rows of weight zero too
    repeated = model.fit(np.repeat(X, w, axis=0))
    assert repeated.inertia_ == pytest.approx(inertia)
    assert repeated.cluster_centers_ == pytest.approx(centers)
    order = rng.permutation(len(X))
    shuffled = model.fit(X[order], sample_weight=w[order])
    assert np.array_equal(shuffled.labels_, labels[order])


def test_the_objective_never_increases_from_pass_to_pass():
    X = blobs(200, 2, 5, 1.0)
    steps = KMeans(5, random_state=0, tol=0).steps(X)
    J = [((X[:, None] - C[None]) ** 2).sum(axis=2).min(axis=1).sum() for C in steps]
    assert len(J) > 2
    assert np.all(np.diff(J) <= 1e-9 * J[0])


def test_a_long_projected_gradient_step_on_the_simplex_is_an_assignment():
    """J is linear in Z: a step against its gradient, put back onto the simplex, is one-hot."""
    X = blobs(50, 2, 3)
    C = KMeans(3, random_state=0).fit(X).cluster_centers_
    D = ((X[:, None] - C[None]) ** 2).sum(axis=2)  # the gradient in Z
    moved = np.full_like(D, 1 / 3) - 1e6 * D
    ranked = -np.sort(-moved, axis=1)
    level = (np.cumsum(ranked, axis=1) - 1) / np.arange(1, 4)
    last = np.sum(ranked > level, axis=1) - 1
    Z = np.maximum(moved - level[np.arange(50), last][:, None], 0)
    assert np.allclose(Z.sum(axis=1), 1)
    assert np.array_equal(Z.argmax(axis=1), D.argmin(axis=1))
    assert Z.max(axis=1) == pytest.approx(np.ones(50))


def test_plus_plus_is_no_worse_than_random_starts():
    """Greedy k-means++ from one start beats one random start on well separated clusters."""
    X = blobs(400, 2, 12, 12.0, seed=2)
    ours = [KMeans(12, random_state=i).fit(X).inertia_ for i in range(10)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        random = [
            KMeans(12, init="random", n_init=1, random_state=i).fit(X).inertia_ for i in range(10)
        ]
    assert np.median(ours) < 0.7 * np.median(random)
    best = KMeans(12, n_init=5, random_state=0).fit(X).inertia_
    assert best <= KMeans(12, n_init=1, random_state=0).fit(X).inertia_ * (1 + 1e-12)


def test_other_starts():
    X = blobs()
    called = KMeans(4, init=lambda X, k, _: X[:k], n_init=1).fit(X)
    given = KMeans(4, init=X[:4]).fit(X)
    assert np.array_equal(called.labels_, given.labels_)
    assert KMeans(4, init=X[:4].tolist()).fit(X).inertia_ == given.inertia_
    a, b = (KMeans(4, random_state=7).fit(X) for _ in range(2))
    assert np.array_equal(a.cluster_centers_, b.cluster_centers_)


def test_medians_are_where_the_sum_of_absolute_differences_is_least():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 100.0], [50.0, 50.0], [51.0, 49.0]])
    model = KMeans(2, init=X[[0, 3]], norm=1).fit(X)
    assert model.labels_.tolist() == [0, 0, 1, 1, 1] or model.labels_.tolist() == [0, 0, 0, 1, 1]
    for k in (0, 1):
        mine = X[model.labels_ == k]
        assert model.cluster_centers_[k] == pytest.approx(np.median(mine, axis=0))
    total = np.abs(X[:, None] - model.cluster_centers_[None]).sum(axis=2).min(axis=1).sum()
    assert model.inertia_ == pytest.approx(total)
    assert model.transform(X).min(axis=1).sum() == pytest.approx(total)


def test_an_outlier_moves_means_and_not_medians():
    X = np.vstack([blobs(60, 1, 1, 0.0), [[1000.0]]])
    assert abs(KMeans(1).fit(X).cluster_centers_[0, 0]) > 10
    assert abs(KMeans(1, norm=1).fit(X).cluster_centers_[0, 0]) < 1


def test_cosine_looks_at_directions_alone():
    rng = np.random.default_rng(0)
    angles = np.concatenate([rng.normal(m, 0.05, 30) for m in (0.2, 1.2)])
    size = np.exp(rng.normal(size=60))
    X = size[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    model = KMeans(2, norm="cosine", random_state=0).fit(X)
    assert len(set(model.labels_[:30])) == len(set(model.labels_[30:])) == 1
    assert np.linalg.norm(model.cluster_centers_, axis=1) == pytest.approx(np.ones(2))
    cosines = X @ model.cluster_centers_.T / np.linalg.norm(X, axis=1)[:, None]
    assert model.inertia_ == pytest.approx((1 - cosines.max(axis=1)).sum())
    assert np.array_equal(model.predict(X * size[::-1, None]), model.labels_)
    with pytest.raises(InputError, match="no direction"):
        KMeans(2, norm="cosine").fit(np.vstack([X, [0.0, 0.0]]))


@pytest.mark.parametrize("factor", [1e150, 1e-150, 3e7])
@pytest.mark.parametrize("norm", [2, 1])
def test_units_do_not_matter(factor, norm):
    X = blobs(100)
    plain = KMeans(3, norm=norm, random_state=0).fit(X)
    scaled = KMeans(3, norm=norm, random_state=0).fit(X * factor)
    assert np.array_equal(plain.labels_, scaled.labels_)
    assert scaled.cluster_centers_ / factor == pytest.approx(plain.cluster_centers_)
    back = scaled.inertia_ / factor / (factor if norm == 2 else 1.0)
    assert back == pytest.approx(plain.inertia_)
    assert scaled.transform(X * factor) / factor == pytest.approx(plain.transform(X))


def test_rows_far_from_zero_and_constant_columns():
    X = blobs(100)
    plain = KMeans(3, random_state=0).fit(X)
    moved = np.column_stack([X + 1e7, np.full(100, -4.0)])
    found = KMeans(3, random_state=0).fit(moved)
    assert np.array_equal(found.labels_, plain.labels_)
    assert found.inertia_ == pytest.approx(plain.inertia_, rel=1e-6)  # 1e7 leaves 9 digits
    assert np.all(found.cluster_centers_[:, -1] == -4.0)
    scaled = KMeans(3, standardize=True, random_state=0).fit(moved)
    assert np.isfinite(scaled.inertia_)


def test_standardize_is_scaling_beforehand():
    X = blobs(120) * [1.0, 100.0, 0.01]
    w = np.random.default_rng(0).integers(1, 4, 120)
    spread = np.sqrt(np.average((X - np.average(X, axis=0, weights=w)) ** 2, axis=0, weights=w))
    inside = KMeans(4, standardize=True, random_state=0).fit(X, sample_weight=w)
    before = KMeans(4, random_state=0).fit(X / spread, sample_weight=w)
    assert np.array_equal(inside.labels_, before.labels_)
    assert inside.cluster_centers_ == pytest.approx(before.cluster_centers_ * spread)
    assert inside.inertia_ == pytest.approx(before.inertia_)
    assert np.array_equal(inside.predict(X), inside.labels_)


def test_new_rows_far_beyond_the_others():
    X = blobs(100)
    model = KMeans(3, random_state=0).fit(X)
    far = np.array([[1e155, 0.0, 0.0], [-1e300, 0.0, 0.0]])
    assert model.transform(far) == pytest.approx(np.array([[1e155] * 3, [1e300] * 3]))
    assert set(model.predict(far)) <= {0, 1, 2}


def test_an_empty_cluster_starts_again_at_the_farthest_row_and_it_is_said():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [30.0]])
    start = np.array([[1.0], [12.0], [500.0]])
    with pytest.warns(DataWarning, match="started again at the row farthest"):
        model = KMeans(3, init=start, tol=0).fit(X)
    assert sorted(model.cluster_centers_[:, 0]) == pytest.approx([1.0, 10.0, 30.0])
    with pytest.warns(DataWarning, match="started again"):
        medians = KMeans(3, init=start, norm=1).fit(X)
    assert sorted(medians.cluster_centers_[:, 0]) == pytest.approx([1.0, 10.0, 30.0])


@pytest.mark.parametrize("norm", [2, 1])
def test_fewer_distinct_rows_than_clusters_are_said(norm):
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    with pytest.warns(DataWarning, match=r"1 of 3 clusters are empty.*at most 2"):
        model = KMeans(3, norm=norm, random_state=0).fit(X)
    assert model.inertia_ == 0.0
    assert np.all(np.isfinite(model.cluster_centers_))
    assert len(set(model.labels_)) == 2


def test_bad_input_is_refused():
    X = blobs(6)
    with pytest.raises(InputError, match=r"n_clusters=8 is more than the rows.*n_samples = 6"):
        KMeans().fit(X)
    with pytest.raises(InputError, match=r"init has shape \(2, 3\)"):
        KMeans(3, init=X[:2]).fit(X)
    with pytest.raises(InputError, match="finite centres"):
        KMeans(2, init=np.full((2, 3), np.nan)).fit(X)
    with pytest.raises(ParameterError, match="KMeans: norm=3"):
        KMeans(2, norm=3).fit(X)
    with pytest.raises(ParameterError, match="init="):
        KMeans(2, init="pca").fit(X)
    with pytest.raises(ParameterError, match="one number of centres"):
        KMeans("auto", init=X[:2]).fit(X)
    with pytest.raises(ParameterError, match="medians"):
        KMeans(2, norm=1, algorithm="minibatch").fit(X)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            KMeans(2).fit(np.vstack([X, [bad, 0, 0]]))
    with pytest.raises(ParameterError, match="no responses"):
        KMeans().path(X, loss="squared_error")


def test_passes_that_end_early_are_said():
    X = blobs(300, 2, 6, 1.0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = KMeans(6, max_iter=1, random_state=0, tol=0).fit(X)
    assert not model.converged_
    assert model.n_iter_ == 1
    assert np.array_equal(model.labels_, model.predict(X))


def test_two_rows_and_one_cluster():
    X = np.array([[0.0], [4.0]])
    assert KMeans(2).fit(X).inertia_ == 0
    one = KMeans(1).fit(X)
    assert one.cluster_centers_.tolist() == [[2.0]]
    assert one.inertia_ == 8.0
    assert KMeans(1).fit(X[:1]).inertia_ == 0


def test_minibatches_come_close():
    X = blobs(3000, 3, 4, 5.0)
    full = KMeans(4, random_state=0).fit(X)
    small = KMeans(4, algorithm="minibatch", batch_size=200, random_state=0).fit(X)
    assert small.inertia_ < 1.05 * full.inertia_
    assert np.array_equal(small.labels_, small.predict(X))


def test_a_stream_keeps_running_means():
    X = blobs(600, 2, 3, 10.0, seed=4)
    model = KMeans(3, random_state=0)
    for batch in np.array_split(X, 6):
        model.partial_fit(batch)
    full = KMeans(3, init=model.cluster_centers_).fit(X)
    # Clusters far apart: every row goes to its own centre, so running means are means.
    assert model.cluster_centers_ == pytest.approx(full.cluster_centers_)
    assert model.n_steps_ == 6
    assert len(model.labels_) == 100
    with pytest.raises(InputError, match="stream"):
        KMeans("auto").partial_fit(X)
    with pytest.raises(InputError, match="more than the rows"):
        KMeans(8).partial_fit(X[:4])
    again = KMeans(3, random_state=0).fit(X[:300]).partial_fit(X[300:])  # a fit is no stream
    assert again.n_steps_ == 1


@pytest.mark.parametrize("norm", [2, "cosine"])
def test_chunks_give_the_answer_of_all_rows_together(norm):
    X = blobs(5000, 4, 5, 1.0)
    w = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    model = KMeans(5, norm=norm, random_state=0)
    whole = model.fit(X, sample_weight=w)
    centers, inertia, labels = whole.cluster_centers_, whole.inertia_, whole.labels_
    chunks = [(X[a : a + 700], None, w[a : a + 700]) for a in range(0, 5000, 700)]
    model.fit_chunks(chunks)
    # Fewer rows than the sample holds: even the start is the same.
    assert model.cluster_centers_ == pytest.approx(centers, rel=1e-9)
    assert model.inertia_ == pytest.approx(inertia)
    assert np.array_equal(model.predict(X), labels)
    start = X[:5]
    init = KMeans(5, norm=norm, init=start)
    one = init.fit(X).cluster_centers_
    many = init.fit_chunks([X[:1000], X[1000:1001], X[1001:]]).cluster_centers_
    assert many == pytest.approx(one, rel=1e-9)


def test_rows_beyond_those_with_bounds_count_all_the_same(monkeypatch):
    from bottega.cluster._kmeans import lloyd
    from bottega.cluster._kmeans.source import ArraySource

    X = blobs(3000, 100, 6, 0.3)  # two parts
    whole = lloyd.lloyd(ArraySource(X), X[:6])
    half = lloyd.lloyd(ArraySource(X), X[:6], kept=2700)
    none = lloyd.lloyd(ArraySource(X), X[:6], kept=0)
    for other in (half, none):
        assert other.labels is None
        assert other.centers == pytest.approx(whole.centers, rel=1e-9)
        assert other.inertia == pytest.approx(whole.inertia)


@pytest.mark.parametrize("max_iter", [2, 5, 300])
def test_rows_that_fill_empty_clusters_are_moved_once(max_iter):
    """Also from a part of which only the first rows could have their labels kept."""
    from bottega.cluster._kmeans import lloyd
    from bottega.cluster._kmeans.source import ArraySource

    X = np.random.default_rng(0).normal(size=(3000, 100))  # two parts
    X[2650:2690] += 50.0 * np.arange(40)[:, None]
    start = np.vstack([X[:3], X[:3], X[:3] + 1e4])
    whole = lloyd.lloyd(ArraySource(X), start, max_iter=max_iter)
    assert whole.reseeded
    half = lloyd.lloyd(ArraySource(X), start, max_iter=max_iter, kept=2900)
    assert half.centers == pytest.approx(whole.centers, rel=1e-9, abs=1e-9)
    assert half.inertia == pytest.approx(whole.inertia)


def test_chunks_choose_the_number_of_clusters_from_a_sample():
    X = blobs(900, 2, 3, 12.0, seed=3)
    model = KMeans("auto", random_state=0, max_clusters=6)
    assert model.fit(X).n_clusters_ == model.fit_chunks([X[:400], X[400:]]).n_clusters_ > 1
    with pytest.raises(InputError, match="partial_fit"):
        KMeans(3, norm=1).fit_chunks([X])


def test_chunks_are_standardized_by_all_rows():
    X = blobs(600) * [1.0, 50.0, 0.1]
    one = KMeans(3, standardize=True, init=X[:3]).fit(X)
    many = KMeans(3, standardize=True, init=X[:3]).fit_chunks(np.array_split(X, 4))
    assert many.cluster_centers_ == pytest.approx(one.cluster_centers_, rel=1e-8)
    assert many.inertia_ == pytest.approx(one.inertia_)


@pytest.mark.parametrize(
    "options", [{}, {"norm": "cosine"}, {"norm": 1}, {"standardize": True}, {"n_clusters": "auto"}]
)
def test_saved_models_predict_the_same(options):
    X = blobs(100)
    model = KMeans(**{"n_clusters": 3, "random_state": 0, "max_clusters": 4, **options}).fit(X)
    content = skops.io.dumps(model)
    assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
    for copy in (
        pickle.loads(pickle.dumps(model)),
        skops.io.loads(content, trusted=trusted_types()),
    ):
        assert np.array_equal(copy.predict(X), model.labels_)
        assert np.array_equal(copy.transform(X), model.transform(X))


def test_transform_names_its_columns():
    import pandas as pd

    X = pd.DataFrame(blobs(30), columns=["a", "b", "c"])
    model = KMeans(2, random_state=0).set_output(transform="pandas").fit(X)
    found = model.transform(X)
    assert found.columns.tolist() == ["kmeans0", "kmeans1"]
    assert found.to_numpy().argmin(axis=1).tolist() == model.labels_.tolist()
    assert model.fit_predict(X).tolist() == model.labels_.tolist()


def test_a_device_that_is_absent_is_said():
    X = blobs(30)
    try:
        import torch
    except ImportError:
        with pytest.raises(MissingExtra, match="torch"):
            KMeans(2, device="cuda").fit(X)
        return
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="device='cuda' cannot be used here"):
            KMeans(2, device="cuda").fit(X)


def test_torch_gives_the_same_clusters():
    pytest.importorskip("torch")
    X = blobs(500)
    on_cpu = KMeans(4, init=X[:4], device="cpu").fit(X)
    ours = KMeans(4, init=X[:4]).fit(X)
    assert np.array_equal(on_cpu.labels_, ours.labels_)
    assert on_cpu.cluster_centers_ == pytest.approx(ours.cluster_centers_)


def test_a_device_that_would_not_be_used_is_refused():
    X = blobs(60)
    with pytest.raises(ParameterError, match="algorithm='lloyd' with a device"):
        KMeans(2, algorithm="minibatch", device="cpu").fit(X)
    with pytest.raises(InputError, match="partial_fit runs on this processor"):
        KMeans(2, device="cpu").partial_fit(X)


def test_summary_and_pictures():
    X = np.column_stack([blobs(90), np.arange(90.0) % 7])
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = KMeans(3, random_state=0).fit(frame)
    columns = model.summary().sections[0].columns
    assert sum(columns["rows"]) == 90
    assert columns["centre c1"] == model.cluster_centers_[:, 1].tolist()
    drawn = model.plot(frame, columns=("c1", 2)).to_dict()
    assert drawn["title"]["text"] == "3 clusters"
    assert "c1" in json.dumps(drawn)
    with pytest.raises(InputError, match="no column 'age'"):
        model.plot(frame, columns=("age", 0))
    with pytest.raises(InputError, match="two different columns"):
        model.plot(frame, columns=(0, 0))
    # Rows have the colours of the clusters in all columns, not of the nearest cross in the plane.
    steps = model.plot_steps(frame, columns=(0, 2), panels=3).to_dict()
    held = steps.get("datasets") or {"rows": steps["data"]["values"]}
    (values,) = held.values()
    last = max(int(each["step"].split()[1]) for each in values)
    shown = [each for each in values if each["kind"] == "row" and each["step"] == f"step {last}"]
    ends = model.steps(frame)[-1]
    near = np.argmin(((X[:, None] - ends[None]) ** 2).sum(axis=2), axis=1)
    assert [each["cluster"] for each in shown] == [f"cluster {k}" for k in near]


def test_rows_whose_objective_overflows_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for n_clusters in (2, "auto"):
        with pytest.raises(InputError, match="squares of these numbers overflow"):
            KMeans(n_clusters, random_state=0).fit(X * 1e300)
    # Where columns are scaled, or angles compared, there is nothing to overflow.
    assert np.isfinite(KMeans(2, standardize=True, random_state=0).fit(X * 1e300).inertia_)
    assert np.isfinite(KMeans(2, norm="cosine", random_state=0).fit(X * 1e300).inertia_)


def test_dates_beside_numbers_are_named():
    frame = pd.DataFrame({"n": np.arange(6.0), "day": pd.date_range("2020-01-01", periods=6)})
    with pytest.raises(InputError, match="Column 'day' of X holds dates"):
        KMeans(2).fit(frame)


def test_rows_that_are_tiny_beside_an_outlier_get_their_nearest_centres():
    X = np.vstack([blobs(300), [[1e150] * 3]])  # beside it, distances vanish in single precision
    model = KMeans(4, random_state=0).fit(X)
    far = ((X[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(far.argmin(axis=1), model.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("tol", [0.0, 1e-4])
def test_equal_rows_do_not_fill_empty_clusters_for_ever(tol):
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 7)), 50, axis=0)
    with pytest.warns(DataWarning, match="2 of 6 clusters are empty"):  # and no other warning
        model = KMeans(6, tol=tol, random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == 4
