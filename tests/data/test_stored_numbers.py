"""Columns that Parquet files store as they are are read as Arrow reads them, or not at all."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega import scale
from bottega.core.errors import InputError, Unforeseen
from bottega.core.recycled import RecycledArrays
from bottega.data._kernels.pages import take_values
from bottega.data.read.stored_numbers import stored_numbers
from bottega.linear import LeastSquares

PLAINLY = {"compression": "none", "use_dictionary": False}


def written(path, columns, *, nullable=True, **how):
    """Write columns of numbers plainly, unless told otherwise."""
    fields = [pa.field(name, pa.array(x).type, nullable=nullable) for name, x in columns.items()]
    pq.write_table(pa.table(columns, schema=pa.schema(fields)), path, **(PLAINLY | how))
    return str(path)


def numbers(n, names="abc"):
    rng = np.random.default_rng(n)
    return {name: rng.normal(size=n) for name in names}


def read(path, names, sizes, span=None):
    """Return columns of a file, read in pieces of the sizes given; None where others read them."""
    with stored_numbers(path, names, [], span) as found:
        if found is None:
            return None
        out = np.empty((len(names), found.rows))
        start = 0
        while start < found.rows:
            stop = min(start + next(sizes), found.rows)
            assert found.read(list(out[:, start:stop])).all()
            start = stop
        return out


@settings(max_examples=150)
@given(
    n=st.integers(1, 400),
    group=st.integers(1, 500),
    page=st.integers(1, 3_000),
    batch=st.integers(1, 100),
    nullable=st.booleans(),
    version=st.sampled_from(["1.0", "2.0"]),
    statistics=st.booleans(),
    checksums=st.booleans(),
    data=st.data(),
)
def test_any_pages_and_groups(
    tmp_path_factory, n, group, page, batch, nullable, version, statistics, checksums, data
):
    columns = numbers(n)
    path = written(
        tmp_path_factory.mktemp("pages") / "a.parquet",
        columns,
        nullable=nullable,
        row_group_size=group,
        data_page_size=page,
        write_batch_size=batch,
        data_page_version=version,
        write_statistics=True if statistics else ["a", "c"],
        write_page_checksum=checksums,
    )
    names = ["c", "a"]
    start = data.draw(st.integers(0, n - 1))
    stop = data.draw(st.integers(start + 1, n))
    sizes = iter(data.draw(st.lists(st.integers(1, 150), min_size=n, max_size=n)))
    found = read(path, names, sizes, data.draw(st.sampled_from([None, (start, stop)])) or None)
    expected = np.array([columns[name] for name in names])
    if found.shape != expected.shape:
        expected = expected[:, start:stop]
    np.testing.assert_array_equal(found, expected)


def test_a_span_is_what_it_says(tmp_path):
    columns = numbers(1_000)
    path = written(tmp_path / "a.parquet", columns, row_group_size=300)
    found = read(path, ["b"], iter([50] * 20), (290, 910))
    np.testing.assert_array_equal(found[0], columns["b"][290:910])


@pytest.mark.parametrize("program", ["duckdb", "polars"])
@pytest.mark.parametrize("some", [1, 7, 8, 9, 5_000])
def test_files_of_other_programs(tmp_path, program, some):
    columns, path = numbers(some), str(tmp_path / "a.parquet")
    if program == "polars":
        import polars

        polars.DataFrame(columns).write_parquet(path, compression="uncompressed")
    else:
        import duckdb

        frame = pa.table(columns)  # noqa: F841
        duckdb.sql(f"COPY frame TO '{path}' (FORMAT parquet, COMPRESSION uncompressed)")
    found = read(path, list("abc"), iter([1_000] * 10))
    np.testing.assert_array_equal(found, list(columns.values()))


@pytest.mark.parametrize(
    ("column", "how"),
    [
        (np.arange(9), {}),
        (np.arange(9.0, dtype=np.float32), {}),
        (np.arange(9.0), {"compression": "snappy"}),
        (np.arange(9.0), {"use_dictionary": True}),
        (np.arange(9.0), {"column_encoding": "BYTE_STREAM_SPLIT"}),
        (np.arange(9.0), {"write_statistics": False}),
        (pa.array([1.0, None, 3.0]), {}),
        (pa.array([[1.0], [2.0, 3.0]]), {}),
        (pa.array([{"x": 1.0}, {"x": 2.0}]), {}),
    ],
)
def test_what_is_left_to_others(tmp_path, column, how):
    path = written(tmp_path / "a.parquet", {"a": column}, **how)
    assert read(path, ["a"], iter([1] * 9)) is None


def test_columns_that_need_not_be_stored_as_they_are(tmp_path):
    columns = numbers(5) | {"y": pa.array([1.0, None, 2.0, 3.0, 4.0]), "w": np.arange(5.0)}
    path = written(tmp_path / "a.parquet", columns)
    with stored_numbers(path, ["a", "b"], ["y", "w"], None) as found:
        assert found.names == ["a", "b", "w"]


def test_numbers_that_are_not_finite_are_told_by_column(tmp_path):
    columns = numbers(200_000) | {"b": np.full(200_000, 1e308)}  # whose sum is not finite
    columns["c"][150_000] = np.nan
    path = written(tmp_path / "a.parquet", columns)
    with stored_numbers(path, list("abc"), [], None) as found:
        out = np.empty((3, 200_000))
        assert found.read(list(out)).tolist() == [True, True, False]
    np.testing.assert_array_equal(out, list(columns.values()))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_no_byte_of_a_page_can_lead_astray(tmp_path, version):
    """Whatever stands in the bytes, they are read as numbers, or the reading ends."""
    columns = numbers(64, "a")
    how = {"data_page_size": 160, "write_batch_size": 20, "data_page_version": version}
    path = written(tmp_path / "a.parquet", columns, **how)
    run = pq.read_metadata(path).row_group(0).column(0)
    raw = np.fromfile(path, np.uint8)[run.data_page_offset :][: run.total_compressed_size]
    whole = np.empty(64)
    assert take_values(raw, 0, True, whole)[0] == 64
    rng = np.random.default_rng(0)
    for place in range(len(raw)):
        for byte in (0, 0x15, 0x1C, 0x80, 0xFF, *rng.integers(256, size=3)):
            other, out = raw.copy(), np.full(64, np.nan)
            other[place] = byte
            taken, used, left, _ = take_values(other, 0, True, out)
            assert 0 <= taken <= 64
            assert 0 <= 8 * taken <= used
            assert left >= 0
            assert np.all(np.isnan(out[taken:]))
    for size in range(len(raw)):  # what is cut off is not looked at
        taken, used, _, _ = take_values(raw[:size], 0, True, np.empty(64))
        assert 8 * taken <= min(used, size)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_levels_that_say_less_than_the_footer(tmp_path, version):
    """A value that is missing, though the footer says that none is, is not read as a number."""
    path = written(tmp_path / "a.parquet", {"a": np.arange(4.0)}, data_page_version=version)
    run = pq.read_metadata(path).row_group(0).column(0)
    raw = np.fromfile(path, np.uint8)[run.data_page_offset :][: run.total_compressed_size]
    assert take_values(raw, 0, True, np.empty(4))[0] == 4
    level = len(raw) - 8 * 4 - 1
    assert raw[level] == 1
    raw[level] = 0
    assert take_values(raw, 0, True, np.empty(4))[:2] == (0, 0)


def integer(number):
    """Return a small integer, or a large one, as Thrift's compact protocol has it."""
    rest, found = 2 * number, b""
    while rest > 127:
        found, rest = found + bytes([rest & 127 | 128]), rest >> 7
    return found + bytes([rest])


@pytest.mark.parametrize("levels", [1, 5_000, 2**30])
def test_levels_beyond_what_was_read(levels):
    """A page without values whose levels go on where there are no bytes any more."""
    described = [0, 0, 0, 0, levels, 0]  # values, missing ones, rows, encoding, sizes of levels
    fields = b"".join(b"\x15" + integer(number) for number in [3, levels, levels])
    inner = b"".join(b"\x15" + integer(number) for number in described)
    raw = np.frombuffer(fields + b"\x5c" + inner + b"\0\0", np.uint8).copy()
    out = np.full(5_000, np.nan)
    taken, used, left, _ = take_values(raw, 0, False, out)
    assert (taken, left) == (0, 0)
    assert used <= len(raw)
    assert np.isnan(out).all()


def folder(tmp_path, files=2, n=3_000):
    for number in range(files):
        columns = numbers(n + number)
        columns["y"] = columns["a"] - 2 * columns["b"]
        written(tmp_path / f"{number}.parquet", columns, row_group_size=1_000)
    return tmp_path


def test_files_that_are_cut_short_or_overwritten(tmp_path):
    rows = scale.source(folder(tmp_path), "y")
    path = tmp_path / "1.parquet"
    whole, then = path.read_bytes(), path.stat().st_mtime_ns

    def damage(content):
        path.write_bytes(content)
        os.utime(path, ns=(then, then))  # as if it had not been written again

    for damaged in (whole[:-1_000], whole[: len(whole) // 2], b"", bytes(len(whole))):
        damage(damaged)
        with pytest.raises(InputError):
            LeastSquares().fit(rows)
    damage(whole)
    np.testing.assert_allclose(LeastSquares().fit(rows).coef_, [1, -2, 0], atol=1e-10)
    middle = len(whole) // 2
    damage(whole[:middle] + bytes(20_000) + whole[middle + 20_000 :])
    with pytest.raises(InputError):  # the footer is there, but not all of the pages
        LeastSquares().fit(rows)


def test_columns_that_are_gone(tmp_path):
    """Who reads types and all says what happened to the file."""
    path = written(tmp_path / "a.parquet", numbers(9, "ab"))
    assert read(path, ["a", "c"], iter([9])) is None
    rows = scale.source(path).at_first_sight()
    written(tmp_path / "a.parquet", numbers(9, "a"))
    with pytest.raises(InputError, match="its column 'b' is gone"):
        next(rows._blocks_of(path, {"a": "double", "b": "double"}, None, RecycledArrays()))


def test_pages_that_are_cut_off_while_they_are_read(tmp_path):
    path = written(tmp_path / "a.parquet", numbers(5_000))
    with stored_numbers(path, ["a"], [], None) as found:
        with open(path, "r+b") as file:
            file.truncate(10_000)
        with pytest.raises(Unforeseen):
            found.read([np.empty(5_000)])
