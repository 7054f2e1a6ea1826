"""ROC, areas and kappa against pROC and vcd; the tolerances are the rounding of sums."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as peer

from bottega.core.errors import InputError
from bottega.metrics import kappa, pairwise_auc, per_class, roc

ANSWERS = json.loads(
    (Path(__file__).parents[1] / "reference" / "metrics" / "ranking.json").read_text()
)


@pytest.mark.parametrize("answer", ANSWERS["curves"], ids=["no ties", "many ties"])
def test_areas_and_delong_equal_proc(answer):
    found = roc(answer["y"], answer["a"])
    assert found.auc == pytest.approx(answer["auc"], abs=1e-12)
    assert found.std_error**2 == pytest.approx(answer["variance"], rel=1e-9)
    low, middle, high = answer["interval"]
    assert found.interval() == pytest.approx((low, high), abs=1e-9)
    assert found.auc == pytest.approx(middle, abs=1e-12)
    assert found.interval(0.9) == pytest.approx(
        (answer["interval_90"][0], answer["interval_90"][2])
    )
    assert found.best()["index"] == pytest.approx(answer["youden"], abs=1e-12)


@pytest.mark.parametrize("answer", ANSWERS["curves"], ids=["no ties", "many ties"])
def test_the_test_of_two_areas_equals_proc(answer):
    found = roc(answer["y"], answer["a"]).compare(roc(answer["y"], answer["b"]))
    assert found.statistic == pytest.approx(answer["test"]["statistic"], rel=1e-9)
    assert found.p_value == pytest.approx(answer["test"]["p_value"], rel=1e-9)
    row = found.tidy().iloc[0]
    assert row["conf_low"] < row["estimate"] < row["conf_high"]


@pytest.mark.parametrize("answer", ANSWERS["curves"], ids=["no ties", "many ties"])
def test_partial_areas_equal_proc(answer):
    found = roc(answer["y"], answer["a"])
    assert found.partial_auc((0, 0.2)) == pytest.approx(answer["partial"], abs=1e-10)
    scaled = found.partial_auc((0, 0.2), standardize=True)
    assert scaled == pytest.approx(answer["partial_standardized"], abs=1e-10)
    assert found.partial_auc((0, 1)) == pytest.approx(found.auc)


def test_the_mean_over_pairs_equals_proc_and_scikit_learn():
    answer = ANSWERS["pairs"]
    y, shares = np.array(answer["y"]), np.array(answer["shares"])
    assert pairwise_auc(y, shares) == pytest.approx(answer["auc"], abs=1e-12)
    assert pairwise_auc(y, shares) == pytest.approx(
        peer.roc_auc_score(y, shares, multi_class="ovo"), abs=1e-12
    )
    found = per_class(y, shares)
    for kind in ("macro", "weighted", "micro"):
        expected = peer.roc_auc_score(y, shares, multi_class="ovr", average=kind)
        assert found.average(kind) == pytest.approx(expected, abs=1e-12)


def test_kappa_equals_vcd_and_scikit_learn():
    answer = ANSWERS["kappa"]
    one, two = answer["one"], answer["two"]
    for weights, found in zip(("linear", "quadratic"), answer["found"], strict=True):
        plain = kappa(one, two)
        assert (plain.value, plain.std_error) == pytest.approx(found["plain"], rel=1e-9)
        weighted = kappa(one, two, weights=weights)
        assert (weighted.value, weighted.std_error) == pytest.approx(found["weighted"], rel=1e-9)
        assert weighted.value == pytest.approx(peer.cohen_kappa_score(one, two, weights=weights))


def test_kappa_of_weighted_rows_is_that_of_copies():
    rng = np.random.default_rng(0)
    one, two, w = rng.integers(0, 3, (3, 40))
    copies = kappa(np.repeat(one, w), np.repeat(two, w), weights="linear")
    found = kappa(one, two, weights="linear", sample_weight=w)
    assert found.value == pytest.approx(copies.value, abs=1e-12)
    assert found.std_error == pytest.approx(copies.std_error, abs=1e-12)
    answer = peer.cohen_kappa_score(one, two, weights="linear", sample_weight=w)
    assert found.value == pytest.approx(answer)


def test_kappa_by_hand():
    found = kappa(["a"] * 5 + ["b"] * 5, ["a"] * 4 + ["b"] * 6)
    assert (found.agreement, found.chance) == pytest.approx((0.9, 0.5))
    assert found.value == pytest.approx(0.8)
    assert found.largest == pytest.approx(0.8)  # 4 and 6 of the other against 5 and 5
    assert found.interval()[0] < 0.8 < found.interval()[1]
    assert "0.8" in str(found)
    assert found.tidy(like="polars")["estimate"][0] == pytest.approx(0.8)
    assert found.plot().to_dict()["title"]["text"] == "Predicted and observed classes"
    with pytest.raises(InputError, match="only the class a"):
        kappa(["a", "a"], ["a", "a"])
    with pytest.raises(InputError, match="weights='cubic'"):
        kappa(["a", "b"], ["a", "b"], weights="cubic")
