"""What cannot work is refused at once, in one sentence that says what to do."""

import pytest

BAD_FILES = {
    "empty": (b"", "empty"),
    "header only": (b"a,b,y\n", "no rows"),
    "one value": (b"a,y\n" + b"".join(b"%d.5,1\n" % i for i in range(30)), "one value"),
    "infinite": (
        b"a,y\n" + b"".join(b"%d.5,%d.5\n" % (i, i) for i in range(30)) + b"inf,2\n",
        "inf",
    ),
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
    launch = run_process if name == "infinite" else run
    message = one_sentence(launch("compare", path, "--target", "y", "--out", report))
    assert words in message
    assert [entry.name for entry in tmp_path.iterdir()] == ["data.csv"]


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
        (["--outer", "1"], "outer=1"),
        (["--outer", "75"], "fold"),
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
