"""The command as a process or in this one, and tables to give it."""

import contextlib
import io
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from bottega.cli.app import app

COMMAND = [sys.executable, "-m", "bottega"]


@pytest.fixture(scope="session")
def run_process():
    """Run the command as a process of its own."""

    def launch(*arguments, timeout=280, **environment):
        return subprocess.run(
            [*COMMAND, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **environment},
            check=False,
        )

    return launch


@pytest.fixture(scope="session")
def run():
    """Run the command in this process, without the seconds that imports cost."""

    def launch(*arguments):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                app(list(map(str, arguments)))
                code = 0
            except SystemExit as stop:
                code = stop.code or 0
        return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=errors.getvalue())

    return launch


@pytest.fixture(scope="session")
def one_sentence():
    """The contract of a bad input: exit code 2, one line, no traceback, nothing on stdout."""

    def check(done):
        assert done.returncode == 2, done.stderr
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        assert len(lines) == 1, done.stderr
        assert lines[0].startswith("error: ")
        return lines[0]

    return check


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
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
