"""Several files as one table, as a shell names them for a pattern: ``big/*.parquet``."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega.cli.outputs import check_outputs
from bottega.core.errors import InputError
from bottega.risk.estimate.procedures import EstimatorProcedure
from bottega.workbench import memory

SMALL = ("--methods", "ridge,tree", "--outer", "2", "--no-stack")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Three Parquet files of a table with a category and gaps."""
    rng = np.random.default_rng(0)
    size = rng.normal(50, 20, 240)
    colour = rng.choice(["red", "blue"], 240)
    frame = pd.DataFrame({"size": size, "colour": colour, "count": rng.integers(0, 9, 240)})
    frame["y"] = 2 * size + 5 * (colour == "red") + rng.normal(size=240)
    frame.loc[::7, "size"] = np.nan
    folder = tmp_path_factory.mktemp("big")
    for number in range(3):
        frame[80 * number : 80 * (number + 1)].to_parquet(folder / f"part{number}.parquet")
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def here(files):
    """The errors of a comparison of the folder that holds the files."""
    found = bottega.compare(
        str(files[0].parent), "y", methods=["ridge", "tree"], outer=2, stack=False
    )
    return errors_of(found.to_dict())


def errors_of(told):
    return {row["method"]: row["error"] for row in told["leaderboard"]}


def test_several_files_are_one_table(files, here, tmp_path, run):
    report = tmp_path / "report.html"
    done = run("compare", *files, "--target", "y", *SMALL, "--json", "--out", report)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["n_rows"] == 240
    assert errors_of(told) == pytest.approx(here, rel=1e-9)
    title = "<title>Predicting y in part0.parquet, part1.parquet and 1 more</title>"
    assert title in report.read_text()


def test_several_files_are_one_table_for_python_too(files, here):
    options = {"methods": ["ridge", "tree"], "outer": 2, "stack": False}
    found = bottega.compare(files, "y", **options)
    assert errors_of(found.to_dict()) == pytest.approx(here, rel=1e-9)
    assert found.table.source == "part0.parquet, part1.parquet and 1 more"
    assert bottega.describe(files).table.n_rows == 240


def test_options_may_stand_before_the_files(files, here, run):
    done = run("compare", "--target", "y", *SMALL, "--json", "--again", *files)
    assert errors_of(json.loads(done.stdout)) == pytest.approx(here, rel=1e-9)


def test_several_files_some_rows_at_a_time(files, run):
    call = ("compare", *files, "--target", "y", *SMALL, "--json", "--again", "--stream")
    found = json.loads(run(*call, "--sample", "120").stdout)
    rows = {row["method"]: row["learned_from"] for row in found["leaderboard"]}
    assert found["n_rows"] == 240
    assert rows["baseline"] == 90 < rows["ridge"] == 240 - 30  # a quarter of the drawn is locked


def test_files_that_are_large_together_are_not_read_into_memory(files, run, monkeypatch):
    together = sum(map(os.path.getsize, files))
    monkeypatch.setattr(memory, "memory_of_process", lambda: 18 * together)
    paths = tuple(map(str, files))
    assert not any(map(memory.is_larger_than_memory, paths))
    assert memory.is_larger_than_memory(paths)  # 24 times, as Parquet is packed
    done = run("compare", *files, "--target", "y", *SMALL, "--again", "--sample", "120")
    assert "of 240 rows 120 were drawn at random" in done.stderr.lower()
    monkeypatch.setattr(memory, "memory_of_process", lambda: None)
    assert not memory.is_larger_than_memory(paths)


def test_a_comparison_of_several_files_goes_on_from_its_file(
    files, here, tmp_path, run, monkeypatch
):
    fit, fits = EstimatorProcedure.fit, []

    def counted(self, *given, **more):
        fits[-1] += 1
        return fit(self, *given, **more)

    monkeypatch.setattr(EstimatorProcedure, "fit", counted)
    call = ("compare", *files, "--target", "y", *SMALL, "--json", "--again")
    for _ in range(2):
        fits.append(0)
        done = run(*call, "--resume", tmp_path / "folds.npz")
        assert errors_of(json.loads(done.stdout)) == pytest.approx(here, rel=1e-9)
    assert fits[0] >= 4 + fits[1]  # two folds of two methods


def test_no_output_takes_the_place_of_one_of_several_files(files, tmp_path, run, one_sentence):
    for file in (files[0], files[-1]):
        before = file.read_bytes()
        for command in ("compare", "describe"):
            call = (command, *files, *(("--target", "y") if command == "compare" else ()))
            message = one_sentence(run(*call, "--out", file))
            assert "--out would overwrite the data" in message
        assert file.read_bytes() == before
    several = (str(tmp_path / "*.csv"), str(files[0].parent))
    with pytest.raises(InputError, match="would be read as a part of the data next time"):
        check_outputs({"--leaderboard": tmp_path / "board.csv"}, {"the data": several})
    check_outputs({"--out": tmp_path / "report.html"}, {"the data": several})


def test_predictions_and_descriptions_of_several_files(files, tmp_path, run, one_sentence):
    model = tmp_path / "m.skops"
    done = run("compare", files[0].parent, "--target", "y", *SMALL, "--again", "--save", model)
    assert done.returncode == 0, done.stderr
    whole = run("predict", model, files[0].parent, "--id", "count")
    assert whole.stdout.count("\n") == 241
    assert run("predict", model, *files, "--id", "count").stdout == whole.stdout
    written = run("predict", model, *files, "--stream", "--out", tmp_path / "out")
    assert written.returncode == 0, written.stderr
    assert len(pd.read_parquet(tmp_path / "out")) == 240
    message = one_sentence(run("predict", model, *files, "-o", files[1]))
    assert "--out would overwrite the data" in message
    told = json.loads(run("describe", *files, "--json").stdout)
    assert told["n_rows"] == 240


@pytest.mark.parametrize("command", ["compare", "describe", "predict"])
@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["none.parquet"], "There is no file 'none.parquet'"),
        (["diabetes"], "'diabetes' is a data set that comes with scikit-learn"),
        (["{folder}/*.csv"], "No file matches the pattern"),
        (["{folder}"], "is named twice"),
        (["{text}"], "The files are of several formats (3 parquet, 1 csv)"),
    ],
)
def test_a_name_that_is_no_other_file(
    command, more, words, files, houses, tmp_path, run, one_sentence
):
    more = [each.format(folder=files[0].parent, text=houses) for each in more]
    model = ()
    if command == "predict":
        model = (tmp_path / "m.skops",)
        bottega.compare(str(files[0]), "y", methods=["baseline"], outer=2, test_size=0.0).save(
            model[0]
        )
    target = ("--target", "y") if command == "compare" else ()
    assert words in one_sentence(run(command, *model, *files, *more, *target))


@pytest.mark.slow
@pytest.mark.parametrize("stream", [(), ("--stream", "--sample", "200")], ids=["whole", "stream"])
def test_several_files_are_compared_on_a_cluster(stream, files, tmp_path, run, run_process):
    """As typed: a shell turns the pattern into names, and workers do the work."""
    distributed = pytest.importorskip("distributed")
    model = tmp_path / "m.skops"
    call = ("compare", *files, "--target", "y", *SMALL, *stream, "--json", "--again")
    here = errors_of(json.loads(run(*call).stdout))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        done = run_process(*call, "--on", cluster.scheduler_address, "--save", model)
        finished = {
            key
            for key, _, state, *_ in cluster.scheduler.transition_log
            if state == "memory" and str(key).startswith("bottega-")
        }
        left = [key for key in cluster.scheduler.tasks if str(key).startswith("bottega-")]
    assert done.returncode == 0, done.stderr
    assert len(finished) >= 4  # two folds of two methods
    assert left == []
    told = json.loads(done.stdout)
    assert told["n_rows"] == 240
    there = errors_of(told)
    for method in ("ridge", "tree"):
        assert there[method] == pytest.approx(here[method], rel=1e-9)
    assert bottega.load(model).target == "y"
