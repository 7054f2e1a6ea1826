"""Methods without responses: rows held out judge their path."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pytest

from bottega.core.cards import Card
from bottega.core.errors import ParameterError
from bottega.core.params import AnyOf, Choice, Integer, Parameter, Real
from bottega.core.path import Path, Rule, along
from bottega.core.unsupervised import Unsupervised


class Histogram(Unsupervised):
    """A density of equal bins on the unit interval, every bin with one row beforehand."""

    knob: ClassVar[str] = "n_bins"
    row_loss: ClassVar[str] = "minus log-likelihood"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_bins": AnyOf(Integer(1, None), Choice("auto")),
        "select": Rule(),
        "cv": Integer(2, None),
        "prior": Real(0, None),
    }
    card: ClassVar[Card] = Card("histogram", "Histogram", "density", (), (), (), "n", "-")

    def __init__(self, n_bins="auto", *, select="min", cv=5, prior=1.0):
        self.n_bins = n_bins
        self.select = select
        self.cv = cv
        self.prior = prior

    def _settle(self, work, setting):
        self.n_bins_ = int(setting["n_bins"])
        counts = np.bincount(self._bin(work.X), work.weight, self.n_bins_) + self.prior
        self.density_ = counts / counts.sum() * self.n_bins_

    def _bin(self, X):
        return np.minimum((X[:, 0] * self.n_bins_).astype(int), self.n_bins_ - 1)

    def _row_losses(self, X):
        return -np.log(self.density_[self._bin(X)])

    def _path(self, work, values, loss):
        counts = np.array([1, 2, 4, 8, 16, 64] if values is None else np.sort(values))
        settings = along("n_bins", counts)
        train = self._predictions(work, settings, work.X, "_row_losses").mean(axis=0)
        return Path(settings, train, self.row_loss, complexity=counts - 1.0)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).beta(2, 5, size=(400, 1))


def test_folds_judge_the_path_by_the_rows_they_hold_out(X):
    curve = Histogram().path(X)
    assert curve.estimate == "cv"
    assert curve.loss == "minus log-likelihood"
    assert curve.error[0] == pytest.approx(0.0)  # one bin: the uniform density, whatever the fold
    assert np.all(np.diff(curve.train_error) < 0)
    assert 1 < Histogram().fit(X).n_bins_ < 64  # held-out rows see what training rows do not
    by_hand = [
        Histogram(8).fit(np.delete(X, test, axis=0))._row_losses(X[test])
        for test in np.array_split(np.arange(400), 5)
    ]
    folds = [
        (np.setdiff1d(np.arange(400), test), test) for test in np.array_split(np.arange(400), 5)
    ]
    same = Histogram().path(X, values=[8], cv=folds)
    assert same.error[0] == pytest.approx(np.concatenate(by_hand).mean(), rel=1e-12)


def test_weights_are_repeated_rows_at_a_fixed_knob(X):
    w = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = Histogram(8).fit(X, sample_weight=w)
    assert weighted.density_ == pytest.approx(Histogram(8).fit(np.repeat(X, w, axis=0)).density_)


def test_a_loss_of_responses_is_refused(X):
    with pytest.raises(ParameterError, match="has no responses"):
        Histogram().path(X, loss="squared_error")
