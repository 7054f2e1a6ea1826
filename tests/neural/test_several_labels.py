"""Rows that bear several labels at once."""

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import hamming_loss

from bottega.core.errors import InputError
from bottega.neural import NetworkClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
LABELS = ((X @ RNG.normal(size=(3, 4)) + RNG.normal(size=(90, 4))) > 0.4).astype(int)


def test_without_hidden_layers_each_label_is_a_logistic_regression():
    model = NetworkClassifier(
        (), solver="lbfgs", alpha=2.0, standardize=False, tol=1e-9, max_iter=300
    ).fit(X, LABELS)
    found = model.predict_proba(X)
    for k, column in enumerate(LABELS.T):
        peer = LogisticRegression(C=1 / 2.0, tol=1e-10).fit(X, column)
        # The search ends where the loss falls by 2e-9: probabilities to its root.
        assert found[:, k] == pytest.approx(peer.predict_proba(X)[:, 1], abs=2e-4)
    assert np.array_equal(model.predict(X), found > 0.5)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.score(X, LABELS) == np.mean((model.predict(X) == LABELS).all(axis=1))


def test_the_path_counts_wrong_entries():
    model = NetworkClassifier((5,), max_epochs=8).fit(X, LABELS)
    path = model.path(X, LABELS, values=[3], cv=[(np.arange(60), np.arange(60, 90))])
    alone = NetworkClassifier((5,), max_iter=3).fit(X[:60], LABELS[:60])
    assert path.error[0] == pytest.approx(hamming_loss(LABELS[60:], alone.predict(X[60:])))


def test_it_is_stored_and_held_out_and_learnt_in_blocks():
    model = NetworkClassifier((5,), max_iter=4, early_stopping=True).fit(X, LABELS > 0)
    assert max(model.validation_scores_) == model.best_validation_score_
    file = skops.io.dumps(model)
    kept = skops.io.loads(file, trusted=skops.io.get_untrusted_types(data=file))
    assert np.array_equal(kept.predict(X), model.predict(X))
    blocks = NetworkClassifier((5,), batch_size=30)
    blocks.partial_fit(X[:40], LABELS[:40]).partial_fit(X[40:], LABELS[40:])
    assert blocks.predict_proba(X).shape == LABELS.shape
    for other in (LABELS[:, :2], LABELS[:, 0]):
        with pytest.raises(InputError, match="another number of labels"):
            blocks.partial_fit(X, other)


def test_other_values_than_0_and_1_are_refused():
    with pytest.raises(InputError, match=r"y has 4 columns.* and holds [23]; give one column"):
        NetworkClassifier().fit(X, LABELS * np.arange(4))
    with pytest.raises(InputError, match=r"y has 4 columns.* and holds 2; give one column"):
        NetworkClassifier().fit(X, LABELS * 2)
    with pytest.raises(InputError, match=r"y has 4 columns.* and holds '(yes|no)'; give one"):
        NetworkClassifier().fit(X, np.where(LABELS, "yes", "no"))


def test_lists_of_labels_are_refused_with_their_cure():
    lists = [("a", "b")[: i % 3] for i in range(len(X))]
    with pytest.raises(InputError, match=r"different numbers of labels.*MultiLabelBinarizer"):
        NetworkClassifier().fit(X, lists)
