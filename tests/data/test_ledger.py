"""A test part is opened once, in whatever process."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bottega.core.errors import TestSetAlreadyUsed
from bottega.data import Table, read
from bottega.data.ledger import Entry, fingerprint, ledger_folder

OPEN_IN_ANOTHER_PROCESS = """
from bottega.core.errors import TestSetAlreadyUsed
from bottega.data import Table, read
try:
    own = Table(read("iris").frame, target="target")
    own.split(random_state={seed}).test.open()
    print("opened")
except TestSetAlreadyUsed:
    print("refused")
"""


def part(**options):
    """Return the locked part of a table of somebody's own."""
    return Table(read("iris").frame, target="target").split(**options).test


def test_data_sets_that_everybody_has_seen_are_not_written_down():
    for _ in range(2):
        test = read("iris").split().test
        test.open()
        with pytest.raises(TestSetAlreadyUsed):
            test.open()


def test_a_look_that_failed_is_none():
    test = part()
    with pytest.raises(ZeroDivisionError), test.opened():
        raise ZeroDivisionError
    assert test.looks == part().looks == 0
    test.open()


def test_the_same_rows_are_refused_to_another_object():
    part().open()
    again = part()
    assert again.looks == 1
    with pytest.raises(TestSetAlreadyUsed, match="opened already, first at"):
        again.open()
    again.open(again=True)
    assert again.looks == part().looks == 2
    assert part(random_state=1).looks == 0  # other rows


@pytest.mark.parametrize(("seed", "answer"), [(0, "refused"), (5, "opened")])
def test_the_same_rows_are_refused_to_another_process(seed, answer):
    part().open()
    code = OPEN_IN_ANOTHER_PROCESS.format(seed=seed)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == answer


def test_only_one_of_many_at_once_gets_the_first_look():
    entry = Entry.of(part()._table.frame)

    def look(_):
        try:
            entry.enter(0, first=True)
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(look, range(40))) == 1
    assert entry.looks()[0] == 1
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: entry.enter(0, first=False), range(40)))
    assert entry.looks()[0] == 41


def test_it_can_be_switched_off(monkeypatch):
    folder = ledger_folder()
    part().open(ledger=False)
    monkeypatch.setenv("BOTTEGA_LEDGER", "off")
    test = part()
    test.open()
    part().open()
    assert test.looks == 1
    with pytest.raises(TestSetAlreadyUsed):  # an object remembers by itself
        test.open()
    assert not folder.exists()


@pytest.mark.skipif(os.name == "nt", reason="permissions are POSIX's")
def test_a_folder_that_cannot_be_written_is_a_note(monkeypatch, tmp_path):
    taken = tmp_path / "a file"
    taken.write_text("")
    monkeypatch.setenv("BOTTEGA_LEDGER", str(taken))
    test = part()
    test.open()
    assert test.looks == 1
    assert "could not be written" in test.note


def test_the_state_folder(monkeypatch):
    monkeypatch.delenv("BOTTEGA_LEDGER")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert ledger_folder() == Path("/state/bottega/opened-test-parts")
    monkeypatch.delenv("XDG_STATE_HOME")
    assert ledger_folder() == Path.home() / ".local/state/bottega/opened-test-parts"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert ledger_folder() == Path("/local/bottega/opened-test-parts")


def test_nothing_of_the_data_is_written():
    frame = pd.DataFrame({"who": ["Ada", "Bea"] * 20, "pay": np.arange(40.0) + 4711})
    read(frame, target="pay").split(random_state=3).test.open()
    hashes, file = sorted(ledger_folder().iterdir(), key=lambda each: -len(each.name))
    assert len(file.name) == 32
    assert file.read_text().endswith("seed=3\n")
    when, _ = file.read_text().split()
    assert len(when) == len("2026-01-31T12:00:00")
    assert hashes.name == f"{file.name}.rows"
    written = hashes.read_bytes()
    assert len(written) == 8 * (1 + 10)  # the number of rows, and a hash of each
    assert b"Ada" not in written


def test_parts_that_overlap_are_recognised():
    """Another seed of the same table shares a quarter of the rows, another share most of them."""
    n = 400
    frame = pd.DataFrame({"x": np.arange(n) / 7, "y": np.arange(n) % 11, "c": ["a", "b"] * 200})
    table = Table(frame, target="y", task="regression")
    first = table.split()
    first.test.open()
    assert first.test.overlap == 0
    assert "knows of no other look" in first.test.told
    other = Table(frame[["c", "y", "x"]], target="y", task="regression").split(random_state=1)
    rows = set(first.test._table.frame["x"])
    shared = np.mean([x in rows for x in other.test._table.frame["x"]])
    other.test.open()
    assert 0.1 < shared < 0.4
    assert other.test.overlap == pytest.approx(shared)
    assert f"{100 * shared:.0f}% of the locked rows" in other.test.told
    unrelated = Table(frame.assign(x=frame["x"] + 1), target="y", task="regression").split()
    unrelated.test.open()
    assert unrelated.test.overlap == 0
    aside = table.split(random_state=2).test
    aside.open(ledger=False)
    assert aside.overlap == 0
    assert "not written down" in aside.told


def test_the_overlap_of_large_parts_is_estimated():
    frame = pd.DataFrame({"x": np.arange(40_000.0), "y": np.arange(40_000) % 7})
    table = Table(frame, target="y", task="regression", kinds={"x": "number"})
    table.split().test.open()
    other = table.split(random_state=1).test
    other.open()
    assert other.overlap == pytest.approx(0.25, abs=0.06)  # 4.4 standard errors of 1,024 draws
    assert max(len(file.read_bytes()) for file in ledger_folder().glob("*.rows")) == 8 * 1025


def test_a_fingerprint_is_that_of_the_values():
    frame = pd.DataFrame({"x": [1.5, None], "word": ["a", None]})
    same = fingerprint(frame)
    assert fingerprint(pl.from_pandas(frame)) == same
    assert fingerprint(frame.rename(columns={"x": "z"})) != same
    assert fingerprint(frame.assign(word=["", None])) != same
    assert fingerprint(frame.assign(word=[None, "a"])) != same
    assert fingerprint(frame.assign(x=[1.5, 0.0])) != same
