"""``bottega describe``: output, files, bad input."""

import csv
import json

import numpy as np
import pytest


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("data") / "mixed.csv"
    lines = ["name,size,weight,seen,kind"]
    for i in range(90):
        size = rng.normal(10 + 8 * (i % 2), 1)
        weight = "" if i % 11 == 3 else f"{2 * size + rng.normal():.2f}"
        lines.append(f"=n{i},{size:.2f},{weight},2026-01-{1 + i % 28:02d},{'ab'[i % 2]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_it_prints_what_it_found(run, mixed):
    done = run("describe", mixed)
    assert done.returncode == 0, done.stderr
    assert "90 rows and 5 columns" in done.stdout
    assert "two clusters" in done.stdout
    assert "Traceback" not in done.stderr


def test_json_and_files(run, mixed, tmp_path):
    rows, out = tmp_path / "rows.csv", tmp_path / "report.html"
    done = run(
        *("describe", mixed, "--json", "--rows-out", rows, "--out", out, "--exclude", "kind,seen")
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["clusters"]["count"] == 2
    assert told["command"].split()[0] == "bottega"
    with open(rows, newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == 90
    assert written[0]["name"] == "'=n0"  # no spreadsheet computes it
    assert {row["cluster"] for row in written} == {"1", "2"}
    assert "What is in" in out.read_text()
    assert f"report: {out}" in done.stderr


def test_columns_and_seed(run, mixed):
    done = run("describe", mixed, "--json", "--columns", "size", "--columns", "weight", "--seed", 3)
    told = json.loads(done.stdout)
    assert told["random_state"] == 3
    assert told["clusters"]["sought_in"] == ["size", "weight"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--columns", "sise"), "--columns names 'sise', and there is no such column. Did you"),
        (("--exclude", "sise"), "--exclude names 'sise'"),
        (("--max-clusters", "0"), "--max-clusters 0 is not allowed"),
        (("--false-alarm", "2"), "--false-alarm 2.0 is not allowed"),
        (("--out", "/nowhere/at/all.html"), "There is no folder"),
        (("--kind", "size"), "write NAME=KIND"),
    ],
)
def test_bad_input_is_one_sentence(run, one_sentence, mixed, options, message):
    assert message in one_sentence(run("describe", mixed, *options))


def test_files_are_checked_before_the_work(run, one_sentence, mixed):
    assert "would overwrite the data" in one_sentence(run("describe", mixed, "--rows-out", mixed))
    assert "nothing.csv" in one_sentence(run("describe", "nothing.csv"))


def test_bundled_data_are_described_with_their_target(run):
    done = run("describe", "iris", "--json", "--quiet")
    told = json.loads(done.stdout)
    assert "target" in [column["name"] for column in told["columns"]]
