"""Votes, scores and probabilities of several classes from decisions between pairs of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bottega.classify import OneVsOneClassifier
from bottega.core.pairs import coupled, pair_scores, pair_votes
from bottega.kernel import SupportVectorClassifier


@given(arrays(np.float64, st.integers(2, 6), elements=st.floats(0.01, 1)))
@settings(max_examples=50, deadline=None)
def test_true_pairs_give_the_true_probabilities(p):
    p = p / p.sum()
    K = len(p)
    pairs = [p[i] / (p[i] + p[j]) for i in range(K) for j in range(i + 1, K)]
    assert coupled(np.array([pairs]), K)[0] == pytest.approx(p, abs=1e-6)


@given(arrays(np.float64, (3, 6), elements=st.floats(0, 1)))
@settings(max_examples=50, deadline=None)
def test_any_pairs_give_probabilities_that_are_optimal(pairs):
    p = coupled(pairs, 4)
    assert np.all(p >= 0)
    assert p.sum(axis=1) == pytest.approx(1)
    index = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    r = np.clip(pairs, 1e-7, 1 - 1e-7)

    def value(q):
        terms = [((1 - r[0, k]) * q[i] - r[0, k] * q[j]) ** 2 for k, (i, j) in enumerate(index)]
        return sum(terms)

    rng = np.random.default_rng(0)
    for _ in range(20):
        other = 0.9 * p[0] + 0.1 * rng.dirichlet(np.ones(4))
        assert value(p[0]) <= value(other) + 1e-9


def test_votes_count_and_decisions_break_ties_alone():
    decisions = np.array([[0.1, 50.0, -9.0], [0.1, 0.2, -9.0]])
    votes = pair_votes(decisions > 0, 3)
    assert votes.tolist() == [[2, 0, 1], [2, 0, 1]]
    scores = pair_scores(decisions > 0, decisions, 3)
    assert np.array_equal(np.rint(scores), votes)
    around = np.array([[1.0, -1.0, 2.0]])  # each class wins once
    assert np.argmax(pair_scores(around > 0, around, 3)) == 1


def test_pairs_of_machines_are_one_classifier_for_all_pairs():
    """A machine for all pairs decides as the same machines one by one do."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat(["a", "b", "c"], 20)
    X += 2 * np.eye(3, 2)[np.repeat([0, 1, 2], 20)]
    new = rng.normal(size=(50, 2))
    whole = SupportVectorClassifier(gamma=0.5, probability=False).fit(X, y)
    single = SupportVectorClassifier(gamma=0.5, probability=False)
    parts = OneVsOneClassifier(single).fit(X, y)
    assert parts.decision_function(new) == pytest.approx(whole.decision_function(new), abs=1e-6)
    assert np.array_equal(parts.predict(new), whole.predict(new))
