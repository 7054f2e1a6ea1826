"""What a fitted AdaBoost shows: effects, margins, probabilities, the path over rounds."""

import numpy as np
import pandas as pd
import pytest

from bottega.core.errors import InputError
from bottega.ensemble import AdaBoostClassifier


def mixed(n=300, seed=0):
    """Numbers with gaps and a category that matters."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "age": rng.uniform(20, 60, n).round(),
        }
    )
    score = frame["size"] + 1.5 * (frame["colour"] == "green") - 0.02 * frame["age"]
    y = np.where(score + 0.3 * rng.normal(size=n) > 0, "buy", "leave")
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame, y


def test_the_effects_of_the_inputs_add_up_to_the_decision_function():
    X, y = mixed()
    model = AdaBoostClassifier(n_estimators=60).fit(X, y)
    effects = model.to_additive()
    new, _ = mixed(seed=1)
    new.loc[0, "colour"] = "violet"  # a level that was not there in training
    parts = effects.evaluate(new)
    assert parts.shape == (300, 3)
    # Sixty numbers added up in another order.
    assert effects.intercept + parts.sum(axis=1) == pytest.approx(
        model.decision_function(new), abs=1e-10
    )
    # Each effect depends on its own input alone.
    other = new.copy()
    other["age"] = 30.0
    assert np.array_equal(effects.evaluate(other)[:, :2], parts[:, :2])


def test_the_frame_of_effects_is_the_step_function():
    X, y = mixed()
    model = AdaBoostClassifier(n_estimators=60).fit(X, y)
    effects = model.to_additive()
    frame = effects.to_frame()
    assert set(frame["term"]) == {"size", "colour", "age"}
    size = frame[(frame["term"] == "size") & (frame["level"] == "")]
    points = np.array([-1.0, 0.1, 2.0])
    probe = pd.DataFrame({"size": points, "colour": "red", "age": 30.0})
    by_hand = [
        size[(size["low"] < x) & (x <= size["high"])]["effect"].item() for x in points.tolist()
    ]
    assert effects.evaluate(probe)[:, 0] == pytest.approx(by_hand, abs=1e-12)
    colour = frame[frame["term"] == "colour"].set_index("level")["effect"]
    assert colour["green"] < colour["red"]  # "buy" is the first class, "leave" the second
    assert effects.evaluate(probe)[0, 1] == pytest.approx(colour["red"])


def test_effects_need_stumps_and_two_classes():
    X, y = mixed(60)
    with pytest.raises(InputError, match="Only stumps for two classes"):
        AdaBoostClassifier(n_estimators=3, max_depth=2).fit(X, y).to_additive()
    three = AdaBoostClassifier(n_estimators=3).fit(np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2])
    with pytest.raises(InputError, match="Only stumps for two classes"):
        three.to_additive()


def test_margins_are_normed_votes():
    X, y = mixed()
    model = AdaBoostClassifier(n_estimators=40).fit(X, y)
    sign = np.where(y == "leave", 1, -1)
    by_hand = sign * model.decision_function(X) / model.estimator_weights_.sum()
    assert model.margins(X, y) == pytest.approx(by_hand, abs=1e-12)
    assert np.abs(by_hand).max() <= 1
    assert np.array_equal(by_hand > 0, model.predict(X) == y)
    curve = model.margin_distribution(X, y)
    share_wrong = np.mean(by_hand <= 0)
    assert curve[curve["margin"] <= 0]["share"].max() == pytest.approx(share_wrong)
    assert curve["share"].iloc[-1] == 1


def test_margins_keep_growing_when_the_training_error_is_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    y = X.sum(axis=1) > 0
    early = AdaBoostClassifier(n_estimators=60).fit(X, y)
    late = AdaBoostClassifier(n_estimators=600).fit(X, y)
    assert early.score(X, y) == late.score(X, y) == 1.0
    assert late.margins(X, y).min() > early.margins(X, y).min() > 0


def test_probabilities_are_the_logistic_of_the_log_odds():
    # One stump on a leaf pair with shares 3/4 and 1/4: e = 1/4, alpha = log 3, and the log-odds of
    # the training shares on each side are exactly +-log 3.
    X = np.repeat([0.0, 1.0], 8)[:, None]
    y = np.array([0] * 6 + [1] * 2 + [1] * 6 + [0] * 2)
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)
    assert model.estimator_weights_[0] == pytest.approx(np.log(3))
    assert model.predict_proba([[0.0], [1.0]]) == pytest.approx(
        np.array([[0.75, 0.25], [0.25, 0.75]])
    )
    assert model.decision_function([[1.0]]) == pytest.approx([np.log(3)])


def test_samme_probabilities_follow_the_votes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    votes, proba = model.decision_function(X), model.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(np.ones(300))
    ratio = np.log(proba[:, 1] / proba[:, 0])
    assert ratio == pytest.approx(votes[:, 1] - votes[:, 0], abs=1e-9)
    assert model.train_bound_ is None


def test_stages_are_the_models_with_fewer_rounds():
    X, y = mixed()
    for options in ({}, {"max_depth": 2}):
        full = AdaBoostClassifier(n_estimators=20, **options).fit(X, y)
        stages = list(full.staged_predict(X))
        assert len(stages) == 20
        for rounds in (1, 7, 20):
            part = AdaBoostClassifier(n_estimators=rounds, **options).fit(X, y)
            assert np.array_equal(part.predict(X), stages[rounds - 1])
        errors = [np.mean(stage != y) for stage in stages]
        assert full.staged_error(X, y) == pytest.approx(errors)


@pytest.mark.parametrize("estimate", ["cv", "validation", "oob"])
def test_the_path_is_honest_and_picks_the_rounds(estimate):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    noisy = rng.random(400) < 0.2
    y = (X[:, 0] > 0) ^ noisy  # no classifier has an error below 0.2 on new rows
    model = AdaBoostClassifier(max_estimators=60, estimate=estimate, max_depth=4).fit(X, y)
    path = model.path_
    assert path.estimate == estimate
    assert path.train_error[-1] < 0.05
    # At least 100 rows judge a true error of 0.2 or more (about 0.3): a share below 0.15 has
    # probability under 0.001.
    assert path.error[-1] > 0.15
    # Of n rows judged once each; a row judged out of several samples varies a little less.
    rows = {"cv": 400, "validation": 100, "oob": 400 * (1 - 0.632**5)}[estimate]
    once = np.sqrt(path.error[-1] * (1 - path.error[-1]) / rows)
    assert path.error_se[-1] == pytest.approx(once, rel=0.2 if estimate == "oob" else 0.05)
    assert model.n_estimators_ == path.values[path.best("min")]


def test_more_samples_do_not_make_more_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0) ^ (rng.random(200) < 0.2)
    few, many = (
        AdaBoostClassifier(max_estimators=5, estimate="oob", cv=cv).path(X, y).error_se[-1]
        for cv in (5, 40)
    )
    # The standard error is over the 200 rows, however often each is judged.
    assert many > 0.75 * few


def test_validation_rows_are_not_trained_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = rng.integers(0, 2, 200)
    path = AdaBoostClassifier(estimate="validation", max_depth=6, max_estimators=5).path(X, y)
    assert path.train_error[-1] < 0.1
    # Pure noise: 50 held-out rows, the error is a binomial share of one half. Outside of
    # 0.5 +- 0.25 (3.5 standard errors) with probability below 0.001.
    assert abs(path.error[-1] - 0.5) < 0.25


def test_row_order_and_seed_do_not_change_a_fixed_number_of_rounds():
    X, y = mixed()
    order = np.random.default_rng(5).permutation(len(y))
    one = AdaBoostClassifier(n_estimators=30).fit(X, y)
    two = AdaBoostClassifier(n_estimators=30, random_state=9).fit(X.iloc[order], y[order])
    assert np.array_equal(one.predict(X), two.predict(X))


def test_values_of_rounds_must_be_whole_numbers():
    X, y = mixed(60)
    with pytest.raises(InputError, match=r"is not allowed; (n_estimators must be|give a list)"):
        AdaBoostClassifier().path(X, y, values=[0.5])
