"""Rows without a label: the proportions of the classes among them, from their texts."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bottega.core.errors import DataWarning, InputError
from bottega.core.frames import take_rows
from bottega.core.typing import FloatArray, IntArray
from bottega.data import Table, convert, folds
from bottega.text import AggregateProportions, StemMatrix, TextCleaner

__all__ = [
    "UnreadProportions",
    "refuse_without_texts",
    "seconds_of",
    "stem_matrix_of",
    "text_columns",
    "texts_of",
    "unread_proportions",
]

LEAST_ROWS = 30  # without a label, for their proportions to mean something
MOST_CLASSES = 20
_MOST_LABELLED = 5_000
_MOST_UNREAD = 20_000
_MOST_STEMS = 2_000
_LEAST_TEXTS = 2  # that have a stem
_FOLDS = 5
_UNLIKELY = 0.05  # p-value below which the classes are said not to carry over
_NAMED = 5  # stems that do not carry over


@dataclass(frozen=True, eq=False)
class UnreadProportions:
    """The classes among rows without a label, by their texts; made by `Comparison.proportions`.

    Attributes
    ----------
    proportions : bottega.text.Proportions
        Proportions with intervals.
    labelled : ndarray of shape (K,)
        Shares of the classes among the texts that were learnt from.
    counted : ndarray of shape (K,)
        Shares of the best method's predictions for the same rows, which are biased where the
        proportions are others than among the labelled rows.
    carry_over : bottega.text.CarryOver or None
        The test of whether texts of a class are alike with and without a label; None where too
        few stems are common.
    n_labelled, n_unread : int
        Texts that were learnt from, and texts without a label.
    notes : tuple of str
        What else is to be known, in sentences.
    """

    proportions: Any
    labelled: FloatArray
    counted: FloatArray
    carry_over: Any
    n_labelled: int
    n_unread: int
    notes: tuple[str, ...]

    @property
    def doubtful(self) -> bool:
        """Whether the test says that the labelled classes do not carry over."""
        return self.carry_over is not None and self.carry_over.p_value < _UNLIKELY

    @property
    def assumption(self) -> str:
        """What the test of the assumption says, in a sentence or two."""
        rests = "The estimates hold if texts of a class are alike with and without a label."
        if self.carry_over is None:
            return f"{rests} Too few stems are common to test that."
        p = f"p = {self.carry_over.p_value:.2g}"
        if not self.doubtful:
            return (
                f"{rests} The stems of these texts do not speak against it ({p}), which does not "
                "prove it."
            )
        worst = np.argsort(-np.abs(self.carry_over.z), kind="stable")[:_NAMED]
        stems = ", ".join(f"'{self.carry_over.stems[j]}'" for j in worst)
        return (
            f"{rests} Here they are not ({p}): stems such as {stems} are more or less frequent "
            "than any mixture of the labelled classes has them, so the proportions may be wrong. "
            "Label some of these rows, and compare again."
        )

    def in_words(self, target: str) -> list[str]:
        """Return the proportions in a sentence, and what the test of the assumption says."""
        found = self.proportions
        low, high = found.interval
        rows = zip(found.classes, found.estimate[0], low[0], high[0], strict=True)
        told = [f"{name} {p:.1%} [{least:.1%}, {most:.1%}]" for name, p, least, most in rows]
        counts = ", ".join(f"{share:.1%}" for share in self.counted)
        text = (
            f"estimated proportions among {self.n_unread:,} texts without {target!r}: "
            f"{', '.join(told)} ({100 * found.level:g}% intervals); predictions counted: {counts}"
        )
        return [text, self.assumption[:1].lower() + self.assumption[1:].rstrip(".")]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        found = self.proportions
        low, high = found.interval
        names = ("proportion", "conf_low", "conf_high", "counted", "labelled")
        columns = (found.estimate[0], low[0], high[0], self.counted, self.labelled)
        return {
            "n_labelled": self.n_labelled,
            "n_unread": self.n_unread,
            "level": found.level,
            "classes": [
                {"class": name, **{key: float(each) for key, each in zip(names, row, strict=True)}}
                for name, *row in zip(found.classes, *columns, strict=True)
            ],
            "carry_over_p_value": None if self.carry_over is None else self.carry_over.p_value,
            "notes": [self.assumption, *self.notes],
        }


def text_columns(table: Table) -> list[str]:
    """Return the features that hold free text."""
    return [name for name, kind in table.kinds.items() if kind == "text"]


def texts_of(series: Any) -> list[str]:
    """Return a column of texts; a missing one is empty."""
    return [text or "" for text in convert.texts(series)]


def stem_matrix_of(texts: list[str], **options: Any) -> tuple[StemMatrix, Any]:
    """Return the stems of texts as the models find them, and their matrix."""
    # Words of other alphabets are kept only where the language is not known, as in the models.
    cleaner = TextCleaner().fit(texts)
    cleaner.set_params(other_alphabets=cleaner.language_ is None)
    matrix = StemMatrix(cleaner, min_df=_LEAST_TEXTS, **options)
    return matrix, matrix.fit_transform(texts)


def seconds_of(table: Table) -> float:
    """Return about how long the proportions take."""
    return 1.0 + min(table.n_rows, _MOST_LABELLED) / 1000


def unread_proportions(
    table: Table, train: Table, predict: Callable[[Any], Any], seed: int
) -> UnreadProportions:
    """Estimate the proportions of the classes among the rows of a table without a label.

    Parameters
    ----------
    table : Table
        Everything that was read.
    train : Table
        The labelled rows to learn from.
    predict : callable
        Returns labels of rows, which are counted for comparison.
    seed : int
        Of samples, folds and bootstrap samples.

    Returns
    -------
    UnreadProportions
        From at most 5,000 labelled and 20,000 other rows, drawn at random where there are more.
    """
    names = text_columns(table)
    refuse_without_texts(table)
    frame = convert.as_frame(table.unlabelled)
    labelled = _with_text([texts_of(train.series(name)) for name in names])
    unread = _with_text([texts_of(frame[name]) for name in names])
    if len(unread) < LEAST_ROWS:
        raise InputError(too_few(len(unread), str(table.target)))
    rng = np.random.default_rng(seed)
    notes = _notes(table, train.n_rows, labelled, frame, unread)
    own = train.take(_some(labelled, _MOST_LABELLED, rng))
    unread = _some(unread, _MOST_UNREAD, rng)
    rows = take_rows(table.unlabelled, unread)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of texts without a stem
        stems, S, U = _stem_matrices(own, convert.as_frame(rows), names)
        if not U.count_nonzero():
            raise InputError(
                f"{len(unread):,} texts have no value of {table.target!r}, and none of them has a "
                "stem of the labelled texts, so nothing can be said about their classes."
            )
        fit = AggregateProportions(
            cv=folds(own, _FOLDS, random_state=seed, time=False), random_state=seed
        ).fit(S, own.y, own.weight)
        weight = _weight_of(table, convert.as_frame(rows))
        estimate = fit.proportions(U, sample_weight=weight)
        carried = None
        if len(fit.compared_stems_):
            carried = fit.carry_over_test(U, sample_weight=weight, stems=stems)
    predicted = np.asarray(predict(rows))[:, None] == fit.classes_
    return UnreadProportions(
        estimate,
        fit.priors_,
        np.average(predicted, axis=0, weights=weight),
        carried,
        own.n_rows,
        len(unread),
        notes,
    )


def refuse_without_texts(table: Table) -> None:
    """Refuse a table whose target is no class, or that has no texts, or no rows without a label."""
    if table.classes is None or not text_columns(table):
        raise InputError(
            "Proportions of classes are estimated from texts: the target must be a class, and one "
            "of the columns free text."
        )
    if len(table.classes) > MOST_CLASSES:
        raise InputError(
            f"The target has {len(table.classes):,} classes, and proportions are estimated of "
            f"{MOST_CLASSES} at most; group the rare ones."
        )
    if table.unlabelled is None:
        raise InputError(too_few(0, str(table.target)))


def too_few(count: int, target: str) -> str:
    """Say how rows without a label would be used."""
    have = {0: "No row has", 1: "Only 1 row has"}.get(count, f"Only {count} rows have")
    return (
        f"{have} a text and no value of {target!r}. With {LEAST_ROWS} or more such rows, texts "
        "that nobody has read, the proportions of the classes among them are estimated, with "
        "intervals."
    )


def _with_text(columns: list[list[str]]) -> IntArray:
    """Return the rows that have a text in one of the columns."""
    return np.flatnonzero([any(map(str.strip, texts)) for texts in zip(*columns, strict=True)])


def _some(rows: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _stem_matrices(own: Table, rows: Any, names: list[str]) -> tuple[Any, Any, Any]:
    """Return the stems of all columns of texts, and their matrices of both kinds of rows."""
    stems, left, right = [], [], []
    for name in names:
        try:
            matrix, S = stem_matrix_of(texts_of(own.series(name)), max_features=_MOST_STEMS)
        except InputError:  # no two texts of this column share a stem
            continue
        found = matrix.get_feature_names_out()
        stems.append(found if len(names) == 1 else [f"{name}: {stem}" for stem in found])
        left.append(S)
        right.append(matrix.transform(texts_of(rows[name])))
    if not stems:
        raise InputError("No two texts of the training rows share a stem, so they say nothing.")
    return np.concatenate(stems), *(sparse.hstack(each, format="csr") for each in (left, right))


def _weight_of(table: Table, rows: Any) -> FloatArray | None:
    """Return the weights of rows, if the table has weights and each of them has one."""
    name = table.asked["weight"]
    if table.weight is None or name not in rows.columns:
        return None
    weight = convert.numbers(rows[name])
    return weight if np.all(weight >= 0) and weight.any() else None


def _notes(
    table: Table, n_train: int, labelled: IntArray, frame: Any, unread: IntArray
) -> tuple[str, ...]:
    """Say which rows were left out, and what the intervals do not take in."""
    notes = []
    if len(unread) < len(frame):
        notes.append(f"{len(frame) - len(unread):,} rows have neither a label nor a text.")
    if len(labelled) > _MOST_LABELLED or len(unread) > _MOST_UNREAD:
        notes.append(
            f"The estimate is from {min(len(labelled), _MOST_LABELLED):,} of {n_train:,} training "
            f"rows and {min(len(unread), _MOST_UNREAD):,} of {len(unread):,} rows without a label, "
            "drawn at random."
        )
    if table.weight is not None and _weight_of(table, frame) is None:
        notes.append("Rows without a label have no valid weights, and count alike.")
    if table.groups is not None:
        notes.append(
            "The intervals take texts as independent; texts of a group that are alike make them "
            "too narrow."
        )
    return tuple(notes)
