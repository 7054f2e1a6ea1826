"""K-means over sources in parts: the clusters of memory, whatever the parts, threads and layout."""

from copy import copy
from functools import reduce

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from bottega.cluster import KMeans
from bottega.cluster._kmeans import chunk_sample
from bottega.cluster._kmeans.chunk_sample import sample_chunks
from bottega.core.chunks import CheckedChunks
from bottega.core.engine import working_on
from bottega.core.errors import InputError
from bottega.core.parallel import at_most
from bottega.core.parts import KeptPart, RowSource, merged


class Parts(RowSource):
    """Chunks in parts, which count the passes over them."""

    def __init__(self, parts):
        self.lists = parts
        self.passes = 0

    def __iter__(self):
        for part in self.parts():
            yield from part

    def parts(self):
        return [_Part(self, number) for number in range(len(self.lists))]


class _Part:
    def __init__(self, whole, number):
        self.whole, self.number = whole, number

    def __iter__(self):
        chunks = self.whole.lists[self.number]
        yield from chunks[:-1]
        yield from chunks[-1:]
        self.whole.passes += self.number == 0  # a look at the first chunk is no pass


def groups(n=4000, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return 2.0 * rng.normal(size=(6, p))[rng.integers(6, size=n)] + rng.normal(size=(n, p))


def in_parts(X, ends, rows=300, w=None):
    """Return rows cut at `ends` into parts, and these into chunks."""
    found = []
    for start, end in zip([0, *ends], [*ends, len(X)], strict=True):
        cuts = [slice(s, min(s + rows, end)) for s in range(start, end, rows)]
        found.append([X[cut] if w is None else (X[cut], None, w[cut]) for cut in cuts])
    return Parts(found)


@pytest.mark.parametrize("norm", [2, "cosine"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_unequal_parts_give_the_clusters_of_memory(norm, weighted, standardize):
    X = groups() * [1.0, 4.0, 0.5] + 0.1
    w = np.random.default_rng(1).integers(0, 3, len(X)).astype(float) if weighted else None
    how = {"norm": norm, "standardize": standardize, "tol": 0.0, "random_state": 0}
    whole = KMeans(6, **how).fit(X, sample_weight=w)
    one = KMeans(6, **how).fit(in_parts(X, [], w=w))
    many = KMeans(6, **how).fit(in_parts(X, [5, 1000, 1000, 1700], w=w))
    kept = np.arange(len(X)) if w is None else np.flatnonzero(w)
    for model in (one, many):
        # Sums of chunks are taken in another order.
        assert model.cluster_centers_ == pytest.approx(whole.cluster_centers_, rel=1e-9)
        assert model.inertia_ == pytest.approx(whole.inertia_)
        assert model.n_iter_ == whole.n_iter_
        assert np.array_equal(model.labels_, whole.labels_[kept])


def test_an_answer_does_not_depend_on_the_number_of_threads():
    rows = in_parts(groups(20_000), [3000, 3100, 9000, 15_000], rows=700)
    found = []
    for threads in (1, 2, 5):
        with at_most(threads):
            found.append(KMeans(6, random_state=0).fit(rows))
    for model in found[1:]:
        assert np.array_equal(model.cluster_centers_, found[0].cluster_centers_)
        assert np.array_equal(model.labels_, found[0].labels_)
        assert model.inertia_ == found[0].inertia_


def test_rows_by_row_and_by_column_agree_to_the_last_bit(monkeypatch):
    X = groups(6000, 7)
    chunks = np.array_split(X, 3)

    def fitted(form):
        return KMeans(6, random_state=0).fit_chunks([form(chunk) for chunk in chunks])

    def check():
        one = fitted(np.ascontiguousarray)
        forms = (
            np.asfortranarray,
            lambda X: pd.DataFrame(X.T.copy().T),
            lambda X: X[:, ::-1][:, ::-1],
        )
        for form in (*forms, lambda X: np.repeat(X, 2, axis=1)[:, ::2]):
            other = fitted(form)
            assert np.array_equal(one.cluster_centers_, other.cluster_centers_)
            assert np.array_equal(one.labels_, other.labels_)
            assert one.inertia_ == other.inertia_

    check()
    from bottega.cluster._kmeans.source import ChunkSource

    monkeypatch.setattr(ChunkSource, "numbers_at_once", 2**10)  # chunks are cut, too
    check()


@pytest.mark.parametrize("ends", [[], [1500, 2600]])
@pytest.mark.parametrize("change", ["fewer", "more"])
def test_rows_that_come_or_go_between_passes_are_refused(ends, change):
    X = groups()

    class Changing(Parts):
        """The second part of three has another number of rows after the first pass."""

        def __init__(self):
            super().__init__(in_parts(X, ends).lists)

        def parts(self):
            if self.passes:
                chunks = self.lists[len(self.lists) // 2]
                last = X[:7]
                self.lists[len(self.lists) // 2] = (
                    chunks[:-1] if change == "fewer" else [*chunks, last]
                )
            return super().parts()

    with pytest.raises(InputError, match=f"{change} rows than the 4000 of an earlier pass"):
        KMeans(3, random_state=0).fit(Changing())


def test_rows_that_move_to_another_part_are_refused():
    X = groups()
    rows = in_parts(X, [2000])
    model = KMeans(3, init=X[:3], max_iter=3, tol=0.0)

    class Moving(Parts):
        def parts(self):
            found = super().parts()
            if self.passes:
                self.lists = in_parts(X, [1900]).lists
            return found

    with pytest.raises(InputError, match="rows than the 4000 of an earlier pass"):
        model.fit(Moving(rows.lists))


@pytest.mark.parametrize("options", [{}, {"standardize": True}])
def test_a_fit_passes_once_over_the_rows_before_and_once_after_its_iterations(options):
    X = np.random.default_rng(0).random((4000, 3))  # no clusters, so that passes go on
    for max_iter in (1, 17):  # the 16th makes sums anew
        rows = in_parts(X, [1500, 2600])
        model = KMeans(12, max_iter=max_iter, tol=0.0, random_state=3, **options)
        with pytest.warns(ConvergenceWarning):
            model.fit(rows)
        assert model.n_iter_ == max_iter
        assert rows.passes == max_iter + 2


def test_the_sample_depends_on_the_rows_alone(monkeypatch):
    monkeypatch.setattr(chunk_sample, "_MOST_NUMBERS", 1)  # 2048 rows
    X = np.round(groups(30_000), 1)  # many rows are equal
    X[:, 2] = 0.1
    X[::3, 0] *= -0.0
    found = []
    for ends in ([], [100, 9000, 17_000]):
        for order in (np.arange(len(X)), np.random.default_rng(0).permutation(len(X))):
            rows = in_parts(X[order], ends, rows=800)
            sample = sample_chunks(CheckedChunks(rows, 3, 0))
            assert sample.count == len(X)
            assert sum(sample.sizes) == len(X)
            assert sample.mean == pytest.approx(X.mean(axis=0))
            scaling = sample.scaling(None)
            assert scaling.variance == pytest.approx(X.var(axis=0))
            assert scaling.variance[2] == 0
            found.append(np.sort(np.ascontiguousarray(sample.rows()[0]) + 0.0, axis=0))
    for other in found:
        assert other.shape == (2048, 3)
        assert np.array_equal(other, found[0])


class Keeper:
    """An engine that keeps parts here, and forgets what they remember every so often."""

    workers = 1

    def __init__(self, parts=None, forgets=0):
        self.kept, self.forgets, self.passes = parts, forgets, 0

    def share_out(self, parts):
        return Keeper(list(parts), self.forgets)

    def keep(self, function):
        return Keeper([KeptPart(function(part)) for part in self.kept], self.forgets)

    def map(self, function, each=None):
        self.passes += 1
        if self.forgets and self.passes % self.forgets == 0:
            self.kept[self.passes % len(self.kept)] = copy(self.kept[self.passes % len(self.kept)])
        more = [()] * len(self.kept) if each is None else [(one,) for one in each]
        return [function(part, *one) for part, one in zip(self.kept, more, strict=True)]

    def reduce(self, function, each=None):
        return reduce(merged, self.map(function, each))


@pytest.mark.parametrize("forgets", [0, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("K", [2, 9])
def test_bounds_that_are_remembered_elsewhere_change_nothing(forgets, weighted, K):
    X = groups(5000)
    w = np.random.default_rng(1).random(len(X)) + 0.1 if weighted else None
    rows = in_parts(X, [800, 900, 3700], w=w)
    model = KMeans(K, tol=0.0, random_state=2)
    here = clone(model).fit(rows)
    with working_on(Keeper(forgets=forgets)):
        there = clone(model).fit(rows)
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-12)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.inertia_ == pytest.approx(here.inertia_, rel=1e-12)
    if not forgets:  # rows without a label count as changed
        assert there.n_iter_ == here.n_iter_


class ToldParts(Parts):
    """Parts that say how many rows there are at most, as the footers of files do."""

    told_count = None

    def __init__(self, parts, told_count):
        super().__init__(parts)
        self.told_count = told_count


@pytest.mark.parametrize(
    ("more", "passes"), [(0, 1), (10_000, 2)], ids=["all rows", "many without a response"]
)
def test_a_sample_of_rows_that_were_counted_beforehand(monkeypatch, more, passes):
    monkeypatch.setattr(chunk_sample, "_MOST_NUMBERS", 1)  # 2048 rows
    X = groups(20_000)
    plain = sample_chunks(CheckedChunks(in_parts(X, [5000], rows=800), 3, 0))
    rows = ToldParts(in_parts(X, [5000], rows=800).lists, len(X) + more)
    told = sample_chunks(CheckedChunks(rows, 3, 0))
    assert rows.passes == passes
    for one, other in zip(told.rows(), plain.rows(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_sample_of_rows_that_are_all_equal_is_whole():
    """The one key of all rows is beyond the limit that is guessed, or all of them are below."""
    for value in range(8):
        X = np.full((200_000, 2), float(value))
        rows = ToldParts(in_parts(X, [60_000], rows=50_000).lists, len(X))
        found = sample_chunks(CheckedChunks(rows, 2, 0))
        assert found.count == len(X)
        assert len(found.rows()[0]) == 2**16


def test_the_scale_of_rows_far_from_zero_keeps_its_digits():
    X = groups(2000) + 1e9
    w = np.random.default_rng(0).random(len(X)) + 0.1
    rows = in_parts(X, [10, 700], w=w)
    found = sample_chunks(CheckedChunks(rows, 3, 0)).scaling(None)
    mean = np.average(X - 1e9, axis=0, weights=w)
    # Numbers near 1e9 are rounded to 1e-7.
    variance = np.average((X - 1e9 - mean) ** 2, axis=0, weights=w)
    assert found.variance == pytest.approx(variance, rel=1e-6)


@pytest.mark.parametrize("unit", [1e150, 1e-150, 1e200])
@pytest.mark.parametrize("standardize", [False, True])
def test_chunks_of_extreme_numbers_are_clustered_like_others(unit, standardize):
    X = groups(900)
    how = {"standardize": standardize, "init": X[:3]}
    usual = KMeans(3, **how).fit(X).labels_
    how["init"] = X[:3] * unit
    if unit == 1e200 and not standardize:
        with pytest.raises(InputError):
            KMeans(3, **how).fit(in_parts(X * unit, [400]))
        return
    found = KMeans(3, **how).fit(in_parts(X * unit, [400]))
    assert np.array_equal(found.labels_, usual)


@pytest.mark.parametrize("seed", [6, 24, 26, 27])
def test_more_clusters_never_lose_what_fewer_have_gained_beyond_the_sample(seed, monkeypatch):
    monkeypatch.setattr(chunk_sample, "_MOST_NUMBERS", 1)  # 2048 rows: rare ones are not among them
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(12_000, 2)).astype(float)
    X[rng.choice(len(X), 6, replace=False)] = 30 * rng.normal(size=(6, 2))
    model = KMeans("auto", max_clusters=10, random_state=seed, tol=0.0).fit(in_parts(X, [3000]))
    assert np.all(np.diff(model.path_.train_error) <= 1e-9)  # rounding


def test_a_row_far_beyond_the_sample_is_a_cluster_of_its_own(monkeypatch):
    monkeypatch.setattr(chunk_sample, "_MOST_NUMBERS", 1)
    X = groups(10_000)
    for row in (17, 7000):
        far = X.copy()
        far[row] = 1e30
        model = KMeans(2, init=np.array([X[0], far[row]])).fit(in_parts(far, [3000]))
        assert np.flatnonzero(model.labels_ == 1).tolist() == [row]
        assert model.cluster_centers_[0] == pytest.approx(np.delete(X, row, axis=0).mean(axis=0))


def test_passes_over_a_sample_leave_few_over_all_rows():
    """Three random tables: a third of the passes at most, and the same objective to 1 %."""
    passes = np.zeros(2)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150_000, 4)) + rng.normal(size=(150_000, 1))
        whole = KMeans(5, random_state=0).fit(X)
        in_chunks = KMeans(5, random_state=0).fit_chunks(np.array_split(X, 4))
        passes += whole.n_iter_, in_chunks.n_iter_
        assert in_chunks.converged_
        assert in_chunks.inertia_ == pytest.approx(whole.inertia_, rel=0.01)
    assert passes[1] <= passes[0] / 3


def test_centers_that_are_given_are_where_the_passes_start():
    rng = np.random.default_rng(0)
    X, start = rng.normal(size=(100_000, 3)), rng.normal(size=(4, 3))
    models = [KMeans(4, init=start, max_iter=1, tol=0) for _ in range(2)]
    with pytest.warns(ConvergenceWarning, match="after 1 pass"):
        whole, in_chunks = models[0].fit(X), models[1].fit_chunks(np.array_split(X, 3))
    np.testing.assert_allclose(in_chunks.cluster_centers_, whole.cluster_centers_, rtol=1e-9)
    np.testing.assert_array_equal(in_chunks.labels_, whole.labels_)
