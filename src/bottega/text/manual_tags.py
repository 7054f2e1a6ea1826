"""Tags that people gave, and how far they agree."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array
from bottega.data import convert
from bottega.data.read import read_chunks
from bottega.metrics.kappa import Kappa, kappa
from bottega.metrics.krippendorff import KrippendorffAlpha, krippendorff_alpha

__all__ = ["ManualTags", "read_tags"]


@dataclass(frozen=True, eq=False, repr=False)
class ManualTags(Shown):
    """Tags of texts by annotators; made by `read_tags`.

    Attributes
    ----------
    texts : tuple of str
        The texts that have a tag, by name, in the order in which they came.
    annotators : tuple of str
        Who gave tags, sorted.
    tags : ndarray of shape (texts, annotators)
        Their tags; None where there is none.
    """

    texts: tuple[str, ...]
    annotators: tuple[str, ...]
    tags: Array

    def alpha(self, measurement: str = "nominal") -> KrippendorffAlpha:
        """Return Krippendorff's alpha of all annotators."""
        return krippendorff_alpha(self.tags, measurement=measurement)

    def kappa(self, first: str, second: str) -> Kappa:
        """Return Cohen's kappa of two annotators, on the texts that both have tagged."""
        pair = self.tags[:, [self._place(first), self._place(second)]]
        both = [row for row in pair.tolist() if None not in row]
        if not both:
            raise InputError(f"No text has tags of both {first!r} and {second!r}.")
        return kappa([row[0] for row in both], [row[1] for row in both])

    def _place(self, name: str) -> int:
        if name not in self.annotators:
            raise InputError(
                f"There is no annotator {name!r}.{did_you_mean(name, self.annotators)}"
            )
        return self.annotators.index(name)

    def majority(self) -> list[str | None]:
        """Return the tag that most annotators gave to each text; None for a tie."""
        found: list[str | None] = []
        for row in self.tags.tolist():
            ranked = Counter(tag for tag in row if tag is not None).most_common(2)
            tie = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
            found.append(None if tie else ranked[0][0])
        return found

    def of(self, names: Sequence[str]) -> list[str | None]:
        """Return the majority's tag of the texts of these names, None for those without one."""
        known = dict(zip(self.texts, self.majority(), strict=True))
        return [known.get(str(name)) for name in names]

    def summary(self) -> Summary:
        """Return the tags of each annotator, and the agreement of all and of each two."""
        kinds = sorted({tag for tag in self.tags.ravel() if tag is not None})
        counts = [Counter(column) for column in self.tags.T.tolist()]
        given: dict[str, list[Any]] = {"annotator": list(self.annotators)}
        given |= {str(tag): [count[tag] for count in counts] for tag in kinds}
        sections = [Section("Tags", given)]
        if len(self.annotators) > 1 and len(kinds) > 1:
            pairs = [
                (a, b)
                for a, b in combinations(range(len(self.annotators)), 2)
                if len({*self.tags[self._both(a, b)][:, [a, b]].ravel().tolist()}) > 1
            ]
            names = [(self.annotators[a], self.annotators[b]) for a, b in pairs]
            columns: dict[str, list[Any]] = {
                "first": [a for a, _ in names],
                "second": [b for _, b in names],
                "texts": [int(self._both(a, b).sum()) for a, b in pairs],
                "kappa": [self.kappa(a, b).value for a, b in names],
            }
            if names:
                sections += [Section("Agreement of two", columns)]
                alpha = self.alpha()
                sections += [Section("Agreement of all", {"alpha": [alpha.value]})]
        return Summary(f"Tags of {len(self.texts):,} texts", tuple(sections))

    def _both(self, a: int, b: int) -> Any:
        return np.array([row[a] is not None and row[b] is not None for row in self.tags])


def read_tags(
    source: Any, *, text: str = "text", tag: str = "tag", annotator: str | None = None
) -> ManualTags:
    """Read tags that people gave: one row per text, or per text and annotator.

    Parameters
    ----------
    source : path or data frame
        What `bottega.data.read` takes.
    text, tag : str
        The columns that name the text and hold its tag; rows without a tag are left out.
    annotator : str, optional
        The column that names who gave it; by default one person gave all.

    Returns
    -------
    ManualTags

    Raises
    ------
    InputError
        Where a column is missing, no row has a tag, or one annotator tagged a text twice.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"text": ["1", "1", "2", "2"], "who": ["A", "B", "A", "B"],
    ...         "tag": ["for", "for", "for", "against"]}
    >>> tags = read_tags(pd.DataFrame(rows), annotator="who")
    >>> tags.majority(), round(tags.alpha().value, 2)
    (['for', None], 0.0)
    """
    wanted = [text, tag, *([] if annotator is None else [annotator])]
    rows: list[tuple[str, str, str]] = []
    for chunk in read_chunks(source, text=wanted):
        frame = convert.as_frame(chunk)
        for name in wanted:
            if name not in frame.columns:
                raise InputError(
                    f"There is no column {name!r}.{did_you_mean(name, frame.columns)} The columns "
                    f"are {', '.join(map(repr, frame.columns[:8]))}."
                )
        columns = [convert.labels(frame[name]) for name in wanted]
        who = columns[2] if annotator is not None else ["annotator"] * len(frame)
        for one, given, person in zip(columns[0], columns[1], who, strict=True):
            if one is None or person is None:
                raise InputError(f"A row has a tag and no {text if one is None else annotator!r}.")
            if given is not None and given.strip():
                rows.append((one, given, person))
    if not rows:
        raise InputError(f"No row has a tag in column {tag!r}.")
    texts = list(dict.fromkeys(one for one, _, _ in rows))
    people = sorted({person for _, _, person in rows})
    place, column = {one: i for i, one in enumerate(texts)}, {p: j for j, p in enumerate(people)}
    tags = np.full((len(texts), len(people)), None, dtype=object)
    for one, given, person in rows:
        if tags[place[one], column[person]] is not None:
            raise InputError(
                f"{person!r} has tagged the text {convert.short(one)} twice; keep one of the tags."
            )
        tags[place[one], column[person]] = given
    return ManualTags(tuple(texts), tuple(people), tags)
