"""What the smaller commands do; `comparing` and `predicting` have the large ones."""

import json

from bottega.cli.live import shown_progress
from bottega.cli.outputs import say, write_out
from bottega.core.cards import CAPABILITIES, Card
from bottega.core.errors import InputError, did_you_mean
from bottega.core.tables import Section, Summary
from bottega.registry import FIELDS, cards, in_words
from bottega.workbench import warmup as warm_up

__all__ = ["methods", "parse_class_weight", "parse_kinds", "parse_names", "warmup"]


def methods(method: str | None, task: str | None, *, as_json: bool) -> None:
    """Print the catalogue, or the cards of one method."""
    known = sorted({card.task for card in cards()})
    if task not in (None, *known):
        raise InputError(f"--task {task!r}: use one of {', '.join(known)}.")
    found = [card for card in cards() if task in (None, card.task)]
    if method is not None:
        names = {card.method for card in found}
        if method not in names:
            raise InputError(f"There is no method {method!r}.{did_you_mean(method, names)}")
        found = [card for card in found if card.method == method]
    if as_json:
        rows = [{name: in_words(card, name) for name in FIELDS} for card in found]
        write_out(json.dumps(rows, indent=2))
        return
    if method is not None:
        write_out("\n\n".join(map(_card_in_words, found)))
        return
    columns = {
        "method": [card.method for card in found],
        "task": [card.task for card in found],
        "title": [card.title for card in found],
        "knob": [card.knob or "-" for card in found],
        "offers": [
            ", ".join(name for name in CAPABILITIES if getattr(card, name)) for card in found
        ],
    }
    write_out(str(Summary("Methods", (Section("", columns),))))


def _card_in_words(card: Card) -> str:
    """Write a card for a reader."""
    title = f"{card.title} ({card.task}): {in_words(card, 'estimator')}"
    lines = [title, "=" * len(title)]
    lines.append(
        f"knob: {card.knob or 'none'}; takes: {in_words(card, 'takes')}; cost of a fit with its "
        f"path: {card.cost}"
    )
    offers = [words for name, words in CAPABILITIES.items() if getattr(card, name)]
    lines += [f"It {'; '.join(offers)}."] if offers else []
    for heading in ("strengths", "weaknesses", "assumptions"):
        sentences = getattr(card, heading)
        lines += [f"{heading}:", *(f"- {sentence}" for sentence in sentences)] if sentences else []
    return "\n".join(lines)


def warmup(*, quiet: bool) -> None:
    """Compile every kernel."""
    with shown_progress("compiling", quiet=quiet):
        seconds = warm_up()
    say(f"all kernels compiled in {seconds:.1f} s", quiet)


def parse_names(text: str | None) -> list[str] | None:
    """Read names separated by commas.

    Examples
    --------
    >>> parse_names("ridge, tree,"), parse_names(None)
    (['ridge', 'tree'], None)
    """
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def parse_kinds(pairs: list[str]) -> dict[str, str] | None:
    """Read the NAME=KIND options."""
    kinds = {}
    for pair in pairs:
        name, sign, kind = pair.rpartition("=")
        if not (name and sign and kind):
            raise InputError(f"--kind {pair!r}: write NAME=KIND, for example age=number.")
        kinds[name] = kind
    return kinds or None


def parse_class_weight(text: str | None) -> str | None:
    """Read how classes weigh: all the same, or (by default) as often as they come."""
    if text not in (None, "balanced"):
        raise InputError(
            f"--class-weight {text!r}: the command line knows balanced; give --cost to say what "
            "each kind of error costs."
        )
    return text
