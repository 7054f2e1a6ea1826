"""A comparison of a source: rows drawn from it, compared as a table, and others to learn from."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega import scale
from bottega.core.errors import DataWarning, InputError
from bottega.data import read
from bottega.linear import LeastSquares
from bottega.workbench import memory
from bottega.workbench.drawn import DrawnTable, draw_table
from bottega.workbench.streamed import StreamedProcedure, StreamedRows

METHODS = ["least_squares", "ridge", "least_angle"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(900, 2))
    found = pd.DataFrame(
        {
            "a": x[:, 0],
            "b": x[:, 1],
            "colour": rng.choice(["red", "blue"], 900),
            "block": np.arange(900) // 9,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(900) // 2, unit="D"),
            "y": 3 * x[:, 0] + np.sin(3 * x[:, 1]) + 0.3 * rng.normal(size=900),
            "label": np.where(x[:, 0] + 0.5 * rng.normal(size=900) > 0, "up", "down"),
        }
    )
    found.loc[::17, "b"] = np.nan
    return found


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    frame[["a", "b", "colour", "y"]].to_parquet(path)
    return path


@pytest.fixture(scope="module")
def compared(file):
    source = scale.source(file, target="y", rows=100)
    return bottega.compare(source, methods=METHODS, outer=3, sample=300, random_state=0)


def test_rows_in_a_file_and_in_memory_give_one_leaderboard(file):
    options = {"methods": METHODS, "outer": 3, "stack": False}
    inside = bottega.compare(read(file, target="y"), **options).leaderboard
    outside = bottega.compare(scale.source(file, target="y", rows=100), **options).leaderboard
    timed = ["seconds"]
    pd.testing.assert_frame_equal(outside.drop(columns=timed), inside.drop(columns=timed))


def test_methods_that_fit_chunks_learn_from_all_rows_but_those_held_out(frame, compared):
    table = compared.table
    assert isinstance(table, DrawnTable)
    assert (table.n_rows, table.n_stored, compared.n_rows) == (300, 900, 900)
    board = compared.leaderboard.set_index("method")
    # A quarter of the 300 drawn rows is locked; 600 were not drawn.
    assert board["learned_from"].to_dict() == {
        "least_squares": 825, "ridge": 825, "least_angle": 225, "baseline": 225, "stacking": 825,
    }  # fmt: skip
    # Fold by fold, from the rows as they are: all but the held-out and the locked ones.
    train = compared.train.row_numbers - 1
    locked = np.setdiff1d(table.row_numbers - 1, train)
    losses = np.full(len(train), np.nan)
    first = compared.fold_models.of("least_squares", compared.results["least_squares"])[0][1]
    for k, (_, test) in enumerate(compared.fold_models.folds):
        kept = np.setdiff1d(np.arange(900), [*locked, *train[test]])
        seen = np.setdiff1d(train, train[test])
        middle = frame["b"].to_numpy()[seen]
        middle = np.median(middle[~np.isnan(middle)])  # of the drawn rows of the part
        inputs = np.column_stack(
            [
                frame["a"],
                frame["b"].fillna(middle),
                frame["b"].isna(),
                frame["colour"] == "blue",
            ]
        ).astype(float)
        y = frame["y"].to_numpy()
        model = LeastSquares().fit(inputs[kept], y[kept])
        losses[test] = (y[train[test]] - model.predict(inputs[train[test]])) ** 2
        if k == 0:
            np.testing.assert_allclose(
                first.predict(frame.iloc[train[test]]), model.predict(inputs[train[test]])
            )
    assert board.loc["least_squares", "error"] == pytest.approx(losses.mean(), rel=1e-9)


def test_certificate_report_model_file_and_words_are_those_of_a_table(compared, frame, tmp_path):
    found = compared.certify(ledger=False)
    assert found.n == 75
    loaded = bottega.load(compared.save(tmp_path / "m.skops"))
    np.testing.assert_allclose(loaded.predict(frame), compared.predict(frame))
    page = compared.report(tmp_path / "r.html").read_text()
    for text in ("Learned from", "Rows in memory", "825", "300 were drawn at random"):
        assert text in page, text
    assert "on 225 rows of 900" in str(compared)
    assert "learned from" in str(compared)
    told = compared.to_dict()
    assert told["n_rows"] == 900
    assert any("were drawn at random" in each for each in told["findings"])
    # The stored numbers of rows are those of the source.
    rows = compared.train.row_numbers
    np.testing.assert_array_equal(compared.y_train, frame["y"].to_numpy()[rows - 1])


def test_classes_keep_their_shares(frame):
    rare = frame.drop(columns="y").assign(label=np.where(np.arange(900) < 30, "rare", "usual"))
    source = scale.source(rare.sample(frac=1, random_state=1), target="label", rows=70)
    drawn = [np.sum(draw_table(source, 200, seed=seed).y == "rare") for seed in range(12)]
    assert set(drawn) == {6, 7}  # 6.67 of its 30, rounded up or down by chance
    lost = rare.assign(label=np.where(np.arange(900) < 3, "rarest", rare["label"]))
    lacking = scale.source(lost, target="label")
    message = "Class 'rarest' of 'label' (3 rows): no row was drawn."
    absent = []
    for seed in range(12):
        table = draw_table(lacking, 100, seed=seed)
        absent.append("rarest" not in table.y)
        assert any(each.message.startswith(message) for each in table.warnings) == absent[-1]
        assert table.others.count == 900 - 100 - 3 * absent[-1]
    assert 4 <= sum(absent) < 12  # two draws in three are to lack it
    told = [each.message for each in draw_table(source, 30).warnings]
    assert any("has one drawn row (sample= draws more)" in each for each in told)
    assert any("has only 1 of 30 drawn rows" in each for each in told)
    two = frame[["a", "b"]].assign(y=(frame["label"] == "up").astype(int))
    drawn = draw_table(scale.source(two, target="y", rows=100), 300)
    assert drawn.task == read(two, target="y").task == "classification"
    assert np.mean(drawn.y) == pytest.approx(two["y"].mean(), abs=0.005)


def test_a_path_of_many_passes_is_walked_by_the_rows_in_memory(frame):
    source = scale.source(frame[["a", "label"]], target="label", rows=900)
    methods = ["linear_discriminant", "logistic_regression"]
    found = bottega.compare(
        source, methods=methods, outer=2, sample=100, class_weight="balanced", measure="f1"
    )
    assert not [reason for reason in found.skipped.values() if "failed" in reason]
    logistic = found.results["logistic_regression"]
    assert logistic.learned_from == 875
    assert logistic.setting["alpha"] in logistic.path.values


@pytest.mark.parametrize("role", ["groups", "time"])
def test_rows_that_depend_on_those_held_out_are_not_learnt_from(frame, role, monkeypatch):
    column = {"groups": "block", "time": "day"}[role]
    seen = []
    model = StreamedProcedure._fitted

    def watched(self, rows, part, X, given):
        chunks = [np.concatenate([np.atleast_1d(chunk[1]) for chunk in rows])]
        seen.append((part, chunks[0]))
        return model(self, rows, part, X, given)

    monkeypatch.setattr(StreamedProcedure, "_fitted", watched)
    source = scale.source(frame.drop(columns="label"), target="y", rows=100)
    methods = ["least_squares", "ridge"]
    found = bottega.compare(
        source, methods=methods, outer=3, sample=150, stack=False, **{role: column}
    )
    place = dict(zip(frame["y"], range(900), strict=True))  # the responses are all different
    train, folds = found.train.row_numbers - 1, 0
    for part, y in seen:
        rows = np.array([place[value] for value in y])
        assert len(rows) > len(part.train)  # more than those in memory
        held = train[np.concatenate(part.tests)] if part.tests else np.array([], dtype=int)
        locked = np.setdiff1d(found.table.row_numbers - 1, train)
        kept, barred = (frame[column].to_numpy()[each] for each in (rows, [*held, *locked]))
        if role == "groups":
            assert not set(kept) & set(barred)
        else:
            assert kept.max() < barred.min()
        folds += 1
        if not part.tests:
            final = len(rows)
    assert folds == 4
    board = found.leaderboard.set_index("method")
    assert board.loc["least_squares", "learned_from"] == final < 900 - len(locked)
    assert board.loc["ridge", "learned_from"] == found.n_train  # its knob needs folds of its own
    (note,) = found.notes
    how = {"groups": "keep groups together", "time": "in the order of time"}[role]
    assert note.startswith("Ridge regression learned from the drawn rows alone: ")
    assert how in note


@pytest.mark.parametrize("role", ["groups", "time"])
def test_rows_that_other_processes_read_are_counted(frame, role, monkeypatch):
    column = {"groups": "block", "time": "day"}[role]
    source = scale.source(frame.drop(columns="label"), target="y", rows=100)
    options = {"methods": ["least_squares"], "outer": 2, "sample": 150, "stack": False}
    here = bottega.compare(source, **options, **{role: column}).leaderboard
    passes = StreamedRows.__iter__

    def elsewhere(self):
        yield from passes(self)
        self._n_rows = None  # as of rows that were sent

    monkeypatch.setattr(StreamedRows, "__iter__", elsewhere)
    there = bottega.compare(source, **options, **{role: column}).leaderboard
    assert there["learned_from"].tolist() == here["learned_from"].tolist()


def test_a_method_that_was_stopped_is_said_to_learn_from_what_others_have_read(frame, monkeypatch):
    model = StreamedProcedure._fitted

    def stopped(self, rows, part, X, given):
        if not part.tests and not isinstance(self.estimator, LeastSquares):
            raise KeyboardInterrupt
        return model(self, rows, part, X, given)

    monkeypatch.setattr(StreamedProcedure, "_fitted", stopped)
    source = scale.source(frame.drop(columns="label"), target="y", rows=900)
    options = {"methods": ["least_squares", "tree"], "outer": 2, "sample": 150, "stack": False}
    found = bottega.compare(source, groups="block", n_jobs=1, **options)
    assert found.results["tree"].partial
    seen = found.leaderboard.set_index("method")["learned_from"]
    assert seen["tree"] == seen["least_squares"] < 900 - (150 - found.n_train)


def test_methods_that_learn_from_the_drawn_rows_alone_share_a_note(frame):
    source = scale.source(frame.drop(columns="label"), target="y", rows=900)
    options = {"methods": METHODS, "outer": 2, "sample": 150, "stack": False}
    found = bottega.compare(source, groups="block", **options)
    notes = [each for each in found.notes if "drawn rows alone" in each]
    assert len(notes) == 1
    assert "Ridge regression" in notes[0]
    assert "Least squares" not in notes[0]  # has nothing to choose
    assert not [each for each in bottega.compare(source, **options).notes if "drawn" in each]


def test_how_a_column_is_read_is_told_once_by_all_rows():
    rng = np.random.default_rng(0)
    keys = np.arange(2400)
    keys[2390:] = keys[:10]  # no key of all rows, nor a category that can be used
    rows = pd.DataFrame(
        {
            "x": rng.normal(size=2400),
            "id": [f"C{key:05d}" for key in keys],
            "word": rng.choice(["a", "b"], 2400),
            "code": [f"k{key % 1300}" for key in range(2400)],
            "y": rng.normal(size=2400),
        }
    )
    with pytest.warns(DataWarning, match="levels"):
        source = scale.source(rows, target="y")
    table = draw_table(source, 100, seed=3)
    alone = {each.column: each.code for each in read(table.frame, target="y").warnings}
    assert alone["id"] == "id"  # a key, as far as these rows tell
    assert alone.get("code") != "levels"
    of_all = {each.column: each.message for each in source.warnings}
    for column in ("id", "code"):
        assert [e.message for e in table.warnings if e.column == column] == [of_all[column]]
    assert table.features == ("x", "word")


def test_levels_of_one_drawn_row_are_said_to_be_of_the_drawn_rows():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(size=900), "y": rng.normal(size=900)})
    rows["city"] = [f"c{k % 90}" for k in range(900)]
    told = draw_table(scale.source(rows, target="y"), 150).warnings
    (single,) = [each.message for each in told if each.code == "rare_levels"]
    assert single.startswith("Levels seen in one drawn row only, in 'city' (")
    whole = read(rows.assign(city=[*rows["city"][1:], "once"]), target="y")
    (single,) = [each.message for each in whole.warnings if each.code == "rare_levels"]
    assert single.startswith("Levels seen in one row only, in 'city' (1 of 91)")


def test_weights_and_missing_responses(frame):
    rows = frame[["a", "b", "y"]].assign(w=np.where(np.arange(900) % 3, 1.0, 0.0))
    rows.loc[5:40, "y"] = np.nan
    source = scale.source(rows, target="y", weight="w", rows=100)
    table = draw_table(source, 300)
    assert table.n_stored == 864
    assert "36 of 900 rows have no value of 'y'" in str(table.warnings[1])
    np.testing.assert_array_equal(table.y, rows["y"].to_numpy()[table.row_numbers - 1])
    found = bottega.compare(table, methods=["least_squares"], outer=2, test_size=0)
    model = found.results["least_squares"].model
    middle = rows["b"].to_numpy()[table.row_numbers - 1]
    middle = np.median(middle[~np.isnan(middle)])
    inputs = np.column_stack([rows["a"], rows["b"].fillna(middle), rows["b"].isna()]).astype(float)
    kept = rows["y"].notna().to_numpy()
    expected = LeastSquares().fit(inputs[kept], rows["y"][kept], sample_weight=rows["w"][kept])
    np.testing.assert_allclose(model.predict(rows), expected.predict(inputs))


def test_interruption_and_resume(file, tmp_path, monkeypatch):
    source = scale.source(file, target="y", rows=100)
    options = {"methods": METHODS, "outer": 3, "sample": 300, "stack": False}
    kept = tmp_path / "kept.npz"
    whole = bottega.compare(source, **options, resume=kept)
    model = StreamedProcedure._fitted

    def stopped(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(StreamedProcedure, "_fitted", stopped)
    cut = bottega.compare(source, **options)
    assert cut.interrupted
    monkeypatch.setattr(StreamedProcedure, "_fitted", model)
    again = bottega.compare(source, **options, resume=kept)
    assert again.leaderboard["error"].tolist() == whole.leaderboard["error"].tolist()
    table = draw_table(source, 300)
    table.others = replace(table.others, count=601)  # another row was added to the file
    with pytest.raises(InputError, match="differs in others"):
        bottega.compare(table, **options, resume=kept)


def test_a_file_that_changes_after_the_draw_is_not_learnt_from(frame, tmp_path):
    """The numbers of the rows that were drawn would be those of others."""
    file = tmp_path / "rows.parquet"
    frame[["a", "b", "y"]].to_parquet(file)
    table = draw_table(scale.source(file, target="y", rows=100), 300)
    frame[["a", "b", "y"]][1:].to_parquet(file)
    found = bottega.compare(table, methods=["least_squares"], outer=2, stack=False)
    assert "has another size" in found.skipped["least_squares"]


def test_without_the_time_to_read_the_others_methods_learn_from_rows_in_memory():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(3000, 3)), columns=["a", "b", "y"])
    table = draw_table(scale.source(rows, target="y"), 2400)
    options = {"methods": ["ridge"], "outer": 3, "stack": False, "budget": "1h"}
    assert bottega.compare(table, **options).leaderboard["learned_from"].max() == 2400
    table.others = replace(table.others, seconds=1e6)  # of a pass
    found = bottega.compare(table, **options)
    assert "learned_from" not in found.leaderboard
    assert "Ridge regression learned from 1,200 of the 1,800 rows of a fold: all" in found.cut[0]


def test_files_larger_than_memory_are_taken_as_a_source(file, monkeypatch):
    assert not memory.is_larger_than_memory(file)
    assert not memory.is_larger_than_memory("iris")
    monkeypatch.setattr(memory, "memory_of_process", lambda: 1000)
    assert memory.is_larger_than_memory(file)
    found = bottega.compare(file, "y", methods=["least_squares"], outer=2, sample=200)
    assert found.n_rows == 900
    assert found.table.n_rows == 200
    with pytest.raises(InputError, match="name the column to predict"):
        bottega.compare(file)


def test_bad_calls(frame):
    rows = frame[["a", "b", "y"]]
    source = scale.source(rows, target="y")
    with pytest.raises(InputError, match="no method 'ridg' for regression"):
        bottega.compare(source, methods=["ridg"])
    with pytest.raises(InputError, match="named columns and a target"):
        bottega.compare(scale.source(np.ones((3, 1)), np.ones(3)))
    with pytest.raises(InputError, match="is 'y', not 'a'"):
        bottega.compare(source, "a")
    with pytest.raises(InputError, match="sample=0"):
        bottega.compare(source, sample=0)
    with pytest.raises(InputError, match="groups of a source is the name of a column"):
        bottega.compare(source, groups=np.arange(900))
    with pytest.raises(InputError, match="one value only"):
        bottega.compare(scale.source(rows.assign(y=1.0), target="y"))
    with pytest.raises(InputError, match="regression needs numbers"):
        bottega.compare(scale.source(frame, target="label"), task="regression")
    with pytest.raises(InputError, match="drawn for one target"):
        bottega.compare(draw_table(source, 100), "a")
    with pytest.raises(InputError, match="too few for 5 folds"):
        bottega.compare(source, sample=5)
