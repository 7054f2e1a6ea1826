"""Proportions of labels of which a text may have several."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from bottega.core.errors import InputError
from bottega.text import AggregateProportions

NAMES = ["price", "staff", "food"]
UNREAD = np.array([0.7, 0.2, 0.5])


def draw(n, shares, rng, p=12):
    """Return texts whose labels go together: each adds its own four stems."""
    z = rng.normal(size=(n, 1)) + rng.normal(size=(n, 3))
    D = (z < np.sqrt(2) * np.array([_normal_quantile(share) for share in shares])).astype(int)
    chance = 0.15 + 0.45 * np.repeat(D, p // 3, axis=1)
    return (rng.random((n, p)) < chance).astype(float), D


def _normal_quantile(share):
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    return *draw(300, [0.3, 0.4, 0.2], rng), draw(400, UNREAD, rng)[0]


@pytest.fixture(scope="module")
def model(texts):
    return AggregateProportions(cv=3).fit(texts[0], pd.DataFrame(texts[1], columns=NAMES))


@pytest.mark.parametrize("method", ["inversion", "adjusted_count", "count"])
def test_one_fit_is_a_fit_per_label(method, texts):
    S, D, unread = texts
    weight = np.random.default_rng(1).integers(1, 3, len(S))
    options = {"cv": 3, "random_state": 5}
    model = AggregateProportions(method, **options).fit(S, D, sample_weight=weight)
    found = model.proportions(unread, groups=np.arange(400) % 2, n_bootstrap=20)
    assert model.classes_.tolist() == [0, 1, 2]
    for j in range(3):
        alone = AggregateProportions(method, **options).fit(S, D[:, j], sample_weight=weight)
        assert model.predict(unread)[j] == alone.predict(unread)[1]
        assert model.priors_[j] == alone.priors_[1]
        one = alone.proportions(unread, groups=np.arange(400) % 2, n_bootstrap=20)
        assert np.array_equal(found.estimate[:, j], one.estimate[:, 1])
        assert np.array_equal(found.replicates[:, :, j], one.replicates[:, :, 1])
        if method != "count":
            test = model.carry_over_test(unread, label=j, n_bootstrap=20)
            assert test.p_value == alone.carry_over_test(unread, n_bootstrap=20).p_value


def test_intervals_cover_where_counting_is_off(texts, model):
    found = model.proportions(texts[2])
    low, high = found.interval
    assert np.all((low[0] < UNREAD) & (high[0] > UNREAD))
    assert found.estimate.sum() > 1.2  # no distribution
    assert found.to_frame()["class"].tolist() == NAMES
    assert "several labels" in str(found)
    assert found.plot().to_dict()["title"]["text"] == "Proportions of classes"
    for what in (lambda: found.leave_out("price"), lambda: found.difference("price", "staff")):
        with pytest.raises(InputError, match="A text may have several of these labels"):
            what()


def test_tables_of_labels(texts):
    S, D, unread = texts
    expected = AggregateProportions("inversion", cv=3).fit(S, D).predict(unread)
    for table in (
        D.astype(bool),
        sparse.csr_matrix(D),
        D.tolist(),
        pl.DataFrame(D, schema=NAMES),
    ):
        found = AggregateProportions("inversion", cv=3).fit(S, table)
        assert np.array_equal(found.predict(unread), expected)
    named = AggregateProportions("inversion", cv=3, classes=NAMES).fit(S, D)
    assert named.classes_.tolist() == NAMES
    one = AggregateProportions("inversion", cv=3).fit(S, D[:, :1])
    assert one.predict(unread).shape == (2,)  # one column is one label per text


def test_bad_labels(texts):
    S, D, unread = texts

    def refused(match, tags, **options):
        with pytest.raises(InputError, match=match):
            AggregateProportions("inversion", **options).fit(S, tags)

    none, everyone = D.copy(), D.copy()
    none[:, 1], everyone[:, 1], everyone[0, 1] = 0, 1, 0
    refused("No tagged text has the label 'staff'", pd.DataFrame(none, columns=NAMES))
    refused("Only one tagged text is without the label 1", everyone)
    refused("3 columns, and 2 is among their values", D + D)
    refused("3 columns, and 'no' is among", np.where(D == 1, "yes", "no"))
    refused("MultiLabelBinarizer", [["price"], ["price", "staff"]] * 150)
    refused("MultiLabelBinarizer", pd.Series([{"price"}, {"staff"}] * 150))
    refused("does not name each of them once", D, classes=["price", "staff"])
    refused("are not the columns", pd.DataFrame(D, columns=NAMES), classes=["a", "b", "c"])
    gaps = pd.DataFrame(D, columns=NAMES).astype(object)
    gaps.iloc[4, 1] = None
    refused("missing label", gaps)
    several = AggregateProportions("inversion", cv=3).fit(S, D)
    with pytest.raises(InputError, match=r"give label= one of \[0, 1, 2\], not None"):
        several.carry_over_test(unread)
    single = AggregateProportions("inversion", cv=3).fit(S, D[:, 0])
    with pytest.raises(InputError, match="each text has one label here"):
        single.carry_over_test(unread, label=1)
