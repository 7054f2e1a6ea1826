"""Several text files are parts, each read by what all of them tell: the rows of one source."""

import os
import pickle

import duckdb
import numpy as np
import pandas as pd
import pytest

from bottega import scale
from bottega.classify import LogisticRegression
from bottega.cluster import GaussianMixture, KMeans
from bottega.core.engine import current_engine
from bottega.core.errors import InputError
from bottega.data.read import duck
from bottega.data.read import rows as stored
from bottega.data.read.rows import StoredRows
from bottega.linear import Ridge
from bottega.risk.estimate.source_rows import SourceRows
from bottega.workbench.drawn import draw_table
from bottega.workbench.streamed import StreamedRows

N = 600


@pytest.fixture
def frame():
    """Columns that the first of three files shows in another way than the others."""
    rng = np.random.default_rng(0)
    first = np.arange(N) < N // 3
    days = np.datetime64("2019-01-01") + rng.integers(0, 900, N).astype("timedelta64[D]")
    found = pd.DataFrame(
        {
            "whole": np.where(first, rng.integers(0, 9, N), rng.normal(size=N).round(3)),
            "code": np.where(first, "007", rng.choice(["x", "7", "010"], N)),
            "gap": np.where(first, np.nan, rng.normal(size=N).round(4)),
            "large": np.where(first, 3, 2**60) + rng.integers(0, 5, N),
            "day": days.astype(str),
            "seen": np.where(first, "2019-01-31", rng.choice(["never", "2019-01-31"], N)),
            "member": np.where(first, "yes", rng.choice(["yes", "no", "é, so\nso"], N)),
        }
    )
    found["y"] = rng.normal(size=N).round(5) + 2 * found["whole"] + first
    found.loc[::40, "y"] = np.nan
    return found


@pytest.fixture
def apart(monkeypatch):
    """Files that share no part, though they are small."""
    monkeypatch.setattr(stored, "_TEXT_PART", (1, 1))


def thirds(frame):
    return [frame[start : start + N // 3] for start in range(0, N, N // 3)]


def written(frame, folder, how):
    """Write the rows to three files, and one without any; return what `source` takes."""
    folder.mkdir()
    options = {"target": "y", "rows": 90}
    as_lines = {"orient": "records", "lines": True, "double_precision": 15}
    parts = [*thirds(frame), frame[:0]]
    for number, part in enumerate(parts):
        path = folder / f"rows{number}.csv"
        if how == "json":
            rows = part.drop(columns=["day", "large", *([] if number else ["gap"])])
            if number < 3:  # a file of JSON without rows holds nothing
                rows.to_json(path.with_suffix(".jsonl"), **as_lines)
        elif how == "other order":
            part[part.columns[:: (-1) ** number]].to_csv(path, index=False)
        elif how == "other case":
            named = part.rename(columns=str.upper if number == 1 else str)
            named[named.columns[:: (-1) ** number]].to_csv(path, index=False)
        elif how == "decimal commas":
            part.to_csv(path, index=False, sep=";", decimal=",")
        elif how == "latin-1":
            part.to_csv(path, index=False, encoding="latin-1")
            options["encoding"] = "latin-1"
        elif how == "gz":
            part.to_csv(folder / f"rows{number}.csv.gz", index=False)
        elif how == "lines end otherwise":
            part.to_csv(path, index=False, lineterminator="\r\n" if number else "\n")
        elif how == "days otherwise":
            days = pd.to_datetime(part["day"]).dt.strftime(["%d.%m.%Y", "%Y-%m-%d"][number % 2])
            part.assign(day=days).to_csv(path, index=False)
        elif how == "days with slashes":
            days = pd.to_datetime(part["day"]).dt.strftime("%m/%d/%Y")
            part.assign(day=days).to_csv(path, index=False)
        else:
            part.to_csv(path, index=False)
            if how == "condition":
                options["where"] = "whole > 1 AND code <> 'x'"
    return folder, options


HOWS = [
    "commas", "other order", "other case", "decimal commas", "latin-1", "gz", "condition",
    "lines end otherwise", "days otherwise", "days with slashes", "json",
]  # fmt: skip


def whole(rows):
    """Return the rows as one frame and their responses."""
    X, y = zip(*rows, strict=True)
    return pd.concat(X, ignore_index=True), np.concatenate(y)


@pytest.mark.parametrize("together", [1, 2, 4])
@pytest.mark.parametrize("how", HOWS)
def test_files_have_the_rows_that_they_have_among_all(frame, tmp_path, monkeypatch, how, together):
    data, options = written(frame, tmp_path / "rows", how)
    with monkeypatch.context() as context:  # every pass finds for itself how the files are written
        context.setattr(StoredRows, "_keep_layout", lambda *_: None)
        X, y = whole(scale.source(data, **options))
    largest = max(file.stat().st_size for file in data.iterdir()) * (5 if how == "gz" else 1)
    limit = {1: largest // 3, 2: 2 * largest, 4: 4 * largest}[together]
    monkeypatch.setattr(stored, "_TEXT_PART", (limit, limit))
    rows = scale.source(data, **options)
    parts = rows.parts()
    counts = {1: [1, 1, 1, 1], 2: [2, 2], 4: [4]}[together]
    if how == "json":  # three files
        counts = {1: [1, 1, 1], 2: [2, 1], 4: [3]}[together]
    assert [len(part._source.states) for part in parts] == counts
    for found in (rows, (chunk for part in parts for chunk in part)):
        X_found, y_found = whole(found)
        pd.testing.assert_frame_equal(X_found, X, check_exact=True)
        np.testing.assert_array_equal(y_found, y)
    # And they are those of the frame that was written.
    if how == "condition":
        frame = frame.query("whole > 1 and code != 'x'")
    given = frame.drop(columns=["day", "large"]) if how == "json" else frame
    X_frame, y_frame = whole(scale.source(given, target="y"))
    np.testing.assert_allclose(y, y_frame, rtol=1e-12)
    np.testing.assert_allclose(X[X_frame.columns], X_frame, rtol=1e-12)


@pytest.mark.usefixtures("apart")
@pytest.mark.slow
@pytest.mark.parametrize("how", ["other order", "decimal commas", "condition", "json"])
def test_other_processes_fit_several_files_as_one_frame(frame, tmp_path, how, place, monkeypatch):
    data, options = written(frame, tmp_path / "rows", how)
    if how == "condition":
        frame = frame.query("whole > 1 and code != 'x'")
    given = frame.drop(columns=["day", "large"]) if how == "json" else frame
    model = Ridge(alpha=1.0, standardize=True)
    expected = model.fit(scale.source(given, target="y")).coef_
    monkeypatch.chdir(tmp_path)  # where the workers are not
    rows = scale.source(data.name, **options)
    with scale.on(**place):
        found = Ridge(alpha=1.0, standardize=True).fit(rows)
    names = list(rows.encoder.get_feature_names_out())
    order = [names.index(name) for name in next(iter(scale.source(given, "y")))[0].columns]
    np.testing.assert_allclose(found.coef_[order], expected, rtol=1e-9, atol=1e-12)
    with scale.on("memory"):
        here = Ridge(alpha=1.0, standardize=True).fit(rows)
    np.testing.assert_allclose(found.coef_, here.coef_, rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("apart")
def test_parts_give_the_fit_of_one_part(frame, tmp_path, monkeypatch):
    data, options = written(frame, tmp_path / "rows", "commas")
    found = Ridge(alpha=1.0).fit(scale.source(data, **options))
    monkeypatch.setattr(StoredRows, "_text_parts", lambda self, *_: [self])
    rows = scale.source(data, **options)
    assert len(rows.parts()) == 1
    expected = Ridge(alpha=1.0).fit(rows)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-12)


@pytest.mark.usefixtures("apart")
def test_labels_that_are_truth_values_in_each_file_stay_as_they_are_written(tmp_path):
    rng = np.random.default_rng(0)
    for number in range(2):
        label = rng.choice(["Yes", "No"], 50)
        rows = pd.DataFrame({"x": rng.normal(size=50) + (label == "Yes"), "y": label})
        rows.to_csv(tmp_path / f"{number}.csv", index=False)
    rows = scale.source(tmp_path, target="y")
    assert len(rows.parts()) == 2
    assert {label for part in rows.parts() for _, y in part for label in y} == {"Yes", "No"}
    assert LogisticRegression().fit(rows).classes_.tolist() == ["No", "Yes"]


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize(
    "why", ["columns", "case", "keys", "nested", "condition", "query", "alone", "database"]
)
def test_what_one_file_may_not_tell_is_one_part(tmp_path, why):
    first = pd.DataFrame({"a": np.arange(30.0) ** 2, "b": np.sin(np.arange(30))})
    second, options = first.copy(), {}
    if why == "columns":
        second["c"] = np.cos(np.arange(30))
    elif why == "case":
        first["B"] = second["B"] = np.cos(np.arange(30))
    elif why == "condition":
        other = tmp_path / "0.csv"
        options["where"] = f"a > (SELECT avg(a) / 10 FROM read_csv('{other}'))"
    elif why == "query":
        options["where"] = f"a IN (FROM (FROM read_csv('{tmp_path / '0.csv'}')) SELECT a)"
    if why == "database":
        with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
            connection.execute("CREATE TABLE t AS SELECT * FROM first")
        rows = scale.source(tmp_path / "rows.duckdb")
    elif why == "keys":
        for number, name in enumerate("bB"):
            frame = first.rename(columns={"b": name})
            frame.to_json(tmp_path / f"{number}.jsonl", orient="records", lines=True)
        rows = scale.source(tmp_path)
        assert "B_1" in rows.kinds
    elif why == "nested":
        for number, frame in enumerate((first, second)):
            frame = frame.assign(c=[[1, 2]] * 30)
            frame.to_json(tmp_path / f"{number}.jsonl", orient="records", lines=True)
        rows = scale.source(tmp_path, ignore="c")
    else:
        first.to_csv(tmp_path / "0.csv", index=False)
        if why != "alone":
            second.to_csv(tmp_path / "1.csv", index=False)
        rows = scale.source(tmp_path, ignore=["c"] if why == "columns" else (), **options)
    assert len(rows.parts()) == 1
    assert sum(len(X) for X, _ in rows.parts()[0]) == sum(len(X) for X, _ in rows) > 30 - 10


@pytest.mark.usefixtures("apart")
def test_a_part_whose_file_changes_is_refused(frame, tmp_path):
    data, options = written(frame, tmp_path / "rows", "commas")
    first, second, *_ = scale.source(data, **options).parts()
    frame[:20].to_csv(data / "rows1.csv", index=False)
    assert sum(len(X) for X, _ in first) == N // 3 - 5
    with pytest.raises(InputError, match=r"rows1.csv' has another size"):
        list(second)
    os.remove(data / "rows1.csv")
    with pytest.raises(InputError, match=r"rows1.csv"):
        list(second)


def test_a_part_of_several_files_tells_of_each(frame, tmp_path):
    data, options = written(frame, tmp_path / "rows", "commas")
    (part,) = scale.source(data, **options).parts()
    assert sum(len(X) for X, _ in part) == N - 15
    frame[:20].to_csv(data / "rows2.csv", index=False)
    with pytest.raises(InputError, match=r"rows2.csv' has another size"):
        list(part)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"a": 0.9, "b": 1, "c": 0.2, "d": 3, "e.csv.gz": 0.2, "f": 1, "g": 0.1}, "ab c d ef g"),
        (dict.fromkeys("abcdef", 0.9), "ab cd ef"),
        (dict.fromkeys("abcdef", 8), "a b c d e f"),
        (dict.fromkeys("abcdefgh", 0.9) | {"i": 60}, "abcd efgh i"),  # up to a sixteenth
        ({"a": 40, "b": 20, "c": 30, "d": 1500}, "ab c d"),
    ],
)  # fmt: skip
def test_small_files_share_a_part_and_large_ones_have_their_own(tmp_path, sizes, expected):
    for name, size in sizes.items():
        with open(tmp_path / name, "wb") as file:
            file.truncate(round(size * 1_000_000))  # which takes no place on the disk
    found = stored._together([str(tmp_path / name) for name in sizes])
    assert ["".join(os.path.basename(each)[0] for each in part) for part in found] == (
        expected.split()
    )


def test_a_pass_does_not_look_again_at_how_files_are_written(frame, tmp_path, monkeypatch):
    data, options = written(frame, tmp_path / "rows", "decimal commas")
    rows = scale.source(data, **options)
    looked = []
    monkeypatch.setattr(duck, "scan_query", lambda *_: looked.append("found anew"))
    assert sum(len(X) for X, _ in rows) == N - 15
    assert not looked


@pytest.fixture
def groups():
    rng = np.random.default_rng(0)
    label = rng.integers(3, size=900)
    X = 3.0 * rng.normal(size=(3, 3))[label] + rng.normal(size=(900, 3))
    return pd.DataFrame(X, columns=list("abc")).assign(y=np.array(["p", "q", "r"])[label])


def tasks_of(engine):
    """Return a list to which the engine will add the name of every task, and count of its parts."""
    found, submit = [], engine.submit_each

    def noted(task, args):
        found.extend((task.__name__, len(each[1]) if len(each) > 1 else 0) for each in args)
        return submit(task, args)

    engine.submit_each = noted
    return found


@pytest.mark.usefixtures("apart")
@pytest.mark.slow
def test_several_files_are_several_tasks(cluster, groups, tmp_path):
    for number in range(6):
        groups[number::6].to_csv(tmp_path / f"{number}.csv", index=False)
    rows = scale.source(tmp_path, ignore="y")
    with scale.on(cluster):
        tasks = tasks_of(current_engine())
        found = KMeans(3, random_state=0).fit(rows)
    assert tasks.count(("_total", 1)) == 6  # the first pass: a task for every file
    assert tasks.count(("_keep", 1)) == 6
    here = KMeans(3, random_state=0).fit(rows)
    np.testing.assert_allclose(found.cluster_centers_, here.cluster_centers_, rtol=1e-9)
    np.testing.assert_array_equal(found.labels_, here.labels_)


@pytest.mark.parametrize("kind", ["csv", "duckdb"])
def test_one_part_is_found_from_another_working_directory(groups, tmp_path, monkeypatch, kind):
    if kind == "csv":
        groups.to_csv(tmp_path / "rows.csv", index=False)
    else:
        with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
            connection.execute("CREATE TABLE t AS SELECT * FROM groups")
    monkeypatch.chdir(tmp_path)
    (part,) = scale.source(f"rows.{kind}", target="y").parts()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert sum(len(X) for X, _ in part) == 900


def test_one_part_of_a_pattern_in_a_folder_with_signs_of_patterns(groups, tmp_path, monkeypatch):
    (tmp_path / "run[1]").mkdir()
    groups.to_csv(tmp_path / "run[1]" / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path / "run[1]")
    (part,) = scale.source("*.csv", target="y").parts()
    assert sum(len(X) for X, _ in part) == 900


def test_a_part_does_not_tell_of_the_files_of_others(groups, tmp_path):
    numbers = groups.select_dtypes("number")
    sizes = []
    for count in (2, 60):
        folder = tmp_path / str(count)
        folder.mkdir()
        for number in range(count):
            numbers[number::count].to_parquet(folder / f"{number:03d}.parquet")
        rows = scale.source(folder)
        assert rows.kinds  # it has learnt from all rows
        sizes.append(len(pickle.dumps(rows.parts()[0])))
    assert sizes[1] < 1.2 * sizes[0]


def test_chosen_and_undrawn_rows_are_of_files_and_counted(groups, tmp_path):
    groups.to_csv(tmp_path / "rows.csv", index=False)
    rows = scale.source(tmp_path / "rows.csv", target="y")
    others = draw_table(rows, 100).others
    some = [
        StreamedRows(others.source, others.drawn, others.stored, reader=None),
        SourceRows(rows, np.arange(900) < 700),
    ]
    assert [each.in_files for each in some] == [True, True]
    assert [each.told_count for each in some] == [900, 700]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "target", "attribute"),
    [
        (KMeans(3, random_state=0), None, "cluster_centers_"),
        (GaussianMixture(3, random_state=0), None, "means_"),
        (LogisticRegression(), "y", "coef_"),
        (Ridge(select="one_se"), "a", "coef_"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_worker_does_not_keep_a_file_that_holds_all_rows(
    cluster, groups, tmp_path, model, target, attribute
):
    from sklearn.base import clone

    groups.to_csv(tmp_path / "rows.csv", index=False)
    ignore = () if target == "y" else "y"
    rows = scale.source(tmp_path / "rows.csv", target, ignore=ignore, rows=200)
    here = clone(model).fit(rows)
    with scale.on(cluster):
        tasks = tasks_of(current_engine())
        there = clone(model).fit(rows)
    kinds = [name for name, _ in tasks]
    assert "_keep" not in kinds
    assert kinds.count("_each") + kinds.count("_total") > 1  # several passes, each of which reads
    np.testing.assert_allclose(getattr(there, attribute), getattr(here, attribute), rtol=1e-7)
