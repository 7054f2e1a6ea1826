"""Several procedures over the same folds: weights, groups, time, losses, failures, interruption."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bottega.core import progress
from bottega.core.errors import BottegaError, InputError, ParameterError
from bottega.core.losses import Cost
from bottega.data import Table, make
from bottega.risk import certify, nested_cv
from bottega.risk.estimate import procedures
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.estimate.nested import run_procedures
from bottega.risk.estimate.nested_interval import corrected_variance, nadeau_bengio, naive, nested
from bottega.risk.estimate.procedures import EstimatorProcedure, PlainInputs

LINE = make.sparse_linear(60, n_features=4, n_informative=2, random_state=3)
CLASSES = make.two_gaussians(90, random_state=5)
BOTH = {"line": LinearRegression(), "mean": DummyRegressor()}
FOLDS = list(KFold(5, shuffle=True, random_state=0).split(LINE.X))
UNEVEN = [  # folds of 8, 12, 20, 20 rows
    (np.setdiff1d(np.arange(60), test), test)
    for test in np.split(np.random.default_rng(1).permutation(60), [8, 20, 40])
]


# ---- paired differences --------------------------------------------------------------------------


def test_the_difference_over_equal_folds_is_nadeau_and_bengios():
    found = nested_cv(BOTH, LINE.X, LINE.y, outer=FOLDS)
    gap = found["line"].fold_errors[0] - found["mean"].fold_errors[0]
    spread = np.sqrt((1 / 5 + 12 / 48) * gap.var(ddof=1))
    answer = found.difference("line", "mean", delta=0.1)
    half = stats.t.ppf(0.95, 4) * spread
    assert answer.difference == pytest.approx(gap.mean())
    assert (answer.lower, answer.upper) == pytest.approx((gap.mean() - half, gap.mean() + half))
    assert answer.p_value == pytest.approx(2 * stats.t.sf(abs(gap.mean()) / spread, 4))
    assert answer.better == found.best == "line"
    same = found.difference("line", "line")
    assert (same.difference, same.p_value, same.better) == (0.0, 1.0, None)


def test_unequal_folds_are_a_mean_over_rows_with_the_variance_of_their_sizes():
    found = nested_cv(BOTH, LINE.X, LINE.y, outer=UNEVEN, interval="nadeau_bengio")
    losses = {name: each.losses[0] for name, each in found.items()}
    answer = found.difference("line", "mean")
    assert answer.difference == pytest.approx(np.mean(losses["line"] - losses["mean"]))
    gap = np.array([np.mean((losses["line"] - losses["mean"])[test]) for _, test in UNEVEN])
    sizes = np.array([8, 12, 20, 20])
    variance = corrected_variance(gap, sizes / 60, sizes, 60 - sizes)
    half = stats.t.ppf(0.975, 3) * np.sqrt(variance)
    assert answer.upper - answer.difference == pytest.approx(half)


@pytest.mark.parametrize("total", [60, 75])
def test_the_corrected_variance_is_unbiased_under_its_model(total):
    """Means of variance 1/n_k and correlation sqrt(rho_k rho_l): a quadratic form, so exact.

    With a total above the number of tested rows the folds are no partition.
    """
    n_test = np.array([8.0, 12, 20, 20])
    n_train = total - n_test
    rho = n_test / (n_test + n_train)
    correlation = np.sqrt(np.outer(rho, rho))
    np.fill_diagonal(correlation, 1.0)
    V = correlation / np.sqrt(np.outer(n_test, n_test))
    share = n_test / n_test.sum()
    root = np.linalg.cholesky(V)
    # E[f(root z)] of a quadratic form f is the sum of f over the columns of the root.
    expected = sum(corrected_variance(column, share, n_test, n_train) for column in root.T)
    assert expected == pytest.approx(share @ V @ share)


def test_every_procedure_sees_the_same_folds_as_alone():
    found = nested_cv(BOTH, LINE.X, LINE.y, n_repeats=2, random_state=4)
    for name, model in BOTH.items():
        alone = nested_cv(model, LINE.X, LINE.y, n_repeats=2, random_state=4)
        np.testing.assert_array_equal(found[name].losses, alone.losses)
        assert (found[name].lower, found[name].upper) == (alone.lower, alone.upper)
    assert list(found) == ["line", "mean"]
    table = found.to_frame()
    assert table["name"].tolist() == ["line", "mean"]
    assert table["difference"].tolist()[0] == 0.0
    assert "over the same 5 outer folds" in str(found.summary())


# ---- weights -------------------------------------------------------------------------------------


def test_weighted_rows_count_by_their_weight_in_fits_and_errors():
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, size=60).astype(float)
    found = nested_cv(
        LinearRegression(), LINE.X, LINE.y, sample_weight=weight, outer=UNEVEN, interval="naive"
    )
    for k, (train, test) in enumerate(UNEVEN):
        model = LinearRegression().fit(LINE.X[train], LINE.y[train], sample_weight=weight[train])
        losses = (LINE.y[test] - model.predict(LINE.X[test])) ** 2
        np.testing.assert_allclose(found.losses[0, test], losses, rtol=1e-9)
        assert found.fold_errors[0, k] == pytest.approx(np.average(losses, weights=weight[test]))
    assert found.error == pytest.approx(np.average(found.losses[0], weights=weight))
    assert any("weights" in sentence for sentence in found.certificate.assumptions)


@pytest.mark.parametrize("interval", ["nested", "nadeau_bengio", "naive"])
def test_equal_weights_are_no_weights(interval):
    given = {"outer": UNEVEN, "interval": interval}
    plain = nested_cv(LinearRegression(), LINE.X, LINE.y, **given)
    twice = nested_cv(LinearRegression(), LINE.X, LINE.y, sample_weight=np.full(60, 2.0), **given)
    for name in ("error", "estimate", "std_error", "lower", "upper", "inflation"):
        # 1e-9: weighted least squares solves scaled equations.
        assert getattr(twice, name) == pytest.approx(getattr(plain, name), rel=1e-9)


@pytest.mark.parametrize("interval", ["nested", "nadeau_bengio", "naive"])
def test_rows_of_weight_zero_change_nothing(interval):
    """Twenty more rows, in all folds, that do not count."""
    rng = np.random.default_rng(2)
    X, y = np.vstack([LINE.X, rng.normal(size=(20, 4))]), np.append(LINE.y, 50 + np.zeros(20))
    weight = np.repeat([1.0, 0.0], [60, 20])
    more = [np.append(test, 60 + np.arange(5 * k, 5 * k + 5)) for k, (_, test) in enumerate(UNEVEN)]
    folds = [(np.setdiff1d(np.arange(80), test), test) for test in more]
    found = nested_cv(
        LinearRegression(), X, y, sample_weight=weight, outer=folds, interval=interval
    )
    plain = nested_cv(LinearRegression(), LINE.X, LINE.y, outer=UNEVEN, interval=interval)
    assert (found.estimate, found.lower, found.upper) == pytest.approx(
        (plain.estimate, plain.lower, plain.upper), rel=1e-9
    )


def test_weights_reach_the_last_step_of_a_pipeline_and_skip_who_takes_none():
    weight = np.linspace(0.1, 3, 60)
    X_train, y_train, w_train = LINE.X[:40], LINE.y[:40], weight[:40]
    split = [(np.arange(40), np.arange(40, 50)), (np.arange(40), np.arange(50, 60))]
    found = nested_cv(
        {"pipe": make_pipeline(StandardScaler(), LinearRegression()), "plain": Counted()},
        LINE.X, LINE.y, sample_weight=weight, outer=split,
    )  # fmt: skip
    model = LinearRegression().fit(X_train, y_train, sample_weight=w_train)
    np.testing.assert_allclose(found["pipe"].predictions[0, 40:], model.predict(LINE.X[40:]))
    assert found["plain"].interval == "nadeau_bengio"  # no partition
    with pytest.raises(InputError, match="fold 0 has a positive weight"):
        nested_cv(
            LinearRegression(), LINE.X, LINE.y, sample_weight=np.arange(60) >= 50, outer=split
        )


class Counted(RegressorMixin, BaseEstimator):
    """The mean of the responses; takes no weights, and counts its fits."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


# ---- groups and time -----------------------------------------------------------------------------


@pytest.mark.parametrize("interval", ["nested", "nadeau_bengio", "naive"])
def test_copies_of_a_row_in_one_group_tell_nothing_new(interval):
    """Each row three times, as a group: fits, errors and intervals are those of the rows once."""
    rows = np.repeat(np.arange(60), 3)
    folds = [
        (np.flatnonzero(~np.isin(rows, test)), np.flatnonzero(np.isin(rows, test)))
        for _, test in UNEVEN
    ]
    found = nested_cv(
        LinearRegression(), LINE.X[rows], LINE.y[rows], groups=rows, outer=folds, interval=interval
    )
    plain = nested_cv(LinearRegression(), LINE.X, LINE.y, outer=UNEVEN, interval=interval)
    for name in ("error", "estimate", "std_error", "lower", "upper"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name), rel=1e-9)
    assert any("groups of rows" in sentence for sentence in found.certificate.assumptions)


def test_no_fold_divides_a_group_outside_or_inside(monkeypatch):
    from bottega.neighbors import NearestNeighborsRegressor

    groups = np.random.default_rng(0).integers(0, 15, size=60)
    dealt = []

    def spy(*given, **options):
        folds = make(*given, **options)
        dealt.append((options["groups"], folds))
        return folds

    make = procedures.make_folds
    monkeypatch.setattr(procedures, "make_folds", spy)
    model = NearestNeighborsRegressor()
    found = nested_cv(model, LINE.X, LINE.y, groups=groups, interval="nadeau_bengio", n_repeats=2)
    for fold in found.fold:
        assert all(len(np.unique(fold[groups == g])) == 1 for g in np.unique(groups))
    assert len(dealt) == 10
    for inside, folds in dealt:
        assert len(folds) > 2
        for train, test in folds:
            assert not np.intersect1d(inside[train], inside[test]).size
    with pytest.raises(ParameterError, match="divides groups"):
        nested_cv(model, LINE.X, LINE.y, groups=groups, inner=None)


def test_models_are_judged_on_what_comes_later():
    order = np.random.default_rng(0).permutation(60)
    found = nested_cv(LinearRegression(), LINE.X, LINE.y, time=order, outer=4)
    assert found.interval == "nadeau_bengio"
    assert found.fold_errors.shape == (1, 4)
    fold = found.fold[0]
    for k in range(4):
        assert order[fold == k].min() > order[(fold < k) & (fold >= -1)].max()
        model = LinearRegression().fit(LINE.X[fold < k], LINE.y[fold < k])
        np.testing.assert_allclose(
            found.predictions[0, fold == k], model.predict(LINE.X[fold == k])
        )
    with pytest.raises(ParameterError, match="follow time"):
        nested_cv(LinearRegression(), LINE.X, LINE.y, time=order, n_repeats=2)


def test_the_interval_of_groups_covers():
    """The mean of 12 groups of 5 rows that share half of their variance; its risk is known.

    At delta = 0.1 and 1,000 samples an interval that misses with probability 0.1 misses more than
    150 times with a probability below 1e-6 (Binomial, sd 9.5). Squares of normals are skew, so 200
    are allowed; rows taken as independent miss in over 300.
    """
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(12), 5)
    misses = {"groups": 0, "rows": 0}
    for _ in range(1000):
        y = 1 + (rng.normal(size=12)[group] + rng.normal(size=60)) / np.sqrt(2)
        fold = rng.permutation(np.arange(12) % 4)[group]
        losses, units, weights = [], [], []
        for k in range(4):
            squares = (y[fold == k] - y[fold != k].mean()) ** 2
            losses.append(squares)
            units.append(squares.reshape(-1, 5).mean(axis=1))
            weights.append(np.full(3, 5.0))
        risk = 1 + (1 - y.mean()) ** 2
        for name, found in (
            ("groups", nadeau_bengio([units], [[9] * 4], 0.1, [weights])),
            ("rows", naive([losses], 0.1)),
        ):
            misses[name] += not found.lower <= risk <= found.upper
    assert misses["groups"] <= 200
    assert misses["rows"] > 300


def test_a_table_brings_weights_groups_and_time():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(LINE.X, columns=list("abcd")).assign(
        y=LINE.y, w=rng.uniform(size=60), g=[f"g{i}" for i in np.arange(60) // 4], t=np.arange(60)
    )
    weighted = nested_cv(
        LinearRegression(), Table(frame, target="y", weight="w", group="g", ignore="t")
    )
    arrays = nested_cv(
        LinearRegression(), frame[list("abcd")], LINE.y, sample_weight=frame["w"], groups=frame["g"]
    )
    assert (weighted.lower, weighted.upper) == pytest.approx((arrays.lower, arrays.upper))
    later = nested_cv(LinearRegression(), Table(frame, target="y", time="t", ignore=["w", "g"]))
    assert np.all(later.fold[0, :10] == -1)
    with pytest.raises(InputError, match="set them as its roles"):
        nested_cv(LinearRegression(), Table(frame, target="y"), groups=frame["g"])


# ---- losses --------------------------------------------------------------------------------------


def test_procedures_are_judged_by_any_loss():
    labels = np.where(CLASSES.y == 1, "yes", "no")
    costs = Cost([[0, 5], [1, 0]], classes=["no", "yes"])
    model = LogisticRegression()
    by_log = nested_cv(model, CLASSES.X, labels, loss="log_loss", outer=4, interval="naive")
    by_cost = nested_cv(model, CLASSES.X, labels, loss=costs, outer=4, interval="naive")
    for k in range(4):
        inside = by_log.fold[0] == k
        fitted = LogisticRegression().fit(CLASSES.X[~inside], labels[~inside])
        shares = fitted.predict_proba(CLASSES.X[inside])
        assert by_log.fold_errors[0, k] == pytest.approx(log_loss(labels[inside], shares))
        np.testing.assert_allclose(by_log.probabilities[0, inside], shares)
    said = by_cost.predictions[0]
    missed, alarm = (said == "no") & (labels == "yes"), (said == "yes") & (labels == "no")
    np.testing.assert_array_equal(by_cost.losses[0], 5.0 * missed + alarm)
    assert (by_log.loss, by_cost.loss) == ("log loss", "cost")
    absolute = nested_cv(LinearRegression(), LINE.X, LINE.y, loss="absolute_error")
    np.testing.assert_allclose(absolute.losses, np.abs(LINE.y - absolute.predictions))
    own = nested_cv(
        DummyClassifier(), CLASSES.X, labels, interval="naive", loss=lambda y, z: 2.0 * (y != z)
    )
    assert own.error == pytest.approx(2 * np.mean(own.predictions != labels))
    with pytest.raises(ParameterError, match="cannot judge a regression"):
        nested_cv(LinearRegression(), LINE.X, LINE.y, loss="brier_score")


def test_a_class_that_a_fold_has_not_seen_has_probability_zero():
    y = np.array([0, 1] * 20 + [2])
    X = np.random.default_rng(0).normal(size=(41, 2))
    found = nested_cv(
        LogisticRegression(), X, y, loss="brier_score", outer=KFold(4), interval="nadeau_bengio"
    )
    assert found.probabilities.shape == (1, 41, 3)
    assert found.probabilities[0, 40, 2] == 0.0
    np.testing.assert_allclose(found.probabilities[0].sum(axis=1), 1.0)


# ---- failures, interruption, cost ----------------------------------------------------------------


class Broken(Counted):
    """Fails, or is interrupted, from its fit number `at` on."""

    def __init__(self, at=0, error=ValueError):
        self.at = at
        self.error = error

    def fit(self, X, y):
        super().fit(X, y)
        if Broken.fits > self.at:
            raise self.error("broken")
        return self


def test_one_that_fails_does_not_stop_the_others():
    Broken.fits = 0
    found = nested_cv({"bad": Broken(), "mean": DummyRegressor()}, LINE.X, LINE.y, outer=FOLDS)
    assert list(found) == ["mean"]
    assert found.failures == {"bad": "failed with ValueError: broken"}
    assert found.complete
    assert Broken.fits == 1  # not tried again
    with pytest.raises(BottegaError, match=r"could be judged\. bad: failed"):
        nested_cv({"bad": Broken()}, LINE.X, LINE.y, outer=FOLDS)
    with pytest.raises(ValueError, match="broken"):
        nested_cv(Broken(), LINE.X, LINE.y, outer=FOLDS)


@pytest.mark.parametrize(("done", "expected"), [(3, ["mean"]), (7, ["mean", "slow"])])
def test_what_is_done_is_kept_when_interrupted(done, expected):
    """Three folds of the second procedure, or all five and two of its pairs."""
    Broken.fits = 0
    slow = Broken(at=done, error=KeyboardInterrupt)
    found = nested_cv({"mean": DummyRegressor(), "slow": slow}, LINE.X, LINE.y, outer=FOLDS)
    assert list(found) == expected
    assert not found.complete
    assert not found.failures
    if "slow" in expected:  # its fits without two folds are not all there
        assert found["slow"].interval == "nadeau_bengio"
        assert found["mean"].interval == "nested"
    assert "interrupted" in str(found.summary())
    Broken.fits = 0
    with pytest.raises(KeyboardInterrupt):
        nested_cv({"slow": Broken(error=KeyboardInterrupt)}, LINE.X, LINE.y, outer=FOLDS)


def test_the_interval_that_auto_takes():
    assert nested_cv(DummyRegressor(), LINE.X, LINE.y).interval == "nested"
    assert nested_cv(DummyRegressor(), LINE.X, LINE.y, outer=2).interval == "nadeau_bengio"
    big = make.sparse_linear(2001, n_features=2, n_informative=1)
    Counted.fits = 0
    found = nested_cv(Counted(), big.X, big.y)
    assert found.interval == "nadeau_bengio"
    assert Counted.fits == 5
    with pytest.raises(InputError, match="one task"):
        nested_cv({"a": DummyRegressor(), "b": DummyClassifier()}, LINE.X, LINE.y)


def test_the_engine_keeps_what_it_is_asked_to_keep():
    rows = JudgedRows(CLASSES.y, "classification")
    procedure = EstimatorProcedure(LogisticRegression(), PlainInputs(CLASSES.X), rows)
    events = []
    with progress.listen(events.append):
        found = run_procedures(
            {"logit": procedure}, rows, outer=3, interval="nadeau_bengio", final=True,
            probabilities=True, keep_models=True, stage="comparing",
        )  # fmt: skip
    only = found["logit"]
    assert (only.loss, only.probabilities.shape) == ("misclassification", (1, 90, 2))
    assert [type(model).__name__ for model in only.models] == ["LogisticRegression"] * 3
    whole = LogisticRegression().fit(CLASSES.X, CLASSES.y)
    np.testing.assert_allclose(only.final.model.coef_, whole.coef_)
    assert only.refit() is only.final.model
    assert only.seconds.shape == (1, 3)
    mine = [event for event in events if event.stage == "comparing"]
    assert [event.done for event in mine] == [1, 2, 3, 4]
    assert mine[0].message == "logit, without fold 1 of partition 1"


# ---- intervals by hand ---------------------------------------------------------------------------


def test_weighted_intervals_by_hand():
    rng = np.random.default_rng(0)
    losses = [rng.exponential(size=n) for n in (8, 12, 10)]
    weights = [rng.uniform(0.2, 3, size=n) for n in (8, 12, 10)]
    every, w = np.concatenate(losses), np.concatenate(weights)
    share = w / w.sum()
    variance = 30 / 29 * np.sum(share**2 * (every - share @ every) ** 2)
    plain = naive([losses], 0.1, [weights])
    assert (plain.estimate, plain.std_error) == pytest.approx((share @ every, np.sqrt(variance)))
    inner = {(i, j): rng.exponential(size=len(losses[j])) for i in range(3) for j in range(3)}
    a, b, inside = [], [], []
    for k in range(3):
        others = [j for j in range(3) if j != k]
        e_in = np.concatenate([inner[k, j] for j in others])
        mean_in = np.average(e_in, weights=np.concatenate([weights[j] for j in others]))
        q = weights[k] / weights[k].sum()
        mean = q @ losses[k]
        n = len(q)
        a.append((mean_in - mean) ** 2)
        b.append(n / (n - 1) * np.sum(q**2 * (losses[k] - mean) ** 2))
        inside.append(mean_in)
    mse = np.clip(2 / 3 * (np.mean(a) - np.mean(b)), variance, 3 * variance)
    found = nested([losses], [inner], 0.1, [weights])
    assert found.std_error == pytest.approx(np.sqrt(mse))
    center = np.mean(inside) - (1 + 1 / 3) * (np.mean(inside) - share @ every)
    assert found.estimate == pytest.approx(center)


def test_certify_reads_weights_and_groups_of_a_table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(LINE.X, columns=list("abcd")).assign(
        y=LINE.y, w=rng.uniform(size=60), g=[f"g{i}" for i in np.arange(60) // 3]
    )
    model = LinearRegression().fit(frame[list("abcd")][:10], LINE.y[:10])
    claim = certify(model, Table(frame[10:], target="y", weight="w", group="g"))
    losses = (LINE.y[10:] - model.predict(frame[list("abcd")][10:])) ** 2
    assert claim.estimate == pytest.approx(np.average(losses, weights=frame["w"][10:]))
    assert claim.n == 50
    same = certify(
        model, frame[list("abcd")][10:], LINE.y[10:], sample_weight=frame["w"][10:],
        groups=frame["g"][10:],
    )  # fmt: skip
    assert (claim.lower, claim.upper) == (same.lower, same.upper)


def test_stratified_folds_do_not_make_an_error_certain():
    """The majority errs by the share of the other class, which is the same in every fold."""
    y, X = np.repeat([0, 1], [100, 60]), np.zeros((160, 1))
    found = nested_cv(DummyClassifier(), X, y, interval="nadeau_bengio")
    assert found.fold_errors.std() < 1e-12
    se = np.sqrt(0.375 * 0.625 / 159)
    assert found.std_error == pytest.approx(se)
    assert found.upper - found.error == pytest.approx(stats.norm.ppf(0.975) * se)


class Constant(RegressorMixin, BaseEstimator):
    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


def test_a_difference_is_not_more_certain_than_independent_rows_make_it():
    """One errs in every fourth row, the other in every second: both the same in every fold."""
    y = np.tile([0.0, 1.0, 0.0, 1.0], 10)
    folds = [(np.setdiff1d(np.arange(40), test), test) for test in np.arange(40).reshape(5, 8)]
    found = nested_cv({"zero": Constant(0.0), "half": Constant(0.5)}, y[:, None], y, outer=folds)
    answer = found.difference("zero", "half")
    apart = y**2 - 0.25
    assert answer.difference == pytest.approx(apart.mean())
    half = stats.norm.ppf(0.975) * apart.std(ddof=1) / np.sqrt(40)
    assert answer.upper - answer.difference == pytest.approx(half)
    assert answer.p_value == pytest.approx(
        2 * stats.norm.sf(apart.mean() / (apart.std(ddof=1) / np.sqrt(40)))
    )
