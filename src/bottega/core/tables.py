"""Results a person reads: one table class that shows itself as text, HTML and Markdown."""

import textwrap
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

__all__ = ["Section", "Shown", "Summary", "show", "wrapped"]

# What a bare result shows at a prompt: one screen.
WIDTH = 100
_HEIGHT = 25
_MOST_NOTES = 8  # lines
_WIDEST_CELL = 44


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


def wrapped(sentence: str, start: str = "") -> list[str]:
    """Return a sentence as lines of a screen, the later ones indented like the first."""
    return textwrap.wrap(sentence, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))


@dataclass(frozen=True)
class Section:
    """One table of a summary: a heading and columns of equal length."""

    heading: str
    columns: Mapping[str, Sequence[Any]]

    def rows(self) -> list[list[str]]:
        """Return the cells as text, row by row."""
        return [[show(cell) for cell in row] for row in zip(*self.columns.values(), strict=True)]

    def lines(self, most: int | None = None, width: int | None = None) -> list[str]:
        """Return the table as lines of text, numbers aligned on the right.

        It may be cut after `most` rows, and its columns broken into several blocks of at most
        `width` characters, each with the first column where that is text.
        """
        table = [list(self.columns), *self.rows()[:most]]
        if width is not None:
            table = [[_cut(cell, _WIDEST_CELL) for cell in row] for row in table]
        widths = [max(len(row[j]) for row in table) for j in range(len(table[0]))]
        left = [_is_text(column) for column in self.columns.values()]
        lines = [self.heading] if self.heading else []
        for block in _blocks(widths, keep=left[0], width=width):
            for row in table:
                cells = [
                    row[j].ljust(widths[j]) if left[j] else row[j].rjust(widths[j]) for j in block
                ]
                lines.append("  ".join(cells).rstrip())
        if most is not None and most < len(self):
            lines.append(f"... and {len(self) - most:,} more rows; print() writes all")
        return lines

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


def _blocks(widths: list[int], keep: bool, width: int | None) -> list[list[int]]:
    """Return which columns stand side by side."""
    if width is None:
        return [list(range(len(widths)))]
    blocks, used = [[0]], widths[0]
    for j, size in enumerate(widths[1:], start=1):
        used += 2 + size
        if used > width:
            blocks.append([0] if keep else [])
            used = (widths[0] + 2 if keep else 0) + size
        blocks[-1].append(j)
    return blocks


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


@dataclass(frozen=True, repr=False)
class Summary:
    """A titled list of tables with notes below them.

    ``print`` writes all of it; a bare summary at a prompt shows one screen.

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
            lines += section.lines()
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        title = _cut(self.title, WIDTH)
        notes = [line for note in self.notes for line in wrapped(note, "Note: ")]
        if len(notes) > _MOST_NOTES:
            notes = [*notes[: _MOST_NOTES - 1], "... and more notes; print() writes everything"]
        most = max((len(section) for section in self.sections), default=0)
        while True:
            tables = [line for each in self.sections for line in each.lines(most, WIDTH)]
            if most <= 1 or 2 + len(tables) + len(notes) <= _HEIGHT:
                break
            most -= 1
        return "\n".join([title, "=" * len(title), *tables, *notes])

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
            sides = ["left" if _is_text(column) else "right" for column in section.columns.values()]
            head = _cells("th", sides, list(section.columns), ' scope="col"')
            body = "".join(f"<tr>{_cells('td', sides, row)}</tr>" for row in section.rows())
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
    """A result that shows itself as its `summary` does: as text, and as HTML in a notebook.

    A data class among its descendants is declared with ``repr=False``.
    """

    @abstractmethod
    def summary(self) -> Summary:
        """Return the result as a table that shows itself as text, HTML and Markdown."""

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def _is_text(column: Sequence[Any]) -> bool:
    return any(isinstance(cell, str) for cell in column)


def _cells(tag: str, sides: list[str], row: list[str], more: str = "") -> str:
    """Return a row of HTML cells, escaped, each aligned to its side."""
    return "".join(
        f'<{tag}{more} style="text-align:{side};padding:0 0.6em">{escape(cell)}</{tag}>'
        for side, cell in zip(sides, row, strict=True)
    )


def _pipe(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
