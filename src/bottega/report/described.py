"""What stands in the report of a description: everything its template shows, worded."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from bottega.data.columns import DATELIKE
from bottega.plot import lines_chart, scree_chart
from bottega.report import words
from bottega.report.figures import Figure, Figures
from bottega.report.overview import column_rows
from bottega.report.parts import attempt
from bottega.report.wording import in_words_of
from bottega.workbench.described_words import outliers_in_words, pair_in_words, why_unusual

__all__ = ["described"]

_MOST_ROWS = 20  # outliers that are listed
_MOST_PAIRS = 30
_MOST_COMPONENTS = 6  # in the table of correlations
_MOST_COLUMNS = 40
_MOST_LISTED = 20  # names in a sentence


def described(description: Any, date: datetime | None = None) -> dict[str, Any]:
    """Return the variables of the template; `drawn` holds the charts."""
    date = datetime.now().astimezone() if date is None else date
    figures, troubles = Figures(), list[str]()
    parts: dict[str, Any] = {
        "maps": _maps(description, figures),
        "components": attempt(
            "The part on components", lambda: _components(description, figures), troubles
        ),
        "clusters": attempt(
            "The part on clusters", lambda: _clusters(description, figures), troubles
        ),
        "outliers": attempt("The part on outliers", lambda: _outliers(description), troubles),
        "relations": attempt("The part on columns", lambda: _relations(description), troubles),
        "data": _data(description),
        "repeat": {
            "command": description.command,
            "seed": description.random_state,
            "seconds": words.took(description),
            "versions": dict(description.versions),
            "date": f"{date:%Y-%m-%d %H:%M %Z}".strip(),
        },
        "drawn": figures,
    }
    return {"head": _head(description, [*troubles, *figures.failed]), **parts}


def _head(description: Any, troubles: list[str]) -> dict[str, Any]:
    table = description.table
    kinds = Counter(column.kind for column in table.columns)
    cells = table.n_rows * len(table.columns)
    missing = sum(column.missing for column in table.columns) / max(cells, 1)
    alerts = []
    if description.interrupted:
        alerts.append("It was stopped before all parts were done.")
    alerts += [
        words.sentence(f"{name}: {why}")
        for name, why in description.absent.items()
        if not description.interrupted or not why.startswith("stopped")
    ]
    facts = [
        ("Rows", f"{table.n_rows:,}"),
        ("Columns", f"{len(table.columns):,}"),
        ("Kinds", ", ".join(f"{many:,} {_plural(kind, many)}" for kind, many in kinds.items())),
        ("Missing values", words.percent(missing) if missing else "none"),
        ("Described in", words.took(description)),
    ]
    return {
        "data": words.data_name(table.source),
        "alerts": [*alerts, *troubles],
        "sentences": description.sentences,
        "thinned": description.thinned_in_words,
        "facts": facts,
    }


def _plural(kind: str, many: int) -> str:
    if kind == DATELIKE:
        return "of dates that cannot be read"
    return kind if many == 1 else "categories" if kind == "category" else f"{kind}s"


def _maps(description: Any, figures: Figures) -> list[Figure]:
    shown: list[Figure | None] = []
    if description.components is not None:
        shown.append(figures.make("map-chart", description.plot))
    if description.clusters is not None and description.clusters.plane is not None:
        shown.append(figures.make("plane-chart", description.plot_clusters))
    return [figure for figure in shown if figure is not None]


def _components(description: Any, figures: Figures) -> dict[str, Any] | None:
    found = description.components
    if found is None:
        return None
    shown = min(found.kept, _MOST_COMPONENTS, found.correlations.shape[1])
    size = int(np.sum(np.isfinite(found.shares)))
    size = min(size, 20)
    scree = figures.make(
        "scree-chart",
        lambda: scree_chart(
            100 * found.shares[:size],
            limits=100 * found.chance[:size],
            kept=found.kept,
            total=100.0,
        ),
    )
    largest = np.max(np.abs(found.correlations[:, : max(shown, 1)]), axis=1)
    rows = np.argsort(-largest, kind="stable")[:_MOST_COLUMNS]
    table = None
    if shown:
        table = {
            "columns": [
                {"title": "Column", "numeric": False},
                *({"title": f"Component {k + 1}", "numeric": True} for k in range(shown)),
            ],
            "rows": [
                [found.titles[j], *(_correlation(found.correlations[j, k]) for k in range(shown))]
                for j in rows
            ],
        }
    return {
        "sentences": [found.sentence(k) for k in range(shown)],
        "single": len(found.columns) == 1,
        "none": not found.kept,
        "further": max(found.kept - shown, 0),
        "scree": scree,
        "table": table,
        "left_out": len(found.titles) - len(rows),
        "bent": ", ".join(description.bent),
    }


def _correlation(value: float) -> str:
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _clusters(description: Any, figures: Figures) -> dict[str, Any] | None:
    found = description.clusters
    if found is None:
        return None
    described = () if description.components is None else description.components.columns
    shown: list[Figure | None] = []
    if found.count > 1:
        shown.append(figures.make("apart-chart", found.profiles.plot))
        shown.append(figures.make("silhouette-chart", found.silhouettes.plot))
    if len(found.steps) > 1:
        shown.append(figures.make("criteria-chart", lambda: _criteria(found)))
    table = None
    if found.count > 1:
        told = [sentence.partition(": ")[2] for sentence in found.words()]
        judged = found.silhouettes.by_cluster()
        table = {
            "columns": [
                {"title": "Cluster", "numeric": False},
                {"title": "Rows", "numeric": True},
                {"title": "Silhouette", "numeric": True},
                {"title": "What sets it apart from all other rows", "numeric": False},
            ],
            "rows": [
                [f"cluster {k + 1}", f"{size:,}", _correlation(judged.get(k + 1, np.nan)), told[k]]
                for k, size in enumerate(found.sizes)
            ],
        }
    return {
        "evidence": found.evidence,
        "count": found.count,
        "where": _listed(found.columns),
        "numbers": found.by == "mixture",
        "others": _listed([name for name in described if name not in found.columns]),
        "table": table,
        "silhouette": _silhouette_in_words(found.silhouette),
        "doubt": _doubt(found),
        "figures": [figure for figure in shown if figure is not None],
    }


def _criteria(found: Any) -> Any:
    sizes = [str(step.k) for step in found.steps]
    best = min(step.icl for step in found.steps)
    return lines_chart(
        sizes,
        {
            "ICL (clusters)": [step.icl - best for step in found.steps],
            "BIC (density)": [step.bic - best for step in found.steps],
        },
        x_title="number of clusters",
        y_title="criterion, less the least ICL",
        title="Criteria by number of clusters",
        subtitle="Lower is better. BIC judges the density, ICL clusters that do not overlap.",
        dashed=["BIC (density)"],
    )


def _silhouette_in_words(value: float | None) -> str:
    if value is None:
        return ""
    size = "well apart" if value >= 0.5 else "apart" if value >= 0.25 else "close together"
    told = f"Mean silhouette {_correlation(value)}: by plain distance the clusters are {size}."
    if value < 0.25:
        told += (
            " Clusters that are long and lie side by side have a small silhouette and are found by "
            "their shape."
        )
    return told


def _doubt(found: Any) -> str:
    if found.count == 1 or found.by != "mixture":
        return ""
    share = float(np.mean(found.certainty < 0.9))
    return f"{words.percent(share)} of the rows could belong to another cluster with 10% or more."


def _outliers(description: Any) -> dict[str, Any] | None:
    found = description.outliers
    if found is None:
        return None
    listed = found.rows[:_MOST_ROWS]
    names = description.names([each.row for each in listed]) if listed else []
    table = None
    if listed:
        table = {
            "columns": [
                {"title": "Row", "numeric": False},
                {"title": "Score", "numeric": True},
                {"title": "What is unusual", "numeric": False},
            ],
            "rows": [
                [name, each.score_in_words, why_unusual(each, description.table)]
                for name, each in zip(names, listed, strict=True)
            ],
        }
    return {
        "sentence": outliers_in_words(found),
        "density": found.density,
        "false_alarm": f"{found.false_alarm:g}",
        "table": table,
        "left_out": found.count - len(listed),
        "columns": _listed(found.columns),
    }


def _relations(description: Any) -> dict[str, Any] | None:
    found = description.relations
    if found is None:
        return None
    return {
        "pairs": [f"{pair_in_words(pair)}." for pair in found.pairs[:_MOST_PAIRS]],
        "left_out": max(len(found.pairs) - _MOST_PAIRS, 0),
        "repeated": found.repeated_rows,
    }


def _data(description: Any) -> dict[str, Any]:
    rows, left_out = column_rows(description.table)
    away = [f"{name}: {why}." for name, why in description.skipped.items()]
    return {
        "rows": rows,
        "left_out": left_out,
        "skipped": away,
        "findings": [
            in_words_of(description.command, finding.message) for finding in description.findings
        ],
    }
