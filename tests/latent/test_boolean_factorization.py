import pickle
import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError, ParameterError
from bottega.latent import BooleanFactorization

# The example of the notes: six rows, five columns, two patterns.
NOTES = np.array(
    [[int(bit) for bit in row] for row in ["11110", "11110", "11111", "00011", "00011", "10011"]]
)


def planted(n=60, p=20, k=3, seed=0, share=0.4):
    rng = np.random.default_rng(seed)
    B = (rng.random((n, k)) < share).astype(int)
    C = (rng.random((k, p)) < 0.4).astype(int)
    return (B @ C > 0).astype(int), B, C


def exact_error(X, k):
    """Return the least error of all pairs of factors, by trying all components."""
    p = X.shape[1]
    rows = [np.array(bits) for bits in product((0, 1), repeat=p)]
    best = X.size
    for chosen in product(range(len(rows)), repeat=k):
        if list(chosen) != sorted(chosen):
            continue
        C = np.array([rows[c] for c in chosen])
        sums = np.array([np.array(code) @ C > 0 for code in product((0, 1), repeat=k)])
        wrong = np.abs(X[:, None, :] - sums[None]).sum(axis=2).min(axis=1).sum()
        best = min(best, int(wrong))
    return best


def test_notes_example_has_one_wrong_entry():
    model = BooleanFactorization(2).fit(NOTES)
    assert model.reconstruction_err_ == 1
    found = {tuple(row) for row in model.components_.tolist()}
    assert found == {(1, 1, 1, 1, 0), (0, 0, 0, 1, 1)}
    codes = model.transform(NOTES)
    wrong = np.argwhere(model.inverse_transform(codes) != NOTES)
    assert wrong.tolist() == [[5, 0]]  # the last row has the second pattern alone
    # Its code as printed, the first pattern alone, is wrong in three entries; both in two.
    C = np.array([[1, 1, 1, 1, 0], [0, 0, 0, 1, 1]])
    errors = [int(np.sum((np.array(b) @ C > 0) != NOTES[5])) for b in ((1, 0), (1, 1), (0, 1))]
    assert errors == [3, 2, 1]


@pytest.mark.parametrize("seed", range(8))
def test_planted_patterns_are_found_again(seed):
    X, _, _ = planted(seed=seed)
    model = BooleanFactorization(3).fit(X)
    assert model.reconstruction_err_ == 0
    assert np.array_equal(model.inverse_transform(model.transform(X)), X)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 2))
def test_error_is_near_the_least_of_all(seed, k):
    X = (np.random.default_rng(seed).random((6, 4)) < 0.5).astype(int)
    model = BooleanFactorization(k).fit(X)
    least = exact_error(X, k)
    # The problem is NP-hard: local search may miss the least by an entry.
    assert least <= model.reconstruction_err_ <= least + 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 12), st.integers(1, 5))
def test_error_never_rises_and_is_the_number_of_differing_entries(seed, n, p, k):
    rng, k = np.random.default_rng(seed), min(k, n, p)
    X = (rng.random((n, p)) < rng.random()).astype(float)
    if rng.random() < 0.5:
        X[rng.random((n, p)) < 0.2] = np.nan
        X[np.arange(n), rng.integers(p, size=n)] = 1.0
        X[rng.integers(n, size=p), np.arange(p)] = 1.0
    model = BooleanFactorization(k).fit(X)
    assert np.all(np.diff(model.objective_) <= 0)
    assert model.objective_[0] == np.nansum(X)
    assert model.objective_[-1] == model.reconstruction_err_
    assert set(np.unique(model.components_)) <= {0, 1}
    seen = ~np.isnan(X)
    fewer = BooleanFactorization(max(k - 1, 1)).fit(X)
    assert model.reconstruction_err_ <= fewer.reconstruction_err_
    codes = model.transform(X)
    assert set(np.unique(codes)) <= {0, 1}
    wrong = int(np.sum((model.inverse_transform(codes) != X)[seen]))
    # Codes of new rows start from nothing, those of the fit from its steps: neither is always best.
    assert model._row_losses(X) @ seen.sum(axis=1) == pytest.approx(wrong)


def test_or_counts_an_overlap_once():
    model = BooleanFactorization(2).fit([[1, 1, 0], [0, 1, 1], [1, 1, 1]])
    assert model.inverse_transform([[1, 1]]).tolist() == [[1, 1, 1]]
    assert model.inverse_transform([[0, 0]]).tolist() == [[0, 0, 0]]


def test_path_picks_the_planted_number_by_entries_held_out():
    X, _, _ = planted(n=120, p=25, k=3, seed=4)
    flips = np.random.default_rng(5).random(X.shape) < 0.03
    model = BooleanFactorization(select="min", cv=3).fit(np.where(flips, 1 - X, X))
    assert model.n_components_ == 3
    assert model.path_.estimate == "entries"
    assert np.all(np.diff(model.path_.train_error) <= 0)
    assert model.path_.error[2] < 0.06 < model.path_.error[0]


def test_missing_entries_are_filled_in():
    X, _, _ = planted(n=80, seed=6)
    gaps = np.random.default_rng(7).random(X.shape) < 0.1
    seen = np.where(gaps, np.nan, X)
    model = BooleanFactorization(3).fit(seen)
    assert model.reconstruction_err_ == 0
    fitted = model.inverse_transform(model.transform(seen))
    assert np.mean(fitted[gaps] != X[gaps]) < 0.02


def test_order_of_the_rows_and_columns_does_not_change_the_error():
    X, _, _ = planted(seed=9)
    flips = np.random.default_rng(1).random(X.shape) < 0.02
    X = np.where(flips, 1 - X, X)
    rng = np.random.default_rng(2)
    other = X[rng.permutation(len(X))][:, rng.permutation(X.shape[1])]
    one, two = (BooleanFactorization(3).fit(each).reconstruction_err_ for each in (X, other))
    assert one == two


@pytest.mark.parametrize("value", [2.0, -1.0, 0.5])
def test_input_that_is_not_zero_or_one_is_refused_with_its_place(value):
    X = NOTES.astype(float)
    X[3, 2] = value
    message = f"X has 1 other values, the first {value:g} in row 3 (counted from 0), column 'x2'"
    with pytest.raises(InputError, match=re.escape(message)):
        BooleanFactorization(2).fit(X)
    with pytest.raises(InputError, match="takes zeros and ones"):
        BooleanFactorization(2).fit(NOTES).transform(X)


def test_bad_codes_and_parameters_are_refused():
    model = BooleanFactorization(2).fit(NOTES)
    with pytest.raises(InputError, match="one column per component: 2"):
        model.inverse_transform([[1, 0, 1]])
    with pytest.raises(InputError, match="zeros and ones; round them"):
        model.inverse_transform([[0.5, 0.2]])
    with pytest.raises(ParameterError, match="n_components=0"):
        BooleanFactorization(0).fit(NOTES)
    empty = NOTES.astype(float)
    empty[2] = np.nan
    with pytest.raises(InputError, match="Row 2 of X"):
        BooleanFactorization(2).fit(empty)


def test_tables_of_zeros_ones_and_one_row():
    zero = BooleanFactorization(2).fit(np.zeros((3, 4)))
    assert (zero.reconstruction_err_, zero.components_.sum()) == (0, 0)
    ones = BooleanFactorization(1).fit(np.ones((3, 4)))
    assert ones.components_.tolist() == [[1, 1, 1, 1]]
    single = BooleanFactorization(1).fit([[0, 1, 1]])
    assert single.components_.tolist() == [[0, 1, 1]]


def test_names_results_and_round_trip():
    frame = pd.DataFrame(NOTES, columns=list("abcde"))
    model = BooleanFactorization(2).set_output(transform="pandas").fit(frame)
    assert sorted(model.summary().sections[0].columns["columns"]) == ["a, b, c, d", "d, e"]
    codes = model.transform(frame)
    assert codes.columns.tolist() == ["booleanfactorization0", "booleanfactorization1"]
    assert pickle.loads(pickle.dumps(model)).transform(frame).equals(codes)
    cells = model.plot().to_dict()["data"]["values"]
    assert len(cells) == 6


def test_more_components_than_give_any_table_are_refused():
    X = np.random.default_rng(0).integers(0, 2, size=(30, 5))
    assert BooleanFactorization(5).fit(X).reconstruction_err_ <= 5
    with pytest.raises(InputError, match=r"n_components=500 is more than min\(.*\) = 5"):
        BooleanFactorization(500).fit(X)
    with pytest.raises(InputError, match="n_components=9 is more than"):
        BooleanFactorization().path(X, values=[1, 9])
