"""Parquet files read by Arrow are read as DuckDB reads them, and what differs is left to DuckDB."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from bottega.core.errors import InputError
from bottega.core.parallel import one_core
from bottega.data.read import read_chunks
from bottega.data.read.batches import batches, plain_types
from bottega.data.read.duck import opened


@pytest.fixture
def table():
    n = 1_000
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    size[::9] = np.nan
    frame = pd.DataFrame(
        {
            "size": size,
            "short": rng.normal(size=n).astype(np.float32),
            "count": rng.integers(0, 9, n),
            "gaps": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "small gaps": pd.array(rng.integers(0, 9, n), dtype="UInt8"),
            "large": pd.array(np.arange(n) + 2**60, dtype="Int64"),
            'a "quoted" náme': rng.choice(["ä", "b c", "'"], n),
        },
        index=pd.Index(np.arange(n) + 5, name="key"),  # a column to DuckDB
    )
    frame.loc[8:20, ["gaps", "small gaps", "large", 'a "quoted" náme']] = None
    return frame


def whole(source, **options):
    found = pd.concat(list(read_chunks(source, **options)), ignore_index=True)
    return found.convert_dtypes() if "large" not in found else found


def test_rows_are_those_of_duckdb(table, tmp_path):
    path = str(tmp_path / "rows.parquet")
    table.to_parquet(path, row_group_size=300)
    assert plain_types([path], None) is not None
    by_arrow, by_duckdb = whole(path, rows=170), whole(path, rows=170, where="true")
    assert list(by_arrow) == list(by_duckdb)
    assert by_arrow["large"].dropna().tolist() == table["large"].dropna().tolist()
    for name in by_arrow:
        left, right = by_arrow[[name]], by_duckdb[[name]]
        assert_frame_equal(left.convert_dtypes(), right.convert_dtypes())


@pytest.mark.parametrize("span", [(0, 1), (299, 301), (300, 600), (750, 2_000), (999, 1_000)])
def test_a_span_is_that_of_duckdb(table, tmp_path, span):
    path = str(tmp_path / "rows.parquet")
    table.to_parquet(path, row_group_size=300)
    columns = ["count", "size"]
    found = whole(path, rows=64, columns=columns, span=span)
    assert_frame_equal(found, whole(path, rows=64, columns=columns, span=span, where="true"))
    assert found["count"].tolist() == table["count"].iloc[slice(*span)].tolist()


@pytest.mark.parametrize(
    "other",
    [
        {"x": np.array(["2020-01-01"], dtype="datetime64[D]")},
        {"x": [True]},
        {"x": pd.Categorical(["a"])},
        {"x": [[1, 2]]},
        {"x": [1.0], "X": [2.0]},
    ],
    ids=["date", "truth", "category", "list", "names that differ in their case"],
)
def test_what_differs_is_left_to_duckdb(tmp_path, other):
    pd.DataFrame(other).to_parquet(tmp_path / "rows.parquet")
    assert plain_types([str(tmp_path / "rows.parquet")], None) is None


def test_files_that_differ_and_names_that_are_columns(tmp_path):
    (tmp_path / "year=2020").mkdir()
    paths = [str(tmp_path / name) for name in ("a.parquet", "b.parquet", "year=2020/c.parquet")]
    for path, values in zip(paths, ([1], [1.5], [2]), strict=True):
        pd.DataFrame({"x": values}).to_parquet(path)
    assert plain_types(paths[:1], None) == {"x": "int64"}
    assert plain_types(paths[:2], None) is None
    assert plain_types(paths[2:], None) is None
    assert plain_types(paths[:1], ["y"]) is None
    assert plain_types([str(tmp_path / "none.parquet")], None) is None


def test_a_file_that_is_cut_short_or_changed(table, tmp_path):
    path = tmp_path / "rows.parquet"
    table.to_parquet(path)
    types = plain_types([str(path)], ["size", "count"])
    rest = path.read_bytes()
    path.write_bytes(rest[: len(rest) // 2])
    with pytest.raises(InputError, match="not valid parquet"):
        list(batches([str(path)], types, 100, None))
    path.unlink()
    with pytest.raises(InputError, match="moved, removed or locked"):
        list(batches([str(path)], types, 100, None))
    table.astype({"count": "float64"}).to_parquet(path)
    with pytest.raises(InputError, match="'count' is now double, and was int64"):
        list(batches([str(path)], types, 100, None))


def test_a_query_inside_a_task_has_one_thread():
    with one_core(), opened() as (_, connection):
        assert connection.execute("SELECT current_setting('threads')").fetchone() == (1,)
