"""Public data sets: those of R's packages (`tests/reference/tables`), and scikit-learn's own."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn import datasets

from bottega.data import Table, read

FOLDER = Path(__file__).parents[1] / "tests/reference/tables"


@dataclass(frozen=True)
class PublicTable:
    """One data set, what is predicted and what is left out.

    `use` is "judge" (defaults are judged by it), "tune" (they may be set by it) or "run".
    """

    name: str
    use: str
    source: str
    target: str
    task: str
    ignore: tuple[str, ...]
    cells: int
    load: Callable[[], Any]

    def frame(self) -> pd.DataFrame:
        """Return all columns but those to be left out, rows without a target included."""
        return self.load().drop(columns=list(self.ignore))

    def table(self) -> Table:
        """Return it with its target, as `compare` takes it."""
        return Table(self.frame(), target=self.target, task=self.task)


def public_tables(use: str | None = None) -> list[PublicTable]:
    """Return the data sets of one use, or all, the smallest first."""
    found = sorted([*_from_r(), *_from_scikit_learn()], key=lambda each: each.cells)
    return [each for each in found if use in (None, each.use)]


def _from_r() -> list[PublicTable]:
    with (FOLDER / "sources.csv").open() as file:
        return [
            PublicTable(
                name=row["name"],
                use=row["use"],
                source=f"{row['package']} {row['version']}, {row['object']}",
                target=row["target"],
                task=row["task"],
                ignore=tuple(name for name in row["ignore"].split(";") if name),
                cells=int(row["rows"]) * int(row["columns"]),
                load=_reader(FOLDER / f"{row['name']}.csv"),
            )
            for row in csv.DictReader(file)
        ]


def _reader(path: Path) -> Callable[[], Any]:
    return lambda: read(str(path)).frame  # as `bottega compare` reads it


def _from_scikit_learn() -> list[PublicTable]:
    def digits():
        whole = datasets.load_digits(as_frame=True).frame
        return whole.sample(600, random_state=0).reset_index(drop=True)

    def linnerud():
        found = datasets.load_linnerud(as_frame=True)
        return found.data.assign(Weight=found.target["Weight"])

    def bundled(load):
        return lambda: load(as_frame=True).frame

    loaders = [
        ("iris", "classification", bundled(datasets.load_iris), 150 * 5),
        ("wine", "classification", bundled(datasets.load_wine), 178 * 14),
        ("breast_cancer", "classification", bundled(datasets.load_breast_cancer), 569 * 31),
        ("digits", "classification", digits, 600 * 65),
        ("diabetes", "regression", bundled(datasets.load_diabetes), 442 * 11),
        ("linnerud", "regression", linnerud, 20 * 4),
    ]
    return [
        PublicTable(
            name=name,
            use="judge",
            source=f"scikit-learn, load_{name}",
            target="Weight" if name == "linnerud" else "target",
            task=task,
            ignore=(),
            cells=cells,
            load=load,
        )
        for name, task, load, cells in loaders
    ]
