import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold
from sklearn.decomposition import PCA

from bottega.core.errors import InputError, ParameterError
from bottega.latent import MDS

FILE = Path(__file__).parents[1] / "reference" / "latent" / "scaling.json"
SETS = json.loads(FILE.read_text())["sets"]


def raw(D, points):
    return float(np.sum((squareform(D, checks=False) - pdist(points)) ** 2))


@pytest.mark.parametrize("name", SETS)
def test_classical_scaling_is_cmdscale(name):
    expected = SETS[name]
    D, k = np.array(expected["distances"]), expected["k"]
    model = MDS(k, method="classical", metric="precomputed").fit(D)
    theirs = np.array(expected["points"])
    signs = np.sign(np.sum(model.embedding_ * theirs, axis=0))
    # Eigenvectors to the precision of another LAPACK, relative to distances of thousands.
    assert model.embedding_ * signs == pytest.approx(theirs, abs=1e-7 * D.max())
    eigenvalues = np.array(expected["eigenvalues"])
    assert model.eigenvalues_[: len(eigenvalues)] == pytest.approx(
        eigenvalues, abs=1e-9 * eigenvalues.max()
    )
    assert model.goodness_of_fit_ == pytest.approx(expected["goodness_of_fit"][0], rel=1e-9)
    assert model.stress_ == pytest.approx(expected["raw_stress"]["cmdscale"], rel=1e-7)


@pytest.mark.parametrize("name", SETS)
def test_majorisation_has_the_least_raw_stress(name):
    expected = SETS[name]
    D, k = np.array(expected["distances"]), expected["k"]
    model = MDS(k, metric="precomputed", eps=1e-10, max_iter=3_000).fit(D)
    assert model.stress_ == pytest.approx(raw(D, model.embedding_), rel=1e-9)
    # The others minimise something else.
    for theirs in expected["raw_stress"].values():
        assert model.stress_ < theirs


@pytest.mark.parametrize("name", SETS)
def test_nonmetric_stress_is_about_that_of_isomds(name):
    expected = SETS[name]
    model = MDS(expected["k"], metric="precomputed", metric_mds=False, eps=1e-12, max_iter=5_000)
    model.fit(np.array(expected["distances"]))
    # Both stop in a minimum of their own: ours may not be worse by more than 5 %.
    assert model.stress_ < 1.05 * expected["isoMDS_stress_1"]


def test_majorisation_is_that_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(30, 5))
    ours = MDS(eps=1e-6).fit(X)
    theirs = manifold.MDS(init="classical_mds", eps=1e-6, n_init=1).fit(X)
    assert ours.stress_ == pytest.approx(theirs.stress_, rel=1e-4)
    start = np.random.default_rng(1).normal(size=(30, 2))
    ours = MDS(init=start, max_iter=50, eps=0).fit(X)
    theirs, stress = manifold.smacof(squareform(pdist(X)), init=start, n_init=1, max_iter=50, eps=0)
    assert ours.embedding_ == pytest.approx(theirs, abs=1e-8)
    assert ours.stress_ == pytest.approx(stress, rel=1e-8)


def test_classical_scaling_of_euclidean_distances_is_principal_components():
    X = np.random.default_rng(2).normal(size=(25, 4)) * [4, 3, 2, 1]
    ours = MDS(3, method="classical").fit_transform(X)
    theirs = PCA(3).fit_transform(X)
    assert np.abs(ours) == pytest.approx(np.abs(theirs), abs=1e-9)
    largest = np.abs(ours).argmax(axis=0)
    assert np.all(ours[largest, np.arange(3)] > 0)


def test_exact_distances_are_met():
    X = np.random.default_rng(3).normal(size=(12, 2))
    for model in (MDS(method="classical"), MDS()):
        points = model.fit_transform(X)
        assert pdist(points) == pytest.approx(pdist(X), abs=1e-8)
        assert model.stress_ < 1e-12


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("how", [{"method": "classical"}, {}, {"metric_mds": False}])
def test_units_do_not_matter(scale, how):
    D = squareform(pdist(np.random.default_rng(4).normal(size=(15, 3))))
    one = MDS(metric="precomputed", normalized_stress=True, **how).fit(D)
    other = MDS(metric="precomputed", normalized_stress=True, **how).fit(D * scale)
    assert other.embedding_ / scale == pytest.approx(one.embedding_, abs=1e-6)
    assert other.stress_ == pytest.approx(one.stress_, abs=1e-9)


def test_repeated_rows_two_rows_and_one_point():
    X = np.repeat(np.random.default_rng(5).normal(size=(6, 3)), 2, axis=0)
    points = MDS().fit_transform(X)
    assert points[::2] == pytest.approx(points[1::2], abs=1e-4)
    pair = MDS(method="classical").fit_transform([[0.0], [3.0]])
    assert pdist(pair) == pytest.approx([3.0])
    same = MDS().fit(np.ones((4, 2)))
    assert (same.stress_, np.abs(same.embedding_).max()) == (0.0, 0.0)


def test_deterministic_unless_a_seed_is_given():
    X = np.random.default_rng(6).normal(size=(20, 3))
    one, two = (MDS(init="random", n_init=2).fit_transform(X) for _ in range(2))
    assert np.array_equal(one, two)
    other = MDS(init="random", n_init=2, random_state=7).fit_transform(X)
    assert not np.allclose(one, other)


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.ones((3, 2)), "square matrix"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "not negative; X holds -1"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "1 in row 0, column 1 and 2 in row 1, column 0"),
        (np.array([[1.0, 1.0], [1.0, 0.0]]), "distance of a row from itself"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "NaN"),
    ],
)
def test_wrong_distances_are_refused(D, message):
    with pytest.raises(ValueError, match=message):
        MDS(metric="precomputed").fit(D)


def test_units_beyond_squares():
    X = np.random.default_rng(9).normal(size=(8, 3))
    with pytest.raises(InputError, match=r"distances is .*e\+20., and its square overflows"):
        MDS().fit(X * 1e200)
    with pytest.raises(InputError, match=r"square vanishes: measure in smaller units"):
        MDS().fit(X * 1e-200)
    with pytest.raises(InputError, match="Some distances are not finite"):
        MDS(metric="cityblock").fit((X > 0) * 1e308)
    assert MDS().fit_transform(X * 1e120) == pytest.approx(MDS().fit_transform(X) * 1e120, rel=1e-6)


def test_wrong_parameters_are_refused():
    X = np.eye(3)
    with pytest.raises(ParameterError, match="use method='smacof'"):
        MDS(method="classical", metric_mds=False).fit(X)
    with pytest.raises(InputError, match=r"init has shape \(3, 3\)"):
        MDS(init=np.ones((3, 3))).fit(X)
    with pytest.raises(ParameterError, match="metric_mds=False"):
        MDS(metric=False).fit(X)
    with pytest.raises(TypeError, match="it is called 'metric' here"):
        MDS(dissimilarity="precomputed")


def test_round_trip_names_and_chart():
    X = np.random.default_rng(8).normal(size=(10, 3))
    model = MDS().fit(X)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).embedding_, model.embedding_)
    assert model.get_feature_names_out().tolist() == ["mds0", "mds1"]
    rows = model.plot(names=np.arange(10)).to_dict()["data"]["values"]
    assert [row["x"] for row in rows] == pytest.approx(model.embedding_[:, 0].tolist(), rel=1e-5)
