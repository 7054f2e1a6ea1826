"""Files of a command: refused before the work, or written whatever else goes wrong after it."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bottega
from bottega.cli.outputs import Ending, check_outputs
from bottega.core.errors import InputError
from bottega.workbench import Comparison

SMALL = ("--target", "price", "--methods", "ridge")


@pytest.fixture
def data(houses, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(houses.read_text())
    return path


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_nothing_overwrites_the_data_by_whatever_name(data, tmp_path, run, one_sentence):
    before = data.read_text()
    link, hard = tmp_path / "link.csv", tmp_path / "hard.csv"
    link.symlink_to(data)
    os.link(data, hard)
    roundabout = tmp_path / "x" / ".." / "data.csv"
    (tmp_path / "x").mkdir()
    for option in ("--out", "--save", "--leaderboard", "--resume"):
        for path in (data, link, hard, roundabout):
            message = one_sentence(run("compare", data, *SMALL, option, path))
            assert f"{option} would overwrite the data" in message
    assert data.read_text() == before
    assert link.is_symlink()


def test_two_outputs_are_two_files(data, tmp_path, run, one_sentence):
    model = tmp_path / "model.skops"
    link = tmp_path / "link"
    link.symlink_to(model)  # of a file that is yet to be written
    for other in (model, tmp_path / "." / "model.skops", link):
        message = one_sentence(run("compare", data, *SMALL, "--out", model, "--save", other))
        assert "--out and --save name the same file" in message
    assert names(tmp_path) == ["data.csv", "link"]


def test_a_file_that_would_join_the_data_is_refused(data, tmp_path, run, one_sentence):
    folder = tmp_path / "folder"
    folder.mkdir()
    data.rename(folder / "data.csv")
    board = folder / "board.csv"
    for source in (folder, folder / "*.csv"):
        message = one_sentence(run("compare", source, *SMALL, "--leaderboard", board))
        assert "would be read as a part of the data next time" in message
    check_outputs({"--out": folder / "report.html"}, {"the data": str(folder)})


@pytest.mark.parametrize("option", ["--out", "--save", "--leaderboard", "--resume", "--charts"])
def test_places_are_checked_before_the_work(option, data, tmp_path, run, one_sentence, monkeypatch):
    monkeypatch.setattr("bottega.cli.comparing.compare_methods", pytest.fail)
    arguments = ("compare", data, *SMALL, option)
    long = one_sentence(run(*arguments, tmp_path / ("n" * 300)))
    assert "is too long (300 characters); give a shorter one" in long
    assert len(long) < 300
    nowhere = one_sentence(run(*arguments, tmp_path / "no" / "such" / "place"))
    assert "There is no folder" in nowhere
    if option == "--charts":
        assert "is a file; give the name of a folder" in one_sentence(run(*arguments, data))
    else:
        assert "is a folder" in one_sentence(run(*arguments, tmp_path))
        assert "not an ordinary file" in one_sentence(run(*arguments, os.devnull))
    assert os.path.exists(os.devnull)
    assert not os.path.isfile(os.devnull)
    assert names(tmp_path) == ["data.csv"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights do not bind this user")
def test_a_read_only_folder_is_noticed_before_the_work(data, tmp_path, run, one_sentence):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    message = one_sentence(run("compare", data, *SMALL, "--out", folder / "r.html"))
    assert "cannot be written: Permission denied" in message


def test_a_folder_that_cannot_be_written_is_noticed(data, tmp_path, run, one_sentence, monkeypatch):
    """As `test_a_read_only_folder_is_noticed_before_the_work`, whoever runs the tests."""

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("bottega.cli.outputs.tempfile.mkstemp", refuse)
    message = one_sentence(run("compare", data, *SMALL, "--out", tmp_path / "r.html"))
    assert "cannot be written: Permission denied. Choose a folder" in message


def test_a_link_keeps_pointing_where_it_points(data, tmp_path, run):
    place = tmp_path / "real.skops"
    link = tmp_path / "latest.skops"
    link.symlink_to(place)
    done = run("compare", data, *SMALL, "--save", link)
    assert done.returncode == 0, done.stderr
    assert f"model: {link}" in done.stderr
    assert link.is_symlink()
    assert bottega.load(place).target == "price"


def fail(*_, **__):
    raise OSError(28, "No space left on device")


def break_down(*_, **__):
    raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize("broken", ["certify", "report", "save", "summary"])
@pytest.mark.parametrize("how", [fail, break_down])
def test_whatever_fails_at_the_end_the_rest_is_written(
    broken, how, data, tmp_path, run, monkeypatch
):
    paths = {"save": tmp_path / "m.skops", "report": tmp_path / "r.html"}
    board = tmp_path / "board.csv"
    monkeypatch.setattr(Comparison, broken, how)
    done = run(
        *("compare", data, *SMALL, "--out", paths["report"], "--save", paths["save"]),
        *("--leaderboard", board),
    )
    assert done.returncode == 1
    reason = "No space left on device." if how is fail else "ZeroDivisionError: division by zero"
    said = {
        "certify": "error: there is no certificate, and the rows stay locked: ",
        "report": "error: the report was not written: ",
        "save": "error: the model was not written: ",
        "summary": "error: the result could not be printed: ",
    }[broken]
    assert said + reason in done.stderr
    assert "Traceback" not in done.stderr
    for name, path in paths.items():
        assert path.exists() == (name != broken)
    assert ("ridge" in done.stdout) == (broken != "summary")
    rows = list(csv.DictReader(io.StringIO(board.read_text())))
    assert [row["method"] for row in rows] == ["ridge", "baseline"]


@pytest.mark.parametrize("stopped", ["certify", "report"])
def test_a_stop_at_the_end_leaves_the_model(stopped, data, tmp_path, run, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    model, report = tmp_path / "m.skops", tmp_path / "r.html"
    monkeypatch.setattr(Comparison, stopped, stop)
    done = run("compare", data, *SMALL, "--out", report, "--save", model)
    assert done.returncode == 1
    assert "ridge" in done.stdout
    assert model.exists()
    assert not report.exists()
    assert done.stderr.count("stopped: the report was not written") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("presses", [1, 2])
def test_one_stop_while_the_model_is_written_does_not_lose_it(
    presses, data, tmp_path, run, monkeypatch
):
    save, left = Comparison.save, [None] * presses

    def stopped(self, path):
        if left:
            left.pop()
            raise KeyboardInterrupt
        return save(self, path)

    monkeypatch.setattr(Comparison, "save", stopped)
    model, report = tmp_path / "m.skops", tmp_path / "r.html"
    done = run("compare", data, *SMALL, "--save", model, "--out", report)
    assert done.returncode == 1
    assert not left
    assert model.exists() == (presses == 1)
    assert (f"model: {model}" in done.stderr) == (presses == 1)
    assert ("stopped: the model was not written" in done.stderr) == (presses == 2)
    assert "stopped: the report was not written" in done.stderr
    assert not report.exists()


def test_the_certificate_of_a_failed_look_can_still_be_had(data, run, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("bottega.workbench.comparison.certify", break_down)
        first = run("compare", data, *SMALL)
    assert first.returncode == 1
    assert "the rows stay locked" in first.stderr
    second = run("compare", data, *SMALL)
    assert second.returncode == 0
    assert "on 20 locked rows: squared error" in second.stdout


def test_errors_are_told_however_quiet(data, tmp_path, run, monkeypatch):
    monkeypatch.setattr(Comparison, "save", fail)
    done = run("compare", data, *SMALL, "--save", tmp_path / "m.skops", "--quiet")
    assert done.returncode == 1
    assert done.stderr == "error: the model was not written: No space left on device.\n"


def test_a_reader_that_goes_away_does_not_stop_the_files():
    ending = Ending()
    with ending.step("the result could not be printed"):
        raise BrokenPipeError
    with ending.step("the model was not written"):
        pass
    assert not ending.failed
    with pytest.raises(BrokenPipeError):
        ending.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_behind_standard_output_is_said(data, tmp_path):
    board = tmp_path / "board.csv"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bottega", "compare", data, *SMALL, "--leaderboard", board],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "the result could not be printed: No space left on device." in done.stderr
    assert "Exception ignored" not in done.stderr
    assert board.exists()


def test_the_leaderboard_as_csv_is_the_leaderboard(data, tmp_path, run):
    board = tmp_path / "board.csv"
    done = run("compare", data, *SMALL, "--leaderboard", board, "--json")
    found = json.loads(done.stdout)["leaderboard"]
    rows = list(csv.DictReader(io.StringIO(board.read_text())))
    assert [row["method"] for row in rows] == [row["method"] for row in found]
    assert [float(row["error"]) for row in rows] == [row["error"] for row in found]


def test_charts_as_files(data, tmp_path, run):
    folder = tmp_path / "charts"
    done = run("compare", data, *SMALL, "--charts", folder)
    assert done.returncode == 0, done.stderr
    written = names(folder)
    assert {"leaderboard.png", "leaderboard.svg", "path-ridge.png", "observed.svg"} <= set(written)
    assert f"charts: {len(written)} files in {folder}" in done.stderr
    assert (folder / "leaderboard.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "leaderboard.svg").read_text().startswith("<svg")


def test_same_file_is_found_without_the_files():
    with pytest.raises(InputError, match="the same file"):
        check_outputs({"--out": Path("a.html"), "--save": Path("./a.html")}, {})
