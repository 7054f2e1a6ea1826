"""The confusion table and its rates, against scikit-learn and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as peer

from bottega.core.errors import InputError
from bottega.metrics import Rates, balance, confusion

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@given(pairs)
@settings(max_examples=100, deadline=None)
def test_equals_scikit_learn(rows):
    """Rates that scikit-learn defines; its table is the transpose."""
    y, said = np.array(rows).T
    labels = [0, 1, 2, 3]
    found = confusion(y, said, labels)
    np.testing.assert_array_equal(found.table, peer.confusion_matrix(y, said, labels=labels).T)
    assert found.accuracy == pytest.approx(peer.accuracy_score(y, said))
    options = {"labels": labels, "zero_division": np.nan}
    expected = peer.precision_recall_fscore_support(y, said, **options)
    rates = found.per_class
    np.testing.assert_allclose(rates.precision, expected[0])
    np.testing.assert_allclose(rates.recall, expected[1])
    np.testing.assert_allclose(rates.f1, expected[2])
    counts = peer.multilabel_confusion_matrix(y, said, labels=labels)
    np.testing.assert_array_equal(rates.tn, counts[:, 0, 0])
    np.testing.assert_array_equal(rates.fp, counts[:, 0, 1])
    np.testing.assert_array_equal(rates.fn, counts[:, 1, 0])
    np.testing.assert_array_equal(rates.tp, counts[:, 1, 1])
    for kind in ("macro", "weighted", "micro"):
        ours = found.average(kind, skip_undefined=True)
        names = ("precision", "recall", "f1")
        theirs = peer.precision_recall_fscore_support(y, said, average=kind, **options)
        mine = np.array([ours[name] for name in names])
        # Where every class that occurs is undefined, scikit-learn takes those without weight.
        defined = ~np.isnan(mine)
        np.testing.assert_allclose(mine[defined], np.array(theirs[:3], dtype=float)[defined])
        assert kind == "weighted" or defined.all()


@given(pairs)
@settings(max_examples=60, deadline=None)
def test_weighted_averages_equal_scikit_learn_where_all_classes_are_predicted(rows):
    y, said = np.array(rows).T
    y, said = np.append(y, [0, 1, 2, 3]), np.append(said, [0, 1, 2, 3])
    theirs = peer.precision_recall_fscore_support(y, said, average="weighted")
    ours = confusion(y, said).average("weighted")
    np.testing.assert_allclose([ours[n] for n in ("precision", "recall", "f1")], theirs[:3])


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
@settings(max_examples=60, deadline=None)
def test_rates_of_the_notes(tp, fp, fn, tn):
    """M116-M122, and tnr + fpr = 1, rec + fnr = 1."""
    rates = Rates(tp, fp, fn, tn)

    def expect(found, part, whole):
        assert np.isnan(found) if whole == 0 else found == pytest.approx(part / whole)

    expect(rates.accuracy, tp + tn, tp + fp + fn + tn)
    expect(rates.precision, tp, tp + fp)
    expect(rates.recall, tp, tp + fn)
    expect(rates.specificity, tn, fp + tn)
    expect(rates.fnr, fn, tp + fn)
    expect(rates.fpr, fp, fp + tn)
    if tp + fn:
        assert rates.recall + rates.fnr == pytest.approx(1)
    if fp + tn:
        assert rates.specificity + rates.fpr == pytest.approx(1)
    if tp:
        harmonic = 2 * rates.precision * rates.recall / (rates.precision + rates.recall)
        assert rates.f1 == pytest.approx(harmonic)
    elif fp + fn:
        assert rates.f1 == 0
    else:
        assert np.isnan(rates.f1)


def test_all_positive_and_all_negative():
    """M117, M118: all positive has recall 1 and poor precision; all negative recall 0, and no
    precision at all."""
    y = [1] * 10 + [0] * 90
    everything = confusion(y, [1] * 100).of(1)
    assert (float(everything.recall), float(everything.precision)) == (1.0, 0.1)
    assert float(everything.specificity) == 0.0
    nothing = confusion(y, [0] * 100).of(1)
    assert float(nothing.recall) == 0.0
    assert np.isnan(nothing.precision)
    assert float(nothing.f1) == 0.0
    assert (nothing.tp, nothing.fp, nothing.fn, nothing.tn) == (0, 0, 10, 90)


def test_the_majority_of_the_notes():
    """M116, M124: 90 blue, 10 green, always blue: 0.9, and no better than the constant."""
    y = ["blue"] * 90 + ["green"] * 10
    found = confusion(y, ["blue"] * 100)
    assert found.accuracy == 0.9
    against = found.versus_majority()
    assert against.majority == "blue"
    assert (against.gain, against.won, against.lost, against.p_value) == (0.0, 0, 0, 1.0)
    before = balance(y)
    assert before.majority_accuracy == 0.9
    assert before.imbalance == 9
    assert before.to_frame()["rows"].tolist() == [90, 10]


@given(pairs)
@settings(max_examples=60, deadline=None)
def test_won_and_lost_rows_are_those_that_only_one_gets_right(rows):
    y, said = np.array(rows).T
    against = confusion(y, said).versus_majority()
    constant = y == against.majority
    assert constant.sum() == np.bincount(y).max()
    assert against.won == np.sum((said == y) & ~constant)
    assert against.lost == np.sum((said != y) & constant)
    assert against.gain == pytest.approx(np.mean(said == y) - np.mean(constant))
    both = against.won + against.lost
    expected = stats.binom.sf(against.won - 1, both, 0.5)
    assert against.p_value == pytest.approx(expected)


def test_averages_with_an_undefined_term_are_undefined_unless_asked():
    found = confusion(["a", "b", "c"], ["a", "b", "b"])  # c is never predicted
    assert np.isnan(found.average()["precision"])
    assert found.average(skip_undefined=True)["precision"] == pytest.approx((1 + 0.5) / 2)
    assert found.average()["recall"] == pytest.approx(2 / 3)
    assert np.isnan(found.average("weighted")["precision"])
    # A class that is never observed has no weight: its undefined recall does not matter.
    unseen = confusion(["a", "b"], ["a", "b"], ["a", "b", "z"])
    assert unseen.average("weighted")["recall"] == 1.0
    assert np.isnan(unseen.average("macro")["recall"])
    assert found.average("micro")["precision"] == found.average("micro")["recall"] == found.accuracy


def test_tables_to_read_and_to_use():
    found = confusion(["b", "a", "b"], ["a", "a", "b"], labels=["b", "a"])
    frame = found.table_frame()
    assert frame["predicted"].tolist() == ["b", "a"]
    assert frame["b"].tolist() == [1, 1]  # one b is seen as b, one as a
    assert frame["a"].tolist() == [0, 1]
    assert found.to_frame(like="polars")["tp"].to_list() == [1, 1]
    text = str(found)
    assert "Rows: predicted; columns: observed" in text
    assert "Accuracy 0.6667; always predicting b has 0.6667." in text
    assert "<table>" in found._repr_html_()
    cells = found.plot().to_dict()["data"]["values"]
    (cell,) = [c for c in cells if (c["predicted"], c["observed"]) == ("a", "b")]
    assert cell["count"] == 1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: confusion([1, 2], [1]), "2 rows and y_pred 1"),
        (lambda: confusion([], []), "at least one label"),
        (lambda: confusion([[1], [2]], [1, 2]), "must be a column"),
        (lambda: confusion([1.0, np.nan], [1.0, 1.0]), "y_true has 1 missing"),
        (lambda: confusion(np.array(["a", None], dtype=object), ["a", "a"]), "y_true has 1 miss"),
        (lambda: confusion([1, 2], ["1", "2"]), "one kind"),
        (lambda: confusion([0.5, 1.5], [0.5, 1.5]), "class labels"),
        (lambda: confusion(["a", "b"], ["a", "c"], ["a", "b"]), "not among labels: c"),
        (lambda: confusion(["a"], ["a"], ["a", "a"]), "a class twice"),
        (lambda: confusion(["cat"], ["cat"]).of("cta"), "Did you mean 'cat'"),
        (lambda: confusion(["a"], ["a"]).average("mean"), "kind='mean'"),
        (lambda: balance([]), "at least one label"),
    ],
)
def test_bad_input_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()


@given(pairs)
@settings(max_examples=60, deadline=None)
def test_more_rates_equal_scikit_learn(rows):
    y, said = np.array(rows).T
    labels = [0, 1, 2, 3]
    found = confusion(y, said, labels)
    for beta in (0.5, 2.0):
        options = {"labels": labels, "beta": beta, "zero_division": np.nan}
        expected = peer.fbeta_score(y, said, average=None, **options)
        np.testing.assert_allclose(found.per_class.fbeta(beta), expected)
        micro = peer.fbeta_score(y, said, average="micro", **options)
        assert found.fbeta(beta, "micro") == pytest.approx(micro)
    if not np.isnan(found.mcc):
        assert found.mcc == pytest.approx(peer.matthews_corrcoef(y, said), abs=1e-12)
    recalls = peer.recall_score(y, said, labels=np.unique(y), average="macro", zero_division=0)
    assert found.balanced_accuracy == pytest.approx(recalls)
    for label in labels:
        one = found.of(label)
        if np.isfinite(one.mcc):
            assert one.mcc == pytest.approx(peer.matthews_corrcoef(y == label, said == label))
        positive, negative = one.likelihood_ratios
        if np.isfinite(one.recall) and one.fpr > 0:
            assert positive == pytest.approx(one.recall / one.fpr)
        if np.isfinite(one.fnr) and one.specificity > 0:
            assert negative == pytest.approx(one.fnr / one.specificity)


def test_rates_with_their_exact_intervals():
    found = confusion(["ill"] * 10 + ["well"] * 90, ["ill"] * 8 + ["well"] * 92)
    low, high = stats.binomtest(8, 10).proportion_ci()
    frame = found.rates()
    row = frame[(frame["label"] == "ill") & (frame["measure"] == "recall")].iloc[0]
    assert (row["estimate"], row["conf_low"], row["conf_high"]) == pytest.approx((0.8, low, high))
    assert frame[frame["measure"] == "f1"]["conf_low"].isna().all()
    assert found.interval() == pytest.approx(tuple(stats.binomtest(98, 100).proportion_ci()))
    ill = found.of("ill")
    assert (ill.npv, ill.fdr, ill.prevalence) == pytest.approx((90 / 92, 0, 0.1))
    assert ill.omission == pytest.approx(2 / 92)
    assert ill.informedness == pytest.approx(0.8)
    assert ill.balanced == pytest.approx(0.9)
    with pytest.raises(InputError, match="beta=0"):
        ill.fbeta(0)


@given(pairs, st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_weights_count_as_repeated_rows(rows, seed):
    y, said = np.array(rows).T
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    found = confusion(y, said, sample_weight=weight.astype(float))
    twice = confusion(np.repeat(y, weight), np.repeat(said, weight))
    np.testing.assert_allclose(found.table, twice.table)
    assert found.accuracy == pytest.approx(twice.accuracy)
    np.testing.assert_allclose(found.mcc, twice.mcc)
    np.testing.assert_allclose(found.per_class.f1, twice.per_class.f1)
    if found.weighted:
        assert np.isnan(found.interval()).all()
        assert np.isnan(found.versus_majority().p_value)
        assert found.rates()["conf_low"].isna().all()
    assert "Accuracy" in str(found)


# ---- rates as results ----------------------------------------------------------------------------


def test_rates_are_a_table_with_exact_intervals_and_a_picture():
    """Clopper and Pearson's limits, by the quantiles of a beta distribution."""
    rates = Rates(tp=6, fp=2, fn=3, tn=9)
    table = rates.tidy().set_index("measure")
    assert table["label"].unique().tolist() == ["positive"]
    assert table.loc["precision", "estimate"] == 0.75
    assert table.loc["precision", "conf_low"] == pytest.approx(stats.beta.ppf(0.025, 6, 3))
    assert table.loc["precision", "conf_high"] == pytest.approx(stats.beta.ppf(0.975, 7, 2))
    assert np.isnan(table.loc["f1", "conf_low"])  # no share of rows
    assert "precision" in str(rates)
    drawn = rates.plot().to_dict()["data"]["values"]
    assert len(drawn) == len(table)
    nothing = Rates(tp=0, fp=0, fn=3, tn=9).tidy().set_index("measure").loc["precision"]
    assert nothing[["estimate", "conf_low", "conf_high"]].isna().all()
    with pytest.raises(InputError, match="level=2"):
        rates.columns(level=2)


def test_rates_of_each_class_are_those_of_the_confusion_table():
    found = confusion(["a", "b", "b", "c"], ["a", "b", "c", "c"])
    table = found.rates()
    assert table.equals(found.per_class.tidy())
    alone = found.of("b").tidy()
    assert alone.equals(table[table["label"] == "b"].reset_index(drop=True))
    names = {row["series"] for row in found.per_class.plot().to_dict()["data"]["values"]}
    assert names == {"a", "b", "c"}
    assert "b" in str(found.per_class)


def test_the_comparison_with_the_majority_is_a_table_and_a_picture():
    against = confusion(["a"] * 6 + ["b"] * 4, ["a"] * 5 + ["b"] * 4 + ["a"]).versus_majority()
    row = against.tidy()
    assert (row["majority"][0], row["won"][0], row["lost"][0]) == ("a", 3, 1)
    assert row["p_value"][0] == against.p_value
    assert "always a" in str(against)
    values = [each["x"] for each in against.plot().to_dict()["data"]["values"]]
    assert values == [0.8, 0.6]
