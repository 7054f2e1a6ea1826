"""Rows without a label: the proportions of the classes among them, from their texts."""

from dataclasses import replace
from time import perf_counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bottega
from bottega import scale
from bottega.core.errors import InputError
from bottega.data import Table, folds
from bottega.report.figures import Figures
from bottega.report.texts import unread_texts
from bottega.text import AggregateProportions, StemMatrix, TextCleaner

GOOD = ["great", "excellent", "loved", "amazing", "superb"]
BAD = ["awful", "boring", "hated", "poor", "dull"]
FILL = ["the", "film", "was", "and", "plot", "with", "actors", "a", "story", "of", "scenes", "it"]
UNREAD = 0.8  # share of the bad texts, a third of those with a label
NAMES = np.array(["<b>bad</b>", "good"])


def reviews(n, bad, rng):
    codes = (rng.random(n) >= bad).astype(int)
    texts = [
        " ".join(
            rng.permutation(
                [
                    *rng.choice((BAD, GOOD)[k], 2),
                    *rng.choice((BAD, GOOD)[1 - k], 1),
                    *rng.choice(FILL, 6),
                ]
            )
        )
        for k in codes
    ]
    return pd.DataFrame({"review": texts, "x": rng.normal(size=n), "label": NAMES[codes]})


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    labelled, unread = reviews(240, 1 / 3, rng), reviews(150, UNREAD, rng)
    unread["label"] = None
    unread.loc[:4, "review"] = [None, "", " ", None, ""]
    return pd.concat([labelled, unread]).sample(frac=1, random_state=0, ignore_index=True)


def compared(frame, **options):
    methods = ["naive_bayes"]
    return bottega.compare(frame, "label", methods=methods, outer=2, stack=False, **options)


@pytest.fixture(scope="module")
def comparison(frame):
    return compared(frame)


@pytest.fixture(scope="module")
def found(comparison):
    return comparison.proportions()


def test_a_table_keeps_its_rows_without_a_label(frame):
    for data in (frame, pl.from_pandas(frame)):
        table = Table(data, target="label")
        assert type(table.unlabelled) is type(data)
        assert len(table.unlabelled) == 150
        assert sorted(table.unlabelled["x"]) == sorted(frame["x"][frame["label"].isna()])
        weighted = table.aimed_at(weight=np.ones(240))
        assert len(weighted.unlabelled) == 150
        assert table.aimed_at("x").unlabelled is None  # all rows that are left have an x
        assert table.take(np.arange(5)).unlabelled is None
    assert Table(frame.dropna(subset="label"), target="label").unlabelled is None


def test_the_proportions_are_those_of_the_stem_matrices(comparison, found):
    train = comparison.train
    cleaner = TextCleaner().fit(train.X["review"])
    stems = StemMatrix(cleaner.set_params(other_alphabets=False), min_df=2)
    S = stems.fit_transform(train.X["review"])
    unread = comparison.table.unlabelled
    unread = unread[unread["review"].fillna("").str.strip() != ""]
    cv = folds(train, 5, random_state=comparison.random_state)
    model = AggregateProportions(cv=cv).fit(S, train.y)
    U = stems.transform(unread["review"])
    assert found.proportions.estimate[0] == pytest.approx(model.predict(U), abs=1e-12)
    assert found.proportions.classes == tuple(NAMES)
    assert (found.n_labelled, found.n_unread) == (180, 145)
    assert found.notes == ("5 rows have neither a label nor a text.",)
    assert found.labelled == pytest.approx([np.mean(train.y == name) for name in NAMES])
    counted = comparison.predict(unread)
    assert found.counted == pytest.approx([np.mean(counted == name) for name in NAMES])
    assert comparison.proportions() is found


def test_the_interval_covers_where_the_shares_have_changed(found):
    low, high = found.proportions.interval
    assert low[0, 0] < UNREAD < high[0, 0]
    assert low[0, 0] > found.labelled[0] + 0.2
    assert not found.doubtful
    assert "do not speak against it" in found.assumption


def test_other_texts_are_told(frame):
    changed = frame.copy()
    unread = changed["label"].isna() & changed["review"].notna()
    changed.loc[unread, "review"] += " scenes plot"
    other = compared(changed).proportions()
    assert other.doubtful
    assert "'scene'" in other.assumption
    assert "may be wrong" in other.assumption


def test_the_summary_and_plain_values(comparison, found):
    text = str(comparison.summary())
    estimate, (low, high) = found.proportions.estimate[0], found.proportions.interval
    assert "among 145 texts without 'label'" in text
    assert f"good {estimate[1]:.1%} [{low[0, 1]:.1%}, {high[0, 1]:.1%}]" in text
    told = comparison.to_dict()["proportions"]
    assert [row["class"] for row in told["classes"]] == NAMES.tolist()
    assert told["classes"][0]["conf_low"] == low[0, 0]
    assert told["carry_over_p_value"] == found.carry_over.p_value


def test_the_report_has_the_proportions(comparison, found, tmp_path):
    page = comparison.report(tmp_path / "report.html").read_text()
    assert "The classes of unread texts" in page
    assert "145 rows have a text but no value of label" in page
    assert "Proportions of classes" in page
    assert "This report is not complete" not in page
    assert "<b>bad</b>" not in page
    assert "&lt;b&gt;bad&lt;/b&gt;" in page


def test_without_such_rows_the_report_says_how_to_get_them(frame):
    none = compared(frame.dropna(subset="label"))
    with pytest.raises(InputError, match="No row has a text and no value of 'label'"):
        none.proportions()
    told = unread_texts(none, Figures())
    assert "texts that nobody has read" in told["sentence"]
    assert not told["rows"]
    assert "proportions among" not in str(none.summary())
    few = pd.concat([frame.dropna(subset="label"), frame[frame["label"].isna()].head(12)])
    with pytest.raises(InputError, match=r"Only \d+ rows have a text and no value"):
        compared(few).proportions()


def test_texts_without_a_common_stem(frame):
    other = frame.copy()
    other.loc[other["label"].isna(), "review"] = "все хорошо, спасибо вам"
    with pytest.raises(InputError, match=r"150 texts .* none of them has a stem of the labelled"):
        compared(other).proportions()


def test_what_has_no_proportions(frame):
    numbers = frame.assign(label=np.where(frame["label"].isna(), np.nan, frame["x"]))
    made = bottega.compare(numbers, "label", methods=["least_squares"], outer=2, stack=False)
    with pytest.raises(InputError, match="the target must be a class"):
        made.proportions()
    made = compared(frame.drop(columns="review"))
    with pytest.raises(InputError, match="one of the columns free text"):
        made.proportions()
    assert unread_texts(made, Figures()) is None


def test_no_time_is_left(comparison):
    late = replace(comparison, budget=1.0, ends=perf_counter() - 1, _proportions=None)
    with pytest.raises(InputError, match="The time budget left none"):
        late.proportions()


def test_weights_and_groups(frame):
    weights = np.where(frame["review"].str.contains("awful", na=False), 3.0, 1.0)
    grouped = frame.assign(weight=weights, author=np.arange(len(frame)) // 2)
    table = Table(grouped, target="label", weight="weight", group="author")
    made = bottega.compare(table, methods=["naive_bayes"], outer=2, stack=False)
    found = made.proportions()
    assert "texts of a group" in found.notes[-1]
    unread = table.unlabelled[table.unlabelled["review"].fillna("").str.strip() != ""]
    bad = made.predict(unread) == NAMES[0]
    assert found.counted[0] == pytest.approx(np.average(bad, weights=unread["weight"]))
    lacking = grouped.assign(weight=np.where(frame["label"].isna(), np.nan, weights))
    table = Table(lacking, target="label", weight="weight")
    made = bottega.compare(table, methods=["naive_bayes"], outer=2, stack=False)
    assert "have no valid weights" in made.proportions().notes[-1]


def test_rows_of_a_source_without_a_label(frame):
    found = bottega.compare(
        scale.source(frame, target="label", rows=100),
        methods=["naive_bayes"], outer=2, stack=False, sample=200,
    )  # fmt: skip
    assert len(found.table.unlabelled) == 150
    unread = found.proportions()
    assert unread.n_unread == 145
    low, high = unread.proportions.interval
    assert low[0, 0] < UNREAD < high[0, 0]
