"""The number of components: shares, parallel analysis, evidence and blocks held out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.latent import PCA
from bottega.latent._pca.gabriel import block_losses, column_blocks
from bottega.latent._pca.number import parallel_limits


def planted(n=120, p=10, rank=3, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(p, rank)))[0]
    return rng.normal(size=(n, rank)) * np.sqrt(p) @ V.T + noise * rng.normal(size=(n, p))


def test_every_rule_finds_a_planted_rank():
    for seed in range(3):
        X = planted(seed=seed)
        for rule in ("one_se", "parallel", "mle"):
            assert PCA("auto", select=rule).fit(X).n_components_ == 3
        # The least error is flat beyond the rank, and may be one further.
        assert PCA("auto", select="min").fit(X).n_components_ in (3, 4)


def test_the_error_of_rows_held_out_alone_would_always_fall():
    # Why columns are hidden too: projected by its own values a row gains with every component.
    X = planted()
    alone = [
        np.mean(PCA(k).fit(X[:80]).reconstruction_errors(X[80:])) for k in range(X.shape[1] + 1)
    ]
    assert np.all(np.diff(alone) < 0)
    curve = PCA().path(X)
    assert curve.estimate == "blocks"
    assert curve.values[curve.best("min")] == 3
    assert curve.error[6] > curve.error[3]


def test_blocks_equal_the_formula_by_pseudoinverse():
    X = planted(n=14, p=6, rank=2)
    train, test = np.arange(9), np.arange(9, 14)
    for table in (X, np.hstack([X, X**2, np.sin(X)])):  # tall, and wider than it has rows
        p = table.shape[1]
        blocks = column_blocks(p, 3)
        found = block_losses(table, None, train, test, blocks, 3, False)
        mean = table[train].mean(axis=0)
        expected = np.zeros((5, 4))
        for hidden in blocks:
            seen = np.setdiff1d(np.arange(p), hidden)
            A, T = table[train] - mean, table[test] - mean
            U, d, Vt = np.linalg.svd(A[:, seen], full_matrices=False)
            for k in range(4):
                pinv = Vt[:k].T @ np.diag(1 / d[:k]) @ U[:, :k].T
                gap = T[:, hidden] - T[:, seen] @ pinv @ A[:, hidden]
                expected[:, k] += np.sum(gap**2, axis=1)
        assert_allclose(found, expected, rtol=1e-8)


def test_more_components_than_columns_are_left_cannot_be_judged():
    curve = PCA().path(planted(p=4, rank=1))
    assert np.isnan(curve.error[-1])
    assert np.all(np.isfinite(curve.error[:4]))
    assert_allclose(curve.train_error[-1], 0, atol=1e-10)


def test_the_path_follows_the_discarded_eigenvalues():
    X = planted()
    curve = PCA().path(X, values=[5, 0, 2])
    assert curve.values.tolist() == [0, 2, 5]
    for i, k in enumerate(curve.values):
        assert curve.train_error[i] == pytest.approx(PCA(int(k)).fit(X).reconstruction_error_)
        assert curve.at(i).n_components_ == k
    with pytest.raises(ParameterError, match="whole numbers"):
        PCA().path(X, values=[0.5])
    with pytest.raises(InputError, match="at most 10"):
        PCA().path(X, values=[11])


def test_ninety_percent_rule_takes_the_first_that_reaches_it():
    # Variances 81, 9, 9, 1: two components have exactly 90 %.
    corners = np.repeat(np.eye(4), 2, axis=0) * np.tile([1, -1], 4)[:, None]
    X = corners * np.sqrt([81.0, 9.0, 9.0, 1.0])
    assert PCA("auto", select="share").fit(X).n_components_ == 2
    assert PCA(0.9).fit(X).n_components_ == 3  # scikit-learn's share: more than it


def test_parallel_analysis_keeps_nothing_of_noise():
    X = np.random.default_rng(6).normal(size=(100, 6)) * [1, 2, 3, 4, 5, 6]
    with pytest.warns(DataWarning, match="keeps no component"):
        model = PCA("auto", select="parallel", standardize=True).fit(X)
    assert model.transform(X).shape == (100, 0)


@pytest.mark.parametrize(("n", "p"), [(50, 4), (6, 12)])
@pytest.mark.parametrize("equal", [False, True])
def test_limits_of_parallel_analysis_are_those_of_shuffled_columns(n, p, equal):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, p)) * (1.0 if equal else np.linspace(1, 3, p))
    limits = parallel_limits(n, X.var(axis=0, ddof=1), count=3)
    found = []
    for _ in range(600):
        shuffled = rng.permuted(X, axis=0)
        found.append(np.sort(np.linalg.eigvalsh(np.cov(shuffled.T)))[::-1][:3])
    # The values of a column are not exactly normal, and the quantiles have standard errors of 2 %.
    assert_allclose(limits, np.quantile(found, 0.95, axis=0), rtol=0.12)


@pytest.mark.slow
def test_parallel_analysis_seldom_finds_anything_in_noise():
    # 300 tables with chance 0.05 each: over 8 % of them has a probability below 0.02.
    found = 0
    for seed in range(300):
        X = np.random.default_rng(seed).normal(size=(60, 4)) * [1, 1.5, 2, 2.5]
        limits = parallel_limits(60, X.var(axis=0, ddof=1), count=1)
        found += PCA(1).fit(X).explained_variance_[0] > limits[0]
    assert found <= 24


def test_too_little_to_hold_out_is_said():
    with pytest.raises(InputError, match="at least 2 columns"):
        PCA("auto").fit(np.arange(10.0)[:, None])
    with pytest.raises(InputError, match="needs at least 3"):
        PCA("auto").fit([[1.0, 2.0], [0.0, 1.0]])


def test_weights_take_part_in_the_choice():
    X = planted(n=60)
    w = np.ones(60)
    assert_allclose(PCA().path(X, sample_weight=2 * w).error, PCA().path(X).error, rtol=1e-9)
    other = PCA().path(X, sample_weight=np.where(np.arange(60) < 30, 1.0, 3.0))
    assert not np.allclose(other.error, PCA().path(X).error)


def test_wide_tables_are_judged_too():
    X = planted(n=20, p=60, rank=2, noise=0.3)
    assert PCA("auto").fit(X).n_components_ == 2


def test_the_frame_of_a_path_shows_shares_and_evidence_as_they_are():
    X = np.random.default_rng(0).normal(size=(80, 4)) * [4.0, 2.0, 1.0, 0.5]
    model = PCA().fit(X)
    curve = PCA().path(X)
    frame = curve.to_frame()
    np.testing.assert_allclose(
        frame["share"], np.r_[0, np.cumsum(model.explained_variance_ratio_)], atol=1e-12
    )
    known = np.isfinite(curve.criteria["mle"])
    np.testing.assert_array_equal(frame["mle"][known], -curve.criteria["mle"][known])
