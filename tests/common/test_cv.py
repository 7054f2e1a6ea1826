"""Every class that holds rows out takes a number of folds, a splitter, or the folds themselves."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

from bottega.core.errors import ParameterError
from bottega.core.folds import Folds
from bottega.ensemble import AdaBoostClassifier
from bottega.registry import estimators

HOLDING_OUT = [each for each in estimators() if "cv" in each.params]
# Folds of entries are no folds of rows: those methods test theirs in tests/latent.
ENTRIES = ("BooleanFactorization", "MatrixFactorization", "NonnegativeFactorization")
HOLDING_ROWS = [each for each in HOLDING_OUT if each.__name__ not in ENTRIES]
OF_CLASSES = ("classification", "quantification")
FEW = {"max_estimators": 10, "alphas": 10}  # for the sake of time


def sample(each, n=45):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)
    if each.card.task in OF_CLASSES:
        return X, np.where(y > 0, "yes", "no")
    return X, y


@pytest.mark.parametrize("each", HOLDING_ROWS, ids=lambda each: each.__name__)
def test_splitters_do_what_their_folds_do(each):
    X, y = sample(each)
    splitter = (StratifiedKFold if each.card.task in OF_CLASSES else KFold)(3)
    few = {name: FEW[name] for name in FEW if name in each.params}
    if each().get_params().get("select") in ("gcv", "bic"):  # by default no rows are held out
        few["select"] = "min"
    if "random_state" in each.params:
        few["random_state"] = 0
    if each.__name__ == "MixtureOfPPCA":
        few |= {"n_init": 1, "tol": 1e-2}
    models = [each(cv=cv, **few).fit(X, y) for cv in (splitter, list(splitter.split(X, y)))]
    if hasattr(each, "predict"):
        assert np.array_equal(*(model.predict(X) for model in models))
    if hasattr(models[0], "path_"):
        assert models[0].path_.fold_error.shape[0] == 3
        assert np.array_equal(*(model.path_.fold_error for model in models))


@pytest.mark.parametrize("each", HOLDING_OUT, ids=lambda each: each.__name__)
@pytest.mark.parametrize("bad", [1, 0, True, 2.5, "ten"], ids=repr)
def test_what_makes_no_folds_is_refused(each, bad):
    with pytest.raises(ParameterError, match=f"{each.__name__}: cv="):
        each(cv=bad).fit(*sample(each))


def test_bootstrap_samples_are_a_number():
    model = AdaBoostClassifier(estimate="oob", cv=KFold(3))
    with pytest.raises(ParameterError, match="must be a whole number"):
        model.fit(*sample(AdaBoostClassifier))


def test_folds_are_read_from_text():
    assert [Folds().parse(text) for text in ("5", "0.25", "loo")] == [5, 0.25, "loo"]
    with pytest.raises(ValueError, match="ten"):
        Folds().parse("ten")
    assert len(Folds().schema()["anyOf"]) == len(Folds(share=False).schema()["anyOf"]) + 1
    assert Folds().accepts(0.25)
    assert not Folds(share=False).accepts(0.25)
