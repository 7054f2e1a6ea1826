"""Certificates, summaries, progress, frames and files: what a person gets to see or keep."""

import os
import stat

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bottega.core import files, progress
from bottega.core.certificate import Certificate
from bottega.core.errors import InputError, MissingExtra, did_you_mean, require
from bottega.core.files import write_atomically
from bottega.core.frames import backend_of, is_frame, make_frame, take_rows
from bottega.core.tables import Section, Summary, show

HOSTILE = "<script>alert('x')</script>"


def test_certificate_reads_as_one_line():
    claim = Certificate(0.1, 0.05, 0.2, 0.05, "Hoeffding", ["Rows are independent."], 1200)
    assert str(claim) == (
        "risk 0.1, between 0.05 and 0.2 with probability at least 95% (Hoeffding, n = 1,200)"
    )
    assert claim.confidence == pytest.approx(0.95)
    assert claim.assumptions == ("Rows are independent.",)
    rough = Certificate(1.0, 0.5, 2.0, 0.1, "t", (), 10, approximate=True)
    assert "with probability about 90%" in str(rough)


def test_certificate_html_is_escaped_and_holds_the_assumptions():
    html = Certificate(0.1, 0.0, 0.2, 0.05, HOSTILE, (HOSTILE,), 10)._repr_html_()
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") == 2


def test_impossible_certificates_are_refused():
    with pytest.raises(ValueError, match="between its bounds"):
        Certificate(0.3, 0.0, 0.2, 0.05, "m", (), 10)
    with pytest.raises(ValueError, match="delta"):
        Certificate(0.1, 0.0, 0.2, 0.0, "m", (), 10)


def test_summary_in_three_forms():
    table = Summary(
        "Fit", (Section("Terms", {"term": ["a|b", HOSTILE], "x": [1.5, None]}),), ("n",)
    )
    text = table.to_text().splitlines()
    assert text[:3] == ["Fit", "===", "Terms"]
    assert text[-1] == "Note: n"
    assert text[4].endswith("1.5")
    assert text[5].endswith("-")
    markdown = table.to_markdown()
    assert "| a\\|b | 1.5 |" in markdown
    assert "|---|---:|" in markdown
    html = table.to_html()
    assert "<script>" not in html
    assert "<caption>Terms</caption>" in html
    assert str(table) == table.to_text()


def test_a_bare_certificate_says_what_it_assumes():
    long = "The rows are independent draws from one distribution, " + "and so on " * 12 + "too."
    claim = Certificate(0.1, 0.05, 0.2, 0.05, "Hoeffding", ("Rows are few.", long), 1200)
    lines = repr(claim).splitlines()
    assert lines[0] == str(claim)
    assert lines[1:3] == ["This holds if:", "- Rows are few."]
    assert max(map(len, lines)) <= 100
    assert lines[4].startswith("  ")


def test_a_bare_summary_is_one_screen_and_print_writes_all():
    wide = {f"a long name of column {j}": np.arange(60.0) + j for j in range(7)}
    table = Section("Terms", {"term": [f"x{i}" + "y" * i for i in range(60)], **wide})
    notes = tuple("word " * 30 for _ in range(9))
    summary = Summary("T" * 130, (Section("", {"rows": [60], "df": [3.5]}), table), notes)
    lines = repr(summary).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    assert lines[:4] == ["T" * 97 + "...", "=" * 100, "rows   df", "  60  3.5"]
    assert any(line.startswith("... and 5") and "more rows" in line for line in lines)
    assert lines[-1] == "... and more notes; print() writes everything"
    # Each block of columns has the names of the rows.
    assert sum(line.split()[0] == "x0" for line in lines if line.split()) == 3
    assert len(str(summary).splitlines()) == 2 + 2 + 1 + 61 + 9
    short = Summary("Fit", (Section("", {"a": [1]}),), ("n",))
    assert repr(short) == str(short)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(True, "yes"), (12345, "12,345"), (np.float64(1e-9), "1e-09"), (np.nan, "-"), (None, "-")],
)
def test_cells(value, shown):
    assert show(value) == shown


def test_progress_is_silent_unless_somebody_listens():
    seen = []
    progress.report("stage", 1, 2)
    with progress.listen(seen.append):
        progress.report("stage", 2, 2, "done")
    progress.report("stage", 3, 3)
    assert seen == [progress.Event("stage", 2, 2, "done")]


def test_a_listener_leaves_when_the_work_fails():
    seen = []
    with pytest.raises(RuntimeError), progress.listen(seen.append):
        raise RuntimeError
    progress.report("stage", 1, 1)
    assert seen == []


def test_frames_come_back_in_the_library_they_came_in():
    pandas, polars = pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})
    assert (backend_of(pandas), backend_of(polars), backend_of(np.ones(2))) == (
        "pandas",
        "polars",
        "pandas",
    )
    assert isinstance(make_frame({"x": [1]}, like=polars), pl.DataFrame)
    assert isinstance(make_frame({"x": np.array(["u", "v"])}), pd.DataFrame)
    assert not is_frame(np.ones((2, 2)))
    assert take_rows(polars, np.array([0, 0])).shape == (2, 1)
    assert take_rows(np.arange(5), np.array([3])).tolist() == [3]


def test_missing_library_names_the_extra():
    with pytest.raises(MissingExtra, match=r"pip install 'bottega\[neural\]'"):
        require("no_such_library", "neural")
    assert require("json", "none").dumps({}) == "{}"


def test_suggestions():
    assert did_you_mean("traget", ["target", "x"]) == " Did you mean 'target'?"
    assert did_you_mean("zzz", ["target"]) == ""


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "out.bin"
    write_atomically(path, b"first")

    def fail(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="No space left on device"):
        write_atomically(path, b"second")
    assert path.read_bytes() == b"first"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.bin"]


def test_a_file_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(InputError, match="No such file or directory"):
        write_atomically(tmp_path / "no" / "x", b"")
    with pytest.raises(InputError, match="is a folder"):
        write_atomically(tmp_path, b"")


def test_a_written_file_has_ordinary_permissions(tmp_path):
    before = os.umask(0o022)
    try:
        path = write_atomically(tmp_path / "x", b"1")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("platform", "kind", "variable", "tail"),
    [
        ("linux", "cache", "XDG_CACHE_HOME", ("given",)),
        ("linux", "cache", None, ("home", ".cache")),
        ("linux", "state", "XDG_STATE_HOME", ("given",)),
        ("linux", "state", None, ("home", ".local", "state")),
        ("darwin", "cache", None, ("home", "Library", "Caches")),
        ("win32", "cache", "LOCALAPPDATA", ("given",)),
        ("win32", "state", None, ("home", "AppData", "Local")),
    ],
)
def test_folders_of_the_user_are_the_platforms_own(
    platform, kind, variable, tail, monkeypatch, tmp_path
):
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, "relative")
    monkeypatch.setattr(files.sys, "platform", platform)
    monkeypatch.setattr(files.FilePath, "home", lambda: tmp_path / "home")
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path / "given"))
    assert files.user_folder(kind) == tmp_path.joinpath(*tail, "bottega")


def test_without_a_home_there_is_no_folder(monkeypatch):
    def homeless():
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(files.FilePath, "home", homeless)
    assert files.user_folder("state") is None
