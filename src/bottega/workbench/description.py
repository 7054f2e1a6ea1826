"""What a table holds: the result of `bottega.describe`."""

from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from bottega.core.errors import BottegaError
from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.data import Table, convert
from bottega.workbench._describing.clusters import FoundClusters
from bottega.workbench._describing.components import FoundComponents
from bottega.workbench._describing.outliers import FoundOutliers
from bottega.workbench._describing.relations import FoundRelations
from bottega.workbench.described_words import (
    clusters_in_words,
    components_in_words,
    outliers_in_words,
    pair_in_words,
    why_unusual,
)

__all__ = ["Description"]

# Findings that are about predicting a target.
_OF_TARGETS = ("wide", "time_order", "leaker", "count", "few_rows", "date", "text", "rare_levels")
_SHOWN = 5  # rows of a table at a prompt
_COLUMNS = 10  # names of columns at a prompt, where there is nothing else to show


@dataclass(frozen=True, repr=False)
class Description(Shown):
    """A table described; made by `bottega.describe`.

    Attributes
    ----------
    table : Table
        The rows.
    components : FoundComponents or None
        Principal components of all columns; None where they are absent.
    clusters : FoundClusters or None
        Clusters of the rows, one where there is no evidence of more.
    outliers : FoundOutliers or None
        Outlier scores and the rows flagged.
    relations : FoundRelations or None
        Columns that repeat one another, and repeated rows.
    skipped : dict of str to str
        Columns that some part leaves out, with the reason.
    absent : dict of str to str
        Parts that are None, with the reason.
    bent : tuple of str
        Columns that were taken on a logarithmic scale.
    n_fitted : int
        Rows that components and densities were learnt from.
    random_state : int
        The seed.
    command : str
        The call that repeats it.
    versions : dict of str to str
        Versions of the libraries.
    seconds, preparing_seconds : float
        Wall-clock time, and the time in which kernels were compiled, which is done once.
    interrupted : bool
        Whether it was stopped before all parts were done.
    """

    table: Table
    components: FoundComponents | None
    clusters: FoundClusters | None
    outliers: FoundOutliers | None
    relations: FoundRelations | None
    skipped: dict[str, str]
    absent: dict[str, str]
    bent: tuple[str, ...]
    n_fitted: int
    random_state: int
    command: str = field(repr=False)
    versions: dict[str, str] = field(repr=False)
    seconds: float = 0.0
    preparing_seconds: float = 0.0
    interrupted: bool = False

    @property
    def findings(self) -> list[Any]:
        """What to know about the columns: those left out, and how others were read."""
        return [each for each in self.table.warnings if each.code not in _OF_TARGETS]

    @property
    def id_column(self) -> str | None:
        """Column that names the rows, if there is one."""
        return next((each.name for each in self.table.columns if each.kind == "id"), None)

    def names(self, rows: Any = None) -> list[str]:
        """Return what rows are called: their number, and their key if there is one."""
        numbers = self.table.row_numbers if rows is None else self.table.row_numbers[rows]
        if self.id_column is None:
            return [f"row {number}" for number in numbers]
        series = self.table.series(self.id_column)
        keys = convert.texts(series if rows is None else series[np.asarray(rows).tolist()])
        return [f"{key} (row {number})" for key, number in zip(keys, numbers, strict=True)]

    def to_frame(self) -> Any:
        """Return one row per row of the table, in their order.

        Columns: ``row`` (its number, from 1 on), the key if the table has one, ``cluster`` (from 1
        on) and its ``probability``, ``outlier`` and ``outlier_score``, and the scores
        ``component_1``, ``component_2``, ... Parts that are absent are left out.
        """
        columns: dict[str, Any] = {"row": self.table.row_numbers}
        if self.id_column is not None:
            columns[self.id_column] = self.table.series(self.id_column).to_list()
        found: dict[str, Any] = {}
        if self.clusters is not None:
            found["cluster"] = self.clusters.labels
            if self.clusters.by == "mixture":
                found["probability"] = self.clusters.certainty
        if self.outliers is not None:
            found["outlier"] = self.outliers.flagged
            found["outlier_score"] = self.outliers.scores
        if self.components is not None:
            for k in range(self.components.scores.shape[1]):
                found[f"component_{k + 1}"] = self.components.scores[:, k]
        for name, values in found.items():
            while name in columns:
                name += "_"
            columns[name] = values
        return make_frame(columns, self.table.frame)

    @property
    def sentences(self) -> list[str]:
        """What is most worth knowing, in a few sentences."""
        found = []
        if self.components is not None:
            found.append(components_in_words(self.components))
        if self.clusters is not None:
            found.append(clusters_in_words(self.clusters))
        if self.outliers is not None:
            found.append(outliers_in_words(self.outliers))
        if self.relations is not None:
            if self.relations.pairs:
                found.append(f"{pair_in_words(self.relations.pairs[0])}.")
            if self.relations.repeated_rows:
                many = self.relations.repeated_rows
                one = many == 1
                found.append(
                    f"{many:,} row{'' if one else 's'} repeat{'s' if one else ''} an earlier one "
                    "in every column but keys."
                )
        return found

    def summary(self) -> Summary:
        """Return the description as tables that show themselves as text, HTML and Markdown."""
        sections = []
        if self.components is not None and self.components.kept:
            shown = range(min(self.components.kept, _SHOWN, self.components.scores.shape[1]))
            sections.append(
                Section(
                    "Components",
                    {
                        "component": [str(k + 1) for k in shown],
                        "variance": [f"{100 * self.components.shares[k]:.0f}%" for k in shown],
                        "by chance": [f"{100 * self.components.chance[k]:.0f}%" for k in shown],
                        "carried by": [
                            ", ".join(
                                f"{'+' if r > 0 else '-'}{name}"
                                for name, r in self.components.carriers(k, most=5)
                            )
                            for k in shown
                        ],
                    },
                )
            )
        if self.clusters is not None and self.clusters.count > 1:
            told = [each.partition(": ")[2] for each in self.clusters.words()]
            sections.append(
                Section(
                    "Clusters",
                    {
                        "cluster": [str(k + 1) for k in range(self.clusters.count)],
                        "rows": list(self.clusters.sizes),
                        "what sets it apart from all other rows": told,
                    },
                )
            )
        if self.outliers is not None and self.outliers.rows:
            worst = self.outliers.rows[:_SHOWN]
            sections.append(
                Section(
                    "Outliers",
                    {
                        "row": self.names([each.row for each in worst]),
                        "score": [each.score_in_words for each in worst],
                        "why": [why_unusual(each, self.table) for each in worst],
                    },
                )
            )
        if not sections:
            names = [column.name for column in self.table.columns][:_COLUMNS]
            kinds = [self.table.column(name).kind for name in names]
            left = len(self.table.columns) - len(names)
            title = f"Columns (the first {_COLUMNS}; {left} more)" if left else "Columns"
            sections.append(Section(title, {"column": names, "kind": kinds}))
        return Summary(self.title, tuple(sections), tuple(self._notes()))

    @property
    def title(self) -> str:
        """What was described."""
        rows, columns = self.table.n_rows, len(self.table.columns)
        return f"Description of {_counted(rows, 'row')} and {_counted(columns, 'column')}"

    def _notes(self) -> list[str]:
        notes = list(self.sentences)
        if self.clusters is not None:
            notes += [*self.clusters.evidence] if self.clusters.count > 1 else []
        notes += [f"{name}: {why}" for name, why in self.absent.items()]
        notes += [f"column {name!r}: {why}" for name, why in self.skipped.items()]
        if self.bent:
            notes.append(f"on a logarithmic scale, because skewed: {', '.join(self.bent)}")
        notes += [finding.message for finding in self.findings]
        if self.n_fitted < self.table.n_rows:
            notes.append(self.thinned_in_words)
        return notes

    @property
    def thinned_in_words(self) -> str:
        """What was learnt from a part of the rows; empty where all were used."""
        if self.n_fitted == self.table.n_rows:
            return ""
        clusters = "" if self.clusters is None else f" ({self.clusters.n_fitted:,} for clusters)"
        return (
            f"Components and densities were learnt from {self.n_fitted:,} of "
            f"{self.table.n_rows:,} rows, drawn at random{clusters}; every row got its scores."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain values, for JSON; rows are in `to_frame`."""
        return {
            "n_rows": self.table.n_rows,
            "columns": [dict(vars(column)) for column in self.table.columns],
            "components": None if self.components is None else self._components_as_dict(),
            "clusters": None if self.clusters is None else self._clusters_as_dict(),
            "outliers": None if self.outliers is None else self._outliers_as_dict(),
            "relations": None
            if self.relations is None
            else {
                "pairs": [dict(vars(pair)) for pair in self.relations.pairs],
                "repeated_rows": self.relations.repeated_rows,
            },
            "summary": list(self.sentences),
            "findings": [finding.message for finding in self.findings],
            "skipped": dict(self.skipped),
            "absent": dict(self.absent),
            "logarithmic": list(self.bent),
            "n_fitted": self.n_fitted,
            "random_state": self.random_state,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "command": self.command,
            "versions": dict(self.versions),
        }

    def _components_as_dict(self) -> dict[str, Any]:
        found = self.components
        assert found is not None
        count = found.scores.shape[1]
        return {
            "kept": found.kept,
            "share": found.shares.tolist(),
            "share_by_chance": found.chance.tolist(),
            "words": found.words(),
            "correlations": [
                dict(zip(found.titles, found.correlations[:, k].tolist(), strict=True))
                for k in range(count)
            ],
        }

    def _clusters_as_dict(self) -> dict[str, Any]:
        found = self.clusters
        assert found is not None
        return {
            "count": found.count,
            "sizes": list(found.sizes),
            "sought_in": list(found.columns),
            "by": found.by,
            "evidence": list(found.evidence),
            "words": found.words(),
            "silhouette": found.silhouette,
            "silhouettes": []
            if found.silhouettes is None
            else list(found.silhouettes.by_cluster().values()),
            "stability": found.stability,
            "separation": found.separation,
            "criteria": [dict(vars(step)) for step in found.steps],
        }

    def _outliers_as_dict(self) -> dict[str, Any]:
        found = self.outliers
        assert found is not None
        numbers = self.table.row_numbers
        return {
            "count": found.count,
            "expected": found.expected,
            "false_alarm": found.false_alarm,
            "density": found.density,
            "rows": [
                {
                    "row": int(numbers[each.row]),
                    "score": each.score,
                    "columns": [
                        {"column": name, "value": value, "expected": expected}
                        for name, value, expected in each.columns
                    ],
                }
                for each in found.rows
            ],
        }

    def plot(self) -> Any:
        """Draw the map of the rows: the first two components, coloured by cluster.

        Returns
        -------
        altair.LayerChart
            Pointing at a row shows its number, and its key if the table has one.
        """
        from bottega.plot import latent_map_chart

        if self.components is None:
            raise BottegaError(f"There is no map: {self.absent['components']}.")
        scores: FloatArray = self.components.scores
        shares = [f"{100 * share:.0f}% of the variance" for share in self.components.shares[:2]]
        return latent_map_chart(
            scores[:, :2],
            self._map_labels(),
            names=self._map_names(),
            axes=[f"component {k + 1} ({share})" for k, share in enumerate(shares)]
            if len(shares) > 1
            else ("component 1", ""),
            title="Map of the rows",
            subtitle="The first two components of all columns.",
            label_title="cluster",
        )

    def plot_clusters(self) -> Any:
        """Draw the rows in the plane in which the clusters differ most.

        Returns
        -------
        altair.LayerChart
            In units of the spread within clusters.
        """
        from bottega.plot import latent_map_chart

        if self.clusters is None or self.clusters.plane is None:
            raise BottegaError("There are not two clusters in two columns or more to draw.")
        two = self.clusters.count == 2
        return latent_map_chart(
            self.clusters.plane,
            self._map_labels(),
            names=self._map_names(),
            axes=("between the clusters", "within the clusters" if two else "second direction"),
            title="Where the clusters differ most",
            subtitle="In standard deviations within clusters.",
            label_title="cluster",
        )

    def _map_names(self) -> list[str]:
        names = self.names()
        if self.outliers is None:
            return names
        flagged = self.outliers.flagged
        return [
            f"{name}, outlier" if out else name for name, out in zip(names, flagged, strict=True)
        ]

    def _map_labels(self) -> list[str] | None:
        if self.clusters is None or self.clusters.count == 1:
            return None
        return [f"cluster {label}" for label in self.clusters.labels]

    def report(self, path: Any) -> FilePath:
        """Write the HTML report, one file that works offline, and return its path."""
        from bottega.report import write_description  # made of descriptions: a circle otherwise

        return write_description(self, path)


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
