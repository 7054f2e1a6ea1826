"""What cannot work is refused at once, in one sentence that says what to do."""

from inspect import signature

import numpy as np
import pytest

import bottega
from bottega.cli.app import compare as app_compare
from bottega.report.wording import in_words_of_the_command_line

BAD_FILES = {
    "empty": (b"", "empty"),
    "header only": (b"a,b,y\n", "no rows"),
    "one value": (b"a,y\n" + b"".join(b"%d.5,1\n" % i for i in range(30)), "one value"),
    "duplicate names": (b"a,a,y\n1,2,3\n2,3,4\n", "'a'"),
    "not utf-8": (b"a,y\n" + b"caf\xe9,1.5\n" * 30, "UTF-8"),
    "few rows": (b"a,y\n1.5,2.5\n2.5,3.5\n3.1,4.2\n", "rows"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_clear_sentence(name, tmp_path, run, run_process, one_sentence):
    content, words = BAD_FILES[name]
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    report = tmp_path / "report.html"
    launch = run_process if name == "not utf-8" else run
    message = one_sentence(launch("compare", path, "--target", "y", "--out", report))
    assert words in message
    assert [entry.name for entry in tmp_path.iterdir()] == ["data.csv"]


ODD_COLUMNS = {
    "all missing": ["" for _ in range(60)],
    "a word among numbers": [*(f"{i * 37 % 101}.5" for i in range(59)), "many"],
    "infinite": [*(f"{i * 37 % 101}.5" for i in range(59)), "inf"],
    "dates": [f"2026-01-{1 + i * 7 % 28:02d}" for i in range(60)],
    "a level of one row": [*("ab"[i % 2] for i in range(59)), "c"],
}


@pytest.mark.parametrize("name", ODD_COLUMNS)
def test_an_odd_column_is_a_note_and_no_stop(name, tmp_path, run):
    rng = np.random.default_rng(0)
    lines = ["odd,x,y"]
    for value, x, noise in zip(ODD_COLUMNS[name], *rng.normal(size=(2, 60)), strict=True):
        lines.append(f"{value},{x:.4f},{x + noise / 3:.4f}")
    path, model = tmp_path / "data.csv", tmp_path / "m.skops"
    path.write_text("\n".join(lines))
    arguments = ("--target", "y", "--methods", "ridge,tree", "--save", model)
    done = run("compare", path, *arguments)
    assert done.returncode == 0, done.stderr
    assert "note: " in done.stderr
    assert "odd" in done.stderr
    predicted = run("predict", model, path)
    assert (predicted.returncode, len(predicted.stdout.splitlines())) == (0, 61)


def test_rows_in_the_order_of_time_are_said_first(tmp_path, run):
    rng = np.random.default_rng(0)
    price = 100 + np.cumsum(rng.normal(size=200))
    lines = [
        f"{i % 7},{noise:.3f},{p:.3f}"
        for i, (noise, p) in enumerate(zip(rng.normal(size=200), price, strict=True))
    ]
    path, report = tmp_path / "walk.csv", tmp_path / "r.html"
    path.write_text("day,noise,price\n" + "\n".join(lines))
    done = run("compare", path, "--target", "price", "--methods", "ridge", "--out", report)
    assert done.returncode == 0
    first = done.stderr.splitlines()[0]
    assert first.startswith("warning: ")
    assert "time" in first
    page = report.read_text()
    assert page.index("Read this before the numbers.") < page.index("The verdict")


def test_a_wrong_target_suggests_the_nearest(houses, run, one_sentence):
    message = one_sentence(run("compare", houses, "--target", "prise"))
    assert "Did you mean 'price'?" in message


def test_a_missing_file_and_a_missing_target(houses, tmp_path, run, one_sentence):
    assert "nowhere.csv" in one_sentence(run("compare", tmp_path / "nowhere.csv", "--target", "y"))
    assert "target" in one_sentence(run("compare", houses))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "magic"], "magic"),
        (["--select", "luck"], "luck"),
        (["--measure", "log_loss"], "mae, mse, poisson"),
        (["--interval", "wide"], "nadeau_bengio"),
        (["--outer", "1"], "--outer 1 is not allowed; it must be a whole number of at least 2"),
        (["--outer", "75"], "give fewer folds (--outer 2), no locked part (--test-size 0)"),
        (["--interval", "0.9"], "--interval 0.9"),
        (["--jobs", "0"], "--jobs 0 is not allowed"),
        (["--class-weight", "rare"], "give --cost"),
        (["--class-weight", "balanced"], "classes"),
        (["--kind", "=number"], "NAME=KIND"),
        (["--kind", "romos=number"], "--kind names a column 'romos'"),
        (["--kind", "rooms"], "NAME=KIND"),
        (["--kind", "rooms=colour"], "colour"),
        (["--ignore", "romos"], "rooms"),
        (["--task", "guess"], "guess"),
        (["--encoding", "rot13"], "rot13"),
        (["--encoding", "hex"], "hex"),
        (["--encoding", "klingon"], "klingon"),
    ],
)
def test_a_wrong_option_is_one_clear_sentence(houses, arguments, words, run, one_sentence):
    assert words in one_sentence(run("compare", houses, "--target", "price", *arguments))


def test_findings_are_told_in_words_of_the_command_line(tmp_path, run):
    path = tmp_path / "data.csv"
    rows = [f"{i},{i % 7}.5,{(i % 7) * 100 + 50}" for i in range(60)]
    path.write_text("key,y,cents\n" + "\n".join(rows))
    done = run("compare", path, "--target", "y", "--methods", "ridge")
    assert "note: Column 'key'" in done.stderr
    assert "--ignore 'cents'" in done.stderr


def test_an_unknown_option_is_a_usage_error(run):
    done = run("compare", "iris", "--nonsense")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_every_option_is_named_in_messages():
    arguments = set(signature(bottega.compare).parameters) | set(signature(bottega.read).parameters)
    options = {name.removeprefix("no_") for name in signature(app_compare).parameters}
    for name in sorted((options & arguments) - {"data"}):
        text = {"stack": "stack=False", "ignore": "ignore=['a']"}.get(name, f"{name}='a'")
        assert in_words_of_the_command_line(f"give {text}.").startswith("give --"), name
    # options with another name than the argument
    told = in_words_of_the_command_line(
        "n_jobs=2, kinds={...}, weights='w', groups='g', again=True"
    )
    assert told == "--jobs 2, --kind NAME=KIND, --weight w, --group g, --again"
    assert in_words_of_the_command_line("try another random_state, or give group=False.") == (
        "try another --random-state, or leave --group out."
    )
    assert in_words_of_the_command_line("give decimal=',' if so") == "give --decimal , if so"


def test_counts_are_not_negative(tmp_path, run, one_sentence):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "\n".join(f"{i % 9}.5,{-3 if i == 2 else i % 40}" for i in range(80)))
    told = one_sentence(run("compare", path, "--target", "y", "--measure", "poisson"))
    assert "--measure poisson needs a target of 0 or more" in told
