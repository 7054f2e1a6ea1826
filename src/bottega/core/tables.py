"""Results a person reads: one table class that shows itself as text, HTML and Markdown."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

__all__ = ["Section", "Shown", "Summary", "show"]


def show(value: Any, digits: int = 4) -> str:
    """Write one cell: numbers to `digits` significant digits, missing ones as a dash.

    Examples
    --------
    >>> show(0.123456), show(float("nan")), show("a"), show(1234567)
    ('0.1235', '-', 'a', '1,234,567')
    """
    if value is None:
        return "-"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return "-"
        return f"{float(value):.{digits}g}"
    return str(value)


@dataclass(frozen=True)
class Section:
    """One table of a summary: a heading and columns of equal length."""

    heading: str
    columns: Mapping[str, Sequence[Any]]

    def rows(self) -> list[list[str]]:
        """Return the cells as text, row by row."""
        return [[show(cell) for cell in row] for row in zip(*self.columns.values(), strict=True)]


@dataclass(frozen=True)
class Summary:
    """A titled list of tables with notes below them.

    Examples
    --------
    >>> print(Summary("Fit", (Section("Terms", {"term": ["a", "b"], "estimate": [1.0, -2.5]}),)))
    Fit
    ===
    Terms
    term  estimate
    a            1
    b         -2.5
    """

    title: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = field(default=())

    def to_text(self) -> str:
        """Return plain text, numbers aligned on the right."""
        lines = [self.title, "=" * len(self.title)]
        for section in self.sections:
            cells = [list(section.columns), *section.rows()]
            widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
            left = [_is_text(column) for column in section.columns.values()]
            if section.heading:
                lines.append(section.heading)
            lines += [
                "  ".join(
                    cell.ljust(width) if is_left else cell.rjust(width)
                    for cell, width, is_left in zip(row, widths, left, strict=True)
                ).rstrip()
                for row in cells
            ]
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """Return GitHub-flavoured Markdown."""
        lines = [f"## {self.title}"]
        for section in self.sections:
            lines += ["", f"### {section.heading}", ""] if section.heading else [""]
            left = [_is_text(column) for column in section.columns.values()]
            lines.append("| " + " | ".join(_pipe(name) for name in section.columns) + " |")
            lines.append("|" + "|".join("---" if is_left else "---:" for is_left in left) + "|")
            lines += ["| " + " | ".join(map(_pipe, row)) + " |" for row in section.rows()]
        lines += ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return an HTML fragment; every cell is escaped."""
        parts = [f'<div class="bottega-summary"><h3>{escape(self.title)}</h3>']
        for section in self.sections:
            head = "".join(f'<th scope="col">{escape(name)}</th>' for name in section.columns)
            body = "".join(
                "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
                for row in section.rows()
            )
            caption = f"<caption>{escape(section.heading)}</caption>" if section.heading else ""
            parts.append(
                f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            )
        parts += [f"<p>{escape(note)}</p>" for note in self.notes]
        return "".join([*parts, "</div>"])

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


class Shown:
    """A result that shows itself as its `summary` does: as text, and as HTML in a notebook."""

    @abstractmethod
    def summary(self) -> Summary:
        """Return the result as a table that shows itself as text, HTML and Markdown."""

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def _is_text(column: Sequence[Any]) -> bool:
    return any(isinstance(cell, str) for cell in column)


def _pipe(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
