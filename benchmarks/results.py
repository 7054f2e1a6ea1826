"""The page of results: each part with the day, the machine and the versions of its run."""

import json
import platform
from collections.abc import Iterable
from datetime import date
from importlib.metadata import version
from pathlib import Path

import bottega
from bottega.core.parallel import available_cores

__all__ = ["COLUMNS", "keep", "where"]

FOLDER = Path(__file__).parent
HEAD = """# Results

Printed by `make bench`, part by part; each part says when and how it was run. Ours and the peer
take turns in one process (R and packages with other requirements are timed inside their own); the
numbers are medians, and the ratio is what counts: the seconds depend on the machine. `first call`
is the time of the first call in a new process, with compiled kernels in the disk cache. A bar that
is not met says **no**.
"""
COLUMNS = (
    "| case | peer | ours | first call, s | peer's | ratio | bar | met | accuracy |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def keep(name: str, words: str, rows: list[str], order: Iterable[str]) -> None:
    """Write one part anew, and the page: parts in the given order, others after them."""
    kept = FOLDER / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    results[name] = {"where": words, "rows": rows}
    kept.write_text(json.dumps(results, indent=1) + "\n")
    (FOLDER / "RESULTS.md").write_text(page(results, order))


def where(*more: str) -> str:
    """Say when, on what and with which versions."""
    libraries = ("scikit-learn", "numpy", "scipy", "numba", *more)
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    return (
        f"{date.today()}, {available_cores()} cores, Python {platform.python_version()}, "
        f"bottega {bottega.__version__}, {versions}"
    )


def page(results: dict, order: Iterable[str]) -> str:
    """Return the results as a page."""
    parts = [HEAD]
    for name in dict.fromkeys([*order, *results]):
        if name in results:
            rows = "\n".join(results[name]["rows"])
            parts.append(f"## {name}\n\n{results[name]['where']}\n\n{COLUMNS}\n{rows}\n")
    return "\n".join(parts)
