import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.latent import NonnegativeFactorization
from bottega.workbench import trusted_types


def table(n=60, p=12, k=4, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.5, 1, (n, k)) @ rng.gamma(0.5, 1, (k, p))
    return X + noise * rng.random(X.shape)


def start(n=60, p=12, k=4, seed=1):
    rng = np.random.default_rng(seed)
    return rng.random((n, k)) + 0.1, rng.random((k, p)) + 0.1


def error_over(model, X):
    """Return the root of the squared error over observed entries, from the codes."""
    fitted = model.inverse_transform(model.transform(X))
    return np.sqrt(np.nansum((X - fitted) ** 2))


# From one start and with tight tolerances both come to rest in a minimum. The first descents are
# not the same, so the start is near a minimum: the factors the table was made of, disturbed.
@pytest.mark.parametrize(
    "how", [{"solver": "cd"}, {"solver": "cd", "shuffle": True}, {"solver": "pg"}]
)
def test_loss_is_that_of_scikit_learn(how):
    rng = np.random.default_rng(0)
    W, H = rng.gamma(0.5, 1, (60, 4)), rng.gamma(0.5, 1, (4, 12))
    X = W @ H + 0.1 * rng.random((60, 12))
    W, H = (F * (1 + 0.3 * rng.random(F.shape)) for F in (W, H))
    ours = NonnegativeFactorization(4, init=(W, H), **how, tol=1e-7, max_iter=20_000).fit(X)
    theirs = NMF(4, init="custom", tol=1e-8, max_iter=20_000, shuffle="shuffle" in how)
    theirs.fit_transform(X, W=W.copy(), H=H.copy())
    assert ours.reconstruction_err_ == pytest.approx(theirs.reconstruction_err_, rel=1e-4)


@pytest.mark.parametrize("gaps", [False, True])
def test_a_random_order_of_components_goes_another_way_down(gaps):
    X, init = table(), start()
    if gaps:
        X[::7, 3] = np.nan
    plain, one, again, other = (
        NonnegativeFactorization(4, init=init, shuffle=shuffle, random_state=seed, tol=1e-6)
        for shuffle, seed in ((False, 0), (True, 0), (True, 0), (True, 1))
    )
    for model in (plain, one, again, other):
        model.set_params(max_iter=3_000).fit(X)
        assert np.all(np.diff(model.objective_) <= 0)
    assert np.array_equal(one.components_, again.components_)
    assert not np.array_equal(one.components_, plain.components_)
    assert not np.array_equal(one.components_, other.components_)
    # With one component there is one order.
    first, second = (
        NonnegativeFactorization(1, shuffle=shuffle).fit(X).components_ for shuffle in (False, True)
    )
    assert np.array_equal(first, second)


def test_penalised_objective_is_that_of_scikit_learn():
    X, (W, H) = table(), start()
    how = {"alpha_W": 0.02, "alpha_H": 0.01, "l1_ratio": 0.4}
    ours = NonnegativeFactorization(4, init=(W, H), tol=1e-7, max_iter=5_000, **how).fit(X)
    theirs = NMF(4, init="custom", tol=1e-7, max_iter=20_000, **how)
    codes = theirs.fit_transform(X, W=W.copy(), H=H.copy())
    n, p = X.shape
    parts = [(codes, 0.02 * p), (theirs.components_, 0.01 * n)]
    value = 0.5 * np.sum((X - codes @ theirs.components_) ** 2)
    value += sum(a * (0.4 * F.sum() + 0.3 * np.sum(F**2)) for F, a in parts)
    assert ours.objective_[-1] == pytest.approx(value, rel=1e-4)
    # The trace is of the penalised objective: at the codes of the fit it is what is said here.
    found = ours.transform(X)
    here = 0.5 * np.sum((X - found @ ours.components_) ** 2)
    here += sum(
        a * (0.4 * F.sum() + 0.3 * np.sum(F**2))
        for F, a in [(found, 0.02 * p), (ours.components_, 0.01 * n)]
    )
    assert here == pytest.approx(ours.objective_[-1], rel=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_divergence_is_that_of_scikit_learn(missing):
    X, (W, H) = table(), start()
    how = {"solver": "mu", "beta_loss": "kullback-leibler"}
    ours = NonnegativeFactorization(4, init=(W, H), tol=1e-9, max_iter=5_000, **how)
    if not missing:
        theirs = NMF(4, init="custom", tol=1e-9, max_iter=20_000, **how)
        theirs.fit_transform(X, W=W.copy(), H=H.copy())
        # Multiplicative steps crawl at the end: 1e-3 is how far apart they still are.
        found = ours.fit(X).reconstruction_err_
        assert found == pytest.approx(theirs.reconstruction_err_, rel=1e-3)
        return
    X[np.random.default_rng(2).random(X.shape) < missing] = np.nan
    ours.fit(X)
    fitted = ours.inverse_transform(ours.transform(X))
    value = np.nansum(X * np.log(X / fitted) - X + fitted)
    assert np.sqrt(2 * value) == pytest.approx(ours.reconstruction_err_, rel=1e-3)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.integers(1, 8),
    st.integers(1, 4),
    st.sampled_from(["cd", "pg", "mu"]),
    st.booleans(),
    st.floats(0, 0.5),
)
def test_objective_never_rises(seed, n, p, k, solver, gaps, alpha):
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.5, 1, (n, p)) * (rng.random((n, p)) < 0.8)
    if gaps:
        X[rng.random((n, p)) < 0.2] = np.nan
        X[np.arange(n), rng.integers(p, size=n)] = 1.0
        X[rng.integers(n, size=p), np.arange(p)] = 1.0
    how = {"solver": solver, "alpha_W": alpha, "l1_ratio": 0.5, "max_iter": 40}
    for loss in ["frobenius", "kullback-leibler"][: 1 + (solver == "mu")]:
        model = NonnegativeFactorization(k, beta_loss=loss, init="random", random_state=0, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X)
            codes = model.transform(X)
        assert np.all(np.diff(model.objective_) <= 0)
        assert np.all(np.isfinite(model.components_))
        assert model.components_.min() >= 0
        assert codes.min() >= 0


def test_codes_satisfy_the_conditions_of_a_minimum():
    X = table()
    X[::7, 3] = np.nan
    model = NonnegativeFactorization(4).fit(X)
    codes, H = model.transform(X), model.components_
    residual = np.where(np.isnan(X), 0.0, codes @ H - np.nan_to_num(X))
    slope = residual @ H.T
    scale = np.abs(np.nan_to_num(X) @ H.T).max()
    assert slope.min() > -1e-6 * scale  # no code would be better if it were larger
    assert np.abs(slope * codes).max() < 1e-6 * scale * codes.max()  # nor if it were another


def test_exact_product_is_found_again():
    rng = np.random.default_rng(3)
    # Each part has a column and rows of its own, so that the factorisation is unique.
    H = np.hstack([np.eye(3), rng.random((3, 5))])
    W = np.vstack([np.kron(np.eye(3), np.ones((5, 1))), rng.gamma(0.5, 1, (25, 3))])
    model = NonnegativeFactorization(3, tol=1e-9, max_iter=5_000).fit(W @ H)
    assert model.reconstruction_err_ < 1e-5 * np.linalg.norm(W @ H)
    found = model.components_ / model.components_[:, :3].max(axis=1, keepdims=True)
    order = np.argmax(found[:, :3], axis=1)
    assert sorted(order) == [0, 1, 2]
    assert found[np.argsort(order)] == pytest.approx(H, abs=1e-3)


def test_missing_entries_are_filled_in():
    X = table(n=200, p=15, k=3, noise=0.0)
    gaps = np.random.default_rng(4).random(X.shape) < 0.2
    seen = np.where(gaps, np.nan, X)
    model = NonnegativeFactorization(3, tol=1e-7, max_iter=5_000).fit(seen)
    fitted = model.inverse_transform(model.transform(seen))
    assert np.abs(fitted - X)[gaps].max() < 0.01 * X.max()
    assert model.reconstruction_err_ == pytest.approx(error_over(model, seen), abs=1e-3)


@pytest.mark.parametrize("solver", ["cd", "pg", "mu"])
def test_missing_is_not_zero_and_a_gap_of_one_entry_counts_for_nothing(solver):
    X = table(n=20, p=6, k=2)
    other = X.copy()
    X[3, 2] = other[3, 2] = np.nan
    how = {"solver": solver, "max_iter": 5_000, "tol": 1e-5}
    one = NonnegativeFactorization(2, init=start(20, 6, 2), **how).fit(X)
    # The direct sum over what is observed is the objective.
    assert error_over(one, X) <= one.reconstruction_err_ * (1 + 1e-9)
    zero = NonnegativeFactorization(2, init=start(20, 6, 2), **how).fit(np.nan_to_num(X))
    assert not np.allclose(zero.components_, one.components_, rtol=1e-3)


def test_too_few_iterations_are_said():
    with pytest.warns(ConvergenceWarning, match="3 iterations did not reach tol=1e-06; raise max"):
        model = NonnegativeFactorization(3, max_iter=3, tol=1e-6).fit(table())
    assert (model.n_iter_, model.converged_) == (3, False)


@pytest.mark.parametrize("how", [{}, {"solver": "mu", "beta_loss": "kullback-leibler"}])
@pytest.mark.parametrize("gaps", [False, True])
def test_sparse_is_dense(how, gaps):
    rng = np.random.default_rng(5)
    X = table() * (rng.random((60, 12)) < 0.4)
    X[0], X[:, 0] = 1.0, 1.0
    if gaps:
        X[5, 3] = X[6, 4] = X[59, 11] = np.nan
    # The same sums in another order: the paths of the descent stay near each other.
    dense = NonnegativeFactorization(3, init=start(k=3), tol=1e-3, **how).fit(X)
    for made in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        sparse = NonnegativeFactorization(3, init=start(k=3), tol=1e-3, **how).fit(made(X))
        assert sparse.reconstruction_err_ == pytest.approx(dense.reconstruction_err_, rel=1e-6)
        assert sparse.components_ == pytest.approx(dense.components_, abs=1e-5)
        assert sparse.transform(made(X)) == pytest.approx(dense.transform(X), abs=1e-5)
    assert dense._row_losses(X) == pytest.approx(sparse._row_losses(sp.csr_array(X)), abs=1e-6)


def test_large_sparse_table_is_never_dense():
    rng = np.random.default_rng(6)
    n, p = 200_000, 100_000  # 160 GB as an array
    X = sp.csr_array(
        (np.ones(400_000), (rng.integers(n, size=400_000), rng.integers(p, size=400_000))),
        shape=(n, p),
    )
    model = NonnegativeFactorization(2, init="random", random_state=0, max_iter=2, tol=1.0).fit(X)
    assert model.components_.shape == (2, p)
    assert model.transform(X[:5]).shape == (5, 2)


def test_row_losses_are_means_over_observed_entries():
    X = table(n=30)
    X[2, :5] = np.nan
    model = NonnegativeFactorization(3).fit(X)
    direct = np.nanmean((X - model.inverse_transform(model.transform(X))) ** 2, axis=1)
    assert model._row_losses(X) == pytest.approx(direct, abs=1e-9)


def test_path_chooses_the_number_of_parts_by_entries_held_out():
    # Three parts with columns of their own, and noise far smaller than they are.
    rng = np.random.default_rng(7)
    W = rng.gamma(1.0, 1, (80, 3))
    X = W @ np.kron(np.eye(3), np.ones((1, 4))) + 0.05 * rng.random((80, 12))
    model = NonnegativeFactorization(max_iter=500, select="min").fit(X)
    assert model.n_components_ == 3
    curve = model.path_
    assert curve.estimate == "entries"
    assert curve.loss == "squared error of an entry"
    assert curve.values.tolist() == list(range(1, 11))
    # Each count is a fit of its own, and only the least of them all cannot rise: most must fall.
    assert curve.train_error[2] < 0.01 * curve.train_error[1]
    fixed = NonnegativeFactorization(3, max_iter=500).fit(X)
    assert fixed.reconstruction_err_**2 / X.size == pytest.approx(curve.train_error[2], rel=1e-6)
    assert model.components_ == pytest.approx(fixed.components_)


def test_path_of_a_sparse_table_holds_out_zeros_too():
    rng = np.random.default_rng(8)
    X = sp.csr_array(table(n=50, p=20, k=2) * (rng.random((50, 20)) < 0.3))
    model = NonnegativeFactorization(max_iter=1_000, cv=0.2, select="min")
    curve = model.path(X, values=[1, 2])
    dense = model.path(X.toarray(), values=[2, 1])
    # The same entries are held out; the start takes them as means of columns, or as zeros.
    assert curve.error == pytest.approx(dense.error, rel=0.02)
    assert curve.estimate == "entries"
    assert curve.at(1).n_components_ == 2


def test_divergence_judges_its_path():
    X = np.random.default_rng(9).poisson(table(n=40, p=8, k=2) * 5).astype(float)
    X[0], X[:, 0] = 1.0, 1.0
    model = NonnegativeFactorization(solver="mu", beta_loss="kullback-leibler", tol=1e-3)
    curve = model.path(X, values=[1, 2, 3])
    assert curve.loss == "Kullback-Leibler divergence of an entry"
    assert np.all(np.isfinite(curve.error))


@pytest.mark.parametrize("scale", [1e-150, 1e-60, 1e60, 1e150])
@pytest.mark.parametrize("how", [{}, {"solver": "pg"}, {"solver": "mu"}])
def test_units_do_not_matter(scale, how):
    X = table()
    one = NonnegativeFactorization(3, tol=1e-3, **how).fit(X)
    other = NonnegativeFactorization(3, tol=1e-3, **how).fit(X * scale)
    fitted = other.inverse_transform(other.transform(X * scale)) / scale
    # Rounding of the start, carried through the same descent.
    assert fitted == pytest.approx(one.inverse_transform(one.transform(X)), abs=1e-3)
    assert other.reconstruction_err_ / scale == pytest.approx(one.reconstruction_err_, rel=1e-4)


def test_units_beyond_squares():
    X = table()
    for scale, message in (
        (1e155, "overflows: measure in larger"),
        (1e-160, "vanishes: measure in"),
    ):
        for made in (np.asarray, sp.csr_array):
            with pytest.raises(InputError, match=message):
                NonnegativeFactorization(3).fit(made(X * scale))
    # Entries held out are fitted by numbers that may be larger still.
    with pytest.raises(InputError, match="errors of entries held out overflow"):
        NonnegativeFactorization().fit(X * 1e150)
    # Codes of such rows are numbers, though no sum of their squares is.
    for alpha in (0.0, 0.1):
        model = NonnegativeFactorization(3, alpha_W=alpha, l1_ratio=0.5).fit(X)
        for scale in (1e200, 1e-300):
            codes = model.transform(X * scale)
            assert np.all(np.isfinite(codes))
            if not alpha:
                assert codes / scale == pytest.approx(model.transform(X), abs=1e-6)


def test_order_of_the_rows_does_not_matter():
    X = table()
    order = np.random.default_rng(10).permutation(len(X))
    one = NonnegativeFactorization(3, tol=1e-7, max_iter=3_000).fit(X)
    other = NonnegativeFactorization(3, tol=1e-7, max_iter=3_000).fit(X[order])
    assert other.components_ == pytest.approx(one.components_, abs=1e-4)
    assert other.transform(X) == pytest.approx(one.transform(X), abs=1e-3)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 129])
def test_blocks_of_any_size(n):
    X = table(n=n, p=7, k=2)
    model = NonnegativeFactorization(2, init=start(n, 7, 2), tol=1e-6, max_iter=5_000).fit(X)
    assert model.reconstruction_err_ == pytest.approx(error_over(model, X), abs=1e-4)


def test_zero_tables_constant_columns_and_repeated_rows():
    zero = NonnegativeFactorization(2).fit(np.zeros((4, 3)))
    assert zero.reconstruction_err_ == 0
    assert np.all(zero.transform(np.zeros((2, 3))) == 0)
    for loss in ("frobenius", "kullback-leibler"):
        model = NonnegativeFactorization(2, solver="mu", beta_loss=loss).fit(np.zeros((4, 3)))
        assert np.all(model.inverse_transform(model.transform(np.zeros((4, 3)))) < 1e-100)
    same = NonnegativeFactorization(1).fit(np.ones((5, 4)))
    assert same.inverse_transform(same.transform(np.ones((1, 4)))) == pytest.approx(np.ones((1, 4)))


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda", "nndsvdar", "random"])
def test_every_start_leads_down(init):
    X = table()
    model = NonnegativeFactorization(3, init=init, random_state=0).fit(X)
    again = NonnegativeFactorization(3, init=init, random_state=0).fit(X)
    assert model.objective_[-1] < 0.5 * model.objective_[0]
    assert np.array_equal(model.components_, again.components_)


def test_start_from_singular_vectors_is_that_of_scikit_learn():
    X = table()
    with pytest.warns(ConvergenceWarning):
        ours = NonnegativeFactorization(3, init="nndsvd", max_iter=1, tol=0.0).fit(X)
    theirs = NMF(3, init="nndsvd", max_iter=1, tol=0.0)
    codes = theirs.fit_transform(X)
    # One sweep from the same start; ours takes several, so it is lower.
    value = 0.5 * np.sum((X - codes @ theirs.components_) ** 2)
    assert ours.objective_[-1] < value < ours.objective_[0]


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
def test_negative_input_is_refused_with_its_place(made):
    X = table(n=6, p=4, k=2)
    X[4, 1], X[3, 2] = -2.0, -0.5
    with pytest.raises(InputError, match=r"X has 2, the first -0.5 in row 3 .*, column 'x2'"):
        NonnegativeFactorization(2).fit(made(X))
    model = NonnegativeFactorization(2).fit(np.abs(X))
    with pytest.raises(InputError, match="Negative values in data"):
        model.transform(made(X))


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
def test_what_nobody_observed_is_refused(made):
    X = table(n=6, p=4, k=2)
    X[:, 2] = np.nan
    with pytest.raises(InputError, match="Column 'x2' of X has no observed entry"):
        NonnegativeFactorization(2).fit(made(X))
    X = table(n=6, p=4, k=2)
    model = NonnegativeFactorization(2).fit(X)
    X[5] = np.nan
    with pytest.raises(InputError, match="Row 5 of X"):
        NonnegativeFactorization(2).fit(made(X))
    with pytest.raises(InputError, match="Row 5 of X"):
        model.transform(made(X))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"beta_loss": "kullback-leibler"}, "use solver='mu'"),
        ({"init": "nndsvd", "n_components": 9}, "at most min.n, p. = 4 singular vectors"),
        ({"init": (np.ones((5, 2)), np.ones((2, 4)))}, r"need \(6, 2\) and \(2, 4\)"),
        ({"init": (-np.ones((6, 2)), np.ones((2, 4)))}, "finite and not negative"),
        ({"init": "nndsvdaa"}, "init='nndsvdaa'"),
        ({"init": 3}, "init is a word or a pair"),
        ({"n_components": 0}, "n_components=0"),
        ({"cv": 1, "n_components": "auto"}, "cv=1"),
        ({"alpha_W": -1.0}, "alpha_W=-1.0"),
    ],
)
def test_bad_parameters_are_refused(how, message):
    with pytest.raises((InputError, ParameterError), match=message):
        NonnegativeFactorization(**{"n_components": 2, **how}).fit(table(n=6, p=4, k=2))


def test_infinity_and_wrong_codes_are_refused():
    X = table(n=6, p=4, k=2)
    model = NonnegativeFactorization(2).fit(X)
    with pytest.raises(InputError, match="one column per component: 2"):
        model.inverse_transform(np.ones((3, 3)))
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        NonnegativeFactorization(2).fit(X)


def test_more_components_than_columns():
    X = table(n=10, p=4, k=2)
    model = NonnegativeFactorization(6, random_state=0, max_iter=2_000).fit(X)
    assert model.reconstruction_err_ < 0.01 * np.linalg.norm(X)


def test_names_results_and_round_trips():
    X = table()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    model = NonnegativeFactorization(2).set_output(transform="pandas").fit(frame)
    codes = model.transform(frame)
    assert codes.columns.tolist() == ["nonnegativefactorization0", "nonnegativefactorization1"]
    largest = frame.columns[np.argmax(model.components_[0])]
    assert f"{largest} " in model.summary().sections[0].columns["largest columns"][0]
    stored = skops.io.dumps(model)
    for again in (
        pickle.loads(pickle.dumps(model)),
        skops.io.loads(stored, trusted=trusted_types()),
    ):
        assert np.array_equal(again.transform(frame), codes)


def test_charts_show_parts_and_the_trace():
    model = NonnegativeFactorization(2).fit(table())
    cells = model.plot((3, 4)).to_dict()["data"]["values"]
    assert {cell["name"] for cell in cells} == {"component 1", "component 2"}
    heights = [row["y"] for row in model.plot_objective().to_dict()["data"]["values"]]
    assert heights == pytest.approx(model.objective_.tolist(), rel=1e-6)


def test_first_factors_may_be_given_to_fit_transform_as_in_scikit_learn():
    X, (W, H) = table(), start()
    how = {"tol": 1e-6, "max_iter": 500}
    before = NonnegativeFactorization(4, init=(W, H), **how).fit(X)
    for count in (4, "auto"):
        model = NonnegativeFactorization(count, init="custom", **how)
        codes = model.fit_transform(X, W=W, H=H)
        assert np.array_equal(codes, before.transform(X))
        assert np.array_equal(model.components_, before.components_)
        assert model.n_components_ == 4
    with pytest.raises(ParameterError, match="init='custom' starts from factors"):
        NonnegativeFactorization(4, init="custom").fit(X)
    with pytest.warns(DataWarning, match="count only together"):
        NonnegativeFactorization(4, **how).fit_transform(X, H=H)


def test_all_columns_and_losses_by_number():
    X = table(p=5)
    model = NonnegativeFactorization(None, random_state=0, tol=1e-3, max_iter=2000).fit(X)
    assert model.n_components_ == 5
    how = {"solver": "mu", "tol": 1e-3, "max_iter": 2000, "random_state": 0}
    for number, word in ((1, "kullback-leibler"), (2, "frobenius")):
        one, other = (
            NonnegativeFactorization(2, beta_loss=b, **how).fit(X) for b in (number, word)
        )
        assert np.array_equal(one.components_, other.components_)
    with pytest.raises(ParameterError, match="use solver='mu'"):
        NonnegativeFactorization(2, beta_loss=1).fit(X)
