"""Corpora from folders and files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bottega.core.errors import InputError
from bottega.text import Corpus, StemMatrix, read_corpus


@pytest.fixture
def folder(tmp_path):
    for name, content in (
        ("against/2.txt", "È inquinamento.".encode()),
        ("for/1.txt", b"Clean air"),
        ("for/3.txt", "﻿with a mark".encode()),
        ("4.txt", "in UTF-16, più".encode("utf-16")),
        ("notes.md", b"not a text"),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("stream", [False, True])
def test_a_folder_of_files(folder, stream):
    corpus = read_corpus(folder, stream=stream)
    assert corpus.texts == ["in UTF-16, più", "È inquinamento.", "Clean air", "with a mark"]
    files = [str(Path("against/2.txt")), str(Path("for/1.txt"))]
    assert corpus.column("file")[1:3] == files
    assert corpus.column("folder") == ["", "against", "for", "for"]
    assert read_corpus(folder, pattern="*.md").texts == ["not a text"]
    assert repr(corpus) == ("Corpus: a stream of texts" if stream else "Corpus: 4 texts")


def test_bytes_of_another_encoding_are_named(folder):
    (folder / "5.txt").write_bytes("caffè".encode("latin-1"))
    with pytest.raises(InputError, match=r"5\.txt.*byte 5 .*encoding='latin-1'"):
        read_corpus(folder, pattern="5.txt")
    assert read_corpus(folder, pattern="5.txt", encoding="latin-1").texts == ["caffè"]
    assert read_corpus(folder, pattern="5.txt", errors="replace").texts == ["caff�"]
    with pytest.raises(InputError, match="'utf-9' is not known"):
        read_corpus(folder, encoding="utf-9", pattern="5.txt")
    with pytest.raises(InputError, match="'strict' or 'replace'"):
        read_corpus(folder, errors="ignore")
    with pytest.raises(InputError, match="no file that matches"):
        read_corpus(folder, pattern="*.doc")


TEXTS = [f"Il testo numero {i} parla, a lungo, di cose diverse" for i in range(60)]


@pytest.fixture
def rows():
    return pd.DataFrame({"id": range(60), "review": TEXTS, "label": ["for", "against"] * 30})


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "frame"])
@pytest.mark.parametrize("stream", [False, True])
def test_columns_of_files(rows, tmp_path, kind, stream):
    source = tmp_path / f"rows.{kind}"
    if kind == "csv":
        rows.to_csv(source, index=False)
    elif kind == "parquet":
        rows.to_parquet(source)
    elif kind == "jsonl":
        source.write_text("\n".join(map(json.dumps, rows.to_dict("records"))))
    else:
        source = rows
    corpus = read_corpus(source, stream=stream)  # the column is found
    assert corpus.texts == TEXTS
    assert corpus.column("label") == ["for", "against"] * 30
    expected = StemMatrix().fit_transform(TEXTS)
    assert (StemMatrix().fit_transform(corpus) != expected).nnz == 0
    if stream:
        with pytest.raises(InputError, match="chunk by chunk"):
            _ = corpus.frame
        assert [len(part) for part in corpus.chunks()] == [60]
    else:
        assert list(corpus.frame.columns) == ["id", "label"]


def test_the_text_column_must_be_clear(rows):
    with pytest.raises(InputError, match=r"no column 'reviews'.*'review'"):
        read_corpus(rows, "reviews")
    with pytest.raises(InputError, match="2 do"):
        read_corpus(rows.assign(other=TEXTS[::-1]))
    with pytest.raises(InputError, match="none"):
        read_corpus(pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(InputError, match=r"no column 'labels'.*'label'"):
        read_corpus(rows, "review").column("labels")
    missing = rows.assign(review=[None, *TEXTS[1:]])
    assert read_corpus(missing, "review").texts[0] == ""
    with pytest.raises(InputError, match="3 rows for 2 texts"):
        Corpus(["a", "b"], pd.DataFrame({"x": np.arange(3)}))


def test_a_csv_file_of_another_encoding(rows, tmp_path):
    path = tmp_path / "rows.csv"
    rows.assign(review=[f"{text} perché" for text in TEXTS]).to_csv(
        path, index=False, encoding="latin-1"
    )
    with pytest.raises(InputError, match=r"line 2 .*encoding='latin-1'"):
        read_corpus(path, "review")
    assert read_corpus(path, "review", encoding="latin-1").texts[0].endswith("perché")
    replaced = read_corpus(path, "review", errors="replace")
    assert replaced.texts == [f"{text} perch\ufffd" for text in TEXTS]
    assert read_corpus(path, errors="replace", stream=True).texts == replaced.texts
    assert replaced.column("label") == ["for", "against"] * 30


def test_a_list_of_texts_is_a_corpus(rows, tmp_path):
    for texts in (TEXTS, rows["review"], rows["review"].to_numpy(), pl.Series(TEXTS)):
        assert read_corpus(texts).texts == TEXTS
    assert read_corpus([]).texts == []
    files = []
    for i in range(2):
        files.append(tmp_path / f"{i}.csv")
        rows[30 * i : 30 * i + 30].to_csv(files[-1], index=False)
    assert read_corpus(files, "review").texts == TEXTS
    for named in (files, [str(each) for each in files]):
        with pytest.raises(InputError, match="list of files: give their folder"):
            read_corpus(named)
