"""K-means whose passes are made by other processes: the clusters, labels and passes of one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from bottega import scale
from bottega.cluster import KMeans
from bottega.cluster._kmeans import lloyd
from bottega.core.errors import InputError

pytestmark = pytest.mark.slow  # processes start and import the package


def groups(n=4000, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return 2.0 * rng.normal(size=(6, p))[rng.integers(6, size=n)] + rng.normal(size=(n, p))


@pytest.mark.parametrize(
    "options",
    [
        {"n_clusters": 6},
        {"n_clusters": 5, "standardize": True},
        {"n_clusters": 4, "norm": "cosine"},
        {"n_clusters": "auto", "max_clusters": 4},
        {"n_clusters": 6, "max_iter": 2, "tol": 0.0},
        {"n_clusters": 3, "init": np.array([[0.0, 0, 0], [1, 1, 1], [1e6, 1e6, 1e6]])},
    ],
    ids=lambda options: " ".join(map(str, [*options][:2])),
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")  # clusters start again
def test_the_clusters_of_other_processes_are_those_of_this_one(place, options, weighted):
    X = groups()
    w = np.random.default_rng(1).integers(0, 3, len(X)).astype(float) if weighted else None
    model = KMeans(random_state=0, **options)
    rows = scale.source(X, weight=w, rows=900)
    here = clone(model).fit(rows)
    with scale.on(**place):
        there = clone(model).fit(rows)
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-9)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.inertia_ == pytest.approx(here.inertia_, rel=1e-9)
    assert (there.n_iter_, there.converged_) == (here.n_iter_, here.converged_)


def test_labels_of_too_many_rows_are_left_out(place, monkeypatch):
    monkeypatch.setattr(lloyd.lloyd, "__kwdefaults__", lloyd.lloyd.__kwdefaults__ | {"kept": 100})
    rows = scale.source(groups(), rows=900)
    with scale.on(**place):
        assert not hasattr(KMeans(4, random_state=0).fit(rows), "labels_")


def test_passes_read_files_once_and_keep_them_the_second_time(cluster, tmp_path, monkeypatch):
    from bottega.core.engine import current_engine
    from bottega.data.read import rows as stored

    monkeypatch.setattr(stored, "_TEXT_PART", (1, 1))  # small files are parts all the same
    X = groups(1200)
    paths = []
    for number, part in enumerate(np.array_split(X, 3)):
        paths.append(tmp_path / f"part{number}.csv")
        np.savetxt(paths[-1], part, delimiter=",", header="a,b,c", comments="")
    pattern = str(tmp_path / "*.csv")
    here = KMeans(4, random_state=0).fit(scale.source(pattern))
    with scale.on(cluster):
        engine, kinds = current_engine(), []
        submit = engine.submit_each
        engine.submit_each = lambda task, args: kinds.append(task.__name__) or submit(task, args)
        there = KMeans(4, random_state=0).fit(scale.source(pattern))
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-9)
    assert kinds.count("_keep") == 1
    assert kinds.count("_each") == there.n_iter_ + 1  # its passes, and the one for the labels


def test_files_that_change_between_passes_are_refused(tmp_path, monkeypatch):
    from bottega.cluster._kmeans import problem

    X, path = groups(900), tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="")

    def shortened(*given, **more):
        np.savetxt(path, X[:-10], delimiter=",", header="a,b,c", comments="")
        return lloyd.lloyd(*given, **more)

    monkeypatch.setattr(problem, "lloyd", shortened)
    with (
        scale.on("processes", workers=2),
        pytest.raises(InputError, match="has another size"),
    ):
        KMeans(3, random_state=0, init=X[:3]).fit(scale.source(str(path)))


def test_a_fit_that_does_not_converge_says_so(cluster):
    rows = scale.source(np.random.default_rng(0).random((4000, 3)), rows=900)
    with scale.on(cluster), pytest.warns(ConvergenceWarning, match="after 1 pass"):
        KMeans(8, max_iter=1, tol=0.0, random_state=0).fit(rows)


def test_nothing_of_the_rows_travels_with_a_pass(cluster):
    from bottega.core.engine import current_engine

    rows = scale.source(groups(30_000), rows=6000)
    with scale.on(cluster):
        engine, sizes = current_engine(), []
        share = engine.share
        engine.share = lambda apart: (
            sizes.append(sum(each.nbytes for each in apart.values())) or share(apart)
        )
        KMeans(6, random_state=0).fit(rows)
    assert sum(sizes) <= 30_000 * 3 * 8 + 2**16  # the rows once, as they are given
