import pickle

import numpy as np
import pytest
import threadpoolctl
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold

from bottega.core.errors import DataWarning, ParameterError
from bottega.latent import TSNE


def clusters(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat([[0.0, 0.0, 0.0], [8.0, 8.0, 0.0]], n // 2, axis=0) + rng.normal(size=(n, 3))


HOW = {"perplexity": 8, "max_iter": 300}


def test_map_is_that_of_scikit_learn():
    X = clusters()
    ours = TSNE(**HOW, random_state=3).fit(X)
    theirs = manifold.TSNE(**HOW, random_state=3)
    points = theirs.fit_transform(X)
    assert ours.embedding_ == pytest.approx(points.astype(np.float64))
    assert ours.kl_divergence_ == pytest.approx(theirs.kl_divergence_)
    assert ours.n_iter_ == theirs.n_iter_


def test_neighbours_stay_neighbours():
    X = clusters()
    points = TSNE(perplexity=8, max_iter=600).fit_transform(X)
    D = squareform(pdist(points))
    np.fill_diagonal(D, np.inf)
    nearest = D.argmin(axis=1)
    # Clusters eleven standard deviations apart: at most a stray row is nearest to one of the other.
    assert np.mean((nearest < 20) == (np.arange(40) < 20)) >= 0.95


def test_same_map_each_time_and_global_randomness_untouched():
    X = clusters()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one, two = (TSNE(**HOW, init="random").fit_transform(X) for _ in range(2))
    assert np.array_equal(one, two)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    seeded = [TSNE(**HOW, init="random", random_state=np.random.default_rng(1)) for _ in range(2)]
    assert np.array_equal(*(each.fit_transform(X) for each in seeded))


def test_distances_may_be_given():
    X = clusters()
    D = squareform(pdist(X))
    start = np.random.default_rng(0).normal(size=(40, 2)) * 1e-4
    how = {**HOW, "method": "exact", "init": start}
    given = TSNE(**how, metric="precomputed").fit(D)
    own = TSNE(**how).fit(X)
    # Squares of distances are taken from rows in one case, from distances in the other.
    assert given.kl_divergence_ == pytest.approx(own.kl_divergence_, rel=0.05)
    assert TSNE(**HOW, metric="precomputed").fit_transform(D).shape == (40, 2)


def test_extremes_give_finite_maps():
    X = clusters(20)
    for table in (X * 1e150, X * 1e-30, np.ones((20, 3)), np.repeat(X[:4], 5, axis=0)):
        points = TSNE(perplexity=5, max_iter=250).fit_transform(table)
        assert np.all(np.isfinite(points))


def test_bad_input_is_refused():
    X = clusters(20)
    with pytest.warns(DataWarning, match="perplexity=30 must be less than the number of rows, 20"):
        assert TSNE(max_iter=250).fit(X).perplexity_ == pytest.approx(19 / 3)
    with pytest.raises(ParameterError, match="use method='exact'"):
        TSNE(4, perplexity=5).fit(X)
    with pytest.raises(ParameterError, match="max_iter=100"):
        TSNE(max_iter=100).fit(X)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        TSNE(perplexity=5).fit(X)


def test_round_trip_names_and_chart():
    X = clusters(20)
    model = TSNE(perplexity=5, max_iter=250).fit(X)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).embedding_, model.embedding_)
    assert model.get_feature_names_out().tolist() == ["tsne0", "tsne1"]
    chart = model.plot(np.repeat(["a", "b"], 10)).to_dict()
    assert [row["label"] for row in chart["data"]["values"]] == ["a"] * 10 + ["b"] * 10


@pytest.mark.parametrize("init", ["pca", "random"])
def test_a_sparse_table_has_a_map_that_keeps_its_clusters_apart(init):
    X = np.where(clusters() > 2, clusters(), 0.0)
    X[:, 2] += 1.0
    model = TSNE(init=init, random_state=0, **HOW).fit(sparse.csc_array(X))
    left, right = model.embedding_[:20], model.embedding_[20:]
    gap = np.linalg.norm(left.mean(axis=0) - right.mean(axis=0))
    assert gap > 1.5 * max(left.std(), right.std())


def test_a_sparse_table_of_equal_rows_has_a_map():
    X = sparse.csr_array(np.tile([[1.0, 0.0, 2.0]], (12, 1)))
    assert np.isfinite(TSNE(perplexity=3, max_iter=250).fit(X).embedding_).all()


@pytest.mark.parametrize(("rows", "most"), [(60, 1), (1001, 2)])
def test_steps_of_few_rows_are_not_shared_among_threads(monkeypatch, rows, most):
    found = []

    def fit(self, X, y=None):
        pools = threadpoolctl.threadpool_info()
        found.extend(each["num_threads"] for each in pools if each["user_api"] == "openmp")
        self.kl_divergence_, self.learning_rate_, self.n_iter_ = 0.0, 1.0, 1
        return np.zeros((len(X), 2))

    monkeypatch.setattr("bottega.latent.tsne.PEER.fit_transform", fit)
    TSNE(n_jobs=2).fit(np.zeros((rows, 2)))
    assert max(found) <= most
