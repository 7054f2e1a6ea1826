"""What is to be said about the columns of a table: left out, converted, or easily misread."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from bottega.data import convert
from bottega.data._encode.stem_columns import most_stems
from bottega.data.columns import DATELIKE, FOREIGN, MAX_LEVELS, UNUSABLE, Profile
from bottega.data.findings import Finding


def is_left_out(seen: Profile) -> bool:
    """Return True if a feature cannot be used."""
    crowded = seen.kind == "category" and seen.distinct > MAX_LEVELS
    return seen.kind in UNUSABLE or seen.distinct == 0 or crowded or _unread(seen)


def _unread(seen: Profile) -> bool:
    """Return True for texts where no library is installed to find their stems."""
    return seen.kind == "text" and find_spec("snowballstemmer") is None


def encoded_width(profiles: Mapping[str, Profile], n_rows: int) -> int:
    """Return how many columns features become once categories are one column per level.

    Levels of one row become one column together, texts at most as many columns as there may be.
    """
    width = 0
    for seen in profiles.values():
        levels = seen.distinct - seen.single + (seen.single > 0)
        width += {"category": levels, "text": most_stems(n_rows)}.get(seen.kind, 1)
    return width


def about_feature(name: str, seen: Profile, *, chosen: bool) -> Iterator[Finding]:
    """Say why a feature is left out, or how it is read."""
    if seen.rounded:
        yield Finding(
            "precision",
            name,
            f"Column {name!r} holds numbers that differ beyond the 16th digit, where floating-point"
            " numbers end: some of its values, or all, look alike; subtract a constant from them "
            f"before, or give kinds={{{name!r}: 'category'}} if they are labels.",
        )
    if seen.infinite:
        yield Finding(
            "infinite",
            name,
            f"Column {name!r} holds {seen.infinite:,} infinite value"
            f"{'' if seen.infinite == 1 else 's'}, taken as missing.",
        )
    if seen.far is not None:
        value, many, low, high = seen.far
        yield Finding(
            "far",
            name,
            f"Column {name!r} holds {value:.4g}{_and_more(many)}, while half of its values lie "
            f"between {low:.4g} and {high:.4g}: if that is a mistake, correct it or make it "
            "missing; a method that draws a line or a curve through such a value can be far off.",
        )
    if is_left_out(seen):
        if not chosen:
            yield _left_out(name, seen)
    elif seen.words is not None:
        yield _mixed(name, seen)
    elif seen.writing is not None and not chosen:
        yield _as_text(name, seen)


def _and_more(many: int) -> str:
    return "" if many == 1 else f" and {many - 1:,} more such"


def _left_out(name: str, seen: Profile) -> Finding:
    cure = f"; give kinds={{{name!r}: ...}} to use it"
    if seen.distinct == 0:
        return Finding("empty", name, f"Column {name!r} is missing in every row and is left out.")
    if seen.kind == "category":
        how, cure = "most of them seen in one row only, like a key", ""
        if 2 * seen.single <= seen.distinct:
            how = f"more than the {MAX_LEVELS:,} usable"
            cure = "; group its rare levels to use it"
        return Finding(
            "levels",
            name,
            f"Column {name!r} is a category with {seen.distinct:,} levels, {how}, and is left "
            f"out{cure}.",
        )
    if seen.kind == DATELIKE:
        return Finding(
            "date_format",
            name,
            f"Column {name!r} looks like dates in several formats, or in one that may be read in "
            "two ways, and is left out; write them like 2026-01-31 to use them.",
        )
    if seen.kind == FOREIGN:
        return Finding(
            "unusable",
            name,
            f"Column {name!r} holds values of a type that no method can use and is left out.",
        )
    reason = {
        "id": "has a different value in every row, like a key,",
        "constant": "has the same value in every row",
        "text": "holds free text, for which the library 'snowballstemmer' is not installed,",
    }[seen.kind]
    if seen.kind == "text":
        cure = "; run  pip install 'bottega[text]'  to use it"
    if seen.kind == "constant":
        cure = ""
        if seen.rounded:
            reason = "has the same first 16 digits in every row"
    return Finding(seen.kind, name, f"Column {name!r} {reason} and is left out{cure}.")


def _mixed(name: str, seen: Profile) -> Finding:
    assert seen.words is not None
    word, _, n_words = seen.words
    what = (
        f"Column {name!r} mixes numbers and {n_words:,} "
        f"word{'' if n_words == 1 else 's'} such as {convert.short(word)}"
    )
    if seen.kind == "number":
        how = "is read as numbers, the words as missing values"
        cure = f"kinds={{{name!r}: 'category'}} if every value is a label"
    else:
        how = "is taken as a category"
        cure = "numbers alone to have it taken as numbers"
    return Finding("mixed", name, f"{what} and {how}; give {cure}.")


def _as_text(name: str, seen: Profile) -> Finding:
    assert seen.writing is not None
    writing = seen.writing
    if seen.kind != "number":
        return Finding(
            "number_as_text",
            name,
            f"Column {name!r} holds numbers written as text and is not used as a number; give "
            f"kinds={{{name!r}: 'number'}} if it should be.",
        )
    shown = f"{convert.short(writing.example)} is {writing.values[writing.example]:.12g}"
    other = "," if writing.decimal == "." else "."
    cure = (
        f"give kinds={{{name!r}: 'category'}} if they are labels"
        if writing.sure
        else f"it could be read otherwise: give decimal={other!r} if the decimal sign is {other!r}"
    )
    return Finding(
        "number_format",
        name,
        f"Column {name!r} holds numbers written as text and is read as numbers ({shown}); {cure}.",
    )


def about_kinds(profiles: Mapping[str, Profile], n_rows: int) -> Iterator[Finding]:
    """Say what becomes of texts, dates and single levels of the features that are used."""
    texts = [name for name, seen in profiles.items() if seen.kind == "text"]
    if texts:
        one = len(texts) == 1
        yield Finding(
            "text",
            texts[0] if one else None,
            f"Column{'' if one else 's'} {', '.join(map(repr, texts))} "
            f"hold{'s' if one else ''} free text, from which methods get the weights (tf-idf) of "
            f"the {most_stems(n_rows):,} commonest stems{'' if one else ' of each'} at most; "
            f"{'it says' if one else 'they say'} nothing to them beyond these.",
        )
    dates = [name for name, seen in profiles.items() if seen.kind == "date"]
    if dates:
        one = len(dates) == 1
        yield Finding(
            "date",
            dates[0] if one else None,
            f"Column{'' if one else 's'} {', '.join(map(repr, dates))} "
            f"hold{'s' if one else ''} dates, from which methods get the day as a number, the "
            "year, the month and the weekday (and the hour), as far as they vary.",
        )
    single = {
        name: seen for name, seen in profiles.items() if seen.kind == "category" and seen.single
    }
    if single:
        shown = [f"{name!r} ({s.single:,} of {s.distinct:,})" for name, s in single.items()]
        more = f" and {len(shown) - 5} more columns" if len(shown) > 5 else ""
        yield Finding(
            "rare_levels",
            next(iter(single)) if len(single) == 1 else None,
            f"Levels seen in one row only, in {', '.join(shown[:5])}{more}, are taken together as "
            "'other' where levels become columns, and levels seen later for the first time go "
            "there too.",
        )
