"""The command line as a user meets it: a process, its streams and its exit code."""

import contextlib
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import bottega
from bottega.cli import commands
from bottega.cli.app import app
from bottega.core import progress
from bottega.data import read_frame

COMMAND = [sys.executable, "-m", "bottega"]


def run_process(*arguments, timeout=280, **environment):
    """Run the command as a process of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **environment},
        check=False,
    )


def run(*arguments):
    """Run the command in this process, without the seconds that imports cost."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            app(list(map(str, arguments)))
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=errors.getvalue())


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    """A small CSV with numbers, categories and gaps."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    lines = ["rooms,area,town,price"]
    for _ in range(80):
        rooms, area = rng.integers(1, 7), round(float(rng.normal(80, 20)), 1)
        town = rng.choice(["Pisa", "Lucca", ""])
        price = round(20 * rooms + 2 * area + (30 if town == "Pisa" else 0) + rng.normal(0, 9), 2)
        lines.append(f"{rooms},{area if rng.random() > 0.1 else ''},{town},{price}")
    path = folder / "houses.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.slow
def test_compare_prints_the_leaderboard_and_writes_report_and_model(houses, tmp_path):
    report, model = tmp_path / "report.html", tmp_path / "model.skops"
    done = run_process("compare", houses, "--target", "price", "--out", report, "--save", model)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Regression of price on 60 rows")
    for method in ("ridge", "neighbors", "baseline"):
        assert method in done.stdout
    assert f"report: {report}" in done.stderr
    assert f"model: {model}" in done.stderr
    assert report.read_text().startswith("<!doctype html>") or "<html" in report.read_text()[:200]

    out = tmp_path / "out.csv"
    predicted = run_process("predict", model, houses, "-o", out)
    assert predicted.returncode == 0, predicted.stderr
    assert predicted.stdout == ""
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert len(rows) == 80
    saved = bottega.load(model)
    expected = saved.predict(read_frame(houses))
    assert [float(row["predicted_price"]) for row in rows] == pytest.approx(expected)


def test_json_is_data_and_nothing_else(houses):
    done = run("compare", houses, "--target", "price", "--json", "--methods", "ridge", "--quiet")
    assert done.returncode == 0
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert [row["method"] for row in found["leaderboard"]] == ["ridge", "baseline"]
    assert found["best"] == "ridge"
    assert found["test_looks"] == 1
    assert found["certificate"]["n"] == 20
    table = bottega.read(houses, target="price")
    expected = bottega.compare(table, methods=["ridge"])
    assert found["leaderboard"][0]["error"] == pytest.approx(expected.results["ridge"].error)


def test_predictions_go_to_standard_output_with_probabilities(tmp_path):
    model = tmp_path / "iris.skops"
    done = run("compare", "iris", "--methods", "neighbors", "--save", model, "--quiet")
    assert done.returncode == 0, done.stderr
    flowers = tmp_path / "flowers.csv"
    bottega.read("iris").frame.head(3).drop(columns="target").to_csv(flowers, index=False)
    predicted = run("predict", model, flowers, "--probabilities")
    rows = list(csv.DictReader(io.StringIO(predicted.stdout)))
    assert [row["predicted_target"] for row in rows] == ["setosa"] * 3
    chances = [float(v) for name, v in rows[0].items() if name.startswith("probability_")]
    assert sum(chances) == pytest.approx(1)


def test_methods_as_table_and_as_json():
    table = run("methods", "--task", "regression")
    assert table.returncode == 0
    assert "ridge" in table.stdout
    assert "parzen" not in table.stdout
    cards = json.loads(run("methods", "--json").stdout)
    assert {card["method"] for card in cards} >= {"baseline", "neighbors", "parzen", "ridge"}
    assert all(card["strengths"] and "number" in card["takes"] for card in cards if card["knob"])


def test_the_card_of_one_method():
    done = run("methods", "ridge")
    assert done.returncode == 0
    assert done.stdout.startswith("Ridge regression (regression): bottega.linear.Ridge\n")
    for heading in ("strengths:", "weaknesses:", "assumptions:"):
        assert heading in done.stdout
    assert "Did you mean 'ridge'" in one_sentence(run("methods", "rigde"))
    assert "clairvoyance" in one_sentence(run("methods", "--task", "clairvoyance"))


def test_a_second_run_says_that_the_locked_rows_were_opened(houses, tmp_path):
    report = tmp_path / "report.html"
    arguments = ("compare", houses, "--target", "price", "--methods", "ridge")
    first = run_process(*arguments)
    assert "on 20 locked rows: squared error" in first.stdout
    second = run(*arguments, "--out", report)
    assert second.returncode == 0
    assert "the 20 locked rows were opened before (first at 2" in second.stdout
    assert "give --again for a second look" in second.stdout
    assert "on 20 locked rows: squared error" not in second.stdout
    assert "The 20 locked rows were opened before" in report.read_text()
    third = run(*arguments, "--again", "--out", report)
    assert "on 20 locked rows: squared error" in third.stdout
    assert "have been opened 2 times" in third.stdout
    assert "have been opened 2 times" in report.read_text()
    other = run(*arguments, "--random-state", "1", "--json")
    assert json.loads(other.stdout)["test_looks"] == 1


def test_another_loss_and_interval(houses):
    done = run(
        *("compare", houses, "--target", "price", "--methods", "ridge", "--json", "-q"),
        *("--loss", "absolute_error", "--interval", "nested"),
    )
    found = json.loads(done.stdout)
    assert found["loss"] == "absolute error"
    assert found["certificate"]["quantity"] == "absolute error"
    row = found["leaderboard"][0]
    assert row["lower"] < row["error"] < row["upper"]


def test_help_and_version():
    for arguments in (["--help"], ["compare", "--help"], ["predict", "--help"]):
        done = run(*arguments)
        assert done.returncode == 0
        assert "Usage" in done.stdout
    assert run("--version").stdout.strip() == f"bottega {bottega.__version__}"


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (Terminal, ["compiling", "preparing 1 kernel, ", "preparing 12 kernels, once on this"]),
        (io.StringIO, ["preparing kernels, once on this machine\n"]),
    ],
)
def test_compiling_is_shown_as_such(stream, said, monkeypatch):
    def compile_kernels():
        for total in (1, 12):
            progress.report(progress.PREPARING, total - 1, total, "a kernel")
            progress.report("compiling", total, 20)
            time.sleep(0.2)  # longer than the bar takes to show it
        return 1.0

    shown = stream()
    monkeypatch.setattr(commands, "warm_up", compile_kernels)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with contextlib.redirect_stderr(shown):
        commands.warmup(quiet=False)
    for words in said:
        assert words in shown.getvalue()
    assert shown.getvalue().endswith("all kernels compiled in 1.0 s\n")
    silent = io.StringIO()
    with contextlib.redirect_stderr(silent):
        commands.warmup(quiet=True)
    assert silent.getvalue() == ""


def one_sentence(done):
    """The contract of a bad input: exit code 2, one line, no traceback, nothing on stdout."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


BAD_FILES = {
    "empty": (b"", "empty"),
    "header only": (b"a,b,y\n", "no rows"),
    "one value": (b"a,y\n" + b"".join(b"%d.5,1\n" % i for i in range(30)), "one value"),
    "all missing": (b"a,b,y\n" + b"".join(b"%d.5,,%d.5\n" % (i, i) for i in range(30)), "'b'"),
    "infinite": (
        b"a,y\n" + b"".join(b"%d.5,%d.5\n" % (i, i) for i in range(30)) + b"inf,2\n",
        "inf",
    ),
    "duplicate names": (b"a,a,y\n1,2,3\n2,3,4\n", "'a'"),
    "mixed": (
        b"a,y\n" + b"".join(b"%d.5,%d.5\n" % (i, i) for i in range(30)) + b"many,2\n",
        "many",
    ),
    "not utf-8": (b"a,y\n" + b"caf\xe9,1.5\n" * 30, "UTF-8"),
    "few rows": (b"a,y\n1.5,2.5\n2.5,3.5\n3.1,4.2\n", "rows"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_clear_sentence(name, tmp_path):
    content, words = BAD_FILES[name]
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    report = tmp_path / "report.html"
    launch = run_process if name == "mixed" else run
    message = one_sentence(launch("compare", path, "--target", "y", "--out", report))
    assert words in message
    assert [entry.name for entry in tmp_path.iterdir()] == ["data.csv"]


def test_200_000_categories_are_one_clear_sentence(tmp_path):
    path = tmp_path / "data.csv"
    with path.open("w") as stream:
        stream.write("code,y\n")
        stream.writelines(f"c{i % 200_000},{i % 7}.5\n" for i in range(400_000))
    message = one_sentence(run("compare", path, "--target", "y"))
    assert "200,000" in message
    assert "'code'" in message


def test_a_wrong_target_suggests_the_nearest(houses):
    message = one_sentence(run("compare", houses, "--target", "prise"))
    assert "Did you mean 'price'?" in message


def test_a_missing_file_and_a_missing_target(houses, tmp_path):
    assert "nowhere.csv" in one_sentence(run("compare", tmp_path / "nowhere.csv", "--target", "y"))
    assert "target" in one_sentence(run("compare", houses))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "magic"], "magic"),
        (["--select", "luck"], "luck"),
        (["--loss", "log_loss"], "absolute_error"),
        (["--interval", "wide"], "nadeau_bengio"),
        (["--outer", "1"], "outer=1"),
        (["--outer", "75"], "fold"),
        (["--kind", "rooms"], "NAME=KIND"),
        (["--kind", "rooms=colour"], "colour"),
        (["--ignore", "romos"], "rooms"),
        (["--out", "no/such/folder/report.html"], "no/such/folder"),
        (["--task", "guess"], "guess"),
    ],
)
def test_a_wrong_option_is_one_clear_sentence(houses, arguments, words):
    assert words in one_sentence(run("compare", houses, "--target", "price", *arguments))


def test_predict_refuses_what_it_cannot_do(houses, tmp_path):
    model = tmp_path / "m.skops"
    assert run("compare", houses, "--target", "price", "--save", model, "-q").returncode == 0
    text = houses.read_text()
    new = tmp_path / "new.csv"

    new.write_text(text.replace("Pisa", "Siena"))
    assert "'Siena'" in one_sentence(run("predict", model, new))
    assert run("predict", model, new, "--handle-unknown", "ignore").returncode == 0

    new.write_text(text.replace("rooms,", "room,", 1))
    out = tmp_path / "out.csv"
    assert "Did you mean 'room'?" in one_sentence(run("predict", model, new, "-o", out))
    assert not out.exists()

    assert "not a model" in one_sentence(run("predict", houses, new))
    assert "no file" in one_sentence(run("predict", tmp_path / "none.skops", new))
    assert "gives no probabilities" in one_sentence(
        run("predict", model, houses, "--probabilities")
    )


def test_codes_and_words_are_read_as_they_were_when_the_model_was_fitted(tmp_path):
    """A column that holds only "no" in the new rows, or codes such as 007, keeps its labels."""
    rng = np.random.default_rng(0)
    rows = [(rng.choice(["sì", "no"]), rng.choice(["007", "A1"]), rng.normal()) for _ in range(60)]
    lines = [f"{lift},{code},{x:.4f},{x + (code == '007'):.4f}" for lift, code, x in rows]
    old, new, model = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "m.skops"
    old.write_text("lift,code,x,y\n" + "\n".join(lines))
    new.write_text("lift,code,x\nno,007,0.5\nno,007,1.5\n")
    assert run("compare", old, "--target", "y", "--save", model, "-q").returncode == 0
    done = run("predict", model, new)
    assert done.returncode == 0, done.stderr
    first, second = (float(value) for value in done.stdout.split()[1:])
    assert 0.5 < second - first < 1.5


def test_findings_are_told_in_words_of_the_command_line(tmp_path):
    path = tmp_path / "data.csv"
    rows = [f"{i},{i % 7}.5,{(i % 7) * 100 + 50}" for i in range(60)]
    path.write_text("key,y,cents\n" + "\n".join(rows))
    done = run("compare", path, "--target", "y")
    assert "note: Column 'key'" in done.stderr
    assert "--ignore 'cents'" in done.stderr


def test_an_unknown_option_is_a_usage_error():
    done = run("compare", "iris", "--nonsense")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


TELL_AND_RUN = """
from bottega.cli.app import main
from bottega.core.estimator import Estimator

fit = Estimator._fit

def tell_and_fit(self, *rows, **how):
    print("fitting", flush=True)
    return fit(self, *rows, **how)

Estimator._fit = tell_and_fit
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent as a POSIX signal")
def test_ctrl_c_stops_without_a_traceback(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "big.csv"
    np.savetxt(
        path,
        rng.normal(size=(5_000, 12)),
        delimiter=",",
        header=",".join([*(f"x{j}" for j in range(11)), "y"]),
        comments="",
    )
    process = subprocess.Popen(
        [sys.executable, "-c", TELL_AND_RUN, "compare", str(path), "--target", "y"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        # Two threads may say it at once; the many fits to come take seconds.
        assert process.stdout.readline().startswith("fitting")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert "stopped" in errors


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """A messy CSV: rare categories, dates, gaps, and answers written Yes and No."""
    rng = np.random.default_rng(1)
    lines = ["age,town,seen,smoker,who,ill"]
    for i in range(120):
        age = round(float(rng.normal(50, 15)), 1)
        town = "Atlantis" if i == 7 else rng.choice(["Pisa", "Lucca", ""])
        ill = "Yes" if age + rng.normal(0, 12) > 62 else "No"
        age_text = "" if rng.random() < 0.1 else age
        smoker = rng.choice(["yes", "no"])
        lines.append(f"{age_text},{town},2026-01-{1 + i % 28:02d},{smoker},{i // 4},{ill}")
    path = tmp_path_factory.mktemp("data") / "patients.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_costs_on_a_messy_table(patients, tmp_path):
    model = tmp_path / "model.skops"
    arguments = ("compare", patients, "--target", "ill", "--methods", "neighbors,tree")
    done = run(*arguments, "--cost", "Yes:No=10,No:Yes=1", "--json", "--save", model, "--quiet")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["loss"] == "cost"
    error = {row["method"]: row["error"] for row in found["leaderboard"]}
    frame = read_frame(patients, text=["ill"])
    always_yes = np.mean(frame["ill"] == "No")
    assert error["baseline"] == pytest.approx(always_yes, abs=0.05)  # of the training rows
    assert min(error.values()) <= error["baseline"]
    predicted = list(csv.DictReader(io.StringIO(run("predict", model, patients).stdout)))
    assert {row["predicted_ill"] for row in predicted} <= {"Yes", "No"}
    wrong = run(*arguments, "--cost", "yes:No=10,No:yes=1")
    assert (wrong.returncode, "Did you mean 'Yes'" in wrong.stderr) == (2, True)
    both = run(*arguments, "--cost", "Yes:No=1,No:Yes=1", "--loss", "zero_one")
    assert (both.returncode, "--loss or --cost, not both" in both.stderr) == (2, True)


def test_groups_and_time_exclude_each_other(patients):
    done = run("compare", patients, "--target", "ill", "--group", "who", "--time", "seen")
    assert done.returncode == 2
    assert "Give --group or --time, not both" in done.stderr
