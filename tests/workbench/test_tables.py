"""Public tables as they are: each goes through from the command line, report and model included.

The data are those of R's packages (see ``tests/reference/tables/sources.csv``) and scikit-learn's.
"""

import csv
import io
import json
import re
import sys
import warnings
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_linnerud

from bottega.cli import comparing
from bottega.cli.app import app

FOLDER = Path(__file__).parents[1] / "reference/tables"
with (FOLDER / "sources.csv").open() as _file:
    SOURCES = {row["name"]: row for row in csv.DictReader(_file)}
BUNDLED = ("diabetes", "iris", "wine", "breast_cancer")
JUDGED = [name for name, row in SOURCES.items() if row["use"] == "judge"]
OTHERS = [name for name, row in SOURCES.items() if row["use"] == "run"]
# The messiest; benchmarks/tables.py has every method on all of them.
MESSY = ("cars93", "survey")
# Few methods where the reading, judging and writing is what is tried: the slow test has all.
FEW = {"regression": "ridge,tree", "classification": "neighbors,tree"}


def run(*arguments):
    """Run the command in this process; what it warns of is kept."""
    given = list(map(str, arguments))
    out, errors = io.StringIO(), io.StringIO()
    with (
        redirect_stdout(out),
        redirect_stderr(errors),
        warnings.catch_warnings(record=True) as said,
        patch.object(sys, "argv", ["bottega", *given]),
        # Here they are counted.
        patch.object(comparing, "warnings_as_notes", lambda _: nullcontext(set())),
    ):
        warnings.simplefilter("default")
        try:
            app(given)
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
    return SimpleNamespace(
        returncode=code, stdout=out.getvalue(), stderr=errors.getvalue(), warnings=said
    )


def options(name):
    """Return what the command is told about a table, as its source says."""
    row = SOURCES[name]
    found = ["--target", row["target"], "--task", row["task"]]
    for column in filter(None, row["ignore"].split(";")):
        found += ["--ignore", column]
    for role in ("group", "time", "weight"):
        found += [f"--{role}", row[role]] if row[role] else []
    return found


def assert_clean(done, source):
    """It ended well and said nothing that only a developer could read."""
    assert done.returncode == 0, done.stderr
    assert [str(each.message) for each in done.warnings] == []
    said = (done.stdout + done.stderr).replace(str(source), "")
    for word in ("internal error", "Traceback", "Warning", "site-packages", ".py", "failed"):
        assert word not in said, said
    # On a machine where nothing is compiled yet it says so first.
    words = r"(note|warning|model|report|stopped|preparing kernels|\d[\d,]* predictions)\b"
    for note in done.stderr.splitlines():
        assert re.match(words, note), note


def compare_and_predict(source, tmp_path, *more):
    """Compare, write report and model, predict the same file; return what the command printed."""
    report, model, out = (tmp_path / name for name in ("r.html", "m.skops", "p.csv"))
    done = run("compare", source, *more, "--out", report, "--save", model)
    assert_clean(done, source)
    assert "locked rows" in done.stdout or json.loads(done.stdout)["certificate"]
    text = report.read_text(encoding="utf-8")
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert str(Path(__file__).parents[2]) not in text.replace(str(source), "")
    if Path(source).exists():
        predicted = run("predict", model, source, "-o", out)
        assert_clean(predicted, source)
        said = pd.read_csv(out, keep_default_na=False)
        assert len(said) == len(pd.read_csv(source))
        assert not (said.iloc[:, 0].astype(str).isin(("", "nan", "None"))).any()
    return done


@pytest.mark.parametrize("name", JUDGED)
def test_a_public_table_goes_through(name, tmp_path):
    few = FEW[SOURCES[name]["task"]]
    source = FOLDER / f"{name}.csv"
    done = compare_and_predict(source, tmp_path, *options(name), "--methods", few, "--outer", 2)
    for method in ("baseline", *few.split(",")):
        assert re.search(rf"^{method}\s", done.stdout, flags=re.M), done.stdout


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_table_goes_through(name, tmp_path):
    few = FEW["regression" if name == "diabetes" else "classification"]
    compare_and_predict(name, tmp_path, "--methods", few, "--outer", 2)


@pytest.mark.parametrize("name", ["digits", "linnerud"])
def test_a_table_of_scikit_learn_goes_through(name, tmp_path):
    if name == "digits":
        frame = load_digits(as_frame=True).frame.sample(300, random_state=0)
        more = ["--target", "target", "--task", "classification", "--methods", "neighbors"]
    else:
        both = load_linnerud(as_frame=True)
        frame = both.data.assign(Weight=both.target["Weight"])
        more = ["--target", "Weight", "--methods", "ridge"]
    path = tmp_path / f"{name}.csv"
    frame.to_csv(path, index=False)
    compare_and_predict(path, tmp_path, *more, "--outer", 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_a_further_table_goes_through(name, tmp_path):
    few = FEW[SOURCES[name]["task"]]
    compare_and_predict(
        FOLDER / f"{name}.csv", tmp_path, *options(name), "--methods", few, "--outer", 3
    )


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", MESSY)
def test_every_method_goes_through(name, tmp_path):
    """With all methods and their defaults, none of which fails."""
    source = FOLDER / f"{name}.csv"
    done = compare_and_predict(source, tmp_path, *options(name), "--outer", 3, "--json")
    found = json.loads(done.stdout)
    assert found["interrupted"] is False
    assert not [reason for reason in found["skipped"].values() if "failed" in reason]
    assert all(np.isfinite(row["error"]) for row in found["leaderboard"])


# ---- the same table as other programs write it --------------------------------------------------


def leaderboard(path, *more):
    done = run("compare", path, *more, "--methods", "ridge,tree", "--outer", "3", "--json")
    assert_clean(done, path)
    found = json.loads(done.stdout)
    return [(row["method"], row["error"]) for row in found["leaderboard"]]


@pytest.fixture(scope="module")
def cars():
    return pd.read_csv(FOLDER / "cars93.csv", keep_default_na=False, dtype=str)


def as_spreadsheet(frame):
    """As a European spreadsheet writes it: semicolons, decimal commas, a mark at the beginning."""
    numbers = frame.apply(
        lambda column: column.str.replace(r"^(-?\d+)\.(\d+)$", r"\1,\2", regex=True)
    )
    return ("\ufeff" + numbers.to_csv(sep=";", index=False, lineterminator="\r\n")).encode()


def with_currency(frame):
    changed = frame.assign(Price="$" + frame["Price"], Weight=frame["Weight"].map(thousands))
    return changed.to_csv(index=False).encode()


def thousands(text):
    return f"{int(text):,}"


@pytest.mark.parametrize("written", [as_spreadsheet, with_currency])
def test_the_answer_does_not_depend_on_who_wrote_the_file(cars, written, tmp_path):
    path = tmp_path / "cars.csv"
    path.write_bytes(written(cars))
    told = options("cars93")
    assert leaderboard(path, *told) == leaderboard(FOLDER / "cars93.csv", *told)


# ---- predictions for rows that the model has not seen the like of -------------------------------


def test_new_rows_have_new_levels_other_columns_and_gaps(cars, tmp_path):
    """A new maker, a missing type, other order, a further column: predictions, not a stop."""
    model, new, out = (tmp_path / name for name in ("m.skops", "new.csv", "p.csv"))
    told = [*options("cars93"), "--methods", "ridge,tree", "--outer", "3", "--save", model]
    assert_clean(run("compare", FOLDER / "cars93.csv", *told), FOLDER)
    rows = cars.head(6).assign(Manufacturer="Lada", Colour="red")
    rows.loc[2, "Type"] = ""
    rows.loc[3, "Cylinders"] = "rotary of a new kind"
    rows[sorted(rows.columns, reverse=True)].to_csv(new, index=False)
    done = run("predict", model, new, "-o", out)
    assert_clean(done, new)
    said = pd.read_csv(out).iloc[:, 0].to_numpy()
    assert said.shape == (6,)
    assert np.isfinite(said).all()
    assert np.ptp(said) > 0
