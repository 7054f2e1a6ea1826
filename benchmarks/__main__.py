"""``make bench``: run every case and write ``benchmarks/RESULTS.md``."""

import platform
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

from benchmarks import comparison, imports, neighbors, ridge
from bottega.workbench.parallel import available_cores

CASES = {"imports": imports, "neighbors": neighbors, "ridge": ridge, "comparison": comparison}
HEAD = """# Results

Made by `make bench`. Ours and the peer take turns in one process; the numbers are medians, and the
ratio is what counts: the seconds depend on the machine. `first call` is the time of the first call
in a new process, with compiled kernels in the disk cache. A bar that is not met says **no**.

"""
COLUMNS = (
    "| case | peer | ours | first call, s | peer's | ratio | bar | met | accuracy |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    chosen = sys.argv[1:] or list(CASES)
    rows = []
    for name in chosen:
        for result in CASES[name].run():
            rows.append(result)
            print(result.row(), flush=True)
    if chosen == list(CASES):
        libraries = ("bottega", "scikit-learn", "numpy", "scipy", "numba")
        where = (
            f"{date.today()}, {available_cores()} cores, Python {platform.python_version()}, "
            + ", ".join(f"{name} {version(name)}" for name in libraries)
        )
        text = HEAD + where + "\n\n" + COLUMNS + "\n" + "\n".join(row.row() for row in rows) + "\n"
        (Path(__file__).parent / "RESULTS.md").write_text(text)
    if not all(row.met for row in rows):
        print("some bars are not met", file=sys.stderr)


if __name__ == "__main__":
    main()
