"""Entropy, divergence, mutual information and Huffman's code: notes, SciPy, enumeration."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.core.errors import InputError
from bottega.probability import entropy, huffman, kl, mutual_information
from bottega.tree import entropy as entropy_of_trees

weights = st.lists(st.floats(0, 1), min_size=2, max_size=6).filter(lambda w: max(w) > 1e-3)


# ---- divergence and information ------------------------------------------------------------------


def test_entropy_is_the_one_of_the_trees():
    assert entropy is entropy_of_trees
    assert entropy([0.5, 0.25, 0.125, 0.125]) == 1.75  # N225
    assert entropy([1e308, 1e308]) == 1
    assert entropy([1e-320, 1e-320]) == 1


@settings(max_examples=60, deadline=None)
@given(p=weights, seed=st.integers(0, 999))
def test_divergence_is_that_of_scipy(p, seed):
    q = np.random.default_rng(seed).dirichlet(np.ones(len(p))) + 1e-9
    expected = stats.entropy(p, q, base=2)
    assert kl(p, q) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert kl(p, q, base=np.e) == pytest.approx(kl(p, q) * np.log(2), abs=1e-14)
    assert kl(p, q) >= 0
    assert kl(np.multiply(p, 7), q) == pytest.approx(kl(p, q), abs=1e-12)
    assert kl(p, p) == 0


def test_divergence_of_many_and_of_what_is_ruled_out():
    found = kl([[1, 1], [1, 0], [0, 1]], [1, 0])
    np.testing.assert_array_equal(found, [np.inf, 0, np.inf])
    for p, q, message in [
        ([1, 1], [1, 1, 1], "same outcomes; got 2 and 3"),
        (np.ones((2, 3)), np.ones((4, 3)), "shapes that fit"),
        ([-1, 2], [1, 1], "p must be lists of numbers that are not negative"),
        ([1, 1], [0, 0], "q must be lists"),
        ([1, np.nan], [1, 1], "p must be"),
        (1.0, [1.0], "p must be"),
    ]:
        with pytest.raises(InputError, match=message):
            kl(p, q)
    for base in (1, 0, -2, np.nan, np.inf):
        with pytest.raises(InputError, match="base="):
            kl([1, 1], [1, 1], base=base)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 9999), rows=st.integers(1, 4), columns=st.integers(1, 4))
def test_mutual_information_is_what_the_entropies_share(seed, rows, columns):
    joint = np.random.default_rng(seed).integers(0, 5, size=(rows, columns)) + 0.0
    joint[0, 0] += 1
    shared = entropy(joint.sum(1)) + entropy(joint.sum(0)) - entropy(joint.ravel())
    found = mutual_information(joint)
    assert found == pytest.approx(shared, abs=1e-12)
    assert mutual_information(joint.T) == pytest.approx(found, abs=1e-12)
    assert found <= min(entropy(joint.sum(1)), entropy(joint.sum(0))) + 1e-12
    independent = np.outer(joint.sum(1), joint.sum(0))
    assert mutual_information(independent) == pytest.approx(0, abs=1e-12)


def test_mutual_information_of_several_tables():
    np.testing.assert_allclose(mutual_information([np.eye(4), np.ones((4, 4))]), [2, 0], atol=1e-12)
    with pytest.raises(InputError, match="joint must be"):
        mutual_information([1, 2])


# ---- Huffman -------------------------------------------------------------------------------------


def test_the_code_of_the_notes_has_1_75_bits():  # N224, N225
    code = huffman({"dog": 0.5, "cat": 0.25, "fish": 0.125, "bird": 0.125})
    assert code.words == {"dog": "0", "cat": "10", "fish": "110", "bird": "111"}
    assert code.mean_length == code.entropy == 1.75
    frame = code.to_frame()
    assert frame["length"].tolist() == frame["optimal_length"].tolist() == [1, 2, 3, 3]
    assert "1.75 bits per symbol" in str(code)
    assert "dog" in repr(code)
    # Four equal words take two bits each, as a code of fixed length.
    assert huffman([1, 1, 1, 1]).words == {0: "00", 1: "01", 2: "10", 3: "11"}


def kraft_lengths(count):
    """Every list of lengths, none longer than needed, that a prefix code of so many words has."""
    for lengths in product(range(1, count), repeat=count):
        if sum(2.0**-length for length in lengths) <= 1:
            yield lengths


@settings(max_examples=40, deadline=None)
@given(p=st.lists(st.floats(0, 1), min_size=2, max_size=5).filter(lambda w: max(w) > 1e-3))
def test_no_prefix_code_is_shorter(p):
    """Kraft: the lengths of any prefix code have sum 2^-l at most 1; all of them are tried."""
    code = huffman(p)
    shares = np.array(p) / np.sum(p)
    shortest = min(float(shares @ np.array(lengths)) for lengths in kraft_lengths(len(p)))
    assert code.mean_length == pytest.approx(shortest, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    p=st.lists(st.floats(0, 1), min_size=2, max_size=40).filter(lambda w: max(w) > 1e-3),
    seed=st.integers(0, 99),
)
def test_codes_are_prefix_free_and_decode(p, seed):
    code = huffman(p)
    words = list(code.words.values())
    assert not any(a != b and b.startswith(a) for a in words for b in words)
    assert sum(2.0 ** -len(word) for word in words) == 1  # none is longer than needed
    assert code.entropy - 1e-12 <= code.mean_length <= code.entropy + 1
    text = np.random.default_rng(seed).integers(len(p), size=30).tolist()
    assert code.decode(code.encode(text)) == text


def test_ties_keep_the_longest_word_short():
    """Weights 2, 1, 1, 1, 1: lengths (2, 2, 2, 3, 3) or (1, 3, 3, 3, 3), both of 14 bits."""
    code = huffman([2, 1, 1, 1, 1])
    assert sorted(map(len, code.words.values())) == [2, 2, 2, 3, 3]
    assert 6 * code.mean_length == pytest.approx(14)


def test_odd_codes_and_bad_input():
    single = huffman({"a": 3})
    assert single.words == {"a": "0"}
    assert single.decode("000") == ["a", "a", "a"]
    with pytest.raises(InputError, match="No word of this code begins at bit 1: '1'"):
        single.decode("01")
    code = huffman({"a": 2, "b": 1, "c": 0})
    assert pickle.loads(pickle.dumps(code)) == code
    assert code.decode("") == []
    with pytest.raises(InputError, match="'d' has no word in this code"):
        code.encode("ad")
    with pytest.raises(InputError, match=r"end within a word: '1' is left over from bit 1 on"):
        code.decode("01")
    for shares in ({}, [], {"a": -1}, {"a": 0}, {"a": "x"}, {"a": np.nan}):
        with pytest.raises(InputError, match="shares must be"):
            huffman(shares)


def test_the_drawing_of_a_code_has_both_lengths():
    rows = huffman({"a": 0.7, "b": 0.3}).plot().to_dict()["data"]["values"]
    found = {(row["name"], row["series"]): row["x"] for row in rows}
    assert found["a (0.7): 0", "length of the word"] == 1
    assert found["b (0.3): 1", "log2(1 / probability)"] == pytest.approx(-np.log2(0.3))


def test_bits_are_a_text():
    with pytest.raises(InputError, match="text of 0 and 1"):
        huffman([0.5, 0.3, 0.2]).decode(10)
