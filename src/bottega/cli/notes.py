"""What users are warned of, as notes on standard error."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from bottega.cli.outputs import say
from bottega.report.wording import in_words_of_the_command_line

__all__ = ["warnings_as_notes"]

_DETAIL = re.compile(r"'[^']*'|\d[\d,.]*|\bvalues? (?:is|are)\b")  # what differs from part to part


@contextmanager
def warnings_as_notes(quiet: bool, *, parts: bool = False) -> Iterator[set[str]]:
    """Say what users are warned of in notes, each once, without the files of the code.

    What numerical libraries warn developers of is nothing that a user could act on. Messages that
    are put into the set which the block is given have been said there. Where rows come in `parts`,
    the first of messages that differ in counts and examples alone stands for all.
    """
    said: set[str] = set()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield said
    told = [str(each.message) for each in warned if issubclass(each.category, UserWarning)]
    if not parts:
        for message in dict.fromkeys(each for each in told if each not in said):
            say(f"note: {in_words_of_the_command_line(message)}", quiet)
        return
    alike: dict[str, list[str]] = {}
    for message in (each for each in told if each not in said):
        column, _, rest = message.partition(":")
        alike.setdefault(f"{column}:{_DETAIL.sub('', rest)}", []).append(message)
    for messages in alike.values():
        others = len(set(messages)) - 1
        more = f" So in {others:,} more part{'s' * (others > 1)} of the rows." if others else ""
        say(f"note: {in_words_of_the_command_line(messages[0])}{more}", quiet)
