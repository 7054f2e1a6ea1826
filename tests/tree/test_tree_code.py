"""Code words of trees, Kraft's inequality and the bound that follows, with the notes' numbers."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bottega.core.errors import InputError
from bottega.tree import TreeClassifier
from bottega.tree.tree_code import (
    Alphabet,
    code_length,
    decode,
    encode,
    preorder,
    srm_margin,
    srm_objective,
)


def trees(n_nodes, d):
    """Return every binary tree with two labels over d tests, as symbols in preorder."""
    if n_nodes == 1:
        return [(0,), (1,)]
    return [
        (3 + test, *left, *right)
        for size in range(1, n_nodes - 1, 2)
        for left in trees(size, d)
        for right in trees(n_nodes - 1 - size, d)
        for test in range(d)
    ]


def function_of(symbols, d):
    """Return the labels of all points of {0, 1}^d under a tree in preorder."""

    def follow(x):
        rest = iter(symbols)

        def branch():
            symbol = next(rest)
            if symbol < 2:
                return symbol
            sides = branch(), branch()
            return sides[x[symbol - 3]]

        return branch()

    return tuple(follow(x) for x in itertools.product((0, 1), repeat=d))


def test_functions_that_trees_with_n_nodes_compute():
    # A40: XOR and its negation need seven nodes.
    counts = [len({function_of(tree, 2) for tree in trees(n, 2)}) for n in (1, 3, 5, 7)]
    assert counts == [2, 6, 14, 16]
    assert [len({function_of(tree, 3) for tree in trees(n, 3)}) for n in (1, 3, 5)] == [2, 8, 32]
    # A42: the counting bound holds, loosely.
    for n, count in zip((1, 3, 5, 7), counts, strict=True):
        assert count <= (2 * 2 * math.e) ** n


def test_lengths_of_the_notes():
    sizes = [(1, 1), (1, 5), (3, 1), (3, 5), (5, 5), (7, 10), (15, 13), (31, 20)]
    assert [code_length(*size) for size in sizes] == [5, 7, 11, 15, 23, 37, 71, 169]
    with pytest.raises(InputError, match="at least one node"):
        code_length(0, 3)


def test_kraft_sums_of_the_notes():
    # Full binary trees with k tests: Catalan(k) shapes, d^k tests, 2^(k+1) labels.
    for d, expected in ((1, 0.064619), (2, 0.015878), (5, 0.016305), (10, 0.003986)):
        total = 0.0
        for k in range(400):
            log = math.log(math.comb(2 * k, k) // (k + 1)) + k * math.log(d) + (k + 1) * math.log(2)
            total += math.exp(log - code_length(2 * k + 1, d) * math.log(2))
        assert total == pytest.approx(expected, abs=1e-6)


def test_code_is_prefix_free_and_comes_back():
    words = {}
    for n in (1, 3, 5, 7):
        for tree in trees(n, 2):
            word = encode(tree, 2)
            assert len(word) == code_length(n, 2)
            assert decode(word + "0110", 2) == (list(tree), "0110")
            words[word] = tree
    ordered = sorted(words)
    assert not any(b.startswith(a) for a, b in itertools.pairwise(ordered))
    assert len(words) == sum(len(trees(n, 2)) for n in (1, 3, 5, 7))
    with pytest.raises(InputError, match="end within"):
        decode(ordered[-1][:-1], 2)
    with pytest.raises(InputError, match="end within"):
        decode("000", 2)
    with pytest.raises(InputError, match="no tree"):
        decode(encode([0, 0, 0], 2), 2)


def test_margins_of_the_notes():
    length = code_length(7, 10)
    assert srm_margin(length, 10_000) == pytest.approx(0.038298, abs=1e-6)
    # The notes print the length in bits without ln 2, which is looser.
    printed = math.sqrt((length + math.log(2 / 0.05)) / 20_000)
    assert printed == pytest.approx(0.045105, abs=1e-6)
    assert srm_objective(0.1, length, 10_000) == pytest.approx(0.138298, abs=1e-6)
    # A43, the bound for exactly seven nodes, for comparison.
    exact = math.sqrt(2 / 10_000 * (7 * (1 + math.log(20)) + math.log(40)))
    assert exact == pytest.approx(0.079573, abs=1e-6)
    assert math.isfinite(srm_margin(1 << 200, 100))


def test_number_of_tests_is_fixed_by_the_kind_of_column():
    alphabet = Alphabet(
        np.array([True, False, False, True]),
        np.array([False, False, False, True]),
        np.array([0, 0, 70, 0]),
    )
    assert alphabet.sizes() == [1, 2**64, 2**70, 2]
    assert alphabet.n_tests == 2**70 + 2**64 + 3


def test_fitted_trees_have_code_words():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "flag": rng.integers(0, 2, 200),
            "size": np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200)),
            "kind": rng.choice(list("abcd"), 200),
        }
    )
    y = (table["flag"] == 1) ^ (table["size"].fillna(0) > 0.3) ^ table["kind"].isin(["a", "d"])
    model = TreeClassifier(n_leaves=9).fit(table, y)
    alphabet = model._alphabet
    assert alphabet.sizes() == [1, 2**65, 2**4]
    d = alphabet.n_tests
    symbols = preorder(model.nodes_, model._labels(model.nodes_), alphabet, 2)
    word = encode(symbols, d)
    assert decode(word, d) == (symbols, "")
    assert len(word) == code_length(model.nodes_.n_nodes, d)
    assert all(2 < symbol < d + 3 for symbol in symbols if symbol > 1)
    # Different trees, different words: another fit on other rows.
    other = TreeClassifier(n_leaves=9).fit(table[:100], y[:100])
    assert encode(preorder(other.nodes_, other._labels(other.nodes_), alphabet, 2), d) != word
    multi = TreeClassifier(ccp_alpha=0, multiway=True).fit(table[["kind"]], table["kind"])
    with pytest.raises(InputError, match="binary trees"):
        preorder(multi.nodes_, multi._labels(multi.nodes_), multi._alphabet, 4)


def boolean_rows(n, rng, d=6, noise=0.1):
    X = rng.integers(0, 2, (n, d)).astype(float)
    y = (X[:, 0] * X[:, 1] == 1) ^ (rng.random(n) < noise)
    return X, y.astype(int)


def test_certificate_of_a_boolean_tree():
    X, y = boolean_rows(4000, np.random.default_rng(0))
    model = TreeClassifier(select="srm").fit(X, y)
    assert model.nodes_.n_leaves == 3
    found = model.certificate_
    error = np.mean(model.predict(X) != y)
    margin = srm_margin(code_length(5, 6), 4000)
    assert found.estimate == pytest.approx(error)
    assert found.upper == pytest.approx(error + margin)
    assert found.lower == pytest.approx(error - margin)
    assert model.path_.criteria["srm"].min() == pytest.approx(error + margin)
    assert any("independent" in sentence for sentence in found.assumptions)
    # srm picks the least objective along the path
    place = model.path_.best("srm")
    assert model.ccp_alpha_ == model.path_.values[place]


def test_no_certificate_says_why():
    X, y = boolean_rows(60, np.random.default_rng(1))
    weighted = TreeClassifier(ccp_alpha=0.01).fit(X, y, sample_weight=np.arange(1, 61))
    with pytest.raises(InputError, match="without sample_weight"):
        weighted.certificate_  # noqa: B018
    assert not hasattr(weighted, "certificate_")
    assert "nodes_" in dir(weighted)
    for options, reason in (
        ({"cost": [[0, 1], [2, 0]]}, "costs"),
        ({"priors": [0.5, 0.5]}, "priors"),
        ({"multiway": True}, "multiway=False"),
        ({"missing": "surrogate"}, "surrogates"),
    ):
        model = TreeClassifier(ccp_alpha=0.01, **options).fit(X, y)
        with pytest.raises(InputError, match=reason):
            model.certificate_  # noqa: B018
        with pytest.raises(InputError, match=f"srm.*{reason}"):
            TreeClassifier(select="srm", **options).fit(X, y)
        assert "srm" not in TreeClassifier(**options).path(X, y).criteria
    with pytest.raises(InputError, match=r"srm.*sample_weight"):
        TreeClassifier(select="srm").fit(X, y, sample_weight=np.arange(1, 61))


def test_certificate_covers_the_true_error():
    # The true error is known exactly: the inputs take 2^4 values with equal probability.
    rng = np.random.default_rng(7)
    d, noise, delta, runs = 4, 0.2, 0.3, 60
    points = np.array(list(itertools.product((0.0, 1.0), repeat=d)))
    truth = points[:, 0] * points[:, 1] == 1
    failed = 0
    for _ in range(runs):
        X, y = boolean_rows(80, rng, d=d, noise=noise)
        model = TreeClassifier(select="srm", delta=delta, cv=2).fit(X, y)
        wrong = model.predict(points).astype(bool) != truth
        true_error = np.mean(np.where(wrong, 1 - noise, noise))
        found = model.certificate_
        failed += not found.lower <= true_error <= found.upper
    # If the claim were just true, more failures than this would have probability below 1e-6.
    assert failed <= stats.binom.ppf(1 - 1e-6, runs, delta)
    assert found.upper < 1
