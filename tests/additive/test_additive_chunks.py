"""Additive models of chunks: the answer of all rows, in few passes, whatever the threads."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from bottega import scale
from bottega.additive import (
    AdditiveClassifier,
    AdditiveModel,
    factor,
    linear,
    offset,
    smooth,
    tensor,
)
from bottega.additive._kernels import bins as kernels
from bottega.additive._kernels import crossproducts
from bottega.additive._model.foresight import Foresight
from bottega.additive._penalized import bins
from bottega.additive._penalized.bins import Axis, Ranges
from bottega.additive._terms.facts import TableFacts
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError
from bottega.core.parallel import at_most
from bottega.core.parts import RowSource

N, ROWS = 9000, 1000


class Counted(RowSource):
    """Rows in chunks and parts that count how many were read."""

    def __init__(self, X, y, w=None, rows=ROWS, parts=3):
        self.X, self.y, self.w, self.rows, self.n_parts = X, y, w, rows, parts
        self.read = [0]

    def __iter__(self) -> Iterator[tuple]:
        for start in range(0, len(self.y), self.rows):
            here = slice(start, start + self.rows)
            self.read[0] += len(self.y[here])
            X = self.X.iloc[here] if hasattr(self.X, "iloc") else self.X[here]
            yield (X, self.y[here]) if self.w is None else (X, self.y[here], self.w[here])

    def parts(self):
        size = len(self.y) // self.n_parts
        found = []
        for start in range(0, len(self.y), size):
            here = slice(start, start + size)
            X = self.X.iloc[here] if hasattr(self.X, "iloc") else self.X[here]
            part = Counted(X, self.y[here], None if self.w is None else self.w[here], self.rows)
            part.read = self.read
            found.append(part)
        return found

    @property
    def passes(self) -> float:
        return self.read[0] / len(self.y)


def table(rng, n=N):
    X = rng.uniform(-1, 1, size=(n, 4))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] + 0.3 * rng.normal(size=n)
    return X, y


def assert_same(ours, other):
    # Sums in another order; the smoothing parameters are where a criterion is flat.
    for name in ("deviance", "null_deviance", "scale", "df"):
        assert getattr(ours.fit_, name) == pytest.approx(getattr(other.fit_, name), rel=1e-7)
    np.testing.assert_allclose(ours.fit_.coef, other.fit_.coef, rtol=1e-5, atol=1e-6)


def test_least_squares_takes_two_passes():
    X, y = table(np.random.default_rng(0))
    source = Counted(X, y)
    found = AdditiveModel().fit(source)
    # The first chunk is read twice more: for the columns, and for the unit of the responses.
    assert source.passes <= 2 + 2 * ROWS / N
    assert_same(found, AdditiveModel().fit(X, y))
    assert found.n_iter_ == 1


def test_weights_are_taken_into_the_products():
    rng = np.random.default_rng(1)
    X, y = table(rng)
    w = rng.uniform(0.5, 2, size=N)
    source = Counted(X, y, w)
    found = AdditiveModel().fit(source)
    assert source.passes <= 2 + 2 * ROWS / N
    assert_same(found, AdditiveModel().fit(X, y, sample_weight=w))


def test_columns_that_cannot_be_foreseen_take_a_pass_more():
    rng = np.random.default_rng(2)
    X, y = table(rng)
    X[:, 3] = np.exp(3 * rng.normal(size=N))  # knots at quantiles of all rows
    source = Counted(X, y)
    found = AdditiveModel().fit(source)
    assert 2.9 < source.passes <= 3 + 3 * ROWS / N
    assert_same(found, AdditiveModel().fit(X, y))


@pytest.mark.parametrize(
    "terms",
    [
        [smooth(0), linear(2)],
        [smooth(0), offset(2)],
        [smooth(0, by=1), smooth(2)],
        [tensor(0, 1)],
        [smooth(0, df=4), smooth(1, basis="cyclic")],
        [smooth(0, 1, basis="thin_plate"), smooth(2, shape="increasing")],
    ],
    ids=str,
)
def test_every_kind_of_term_gives_the_answer_of_all_rows(terms):
    X, y = table(np.random.default_rng(3))
    assert_same(AdditiveModel(terms).fit(Counted(X, y)), AdditiveModel(terms).fit(X, y))


def test_factors_and_missing_values():
    rng = np.random.default_rng(4)
    X, y = table(rng)
    X[rng.random(N) < 0.1, 0] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    group = rng.integers(0, 3, N)
    frame["g"] = np.array(["u", "v", "w"])[group]
    y = y + (group == 1)
    terms = [smooth("a"), factor("g"), smooth("b")]
    assert_same(AdditiveModel(terms).fit(Counted(frame, y)), AdditiveModel(terms).fit(frame, y))


@pytest.mark.parametrize("family", ["poisson", "gamma"])
def test_likelihoods_sum_their_chunks(family):
    rng = np.random.default_rng(5)
    X, y = table(rng, 3000)
    mean = np.exp(y / 2)
    y = rng.poisson(mean).astype(float) if family == "poisson" else mean * rng.gamma(3, 1 / 3, 3000)
    model = AdditiveModel([smooth(0), smooth(1)], family=family)
    assert_same(model.fit(Counted(X, y)), AdditiveModel(**model.get_params()).fit(X, y))


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_sum_their_chunks(classes):
    rng = np.random.default_rng(6)
    X, y = table(rng, 3000)
    labels = np.digitize(y + rng.logistic(size=3000), np.linspace(0, 1, classes - 1))
    ours = AdditiveClassifier([smooth(0), smooth(2)]).fit(Counted(X, labels))
    whole = AdditiveClassifier([smooth(0), smooth(2)]).fit(X, labels)
    np.testing.assert_allclose(ours.predict_proba(X), whole.predict_proba(X), atol=1e-5)


def test_answers_do_not_depend_on_the_number_of_threads():
    X, y = table(np.random.default_rng(7))
    fits = []
    for threads in (1, 2, 3):
        with at_most(threads):
            fits.append(AdditiveModel().fit(Counted(X, y)).fit_)
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.coef, fits[0].coef)
        np.testing.assert_array_equal(fit.covariance, fits[0].covariance)


def test_products_are_of_no_use_for_other_columns(monkeypatch):
    X, y = table(np.random.default_rng(8))
    right = AdditiveModel().fit(Counted(X, y))
    make = Foresight.of.__func__

    def wrong(cls, terms, inputs, facts, ranges, n_splines, scale):
        return make(cls, terms, inputs, facts, ranges, n_splines + 2, scale)

    monkeypatch.setattr(Foresight, "of", classmethod(wrong))
    source = Counted(X, y)
    found = AdditiveModel().fit(source)
    assert source.passes > 2.9
    assert_same(found, right)


def test_rows_that_appear_between_passes_are_refused():
    X, y = table(np.random.default_rng(9))

    class Growing(Counted):
        def parts(self):
            found = super().parts()
            return found[:-1] if not self.read[0] > 2 * ROWS else found

    with pytest.raises(InputError, match="rows than the"):
        AdditiveModel(family="poisson").fit(Growing(X, np.floor(np.exp(y))))


# ---- ends that are told beforehand


class Told(Counted):
    """Rows whose columns have ends that are told."""

    def __init__(self, X, y, w=None, ends=None):
        super().__init__(X, y, w, rows=5000)
        low, high = X.min(axis=0), X.max(axis=0)
        self._ends = list(zip(low, high, strict=True)) if ends is None else ends

    @property
    def ends(self):
        return self._ends


def many(seed):
    return table(np.random.default_rng(seed), 30_000)


def assert_equal_fits(ours, other):
    # The same sums in the same order.
    np.testing.assert_allclose(ours.fit_.coef, other.fit_.coef, rtol=1e-9, atol=1e-12)
    assert ours.fit_.deviance == pytest.approx(other.fit_.deviance, rel=1e-9)
    assert ours.facts_ == other.facts_


def test_ends_save_a_pass():
    X, y = many(20)
    source, two = Told(X, y), Counted(X, y, rows=5000)
    found = AdditiveModel().fit(source)
    assert source.passes <= 1 + 3 * 5000 / len(y)
    assert_equal_fits(found, AdditiveModel().fit(two))
    assert two.passes >= 2
    assert_same(found, AdditiveModel().fit(X, y))


def test_ends_save_a_pass_with_weights_and_few_values():
    X, y = many(21)
    X[:, 1] = np.round(10 * X[:, 1])
    w = np.random.default_rng(21).uniform(0.5, 2, size=len(y))
    source = Told(X, y, w)
    found = AdditiveModel().fit(source)
    assert source.passes <= 1 + 3 * 5000 / len(y)
    assert_equal_fits(found, AdditiveModel().fit(Counted(X, y, w, rows=5000)))


@pytest.mark.parametrize("shift", [0.01, -0.01], ids=["wider", "narrower"])
def test_ends_that_are_wrong_save_nothing(shift):
    X, y = many(22)
    ends = [(low, high + shift) for low, high in Told(X, y).ends]
    source = Told(X, y, ends=ends)
    found = AdditiveModel().fit(source)
    assert 2 <= source.passes <= 2 + 4 * 5000 / len(y)
    assert_equal_fits(found, AdditiveModel().fit(Counted(X, y, rows=5000)))


def test_ends_of_rows_that_do_not_count_save_nothing():
    X, y = many(23)
    w = np.ones(len(y))
    X[-1], w[-1] = 3.0, 0.0
    source = Told(X, y, w)
    found = AdditiveModel().fit(source)
    assert source.passes >= 2
    assert_equal_fits(found, AdditiveModel().fit(Counted(X, y, w, rows=5000)))


def test_values_that_the_first_rows_do_not_have():
    X, y = many(24)
    X[:, 1] = np.round(10 * X[:, 1])
    X[-7, 1] = 0.5
    found = AdditiveModel().fit(source := Told(X, y))
    assert source.passes >= 2
    assert_equal_fits(found, AdditiveModel().fit(Counted(X, y, rows=5000)))


def test_rows_that_crowd_after_the_first_chunk():
    X, y = many(25)
    X[5000:, 0] /= 1000
    X[-1, 0] = 1.0
    found = AdditiveModel().fit(Told(X, y))
    assert_equal_fits(found, AdditiveModel().fit(Counted(X, y, rows=5000)))


@pytest.mark.parametrize(
    "terms",
    [[smooth(0), linear(2)], [smooth(0, by=1)], [tensor(0, 1)], [offset(0), smooth(1)], "factor"],
    ids=str,
)
def test_ends_do_not_tell_the_columns_of_every_term(terms):
    X, y = many(26)
    if terms == "factor":
        X[:, 3] = np.round(X[:, 3])
        terms = [smooth(0), factor(3)]
    found = AdditiveModel(terms).fit(source := Told(X, y))
    assert source.passes > 1.9
    assert_equal_fits(found, AdditiveModel(terms).fit(Counted(X, y, rows=5000)))


def test_answers_of_one_pass_do_not_depend_on_the_number_of_threads():
    X, y = many(27)
    fits = []
    for threads in (1, 2, 3):
        with at_most(threads):
            fits.append(AdditiveModel().fit(Told(X, y)).fit_)
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.coef, fits[0].coef)
        np.testing.assert_array_equal(fit.covariance, fits[0].covariance)


@pytest.mark.parametrize("missing", [False, True])
def test_footers_of_files_tell_the_ends(tmp_path, monkeypatch, missing):
    X, y = many(28)
    if missing:
        X[100, 0], y[100] = 5.0, np.nan  # a row without a response does not count
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=7000)
    passes = []
    reduce = CheckedChunks.reduce

    def counted(self, *given):
        passes.append(self)
        return reduce(self, *given)

    monkeypatch.setattr(CheckedChunks, "reduce", counted)
    found = AdditiveModel().fit(scale.source(str(tmp_path / "rows.parquet"), "y", rows=7000))
    assert len(passes) == 1 + missing
    kept = np.isfinite(y)
    assert_same(found, AdditiveModel().fit(X[kept], y[kept]))


# ---- kernels


def test_facts_of_columns_are_those_of_numpy():
    rng = np.random.default_rng(30)
    X = np.asfortranarray(rng.normal(size=(1013, 6)) * [1, 1e3, 1e-3, 1, 1e150, 1e-150] + [0] * 6)
    X[5, 3] = np.nan
    ours, by_column = TableFacts(X), TableFacts(np.ascontiguousarray(X))
    assert ours.gaps.tolist() == [False, False, False, True, False, False]
    for facts in (ours, by_column):
        np.testing.assert_array_equal(facts.low, np.nanmin(X, axis=0))
        np.testing.assert_array_equal(facts.high, np.nanmax(X, axis=0))
        unit = facts.unit
        # Sums in another order.
        np.testing.assert_allclose(facts.mean * unit, np.nanmean(X, axis=0), rtol=1e-11)
        sd = np.sqrt(facts.squares / facts.weight)
        np.testing.assert_allclose(sd, np.nanstd(X / unit, axis=0), rtol=1e-11)


def test_products_of_bins_skip_those_without_rows():
    rng = np.random.default_rng(31)
    B = rng.random((50, 7))
    sums = rng.random(50)
    sums[::3], B[::3] = 0.0, np.nan
    index = np.tile(np.arange(7, dtype=np.int32), (50, 1))
    here = sums > 0
    gram = (B[here].T * sums[here]) @ B[here]
    np.testing.assert_allclose(crossproducts.own_crossproduct(index, B, sums, 7), gram, rtol=1e-12)
    np.testing.assert_allclose(
        crossproducts.from_bins(index, B, sums, 7), B[here].T @ sums[here], rtol=1e-12
    )


def test_samples_of_repeated_values_do_not_depend_on_chunks():
    rng = np.random.default_rng(32)
    x = rng.integers(0, 9000, 80_000).astype(float)  # several rows of each value in every chunk
    whole = Ranges(1).update(x[:, None])
    parts = Ranges(1).update(x[:30_000, None]).merge(Ranges(1).update(x[30_000:, None]))
    np.testing.assert_array_equal(whole.some_values(0), parts.some_values(0))
    assert len(whole.some_values(0)) == bins._SAMPLE


@pytest.mark.parametrize("scale", [1.0, 1e5, 1e-300, 1e306])
def test_codes_of_an_even_grid_are_the_nearest_points(scale):
    rng = np.random.default_rng(10)
    points = np.linspace(-4, 5, 1024) * scale
    x = rng.uniform(-5, 6, size=3000) * scale
    x[::7] = np.nan
    codes = Axis(points, "even").codes(x)
    assert np.all(codes[np.isnan(x)] == 1024)
    here = ~np.isnan(x)
    inside = np.clip(x[here], points[0], points[-1]) / scale
    assert np.all(np.abs(points[codes[here]] / scale - inside) <= 0.5001 * 9 / 1023)


def test_samples_stand_for_numbers_and_do_not_depend_on_chunks():
    rng = np.random.default_rng(11)
    x = rng.normal(size=50_000)
    np.testing.assert_array_equal(bins._values(bins._keys(x)), x)
    whole = Ranges(1).update(x[:, None])
    parts = Ranges(1).update(x[:9000, None]).merge(Ranges(1).update(x[9000:, None]))
    np.testing.assert_array_equal(whole.some_values(0), parts.some_values(0))
    assert len(whole.some_values(0)) == bins._SAMPLE
    assert np.isin(whole.some_values(0), x).all()


def test_samples_of_values_with_many_ties():
    x = np.repeat(np.arange(5000.0), 8)  # more of one hash than there is room for
    limit = np.uint64(2**64 - 1)
    assert len(kernels.small_keys(x.view(np.uint64), limit, 100)) > 100
    few = np.repeat(np.arange(5000.0), 40)
    assert len(Ranges(1).update(few[:, None]).some_values(0)) <= bins._SAMPLE
    assert len(Ranges(1).update(x[:, None]).some_values(0)) > 0
