"""Nested cross-validation: choices, errors, intervals."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bottega.core.errors import InputError, ParameterError
from bottega.core.folds import make_folds
from bottega.data import make
from bottega.linear import Lasso, LeastSquares, PrincipalComponentsRegression, Ridge
from bottega.neighbors import NearestNeighborsClassifier, NearestNeighborsRegressor
from bottega.risk import cross_validate, nested_cv
from bottega.risk.estimate.nested_interval import nadeau_bengio, naive, nested
from bottega.tree import TreeClassifier, TreeRegressor

LINE = make.sparse_linear(60, n_features=8, n_informative=3, random_state=3)
CLASSES = make.two_gaussians(90, random_state=5)
FOLDS = list(KFold(5, shuffle=True, random_state=0).split(LINE.X))


class Lines(RegressorMixin, BaseEstimator):
    """Least squares by the normal equations: what the simulations can afford thousands of."""

    def fit(self, X, y):
        self.coef_ = np.linalg.solve(X.T @ X, X.T @ y)
        return self

    def predict(self, X):
        return X @ self.coef_


# ---- the interval --------------------------------------------------------------------------------


def test_the_nested_interval_is_the_algorithm_of_bates_hastie_and_tibshirani():
    """Their algorithm written down again, with a model for each ordered pair of folds."""
    X, y = LINE.X, LINE.y
    tests = [test for _, test in FOLDS]
    K = len(tests)

    def losses(left_out, rows):
        train = np.setdiff1d(np.arange(60), np.concatenate([tests[i] for i in left_out]))
        model = LinearRegression().fit(X[train], y[train])
        return (y[rows] - model.predict(X[rows])) ** 2

    es, a_list, b_list, out = [], [], [], []
    for k in range(K):
        e_in = np.concatenate([losses([k, j], tests[j]) for j in range(K) if j != k])
        e_out = losses([k], tests[k])
        a_list.append((e_in.mean() - e_out.mean()) ** 2)
        b_list.append(e_out.var(ddof=1) / len(e_out))
        es.append(e_in)
        out.append(e_out)
    out, es = np.concatenate(out), np.concatenate(es)
    se2 = out.var(ddof=1) / 60
    mse = np.clip((K - 1) / K * (np.mean(a_list) - np.mean(b_list)), se2, K * se2)
    bias = (1 + (K - 2) / K) * (es.mean() - out.mean())
    half = stats.norm.ppf(0.95) * np.sqrt(mse)
    found = nested_cv(LinearRegression(), X, y, outer=FOLDS, delta=0.1)
    assert found.estimate == pytest.approx(es.mean() - bias)
    assert (found.lower, found.upper) == pytest.approx((es.mean() - bias - half,
                                                       es.mean() - bias + half))  # fmt: skip
    assert found.inflation == pytest.approx(np.sqrt(mse / se2))


def test_the_correction_for_fewer_rows_is_right_where_the_excess_is_one_over_n():
    """If the risk with m rows is 1 + 7/m, the centre is the risk with all rows."""
    n, k = 120, 6
    risk = {m: 1 + 7 / m for m in (80, 100, 120)}
    outer = [[np.full(20, risk[100]) for _ in range(k)]]
    inner = [{(i, j): np.full(20, risk[80]) for i in range(k) for j in range(k) if i != j}]
    assert nested(outer, inner, 0.1).estimate == pytest.approx(risk[n])


def test_the_mean_square_error_is_kept_within_its_limits():
    rng = np.random.default_rng(0)
    outer = [[rng.normal(size=10) + 10 * i for i in range(4)]]  # folds far apart: large a
    inner = [{(i, j): outer[0][j] for i in range(4) for j in range(4) if i != j}]
    assert nested(outer, inner, 0.1).inflation == pytest.approx(2.0)  # root of K = 4
    same = [[rng.permutation(10.0 * np.arange(8)) for _ in range(4)]]  # equal means: a = 0
    inner = [{(i, j): same[0][j] for i in range(4) for j in range(4) if i != j}]
    assert nested(same, inner, 0.1).inflation == pytest.approx(1.0)


def test_nadeau_and_bengio_and_the_naive_interval_are_their_formulas():
    found = nested_cv(Ridge(), LINE.X, LINE.y, outer=FOLDS, interval="nadeau_bengio", delta=0.1)
    errors = found.fold_errors[0]
    spread = np.sqrt((1 / 5 + 12 / 48) * errors.var(ddof=1))
    half = stats.t.ppf(0.95, 4) * spread
    assert (found.lower, found.upper) == pytest.approx((errors.mean() - half, errors.mean() + half))
    plain = nested_cv(Ridge(), LINE.X, LINE.y, outer=FOLDS, interval="naive", delta=0.1)
    half = stats.norm.ppf(0.95) * plain.losses[0].std(ddof=1) / np.sqrt(60)
    assert plain.upper - plain.estimate == pytest.approx(half)
    np.testing.assert_array_equal(plain.fold_errors, found.fold_errors)


def test_more_partitions_do_not_shorten_nadeau_and_bengios_interval():
    rng = np.random.default_rng(0)
    folds = [rng.exponential(size=10) for _ in range(5)]
    one = nadeau_bengio([folds], [[40] * 5], 0.1)
    ten = nadeau_bengio([folds] * 10, [[40] * 5] * 10, 0.1)
    assert ten.upper - ten.lower == pytest.approx(one.upper - one.lower)
    assert naive([folds] * 10, 0.1).std_error == pytest.approx(naive([folds], 0.1).std_error)


@pytest.mark.slow
def test_the_nested_interval_covers_where_the_naive_one_does_not():
    """Least squares on 20 useless inputs, n = 60; the risk of each fit is 1 + |b|^2 exactly.

    At delta = 0.1 and 400 samples, an interval that misses with probability 0.1 misses more than
    70 times with a probability below 1e-5 (Binomial, sd 6). Cross-validation with independent
    losses misses in about 30 %: fewer than 80 would come with a probability below 1e-5 then.
    """
    rng = np.random.default_rng(0)
    misses = {"nested": 0, "nadeau_bengio": 0, "naive": 0}
    for _ in range(400):
        X, y = rng.normal(size=(60, 20)), rng.normal(size=60)
        risk = 1 + np.sum(Lines().fit(X, y).coef_ ** 2)
        for interval in misses:
            repeats = 3 if interval == "nested" else 1
            seed = int(rng.integers(2**31))
            found = nested_cv(
                Lines(), X, y, interval=interval, n_repeats=repeats, delta=0.1, random_state=seed
            )
            misses[interval] += not found.lower <= risk <= found.upper
    assert misses["nested"] <= 70
    assert misses["nadeau_bengio"] <= 70
    assert misses["naive"] >= 80


# ---- choices and errors --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (Ridge(), np.logspace(-2, 3, 12)),
        (Lasso(), np.logspace(-3, 0, 10)),
        (NearestNeighborsRegressor(), [1, 3, 7, 15]),
        (PrincipalComponentsRegression(), [1, 2, 4, 6]),
    ],
)
@pytest.mark.parametrize("rule", ["min", "one_se"])
def test_each_fold_chooses_from_the_path_of_its_training_rows(model, grid, rule):
    """A51 by hand: the rule on the inner curve, the model at its value, the outer error."""
    inner = KFold(5)
    found = nested_cv(
        model, LINE.X, LINE.y, select=rule, outer=FOLDS, inner=inner, values=grid, interval="naive"
    )
    for k, (train, test) in enumerate(FOLDS):
        curve = model.path(LINE.X[train], LINE.y[train], values=grid, cv=inner)
        best = curve.best(rule)
        fitted = curve.at(best)
        assert found.values[k] == curve.values[best]
        assert found.inner_least[0, k] == pytest.approx(curve.error.min())
        error = np.mean((LINE.y[test] - fitted.predict(LINE.X[test])) ** 2)
        assert found.fold_errors[0, k] == pytest.approx(error)
    assert found.error == pytest.approx(found.fold_errors.mean())
    assert found.optimism == pytest.approx(np.mean(found.fold_errors - found.inner_least))


def test_choices_and_errors_are_those_of_scikit_learns_grid_search():
    grid = np.logspace(-2, 3, 12).tolist()
    ours = nested_cv(
        Ridge(), LINE.X, LINE.y, select="min", outer=FOLDS, inner=KFold(5), values=grid,
        interval="naive",
    )  # fmt: skip
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PeerRidge()),
        {"ridge__alpha": grid},
        cv=KFold(5),
        scoring="neg_mean_squared_error",
    )
    theirs = nested_cv(search, LINE.X, LINE.y, outer=FOLDS, interval="naive")
    assert ours.values == [pytest.approx(each["ridge__alpha"]) for each in theirs.settings]
    # 1e-9: two ways of solving the same equations.
    np.testing.assert_allclose(ours.fold_errors, theirs.fold_errors, rtol=1e-9)
    # Ours is a mean over rows; scikit-learn's is the mean of the fold means.
    curves = [Ridge().path(LINE.X[r], LINE.y[r], values=grid, cv=KFold(5)) for r, _ in FOLDS]
    np.testing.assert_allclose(ours.inner_least[0], [curve.error.min() for curve in curves])
    least = [curve.fold_error.mean(axis=0).min() for curve in curves]
    np.testing.assert_allclose(least, theirs.inner_least[0], rtol=1e-9)


@pytest.mark.parametrize("model", [Lasso(), TreeRegressor()])
def test_a_method_with_folds_of_its_own_is_given_the_inner_ones(model):
    found = nested_cv(model, LINE.X, LINE.y, outer=FOLDS, inner=4, interval="naive", select="min")
    train = FOLDS[0][0]
    own = type(model)(cv=4).path(LINE.X[train], LINE.y[train])
    assert found.values[0] == own.values[own.best("min")]
    assert found.inner_least[0, 0] == pytest.approx(own.error.min())


def test_inner_folds_are_dealt_alike_for_all_methods_or_left_to_the_method():
    train = FOLDS[0][0]
    X, y = LINE.X[train], LINE.y[train]
    found = nested_cv(Ridge(), LINE.X, LINE.y, outer=FOLDS, inner=4, interval="naive")
    dealt = Ridge().path(X, y, cv=make_folds(4, len(y), X=X, y=y))
    assert found.inner_least[0, 0] == pytest.approx(dealt.error.min())
    exact = nested_cv(Ridge(), LINE.X, LINE.y, outer=FOLDS, inner=None, interval="naive")
    assert exact.inner_least[0, 0] == pytest.approx(Ridge().path(X, y).error.min())


@pytest.mark.parametrize("model", [LeastSquares(), LinearRegression(), Ridge(alpha=2.0)])
def test_without_a_choice_it_is_plain_cross_validation(model):
    found = nested_cv(model, LINE.X, LINE.y, outer=FOLDS)
    plain = cross_validate(model, LINE.X, LINE.y, cv=FOLDS)
    np.testing.assert_allclose(found.fold_errors[0], plain.fold_errors)
    np.testing.assert_allclose(found.predictions[0], plain.predictions)
    assert found.values == [None] * 5
    assert np.isnan(found.optimism)


def test_a_pipeline_that_tunes_itself_tells_what_it_chose():
    found = nested_cv(
        make_pipeline(StandardScaler(), NearestNeighborsRegressor()),
        LINE.X, LINE.y, outer=FOLDS, interval="naive",
    )  # fmt: skip
    assert all(isinstance(value, int) for value in found.values)
    assert np.all(found.inner_least > 0)


@pytest.mark.parametrize(
    "model",
    [
        NearestNeighborsClassifier(),
        TreeClassifier(),
        LogisticRegression(),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}),
    ],
)
def test_classes_are_judged_by_misclassification(model):
    labels = np.where(CLASSES.y == 1, "yes", "no")
    found = nested_cv(model, CLASSES.X, labels, n_repeats=1, inner=5)
    wrong = found.predictions[0] != labels
    assert found.error == pytest.approx(wrong.mean())  # five folds of 18
    assert 0 <= found.lower <= found.estimate <= found.upper <= 1
    assert found.loss == "misclassification"
    assert set(found.refit().predict(CLASSES.X)) == {"no", "yes"}


def test_the_least_inner_error_is_too_low():
    """E18: 40 samples of pure noise, many neighbours to choose from.

    Every rule has risk 1/2 here, and the promised error lies 0.15 below it: its mean over 40
    samples is some 19 standard errors away (measured on other seeds). Below 5 would need a fall
    of 14 of them, which has a probability far below 1e-9.
    """
    gaps = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, size=40)
        found = nested_cv(
            NearestNeighborsClassifier(),
            X,
            y,
            select="min",
            interval="naive",
            n_repeats=1,
            random_state=seed,
        )
        gaps.append(0.5 - found.inner_least.mean())
    gaps = np.array(gaps)
    assert gaps.mean() / (gaps.std(ddof=1) / np.sqrt(40)) > 5


def test_refit_chooses_on_all_rows():
    found = nested_cv(Ridge(), LINE.X, LINE.y, inner=5, select="min", n_repeats=1)
    curve = Ridge().path(LINE.X, LINE.y, cv=make_folds(5, 60, X=LINE.X, y=LINE.y))
    assert found.refit().alpha_ == pytest.approx(curve.values[curve.best("min")])


def test_seeds_repeats_and_defaults():
    one, again = (
        nested_cv(LeastSquares(), LINE.X, LINE.y, n_repeats=2, random_state=4) for _ in range(2)
    )
    other = nested_cv(LeastSquares(), LINE.X, LINE.y, n_repeats=2, random_state=5)
    np.testing.assert_array_equal(one.losses, again.losses)
    assert not np.array_equal(one.losses, other.losses)
    assert not np.array_equal(one.losses[0], one.losses[1])
    assert nested_cv(LeastSquares(), LINE.X, LINE.y).fold_errors.shape == (10, 5)
    big = make.sparse_linear(1500, n_features=3, n_informative=1)
    assert nested_cv(LeastSquares(), big.X, big.y).fold_errors.shape == (1, 5)


def test_folds_of_groups_and_of_time():
    groups = list(GroupKFold(5).split(LINE.X, groups=np.arange(60) // 6))
    grouped = nested_cv(LeastSquares(), LINE.X, LINE.y, outer=groups)
    assert grouped.interval == "nested"
    with pytest.raises(InputError, match="nadeau_bengio"):
        nested_cv(LeastSquares(), LINE.X, LINE.y, outer=TimeSeriesSplit(4), interval="nested")
    later = nested_cv(
        Ridge(), LINE.X, LINE.y, outer=TimeSeriesSplit(4), inner=TimeSeriesSplit(3),
        interval="nadeau_bengio",
    )  # fmt: skip
    assert np.all(np.isnan(later.losses[0, :12]))
    assert later.certificate.n == 48


def test_words_tables_and_charts():
    found = nested_cv(Ridge(), LINE.X, LINE.y, n_repeats=2)
    table = found.to_frame()
    assert table["repeat"].tolist() == [0] * 5 + [1] * 5
    np.testing.assert_allclose(table["error"], found.fold_errors.ravel())
    assert table["value"].tolist() == found.values
    text = str(found)
    assert f"too low by {found.optimism:.3g}" in text
    claim = found.certificate
    assert (claim.estimate, claim.lower, claim.upper) == (found.estimate, found.lower, found.upper)
    assert claim.approximate
    assert "squared error" in str(claim)
    assert found.plot().to_dict()["title"]["text"] == "Nested cross-validation"
    narrow = nested_cv(LeastSquares(), LINE.X, LINE.y, interval="naive").certificate
    assert any("too narrow" in sentence for sentence in narrow.assumptions)


def test_pairs_of_folds_are_fitted_once_each():
    """K + K (K - 1) / 2 runs of the procedure: a pair's model serves both of its folds."""
    seen = []

    class Counted(Lines):
        def fit(self, X, y):
            seen.append(len(y))
            return super().fit(X, y)

    nested_cv(Counted(), LINE.X, LINE.y, outer=FOLDS)
    assert sorted(seen) == [36] * len(list(combinations(range(5), 2))) + [48] * 5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"select": "best"}, "select"),
        ({"interval": "wide"}, "interval"),
        ({"delta": 1}, "delta"),
        ({"random_state": -1}, "random_state"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"outer": 1}, "folds"),
        ({"outer": FOLDS, "n_repeats": 3}, "no meaning"),
        ({"outer": FOLDS[:1], "interval": "naive"}, "at least 2 outer folds"),
        ({"outer": 2, "n_repeats": 1, "interval": "nested"}, "at least 3"),
        ({"outer": 60, "n_repeats": 1, "interval": "nested"}, "at least 2 rows in each"),
    ],
)
def test_requests_that_make_no_sense_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        nested_cv(Lines(), LINE.X, LINE.y, **given)


def test_values_need_a_knob():
    with pytest.raises(ParameterError, match="GridSearchCV"):
        nested_cv(LinearRegression(), LINE.X, LINE.y, values=[1, 2])
    with pytest.raises(ParameterError, match="has no rule"):
        nested_cv(NearestNeighborsClassifier(), CLASSES.X, CLASSES.y, select="aic", n_repeats=1)
