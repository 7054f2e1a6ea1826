"""Peers that need a process of their own: R, and Python packages with other requirements."""

import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

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
    program = shutil.which("Rscript") if script.endswith(".R") else ADELIE
    command = [str(program), str(PEERS / script), str(folder), *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)
    return seconds_inside(folder)


def seconds_inside(folder: Path) -> float:
    """Return the median of the seconds that a peer's last run measured itself."""
    return statistics.median(float(line) for line in (folder / "seconds.txt").read_text().split())


def has_r() -> bool:
    """Tell whether R is there to be timed."""
    return shutil.which("Rscript") is not None


def has_adelie() -> bool:
    """Tell whether adelie's own environment is there."""
    return ADELIE.exists()
