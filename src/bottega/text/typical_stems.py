"""The stems by which the texts of a class can be told."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.sparse import is_sparse
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import refuse_missing_labels

__all__ = ["TypicalStems", "typical_stems"]

_PRIOR = 0.5  # texts that are imagined with and without each stem, in each class


@dataclass(frozen=True, eq=False, repr=False)
class TypicalStems(Shown):
    """Stems by class; made by `typical_stems`.

    Attributes
    ----------
    stems : ndarray of shape (p,)
        The stems.
    classes : ndarray of shape (K,)
        The classes, sorted.
    share, elsewhere : ndarray of shape (K, p)
        Share of the texts of a class that have a stem, and share of the other texts.
    z : ndarray of shape (K, p)
        Logarithm of the ratio of the odds of both, over its standard error.
    most : int
        How many stems of a class are shown.
    """

    stems: Array
    classes: Array
    share: FloatArray
    elsewhere: FloatArray
    z: FloatArray
    most: int = 10
    like: Any = None

    def of(self, label: Any) -> list[str]:
        """Return the most typical stems of a class, the most typical first."""
        known = self.classes.tolist()
        if label not in known:
            raise InputError(
                f"There is no class {label!r}; there are {', '.join(map(str, known))}."
            )
        return [str(self.stems[j]) for j in self._order(known.index(label))]

    def _order(self, k: int) -> list[int]:
        order = np.lexsort([np.arange(len(self.stems)), -self.z[k]])[: self.most]
        return [int(j) for j in order if self.z[k, j] > 0]

    def _columns(self) -> dict[str, list[Any]]:
        known = self.classes.tolist()
        rows = [(k, j) for k in range(len(self.classes)) for j in self._order(k)]
        return {
            "class": [known[k] for k, _ in rows],
            "stem": [str(self.stems[j]) for _, j in rows],
            "share": [float(self.share[k, j]) for k, j in rows],
            "elsewhere": [float(self.elsewhere[k, j]) for k, j in rows],
            "z": [float(self.z[k, j]) for k, j in rows],
        }

    def to_frame(self, like: Any = None) -> Any:
        """Return class, stem, share of its texts, share of the others, and z."""
        return make_frame(self._columns(), self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the most typical stems of each class."""
        notes = ("z: log odds ratio of a stem in the class and elsewhere, over its standard error",)
        return Summary("Typical stems", (Section("", self._columns()),), notes)

    def plot(self) -> Any:
        """Draw the most typical stems of each class."""
        from bottega.plot import typical_stems_chart

        found = self._columns()
        return typical_stems_chart(
            found["class"], found["stem"], found["share"], found["elsewhere"]
        )


def typical_stems(S: Any, y: Any, stems: Any = None, *, most: int = 10) -> TypicalStems:
    r"""Return the stems that texts of a class have more often than other texts.

    Parameters
    ----------
    S : array-like or sparse matrix of shape (n, p)
        A stem matrix, of any weighting; what is not zero counts as a stem that a text has.
    y : array-like of shape (n,)
        The class of each text; at least two.
    stems : sequence of str, optional
        The names of the columns; ``0``, ``1``, ... by default.
    most : int
        How many stems of a class are shown.

    Returns
    -------
    TypicalStems
        With `of`, `to_frame` and `plot`.

    Notes
    -----
    For each class and stem, :math:`z = \log(o_1 / o_0) / s`, where :math:`o_1` and :math:`o_0` are
    the odds that a text of the class, and any other text, has the stem, with half a text added to
    each of the four counts, and :math:`s^2` is the sum of the four inverse counts. It is the log
    odds ratio with a prior of [1]_, of texts instead of words: one text that repeats a word weighs
    no more than another. Cost: one pass over the entries of S.

    Stems of few texts have small z, however pure: what is typical is also common. Nothing is
    tested here; among many stems some are typical by chance.

    References
    ----------
    .. [1] Monroe, B. L., Colaresi, M. P. and Quinn, K. M. (2008). Fightin' words: lexical feature
       selection and evaluation for identifying the content of political conflict. Political
       Analysis 16, 372-403.

    Examples
    --------
    >>> from bottega.text import StemMatrix
    >>> texts = ["good film", "a good story", "a bad film", "bad music"]
    >>> matrix = StemMatrix().fit(texts)
    >>> found = typical_stems(
    ...     matrix.transform(texts), ["for", "for", "against", "against"],
    ...     matrix.get_feature_names_out(), most=1,
    ... )
    >>> found.of("for"), found.of("against")
    (['good'], ['bad'])
    """
    refuse_missing_labels(y)
    table = S.tocsr() if is_sparse(S) else np.asarray(S)
    labels = np.asarray(y)
    n, p = table.shape
    names = np.array([str(j) for j in range(p)] if stems is None else list(stems), dtype=object)
    if labels.shape != (n,) or len(names) != p:
        raise InputError(
            f"S has shape {table.shape}; there are {labels.size} labels and {len(names)} stems. "
            "Give one label per row and one stem per column."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"All texts are of the class {classes[0]!s}; what is typical of it needs another one "
            "to compare with."
        )
    present = table != 0
    size = np.bincount(codes)
    member = (codes[None, :] == np.arange(len(classes))[:, None]).astype(np.float64)
    inside = np.asarray(member @ present, dtype=np.float64)
    outside = inside.sum(axis=0) - inside
    n_in = size[:, None].astype(np.float64)
    n_out = n - n_in
    a, b = inside + _PRIOR, n_in - inside + _PRIOR
    c, d = outside + _PRIOR, n_out - outside + _PRIOR
    z = np.log(a * d / (b * c)) / np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    return TypicalStems(names, classes, inside / n_in, outside / n_out, z, most)
