"""Recurrent and attention networks: forms of sequences, patterns, maps, what is refused."""

import numpy as np
import pytest
import skops.io

from bottega.core.errors import InputError, ParameterError
from bottega.neural import (
    AttentionClassifier,
    RecurrentClassifier,
    RecurrentRegressor,
    count_parameters,
)
from bottega.neural._sequences.reading import packed
from bottega.workbench import trusted_types

pytest.importorskip("torch")


def drifts(n=160, seed=0, d=2):
    """Return sequences of 3 to 9 steps whose first column is by 1.3 above or below zero, and which.

    The sign of its sum is right for 99 % of the sequences.
    """
    rng = np.random.default_rng(seed)
    sign = rng.choice([-1, 1], n)
    X = [rng.normal(size=(rng.integers(3, 10), d)) for _ in range(n)]
    for each, s in zip(X, sign, strict=True):
        each[:, 0] += 1.3 * s
    return X, np.where(sign > 0, "up", "down")


@pytest.fixture(scope="module")
def recurrent():
    return RecurrentClassifier(10, max_iter=25).fit(*drifts())


@pytest.fixture(scope="module")
def attentive():
    return AttentionClassifier(8, heads=2, max_iter=25, learning_rate_init=0.01).fit(*drifts())


def test_sequences_of_any_length(recurrent):
    assert recurrent.score(*drifts(seed=1)) > 0.9
    assert recurrent.n_channels_ == recurrent.n_features_in_ == 2
    longer = [np.tile([0.5, 0.0], (20, 1)), np.tile([-0.5, 0.0], (15, 1))]
    assert recurrent.predict(longer).tolist() == ["up", "down"]


def test_rows_of_a_table_are_sequences_of_numbers():
    X = np.random.default_rng(0).normal(size=(90, 5))
    y = X.sum(axis=1) > 0
    options = {"width": 5, "max_iter": 4}
    table = RecurrentClassifier(**options).fit(X, y).predict_proba(X)
    for given in (X[:, :, None], list(X), [each[:, None] for each in X]):
        model = RecurrentClassifier(**options).fit(given, y)
        np.testing.assert_allclose(model.predict_proba(given), table, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), table, atol=1e-9)  # fitted on sequences


@pytest.mark.parametrize("cell", ["vanilla", "lstm"])
@pytest.mark.parametrize("pattern", ["last", "every"])
def test_cells_and_patterns_learn(cell, pattern):
    model = RecurrentClassifier(10, cell=cell, pattern=pattern, max_iter=25).fit(*drifts())
    assert model.score(*drifts(seed=1)) > 0.85


def test_pattern_b_passes_on_its_output():
    model = RecurrentClassifier(10, cell="vanilla", pattern="output", max_iter=25)
    assert model.fit(*drifts()).score(*drifts(seed=1)) > 0.8
    for wrong in ({"cell": "gru"}, {"cell": "vanilla", "layers": 2}):
        with pytest.raises(ParameterError, match="goes with cell='vanilla'"):
            RecurrentClassifier(pattern="output", **wrong).fit(*drifts(20))


def test_pattern_a_predicts_every_step():
    X = np.random.default_rng(0).normal(size=(200, 6))
    Y = np.cumsum(X, axis=1)
    model = RecurrentRegressor(12, pattern="every", max_iter=30).fit(X[:150], Y[:150])
    assert model.predict(X[150:]).shape == (50, 6)
    assert model.score(X[150:], Y[150:]) > 0.9
    steps = model.step_outputs(X[150:])[:, :, 0]
    assert steps * model.responses_.scale + model.responses_.center == pytest.approx(
        model.predict(X[150:])
    )
    # A step knows nothing of what comes after it.
    changed = X[150:].copy()
    changed[:, 3:] = 9.0
    np.testing.assert_allclose(model.predict(changed)[:, :3], model.predict(X[150:])[:, :3])
    with pytest.raises(InputError, match="y has 3 columns and the sequences of X have up to 6"):
        RecurrentRegressor(4, pattern="every").fit(X, Y[:, :3])
    last = RecurrentRegressor(4, max_iter=2).fit(X, Y[:, :3])  # three responses of a sequence
    assert last.predict(X).shape == (200, 3)
    with pytest.raises(InputError, match="one output after the last step"):
        last.step_outputs(X)


def test_a_regression_of_one_number():
    X, _ = drifts(250)
    y = np.array([1e4 * each[-1, 1] for each in X])
    model = RecurrentRegressor(8, max_iter=40).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.9


def test_weights_do_not_depend_on_the_length():
    counts = []
    for steps in (2, 12):
        X = np.random.default_rng(0).normal(size=(20, steps))
        counts.append(count_parameters(RecurrentClassifier(6, max_iter=1).fit(X, X[:, 0] > 0)))
    assert counts[0] == counts[1] == 3 * (6 * 6 + 6 * 1 + 2 * 6) + 6 + 1


@pytest.mark.parametrize("kind", ["softmax", "dot"])
def test_attention_learns(kind):
    model = AttentionClassifier(8, attention=kind, max_iter=25, learning_rate_init=0.01)
    assert model.fit(*drifts()).score(*drifts(seed=1)) > 0.9


def test_attention_maps(attentive):
    X, _ = drifts(4)
    maps = attentive.attention_maps(X)
    longest = max(map(len, X))
    assert maps.shape == (4, 1, 2, longest, longest)
    for each, sequence in zip(maps, X, strict=True):
        k = len(sequence)
        np.testing.assert_allclose(each[:, :, :k].sum(axis=3), 1, rtol=1e-9)
        assert not each[:, :, :, k:].any()
        assert not each[:, :, k:].any()
    chart = attentive.plot_attention(X[0], head=1).to_dict()
    assert len(chart["data"]["values"]) == len(X[0]) ** 2
    with pytest.raises(InputError, match="1 layers and 2 heads"):
        attentive.plot_attention(X[0], head=2)
    with pytest.raises(ParameterError, match="width=9 cannot be shared by heads=2"):
        AttentionClassifier(9, heads=2).fit(X, [0, 1, 0, 1])


def test_order_matters_to_positions_only():
    """The label is whether the first of two steps is the larger: a bag of numbers cannot say."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = X[:, 0] > X[:, 1]
    options = {"max_iter": 30, "learning_rate_init": 0.01}
    ordered, bag = (
        AttentionClassifier(8, positional=positional, **options).fit(X[:200], y[:200])
        for positional in (True, False)
    )
    assert ordered.score(X[200:], y[200:]) > 0.9
    # A fair coin has more than 65 of 100 right with probability 0.0009.
    assert bag.score(X[200:], y[200:]) < 0.65
    np.testing.assert_allclose(bag.predict_proba(X), bag.predict_proba(X[:, ::-1]), atol=1e-9)


@pytest.mark.parametrize("name", ["recurrent", "attentive"])
def test_stored_models_predict_the_same(name, request):
    model = request.getfixturevalue(name)
    X, _ = drifts(10, seed=3)
    copy = skops.io.loads(skops.io.dumps(model), trusted=trusted_types())
    assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("each", [RecurrentClassifier, RecurrentRegressor, AttentionClassifier])
def test_bad_sequences_are_refused(each):
    X, _ = drifts(10)
    y = np.arange(10) % 2
    with pytest.raises(InputError, match=r"sequence 3 of X .* has shape \(0, 2\)"):
        each().fit([*X[:3], X[3][:0], *X[4:]], y)
    with pytest.raises(InputError, match="contains NaN or infinity: the sequence 1"):
        each().fit([X[0], np.full((4, 2), np.nan), *X[2:]], y)
    with pytest.raises(InputError, match="2 and 3 numbers per step"):
        each().fit([*X[:9], np.ones((4, 3))], y)
    with pytest.raises(InputError, match="cannot be read as numbers"):
        each().fit([*X[:9], np.array(["a", "b"])], y)
    with pytest.raises(ParameterError, match="batch_size=11 is larger than the 10"):
        each(batch_size=11).fit(X, y)
    model = each(max_iter=1).fit(X, y)
    with pytest.raises(InputError, match="steps of X have 3 numbers, and the network was fitted"):
        model.predict([np.ones((4, 3))])
    with pytest.raises(InputError, match=r"has shape \(0, 2\)"):
        model.predict([X[0][:0]])


def test_the_decay_of_images_and_sequences_is_a_number():
    """Only networks on tables choose it."""
    with pytest.raises(ParameterError, match="alpha='auto' is not allowed"):
        RecurrentClassifier(alpha="auto").fit(np.ones((4, 3)), [0, 1, 0, 1])


def test_one_sequence_in_a_list():
    model = RecurrentClassifier(4, max_iter=1).fit([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]], [0, 1, 0])
    np.testing.assert_array_equal(
        model.predict_proba([[1.0, 2.0, 3.0, 4.0]]), model.predict_proba([np.arange(1.0, 5.0)])
    )


def test_forms_of_sequences():
    assert packed(np.zeros((4, 3))) is None
    assert packed([[1.0, 2.0], [3.0, 4.0]]) is None  # a table written as lists
    with pytest.raises(InputError, match="X holds texts, such as 'ab'"):
        packed(["ab", "cd"])
    rows, d = packed([[1.0], [3.0, 4.0]])
    assert (rows.tolist(), d) == ([[1, 1, 0], [2, 3, 4]], 1)
    rows, d = packed(np.arange(12.0).reshape(1, 3, 4))
    assert (rows[0, 0], d, rows.shape) == (3, 4, (1, 13))
