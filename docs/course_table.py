"""The page of the course, made from the registered claims: `docs/course.rst`.

Run it after an experiment was added or its words were changed; a test compares page and claims.
With ``--pictures`` the charts on the page are drawn again too.
"""

import sys
from pathlib import Path

from bottega.course import CLAIMS

DOCS = Path(__file__).parent
PAGE = DOCS / "course.rst"

# What is listed in the inventories of the notes: prefix, last number, and how numbers are written.
SOURCES = {
    "A-E": ("Statistical methods, linear classifiers, non-parametric methods", 38, "02d"),
    "D-E": ("Data analysis and data mining", 40, "d"),
    "M-X": ("Machine learning", 55, "d"),
    "N-X": ("Networks, dimension reduction, clustering", 21, "d"),
}

# Claims whose methods are not built yet: what is claimed, and the family it waits for.
WAITING: dict[str, tuple[str, str]] = {}

# Parts of registered claims that wait too.
PARTLY_WAITING: dict[str, tuple[str, str]] = {}

# Charts shown on the page.
PICTURES = ("A-E05", "A-E13", "A-E21", "A-E31")

_TOP = """Course
======

Every claim of the course that a program can test, put to the test: each call draws its own data,
reports whether the claim is supported, and returns the numbers (``to_frame()``) and a chart
(``plot()``).

.. code-block:: python

   from bottega import course

   found = course.run("A-E05")   # or course.neighbors_sweep(rows=301, repeats=20)
   print(found)                  # supported: training error 0 at k = 1 and ...
   found.plot().save("sweep.png")
   course.claims()               # all of them, as a data frame

A verdict "holds only if" or "wrong" names what the notes left out; the call then shows both sides.
"""


def ids() -> list[str]:
    """Return the ids of all claims that the inventories list, in their order."""
    return [
        f"{prefix}{number:{style}}"
        for prefix, (_, last, style) in SOURCES.items()
        for number in range(1, last + 1)
    ]


def page() -> str:
    """Return the page: pictures, one table per source, and what is not built yet."""
    lines = [_TOP]
    waiting = {**WAITING, **PARTLY_WAITING}
    for each in PICTURES:
        claim = CLAIMS[each]
        lines += [
            f".. figure:: images/{each}.svg",
            f"   :alt: {claim.text}",
            "",
            f"   {each}: {_text(claim.text)}",
            "",
        ]
    for prefix, (title, *_) in SOURCES.items():
        listed = [each for each in ids() if each.startswith(prefix)]
        entered = [each for each in listed if each in CLAIMS]
        left = [each for each in listed if each not in CLAIMS or each in PARTLY_WAITING]
        lines += [title, "-" * len(title), ""]
        if entered:
            lines += table("8 50 42", "Id", "Claim", "Call and verdict")
            for each in entered:
                claim = CLAIMS[each]
                lines += row(
                    each,
                    _text(claim.text),
                    f":func:`~bottega.course.{claim.call.__name__}`: {_text(claim.verdict)}",
                )
            lines.append("")
        if left:
            lines += ["Not built yet, with the family of methods each waits for:", ""]
            lines += table("8 62 30", "Id", "Claim", "Waits for")
            for each in left:
                lines += row(each, *map(_text, waiting.get(each, ("", "to be built"))))
            lines.append("")
    names = sorted({claim.call.__name__ for claim in CLAIMS.values()})
    lines += ["Calls", "-----", "", ".. autosummary::", "   :toctree: api", "   :nosignatures:", ""]
    lines += [f"   bottega.course.{name}" for name in names]
    return "\n".join(lines) + "\n"


def table(widths: str, *head: str) -> list[str]:
    """Return the beginning of a table: its widths and its heading."""
    return [
        ".. list-table::",
        "   :header-rows: 1",
        f"   :widths: {widths}",
        "",
        *row(*head),
    ]


def row(*cells: str) -> list[str]:
    """Return one row of a table."""
    first, *others = cells
    return [f"   * - {first}", *(f"     - {cell}" for cell in others)]


def _text(words: str) -> str:
    """Return words as reStructuredText that shows them as they are."""
    for sign in "\\*`|_":
        words = words.replace(sign, f"\\{sign}")
    return words


def draw_pictures() -> None:
    """Draw the charts on the page."""
    for each in PICTURES:
        CLAIMS[each].call().plot().save(DOCS / f"images/{each}.svg")


if __name__ == "__main__":
    PAGE.write_text(page())
    if "--pictures" in sys.argv[1:]:
        draw_pictures()
