"""Networks on rows in chunks: the batches of rows in memory, or those of shuffled passes."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega import scale
from bottega.core.errors import InputError
from bottega.neural import NetworkClassifier, NetworkRegressor
from bottega.neural._network.chunk_inputs import ChunkInputs
from bottega.neural._network.tables import center_and_scale, center_and_scale_of

pytest.importorskip("torch")

N = 230
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3)) * [1.0, 1e3, 1e-3] + [0.0, 5e4, 1.0]
X[rng.random((N, 3)) < 0.05] = np.nan
SIGNAL = np.nan_to_num((X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)) @ [1.0, -1.0, 0.5]
Y = SIGNAL + 0.1 * rng.normal(size=N)
LABEL = np.where(SIGNAL > 0, "up", "down")
WEIGHT = rng.integers(1, 4, N).astype(float)
IN_ORDER = {"hidden_layer_sizes": (8,), "max_iter": 3, "shuffle": False, "batch_size": 50}


def cut(ends, *arrays):
    return [tuple(each[a:b] for each in arrays) for a, b in pairwise(ends)]


@settings(max_examples=5, deadline=None)
@given(ends=st.lists(st.integers(0, N), max_size=5))
def test_batches_in_the_order_of_the_rows_are_those_in_memory(ends):
    ends = sorted({0, N, *ends})
    for model, y in (
        (NetworkRegressor(**IN_ORDER), Y),
        (NetworkRegressor(**IN_ORDER), np.column_stack([Y, -Y])),
        (NetworkClassifier(**IN_ORDER, class_weight="balanced"), LABEL),
    ):
        new = type(model)(**model.get_params())
        whole = model.fit(X, y, sample_weight=WEIGHT)
        chunked = new.fit_chunks(cut(ends, X, y, WEIGHT))
        assert chunked.loss_curve_ == pytest.approx(whole.loss_curve_, rel=1e-9)
        # Statistics of blocks are merged in another order than those of all rows.
        for one, other in zip(chunked.coefs_, whole.coefs_, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(ends=st.lists(st.integers(0, N), max_size=5), weighted=st.booleans(), lost=st.booleans())
def test_scales_of_blocks_are_those_of_all_rows(ends, weighted, lost):
    table = np.column_stack([X if lost else np.nan_to_num(X), np.full(N, 3.0)])
    weight = WEIGHT if weighted else None
    found = center_and_scale_of(
        (table[a:b], None if weight is None else weight[a:b])
        for a, b in pairwise(sorted({0, N, *ends}))
    )
    for one, other in zip(found, center_and_scale(table, weight), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_shuffled_epochs_learn_as_well_and_follow_the_seed():
    options = {"hidden_layer_sizes": (8,), "max_iter": 30, "batch_size": 20}
    chunks = scale.source(X, Y, rows=40)
    whole = NetworkRegressor(**options).fit(X, Y)
    found = [NetworkRegressor(**options, random_state=seed).fit(chunks) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(found[0].predict(X), found[1].predict(X))
    assert not np.allclose(found[0].predict(X), found[2].predict(X), rtol=1e-6)
    assert found[0].score(X, Y) > whole.score(X, Y) - 0.05


def test_rows_held_out_choose_the_epochs_and_stop_the_training():
    chunks = cut([0, 100, N], X, LABEL)
    chosen = NetworkClassifier((8,), max_epochs=10, cv=0.2).fit_chunks(chunks)
    assert 1 <= chosen.max_iter_ <= 10
    assert chosen.path_.estimate == "validation"
    assert chosen.path_.error.min() < 0.4
    stopped = NetworkClassifier((8,), max_iter=5, early_stopping=True).fit_chunks(chunks)
    assert len(stopped.validation_scores_) == stopped.n_iter_


def test_of_many_rows_a_few_are_held_out():
    class Rows(ChunkInputs):
        def __init__(self, count):
            self._count, self._index = count, None

        shape = property(lambda self: (self._count, 1))

    train, held = Rows(2_000_000).drawn_part(Rows(2_000_000).held_share)
    assert len(held) == 50_000
    assert len(train) + len(held) == 2_000_000
    assert not np.intersect1d(train[:1000], held).size


def test_levels_of_late_chunks_and_what_is_missing():
    frame = pd.DataFrame({"size": X[:, 0], "town": np.where(np.arange(N) < 200, "Rome", "Oslo")})
    frame.loc[:99, "size"] = np.nan
    model = NetworkRegressor((4,), max_iter=2)
    model.fit_chunks([(frame[:100], Y[:100]), (frame[:0], Y[:0]), (frame[100:], Y[100:])])
    assert model.columns_in_.levels[1] == ["Rome", "Oslo"]
    assert model.description_["levels"] == [2]
    assert np.all(np.isfinite(model.predict(frame)))


def test_what_needs_all_rows_is_refused():
    chunks = cut([0, 100, N], X, Y)
    with pytest.raises(InputError, match="checkpoint needs all rows in memory"):
        NetworkRegressor(max_iter=1, checkpoint="there").fit_chunks(chunks)
    with pytest.raises(InputError, match=r"Chunk 1 cannot be used.*NaN"):
        NetworkRegressor(max_iter=1, missing="refuse").fit_chunks(chunks)
    with pytest.raises(InputError, match="takes responses of 0 and more"):
        NetworkRegressor(loss="poisson").fit_chunks([(X, Y)])
    with pytest.raises(InputError, match="no rows to fit"):
        NetworkRegressor(max_iter=1).fit_chunks([(X[:0], Y[:0])])
