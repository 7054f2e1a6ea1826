import math

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from bottega.core.errors import InputError, ParameterError
from bottega.online import ExponentialWeights
from bottega.registry import estimators
from bottega.workbench import trusted_types

LOSS = {"squared_error": lambda y, z: (y - z) ** 2, "absolute_error": lambda y, z: np.abs(y - z)}


def naive(P, y, loss, eta):
    """The forecaster by its definition; eta is a function of the row's number."""
    L, charged = np.zeros(P.shape[1]), []
    for t, (p, truth) in enumerate(zip(P, y, strict=True), start=1):
        w = np.exp(-eta(t) * L)
        charged.append(LOSS[loss](truth, w @ p / w.sum()))
        L += LOSS[loss](truth, p)
    return np.array(charged), L


@pytest.mark.parametrize("loss", LOSS)
def test_charges_by_the_definition(loss):
    rng = np.random.default_rng(0)
    P, y = rng.random((100, 4)), rng.random(100)
    for given_eta, horizon, eta in (
        (None, None, lambda t: math.sqrt(8 * math.log(4) / t)),
        (0.7, None, lambda _: 0.7),
        (None, 100, lambda _: math.sqrt(8 * math.log(4) / 100)),
    ):
        model = ExponentialWeights(loss=loss, eta=given_eta, horizon=horizon)
        charged, L = naive(P, y, loss, eta)
        assert model.learn_block(P, y) == pytest.approx(charged)
        assert model.expert_losses_ == pytest.approx(L)
        assert model.regret_ == pytest.approx(charged.sum() - L.min())
        assert model.best_expert_ == np.argmin(L)
        w = np.exp(-eta(101) * L)
        assert model.weights_ == pytest.approx(w / w.sum())
        assert model.predict(P[:3]) == pytest.approx(P[:3] @ w / w.sum())


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.sampled_from(["squared_error", "absolute_error"]),
    st.sampled_from([{}, {"eta": 0.3}, {"eta": 3.0}, {"horizon": 60}]),
)
def test_the_regret_bound_holds_on_any_stream(seed, K, loss, rule):
    rng = np.random.default_rng(seed)
    P = rng.integers(0, 2, (60, K)).astype(float)  # experts that are sure of themselves
    y = rng.integers(0, 2, 60).astype(float)
    model = ExponentialWeights(loss=loss, **rule)
    model.learn_block(P, y)
    assert model.regret_ <= model.regret_bound_ + 1e-12


@pytest.mark.parametrize("rule", [{}, {"horizon": 500}, {"eta": 0.1}])
def test_the_bound_holds_against_an_adversary(rule):
    # Whoever has the most weight is wrong: the losses that hurt most.
    model = ExponentialWeights(loss="zero_one", **rule)
    model.learn_losses(np.full((1, 3), 0.5))
    for _ in range(499):
        model.learn_losses(np.eye(3)[[np.argmax(model.weights_)]])
    assert 0 < model.regret_ <= model.regret_bound_
    assert model.n_samples_seen_ == 500


def test_bounds_by_their_formulas():
    P, y = np.zeros((200, 2)), np.zeros(200)
    bounds = {
        "absolute_error": math.sqrt(200 * math.log(2) / 2),
        "squared_error": math.sqrt(200 * math.log(2) / 2),
    }
    for loss, bound in bounds.items():
        known = ExponentialWeights(loss=loss, horizon=200).fit(P, y)
        if loss == "absolute_error":
            assert known.regret_bound_ == pytest.approx(bound)
        else:
            assert known.regret_bound_ == pytest.approx(bound / 2)  # eta < 1/2: exp-concave
    anytime = ExponentialWeights(loss="absolute_error").fit(P, y)
    assert anytime.regret_bound_ == pytest.approx(
        2 * math.sqrt(100 * math.log(2)) + math.sqrt(math.log(2) / 8)
    )
    curved = ExponentialWeights(loss="squared_error", eta=0.5).fit(P, y)
    assert curved.regret_bound_ == pytest.approx(2 * math.log(2))


def test_nothing_underflows_in_a_long_stream():
    P = np.tile([1.0, 0.99], (20_000, 1))
    model = ExponentialWeights(loss="absolute_error", eta=1.0)
    model.learn_block(P, np.zeros(20_000))
    assert model.weights_ == pytest.approx([0, 1], abs=1e-80)
    assert model.expert_losses_.min() == pytest.approx(19_800)


def test_blocks_are_the_same():
    rng = np.random.default_rng(1)
    P, y = rng.random((50, 3)), rng.random(50)
    whole, parts = ExponentialWeights(), ExponentialWeights()
    losses = whole.learn_block(P, y)
    found = [parts.learn_block(P[i : i + 1], y[i : i + 1]) for i in range(50)]
    assert np.array_equal(np.concatenate(found), losses)
    assert np.array_equal(parts.weights_, whole.weights_)
    assert np.array_equal(ExponentialWeights().fit(P, y).weights_, whole.weights_)
    assert np.array_equal(whole.fit(P, y).weights_, parts.weights_)  # fit starts afresh


def test_labels_are_voted_on():
    P = np.array([["a", "b", "b"], ["a", "b", "c"], ["a", "c", "b"]])
    model = ExponentialWeights(loss="zero_one", eta=1.0)
    losses = model.learn_block(P, ["a", "a", "a"])
    e = math.exp(-1)
    # The chance of drawing a wrong expert: 2/3, then 2e/(1 + 2e), then 2e^2/(1 + 2e^2).
    assert losses == pytest.approx([2 / 3, 2 * e / (1 + 2 * e), 2 * e**2 / (1 + 2 * e**2)])
    assert model.predict([["x", "y", "y"]]).tolist() == ["x"]
    fresh = ExponentialWeights(loss="zero_one", eta=1.0).fit([["a", "a", "a"]], ["a"])
    assert fresh.predict([["x", "y", "y"], ["z", "y", "x"]]).tolist() == ["y", "x"]


@pytest.mark.parametrize(
    ("P", "y", "words"),
    [
        ([[0.5, 1.5]], [0.5], r"X must lie in \[0, 1\]"),
        ([[0.5, np.nan]], [0.5], r"X must lie in \[0, 1\]"),
        ([[0.5, 0.5]], [-0.1], r"y must lie in \[0, 1\]"),
        ([[0.5, 0.5, 0.5]], [0.5], "3 experts and there were 2"),
        ([[0.5, 0.5]], [0.5, 0.5], "one truth per row"),
        (np.empty((0, 2)), [], "at least one row"),
    ],
)
def test_refused_blocks_change_nothing(P, y, words):
    model = ExponentialWeights().fit([[0.2, 0.4]], [0.3])
    before = model.expert_losses_.copy()
    with pytest.raises(InputError, match=words):
        model.learn_block(P, y)
    assert np.array_equal(model.expert_losses_, before)
    assert model.n_samples_seen_ == 1


def test_bad_parameters():
    with pytest.raises(ParameterError, match="eta=0"):
        ExponentialWeights(eta=0.0).fit([[0.5]], [0.5])
    with pytest.raises(InputError, match="losses must lie"):
        ExponentialWeights().learn_losses([[2.0, 0.0]])
    model = ExponentialWeights().fit([[0.5]], [0.5])
    with pytest.raises(InputError, match="has changed"):
        model.set_params(eta=1.0).learn_block([[0.5]], [0.5])


def test_experts_are_in_the_catalogue_and_can_be_stored_in_mid_stream():
    assert ExponentialWeights in estimators()
    assert ExponentialWeights.card.task == "experts"
    assert ExponentialWeights.card.stream
    rng = np.random.default_rng(0)
    P, y = pd.DataFrame(rng.random((40, 3)), columns=["first", "second", "third"]), rng.random(40)
    model = ExponentialWeights().partial_fit(P[:20], y[:20])
    assert model.feature_names_in_.tolist() == ["first", "second", "third"]
    content = skops.io.dumps(model)
    assert set(skops.io.get_untrusted_types(data=content)) <= set(trusted_types())
    stored = skops.io.loads(content, trusted=trusted_types())
    assert np.array_equal(stored.learn_block(P[20:], y[20:]), model.learn_block(P[20:], y[20:]))
    assert np.array_equal(stored.predict(P), model.predict(P))
    with pytest.raises(NotFittedError):
        ExponentialWeights().predict(P)
    with pytest.raises(InputError, match="learn_losses"):
        ExponentialWeights().fit(P)
