"""The disk cache of kernels: what is compiled again, what is loaded, and what happens without it.

Every case runs in processes of its own on a package of two kernel modules, as a user's kernels do.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bottega import _jit

pytestmark = pytest.mark.slow  # every case compiles in processes of its own

SOURCES = str(Path(_jit.__file__).parents[2])
HELPERS = """
from bottega._jit import kernel
from toy._kernels.constants import FACTOR

@kernel
def scaled(x):
    return {factor} * FACTOR * x
"""
CALLERS = """
from bottega._jit import kernel
from {helpers} import (
    scaled,
)

@kernel
def total(values):
    result = 0.0
    for value in values:
        result += scaled(value)
    return result
"""
OTHERS = """
from bottega._jit import kernel

@kernel
def doubled(x):
    return 2.0 * x
"""
SHOW = """
import sys, time
import numpy as np
from toy._kernels import callers, others

def loads(kernel):
    return sum(kernel.stats.cache_hits.values())

answer = callers.total(np.array([1.0, 2.0]))
others.doubled(1.0)
print(answer, loads(callers.total), loads(others.doubled))
"""


@pytest.fixture
def toy(tmp_path):
    """A package with kernels in three files and a constant in a fourth."""
    folder = tmp_path / "toy" / "_kernels"
    folder.mkdir(parents=True)
    (tmp_path / "toy" / "__init__.py").touch()
    (folder / "__init__.py").touch()
    (folder / "constants.py").write_text("FACTOR = 1.0\n")
    (folder / "helpers.py").write_text(HELPERS.format(factor=3.0))
    (folder / "callers.py").write_text(CALLERS.format(helpers="toy._kernels.helpers"))
    (folder / "others.py").write_text(OTHERS)
    return folder


def start(toy, script=SHOW, **environment):
    variables = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(toy.parent.parent), SOURCES]),
        "NUMBA_CACHE_DIR": str(toy.parent.parent / "cache"),
        # Bytecode knows its source by size and whole seconds: "3.0" and "7.0" would be the same.
        "PYTHONDONTWRITEBYTECODE": "1",
        **environment,
    }
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    return [float(word) for word in stdout.split()]


def run(toy, script=SHOW, **environment):
    return finish(start(toy, script, **environment))


def test_a_changed_helper_recompiles_its_callers_and_nothing_else(toy):
    assert run(toy) == [9.0, 0, 0]
    assert run(toy) == [9.0, 1, 1]
    (toy / "helpers.py").write_text(HELPERS.format(factor=5.0))
    assert run(toy) == [15.0, 0, 1]
    assert run(toy) == [15.0, 1, 1]
    # As does a constant two files away.
    (toy / "constants.py").write_text("FACTOR = 2.0\n")
    assert run(toy) == [30.0, 0, 1]


def test_returning_to_earlier_sources_loads_their_machine_code(toy):
    run(toy)
    (toy / "helpers.py").write_text(HELPERS.format(factor=5.0))
    run(toy)
    (toy / "helpers.py").write_text(HELPERS.format(factor=3.0))
    assert run(toy) == [9.0, 1, 1]


@pytest.mark.parametrize("helpers", [".helpers", "toy._kernels.helpers"])
def test_relative_and_absolute_imports_are_followed(toy, helpers):
    (toy / "callers.py").write_text(CALLERS.format(helpers=helpers))
    assert run(toy)[0] == 9.0
    (toy / "helpers.py").write_text(HELPERS.format(factor=5.0))
    assert run(toy)[0] == 15.0


def test_a_module_imported_by_name_is_followed(toy):
    text = CALLERS.replace(
        "from {helpers} import (\n    scaled,\n)", "from toy._kernels import helpers"
    )
    (toy / "callers.py").write_text(
        '"""Sums.\n\nclass helpers\n"""\n' + text.replace("scaled(", "helpers.scaled(")
    )
    assert run(toy)[0] == 9.0
    (toy / "helpers.py").write_text(HELPERS.format(factor=5.0))
    assert run(toy)[0] == 15.0


def test_sources_changed_after_the_import_do_not_spoil_the_cache(toy):
    # The process compiles the helper that it imported, after the file has changed.
    change = "import pathlib, toy._kernels.callers as c\n"
    change += "file = pathlib.Path(c.__file__).with_name('helpers.py')\n"
    change += "file.write_text(file.read_text().replace('3.0', '7.0'))\n"
    assert run(toy, change + SHOW)[0] == 9.0
    assert run(toy)[0] == 21.0


def test_bounds_checks_are_not_loaded_from_a_cache_without_them(toy):
    run(toy)
    assert run(toy, NUMBA_BOUNDSCHECK="1") == [9.0, 0, 0]


def test_kernels_work_where_nothing_can_be_written(toy, tmp_path):
    (tmp_path / "file").touch()
    for _ in range(2):
        assert run(toy, NUMBA_CACHE_DIR=str(tmp_path / "file" / "cache")) == [9.0, 0, 0]


def test_a_damaged_file_is_compiled_again(toy, tmp_path):
    run(toy)
    for file in (tmp_path / "cache").rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:100])
    assert run(toy) == [9.0, 0, 0]
    assert run(toy) == [9.0, 1, 1]


def test_two_processes_at_once_leave_a_whole_cache(toy):
    # Each compiles the caller for another type; numba's own index would lose one or mix them up.
    other = SHOW.replace("np.array([1.0, 2.0])", "np.array([1.0, 2.0], dtype=np.float32)")
    scripts = [SHOW, other, SHOW, other]
    for process in [start(toy, script) for script in scripts]:
        assert finish(process)[0] == 9.0
    assert run(toy) == [9.0, 1, 1]
    assert run(toy, other) == [9.0, 1, 1]


def test_the_cache_is_in_the_users_folder(toy, tmp_path):
    home = tmp_path / "user"
    script = SHOW + "\nprint(callers.total.stats.cache_path, file=sys.stderr)"
    where = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": str(home), "LOCALAPPDATA": str(home)}
    process = start(toy, script, **where)
    path = process.communicate(timeout=120)[1].strip()
    assert Path(path).parent == home / "bottega" / "kernels"
    assert Path(path).name.startswith("toy._kernels.callers-")
    assert any(Path(path).iterdir())


def test_folders_of_superseded_sources_are_removed_when_long_unused(toy, tmp_path):
    run(toy)
    (old,) = (tmp_path / "cache").glob("toy._kernels.callers-*")
    (toy / "helpers.py").write_text(HELPERS.format(factor=5.0))
    run(toy)
    assert old.exists()
    os.utime(old, (0, 0))
    (toy / "helpers.py").write_text(HELPERS.format(factor=6.0))
    run(toy)
    assert not old.exists()


def test_without_the_private_classes_numba_caches_by_itself(toy, tmp_path):
    script = "from bottega._jit import cache\ncache.KernelFiles = None\n" + SHOW
    assert run(toy, script) == [9.0, 0, 0]
    assert run(toy, script) == [9.0, 1, 1]
    assert any((tmp_path / "cache").rglob("*.nbi"))


def test_kernels_are_plain_functions_where_numba_is_switched_off(toy):
    script = SHOW.replace("loads(callers.total)", "0").replace("loads(others.doubled)", "0")
    assert run(toy, script, NUMBA_DISABLE_JIT="1") == [9.0, 0, 0]


def test_a_kernel_made_in_a_function_keeps_the_values_around_it(toy):
    (toy / "callers.py").write_text(
        "from bottega._jit import kernel\n"
        "def adding(amount):\n"
        "    @kernel\n"
        "    def add(x):\n"
        "        return x + amount\n"
        "    return add\n"
    )
    script = "from toy._kernels.callers import adding\nprint(adding(1.0)(2.0), adding(3.0)(2.0))"
    for _ in range(2):
        assert run(toy, script) == [3.0, 5.0]


PLAIN = "from bottega._jit import parts\nparts.AVAILABLE = False\n"
COUNTS = "\nfrom toy._kernels.helpers import scaled\nprint(len(scaled.signatures))"


def test_a_helper_is_compiled_once_for_all_constants():
    @_jit.kernel
    def power(x, times):
        result = 1.0
        for _ in range(times):
            result *= x
        return result

    @_jit.kernel
    def polynomial(x):
        return power(x, 0) + power(x, 1) + power(x, 2)

    np.testing.assert_allclose(polynomial(2.0), 7.0)
    assert len(power.part.signatures) == 1
    assert not power.signatures  # it has no machine code of its own
    np.testing.assert_allclose(power(2.0, 3), 8.0)
    assert len(power.signatures) == 1


def test_a_helper_is_only_linked_with_versions_of_numba_that_were_tested(toy):
    assert run(toy, SHOW + COUNTS) == [9.0, 0, 0, 0]
    (toy / "helpers.py").write_text(HELPERS.format(factor=5.0))
    assert run(toy, PLAIN + SHOW + COUNTS) == [15.0, 0, 1, 1]
    assert run(toy, PLAIN + SHOW) == [15.0, 1, 1]


NEIGHBOURS = """
from bottega._jit import kernel, neighbours_kernel

@kernel
def added(places, values, totals):
    for i in range(len(places)):
        at = 2 * places[i]
        v1, v2 = values[2 * i], values[2 * i + 1]
        t1, t2 = totals[at], totals[at + 1]
        totals[at] = t1 + v1
        totals[at + 1] = t2 + v2

@kernel
def one_by_one(places, values, totals):
    added(places, values, totals)

@neighbours_kernel
def together(places, values, totals):
    added(places, values, totals)
"""
USE_NEIGHBOURS = """
import numpy as np
from numba import config
from toy._kernels.neighbours import one_by_one, together

rng = np.random.default_rng(0)
places, values = rng.integers(0, 5, 100).astype(np.uint64), rng.random(200)
totals = np.zeros((2, 10))
for kernel, found in zip((one_by_one, together), totals):
    kernel(places, values, found)
    (code,) = kernel.inspect_llvm().values()
    print(int("x double>" in code))
print(int(np.array_equal(*totals)), config.SLP_VECTORIZE)
"""


def test_neighbours_are_added_together_in_the_kernels_that_want_it(toy):
    (toy / "neighbours.py").write_text(NEIGHBOURS)
    assert run(toy, USE_NEIGHBOURS) == [0, 1, 1, 0]
    # The setting of the process is as it was, and other versions of numba do without.
    assert run(toy, PLAIN + USE_NEIGHBOURS, NUMBA_CACHE_DIR=str(toy)) == [0, 0, 1, 0]


ERRORS = """
import numpy as np
from bottega._jit import kernel
from numba import njit

@kernel
def checked(x, limit):
    if x > limit:
        raise ValueError("too large", x)
    return np.sqrt(x)

@kernel
def first(x):
    return checked(x, 1.0)

@kernel
def second(values):
    return np.sort(values)[0] + checked(values[1], 2.0)

@njit
def of_a_user(x):
    return checked(x, 3.0)

def message(function, *arguments):
    try:
        return function(*arguments)
    except ValueError as error:
        return error.args[1]

print(message(first, 1.0), message(first, 4.0), message(second, np.array([3.0, 1.0])))
print(message(second, np.array([3.0, 5.0])), message(of_a_user, 4.0), message(of_a_user, 1.0))
print(message(checked, 6.0, 1.0))
"""


def test_errors_of_helpers_reach_python_from_every_caller(toy):
    (toy / "errors.py").write_text(ERRORS)
    script = "import toy._kernels.errors"
    for start_of_script in ("", "", PLAIN):  # compiled, loaded, compiled in numba's way
        assert run(toy, start_of_script + script) == [1.0, 4.0, 2.0, 5.0, 4.0, 1.0, 6.0]


def test_the_cache_may_be_removed_while_a_process_runs(toy, tmp_path):
    remove = "\nimport shutil, os\nshutil.rmtree(os.environ['NUMBA_CACHE_DIR'])\n"
    again = "print(callers.total(np.array([1.0, 2.0], dtype=np.float32)))"
    assert run(toy, SHOW + remove + again) == [9.0, 0, 0, 9.0]
    assert any((tmp_path / "cache").rglob("*.nbc"))


BESIDE = """
import time
from bottega._jit import beside, workers
from bottega.core import progress
from bottega.core.parallel import available_cores, run_tasks
from toy._kernels import callers, others
import numpy as np

workers.available_cores = lambda: 2
heard = []
tasks = [
    (0, lambda: callers.total(np.array([1.0, 2.0]))),
    (1, lambda: others.doubled(1.0)),
    (2, lambda: callers.total(np.array([1.0, 2.0]))),
]
with progress.listen(heard.append), progress.Stopwatch() as watch:
    start = time.perf_counter()
    with beside():
        answers = run_tasks(tasks, n_jobs=3)[0]
    seconds = time.perf_counter() - start
prepared = {event.message for event in heard if event.stage == progress.PREPARING}
assert len(prepared) == KERNELS, prepared
assert watch.seconds < seconds / SLOWER
loads = [sum(each.stats.cache_hits.values()) for each in (callers.total, others.doubled)]
print(*answers.values(), *loads)
"""


def beside_script(kernels, slower):
    return BESIDE.replace("KERNELS", str(kernels)).replace("SLOWER", str(slower))


def test_kernels_are_compiled_by_other_processes(toy, tmp_path):
    expected = [9.0, 2.0, 9.0]
    first = run(toy, beside_script(2, 2))
    assert sorted(first[:3]) == sorted(expected)
    assert first[3:] == [1, 1]  # what they compiled was loaded
    assert run(toy, beside_script(0, 1))[3:] == [1, 1]
    assert not [*(tmp_path / "cache").rglob("*.lock")]


@pytest.mark.parametrize(
    "broken", ["sys.executable = '/no/python'", "workers.__name__ = 'nowhere'"]
)
def test_without_other_processes_kernels_are_compiled_here(toy, broken):
    script = beside_script(2, 2).replace("heard = []", f"{broken}\nheard = []")
    found = run(toy, "import sys\n" + script)
    assert sorted(found[:3]) == [2.0, 9.0, 9.0]
    assert found[3:] == [0, 0]


def test_a_cache_that_cannot_be_written_is_no_reason_to_compile_twice(toy, tmp_path):
    (tmp_path / "file").touch()
    script = beside_script(2, 1)
    found = run(toy, script, NUMBA_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert found[3:] == [0, 0]


def test_two_processes_compile_a_kernel_once(toy):
    # Whoever comes second waits, and loads what the first has compiled.
    waiting = [start(toy, SHOW) for _ in range(3)]
    loads = [finish(process)[1] for process in waiting]
    assert sum(loads) == 2
