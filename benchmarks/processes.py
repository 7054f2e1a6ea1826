"""Peers that need a process of their own: R, and Python packages with other requirements.

R and its packages come from Debian: ``r-base-core r-cran-earth r-cran-glmnet r-cran-kernsmooth
r-cran-leaps r-cran-mgcv r-cran-rpart r-cran-ranger``. A peer that is not installed is left out.
"""

import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.measure import bounded

PEERS = Path(__file__).parent / "peers"
ADELIE = Path(__file__).parents[1] / ".venv-adelie/bin/python"


@contextmanager
def exchange(**arrays) -> Iterator[Path]:
    """Write arrays column by column to a folder that both sides read and write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, array in arrays.items():
            np.asarray(array, dtype=np.float64).ravel(order="F").tofile(folder / f"{key}.bin")
        n, p = arrays["X"].shape
        (folder / "size.txt").write_text(f"{n} {p} {len(arrays.get('alphas', ()))}")
        yield folder


def run_peer(script: str, folder: Path, *arguments) -> float:
    """Run a peer's script on a folder; return the median of the seconds it measured itself."""
    subprocess.run(_command(script, folder, arguments), check=True, capture_output=True)
    return seconds_inside(folder)


def run_peer_within(seconds: float, script: str, folder: Path, *arguments) -> float | None:
    """Run a peer's script as `run_peer` does; None if it is not done in so many seconds."""
    printed = bounded(_command(script, folder, arguments), seconds)
    return None if printed is None else seconds_inside(folder)


def _command(script: str, folder: Path, arguments) -> list[str]:
    program = shutil.which("Rscript") if script.endswith(".R") else ADELIE
    return [str(program), str(PEERS / script), str(folder), *map(str, arguments)]


def seconds_inside(folder: Path) -> float:
    """Return the median of the seconds that a peer's last run measured itself."""
    return statistics.median(float(line) for line in (folder / "seconds.txt").read_text().split())


def has_r(package: str | None = None) -> bool:
    """Tell whether R (and a package of it) is there to be timed."""
    if shutil.which("Rscript") is None:
        return False
    if package is None:
        return True
    asked = f"quit(status = !requireNamespace('{package}', quietly = TRUE))"
    found = subprocess.run(["Rscript", "-e", asked], check=False, capture_output=True)
    return found.returncode == 0


def has_adelie() -> bool:
    """Tell whether adelie's own environment is there."""
    return ADELIE.exists()
