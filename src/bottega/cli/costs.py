"""Costs of errors as a user writes them down: pairs of labels, or a small CSV file."""

import csv
from itertools import permutations
from pathlib import Path

import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.losses import Cost
from bottega.core.typing import Array

__all__ = ["read_costs"]


def read_costs(text: str, classes: Array | None) -> Cost:
    """Read what each kind of error costs.

    Parameters
    ----------
    text : str
        ``OBSERVED:PREDICTED=COST`` for each kind of error, separated by commas; or the name of a
        CSV file with the matrix: a line per predicted class, a column per observed one, the labels
        in the first column and the first line.
    classes : ndarray or None
        The classes of the target; None for a regression.

    Returns
    -------
    Cost
        Correct predictions cost nothing where pairs are given.

    Examples
    --------
    >>> read_costs("ill:healthy=10, healthy:ill=1", np.array(["healthy", "ill"]))
    Cost([[0.0, 10.0], [1.0, 0.0]], classes=['healthy', 'ill'])
    """
    if classes is None:
        raise InputError("Costs are for classes, and the target is a number; leave --cost out.")
    known = {str(label): place for place, label in enumerate(classes.tolist())}
    entries = _of_file(text) if text.lower().endswith(".csv") else _of_pairs(text)
    matrix = np.full((len(known), len(known)), np.nan)
    for observed, predicted, cost in entries:
        for label in (observed, predicted):
            if label not in known:
                raise InputError(
                    f"--cost names {label!r}, which is not a class of the target; the classes are "
                    f"{', '.join(known)}.{did_you_mean(label, known)}"
                )
        place = known[predicted], known[observed]
        if not np.isnan(matrix[place]):
            raise InputError(f"--cost gives {observed}:{predicted} twice.")
        matrix[place] = _number(cost)
    np.fill_diagonal(matrix, np.where(np.isnan(np.diag(matrix)), 0.0, np.diag(matrix)))
    for observed, predicted in permutations(known, 2):
        if np.isnan(matrix[known[predicted], known[observed]]):
            raise InputError(
                f"--cost does not say what it costs to predict {predicted!r} where {observed!r} is "
                f"observed; add {observed}:{predicted}=..."
            )
    return Cost(matrix, classes=classes)


def _of_pairs(text: str) -> list[tuple[str, str, str]]:
    entries = []
    for pair in text.split(","):
        labels, sign, cost = pair.rpartition("=")
        observed, colon, predicted = labels.partition(":")
        if not (sign and colon):
            raise InputError(
                f"--cost {pair.strip()!r}: write OBSERVED:PREDICTED=COST, for example "
                "ill:healthy=10, or give a CSV file."
            )
        entries.append((observed.strip(), predicted.strip(), cost))
    return entries


def _of_file(name: str) -> list[tuple[str, str, str]]:
    try:
        lines = list(csv.reader(Path(name).read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"The costs in {name!r} cannot be read: {error}.") from error
    if len(lines) < 2 or any(len(line) != len(lines[0]) for line in lines):
        raise InputError(
            f"{name!r} should have a line per predicted class and a column per observed one, with "
            "the labels in the first column and the first line."
        )
    observed = [label.strip() for label in lines[0][1:]]
    return [
        (label, line[0].strip(), cost)
        for line in lines[1:]
        for label, cost in zip(observed, line[1:], strict=True)
    ]


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not (np.isfinite(value) and value >= 0):
        raise InputError(f"--cost: {text.strip()!r} is no cost; give a number of at least 0.")
    return value
