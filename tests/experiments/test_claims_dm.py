"""The claims D-E1 to D-E40 and M-X1 to M-X55 that are entered: each bears its verdict out.

Seeds are fixed, so runs are the same every time. Each claim has at least one check of its numbers
by other means: a worked number of the notes, a brute force, a closed form, another package.
"""

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats
from sklearn.linear_model import LinearRegression, lars_path
from sklearn.tree import DecisionTreeClassifier

from bottega import experiments
from bottega.basis import Polynomial
from bottega.core.path import Path
from bottega.data import make
from bottega.ensemble import RandomForestClassifier
from bottega.ensemble.stack_weights import stack_weights
from bottega.experiments import (
    _designs,
    bayes,
    combinations_of_models,
    numerics,
    penalties,
    sampling_bias,
    tree_behavior,
    tree_limits,
)
from bottega.experiments._paired import errors_above
from bottega.linear import (
    BayesianRegression,
    Lasso,
    LeastSquares,
    PrincipalComponentsRegression,
    Ridge,
    SubsetSelection,
)
from bottega.online import Perceptron
from bottega.plot import dots_chart
from bottega.smooth import LocalRegression, SmoothingSpline, ball_volume, bands
from bottega.tree import TreeClassifier, TreeRegressor

CALLS = {
    claim.call.__name__: claim
    for claim in experiments.CLAIMS.values()
    if claim.id.startswith(("D-", "M-"))
}


@pytest.mark.parametrize("name", CALLS)
def test_claim_is_borne_out(name):
    claim = CALLS[name]
    found = claim.call()
    assert isinstance(found.holds, bool)
    assert found.holds, found.finding
    frame = found.to_frame()
    assert len(frame) > 1
    assert list(frame.columns) == list(found.columns)
    chart = found.plot().to_dict()
    assert chart["title"]["text"]
    assert claim.verdict.startswith(("holds", "wrong: "))
    assert getattr(experiments, name) is claim.call


def test_paired_differences():
    assert errors_above([2, 2], [1, 1]) == math.inf
    assert errors_above([1, 1], [1, 1]) == 0
    gap = [1.0, 2.0, 4.0]
    assert errors_above(gap, [0, 0, 0]) == pytest.approx(stats.ttest_1samp(gap, 0).statistic)


def test_dots_have_one_row_a_name_and_leave_out_what_is_no_number():
    chart = dots_chart(["a", "b"], {"x": [1.0, 2.0], "y": [np.nan, -1.0]}, x_title="n", title="t")
    rows = chart.to_dict()["data"]["values"]
    assert [(row["name"], row["series"], row["x"]) for row in rows] == [
        ("a", "x", 1.0),
        ("b", "x", 2.0),
        ("b", "y", -1.0),
    ]
    chart = dots_chart(["a", "b"], {"x": [0.0, 2.0]}, x_title="n", title="t", log_x=True)
    assert len(chart.to_dict()["data"]["values"]) == 1
    with pytest.raises(ValueError, match="shorter"):
        dots_chart(["a", "b"], {"x": [1.0]}, x_title="n", title="t")


# ---- samples ------------------------------------------------------------------------------------


def test_e1_identity_by_hand_and_the_election():
    """D18 for every choice of units of a population of six; D20 and D21 as printed."""
    x = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0])
    for chosen in product([0, 1], repeat=6):
        taken = np.array(chosen, dtype=bool)
        if 0 < taken.sum() < 6:
            f = taken.mean()
            rho = np.corrcoef(taken, x)[0, 1]
            error = np.sqrt((1 - f) / f) * x.std() * rho
            assert x[taken].mean() - x.mean() == pytest.approx(error)
    assert sampling_bias.effective_size(0.01, -0.005) == pytest.approx(404.04, abs=0.005)
    assert 1 / math.sqrt(230e6) == pytest.approx(6.59e-5, abs=5e-8)
    frame = experiments.big_biased_samples(sizes=(1000, 4000)).to_frame()
    z = np.sqrt(np.array([999, 3999])) * frame["correlation"]
    assert frame["z"].to_numpy() == pytest.approx(z.to_numpy())


def test_e2_p_values_are_those_of_simple_regressions():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    found = sampling_bias.slope_p_values(X, y)
    for j in range(4):
        assert found[j] == pytest.approx(stats.linregress(X[:, j], y).pvalue)
        assert found[j] == pytest.approx(LeastSquares().fit(X[:, [j]], y).tidy()["p_value"][1])


# ---- complexity ---------------------------------------------------------------------------------


def test_e3_without_noise_the_bias_is_what_a_projection_leaves():
    frame = experiments.overfitting_curve(rows=12, noise=0.0, repeats=2).to_frame()
    x = (np.arange(12) + 0.5) / 12
    truth = np.sin(2 * np.pi * x) + 0.5 * np.exp(x)
    for d in range(10):
        left = truth - np.polynomial.Legendre.fit(x, truth, d)(x)
        assert frame["squared bias"][d] == pytest.approx(np.mean(left**2), abs=1e-12)
        assert frame["variance"][d] == pytest.approx(0, abs=1e-20)


def test_e4_the_choice_of_aic_by_polyfit():
    frame = experiments.choosing_a_degree(repeats=1, seed=4).to_frame()
    x = (np.arange(60) + 0.5) / 60
    noise = np.random.default_rng(4).normal(size=(60, 1))
    y = np.sin(2 * np.pi * x) + 0.5 * np.exp(x) + 0.5 * noise[:, 0]
    rss = [np.sum((y - np.polynomial.Legendre.fit(x, y, d)(x)) ** 2) for d in range(11)]
    criterion = 60 * np.log(np.array(rss) / 60)
    degree = np.arange(11)
    for name, price in (("aic", 2), ("bic", math.log(60)), ("hq", 2 * math.log(math.log(60)))):
        assert frame[name][int(np.argmin(criterion + price * degree))] == 1
    p = degree + 2  # the scale is a parameter too
    corrected = criterion + 2 * p * 60 / (60 - p - 1)
    assert frame["aicc"][int(np.argmin(corrected))] == 1


def test_e28_shares_of_chi_squared():
    """D52: prices of 1 and 2 let a column of noise in with probabilities 0.317 and 0.157."""
    assert stats.chi2.sf([1, 2], 1) == pytest.approx([0.3173, 0.1573], abs=5e-5)
    frame = experiments.cost_of_a_superfluous_parameter(rows=2000, repeats=50).to_frame()
    at = dict(zip(frame["price"], frame["exact"], strict=True))
    assert [at[1.0], at[2.0]] == pytest.approx([0.3173, 0.1573], abs=1e-3)  # n is large


def test_x21_weights_are_those_of_polyfit():
    frame = experiments.weights_against_degree(seed=3).to_frame()
    x = np.linspace(0, 1, 10)
    y = np.sin(2 * np.pi * x) + 0.3 * np.random.default_rng(3).normal(size=10)
    for degree in (1, 3, 6):
        largest = np.max(np.abs(np.polyfit(x, y, degree)[:-1]))
        assert frame["no penalty"][degree - 1] == pytest.approx(largest, rel=1e-5)
    P = np.vander(x, 4, increasing=True)[:, 1:]
    centred = P - P.mean(axis=0)
    ridge = np.linalg.solve(centred.T @ centred + np.eye(3), centred.T @ (y - y.mean()))
    assert frame["ln(lambda) = 0"][2] == pytest.approx(np.max(np.abs(ridge)))


def test_x22_training_error_is_what_the_degrees_of_freedom_leave():
    """E RSS / n = sigma^2 (1 - 10/n) once the bias of degree 9 is negligible."""
    frame = experiments.more_data_less_overfitting(rows=(100, 1000), repeats=15).to_frame()
    expected = 0.3 * np.sqrt(1 - 10 / np.array([100, 1000]))
    # The median of 15 mean squares varies by about sqrt(2/n) 1.25 / sqrt(15) of itself: five.
    assert np.all(
        np.abs(frame["training"] / expected - 1) < 2.5 * 1.25 * np.sqrt(2 / frame["rows"] / 15)
    )


def test_x12_one_leaf_says_the_majority():
    frame = experiments.tree_depth_curve(rows=100, flip=0.0).to_frame()
    share = make.nested_spheres(100, seed=0).y.mean()
    assert frame["training"][0] == pytest.approx(max(share, 1 - share))
    assert frame["training"].iloc[-1] == 1


# ---- linear models ------------------------------------------------------------------------------


def test_e5_inflation_of_the_variance():
    X = _designs.equicorrelated_design(40, 2, 0.9, np.random.default_rng(0))
    assert np.linalg.inv(X.T @ X)[0, 0] == pytest.approx(1 / (40 * (1 - 0.81)))
    y = X.sum(axis=1) + np.random.default_rng(1).normal(size=40)
    assert np.asarray(LeastSquares().fit(X, y).vif()["vif"]) == pytest.approx(1 / (1 - 0.81))


def test_e6_the_exact_error_by_matrices():
    frame = experiments.ridge_beats_least_squares(
        repeats=3, samples=2, rows=30, inputs=4
    ).to_frame()
    X = _designs.equicorrelated_design(30, 4, 0.7, np.random.default_rng(0))
    b = np.full(4, 0.3)
    for alpha, exact in zip(frame["penalty"], frame["exact"], strict=True):
        A = np.linalg.solve(X.T @ X + alpha * np.eye(4), X.T)
        bias = A @ X @ b - b
        assert exact == pytest.approx(bias @ bias + np.trace(A @ A.T))


def test_e7_zeros_of_an_orthonormal_design():
    """D82: the lasso is soft thresholding, ridge division."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 4)))[0] * math.sqrt(20)
    y = Q @ [2.0, 0.3, -1.0, 0.1]
    lasso = Lasso(0.5, standardize=False, fit_intercept=False).fit(Q, y).coef_
    assert lasso == pytest.approx([1.5, 0, -0.5, 0], abs=1e-6)  # to a duality gap of 1e-6
    assert np.sum(lasso == 0) == 2
    ridge = Ridge(20.0, standardize=False, fit_intercept=False).fit(Q, y).coef_
    assert ridge == pytest.approx([1.0, 0.15, -0.5, 0.05])


@pytest.mark.parametrize("lean", [0.25, 0.45])
def test_e8_the_condition_is_three_times_the_lean(lean):
    X, _ = penalties.leaning_design(100_000, lean, 1.0, np.random.default_rng(0))
    weights = np.linalg.lstsq(X[:, :3], X[:, 3], rcond=None)[0]
    # Each weight has a standard error of 0.003 at most: four of their sum.
    assert weights.sum() == pytest.approx(3 * lean, abs=0.024)


def test_e9_steps_by_scikit_learn():
    frame = experiments.lasso_path_by_two_ways(designs=4, seed=2).to_frame()
    rng = np.random.default_rng(2)
    for r in range(4):
        X = _designs.correlated_design(60, 12, rng)
        y = X @ rng.normal(size=12) + rng.normal(size=60)
        alphas, _, _ = lars_path(X, y - y.mean(), method="lasso")
        assert frame["steps"][r] == len(alphas) - 1


def test_e25_two_rows_by_hand():
    """From (0, I) with rows x = 1, 2 and y = 1, 1: ridge with penalty 1 on (1, x)."""
    A, y = np.array([[1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 1.0])
    V, b = np.eye(2), np.zeros(2)
    for x, target in zip(A, y, strict=True):
        h = 1 / (1 + x @ V @ x)
        b = b + h * V @ x * (target - x @ b)
        V = V - h * np.outer(V @ x, x @ V)
    assert b == pytest.approx(np.linalg.solve(A.T @ A + np.eye(2), A.T @ y))


def test_e30_all_components_are_least_squares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * [8, 4, 2, 1]
    y = X @ [0.0, 0.0, 0.0, 1.0] + rng.normal(size=30)
    full = PrincipalComponentsRegression(4, standardize=False).fit(X, y)
    assert full.coef_ == pytest.approx(LinearRegression().fit(X, y).coef_)


def test_e31_the_rule_by_its_definition():
    path = Lasso(cv=5).path(*_sparse())
    least = int(np.argmin(path.error))
    limit = path.error[least] + path.error_se[least]
    inside = np.flatnonzero(path.error <= limit)
    assert path.best("one_se") == inside.min()
    assert isinstance(path, Path)


def _sparse():
    data = make.sparse_linear(60, features=10, nonzero=3, seed=1)
    return data.X, data.y


def test_e39_first_steps_by_brute_force():
    X, y = _sparse()
    forward = SubsetSelection(10, method="forward").fit(X, y)
    backward = SubsetSelection(10, method="backward").fit(X, y)

    def rss(columns):
        design = np.column_stack([np.ones(len(y)), X[:, list(columns)]])
        return float(np.linalg.lstsq(design, y, rcond=None)[1][0])

    assert forward.rss_[1] == pytest.approx(min(rss([j]) for j in range(10)))
    nine = [rss(each) for each in combinations(range(10), 9)]
    assert backward.rss_[9] == pytest.approx(min(nine))


def test_e37_both_ways_on_a_good_design():
    X, y = _sparse()
    theirs = np.linalg.lstsq(X, y, rcond=None)[0]
    for method in ("qr", "cholesky"):
        model = LeastSquares(method=method, fit_intercept=False).fit(X, y)
        assert model.coef_ == pytest.approx(theirs, rel=1e-9)


def test_e38_the_matrix_of_lauchli():
    """Columns (1, e, 0, 0), (1, 0, e, 0), (1, 0, 0, e) with e^2 lost beside 1.

    The printed formula leaves the last two at an angle of 60 degrees, the modified one nearly
    orthogonal.
    """
    e = 1e-8
    X = np.vstack([np.ones(3), e * np.eye(3)])
    Z = numerics.printed_gram_schmidt(X)
    Q = Z / np.linalg.norm(Z, axis=0)
    assert Q[:, 1] @ Q[:, 2] == pytest.approx(0.5, abs=1e-6)
    X = np.vstack([np.ones(3), 1e-4 * np.eye(3)])
    assert np.abs(_cosines(experiments.numerics.gram_schmidt(X, intercept=False)[0])).max() < 1e-10


def _cosines(Z):
    Q = Z / np.linalg.norm(Z, axis=0)
    return Q.T @ Q - np.eye(Q.shape[1])


# ---- smoothers ----------------------------------------------------------------------------------


def test_e10_local_error_at_the_best_bandwidth():
    """At its best the squared bias is a quarter of the variance: error 5/4 sigma^2 a / (n h)."""
    frame = experiments.rate_of_local_regression(rows=(1000, 3000)).to_frame()
    h, n = frame["bandwidth"], frame["n"]
    theory = 1.25 * 0.25 / (2 * math.sqrt(math.pi)) / (n * h)
    assert (frame["local"] / theory).to_numpy() == pytest.approx(1, abs=0.1)  # asymptotic


def test_e11_one_data_set_by_the_bands_of_the_package():
    found = experiments.undercoverage_of_bands(repeats=1, seed=3)
    x = ((np.arange(200) + 0.5) / 200)[:, None]

    def truth(x):
        return np.sin(2 * np.pi * x) + 1.5 * np.exp(-((x - 0.5) ** 2) / 0.002)

    y = truth(x[:, 0]) + 0.3 * np.random.default_rng(3).normal(size=(200, 1))[:, 0]
    grid = np.linspace(0.05, 0.95, 91)
    band = bands(LocalRegression(0.04, method="exact").fit(x, y), grid[:, None])
    inside = (band.lower <= truth(grid)) & (truth(grid) <= band.upper)
    assert np.asarray(found.columns["coverage of the truth"]) == pytest.approx(inside.astype(float))


def test_e21_printed_numbers_and_volumes():
    """D110 to D112 with the corrected volume of the ball."""
    frame = experiments.curse_of_dimensionality(inputs=(2, 3, 10, 20), repeats=8, rows=1000)
    theory = frame.to_frame()["theory"]
    assert theory[2] == pytest.approx(0.4831, abs=5e-5)
    assert theory[3] == pytest.approx(0.6951, abs=5e-5)
    assert ball_volume([2, 3, 10, 20]) == pytest.approx([3.1416, 4.1888, 2.5502, 0.02581], rel=2e-4)
    inside = frame.to_frame()["ball in cube"]
    assert inside[0] == pytest.approx(math.pi / 4)
    assert frame.to_frame()["edge of 1 %"][2] == pytest.approx(0.01**0.1)


def test_e22_one_error_by_weighted_least_squares():
    frame = experiments.kernel_and_bandwidth(rows=(100, 200), seed=1).to_frame()
    rng = np.random.default_rng(1)
    rng.uniform(size=100)
    x = np.sort(rng.uniform(size=200))
    grid = np.linspace(0.1, 0.9, 81)
    h = frame["bandwidth"][6] / math.sqrt(1 / 5)
    error = []
    for at in grid:
        t = (x - at) / h
        w = np.where(np.abs(t) < 1, 0.75 * (1 - t**2), 0)
        D = np.column_stack([np.ones(200), x - at])
        row = np.linalg.solve((D.T * w) @ D, D.T * w)[0]
        bias = row @ np.sin(2 * np.pi * x) - math.sin(2 * math.pi * at)
        error.append(bias**2 + 0.09 * row @ row)
    assert frame["epanechnikov"][6] == pytest.approx(np.mean(error))


def test_e32_degrees_of_freedom_are_the_trace():
    x = np.linspace(0, 1, 12)[:, None]
    model = SmoothingSpline(1e-3).fit(x, np.zeros(12))
    S = np.column_stack([SmoothingSpline(1e-3).fit(x, each).predict(x) for each in np.eye(12)])
    assert model.df_ == pytest.approx(np.trace(S), rel=1e-6)


def test_e40_one_neighbor_in_time():
    """y_t = a y_(t-1) + e: the mean square of y_t - y_(t-h) is 2 (1 - a^h).

    Held-out rows have both neighbours at hand at best, which are averaged as they are equally far:
    1 + (1 + a^2) / 2 - 2 a. The nearest kept row is one or two away nearly always.
    """
    frame = experiments.time_ordered_split(k=1, repeats=200, rows=200).to_frame()
    least = 1 + (1 + 0.95**2) / 2 - 2 * 0.95
    assert least < frame["random split"].mean() < 2 * (1 - 0.95**2)
    # Over 50 rows after the last one: the mean of 2 (1 - a^h). The mean over 200 series has a
    # standard error of about 0.1: four.
    theory = np.mean(2 * (1 - 0.95 ** np.arange(1, 51)))
    assert frame["future"].mean() == pytest.approx(theory, abs=0.45)
    assert frame["last part"].mean() == pytest.approx(theory, abs=0.45)


# ---- combined models ----------------------------------------------------------------------------


def test_e13_the_gain_of_noise_by_brute_force():
    """The best of 99 cuts of a normal column beats the only cut of a coin."""
    rng = np.random.default_rng(0)
    coin, noise, y = rng.integers(0, 2, 100), rng.normal(size=100), rng.normal(size=100)

    def gain(left):
        parts = [y[left], y[~left]]
        return y.var() - sum(len(each) * each.var() for each in parts) / 100

    cuts = np.sort(noise)[:-1]
    best = max(gain(noise <= cut) for cut in cuts)
    for column, expected in ((coin, gain(coin == 0)), (noise, best)):
        stump = TreeRegressor(0.0, max_leaves=2).fit(column[:, None].astype(float), y)
        assert stump.importance_[0] == pytest.approx(expected)
    assert best > gain(coin == 0)


def test_e15_the_bayes_risk_of_the_spheres():
    low, high = stats.chi2.cdf([9, 16], 4)
    assert make.nested_spheres(1).bayes_risk == pytest.approx((high - low) / 2)
    assert make.nested_spheres(1).bayes_risk == pytest.approx(0.02904, abs=5e-6)


def test_e16_variance_of_single_trees_by_a_loop():
    frame = experiments.bagging_bias_and_variance(repeats=3, points=20, models=2).to_frame()
    new = make.friedman1(20, seed=999)
    said = []
    for seed in range(3):
        data = make.friedman1(150, seed=seed)
        said.append(TreeRegressor(0.0).fit(data.X, data.y).predict(new.X))
    variance = np.var(said, axis=0, ddof=1).mean()
    assert frame["variance, tree"].iloc[-1] == pytest.approx(variance)
    gap = np.mean((np.mean(said, axis=0) - new.bayes(new.X)) ** 2)
    assert frame["bias^2, tree"].iloc[-1] == pytest.approx(gap - variance / 3)


def test_e17_the_curve_ends_at_the_forest():
    frame = experiments.forest_convergence(rows=100, trees=10, points=200, seed=5).to_frame()
    data, new = (make.nested_spheres(n, useless=6, seed=s) for n, s in ((100, 5), (200, 6)))
    forest = RandomForestClassifier(3, n_trees=10, random_state=5).fit(data.X, data.y)
    assert frame["test"].iloc[-1] == np.mean(forest.predict(new.X) != new.y)


def test_e33_weights_satisfy_the_conditions_of_the_optimum():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(30, 3)), rng.normal(size=30)
    w = stack_weights(A, b)
    assert w == pytest.approx(optimize.nnls(A, b)[0])
    gradient = A.T @ (A @ w - b)
    assert np.all(gradient > -1e-9)
    assert w @ gradient == pytest.approx(0, abs=1e-9)
    x = np.linspace(0, 1, 20)[:, None]
    y = rng.normal(size=20)
    designs = [Polynomial(d).fit(x).transform(x) for d in (1, 3, 6)]
    fits = np.column_stack([LeastSquares().fit(each, y).predict(each) for each in designs])
    # Nested models: on fitted values the largest is already the best combination.
    assert np.linalg.lstsq(fits, y, rcond=None)[0] == pytest.approx([0, 0, 1], abs=1e-9)


def test_e34_five_leaves_make_a_box():
    X = np.array(list(product(np.linspace(0, 1, 21), repeat=2)))
    y = np.all((X > 0.25) & (X < 0.8), axis=1)
    tree = TreeClassifier(0.0).fit(X, y)
    assert np.all(tree.predict(X) == y)
    assert tree.tree_.n_leaves == 5


def test_e35_the_ring_and_its_best_error():
    """Radii overlap in [0.45, 0.55]: the best rule errs there on class 0, (0.1 / 0.75) / 2."""
    X, y = combinations_of_models._ring(200_000, 0.5, np.random.default_rng(0))
    radius = np.hypot(X[:, 0], X[:, 1])
    assert np.mean((radius < 0.55) != (y == 1)) == pytest.approx(0.1 / 0.75 / 2, abs=0.003)
    assert radius[y == 1].max() <= 0.55
    assert radius[y == 0].min() >= 0.45


def test_e36_no_first_split_gains_on_the_grid():
    ticks = np.linspace(-1, 1, 10)
    X = np.array(list(product(ticks, repeat=2)))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    for j in range(2):
        for cut in ticks[:-1]:
            assert np.mean(y[X[:, j] <= cut]) == 0.5
    assert tree_limits.least_errors(X, y, 2) == 0
    assert tree_limits.least_errors(X, y, 1) == 50


# ---- trees --------------------------------------------------------------------------------------


def test_e26_partitions_that_refine():
    coarse = np.array([0, 0, 0, 1, 1])
    assert tree_behavior._refines(np.array([0, 0, 1, 2, 2]), coarse)
    assert not tree_behavior._refines(np.array([0, 0, 1, 1, 2]), coarse)


def test_e29_the_same_roots_in_scikit_learn():
    for seed in range(5):
        data = make.nested_spheres(300, seed=seed)
        for criterion in ("gini", "entropy"):
            ours = TreeClassifier(0.0, criterion=criterion, max_leaves=2).fit(data.X, data.y)
            theirs = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(data.X, data.y)
            assert ours.tree_.feature[0] == theirs.tree_.feature[0]
            assert ours.tree_.threshold[0] == pytest.approx(theirs.tree_.threshold[0])


def test_x9_and_x10_the_numbers_of_the_notes():
    frame = experiments.blind_error_rate().to_frame()
    assert frame["error rate"].tolist() == [0.25, 0.25, 0.0]
    assert frame["Gini"].tolist() == pytest.approx([0.125, 1 / 6, 0.053333], abs=1e-6)
    assert frame["entropy"].tolist() == pytest.approx([0.188722, 0.311278, 0.170951], abs=1e-6)


def test_x11_an_identifier_gains_all_there_is():
    y = np.array([0, 1, 1, 0, 1, 0, 0, 1])
    X = np.column_stack([np.arange(8.0)])
    tree = TreeClassifier(0.0, categorical=[0], max_leaves=2).fit(X, y)
    assert tree.tree_.gain[0] == pytest.approx(tree.tree_.impurity[0])
    # A category of two levels has one split; with q levels, 2^(q - 1) - 1 of them.
    assert 2 ** (8 - 1) - 1 == 127


def test_x13_gains_on_a_balanced_xor():
    X = np.array(list(product([-1.0, 1.0], repeat=2)))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    assert TreeClassifier(0.0, min_gain=1e-12).fit(X, y).tree_.n_leaves == 1
    # After the first split each half is pure by the second column.
    assert TreeClassifier(0.0).fit(X[X[:, 0] > 0], y[X[:, 0] > 0]).tree_.n_leaves == 2


def test_x14_roots_by_brute_force():
    data = make.two_gaussians(20, distance=2.0, features=3, seed=1)
    n, best = len(data.y), None
    for j in range(3):
        order = np.sort(data.X[:, j])
        for cut in (order[:-1] + order[1:]) / 2:
            left = data.X[:, j] <= cut
            loss = sum(
                each.sum() * data.y[each].mean() * (1 - data.y[each].mean())
                for each in (left, ~left)
            )
            if best is None or loss < best[0] - 1e-12:
                best = (loss, j, cut)
    assert best is not None
    root = tree_behavior._root(data.X, data.y)
    assert root == (best[1], pytest.approx(best[2]))
    assert n == 20


def test_x15_what_neighbors_keep():
    frame = experiments.tree_or_neighbors(rows=(100, 200)).to_frame()
    assert frame["stored, neighbours"].tolist() == [300, 600]  # two inputs and a label a row
    assert frame["comparisons, neighbours"].tolist() == [100, 200]


def test_x16_the_best_tree_by_enumeration():
    """All trees of two levels on eight rows of two columns, written out."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(8, 2)), rng.integers(0, 2, 8)

    def errors(rows):
        return min(y[rows].sum(), len(rows) - y[rows].sum()) if len(rows) else 0

    def one(rows):
        return min(
            [errors(rows)]
            + [
                errors(rows[X[rows, j] <= cut]) + errors(rows[X[rows, j] > cut])
                for j in range(2)
                for cut in X[rows, j]
            ]
        )

    every = np.arange(8)
    best = min(
        one(every[X[:, j] <= cut]) + one(every[X[:, j] > cut]) for j in range(2) for cut in X[:, j]
    )
    assert tree_limits.least_errors(X, y, 2) == best
    assert tree_limits.least_errors(X, y, 1) == one(every)


# ---- neighbours and rare classes ----------------------------------------------------------------


def test_x1_one_neighbor_errs_as_its_labels():
    """With error e on right labels, labels wrong in a share q give e (1 - q) + (1 - e) q."""
    frame = experiments.one_neighbor_and_noise().to_frame()
    e = 1 - frame["k = 1"][0]
    for q, right in zip(frame["wrong labels"], frame["k = 1"], strict=True):
        # Six training sets of 300: the share of new rows near a wrong label varies by 0.012.
        assert 1 - right == pytest.approx(e * (1 - q) + (1 - e) * q, abs=0.05)


def test_x2_votes_of_the_notes():
    """M106: 6 votes against 4 with a ratio of 4 are 6 against 16."""
    from bottega.neighbors import NearestNeighborsClassifier

    X = np.repeat([[0.0], [9.0]], [10, 10], axis=0)
    y = np.array([0] * 6 + [1] * 4 + [0] * 10)
    model = NearestNeighborsClassifier(10, weights="cost").fit(X, y)
    assert model.predict_proba([[0.0]])[0] == pytest.approx([6 / 22, 16 / 22])
    assert model.predict([[0.0]]) == [1]
    assert NearestNeighborsClassifier(10).fit(X, y).predict([[0.0]]) == [0]


def test_x3_all_positive_by_counting():
    frame = experiments.all_positive(points=500, rows=200, k=20).to_frame()
    y = make.two_gaussians(500, prior=0.2, seed=1).y
    assert frame["recall"].iloc[-1] == 1
    assert frame["precision"].iloc[-1] == y.mean()


def test_x4_nine_in_ten():
    frame = experiments.constant_predictor(shares=(0.9, 0.5, 0.7, 0.8, 0.95)).to_frame()
    y = make.two_gaussians(2000, prior=0.1, distance=1.0, seed=1).y
    assert frame["constant"][0] == np.mean(y == 0)
    assert np.mean(np.repeat([0, 1], [90, 10]) == 0) == 0.9


def test_x5_random_parts_without_the_rare_class():
    """The share of the notes' urn: hypergeometric, as scipy has it."""
    found = experiments.stratified_splits(repeats=20)
    expected = stats.hypergeom(60, 6, 15).pmf(0)
    assert special.comb(54, 15) / special.comb(60, 15) == pytest.approx(expected)
    assert f"theory {expected:.0%}" in found.finding
    assert set(np.round(np.asarray(found.columns["stratified"]) * 15)) <= {1.0, 2.0}


def test_x6_two_rows_by_hand():
    """E3: with variances 4 and 1 and no correlation, (2, 1) from the origin is sqrt(1 + 1) away."""
    from bottega.neighbors import NeighborSearch

    corners = np.array([[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]])
    scale = np.sqrt(4 / 3)  # divisor n - 1
    found = NeighborSearch(corners, "mahalanobis").distances(np.zeros((1, 2)))[0]
    assert found == pytest.approx(np.full(4, np.sqrt(2) / scale))


def test_x7_nearest_rows_by_brute_force():
    frame = experiments.stripes_of_a_wide_column(repeats=1, points=50, rows=20, seed=2).to_frame()
    rng = np.random.default_rng(2)
    unit, fresh = rng.uniform(size=(20, 2)), rng.uniform(size=(50, 2))
    for i, width in enumerate(frame["range of x1"]):
        A, B = unit * [width, 6.0], fresh * [width, 6.0]
        nearest = np.argmin(((B[:, None] - A) ** 2).sum(axis=2), axis=1)
        wrong = np.mean((unit[nearest, 1] > 0.5) != (fresh[:, 1] > 0.5))
        assert frame["raw"][i] == pytest.approx(wrong)


# ---- Bayes --------------------------------------------------------------------------------------


def test_x17_worked_numbers():
    """M324: 4 and 8, then 304 and 306, with a = b = 5; M315: two heads give 0.4 where ML is 0."""
    assert bayes.estimates(4, 8, 5, 5) == pytest.approx((0.333333, 0.4, 0.409091), abs=1e-6)
    assert bayes.estimates(304, 306, 5, 5) == pytest.approx(
        (0.498361, 0.498382, 0.498387), abs=1e-6
    )
    assert bayes.estimates(0, 2, 5, 5) == pytest.approx((0, 0.4, 5 / 12))


def test_x18_a_truncated_posterior():
    theta = (np.arange(2001) + 0.5) / 2001
    found = bayes.grid_posterior(theta, np.where(theta < 0.6, 1.0, 0.0), 8, 2)
    mean = integrate.quad(lambda t: t * t**8 * (1 - t) ** 2, 0, 0.6)[0]
    mass = integrate.quad(lambda t: t**8 * (1 - t) ** 2, 0, 0.6)[0]
    assert found @ theta == pytest.approx(mean / mass, abs=2e-4)  # the grid's edge is off by 1e-4
    assert found[theta >= 0.6].sum() == 0


def test_x19_an_overlap_by_quadrature():
    frame = experiments.posterior_leaves_prior(flips=(5, 20)).to_frame()
    after, likelihood = stats.beta(12 + 4, 4 + 16), stats.beta(5, 17)
    overlap = integrate.quad(lambda t: min(after.pdf(t), likelihood.pdf(t)), 0, 1, limit=200)[0]
    assert frame["overlap with the likelihood"][1] == pytest.approx(overlap, abs=1e-4)


def test_x20_the_mode_by_optimisation():
    for tails, heads, a, b in ((3, 7, 1, 1), (3, 7, 5, 5), (10, 40, 2, 3)):
        best = optimize.minimize_scalar(
            lambda t, p=(tails + a, heads + b): -stats.beta.logpdf(t, *p),
            bounds=(1e-6, 1 - 1e-6),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert bayes.estimates(tails, heads, a, b)[1] == pytest.approx(best.x, abs=1e-6)


def test_x24_to_x26_by_the_formulas():
    """M426 and M432: S^-1 = S0^-1 + beta F'F, m = beta S F'y, variance 1/beta + f'S f."""
    rng = np.random.default_rng(0)
    F, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    alpha, beta = 2.0, 5.0
    model = BayesianRegression(alpha, beta, fit_intercept=False).fit(F, y)
    S = np.linalg.inv(alpha * np.eye(3) + beta * F.T @ F)
    assert model.coef_ == pytest.approx(beta * S @ F.T @ y)
    ridge = np.linalg.solve(F.T @ F + alpha / beta * np.eye(3), F.T @ y)
    assert model.coef_ == pytest.approx(ridge)
    parts = BayesianRegression(alpha, beta, fit_intercept=False)
    for rows in ([0], [1, 2, 3], list(range(4, 12))):
        parts.partial_fit(F[rows], y[rows])
    assert parts.covariance_ == pytest.approx(S)
    f = np.array([[1.0, -1.0, 2.0]])
    std = model.predict(f, return_std=True)[1]
    assert std**2 == pytest.approx(1 / beta + f[0] @ S @ f[0])


def test_x27_bayesian_intervals_are_right_by_construction():
    """y - mean has variance 1/beta + f'S f when the truth is drawn from the prior."""
    rng = np.random.default_rng(1)
    F = np.column_stack([np.ones(6), rng.uniform(size=6)])
    f, beta = np.array([1.0, 3.0]), 25.0
    S = np.linalg.inv(np.eye(2) + beta * F.T @ F)
    w = rng.normal(size=(20_000, 2))
    y = w @ F.T + 0.2 * rng.normal(size=(20_000, 6))
    gap = w @ f + 0.2 * rng.normal(size=20_000) - y @ (beta * F @ S @ f)
    inside = np.mean(np.abs(gap) < 1.959964 * np.sqrt(1 / beta + f @ S @ f))
    assert inside == pytest.approx(0.95, abs=0.0065)  # four standard errors


# ---- linear classifiers -------------------------------------------------------------------------


def test_x28_the_boundary_of_least_squares_by_hand():
    """Labels 0, 1, 1 at -1, 1 and F: the line crosses 1/2 at a place that moves with F."""
    places = {}
    for far in (1.0, 9.0):
        x = np.array([-1.0, 1.0, far])
        slope, level = np.polyfit(x, [0.0, 1.0, 1.0], 1)
        model = LeastSquares().fit(x[:, None], np.array([0.0, 1.0, 1.0]))
        assert model.coef_[0] == pytest.approx(slope)
        places[far] = (0.5 - level) / slope
    assert places[1.0] == pytest.approx(0)  # midway
    assert places[9.0] > 0.5  # pulled towards the far point, past the middle


def test_x29_a_trace_by_hand():
    """The first row of each order is all it needs: two orders, two planes."""
    X, y = np.array([[1.0, 0.5], [0.2, 1.0], [-1.0, -1.0]]), np.array([1, 1, -1])
    found = {}
    for order in ([0, 1, 2], [1, 2, 0]):
        w, clean = np.zeros(2), False
        while not clean:
            clean = True
            for i in order:
                if y[i] * (w @ X[i]) <= 0:
                    w, clean = w + y[i] * X[i], False
        model = Perceptron(epochs="auto", fit_intercept=False).fit(X[order], y[order])
        assert model.coef_[0] == pytest.approx(w)
        found[tuple(order)] = w / np.linalg.norm(w)
    first, second = found.values()
    assert abs(first @ second) < 1 - 1e-6  # another plane


def test_x30_the_plane_over_the_cone():
    """Rings of radius at most 1 and at least 1.3: -sqrt(x1^2 + x2^2) > -1.15 tells them apart."""
    rng = np.random.default_rng(0)
    angle, inner = rng.uniform(0, 2 * np.pi, 50), np.repeat([True, False], 25)
    radius = np.where(inner, 0.9, 1.4)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    for lifted, at in ((-np.linalg.norm(X, axis=1), -1.15), (-np.sum(X**2, axis=1), -1.3)):
        assert np.array_equal(lifted > at, inner)


def test_x33_descent_by_another_route():
    frame = experiments.diverging_logistic(steps=50, rows=20).to_frame()
    data = make.separable(20, margin=0.1, seed=0)
    sign, w = 2 * data.y - 1, np.zeros(2)
    norms = []
    for _ in range(50):
        w = w + (special.expit(-sign * (data.X @ w)) * sign) @ data.X / 20
        norms.append(np.linalg.norm(w))
    assert frame["separable"].tolist() == pytest.approx([norms[t - 1] for t in frame["steps"]])


def test_x43_five_rows_by_hand():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.5], [0.5, -1.0]])
    y = np.array([1, 1, -1, 1, -1])
    w = np.zeros(3)
    for x, label in zip(np.column_stack([X, np.ones(5)]), y, strict=True):
        if label * (w @ x) < 1e-9:
            w = w + label * x
    model = Perceptron(epochs=1).fit(X, y)
    assert np.append(model.coef_[0], model.intercept_[0]) == pytest.approx(w)


def test_x55_areas_by_scikit_learn():
    frame = experiments.ambiguous_regions(grid=60).to_frame()
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    centers = np.array([[0.0, 1.0], [-0.9, -0.5], [0.9, -0.5]])
    shape = np.array([[0.8, 0.2], [0.2, 0.6], [0.5, 0.3]])
    X = centers[y] + shape[y] * rng.normal(size=(90, 2))
    ticks = np.linspace(-2, 2, 60)
    points = np.array([(a, b) for b in ticks for a in ticks])
    score = LinearRegression().fit(X, np.eye(3)[y]).predict(points)
    count = (score > 0.5).sum(axis=1)
    assert frame["share of the square"][0] == pytest.approx(np.mean(count == 0))
    assert frame["share of the square"][1] == pytest.approx(np.mean(count > 1))
