"""Principal components: identities, solvers, chunks, streams, weights, extremes."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from bottega.core.errors import InputError, MissingExtra, ParameterError
from bottega.latent import PCA
from bottega.workbench import trusted_types


def sample(n=60, p=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=p)


def assert_same(one, two, tolerance=1e-9):
    assert one.n_components_ == two.n_components_
    assert_allclose(one.components_, two.components_, atol=tolerance)
    assert_allclose(one.explained_variance_, two.explained_variance_, rtol=tolerance)
    assert_allclose(one.mean_, two.mean_, rtol=tolerance, atol=tolerance)
    assert one.noise_variance_ == pytest.approx(two.noise_variance_, rel=tolerance)
    assert one.reconstruction_error_ == pytest.approx(two.reconstruction_error_, rel=tolerance)


# ---- identities ----------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    st.integers(3, 40), st.integers(1, 8), st.integers(0, 8), st.integers(0, 1000), st.booleans()
)
def test_the_reconstruction_error_is_the_sum_of_the_discarded_eigenvalues(n, p, k, seed, scaled):
    X = sample(n, p, seed)
    k = min(k, n, p)
    model = PCA(k, standardize=scaled).fit(X)
    back = model.inverse_transform(model.transform(X))
    squares = np.sum(((X - back) / model.scale_) ** 2, axis=1)
    values = np.linalg.eigvalsh(np.cov(((X - X.mean(0)) / model.scale_).T, ddof=0).reshape(p, p))
    left = np.sort(values)[: p - k].sum()
    size = values.sum()
    assert np.mean(squares) == pytest.approx(left, rel=1e-9, abs=1e-11 * size)
    assert model.reconstruction_error_ == pytest.approx(left, rel=1e-9, abs=1e-11 * size)
    assert_allclose(model.reconstruction_errors(X), squares, rtol=1e-8, atol=1e-11 * size)


def test_components_are_orthonormal_uncorrelated_and_signed():
    X = sample(80, 6)
    model = PCA().fit(X)
    assert_allclose(model.components_ @ model.components_.T, np.eye(6), atol=1e-12)
    # The covariance of the components is diag(lambda): F' S F with F the eigenvectors.
    assert_allclose(np.cov(model.transform(X).T), np.diag(model.explained_variance_), atol=1e-10)
    assert_allclose(
        model.components_ @ np.cov(X.T) @ model.components_.T,
        np.diag(model.explained_variance_),
        atol=1e-10,
    )
    assert np.all(np.max(model.components_, axis=1) == np.max(np.abs(model.components_), axis=1))
    assert model.explained_variance_.sum() == pytest.approx(np.trace(np.cov(X.T)))


def test_equal_loadings_take_the_sign_of_the_first():
    t = np.array([-2.0, -1.0, 1.0, 2.0])
    for order in ([1, -1], [-1, 1]):
        model = PCA(1).fit(np.column_stack([order[0] * t, order[1] * t]))
        assert_allclose(model.components_, [[np.sqrt(0.5), -np.sqrt(0.5)]])


def test_whitened_components_have_variance_one():
    X = sample(70, 4)
    assert_allclose(np.cov(PCA(3, whiten=True).fit_transform(X).T), np.eye(3), atol=1e-10)


def test_the_first_component_is_nearer_than_the_least_squares_line():
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    X = np.column_stack([x, 0.8 * x + 0.6 * rng.normal(size=200)])
    model = PCA(1).fit(X)
    slope = np.polyfit(X[:, 0], X[:, 1], 1)[0]
    line = np.array([1.0, slope]) / np.hypot(1, slope)
    A = X - X.mean(axis=0)
    orthogonal = np.mean(np.sum((A - np.outer(A @ line, line)) ** 2, axis=1))
    assert model.reconstruction_error_ < 0.99 * orthogonal


def test_the_density_is_that_of_scipy():
    from scipy.stats import multivariate_normal

    X = sample(50, 4)
    for scaled in (False, True):
        model = PCA(2, standardize=scaled).fit(X)
        exact = multivariate_normal(model.mean_, model.get_covariance()).logpdf(X)
        assert_allclose(model.score_samples(X), exact, rtol=1e-9)


# ---- solvers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(200, 12), (12, 200)])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_solvers_agree(shape, scaled, weighted):
    rng = np.random.default_rng(2)
    n, p = shape
    X = rng.normal(size=(n, 4)) @ (rng.normal(size=(4, p)) * 3) + 0.3 * rng.normal(size=shape) + 2
    w = rng.integers(1, 4, n) if weighted else None
    exact = PCA(3, svd_solver="full", standardize=scaled).fit(X, sample_weight=w)
    for solver in ("covariance_eigh", "arpack", "randomized", "power"):
        model = PCA(3, svd_solver=solver, standardize=scaled, random_state=0, iterated_power=3000)
        model.fit(X, sample_weight=w)
        # Power iteration stops where a vector turns by less than 1e-10 of its length.
        assert_same(model, exact, 1e-6)


@pytest.mark.parametrize("shape", [(500, 30), (30, 500)])
def test_sparse_tables_are_centred_implicitly(shape, monkeypatch):
    table = scipy.sparse.random(*shape, density=0.1, random_state=0, format="csr")
    dense = table.toarray()
    monkeypatch.setattr("bottega.core.sparse.SMALL", 1)  # so that nothing is made dense
    for cls in (scipy.sparse.csr_matrix, scipy.sparse.csc_array):
        for solver in ("auto", "covariance_eigh", "arpack", "randomized", "power"):
            for scaled in (False, True):
                exact = PCA(2, svd_solver="full", standardize=scaled).fit(dense)
                how = {"svd_solver": solver, "standardize": scaled, "random_state": 0}
                model = PCA(2, tol=1e-9, iterated_power=3000, **how).fit(cls(table))
                assert_same(model, exact, 1e-5)
                Z = exact.transform(dense)
                assert_allclose(model.transform(cls(table)), Z, atol=1e-4)


def test_a_large_sparse_table_stays_sparse():
    # Dense it would have 2e10 entries, beyond memory.
    rows = np.arange(100_000)
    table = scipy.sparse.csr_array((np.ones(100_000), (rows, rows % 7)), shape=(100_000, 200_000))
    model = PCA(3, random_state=0).fit(table)
    assert model.solver_ == "arpack"
    assert model.transform(table[:5]).shape == (5, 3)
    with pytest.raises(ParameterError, match="large sparse table dense"):
        PCA(3, svd_solver="full").fit(table)


def test_power_iteration_says_when_it_is_slow():
    X = np.vstack([np.eye(4), -np.eye(4)]) * [1.0, 0.9999, 0.5, 0.1]
    with pytest.warns(ConvergenceWarning, match="iterated_power"):
        PCA(2, svd_solver="power", iterated_power=3, random_state=0).fit(X)
    model = PCA(3, svd_solver="power", random_state=0).fit(X @ np.diag([1, 0.5, 0.3, 1]))
    assert len(model.n_iter_) == 3
    assert max(model.n_iter_) < 100


def test_power_iteration_stops_at_the_rank():
    X = np.outer(np.arange(6.0), [1.0, 2.0, -1.0])
    model = PCA(3, svd_solver="power", random_state=0).fit(X)
    assert_allclose(model.explained_variance_[1:], 0, atol=1e-10)
    assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-8)


def test_random_projections_follow_their_seed():
    X = sample(300, 40)
    one, two = (PCA(3, svd_solver="randomized", random_state=4).fit(X) for _ in range(2))
    assert np.array_equal(one.components_, two.components_)
    for normalizer in ("LU", "none"):
        other = PCA(3, svd_solver="randomized", random_state=4, iterated_power=3)
        other.set_params(power_iteration_normalizer=normalizer)
        # The same subspace, whatever keeps its vectors apart.
        reference = PCA(3, svd_solver="randomized", random_state=4, iterated_power=3).fit(X)
        assert_allclose(other.fit(X).components_, reference.components_, atol=1e-6)


# ---- chunks, streams, weights --------------------------------------------------------------------


@pytest.mark.parametrize("scaled", [False, True])
def test_chunks_and_streams_give_the_answer_of_one_fit(scaled):
    X = sample(90, 5) + 1e4
    w = np.random.default_rng(1).integers(0, 3, 90).astype(float)
    parts = np.split(np.arange(90), [7, 8, 50])
    for weight in (None, w):
        options = {"standardize": scaled, "n_components": 0.7}
        whole = PCA(**options).fit(X, sample_weight=weight)
        chunks = [(X[i], None, None if weight is None else weight[i]) for i in parts]
        assert_same(PCA(**options).fit_chunks(chunks), whole, 1e-7)
        stream = PCA(**options)
        for part, _, of_part in chunks:
            stream.partial_fit(part, sample_weight=of_part)
        assert_same(stream, whole, 1e-7)


def test_a_stream_may_come_row_by_row():
    X = sample(20, 4)
    stream = PCA(3)
    stream.partial_fit(X[:1])
    with pytest.raises(NotFittedError):
        stream.transform(X)
    for row in X[1:]:
        stream.partial_fit(row[None])
    assert_same(stream, PCA(3).fit(X), 1e-9)
    again = pickle.loads(pickle.dumps(stream)).partial_fit(X)
    assert_same(again, PCA(3).fit(np.vstack([X, X])), 1e-9)
    # A fit that kept all directions knows the sums that rows are added to; others do not.
    for table in (X, X[:3]):
        grown = PCA(standardize=True).fit(table).partial_fit(X)
        assert_same(grown, PCA(standardize=True).fit(np.vstack([table, X])), 1e-8)
    with pytest.raises(InputError, match="Start the stream"):
        PCA(3).fit(X).partial_fit(X)


def test_a_bad_block_leaves_the_stream_as_it_was():
    X = sample(20, 4)
    stream = PCA(2).partial_fit(X)
    with pytest.raises(ValueError, match="NaN"):
        stream.partial_fit(np.full((2, 4), np.nan))
    assert_same(stream, PCA(2).fit(X), 1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"svd_solver": "full"}, "svd_solver='full' takes all rows at once"),
        ({"svd_solver": "randomized"}, "use 'auto' or 'covariance_eigh', or fit"),
        ({"device": "cpu"}, "device='cpu' takes all rows at once"),
    ],
)
def test_a_stream_refuses_what_it_would_not_use(options, words):
    X = sample(20, 4)
    with pytest.raises(ParameterError, match=words):
        PCA(2, **options).fit_chunks([X])
    with pytest.raises(ParameterError, match=words):
        PCA(2, **options).partial_fit(X)


def test_a_device_refuses_a_solver_it_would_not_use():
    with pytest.raises(ParameterError, match="svd_solver='full' runs on the processor"):
        PCA(2, svd_solver="full", device="cpu").fit(sample(20, 4))


def test_choosing_by_criteria_works_in_chunks_and_by_blocks_it_does_not():
    X = sample(90, 5)
    for rule in ("share", "parallel", "mle"):
        model = PCA("auto", select=rule).fit_chunks([X[:40], X[40:]])
        assert model.n_components_ == PCA("auto", select=rule).fit(X).n_components_
    with pytest.raises(InputError, match="give n_components"):
        PCA("auto").fit_chunks([X[:40], X[40:]])


@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
def test_weights_are_repeated_rows(solver):
    X = sample(40, 4)
    w = np.random.default_rng(0).integers(0, 4, 40)
    for scaled in (False, True):
        how = {"svd_solver": solver, "standardize": scaled, "n_components": 2}
        weighted, repeated = PCA(**how).fit(X, sample_weight=w), PCA(**how).fit(np.repeat(X, w, 0))
        assert_allclose(weighted.components_, repeated.components_, atol=1e-9)
        assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-10)
        assert_allclose(weighted.score_samples(X), repeated.score_samples(X), rtol=1e-9)


def test_the_scale_of_weights_that_are_shares_does_not_matter():
    X = sample(30, 3)
    share = np.random.default_rng(0).dirichlet(np.ones(30))
    one, two = (PCA().fit(X, sample_weight=c * share) for c in (1.0, 0.01))
    assert_same(one, two)
    equal = PCA().fit(X, sample_weight=np.full(30, 1 / 30))
    assert_same(equal, PCA().fit(X))


# ---- extremes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_units_do_not_matter(solver, factor):
    X = sample()
    model, other = PCA(3, svd_solver=solver).fit(X), PCA(3, svd_solver=solver).fit(X * factor)
    assert_allclose(other.components_, model.components_, atol=1e-9)
    assert_allclose(other.explained_variance_ / factor**2, model.explained_variance_, rtol=1e-9)
    units = np.array([1e-3, 1e5, 1.0, 7.0, 1e-9])
    scaled = [PCA(3, standardize=True).fit(table) for table in (X, X * units)]
    assert_allclose(scaled[0].components_, scaled[1].components_, atol=1e-8)


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_squares_beyond_numbers_are_refused(factor):
    for solver in ("full", "covariance_eigh", "randomized"):
        with pytest.raises(InputError, match=r"overflow|vanish"):
            PCA(2, svd_solver=solver).fit(sample() * factor)


@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "arpack", "randomized", "power"])
def test_a_large_level_costs_few_digits(solver):
    X = sample()
    how = {"n_components": 2, "svd_solver": solver, "random_state": 0, "iterated_power": 500}
    # The level takes seven of sixteen digits of every number.
    assert_same_directions(PCA(**how).fit(X + 1e7), PCA(**how).fit(X), 1e-6)


def assert_same_directions(one, two, tolerance):
    assert_allclose(one.components_, two.components_, atol=tolerance)
    assert_allclose(one.explained_variance_, two.explained_variance_, rtol=tolerance)


def test_constant_columns_two_rows_and_equal_rows():
    X = sample(20, 4)
    X[:, 1] = 0.1
    for scaled in (False, True):
        for solver in ("full", "covariance_eigh"):
            model = PCA(standardize=scaled, svd_solver=solver).fit(X)
            assert model.explained_variance_[-1] == pytest.approx(0, abs=1e-12)
            assert np.abs(model.components_[:3, 1]).max() < 1e-10
            with pytest.raises(InputError, match="no density"):
                model.score_samples(X)
    two = PCA().fit([[0.0, 0.0], [2.0, 0.0]])
    assert_allclose(two.explained_variance_, [2.0, 0.0])
    equal = PCA(whiten=True).fit(np.ones((5, 3)))
    assert_allclose(equal.explained_variance_, 0)
    assert_allclose(equal.explained_variance_ratio_, 0)
    assert_allclose(equal.transform(np.ones((2, 3))), 0)
    assert_allclose(PCA(0).fit(X).inverse_transform(np.zeros((2, 0))), [X.mean(axis=0)] * 2)


@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
def test_the_order_of_rows_does_not_matter(solver):
    X = sample()
    order = np.random.default_rng(0).permutation(len(X))
    assert_same(PCA(svd_solver=solver).fit(X), PCA(svd_solver=solver).fit(X[order]))
    assert PCA("auto").fit(X).n_components_ == PCA("auto").fit(X[order]).n_components_


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 6}, "at most 5"),
        ({"n_components": 1.0}, "n_components=1.0 is not allowed"),
        ({"n_components": -1}, "n_components=-1 is not allowed"),
        ({"n_components": "most"}, "n_components='most'"),
        ({"svd_solver": "svd"}, "svd_solver='svd'"),
        ({"n_components": 5, "svd_solver": "arpack"}, "fewer components"),
        ({"n_components": 0.5, "svd_solver": "randomized"}, "all directions"),
        ({"n_components": "auto", "svd_solver": "power"}, "all directions"),
        ({"select": "bic"}, "select='bic'"),
        ({"n_oversamples": 0}, "n_oversamples=0"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(ParameterError if "at most" not in message else InputError, match=message):
        PCA(**options).fit(sample())


def test_bad_rows_are_refused():
    for bad in (np.nan, np.inf):
        X = sample()
        X[3, 2] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            PCA().fit(X)
    with pytest.raises(ValueError, match=r"n_samples = 1|1 sample"):
        PCA().fit([[1.0, 2.0]])
    model = PCA(2).fit(sample())
    with pytest.raises(ValueError, match="features"):
        model.transform(np.ones((2, 4)))
    with pytest.raises(InputError, match="2 components"):
        model.inverse_transform(np.ones((2, 3)))
    with pytest.raises(InputError, match="at least as many rows"):
        PCA("mle").fit(sample(4, 6))


def test_a_device_that_is_absent_is_named():
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        with pytest.raises(MissingExtra, match="torch"):
            PCA(device="cuda").fit(sample())
        return
    with pytest.raises(InputError, match="cannot be used here"):
        PCA(device="cuda:99").fit(sample())


def test_torch_gives_the_same_components():
    pytest.importorskip("torch")
    for shape in ((60, 5), (8, 30)):
        X = sample(*shape)
        assert_same(PCA(3, device="cpu").fit(X), PCA(3).fit(X), 1e-8)


# ---- frames and files ----------------------------------------------------------------------------


def test_frames_come_back():
    X = sample()
    names = list("abcde")
    frame = pd.DataFrame(X, columns=names)
    model = PCA(2).fit(frame)
    assert model.loadings()["term"].tolist() == names
    assert model.get_feature_names_out().tolist() == ["pca0", "pca1"]
    assert list(PCA(2).set_output(transform="pandas").fit_transform(frame)) == ["pca0", "pca1"]
    polars = PCA(2).fit(pl.DataFrame(X, schema=names))
    assert isinstance(polars.loadings(), pl.DataFrame)
    assert_same(polars, model)


def test_saved_models_are_the_same(tmp_path):
    X = sample()
    for model in (PCA("auto").fit(X), PCA(2).partial_fit(X), PCA(2, svd_solver="power").fit(X)):
        content = skops.io.dumps(model)
        assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
        loaded = skops.io.loads(content, trusted=trusted_types())
        for copy in (pickle.loads(pickle.dumps(model)), loaded):
            assert np.array_equal(copy.transform(X), model.transform(X))


def test_missing_values_lead_to_probabilistic_pca():
    with pytest.raises(InputError, match=r"contains NaN.*ProbabilisticPCA"):
        PCA().fit([[1.0, np.nan], [2.0, 3.0], [4.0, 1.0]])


def test_a_stream_of_one_row_asks_for_more():
    model = PCA(1).partial_fit([[1.0, 2.0]])
    with pytest.raises(NotFittedError, match="seen 1 of the two rows"):
        model.transform([[1.0, 2.0]])
    model.partial_fit([[3.0, 1.0]])
    assert model.transform([[1.0, 2.0]]).shape == (1, 1)
