"""The main job on a table without a target: what it holds, how columns and rows belong together."""

import os
import platform
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from bottega._jit import beside
from bottega.core import interruption
from bottega.core.errors import BottegaError, ConvergenceWarning, DataWarning, InputError
from bottega.core.params import Integer, Real
from bottega.core.progress import Stopwatch, report
from bottega.core.seeds import seed_of
from bottega.core.typing import IntArray
from bottega.workbench._describing.clusters import find_clusters
from bottega.workbench._describing.components import find_components
from bottega.workbench._describing.inputs import DescribedInputs
from bottega.workbench._describing.outliers import find_outliers
from bottega.workbench._describing.relations import find_relations
from bottega.workbench._describing.sources import described_table
from bottega.workbench._describing.space import NumberSpace
from bottega.workbench.description import Description

__all__ = ["describe"]

_LIBRARIES = ("bottega", "numpy", "scipy", "scikit-learn", "numba")
_ROWS = 20_000  # that components, clusters and densities are learnt from
_FEW = 10  # rows, with fewer of which nothing can be said about groups and outliers
_STAGE = "describing"
_PARTS = ("components", "clusters", "outliers", "relations")

Part = TypeVar("Part")


def describe(
    data: Any,
    *,
    columns: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    max_clusters: int = 8,
    false_alarm: float = 0.001,
    random_state: Any = 0,
    n_jobs: int | None = None,
    command: str | None = None,
) -> Description:
    """Describe a table without a target: components, clusters, outliers, columns that repeat.

    Every column is brought to one scale: numbers and dates to variance one (skewed ones on a
    logarithmic scale where that makes them nearly normal), categories to columns of zeros and ones
    with total variance one. Principal components are those of all columns. Clusters are those of a
    mixture of normal distributions of the number columns; they are claimed only with strong
    evidence, see `Notes`. Outliers are rows of least likelihood.

    Parameters
    ----------
    data : Table, data frame, array, or path of a file
        The rows; whatever `bottega.read` takes, or an array.
    columns : iterable of str, optional
        Columns to describe; all by default.
    exclude : iterable of str
        Columns to leave out.
    kinds : dict of str to str, optional
        Kinds of columns that override the inferred ones, as in `bottega.Table`.
    max_clusters : int
        The most clusters to look for.
    false_alarm : float
        Share of rows that would be called outliers if the density were right; smaller calls fewer.
    random_state : int, RandomState, Generator or None
        Seed of shuffles and samples; the same seed gives the same answer.
    n_jobs : int, optional
        Number of threads; all cores by default.
    command : str, optional
        The call that the report should show; the Python call by default.

    Returns
    -------
    Description
        With `components`, `clusters`, `outliers`, `relations`, `to_frame()`, `plot()` and
        `report(path)`.

    Notes
    -----
    A component is told if its share of the variance exceeds that of 19 tables in which every column
    was shuffled by itself. More than one cluster is claimed if the integrated classification
    likelihood prefers it by 10 or more, the centres are two standard deviations apart, and random
    halves of the rows have the same clusters. Tables with fewer than two usable numbers are
    clustered by k-means of all columns, against shuffled tables. Numbers that follow from others
    (copies, sums, products) are left out of clusters and outliers, and `skipped` names them.

    Of more than 20,000 rows a random 20,000 teach components and densities (2,500 the clusters);
    all rows get their scores, clusters and outlier scores. Cost: seconds. Ctrl-C returns what is
    done.

    Examples
    --------
    >>> import bottega
    >>> found = bottega.describe("iris", exclude=["target"])
    >>> found.clusters.count, found.components.kept
    (2, 1)
    """
    start = perf_counter()
    Integer(1).check("describe", "max_clusters", max_clusters)
    Real(0, 0.5, open_low=True).check("describe", "false_alarm", false_alarm)
    seed = seed_of(random_state, "describe")
    given = {
        "columns": None if columns is None else _listed(columns),
        "exclude": _listed(exclude) or None,
        "kinds": dict(kinds) if kinds else None,
        "max_clusters": None if max_clusters == 8 else max_clusters,
        "false_alarm": None if false_alarm == 0.001 else false_alarm,
        "random_state": seed,
    }
    table = described_table(
        data, None if columns is None else _listed(columns), _listed(exclude), kinds
    )
    work = _Progress()
    with (
        warnings.catch_warnings(),
        interruption.remembered(),
        beside(n_jobs),
        Stopwatch() as watch,
    ):
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        inputs = DescribedInputs.of(table)
        rng = np.random.default_rng(seed)
        rows = _some(table.n_rows, rng)
        seeds = rng.integers(2**31, size=len(_PARTS))
        space = work.do("clusters", lambda: NumberSpace.of(inputs, rows), 0)
        enough = table.n_rows >= _FEW
        few = f"there are fewer than {_FEW} rows"
        components = work.do(
            "components",
            lambda: find_components(inputs, rows, np.random.default_rng(seeds[0])),
            1,
            "" if table.n_rows > 2 else few,
        )
        clusters = work.do(
            "clusters",
            lambda: find_clusters(
                inputs, space, rows, max_clusters, np.random.default_rng(seeds[1])
            ),
            2,
            work.absent.get("clusters", "") if enough else few,
        )
        outliers = work.do(
            "outliers",
            lambda: find_outliers(inputs, _given(space), clusters, rows, float(false_alarm)),
            3,
            few if not enough else "" if space is not None else "no number column can be used",
        )
        relations = work.do("relations", lambda: find_relations(inputs, rows), 4)
        report(_STAGE, len(_PARTS), len(_PARTS))
    return Description(
        table=table,
        components=components,
        clusters=clusters,
        outliers=outliers,
        relations=relations,
        skipped=inputs.skipped,
        absent=work.absent,
        bent=tuple(inputs.bent),
        n_fitted=len(rows),
        random_state=seed,
        command=command or _python_call(data, **given),
        versions={"python": platform.python_version()}
        | {name: version(name) for name in _LIBRARIES},
        seconds=perf_counter() - start - watch.aside,
        preparing_seconds=watch.aside,
        interrupted=work.stopped,
    )


class _Progress:
    """The parts one after another; one that fails is told, and Ctrl-C leaves out the rest."""

    def __init__(self) -> None:
        self.absent: dict[str, str] = {}
        self.stopped = False

    def do(self, name: str, make: Callable[[], Part], place: int, why_not: str = "") -> Part | None:
        """Return a part, or None with the reason among the absent."""
        if self.stopped:
            self.absent.setdefault(name, "stopped before it was done")
            return None
        if why_not:
            self.absent.setdefault(name, why_not)
            return None
        report(_STAGE, max(place - 1, 0), len(_PARTS), name)
        try:
            interruption.raise_if_pressed()
            return make()
        except KeyboardInterrupt:
            interruption.forget()
            self.stopped = True
            self.absent[name] = "stopped before it was done"
        except (BottegaError, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            self.absent[name] = f"failed ({type(error).__name__}: {error})"
        return None


def _given(space: NumberSpace | None) -> NumberSpace:
    if space is None:
        raise InputError("no number column can be used")
    return space


def _some(n: int, rng: np.random.Generator) -> IntArray:
    """Return the rows to learn from, in their order."""
    if n <= _ROWS:
        return np.arange(n)
    return np.sort(rng.choice(n, _ROWS, replace=False))


def _listed(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else [str(name) for name in names]


def _python_call(data: Any, **options: Any) -> str:
    """Return the Python call that repeats the description, as far as it can be written down."""
    shown = repr(str(data)) if isinstance(data, str | os.PathLike) else "data"
    given = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    return f"bottega.describe({', '.join([shown, *given])})"
