"""Boolean matrix factorisation: a table of zeros and ones as ORs of patterns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.estimator import Unweighted
from bottega.core.folds import Folds
from bottega.core.losses import Loss
from bottega.core.params import Auto, Integer, Parameter, Seed
from bottega.core.path import Path, Rule, along
from bottega.core.results import term_names
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.core.unsupervised import Unsupervised
from bottega.latent._boolean.cover import Cover, best_covers, codes_of
from bottega.latent._entries.held_out import judge_table
from bottega.latent._nonnegative.checks import refuse_empty

__all__ = ["BooleanFactorization"]

_MOST_COMPONENTS = 10  # of the path that chooses


class BooleanFactorization(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, Unweighted, Unsupervised
):
    r"""Boolean matrix factorisation: rows as ORs of patterns of zeros and ones.

    Minimises over :math:`B \in \{0,1\}^{n \times k}` and :math:`C \in \{0,1\}^{k \times p}` the
    number of entries that differ,

    .. math:: \sum_{(i,j)\ \text{observed}} \lvert x_{ij} - (B \circ C)_{ij} \rvert, \qquad
              (B \circ C)_{ij} = \bigvee_{s=1}^{k} b_{is} \wedge c_{sj}.

    The problem is NP-hard. Candidates come from associations between columns and from the rows
    themselves; one after the other is taken greedily, single bits are flipped while that lowers the
    error, and components are chosen afresh while that does. The error never rises.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components k. More fit the table more closely. ``"auto"`` walks the path from 1
        to 10 and chooses by entries held out.
    tries : int, default=3
        How many of the best candidates are tried for each component. More may find a smaller error,
        in more time.
    random_state : int, generator or None, default=None
        Seed of the entries held out along the path; the same at every call where it is None. The
        factors themselves have nothing random.
    select : str, default="one_se"
        Rule that picks from the path.
    cv : int, float, "loo", splitter or list of (train, test), default=5
        Folds of the entries that judge the path, or the share of the entries that is held out once.
        Folds that are given count the observed entries row after row.

    Attributes
    ----------
    components_ : ndarray of int of shape (k, p)
        The patterns C, of zeros and ones.
    n_components_ : int
        Their number. It may exceed what the table needs: patterns that no row uses are zero.
    reconstruction_err_ : int
        Observed entries that differ from the product of the fitted codes and patterns.
    objective_ : ndarray of int
        The error without a component and after each step; it never rises.
    path_ : Path
        The path, if it chose the number of components.

    Notes
    -----
    A component costs about p² times n for the candidates, and k n p for each round of flips. The
    table is made dense. Missing entries (NaN) count for nothing.

    Codes of new rows are found by flips from no pattern at all; of two sets of patterns that differ
    in as many entries the first one found is taken.

    Do not use it for numbers that were cut into two classes at a threshold which means nothing, or
    where the absence of a pattern is as telling as its presence.

    References
    ----------
    .. [1] Miettinen, P., Mielikainen, T., Gionis, A., Das, G. and Mannila, H. (2008). The discrete
       basis problem. IEEE Transactions on Knowledge and Data Engineering 20, 1348-1362.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1]])
    >>> model = BooleanFactorization(n_components=2).fit(X)
    >>> model.components_, model.reconstruction_err_
    (array([[0, 1, 1],
           [1, 1, 0]]), 0)
    """

    knob = "n_components"
    row_loss: ClassVar[str] = "share of entries that differ"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": Auto(Integer(1), help="number of components"),
        "tries": Integer(1, help="candidates that are tried for each component"),
        "random_state": Seed(help="seed of the entries held out"),
        "select": Rule(),
        "cv": Folds(help="folds of the entries, or the share that is held out"),
    }
    card: ClassVar[Card] = Card(
        method="boolean_factorization",
        title="Boolean matrix factorisation",
        task="decomposition",
        strengths=(
            "Patterns and codes are sets: a row has a pattern or has it not.",
            "Overlapping patterns count once, as they do in data of presence.",
            "Takes missing entries as they are.",
        ),
        weaknesses=(
            "A minimum cannot be guaranteed: the problem is NP-hard.",
            "Candidates come from pairs of columns, so very noisy patterns may be missed.",
            "Takes only zeros and ones.",
        ),
        assumptions=(
            "Rows are unions of few patterns.",
            "Errors are as bad in either direction.",
        ),
        cost="k n p squared",
        source="N168",
        takes=frozenset({"missing"}),  # zeros and ones, not any number
        wide=True,
    )

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        tries: int = 3,
        random_state: Any = None,
        select: str = "one_se",
        cv: Any = 5,
    ) -> None:
        self.n_components = n_components
        self.tries = tries
        self.random_state = random_state
        self.select = select
        self.cv = cv

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _prepare(self, rows: Rows) -> "_Bits":
        names = term_names(self, intercept=False)
        refuse_empty(rows.X, names)
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        return _Bits(rows.X, _values(rows.X, names), seed, [])

    def _settle(self, work: "_Bits", setting: Mapping[str, Any]) -> None:
        k = _checked_count(int(setting["n_components"]), work)
        found = work.covers(k, int(self.tries))[k - 1]
        self.n_components_ = k
        self.components_ = found.components.astype(np.int64)
        self.reconstruction_err_ = found.error
        self.objective_ = np.array(found.errors)

    def _path(self, work: "_Bits", values: Any, loss: Loss | None) -> Path:
        counts = _counts(work, values)
        covers = work.covers(int(counts.max()), int(self.tries))
        seen = max(int(np.count_nonzero(work.value)), 1)
        return Path(
            along("n_components", counts),
            train_error=np.array([covers[k - 1].error / seen for k in counts]),
            loss="share of entries that differ",
            complexity=counts.astype(np.float64),
        )

    def _judge(self, curve: Path, work: "_Bits", rows: Rows, cv: Any, loss: Loss) -> Path:
        counts, tries = [int(k) for k in curve.values], int(self.tries)

        def losses(rest: Any, at: IntArray, columns: IntArray) -> FloatArray:
            covers = best_covers(_bits(rest), max(counts), tries)
            true = work.value[at, columns] > 0
            wrong = [(covers[k - 1].covers[at, columns] > 0) != true for k in counts]
            return np.stack(wrong, axis=1).astype(np.float64)

        return judge_table(curve, work.X, cv, work.seed, losses)

    def _row_losses(self, X: Any) -> FloatArray:
        value = _values(X, term_names(self, intercept=False))
        codes = codes_of(value, self.components_.astype(np.int8))
        wrong = (value != 0) & (self._product(codes) != (value > 0))
        return np.asarray(wrong.sum(axis=1) / np.maximum((value != 0).sum(axis=1), 1))

    def _product(self, codes: Any) -> Any:
        return codes.astype(np.int64) @ self.components_ > 0

    def transform(self, X: Any) -> IntArray:
        """Return the codes of rows: which patterns each of them has.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows of zeros and ones; missing entries (NaN) count for nothing.

        Returns
        -------
        ndarray of int of shape (m, k)
            Zeros and ones.
        """
        X = self._check_new(X)
        refuse_empty(X)
        value = _values(X, term_names(self, intercept=False))
        return codes_of(value, self.components_.astype(np.int8)).astype(np.int64)

    def inverse_transform(self, X: Any) -> IntArray:
        """Return the rows that codes stand for: the OR of their patterns.

        Parameters
        ----------
        X : array-like of shape (m, k)
            Codes of zeros and ones.

        Returns
        -------
        ndarray of int of shape (m, p)
            Zeros and ones.
        """
        check_is_fitted(self)
        codes = np.asarray(X)
        if codes.ndim != 2 or codes.shape[1] != self.n_components_:
            raise InputError(
                f"Codes have shape {codes.shape}; give one column per component: "
                f"{self.n_components_}."
            )
        if not np.all((codes == 0) | (codes == 1)):
            raise InputError("Codes are zeros and ones; round them first.")
        return self._product(codes).astype(np.int64)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def summary(self) -> Summary:
        """Return the patterns in words: the columns that each has."""
        check_is_fitted(self)
        names = term_names(self, intercept=False)
        words = [", ".join(names[j] for j in np.flatnonzero(row)) for row in self.components_]
        sizes = self.components_.sum(axis=1).tolist()
        columns = {"component": list(range(1, len(words) + 1)), "size": sizes, "columns": words}
        notes = (f"{self.reconstruction_err_} observed entries differ",)
        return Summary(self.card.title, (Section("", columns),), notes)

    def plot(self, shape: Sequence[int] | None = None) -> Any:
        """Draw the patterns as images.

        Parameters
        ----------
        shape : (int, int), optional
            Rows and columns of each image; see `bottega.plot.component_images_chart`.

        Returns
        -------
        altair.FacetChart
            One image per pattern.
        """
        from bottega.plot import component_images_chart

        check_is_fitted(self)
        note = "Rows are unions of these patterns."
        return component_images_chart(self.components_, shape, title="Patterns", subtitle=note)


@dataclass
class _Bits:
    """The table of a fit, and its factors with 1, 2, ... components."""

    X: Any
    value: Any
    seed: int
    found: list[Cover]

    def covers(self, most: int, tries: int) -> list[Cover]:
        """Return factors of up to `most` components, computed once."""
        if len(self.found) < most:
            self.found[:] = best_covers(self.value, most, tries)
        return self.found


def _checked_count(k: int, work: _Bits) -> int:
    n, p = work.value.shape
    if k > min(n, p):
        raise InputError(
            f"BooleanFactorization: n_components={k} is more than min(n_samples, n_features) = "
            f"{min(n, p)}: so many patterns, one per row or per column, give any table exactly. "
            "Give fewer."
        )
    return k


def _counts(work: _Bits, values: Any) -> IntArray:
    if values is not None:
        counts = np.unique(values)
        _checked_count(int(counts[-1]), work)
        return counts
    return np.arange(1, min(_MOST_COMPONENTS, *work.value.shape) + 1)


def _values(X: Any, names: Sequence[str]) -> Any:
    """Return 1, -1 and 0 for ones, zeros and what is missing; refuse any other number."""
    wrong = ~(np.isnan(X) | (X == 0) | (X == 1))
    count = int(np.count_nonzero(wrong))
    if count:
        i, j = (int(each) for each in np.argwhere(wrong)[0])
        raise InputError(
            f"BooleanFactorization takes zeros and ones; X has {count} other values, the first "
            f"{X[i, j]:.6g} in row {i} (counted from 0), column {names[j]!r}. Compare the columns "
            "with thresholds first."
        )
    return _bits(X)


def _bits(X: Any) -> Any:
    return np.where(np.isnan(X), 0, np.where(X == 1, 1, -1)).astype(np.int8)
