"""Factorisations of tables and ratings in chunks: the answer of all rows in memory."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bottega.core import gathered_matrix
from bottega.core.errors import DataWarning, InputError
from bottega.latent import MatrixFactorization, NonnegativeFactorization

N, P = 60, 8
rng = np.random.default_rng(0)
TABLE = rng.gamma(1.0, size=(N, 3)) @ rng.gamma(1.0, size=(3, P)) + 0.1 * rng.random((N, P))
KNOWN = np.where(rng.random((N, P)) < 0.6, TABLE, np.nan)
USER, ITEM = np.nonzero(~np.isnan(KNOWN))
LIST = pd.DataFrame(
    {"who": [f"u{k:03d}" for k in USER], "what": ITEM, "stars": KNOWN[USER, ITEM]}
).sample(frac=1.0, random_state=0, ignore_index=True)
RATINGS = {"n_components": 2, "alpha": 0.5, "max_iter": 10, "tol": 0.0}


def cut(ends, table):
    return [table[a:b] for a, b in pairwise(ends)]


ENDS = st.lists(st.integers(0, N), max_size=5).map(lambda ends: sorted({0, N, *ends}))


@settings(max_examples=6, deadline=None)
@given(
    ends=ENDS, few=st.sampled_from([1, 1 << 22]), kind=st.sampled_from(["full", "gaps", "sparse"])
)
def test_parts_of_a_table(ends, few, kind):
    table = {"full": TABLE, "gaps": KNOWN, "sparse": sparse.csr_array(TABLE * (TABLE > 1))}[kind]
    model = NonnegativeFactorization(2, max_iter=2000, tol=1e-3)
    whole = NonnegativeFactorization(**model.get_params()).fit(table)
    kept, gathered_matrix.FEW_NUMBERS = gathered_matrix.FEW_NUMBERS, few
    try:
        chunked = model.fit_chunks(cut(ends, table))
    finally:
        gathered_matrix.FEW_NUMBERS = kept
    np.testing.assert_allclose(chunked.components_, whole.components_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(chunked.transform(table), whole.transform(table), atol=1e-9)


@settings(max_examples=6, deadline=None)
@given(ends=ENDS)
def test_ratings_as_a_matrix_and_as_a_list(ends):
    whole = MatrixFactorization(**RATINGS).fit(KNOWN)
    chunked = MatrixFactorization(**RATINGS).fit_chunks(cut(ends, KNOWN))
    np.testing.assert_allclose(chunked.item_factors_, whole.item_factors_, rtol=1e-9, atol=1e-12)
    assert chunked.users_.tolist() == list(range(N))
    names = {"columns": ("who", "what", "stars")}
    listed = MatrixFactorization(**RATINGS, **names).fit(LIST)
    parts = cut([*ends[:-1], len(LIST)], LIST)  # users and items may come late
    chunked = MatrixFactorization(**RATINGS, **names).fit_chunks([*parts, LIST[:0]])
    np.testing.assert_allclose(chunked.item_factors_, listed.item_factors_, rtol=1e-9, atol=1e-12)
    assert chunked.users_.tolist() == listed.users_.tolist()
    assert chunked.recommend(["u003"], n=2).equals(listed.recommend(["u003"], n=2))
    assert not hasattr(chunked, "n_features_in_")


def test_pairs_that_chunks_share_are_joined():
    names = {"columns": ("who", "what", "stars")}
    with pytest.warns(DataWarning, match="pairs of user and item have more than one rating"):
        found = MatrixFactorization(**RATINGS, **names).fit_chunks([LIST, LIST[:5]])
    with pytest.warns(DataWarning, match="more than one rating"):
        whole = MatrixFactorization(**RATINGS, **names).fit(pd.concat([LIST, LIST[:5]]))
    np.testing.assert_allclose(found.item_factors_, whole.item_factors_, rtol=1e-9, atol=1e-12)


def test_bad_chunks():
    names = {"columns": ("who", "what", "stars")}
    with pytest.raises(InputError, match="users are texts in some chunks and numbers in others"):
        MatrixFactorization(**RATINGS, **names).fit_chunks([LIST[:9], LIST[9:].assign(who=1)])
    with pytest.raises(InputError, match="X has no column 'who'"):
        MatrixFactorization(**RATINGS, **names).fit_chunks([LIST[:9], LIST[9:][["what", "stars"]]])
    with pytest.raises(InputError, match="no rows to fit"):
        MatrixFactorization(**RATINGS, **names).fit_chunks([LIST[:0]])
    with pytest.raises(InputError, match="takes no sample_weight"):
        NonnegativeFactorization(2).fit_chunks([(TABLE, None, np.arange(1.0, N + 1))])
    with pytest.raises(InputError, match="Chunk 2 has 7 columns and the first one 8"):
        NonnegativeFactorization(2).fit_chunks([TABLE[:30], TABLE[30:, 1:]])
    with pytest.raises(InputError, match="negative"):
        NonnegativeFactorization(2).fit_chunks([TABLE, -TABLE])
