"""The command line as a user meets it: a process, its streams and its exit code."""

import contextlib
import csv
import io
import json
import time

import numpy as np
import pytest

import bottega
from bottega.cli import commands
from bottega.cli.live import Standings
from bottega.core import progress
from bottega.data import read_frame


@pytest.mark.slow
def test_compare_prints_the_leaderboard_and_writes_report_and_model(houses, tmp_path, run_process):
    report, model = tmp_path / "report.html", tmp_path / "model.skops"
    outputs = ("--out", report, "--save", model)
    # A few methods: all of them are tried on public tables.
    few = ("--methods", "ridge,neighbors,tree,random_forest")
    done = run_process("compare", houses, "--target", "price", *few, *outputs)
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


def test_json_is_data_and_nothing_else(houses, run):
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


def test_proportions_of_texts_without_a_label(run, tmp_path):
    rng = np.random.default_rng(0)
    words = np.array([["good", "clean", "quick"], ["bad", "dirty", "slow"]])
    codes = rng.integers(2, size=160)
    lines = ["review,label"]
    for i, k in enumerate(codes):
        text = " ".join(rng.permutation([*words[k], "the room was very"]))
        lines.append(f"{text} {words[1 - k, i % 3]},{'' if i % 4 == 0 else 'ny'[1 - k]}")
    (tmp_path / "reviews.csv").write_text("\n".join(lines))
    call = ("compare", tmp_path / "reviews.csv", "--target", "label", "--methods", "naive_bayes")
    done = run(*call)
    assert done.returncode == 0, done.stderr
    assert "estimated proportions among 40 texts without 'label': n " in done.stdout
    found = json.loads(run(*call, "--json", "--again").stdout)["proportions"]
    assert found["n_unread"] == 40
    assert sum(row["proportion"] for row in found["classes"]) == pytest.approx(1)


def test_methods_as_table_and_as_json(run):
    table = run("methods", "--task", "regression")
    assert table.returncode == 0
    assert "ridge" in table.stdout
    assert "parzen" not in table.stdout
    cards = json.loads(run("methods", "--json").stdout)
    assert {card["method"] for card in cards} >= {"baseline", "neighbors", "parzen", "ridge"}
    assert all(card["strengths"] and card["takes"] for card in cards if card["knob"])


def test_the_card_of_one_method(run, one_sentence):
    done = run("methods", "ridge")
    assert done.returncode == 0
    assert done.stdout.startswith("Ridge regression (regression): bottega.linear.Ridge\n")
    for heading in ("strengths:", "weaknesses:", "assumptions:"):
        assert heading in done.stdout
    assert "Did you mean 'ridge'" in one_sentence(run("methods", "rigde"))
    assert "clairvoyance" in one_sentence(run("methods", "--task", "clairvoyance"))


def test_a_second_run_says_that_the_locked_rows_were_opened(houses, tmp_path, run, run_process):
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


def test_another_measure_and_interval(houses, run):
    done = run(
        *("compare", houses, "--target", "price", "--methods", "ridge", "--json", "-q"),
        *("--measure", "absolute_error", "--interval", "nested"),
    )
    found = json.loads(done.stdout)
    assert found["loss"] == "absolute error"
    assert found["certificate"]["quantity"] == "absolute error"
    row = found["leaderboard"][0]
    assert row["conf_low"] < row["error"] < row["conf_high"]


def test_methods_are_named_or_left_out(houses, run, one_sentence):
    arguments = ("compare", houses, "--target", "price", "--json", "-q")
    done = run(*arguments, "--methods", "ridge, lasso,tree", "--exclude", "tree")
    assert done.returncode == 0, done.stderr
    found = {row["method"] for row in json.loads(done.stdout)["leaderboard"]}
    assert found == {"ridge", "lasso", "baseline"}
    assert "Did you mean 'ridge'" in one_sentence(run(*arguments, "--exclude", "rigde"))


def test_class_weights_and_no_stack(patients, run):
    arguments = ("--methods", "tree,neighbors,logistic_regression", "--outer", "2", "--json")
    done = run("compare", patients, "--target", "ill", *arguments, "--no-stack")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "stacking" not in [row["method"] for row in told["leaderboard"]]
    weighted = run(
        *("compare", patients, "--target", "ill", *arguments, "--no-stack", "--again"),
        *("--class-weight", "balanced"),
    )
    assert weighted.returncode == 0, weighted.stderr
    assert json.loads(weighted.stdout)["leaderboard"] != told["leaderboard"]


def test_a_stopped_query_is_no_fault(run, monkeypatch):
    def interrupted(*_, **__):
        raise RuntimeError("Query interrupted")  # as DuckDB tells Ctrl-C

    monkeypatch.setattr("bottega.cli.comparing.compare", interrupted)
    done = run("compare", "iris")
    assert (done.returncode, done.stderr) == (1, "stopped\n")


def test_help_and_version(run):
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
            time.sleep(0.3)  # longer than the bar takes to show it
        return 1.0

    shown = stream()
    monkeypatch.setattr(commands, "warm_up", compile_kernels)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("LINES", "40")
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


def test_the_leaderboard_fills_as_folds_finish():
    standings = Standings(most=1)
    assert standings.rows() == []
    for detail in (("ridge", 2.0, 10), ("tree", 1.0, 10), ("ridge", 5.0, 20), ("tree", None, 0)):
        standings.add(detail)
    assert standings.rows() == [("tree", 1.0, 1), ("ridge", 4.0, 2)]  # weighted by rows
    from rich.console import Console

    page = Console(width=60, file=io.StringIO())
    page.print(standings)
    shown = page.file.getvalue().split()
    assert shown == ["so", "far", "error", "folds", "tree", "1", "1", "and", "1", "more"]


@pytest.mark.parametrize("wrong", ["soon", "-5", "0", "2x"])
def test_a_budget_is_a_time(wrong, houses, run, one_sentence):
    done = run("compare", houses, "--target", "price", "--budget", wrong)
    message = one_sentence(done)
    assert f"--budget {wrong} is not allowed" in message
    assert "'2m' or '1h30m'" in message


def test_costs_on_a_messy_table(patients, tmp_path, run):
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
    both = run(*arguments, "--cost", "Yes:No=1,No:Yes=1", "--measure", "zero_one")
    assert (both.returncode, "--measure or --cost, not both" in both.stderr) == (2, True)
    unsaid = run(*arguments, "--measure", "cost")
    assert (unsaid.returncode, "say what errors cost" in unsaid.stderr) == (2, True)


def test_groups_and_time_exclude_each_other(patients, run):
    done = run("compare", patients, "--target", "ill", "--group", "who", "--time", "seen")
    assert done.returncode == 2
    assert "Give --group or --time, not both" in done.stderr
