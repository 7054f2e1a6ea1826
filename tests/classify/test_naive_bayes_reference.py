"""Naive Bayes against e1071, scikit-learn's classes, and densities summed up in R."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

from bottega.classify import NaiveBayes

R = json.loads((Path(__file__).parents[1] / "reference/classify/naive_bayes.json").read_text())
TRAIN, LABELS, NEW = np.array(R["train"]), np.array(R["labels"]), np.array(R["new"])
BIRTHS, LOW = pd.DataFrame(R["births"]), np.array(R["low"])


def test_numbers_are_those_of_e1071():
    model = NaiveBayes().fit(TRAIN, LABELS)
    # Both are direct: what differs is rounding.
    assert model.predict_proba(NEW) == pytest.approx(np.array(R["posterior"]), abs=1e-10)
    assert set(model.distributions_.values()) == {"gaussian"}


@pytest.mark.parametrize("case", R["mixed"], ids=lambda case: f"laplace {case['laplace']}")
def test_mixed_inputs_with_gaps_are_those_of_e1071(case):
    """Missing values are left out of the fit and of the predictions, in both."""
    model = NaiveBayes("gaussian", alpha=case["laplace"]).fit(BIRTHS, LOW)
    assert model.predict_proba(BIRTHS) == pytest.approx(np.array(case["posterior"]), abs=1e-10)


def test_kernel_densities_have_the_default_width_of_r():
    model = NaiveBayes("kernel").fit(TRAIN, LABELS)
    assert model.predict_proba(NEW) == pytest.approx(np.array(R["kernel"]), abs=1e-10)


def test_gaussian_is_that_of_scikit_learn_but_for_the_divisor():
    """Its variances have the divisor n; with rows twice as many the two come close."""
    many = np.repeat(TRAIN, 2000, axis=0)
    theirs = GaussianNB(var_smoothing=1e-15).fit(many, np.repeat(LABELS, 2000))
    ours = NaiveBayes("gaussian").fit(TRAIN, LABELS, sample_weight=np.full(len(LABELS), 2000))
    assert ours.predict_proba(NEW) == pytest.approx(theirs.predict_proba(NEW), abs=1e-3)


def test_truth_values_and_categories_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 100)
    binary = (rng.random((100, 4)) < 0.2 + 0.2 * y[:, None]).astype(float)
    theirs = BernoulliNB(alpha=0.5).fit(binary, y)
    ours = NaiveBayes(alpha=0.5).fit(binary, y)
    assert set(ours.distributions_.values()) == {"bernoulli"}
    assert ours.predict_proba(binary) == pytest.approx(theirs.predict_proba(binary), abs=1e-12)
    levels = rng.integers(0, 4, (100, 3)).astype(float)
    theirs = CategoricalNB(alpha=2.0).fit(levels, y)
    ours = NaiveBayes("categorical", alpha=2.0).fit(levels, y)
    assert ours.predict_proba(levels) == pytest.approx(theirs.predict_proba(levels), abs=1e-12)
