"""Sources that cannot be read: one sentence each, and never DuckDB's own exception."""

import builtins
import gzip

import duckdb
import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.data import read


def refused(pattern, source, **options):
    with pytest.raises(InputError, match=pattern) as caught:
        read(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith((".", "?"))
    return caught.value


def write(tmp_path, data, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_missing_file(tmp_path):
    write(tmp_path, "x\n1\n", "sales.csv")
    refused("no file .*slaes.csv'. Did you mean 'sales.csv'", tmp_path / "slaes.csv")
    refused("Did you mean 'diabetes'", "diabetis")
    refused("folder .*nowhere' does not exist", tmp_path / "nowhere" / "a.csv")
    refused("There is no file 'https://", "https://example.org/a.csv")


def test_pattern_without_files(tmp_path):
    refused("No file matches", f"{tmp_path}/*.csv")


def test_empty_file(tmp_path):
    refused("a.csv' is empty", write(tmp_path, ""))
    path = tmp_path / "b.csv.gz"
    path.write_bytes(gzip.compress(b""))
    refused("b.csv.gz' is empty", path)
    refused("is empty", write(tmp_path, "", "a.parquet"))


@pytest.mark.parametrize("text", ["x,y\n", "x,y", "x\n"])
def test_header_without_rows(tmp_path, text):
    refused("a.csv' have column names but no rows", write(tmp_path, text), target="x")


def test_no_header(tmp_path):
    refused("holds only numbers; put a line", write(tmp_path, "1,2\n3,4\n5,6\n"))
    refused("is blank", write(tmp_path, "\nx,y\n1,2\n"))


def test_duplicate_names_in_the_header(tmp_path):
    refused("name 'x' stands 2 times in the header", write(tmp_path, "x,y,x\n1,2,3\n4,5,6\n"))
    refused("name 'x' stands 2 times", write(tmp_path, 'x,"x",y\n1,2,3\n4,5,6\n'))
    refused("A column without a name is 2 times", write(tmp_path, "x,,\n1,2,3\n4,5,6\n"))


def test_text_that_is_not_utf8(tmp_path):
    path = write(tmp_path, "x,y\n1,a\n2,café\n".encode("latin-1"))
    error = refused("not UTF-8 text: line 3 holds a byte", path)
    assert "encoding='latin-1'" in str(error)


def test_the_bad_line_is_found_across_chunks(tmp_path):
    lines = ["x,y"] + [f"{i},thé" for i in range(200_000)]  # over two chunks, cut anywhere
    data = "\n".join(lines).encode() + b"\n1,\xe9\n"
    refused("line 200002 holds", write(tmp_path, data))


def test_the_mark_of_utf16_is_known(tmp_path):
    path = write(tmp_path, "x,y\n1,é\n2,b\n".encode("utf-16"))
    refused("line 1 holds a byte that cannot be read; give encoding='utf-16'", path)


def test_an_encoding_that_garbles_other_files_is_not_suggested(tmp_path):
    good = write(tmp_path, "x,y\n1,città\n", "good.csv")
    bad = write(tmp_path, "x,y\n1,a\n2,café\n".encode("latin-1"), "bad.csv")
    plain = write(tmp_path, "x,y\n1,a\n", "plain.csv")
    for files in ([bad, good], [good, plain, bad]):
        error = refused("bad.csv' is not UTF-8 .*: line 3 .*; save the file as UTF-8", files)
        assert f"as {str(good)!r} is." in str(error)
        assert "encoding=" not in str(error)
    for files in ([bad], [plain, bad]):  # Latin-1, all of them
        refused("bad.csv' is not UTF-8 .*; give encoding='latin-1'", files)
        assert read([*map(str, files)], encoding="latin-1").n_rows > 1
    marked = write(tmp_path, "x,y\n1,é\n".encode("utf-16"), "marked.csv")
    refused("marked.csv' .*; save the file as UTF-8, as .*plain.csv' is", [marked, bad, plain])
    refused("marked.csv' .*; give encoding='utf-16'", [marked, bad])


def test_wrong_or_unknown_encoding(tmp_path):
    path = write(tmp_path, "x,y\n1,a\n2,café\n")
    refused("'klingon' is not known", path, encoding="klingon")
    refused("is not ASCII text: line 3", path, encoding="ascii")


def test_a_recoded_file_keeps_its_name_in_messages(tmp_path):
    path = write(tmp_path, "é,y,é\n1,2,3\n".encode("latin-1"))
    refused("'é' stands 2 times in the header of .*a.csv'", path, encoding="latin-1")
    path = write(tmp_path, "é,y\n1,2\n1\n".encode("latin-1"))
    refused("Line 3 of .*a.csv' has 1 field ", path, encoding="latin-1")


def test_unknown_format(tmp_path):
    refused(r"format of .*a\.xlsx' is not known", write(tmp_path, "x", "a.xlsx"))
    refused("is not known", write(tmp_path, "x", "noname"))


def test_folder_without_data(tmp_path):
    write(tmp_path, "x", "a.md")
    refused("holds no data files", tmp_path)


def test_folder_of_several_formats(tmp_path):
    write(tmp_path, "x\n1\n", "a.csv")
    write(tmp_path, "{}", "a.jsonl")
    refused("several formats", tmp_path)


def test_files_with_different_separators(tmp_path):
    write(tmp_path, "x,y\n1,2\n", "a.csv")
    write(tmp_path, "x;y\n1;2\n", "b.csv")
    refused("a.csv' has ',' between fields and .*b.csv' has ';': save them all with", tmp_path)


@pytest.mark.parametrize(("row", "found"), [("3", "1 field "), ("3,4,5", "3 fields ")])
@pytest.mark.parametrize("before", [1, 50_000])
def test_rows_of_the_wrong_length(tmp_path, row, found, before):
    path = write(tmp_path, "x,y\n" + "1,2\n" * before + f"{row}\n5,6\n7,8\n")
    error = refused(f"Line {before + 2} of .*a.csv' has {found}where the header has 2", path)
    assert isinstance(error.__cause__, duckdb.Error)


def test_unclosed_quote(tmp_path):
    refused("a.csv'", write(tmp_path, 'x,y\n1,"2\n3,4\n'))


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl"])
def test_corrupt_files(tmp_path, name):
    error = refused("are not valid", write(tmp_path, b"PAR1 this is no such thing PAR1", name))
    assert isinstance(error.__cause__, duckdb.Error)


def test_corrupt_gzip(tmp_path):
    refused("cannot be opened", write(tmp_path, b"not gzip", "a.csv.gz"))
    whole = gzip.compress(b"x,y\n" + b"1,2\n" * 100_000)
    refused("cannot be read", write(tmp_path, whole[: len(whole) // 2], "b.csv.gz"))


def test_permission_denied(tmp_path, monkeypatch):
    path = write(tmp_path, "x,y\n1,2\n")
    real = builtins.open

    def closed(name, *args, **kwargs):
        if str(name) == str(path):
            raise PermissionError(13, "Permission denied")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", closed)  # root may read anything, so chmod proves nothing
    refused("may not be read", path)


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE sales AS SELECT i % 7 AS x, i / 2 AS y FROM range(30) t(i)"
        )
        connection.execute("CREATE TABLE costs AS SELECT * FROM sales")
    return path


def test_database_errors(database, tmp_path):
    refused("holds 2 tables; give table= one of 'costs', 'sales'", database)
    refused("no table 'sale'.*Did you mean 'sales'", database, table="sale")
    refused("not both", database, table="sales", query="SELECT 1")
    error = refused("query on .* failed", database, query="SELEC x FROM sales")
    assert isinstance(error.__cause__, duckdb.Error)
    refused("failed", database, query="SELECT x FROM nowhere")
    refused("cannot be opened as a DuckDB database", write(tmp_path, "not one", "b.duckdb"))
    refused("no file", tmp_path / "none.duckdb")
    refused("no table", database, table="sales; DROP TABLE sales")


def test_a_database_cannot_be_changed(database):
    refused("one SELECT statement", database, query="DROP TABLE sales")
    assert read(database, table="sales", target="y").n_rows == 30


def test_empty_database(tmp_path):
    path = tmp_path / "none.duckdb"
    duckdb.connect(str(path)).close()
    refused("holds no tables", path)


def test_table_and_query_are_for_databases(tmp_path):
    refused("DuckDB files", write(tmp_path, "x,y\n1,2\n3,4\n"), table="t")
    refused("DuckDB files", "iris", query="SELECT 1")


@pytest.mark.parametrize("thing", [np.ones((3, 2)), 3, None, {"x": [1]}])
def test_what_is_no_source(thing):
    refused("A path, a data frame", thing)


def test_data_errors_come_through(tmp_path):
    path = write(tmp_path, "x,z,y\n1,,1\nabc,,2\n3,,3\n4,,5\n")
    codes = {(f.code, f.column) for f in read(path, target="y").warnings}
    assert {("mixed", "x"), ("empty", "z")} <= codes
    refused("'x' mixes numbers and text: 1 of its 4 values", path, target="x")
    refused("Did you mean 'y'", path, target="yy")
    path = write(tmp_path, "x,y\n1,1\ninf,2\n3,4\n")
    assert "infinite" in {f.code for f in read(path, target="y").warnings}
    refused("1 infinite value,", path, target="x")


def test_two_hundred_thousand_categories(tmp_path):
    lines = "\n".join(f"c{i // 2},{i % 97}" for i in range(400_000))
    path = write(tmp_path, f"c,y\n{lines}\n")
    refused(r"left out are 'c' \(category\)", path, target="y")


def test_truth_values_in_one_file_and_numbers_in_another(tmp_path):
    (tmp_path / "a.csv").write_text("x,c\n" + "".join(f"{i},true\n" for i in range(9)))
    (tmp_path / "b.csv").write_text("x,c\n" + "".join(f"{i},1\n" for i in range(9)))
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with pytest.raises(InputError, match=r"Line 2 of '.*a\.csv'.*give kinds=\{'c': 'category'\}"):
        read(files)
    assert read(files, kinds={"c": "category"}).frame["c"].tolist() == ["true"] * 9 + ["1"] * 9
