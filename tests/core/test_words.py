"""The words people know: unknown parameters, class weights, log probabilities, threads."""

import threading
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import compute_sample_weight

from bottega import registry
from bottega.core.cards import Card
from bottega.core.errors import InputError, ParameterError
from bottega.core.estimator import Estimator
from bottega.core.parallel import in_threads
from bottega.core.params import Anything, Jobs
from bottega.core.words import _INSTEAD, _OTHERS, unknown_word
from bottega.text import StemMatrix

CARD = Card(
    method="toy",
    task="classification",
    title="Toy",
    strengths=("Small.",),
    weaknesses=("A toy.",),
    assumptions=("None.",),
    cost="n",
    source="none",
)


class Shares(ClassifierMixin, Estimator):
    """Predict the weighted shares of the classes."""

    params: ClassVar = {"class_weight": Anything(), "n_jobs": Jobs()}
    card = CARD

    def __init__(self, *, class_weight=None, n_jobs=None):
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _prepare(self, rows):
        self.threads_ = len(set(in_threads(self._wait, range(8))))
        return np.bincount(rows.y, rows.weights)

    def _wait(self, _):
        threading.Event().wait(0.01)
        return threading.get_ident()

    def _settle(self, work, setting):
        self.shares_ = work / work.sum()

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(self._check_new(X)), 1))

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


X = np.zeros((6, 1))
y = np.array(["a", "a", "a", "b", "b", "c"])


def test_a_word_of_another_library_gets_ours_in_the_error():
    with pytest.raises(ParameterError, match="'classwt'; it is called 'class_weight' here"):
        Shares(classwt={"a": 1})
    with pytest.raises(TypeError, match="it is called 'n_jobs' here"):
        Shares().set_params(nthread=2)
    with pytest.raises(ParameterError, match="Did you mean 'class_weight'"):
        Shares(class_wieght=None)
    with pytest.raises(ParameterError, match="it has class_weight, n_jobs"):
        Shares(zzz=1)


def test_every_word_of_the_table_leads_to_a_parameter_that_exists():
    exist = {name for cls in registry.estimator_classes() for name in cls.params}
    assert set(_OTHERS) <= exist
    for ours, others in _OTHERS.items():
        for other in others:
            assert repr(ours) in unknown_word("Method", other, [ours])


def test_a_word_without_a_counterpart_gets_what_is_done_instead():
    boosting = registry.methods("regression")["gradient_boosting"]
    with pytest.raises(ParameterError, match="it is called 'n_estimators' here"):
        boosting(max_iter=50)
    with pytest.raises(ParameterError, match="it is called 'quantile' here"):
        boosting(loss="quantile", alpha=0.1)
    for word, instead in _INSTEAD["l2_regularization"].items():
        with pytest.raises(ParameterError) as caught:
            boosting(**{word: 1})
        assert str(caught.value).endswith(f"{word!r}: {instead}.")
    lasso = registry.methods("regression")["lasso"]
    with pytest.raises(ParameterError, match=r"'C': .* 1 / \(n C\)\)\."):
        lasso(C=100.0)
    with pytest.raises(ParameterError, match=r"'penalty': alpha .* l1_ratio"):
        lasso(penalty="l1")
    logistic = registry.methods("classification")["logistic_regression"]
    with pytest.raises(ParameterError, match="it is called 'alpha' here"):
        logistic().set_params(lamda=1.0)
    with pytest.raises(ParameterError, match="it is called 'max_samples' here"):
        registry.methods("regression")["random_forest"](subsample=0.5)
    with pytest.raises(ParameterError, match=r"'scoring': .* path\(X, y, loss=...\)"):
        lasso(scoring="r2")
    quadratic = registry.methods("classification")["quadratic_discriminant"]
    with pytest.raises(ParameterError, match="'reg_param': shrinkage is the share"):
        quadratic(reg_param=0.1)
    with pytest.raises(ParameterError, match="'store_covariance': covariance_ is always kept"):
        quadratic(store_covariance=True)
    bayes = registry.methods("classification")["naive_bayes"]
    with pytest.raises(ParameterError, match="it is called 'priors' here"):
        bayes(class_prior=[0.5, 0.5])
    with pytest.raises(ParameterError, match="'fit_prior': priors gives"):
        bayes(fit_prior=False)


@pytest.mark.parametrize("by_class", ["balanced", {"a": 2, "b": 1, "c": 0.5}])
def test_class_weights_multiply_row_weights(by_class):
    weight = np.array([1, 2, 3, 1, 2, 3.0])
    found = Shares(class_weight=by_class).fit(X, y, sample_weight=weight).shares_
    expected = Shares().fit(X, y, sample_weight=weight * compute_sample_weight(by_class, y))
    np.testing.assert_allclose(found, expected.shares_)


def test_a_class_weight_that_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match="class_weight"):
        Shares(class_weight="heavy").fit(X, y)


def test_one_number_as_weight_is_every_rows_weight():
    np.testing.assert_array_equal(Shares().fit(X, y, 2.0).shares_, Shares().fit(X, y).shares_)
    with pytest.raises(InputError, match="zero"):
        Shares().fit(X, y, 0)


def test_log_probabilities_are_logarithms():
    model = Shares(class_weight={"a": 1, "b": 1, "c": 1e-90}).fit(X, y)
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))


def test_threads_are_kept_to_n_jobs():
    assert Shares(n_jobs=1).fit(X, y).threads_ == 1
    assert clone(Shares(n_jobs=-1)).fit(X, y).predict(X)[0] == "a"
    with pytest.raises(ParameterError, match="n_jobs"):
        Shares(n_jobs=0).fit(X, y)


def test_words_of_texts_lead_to_the_cleaner():
    with pytest.raises(ParameterError, match=r"'language': .*cleaner=TextCleaner\(language"):
        StemMatrix(language="italian")
