"""The kernel perceptron: the linear one in disguise, its votes and means, and its bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError, NotKept
from bottega.kernel import KernelPerceptron, LinearKernel, SpectrumKernel
from bottega.online import Perceptron

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3))
TWO = np.where(X[:, 0] - X[:, 1] + 0.5 * RNG.normal(size=600) > 0, "b", "a")
FOUR = np.argmax(X @ RNG.normal(size=(3, 4)) + 0.5 * RNG.normal(size=(600, 4)), axis=1)


@pytest.mark.parametrize("y", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize("combine", ["last", "average"])
def test_the_linear_kernel_gives_the_perceptron(y, combine):
    """A77: the same updates at the same rows, over blocks of rows and several passes."""
    model = KernelPerceptron("linear", combine=combine, max_iter=3).fit(X, y)
    linear = Perceptron(max_iter=3, fit_intercept=False, average=combine == "average").fit(X, y)
    assert np.array_equal(model.updates_by_epoch_, linear.updates_by_epoch_)
    assert np.array_equal(np.sort(model.support_), np.sort(linear.updated_rows_))
    scores = linear.decision_function(X)
    assert model.decision_function(X) == pytest.approx(scores, abs=1e-10)
    assert np.array_equal(model.predict(X), linear.predict(X))


@pytest.mark.parametrize("y", [TWO[:80], FOUR[:80]], ids=["two", "four"])
def test_votes_are_those_of_the_functions_along_the_way(y):
    rows = X[:80]
    model = KernelPerceptron(gamma=0.5, combine="vote", max_iter=2).fit(rows, y)
    kernel = model.kernel_
    codes = np.searchsorted(model.classes_, y)
    several = len(model.classes_) > 2
    f = np.zeros((80, len(model.classes_) if several else 1))
    votes = np.zeros((80, len(model.classes_)))
    K = kernel(rows)
    for _ in range(2):
        for t in range(80):
            if several:
                others = np.where(np.arange(f.shape[1]) == codes[t], -np.inf, f[t])
                if f[t, codes[t]] <= others.max():
                    rival = int(np.argmax(others))
                    f[:, codes[t]] += K[:, t]
                    f[:, rival] -= K[:, t]
                winners = np.argmax(f, axis=1)
            else:
                sign = 2 * codes[t] - 1
                if sign * f[t, 0] <= 0:
                    f[:, 0] += sign * K[:, t]
                winners = (f[:, 0] >= 0).astype(int)
            votes[np.arange(80), winners] += 1
    share = votes / 160
    expected = share if several else share[:, 1] - share[:, 0]
    assert model.decision_function(rows) == pytest.approx(expected)
    assert model.score(rows, y) > 0.6


def test_exclusive_or_is_learned():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    labels = [-1, 1, 1, -1]
    assert not KernelPerceptron("linear", max_iter=200).fit(corners, labels).converged_
    model = KernelPerceptron("poly", degree=2, gamma=1.0, combine="last", max_iter=200)
    model.fit(corners, labels)
    assert model.converged_
    assert model.predict(corners).tolist() == labels
    assert model.n_updates_ <= model.convergence_bound()


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_updates_stay_below_their_bounds(seed):
    """A82: distinct points are separable for the Gaussian kernel, whatever their labels."""
    rng = np.random.default_rng(seed)
    rows, y = rng.uniform(size=(15, 2)), rng.integers(2, size=15)
    y[:2] = 0, 1
    model = KernelPerceptron(gamma=200.0, combine="last", max_iter=400).fit(rows, y)
    assert model.max_kernel_ == 1
    if model.converged_:
        assert model.n_updates_ <= model.convergence_bound() * (1 + 1e-9)
        f = model.expansion_
        assert model.n_updates_ <= f.most_updates(rows, 2 * y - 1) * (1 + 1e-9)


def test_many_rows_are_learned_without_the_whole_matrix(monkeypatch):
    whole = KernelPerceptron(gamma=0.3, max_iter=2, shuffle=True, random_state=1).fit(X, TWO)
    monkeypatch.setattr("bottega.kernel.kernel_perceptron._WHOLE", 10)
    parts = KernelPerceptron(gamma=0.3, max_iter=2, shuffle=True, random_state=1).fit(X, TWO)
    assert np.array_equal(whole.support_, parts.support_)
    assert whole.decision_function(X) == pytest.approx(parts.decision_function(X))
    assert parts.max_kernel_ == 1


def test_texts_and_matrices():
    words = ["banana", "bandana", "ananas", "cabana", "lemon", "melon", "demon", "salmon"]
    y = [0] * 4 + [1] * 4
    model = KernelPerceptron(SpectrumKernel(2).normalized()).fit(words, y)
    assert model.predict(["panama", "lemonade"]).tolist() == [0, 1]
    assert set(model.support_vectors_) <= set(words)
    K = SpectrumKernel(2).normalized()(words)
    before = KernelPerceptron("precomputed").fit(K, y)
    assert before.decision_function(K) == pytest.approx(model.decision_function(words))
    with pytest.raises(NotKept, match="no inputs"):
        _ = before.support_vectors_


def test_what_is_refused():
    with pytest.raises(InputError, match="one class, 'a'"):
        KernelPerceptron().fit(X, np.full(600, "a"))
    with pytest.raises(InputError, match="gamma=0"):
        KernelPerceptron(gamma=0).fit(X, TWO)
    with pytest.raises(InputError, match="combine='mean'"):
        KernelPerceptron(combine="mean").fit(X, TWO)
    with pytest.raises(InputError, match="beyond the range"):
        KernelPerceptron(LinearKernel()).fit(1e200 * X, TWO)
    model = KernelPerceptron().fit(X, FOUR)
    with pytest.raises(InputError, match="two classes; there are 4"):
        model.convergence_bound()
    with pytest.raises(NotKept, match="two classes"):
        _ = model.expansion_
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)
    two = KernelPerceptron().fit(X, TWO)
    with pytest.raises(InputError, match="this model's kernel"):
        two.mistake_bound(KernelPerceptron("linear").fit(X, TWO).expansion_, X, TWO)
    with pytest.raises(TypeError, match="sample_weight"):
        two.fit(X, TWO, sample_weight=np.ones(600))
