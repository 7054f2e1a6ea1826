import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.linear_model import SGDClassifier

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError
from bottega.online import Perceptron
from bottega.online._kernels import perceptron as _kernels
from bottega.risk.bounds import perceptron_compression

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
OR, AND, XOR = [-1, 1, 1, 1], [-1, -1, -1, 1], [-1, 1, 1, -1]
# Weights are sums of the same rows in another order, or in the same: rounding only.
SAME = {"rel": 1e-12, "abs": 1e-12}


def noisy(n=200, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.3, 1, -1)


def weights(model):
    return np.column_stack([model.coef_, model.intercept_])


# ---- the traces of the notes (B14) -------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "by_epoch", "w", "bound"),
    [
        (OR, [3, 1, 2, 2, 1, 0], [2, 2, -1], 27),
        (AND, [2, 3, 3, 2, 2, 3, 2, 1, 0], [3, 2, -4], 51),
    ],
)
def test_or_and_and_are_learned_as_in_the_notes(labels, by_epoch, w, bound):
    model = Perceptron(max_iter=1000, until_clean=True, trace=True).fit(SQUARE, labels)
    assert model.updates_by_epoch_.tolist() == by_epoch
    assert model.n_updates_ == sum(by_epoch)
    assert model.n_iter_ == len(by_epoch)
    assert model.converged_
    assert weights(model).tolist() == [w]
    assert model.predict(SQUARE).tolist() == labels
    # The least norm comes from a quadratic program solved to about 1e-9.
    assert model.convergence_bound_ == pytest.approx(bound, rel=1e-6)


def test_xor_comes_back_to_zero_with_four_updates_an_epoch():
    model = Perceptron(max_iter=5).fit(SQUARE, XOR)
    assert model.updates_by_epoch_.tolist() == [4, 4, 4, 4, 4]
    assert weights(model).tolist() == [[0, 0, 0]]
    assert not model.converged_


def test_xor_is_given_up_when_the_weights_return():
    with pytest.warns(ConvergenceWarning, match=r"not linearly separable.*set until_clean=False"):
        model = Perceptron(max_iter=1000, until_clean=True).fit(SQUARE, XOR)
    assert model.n_iter_ == 1
    assert not model.converged_


def test_a_longer_cycle_is_noticed():
    # x and 2x with opposite labels, without intercept: whole numbers, so w takes few values.
    X, y = np.array([[1.0], [2.0], [-1.0]]), [1, -1, 1]
    with pytest.warns(ConvergenceWarning, match="back where they were"):
        model = Perceptron(max_iter=1000, until_clean=True, fit_intercept=False).fit(X, y)
    assert 1 <= model.n_iter_ < 20


def test_the_cap_is_said_and_separability_checked():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3.*are not linearly separable"):
        Perceptron(max_iter=3, until_clean=True).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2.*raise max_iter"):
        Perceptron(max_iter=2, until_clean=True).fit(SQUARE, AND)
    X, y = make_blobs(60, centers=3, cluster_std=8.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="not checked"):
        Perceptron(max_iter=2, until_clean=True).fit(X, y)


def test_sgn_of_zero_is_plus_one():
    model = Perceptron(max_iter=1).fit(SQUARE, XOR)  # ends at w = 0
    assert model.predict(SQUARE).tolist() == [1, 1, 1, 1]


def test_any_two_labels_do():
    named = Perceptron(max_iter=1000, until_clean=True).fit(SQUARE, ["no", "yes", "yes", "yes"])
    assert weights(named).tolist() == [[2, 2, -1]]
    assert named.predict(SQUARE).tolist() == ["no", "yes", "yes", "yes"]


# ---- theorems ----------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_certificates_of_the_proof_hold_at_every_update(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    u = rng.normal(size=3)
    margins = X @ u[:2] + u[2]
    keep = np.abs(margins) > 0.1 * np.linalg.norm(u)
    y = np.where(margins > 0, 1, -1)
    if len(np.unique(y[keep])) < 2:
        return
    model = Perceptron(max_iter=5000, until_clean=True, trace=True).fit(X[keep], y[keep])
    trace = model.trace_
    number = np.arange(1, model.n_updates_ + 1)
    assert np.all(trace["norm2"] <= trace["norm2_limit"] * (1 + 1e-12))
    assert np.all(trace["alignment"] >= number * (1 - 1e-9))
    assert model.n_updates_ <= model.convergence_bound_ * (1 + 1e-9)
    assert trace["norm2"][-1] == pytest.approx(np.sum(weights(model) ** 2))


def test_a_trace_of_rows_that_are_not_separable_has_no_bound():
    model = Perceptron(max_iter=3, trace=True).fit(SQUARE, XOR)
    assert model.separator_ is None
    assert math.isinf(model.convergence_bound_)
    assert np.all(model.trace_["norm2"] <= model.trace_["norm2_limit"])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_learning_from_the_updated_rows_alone_gives_the_same_weights(seed, epochs):
    X, y = noisy(40, seed=seed)
    if len(np.unique(y)) < 2:
        return
    model = Perceptron(max_iter=epochs).fit(X, y)
    rows = model.updated_rows_
    if len(np.unique(y[rows])) < 2:
        return
    again = Perceptron(max_iter=epochs).fit(X[rows], y[rows])
    assert np.array_equal(weights(again), weights(model))
    assert again.n_updates_ == model.n_updates_
    assert model.n_updated_rows_ == len(rows) <= model.n_updates_


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 10), st.integers(1, 4))
def test_mistakes_are_bounded_for_every_comparator(seed, size, epochs):
    X, y = noisy(60, seed=seed)
    if len(np.unique(y)) < 2:
        return
    u = size * np.random.default_rng(seed + 1).normal(size=4)
    model = Perceptron(max_iter=epochs).fit(X, y)
    assert model.n_updates_ <= model.mistake_bound(u, X, y) * (1 + 1e-12)
    assert model.n_updates_ <= model.mistake_bound(u, sparse.csr_matrix(X), y) * (1 + 1e-12)


def test_mistake_bound_by_hand():
    model = Perceptron(max_iter=1, fit_intercept=False).fit([[1.0], [-2.0], [1.0]], [1, -1, -1])
    # Hinge losses of u = 1: 0, 0, 2; the largest norm of a row is 2.
    assert model.mistake_bound([1.0], [[1.0], [-2.0], [1.0]], [1, -1, -1]) == pytest.approx(
        2 + 4 + 2 * math.sqrt(2)
    )


def test_compression_certificate():
    X, y = noisy(2000)
    X[:, 0] *= 20  # hardly a mistake
    y = np.where(X[:, 0] > 0, 1, -1)
    model = Perceptron(max_iter=2).fit(X, y)
    certificate = model.certificate(0.1)
    outside = np.setdiff1d(np.arange(2000), model.updated_rows_)
    error = np.mean(model.predict(X[outside]) != y[outside])
    assert certificate.estimate == error == model.error_outside_
    assert certificate.n == len(outside)
    assert certificate.upper == pytest.approx(
        perceptron_compression(error, model.n_updated_rows_, 2000, 0.1)
    )
    assert model.certificate_.delta == 0.05


def test_compression_certificate_is_refused_where_it_says_nothing():
    X, y = noisy(20)
    with pytest.raises(InputError, match="at most half"):
        Perceptron(max_iter=20).fit(X, np.where(np.arange(20) % 2, 1, -1)).certificate()
    shown = dir(Perceptron(max_iter=20).fit(X, np.where(np.arange(20) % 2, 1, -1)))
    assert "coef_" in shown  # names can be completed though there is no `certificate_`
    with pytest.raises(InputError, match="average=False"):
        Perceptron(average=True).fit(X, y).certificate()
    with pytest.raises(InputError, match="call fit"):
        Perceptron().partial_fit(X, y).certificate()


# ---- peers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("epochs", [1, 2, 7])
@pytest.mark.parametrize("data", [(SQUARE, OR), (SQUARE, XOR), noisy()])
def test_weights_are_scikit_learns_after_every_epoch(data, epochs):
    X, y = data
    peer = SklearnPerceptron(shuffle=False, max_iter=epochs, tol=None).fit(X, y)
    model = Perceptron(max_iter=epochs).fit(X, y)
    assert weights(model)[0] == pytest.approx([*peer.coef_[0], *peer.intercept_], **SAME)


def test_weights_are_scikit_learns_after_every_row():
    X, y = noisy(50)
    peer, model = SklearnPerceptron(shuffle=False), Perceptron()
    for i in range(len(X)):
        peer.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
        assert weights(model)[0] == pytest.approx([*peer.coef_[0], *peer.intercept_], **SAME)


@pytest.mark.parametrize("epochs", [1, 3])
def test_averaged_weights_are_scikit_learns(epochs):
    X, y = noisy()
    peer = SGDClassifier(
        loss="perceptron",
        learning_rate="constant",
        eta0=1.0,
        penalty=None,
        average=True,
        shuffle=False,
        max_iter=epochs,
        tol=None,
    ).fit(X, y)
    model = Perceptron(max_iter=epochs, average=True).fit(X, y)
    # Theirs is a running mean, ours one subtraction at the end.
    assert weights(model)[0] == pytest.approx([*peer.coef_[0], *peer.intercept_], rel=1e-9)


def test_averaged_weights_are_the_mean_over_the_rows():
    X, y = noisy(40)
    plain, total = Perceptron(), 0.0
    for i in range(40):
        plain.partial_fit(X[[i]], y[[i]], classes=[-1, 1])
        total = total + weights(plain)
    averaged = Perceptron(max_iter=1, average=True).fit(X, y)
    assert weights(averaged) == pytest.approx(total / 40, **SAME)


# ---- several classes ---------------------------------------------------------------------------


def test_two_vectors_for_two_classes_are_the_plain_rule():
    X, y = noisy()
    W, none, losses = np.zeros((2, 4)), np.zeros((2, 0)), np.empty(len(y))
    _kernels.perceptron_many_dense(X, (y > 0).astype(np.intp), W, True, 0.0, none, losses)
    plain = Perceptron()
    assert np.array_equal(plain.learn_block(X, y), losses)
    assert weights(plain)[0] == pytest.approx(W[1], **SAME)
    assert W[0] == pytest.approx(-W[1], **SAME)


def naive_many(X, y, n_classes):
    W = np.zeros((n_classes, X.shape[1] + 1))
    for x, label in zip(np.column_stack([X, np.ones(len(X))]), y, strict=True):
        scores = W @ x
        rivals = np.where(np.arange(n_classes) == label, -np.inf, scores)
        if scores[label] <= rivals.max():
            W[label] += x
            W[np.argmax(rivals)] -= x
    return W


def test_several_classes_by_the_definition():
    X, y = make_blobs(150, centers=4, n_features=3, cluster_std=4.0, random_state=1)
    W = naive_many(X, y, 4)
    for rows in (X, sparse.csr_matrix(X)):
        assert weights(Perceptron(max_iter=1).fit(rows, y)) == pytest.approx(W, **SAME)


def test_separable_classes_are_learned():
    X, y = make_blobs(200, centers=5, cluster_std=0.5, random_state=3)
    model = Perceptron(max_iter=1000, until_clean=True).fit(X, np.array(list("abcde"))[y])
    assert model.converged_
    assert model.score(X, np.array(list("abcde"))[y]) == 1


# ---- blocks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("centers", [2, 3])
def test_rows_blocks_and_sparse_blocks_are_the_same(centers, average):
    X, y = make_blobs(90, centers=centers, n_features=5, cluster_std=5.0, random_state=2)
    X[X < 0] = 0
    whole = Perceptron(max_iter=1, average=average).fit(X, y)
    for size, as_block in ((1, np.asarray), (7, np.asfortranarray), (13, sparse.csr_array)):
        parts = Perceptron(average=average)
        losses = []
        for start in range(0, 90, size):
            rows = slice(start, start + size)
            losses.append(parts.learn_block(as_block(X[rows]), y[rows], classes=range(centers)))
        assert weights(parts) == pytest.approx(weights(whole), **SAME)
        assert np.concatenate(losses).sum() == parts.n_updates_ == whole.n_updates_
        assert parts.n_updated_rows_ == parts.n_updates_
        assert parts.n_samples_seen_ == 90
        assert parts.max_norm_ == pytest.approx(whole.max_norm_)


def test_duplicate_entries_of_a_sparse_row_add_up():
    X = sparse.csr_matrix(
        (np.array([1.0, 2.0, -3.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    model = Perceptron().fit(X, [1, -1])
    assert weights(model) == pytest.approx(weights(Perceptron().fit(X.toarray(), [1, -1])))
    assert model.max_norm_ == pytest.approx(math.sqrt(10))
    assert X.nnz == 3  # the user's matrix is left alone


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[np.nan, 1.0]], [1], "NaN"),
        ([[np.inf, 1.0]], [1], "infinity"),
        ([[0.0, 1.0, 2.0]], [1], "3 features"),
        (np.empty((0, 2)), [], "0 sample"),
        ([[0.0, 1.0]], [2], r"label .*2.* is not among the classes \[-1, 1\]"),
        ([[0.0, 1.0]], ["red"], "label .*'red'.* is not among the classes"),
        ([[0.0, 1.0], [1.0, 1.0]], [1], "inconsistent numbers of samples"),
        ([[1e300, 1e308], [-1e300, 1e308]], [-1, 1], "overflow"),
    ],
)
@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
def test_a_refused_block_leaves_the_model_as_it_was(X, y, words, kind):
    model = Perceptron(average=True).partial_fit(SQUARE, OR)
    before = {name: np.copy(value) for name, value in vars(model).items()}
    with pytest.raises(ValueError, match=words):
        model.partial_fit(kind(X), np.array(y))
    after = vars(model)
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_refused_first_block_leaves_the_model_new():
    model = Perceptron()
    with pytest.raises(InputError, match=r"one class.*classes="):
        model.partial_fit(SQUARE[:1], [1])
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([[np.nan]], [1], classes=[-1, 1])
    assert vars(model) == vars(Perceptron())
    model.partial_fit(SQUARE, OR)
    assert model.n_samples_seen_ == 4


def test_labels_may_not_change_in_mid_stream():
    model = Perceptron().partial_fit(SQUARE, OR, classes=[-1, 1])
    with pytest.raises(InputError, match="not those of the first block"):
        model.partial_fit(SQUARE, OR, classes=[0, 1])
    several = Perceptron().partial_fit(SQUARE, [0, 1, 2, 0])
    with pytest.raises(InputError, match="'red'"):
        several.partial_fit(SQUARE[:1], np.array(["red"]))


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="max_iter=0"):
        Perceptron(max_iter=0).fit(SQUARE, OR)
    with pytest.raises(InputError, match="two classes"):
        Perceptron(trace=True).fit(SQUARE, [0, 1, 2, 0])
    model = Perceptron().partial_fit(SQUARE, OR)
    with pytest.raises(InputError, match="has changed"):
        model.set_params(average=True).partial_fit(SQUARE, OR)
    with pytest.raises(InputError, match=r"u has shape \(2,\)"):
        Perceptron().fit(SQUARE, OR).mistake_bound([1.0, 1.0], SQUARE, OR)
