"""A table as text and as HTML: one line per column, then the findings."""

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bottega.data.table import Table


def as_text(table: "Table") -> str:
    """Return a table as lines of text."""
    width = max(len(c.name) for c in table.columns)
    lines = [f"Table: {_title(table)}"]
    lines += [
        f"  {c.name:<{width}}  {c.kind:<8}  {c.role:<7}  "
        f"{c.missing:,} missing, {c.distinct:,} distinct"
        for c in table.columns
    ]
    return "\n".join(lines + [f"  ! {finding.message}" for finding in table.warnings])


def as_html(table: "Table") -> str:
    """Return a table as HTML."""
    head = "".join(f"<th>{h}</th>" for h in ("column", "kind", "role", "missing", "distinct"))
    body = "".join(
        f"<tr><td>{escape(c.name)}</td><td>{c.kind}</td><td>{c.role}</td>"
        f"<td>{c.missing:,}</td><td>{c.distinct:,}</td></tr>"
        for c in table.columns
    )
    notes = "".join(f"<li>{escape(f.message)}</li>" for f in table.warnings)
    return (
        f"<table><caption>Table: {escape(_title(table))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        + (f"<ul>{notes}</ul>" if notes else "")
    )


def _title(table: "Table") -> str:
    title = f"{table.n_rows:,} rows, {len(table.features)} features"
    if table.target is not None:
        title += f", target {table.target!r} ({table.task})"
    return title
