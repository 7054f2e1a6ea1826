"""Run the numeric tests as other processors would: with their linear algebra, their machine code.

OpenBLAS has kernels for each family of processors, which take sums in other orders, and the
compiler of our own kernels may or may not have fused multiplication and wide registers. A test
that passes here and fails there asks for more digits than there are, or leaves a tie to the last
bit. What is given on the command line goes to pytest.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
# What numpy has beside the least that it needs, and finds on this processor.
BEYOND = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
KINDS = {
    "Prescott (SSE3), numpy at its least": {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": " ".join(BEYOND),
    },
    "Haswell (AVX2)": {
        "OPENBLAS_CORETYPE": "Haswell",
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "",
    },
    "SkylakeX (AVX-512)": {
        "OPENBLAS_CORETYPE": "SkylakeX",
        "NUMBA_CPU_NAME": "skylake-avx512",
        "NUMBA_CPU_FEATURES": "",
    },
    "kernels for any processor": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
}
ALSO_CALLED = {"Katmai": "Prescott"}  # OpenBLAS gives both names to the same kernels
# Folders of tests whose answers hold no computed numbers.
NOT_NUMERIC = {"cli", "data", "dropin", "packaging", "plot", "reference", "report"}
PROBE = """
import numpy, scipy.linalg, threadpoolctl
a = numpy.random.default_rng(0).normal(size=(300, 300))
scipy.linalg.lu(a @ a)
print(*{lib.get("architecture") for lib in threadpoolctl.threadpool_info()})
"""


def environment(name: str) -> dict[str, str]:
    """Return the settings of a kind of machine; its kernels have a cache of their own."""
    cache = ROOT / "build" / "machines" / "".join(filter(str.isalnum, name))
    return os.environ | KINDS[name] | {"NUMBA_CACHE_DIR": str(cache)}


def runs_here(name: str) -> bool:
    """Whether this processor runs such machine code: OpenBLAS falls back on another, or dies."""
    wanted = KINDS[name].get("OPENBLAS_CORETYPE")
    if wanted is None:
        return True
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        env=environment(name),
        capture_output=True,
        text=True,
        check=False,
    )
    found = {ALSO_CALLED.get(each, each) for each in done.stdout.split()}
    return done.returncode == 0 and found == {wanted}


def main(arguments: list[str]) -> int:
    """Run the tests as each kind of machine in turn and say how it went."""
    folders = sorted(each for each in (ROOT / "tests").iterdir() if each.is_dir())
    paths = [each for each in folders if each.name not in NOT_NUMERIC]
    command = [sys.executable, "-m", "pytest", *arguments, *paths, ROOT / "src", ROOT / "README.md"]
    command += ["--ignore", ROOT / "tests" / "common" / "test_compile_budget.py"]
    verdicts = {}
    for name in KINDS:
        print(f"\n{name}", flush=True)
        if not runs_here(name):
            verdicts[name] = "could not be run on this processor"
        elif subprocess.run(command, env=environment(name), cwd=ROOT, check=False).returncode == 0:
            verdicts[name] = "passed"
        else:
            verdicts[name] = "FAILED"
    print()
    for name, verdict in verdicts.items():
        print(f"{name}: {verdict}")
    return int("FAILED" in verdicts.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
