"""Parts and folds: shares, groups, time, and the lock on the test part."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError, TestSetAlreadyUsed
from bottega.data import LockedPart, Table, folds, read


def table_of(n, *, y=None, **columns):
    """Build a table whose feature `row` tells which row of it a part holds."""
    rng = np.random.default_rng(0)
    frame = {"row": np.arange(n) * 1.0, "y": rng.normal(size=n) if y is None else y}
    roles = {name: name for name in columns}
    return Table(pd.DataFrame(frame | columns), target="y", **roles)


def rows_of(split):
    parts = [split.train, split.validation, split.test and split.test.open(again=True)]
    return [np.array([]) if p is None else p.X["row"].to_numpy().astype(int) for p in parts]


def test_default_fractions():
    split = table_of(100).split()
    rows = rows_of(split)
    assert [r.size for r in rows] == [50, 25, 25]
    assert sorted(np.concatenate(rows)) == list(range(100))
    assert isinstance(split.test, LockedPart)


def test_three_quarters_and_one():
    split = table_of(100).split(train_size=0.75, validation_size=0, test_size=0.25)
    assert split.validation is None
    assert [r.size for r in rows_of(split)] == [75, 0, 25]


def test_without_a_test_part():
    split = table_of(10).split(train_size=0.5, validation_size=0.5, test_size=0)
    assert split.test is None
    assert split.train.n_rows == split.validation.n_rows == 5


def test_the_seed_decides():
    table = table_of(100)
    first, same, other = (rows_of(table.split(random_state=s))[0] for s in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert first.tolist() != other.tolist()


fractions = st.tuples(*[st.integers(1, 10)] * 3).map(lambda t: tuple(x / sum(t) for x in t))


@settings(max_examples=60, deadline=None)
@given(fractions, st.lists(st.integers(1, 40), min_size=2, max_size=6), st.integers(0, 99))
def test_class_shares_within_one_row(fractions, sizes, seed):
    sizes[0] += 40  # one class large enough to fill every part
    y = np.repeat([f"k{i}" for i in range(len(sizes))], sizes)
    train, validation, test = fractions
    table = table_of(len(y), y=y)
    split = table.split(
        train_size=train, validation_size=validation, test_size=test, random_state=seed
    )
    for rows, fraction in zip(rows_of(split), fractions, strict=True):
        for label, size in zip(np.unique(y), sizes, strict=True):
            assert abs(np.sum(y[rows] == label) - fraction * size) < 1 + 1e-6
    assert set(y[rows_of(split)[0]]) == set(y)
    assert sorted(np.concatenate(rows_of(split))) == list(range(len(y)))


def test_parts_as_a_whole_come_out_even_over_many_small_classes():
    y = np.repeat([f"k{i}" for i in range(100)], 2)
    assert [r.size for r in rows_of(table_of(200, y=y).split())] == [100, 50, 50]


def test_stratifying_can_be_refused():
    y = np.repeat(["a", "b"], [97, 3])
    table = table_of(100, y=y)
    counts = {
        sum(y[rows_of(table.split(stratify=False, random_state=s))[0]] == "b") for s in range(30)
    }
    assert len(counts) > 2  # chance decides, and not the shares


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=3, max_size=25), st.integers(0, 99))
def test_groups_stay_together(sizes, seed):
    group = np.repeat([f"g{i}" for i in range(len(sizes))], sizes)
    table = table_of(len(group), group=group)
    parts = rows_of(table.split(random_state=seed))
    assert sorted(np.concatenate(parts)) == list(range(len(group)))
    assert all(part.size for part in parts)
    seen = [set(group[part]) for part in parts]
    assert sum(map(len, seen)) == len(set.union(*seen))


def test_groups_of_equal_size_come_out_even_and_keep_class_shares():
    group = np.repeat([f"g{i:02}" for i in range(40)], 5)
    y = np.where(np.repeat(np.arange(40) % 4 == 0, 5), "rare", "common")
    parts = rows_of(table_of(200, y=y, group=group).split())
    assert [p.size for p in parts] == [100, 50, 50]
    assert all(abs(np.mean(y[p] == "rare") - 0.25) <= 0.05 for p in parts)  # half a group


def test_a_group_column_can_be_named_or_refused():
    frame = pd.DataFrame({"row": np.arange(40.0), "g": np.arange(40) // 4, "y": np.arange(40.0)})
    table = Table(frame.assign(y=np.sin(frame["y"])), target="y")
    parts = [set(rows // 4) for rows in rows_of(table.split(group="g"))]
    assert not parts[0] & parts[1]
    grouped = Table(table.frame, target="y", group="g")
    parts = [set(rows // 4) for rows in rows_of(grouped.split(group=False))]
    assert parts[0] & parts[1]


def test_time_order():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(i)) for i in range(20)]
    order = np.random.default_rng(0).permutation(20)
    table = table_of(20, time=[days[i] for i in order])
    parts = [sorted(order[rows]) for rows in rows_of(table.split())]
    assert parts == [list(range(10)), list(range(10, 15)), list(range(15, 20))]


def test_rows_of_one_time_stay_together():
    time = np.repeat([1, 2, 3, 4], [5, 4, 6, 5])
    parts = [set(time[rows]) for rows in rows_of(table_of(20, time=time).split())]
    assert parts == [{1, 2}, {3}, {4}]


def test_the_test_part_opens_once():
    test = table_of(40).split().test
    assert (test.n_rows, len(test), test.looks) == (10, 10, 0)
    assert test.open().n_rows == 10
    with pytest.raises(TestSetAlreadyUsed, match=r"first at \d{4}-.* too optimistic"):
        test.open()
    assert test.looks == 1  # a refused look is no look
    assert test.open(again=True).n_rows == 10
    assert test.looks == 2
    assert "opened 2 times" in repr(test)
    assert pickle.loads(pickle.dumps(test)).looks == 2  # the lock outlives the process


@pytest.mark.parametrize(
    "bad",
    [
        {"train_size": 0.9},
        {"train_size": 0.0, "test_size": 0.75},
        {"validation_size": -0.25, "test_size": 0.75},
    ],
)
def test_bad_fractions(bad):
    with pytest.raises(InputError, match="fractions that sum to 1"):
        table_of(20).split(**bad)


def test_tables_too_small_to_split():
    assert [r.size for r in rows_of(table_of(3).split())] == [1, 1, 1]
    two = Table(table_of(3).frame.iloc[:2], target="y", task="regression")
    with pytest.raises(InputError, match=r"50/25/25 split needs at least 3 rows .* has 2"):
        two.split()
    tenth = {"train_size": 0.8, "validation_size": 0.1, "test_size": 0.1}
    # Six rows are 4.8, 0.6, 0.6: the two left over go to the first and the second part.
    with pytest.raises(InputError, match=r"80/10/10 split needs at least 7 rows .* has 6"):
        table_of(6).split(**tenth)
    assert [r.size for r in rows_of(table_of(7).split(**tenth))] == [5, 1, 1]
    y = np.array(["a", "b", "c", "d"])
    with pytest.raises(InputError, match=r"at least 3 rows of one class, .* more than 1;"):
        table_of(4, y=y).split()
    assert [r.size for r in rows_of(table_of(4, y=y).split(stratify=False))] == [2, 1, 1]
    with pytest.raises(InputError, match="at least 3 groups, and there are 2"):
        table_of(20, group=np.arange(20) % 2).split()
    with pytest.raises(InputError, match="at least 3 distinct times"):
        table_of(20, time=np.repeat([1, 2], 10)).split()


def test_a_class_that_cannot_reach_the_training_part():
    # The first group overfills the training part, so the only group of class b goes elsewhere.
    group = np.repeat(["g1", "g2", "g3", "g4"], [90, 5, 3, 2])
    table = table_of(100, y=np.where(group == "g2", "b", "a"), group=group)
    with pytest.raises(InputError, match="Class 'b' is in too few groups"):
        table.split()
    assert set(table.split(group=False).train.y) == {"a", "b"}


def test_group_and_time_together_must_be_decided():
    table = table_of(40, group=np.arange(40) // 4, time=np.arange(40))
    with pytest.raises(InputError, match="group=False or time=False"):
        table.split()
    assert table.split(group=False).train.time.max() == 19


def test_wishes_that_cannot_be_met():
    table = table_of(20)
    with pytest.raises(InputError, match="no group column"):
        table.split(group=True)
    with pytest.raises(InputError, match="no column 'w'"):
        table.split(group="w")
    with pytest.raises(InputError, match="Only a classification table"):
        table.split(stratify=True)
    with pytest.raises(InputError, match="stratify is"):
        table.split(stratify="yes")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=2, max_size=6), st.integers(2, 7), st.integers(0, 99))
def test_folds_share_rows_and_classes_evenly(sizes, k, seed):
    sizes[0] += k
    y = np.repeat([f"k{i}" for i in range(len(sizes))], sizes)
    made = folds(table_of(len(y), y=y), k, random_state=seed)
    assert len(made) == k
    assert sorted(np.concatenate([test for _, test in made])) == list(range(len(y)))
    sizes_of_tests = [test.size for _, test in made]
    assert max(sizes_of_tests) - min(sizes_of_tests) <= 1
    for train, test in made:
        assert sorted(np.concatenate([train, test])) == list(range(len(y)))
        for label, size in zip(np.unique(y), sizes, strict=True):
            assert abs(np.sum(y[test] == label) - size / k) < 1


def test_folds_by_group():
    group = np.repeat([f"g{i}" for i in range(12)], 3)
    for train, test in folds(table_of(36, group=group), 4):
        assert test.size == 9
        assert not set(group[train]) & set(group[test])


def test_folds_forward_in_time():
    order = np.random.default_rng(0).permutation(24)
    made = folds(table_of(24, time=order), 3)
    assert [(train.size, test.size) for train, test in made] == [(6, 6), (12, 6), (18, 6)]
    for train, test in made:
        assert order[train].max() < order[test].min()


def test_folds_repeat_with_their_seed():
    table = read("iris")
    one, same, other = (folds(table, 5, random_state=s)[0][1].tolist() for s in (0, 0, 1))
    assert one == same != other


@pytest.mark.parametrize("k", [1, 0, 2.5, "5"])
def test_bad_numbers_of_folds(k):
    with pytest.raises(InputError, match="whole number of at least 2"):
        folds(table_of(20), k)


def test_fewer_rows_than_folds():
    with pytest.raises(InputError, match="10 folds need at least 10 rows and the table has 9"):
        folds(table_of(9), 10)
    with pytest.raises(InputError, match="5 folds by group needs at least 5 groups"):
        folds(table_of(20, group=np.arange(20) % 4), 5)
    with pytest.raises(InputError, match="distinct times"):
        folds(table_of(20, time=np.arange(20) % 4), 5)
