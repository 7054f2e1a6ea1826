"""Kernels with bounds checks on: hostile data, and no index outside an array.

Without the checks a wrong index reads what is beside an array: rubbish, or a crash. All methods are
run by `hostile.py` in a process of its own, for which all kernels are compiled anew (they are kept
for the next time).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bottega.registry import estimators, public_name

# A network of probabilities has no kernel, and cannot be made without its nodes.
TOPICS = sorted({public_name(each).split(".")[1] for each in estimators()} - {"probability"})


@pytest.fixture(scope="module")
def found():
    """Return all problems by topic; they are looked for in one process with bounds checks on.

    Machine code is not made faster there: that takes longer than it saves.
    """
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("hostile.py")), *TOPICS],
        check=False,
        env=os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0"},
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    by_topic = {topic: [] for topic in TOPICS}
    for name, case, problem in json.loads(done.stdout):
        by_topic[name.partition(".")[0]].append((name, case, problem))
    return by_topic


def in_lines(problems):
    return "\n".join(" | ".join(each) for each in problems)


@pytest.mark.slow
def test_checks_are_on(tmp_path):
    """A kernel that reads beside its array is caught: else the tests below say nothing."""
    kernels = tmp_path / "_kernels"
    kernels.mkdir()
    (kernels / "wrong.py").write_text(
        "from bottega._jit import kernel\n\n@kernel\ndef read(x, i):\n    return x[i]\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import numpy as np; from _kernels.wrong import read; read(np.ones(3), 3)",
        ],
        check=False,
        env=os.environ | {"NUMBA_BOUNDSCHECK": "1", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert "IndexError" in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(1600)
@pytest.mark.parametrize("topic", TOPICS)
def test_no_method_leaves_its_arrays(found, topic):
    assert not found[topic], in_lines(found[topic])
