"""The table of methods, made from the cards: for the README and for the documentation."""

import sys
from pathlib import Path

from bottega.core.cards import CAPABILITIES
from bottega.registry import estimators

START, END = "<!-- methods: start -->", "<!-- methods: end -->"


def readme_table() -> str:
    """Return the README's table: one row a method, its classes by task."""
    lines = ["| method | regression | classification | knob | offers |", "|---|---|---|---|---|"]
    by_method: dict[str, dict[str, type]] = {}
    for each in estimators():
        by_method.setdefault(each.card.method, {})[each.card.task] = each
    for method, classes in by_method.items():
        shown = [
            f"`{classes[task].__module__.split('.')[1]}.{classes[task].__name__}`"
            if task in classes
            else ""
            for task in ("regression", "classification")
        ]
        cards = [each.card for each in classes.values()]
        offers = [
            name.replace("_", " ")
            for name in CAPABILITIES
            if any(getattr(card, name) for card in cards)
        ]
        knob = f"`{cards[0].knob}`" if cards[0].knob else ""
        lines.append(f"| {method} | {shown[0]} | {shown[1]} | {knob} | {', '.join(offers)} |")
    return "\n".join(lines)


def write_methods_page(path: Path) -> None:
    """Write the documentation's page of cards."""
    lines = ["Methods", "=======", "", "Made from the cards of the catalogue.", ""]
    for each in estimators():
        card = each.card
        name = f"{each.__module__.rsplit('.', 1)[0]}.{each.__name__}"
        title = f"{card.title} ({card.task})"
        lines += [title, "-" * len(title), "", f":class:`{name}`; knob: "]
        lines[-1] += f"``{card.knob}``; " if card.knob else "none; "
        lines[-1] += f"cost of a fit with its path: ``{card.cost}``; notes: {card.source}."
        offers = [words for field, words in CAPABILITIES.items() if getattr(card, field)]
        lines += ["", "It " + "; ".join(offers) + ".", "", "Strengths", ""]
        lines += [f"- {sentence}" for sentence in card.strengths]
        lines += ["", "Weaknesses", ""] + [f"- {sentence}" for sentence in card.weaknesses] + [""]
    path.write_text("\n".join(lines))


def update_readme(path: Path) -> None:
    """Put the current table between the README's markers."""
    text = path.read_text()
    before, rest = text.split(START)
    after = rest.split(END)[1]
    path.write_text(f"{before}{START}\n{readme_table()}\n{END}{after}")


if __name__ == "__main__":
    update_readme(Path(sys.argv[1] if len(sys.argv) > 1 else "README.md"))
