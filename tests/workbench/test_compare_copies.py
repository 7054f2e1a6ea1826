"""Copies of rows do not leak: they are held out together, and said to be there."""

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega import scale
from bottega.report.content import content

REMEMBERING = ["neighbors", "tree", "naive_bayes"]


def noise(n=400, times=3):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    frame["y"] = rng.choice(["p", "q"], n)
    return pd.concat([frame] * times, ignore_index=True).sample(frac=1, random_state=0)


@pytest.fixture(scope="module")
def tripled():
    return bottega.compare(noise(), "y", methods=REMEMBERING)


def test_noise_in_copies_is_certified_as_noise(tripled):
    certificate = tripled.certify(ledger=False)
    assert certificate.lower < 0.5 < certificate.upper
    assert certificate.n_groups == 100
    board = tripled.leaderboard.set_index("method")
    assert board["error"].drop("stacking").min() > 0.4


def test_a_comparison_keeps_copies_together(tripled):
    locked = tripled.test.open(again=True, ledger=False)
    assert not set(locked.X["a"]) & set(tripled.train.X["a"])
    for train, test in tripled.fold_models.folds:
        assert not set(tripled.train.copies[train]) & set(tripled.train.copies[test])
    assert tripled.intervals is not None


def test_copies_are_told(tripled):
    (message,) = tripled.to_dict()["findings"]
    assert message.startswith("800 of 1,200 rows are copies of others")
    assert message in content(tripled)["data"]["findings"]


def test_few_copies_change_no_choice_of_a_knob():
    frame = noise(400, 1)
    found = bottega.compare(pd.concat([frame, frame.iloc[:2]]), "y", methods=["neighbors"])
    assert found.train.units is None
    assert found.results["neighbors"].path.estimate == "loo"
    fold = found.results["neighbors"].fold
    for each in np.unique(found.train.copies):
        assert len(set(fold[found.train.copies == each])) == 1


def test_weights_and_rows_without_a_target_go_with_copies():
    frame = noise().assign(w=np.random.default_rng(1).uniform(1, 2, 1200))
    frame.loc[frame.index[:60], "y"] = None
    found = bottega.compare(frame, "y", methods=REMEMBERING, weights="w", stack=False)
    assert found.table.n_rows == 1140
    assert found.leaderboard["error"].min() > 0.35
    assert found.certify(ledger=False).upper > 0.45
    assert found.interval(frame.head(3)) is not None


def test_copies_that_groups_divide_are_a_warning():
    frame = noise().assign(who=np.arange(1200) // 4)
    found = bottega.compare(frame, "y", groups="who", methods=["naive_bayes"], outer=2)
    (urgent,) = content(found)["head"]["urgent"]
    assert "follow the group" in urgent


def test_copies_among_drawn_rows_are_a_warning(tmp_path):
    path = tmp_path / "rows.parquet"
    noise().to_parquet(path, index=False)
    drawn = bottega.compare(
        scale.source(path, target="y", rows=200), methods=["naive_bayes", "tree"], sample=600
    )
    (urgent,) = content(drawn)["head"]["urgent"]
    assert urgent.startswith("Of the drawn rows ")
    assert "not drawn are learnt from" in urgent
    whole = bottega.compare(scale.source(path, target="y", rows=200), methods=["tree"], outer=2)
    assert [each.code for each in whole.table.warnings] == ["copies"]
    assert whole.leaderboard["error"].min() > 0.4
