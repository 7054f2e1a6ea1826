"""How text files are written is found once per state of a file, from as few texts as tell it."""

import os
from random import Random

import pytest

from bottega.data import read
from bottega.data.read import text
from bottega.data.read.text import File


@pytest.fixture
def opened(monkeypatch):
    """Return a list that every reading of first lines is added to."""
    found, values = [], text._values
    monkeypatch.setattr(text, "_values", lambda *args: found.append(args) or values(*args))
    return found


def test_the_first_lines_are_read_once(tmp_path, opened):
    path = tmp_path / "a.csv"
    path.write_text("x;y\n1,5;2\n2,5;3\n")
    assert read(path).frame["x"].tolist() == [1.5, 2.5]
    assert len(opened) == 2  # for dates and for numbers
    assert read(path).frame["x"].tolist() == [1.5, 2.5]
    assert len(opened) == 2


@pytest.mark.parametrize("how", ["in place", "as another file", "time set back"])
def test_a_file_that_was_written_again_is_read_again(tmp_path, how):
    path = tmp_path / "a.csv"
    path.write_text("x;y\n1,5;2026-01-31\n2,5;2026-01-31\n")
    assert read(path).frame["x"].tolist() == [1.5, 2.5]
    state = os.stat(path)
    new = tmp_path / "new" if how == "as another file" else path
    new.write_text("x;y\n1.5;31/01/2026\n2.5;31/01/2026\n")  # of the same size
    new.replace(path)
    if how != "in place":
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert os.stat(path).st_size == state.st_size
    table = read(path)
    assert table.frame["x"].tolist() == [1.5, 2.5]
    assert text.date_habits(File(str(path), "a"), "csv").unclear == {"y"}
    assert text.number_habits(File(str(path), "a"), "csv").sign == "."


def test_the_same_relative_path_elsewhere_is_another_file(tmp_path, monkeypatch):
    for name, sign in (("here", ","), ("there", ".")):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "a.csv"
        path.write_text(f"x;y\n1{sign}5;2\n")
        os.utime(path, ns=(0, 0))
        monkeypatch.chdir(path.parent)
        assert text.number_habits(File("a.csv", "a.csv"), "csv").sign == sign


@pytest.mark.parametrize("seed", range(20))
def test_one_decimal_comma_tells_as_much_as_its_column(tmp_path, monkeypatch, seed):
    """Columns of all sorts, with the whole column and with the text that stands for it."""
    random = Random(seed)

    def value(shape):
        written = "".join(random.choice("0123456789") if s == "d" else s for s in shape)
        return random.choice(("", "", "-", "+")) + written

    shapes = ["d,d", "d,dd", "d,ddd", "dd,ddd", "0,ddd", "dddd,ddd", "d", "ddd", "d.d", "d.ddd"]
    shapes += ["d.ddd,d", "d,ddd,ddd", "d,ddd.d", "€d,d", "d,d%", "d" * 400, "d,", ",d", "word"]
    shapes += ["d,de-dd", "d,ddde-dd", "de-dd", "d,ddde1"]
    chosen = [random.sample(shapes, random.choice((1, 1, 2, 3))) for _ in range(40)]
    lines = [";".join(f"c{j}" for j in range(40))]
    lines += [";".join(value(random.choice(each)) for each in chosen) for _ in range(8)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    find = text.number_habits.__wrapped__  # which keeps nothing
    found = find(File(str(path), "a"), "csv")
    monkeypatch.setattr(text, "_telling", lambda texts: texts)
    assert find(File(str(path), "a"), "csv") == found
    assert found.commas
