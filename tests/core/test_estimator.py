"""The one fit: a toy method written with the hooks alone."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import ClassifierMixin, ClusterMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import RepeatedKFold

from bottega.core.cards import Card
from bottega.core.chunked import Chunked
from bottega.core.errors import BottegaError, InputError, ParameterError
from bottega.core.estimator import Unweighted
from bottega.core.folds import make_folds
from bottega.core.likelihood import gaussian_path
from bottega.core.losses import get_loss
from bottega.core.moments import Moments
from bottega.core.params import Auto, Choice, Integer, Real
from bottega.core.path import Path, along
from bottega.core.tuned import Tuned, tune

CARD = {
    "title": "Toy",
    "strengths": ("Small.",),
    "weaknesses": ("A toy.",),
    "assumptions": ("None.",),
    "cost": "n",
    "source": "none",
}


class ShrunkenMean(RegressorMixin, Chunked, Tuned):
    """Predict the mean of the responses times `share`."""

    knob = "share"
    params: ClassVar = {"share": Auto(Real(0, 1)), "select": Choice("min", "one_se")}
    card = Card(method="toy", task="regression", **CARD)
    prepared = 0

    def __init__(self, share="auto", *, select="min"):
        self.share = share
        self.select = select

    def _prepare(self, rows):
        type(self).prepared += 1
        return rows.weights @ rows.y / rows.total_weight, rows

    def _statistics(self, X, y, w, start):
        return Moments().update(X, y, w)

    def _prepare_merged(self, statistics, chunks):
        return statistics.mean[-1], None

    def _path(self, work, values, loss):
        mean, rows = work
        shares = np.sort([0.0, 0.5, 1.0] if values is None else values)
        if rows is None:  # a fit in chunks
            return gaussian_path(along("share", shares), rss=1 - shares, df=shares, n=9)
        rss = [np.sum(rows.weights * (rows.y - mean * share) ** 2) for share in shares]
        return gaussian_path(along("share", shares), rss=rss, df=shares, n=len(rows))

    def _settle(self, work, setting):
        self.share_ = setting["share"]
        self.constant_ = work[0] * self.share_

    def predict(self, X):
        """Return the constant."""
        return np.full(len(self._check_new(X)), self.constant_)


class Vote(ClassifierMixin, Unweighted, Tuned):
    """Predict the class shares, mixed with equal ones."""

    knob = "mix"
    params: ClassVar = {"mix": Auto(Real(0, 1)), "select": Choice("min", "one_se")}
    card = Card(method="vote", task="classification", **CARD)

    def __init__(self, mix="auto", *, select="min"):
        self.mix = mix
        self.select = select

    def _path(self, work, values, loss):
        mixes = np.sort([0.0, 0.5, 1.0] if values is None else values)[::-1]
        return Path(
            along("mix", mixes),
            complexity=1 - mixes,
            train_error=np.zeros(len(mixes)),
            error=None,
            error_se=None,
            estimate=None,
            loss="misclassification",
        )

    def _settle(self, work, setting):
        K = len(self.classes_)
        shares = np.bincount(work.y, minlength=K) / len(work)
        self.mix_ = setting["mix"]
        self.shares_ = (1 - self.mix_) * shares + self.mix_ / K

    def predict_proba(self, X):
        """Return the shares."""
        return np.tile(self.shares_, (len(self._check_new(X)), 1))

    def predict(self, X):
        """Return the most frequent class."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


class Centres(ClusterMixin, Unweighted, Tuned):
    """A method without responses: its path is judged by a criterion of its own."""

    knob = "n"
    params: ClassVar = {"n": Auto(Integer(1)), "select": Choice("bic")}
    card = Card(method="centres", task="clustering", **CARD)

    def __init__(self, n="auto", *, select="bic"):
        self.n = n
        self.select = select

    def _path(self, work, values, loss):
        assert loss is None
        sizes = np.arange(1, 4)
        return Path(
            along("n", sizes),
            complexity=sizes,
            train_error=1.0 / sizes,
            error=None,
            error_se=None,
            estimate=None,
            loss="distance",
            criteria={"bic": np.abs(sizes - 2.0)},
        )

    def _settle(self, work, setting):
        self.n_ = setting["n"]
        self.labels_ = np.arange(len(work)) % self.n_


class ClassMeans(ClassifierMixin, Chunked):
    """A classifier by merged statistics: the nearest mean of a class."""

    card = Card(method="means", task="classification", **CARD)

    def _prepare(self, rows):
        return self._statistics(rows.X, rows.y, rows.weight, 0).sums

    def _statistics(self, X, y, w, start):
        return ClassSums(X, y, w, len(self.classes_))

    def _prepare_merged(self, statistics, chunks):
        return statistics.sums

    def _settle(self, work, setting):
        self.means_ = work[:, :-1] / work[:, -1:]

    def predict(self, X):
        """Return the class of the nearest mean."""
        gaps = self._check_new(X)[:, None] - self.means_
        return self.classes_[np.argmin((gaps**2).sum(axis=2), axis=1)]


class ClassSums:
    """Sums of the inputs of each class, and of the weights."""

    def __init__(self, X, y, w, K):
        weight = np.ones(len(X)) if w is None else w
        rows = np.column_stack([X, np.ones(len(X))]) * weight[:, None]
        self.sums = np.stack([rows[y == k].sum(axis=0) for k in range(K)])

    def merge(self, other):
        """Take in the sums of other rows."""
        self.sums = self.sums + other.sums
        return self


RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 2)), RNG.normal(size=60) + 3
LABELS = np.where(RNG.uniform(size=60) < 0.7, "a", "b")


def test_the_path_is_judged_by_folds_where_the_method_has_no_estimate():
    model = ShrunkenMean().fit(X, Y)
    assert model.path_.estimate == "cv"
    assert model.share_ == 1.0
    losses = np.empty((60, 3))
    for train, test in make_folds(10, 60, X=X, y=Y):
        losses[test] = (Y[test, None] - Y[train].mean() * np.array([0.0, 0.5, 1.0])) ** 2
    assert model.path_.error == pytest.approx(losses.mean(axis=0), rel=1e-12)
    # The standard error is that of a mean over rows; the folds' means are kept beside it.
    assert model.path_.error_se == pytest.approx(losses.std(axis=0, ddof=1) / np.sqrt(60))
    by_fold = [losses[test].mean(axis=0) for _, test in make_folds(10, 60, X=X, y=Y)]
    assert model.path_.fold_error == pytest.approx(np.array(by_fold))


def test_work_is_prepared_once_for_the_choice_and_the_fit():
    ShrunkenMean.prepared = 0
    ShrunkenMean().fit(X, Y)
    assert ShrunkenMean.prepared == 1 + 10
    ShrunkenMean.prepared = 0
    curve = ShrunkenMean().path(X, Y, cv=3)
    assert ShrunkenMean.prepared == 1 + 3
    assert curve.at(1).constant_ == pytest.approx(Y.mean() / 2)
    assert curve.at(1).share == 0.5
    assert ShrunkenMean.prepared == 1 + 3


def test_an_earlier_fit_is_forgotten():
    model = ShrunkenMean().fit(pd.DataFrame(X, columns=["p", "q"]), Y)
    model.extra_ = 1
    model.set_params(share=0.25).fit(X, Y)
    assert not hasattr(model, "path_")
    assert not hasattr(model, "extra_")
    assert not hasattr(model, "feature_names_in_")
    routed = ShrunkenMean()
    routed._metadata_request = "kept"
    routed.fit(X, Y)
    assert routed._metadata_request == "kept"


def test_rows_of_weight_zero_count_for_nothing_also_in_given_folds():
    weight = np.ones(60)
    weight[:20] = 0
    folds = make_folds(4, 60)
    kept = np.flatnonzero(weight)
    place = {row: i for i, row in enumerate(kept)}
    same = [
        tuple(np.array([place[r] for r in part if r in place]) for part in fold) for fold in folds
    ]
    found = ShrunkenMean().path(X, Y, sample_weight=weight, cv=folds)
    expected = ShrunkenMean().path(X[kept], Y[kept], cv=same)
    assert found.error == pytest.approx(expected.error, rel=1e-12)
    assert ShrunkenMean().fit(X, Y, sample_weight=weight).constant_ == pytest.approx(Y[20:].mean())


@pytest.mark.parametrize("loss", ["absolute_error", "huber", lambda y, z: np.abs(y - z) ** 3])
def test_a_path_is_judged_by_any_loss(loss):
    curve = ShrunkenMean().path(X, Y, loss=loss)
    of = get_loss(loss, "regression")
    shares = np.array([0.0, 0.5, 1.0])
    losses = np.empty((60, 3))
    for train, test in make_folds(10, 60, X=X, y=Y):
        losses[test] = of.of_rows(Y[test], np.tile(Y[train].mean() * shares, (len(test), 1)))
    assert curve.error == pytest.approx(losses.mean(axis=0), rel=1e-12)
    fitted = of.of_rows(Y, np.tile(Y.mean() * shares, (60, 1)))
    assert curve.train_error == pytest.approx(fitted.mean(axis=0), rel=1e-12)
    assert curve.loss == of.title


@pytest.mark.parametrize("loss", [None, "log_loss", "brier_score"])
def test_classifiers_are_judged_by_labels_or_by_probabilities(loss):
    curve = Vote().path(X, LABELS, loss=loss)
    of = get_loss(loss, "classification")
    codes = (LABELS == "b").astype(int)
    mixes = np.array([1.0, 0.5, 0.0])
    losses = np.empty((60, 3))
    for train, test in make_folds(10, 60, strata=codes, X=X):
        b = codes[train].mean()
        shares = np.stack([(1 - mixes) * (1 - b) + mixes / 2, (1 - mixes) * b + mixes / 2], axis=1)
        said = shares if of.method == "predict_proba" else np.argmax(shares, axis=1)
        losses[test] = of.of_rows(codes[test], np.broadcast_to(said, (len(test), *said.shape)))
    assert curve.error == pytest.approx(losses.mean(axis=0), rel=1e-12)
    assert curve.loss == of.title


def test_tune_fits_along_a_path_judged_in_another_way():
    model = tune(ShrunkenMean(), X, Y, select="one_se", cv=0.5, values=[0.1, 0.9])
    assert model.path_.estimate == "validation"
    assert model.share_ == 0.9
    assert model.share == "auto"
    fixed = tune(ShrunkenMean(share=0.3), X, Y, cv=2)
    assert fixed.share_ == 0.3
    assert not hasattr(fixed, "path_")


def test_chunks_differ_only_in_how_the_work_is_made():
    fixed = ShrunkenMean(share=0.5)
    together = clone(fixed).fit(X, Y)
    parts = [(X[:7], Y[:7]), (X[7:30], Y[7:30]), (X[30:], Y[30:])]
    apart = clone(fixed).fit_chunks(parts)
    assert apart.constant_ == pytest.approx(together.constant_, rel=1e-13)
    with pytest.raises(InputError, match="cannot hold out rows of its own"):
        ShrunkenMean().fit_chunks(parts)
    with pytest.raises(InputError, match="iterated over more than once"):
        fixed.fit_chunks(iter(parts))
    with pytest.raises(InputError, match="no chunks"):
        fixed.fit_chunks([])
    with pytest.raises(InputError, match="no rows to fit"):
        fixed.fit_chunks([(X, Y, np.zeros(60))])
    with pytest.raises(InputError, match="y must have one axis"):
        fixed.fit_chunks([(X, np.column_stack([Y, Y]))])


def test_a_method_without_responses_walks_its_path_by_its_own_criterion():
    model = Centres().fit(X)
    assert model.n_ == 2
    assert Centres().path(X).best("bic") == 1
    assert Centres(n=3).fit(X).labels_.max() == 2
    with pytest.raises(BottegaError, match="finite 'min'"):
        Centres().path(X).best("min")


def test_a_criterion_holds_no_rows_out():
    class ByCriterion(ShrunkenMean):
        params: ClassVar = {"share": Auto(Real(0, 1)), "select": Choice("min", "bic")}

    ByCriterion.prepared = 0
    model = ByCriterion(select="bic").fit(X, Y)
    assert ByCriterion.prepared == 1
    assert model.path_.estimate is None
    assert model.share_ == 1.0


def test_classifiers_fit_chunks_of_labels():
    weight = np.ones(60)
    weight[:5] = 0
    together = ClassMeans().fit(X, LABELS, sample_weight=weight)
    parts = [(X[a:b], LABELS[a:b], weight[a:b]) for a, b in ((0, 3), (3, 40), (40, 60))]
    apart = ClassMeans().fit_chunks(parts)
    assert apart.classes_.tolist() == ["a", "b"]
    assert apart.means_ == pytest.approx(together.means_, rel=1e-12)
    assert np.array_equal(apart.predict(X), together.predict(X))
    with pytest.raises(InputError, match="requires y"):
        ClassMeans().fit_chunks([X[:3], X[3:]])


def test_chunks_of_frames_are_taken_by_name():
    frame = pd.DataFrame(X, columns=["p", "q"])
    seen = []

    class Seeing(ShrunkenMean):
        def _statistics(self, X, y, w, fold):
            seen.append(X)
            return super()._statistics(X, y, w, fold)

    Seeing(share=0.5).fit_chunks([(frame[:20], Y[:20]), (frame[20:][["q", "p"]], Y[20:])])
    assert np.array_equal(np.concatenate(seen), X)
    with pytest.raises(InputError, match=r"Chunk 2 has other columns .*: without 'p'"):
        ShrunkenMean(share=0.5).fit_chunks([(frame, Y), (frame.rename(columns={"p": "z"}), Y)])


def test_a_row_held_out_several_times_is_one_row():
    once = ShrunkenMean().path(X, Y, cv=RepeatedKFold(n_splits=5, n_repeats=1, random_state=0))
    often = ShrunkenMean().path(X, Y, cv=RepeatedKFold(n_splits=5, n_repeats=30, random_state=0))
    # The mean over 30 partitions differs little from one, and so does its standard error.
    assert often.error_se == pytest.approx(once.error_se, rel=0.1)


def test_standard_errors_do_not_depend_on_the_units_of_the_response():
    plain = ShrunkenMean().path(X, Y)
    for unit in (1e-140, 1e140):
        scaled = ShrunkenMean().path(X, Y * unit)
        assert scaled.error_se / unit / unit == pytest.approx(plain.error_se, rel=1e-9)


def test_a_model_that_could_not_be_fitted_is_not_fitted():
    model = ShrunkenMean().fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, Y[:-3])
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_what_cannot_be_is_said():
    with pytest.raises(ParameterError, match="share=2"):
        ShrunkenMean(share=2).fit(X, Y)
    with pytest.raises(InputError, match="rows to hold out"):
        ShrunkenMean().fit(X[:1], Y[:1])
    with pytest.raises(ParameterError, match="cannot judge a regression"):
        ShrunkenMean().path(X, Y, loss="log_loss")
    with pytest.raises(InputError, match="takes no sample_weight"):
        Vote().path(X, LABELS, sample_weight=np.ones(60))
    nothing = np.ones(60)
    nothing[:10] = 0
    with pytest.raises(InputError, match="No fold has rows that count"):
        ShrunkenMean().path(X, Y, sample_weight=nothing, cv=[(np.arange(10, 60), np.arange(10))])
    with pytest.raises(InputError, match="runs from 1e-300 to 1e-300"):
        ShrunkenMean().fit(X, Y, sample_weight=np.full(60, 1e-300))


def test_a_card_knows_what_its_class_offers():
    toy, vote = ShrunkenMean.card, Vote.card
    assert (toy.knob, vote.knob) == ("share", "mix")
    assert (toy.weights, vote.weights) == (True, False)
    assert (toy.chunks, vote.chunks) == (True, False)
    assert (toy.probabilities, vote.probabilities) == (False, True)
    assert not toy.stream
    assert not toy.linear_smoother
    assert not toy.multioutput
    with pytest.raises(ValueError, match="not one of"):
        Card(method="x", task="cooking", **CARD)
    with pytest.raises(ValueError, match="not among"):
        Card(method="x", task="regression", takes=frozenset({"soup"}), **CARD)
