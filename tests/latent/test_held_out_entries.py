"""Entries that folds hold out, and the error they give a path."""

import numpy as np
import pytest
import scipy.sparse as sp

from bottega.core.errors import InputError
from bottega.core.folds import make_folds
from bottega.core.path import Path, along
from bottega.latent import BooleanFactorization, NonnegativeFactorization
from bottega.latent._entries.held_out import judge_entries, judge_table, observed_places

CURVE = Path(along("n_components", [1, 2]), np.zeros(2), "loss", complexity=np.array([1.0, 2.0]))


def test_every_observed_entry_is_hidden_once_and_from_its_own_fit_only():
    X = np.arange(12.0).reshape(4, 3)
    X[1, 2] = np.nan
    seen = []

    def losses(rest, rows, columns):
        assert np.isnan(rest[rows, columns]).all()
        assert np.isnan(rest).sum() == len(rows) + 1
        seen.extend(X[rows, columns])
        return np.column_stack([X[rows, columns], np.ones(len(rows))])

    found = judge_table(CURVE, X, 3, 0, losses)
    assert sorted(seen) == sorted(X[~np.isnan(X)])
    assert found.estimate == "entries"
    assert found.error == pytest.approx([np.nanmean(X), 1.0])
    spread = np.nanstd(X, ddof=1) / np.sqrt(11)
    assert found.error_se == pytest.approx([spread, 0.0])
    assert found.fold_error.shape == (3, 2)


def test_given_folds_hide_what_they_do_not_train_on():
    X = np.arange(6.0).reshape(2, 3)

    def losses(rest, rows, columns):
        assert np.flatnonzero(np.isnan(rest).ravel()).tolist() == [0, 1]
        assert (rows.tolist(), columns.tolist()) == ([0], [1])
        return np.ones((1, 2))

    assert judge_table(CURVE, X, [([2, 3, 4, 5], [1])], 0, losses).error.tolist() == [1.0, 1.0]


def test_weights_of_entries_count():
    folds = [(np.array([1]), np.array([0])), (np.array([0]), np.array([1]))]
    found = judge_entries(
        CURVE, folds, lambda fold: np.full((1, 2), fold[1][0] * 1.0), np.array([1.0, 3.0])
    )
    assert found.error.tolist() == [0.75, 0.75]


def test_an_entry_held_out_twice_counts_once():
    folds = [(np.array([1]), np.array([0]))] * 2 + [(np.array([0]), np.array([1]))]
    found = judge_entries(CURVE, folds, lambda fold: np.full((1, 2), fold[1][0] * 1.0))
    assert found.error.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
def test_folds_of_a_large_table_are_a_sample_of_its_entries(made):
    X = np.ones((3_000, 1_000))
    X[:, 0] = np.nan
    places = observed_places(made(X), 2, 0)
    assert len(places) == 200_000
    assert np.all(np.diff(places) > 0)
    assert np.all(places % 1_000 != 0)


def test_single_entries_of_a_table_too_large_to_list_are_refused():
    with pytest.raises(InputError, match=r"takes a table of at most 10,000,000 of them; X has"):
        observed_places(sp.csr_array((20_000, 1_000)), "loo", 0)


@pytest.mark.parametrize("method", [BooleanFactorization, NonnegativeFactorization])
def test_folds_given_are_the_folds_dealt(method):
    X = (np.random.default_rng(0).random((12, 6)) < 0.5).astype(float)
    X[0], X[:, 0] = 1.0, 1.0
    dealt = method(cv=3, random_state=4, select="min")
    given = method(cv=make_folds(3, X.size, random_state=4), random_state=4, select="min")
    settings = {"values": [1, 2]}
    assert dealt.path(X, **settings).error.tolist() == given.path(X, **settings).error.tolist()


@pytest.mark.parametrize("method", [BooleanFactorization, NonnegativeFactorization])
def test_one_entry_cannot_be_held_out(method):
    with pytest.raises(InputError, match="1 observed entries, too few to hold some out"):
        method().fit([[1.0]])
