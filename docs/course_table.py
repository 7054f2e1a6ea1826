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
WAITING: dict[str, tuple[str, str]] = {
    "D-E19": (
        "Small errors on single texts make large ones on their totals; integrated sentiment "
        "analysis repairs it.",
        "text",
    ),
    "D-E20": (
        "Gradients of sigmoids vanish with depth, those of rectifiers do not; small batches are "
        "faster; dropout, decay and early stopping overfit less.",
        "neural networks",
    ),
    "D-E27": (
        "Networks started near zero are nearly linear; there are many minima; many units with "
        "decay beat few.",
        "neural networks",
    ),
    "M-X37": (
        "Exact line search takes fewer steps, backtracking cheaper ones.",
        "optimisation",
    ),
    "M-X38": (
        "Gradient descent converges linearly, within its bound on the iterations.",
        "optimisation",
    ),
    "M-X39": ("Too small steps crawl, too large ones diverge.", "optimisation"),
    "M-X40": (
        "Momentum, AdaGrad and Adam beat plain descent on badly scaled functions.",
        "optimisation",
    ),
    "M-X41": ("Newton takes few steps and the memory of a square.", "optimisation"),
    "M-X42": ("Stochastic descent beats full descent in passes over the data.", "optimisation"),
    "M-X45": ("Plain descent leaves the feasible set, projection repairs it.", "optimisation"),
    "M-X46": (
        "The dual is concave and below the primal, and equal to it under Slater's condition.",
        "optimisation",
    ),
    "M-X47": (
        "The conditions of Karush, Kuhn and Tucker hold at the optimum only.",
        "optimisation",
    ),
    "N-X1": (
        "No plane separates an exclusive-or and a small network does; 14 of 16 labelings of "
        "four points are separable.",
        "neural networks",
    ),
    "N-X2": (
        "Two hidden units separate it only with a bias at the output.",
        "neural networks",
    ),
    "N-X3": (
        "Deep linear networks are one matrix; wider hidden layers err less; deep and wide "
        "compared at equal parameters.",
        "neural networks",
    ),
    "N-X4": (
        "Sigmoids saturate, rectifiers die and leaky ones do not; positive inputs couple "
        "the signs of gradients.",
        "neural networks",
    ),
    "N-X5": (
        "Finite differences err in proportion to their step and cost a square of the "
        "weights, backpropagation is linear in them.",
        "neural networks",
    ),
    "N-X6": (
        "Symbolic derivatives of rectifiers grow with every branch.",
        "neural networks",
    ),
    "N-X7": (
        "Clipping tames gradients at a cliff; powers of a matrix vanish or explode with its "
        "spectral radius.",
        "neural networks",
    ),
    "N-X8": (
        "Outliers move squared errors most, absolute errors and Huber's least.",
        "neural networks",
    ),
    "N-X9": (
        "Convolutions need few parameters, follow shifts, and edge filters are zero on constants.",
        "neural networks",
    ),
    "N-X10": (
        "Parameters of recurrent networks do not depend on the length; their gradients "
        "change with the lag.",
        "neural networks",
    ),
    "N-X11": (
        "Equal starting weights stay equal; the scale of the start decides the spread of "
        "activations.",
        "neural networks",
    ),
    "N-X12": (
        "Decay shrinks weights and the lasso zeroes them; noise, augmentation, dropout and "
        "batch normalisation regularise.",
        "neural networks",
    ),
    "N-X13": (
        "Rows of softmax attention sum to one, those of plain products do not; one batch "
        "can be overfitted.",
        "neural networks",
    ),
    "N-X21": (
        "A code of 1.75 bits meets the entropy; multipliers at a constrained optimum; "
        "derivatives of matrices; losses are negative log-likelihoods.",
        "probability and optimisation",
    ),
}

# Parts of registered claims that wait too.
PARTLY_WAITING: dict[str, tuple[str, str]] = {
    "N-X18": (
        "A linear autoencoder is principal components; one that is not linear follows a curve.",
        "neural networks",
    ),
}

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
