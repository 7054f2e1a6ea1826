"""Naive Bayes: inputs of any kind, independent within classes."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bottega.classify._generative.base import PRIORS, checked_priors
from bottega.classify._generative.column_sums import ColumnSums, column_sums
from bottega.classify._generative.distributed_inputs import (
    FAMILIES,
    DistributedInputs,
    check_distributions,
)
from bottega.classify._generative.families import ColumnModels, chosen_families, fitted_columns
from bottega.classify._generative.stream import StreamedClasses
from bottega.core.cards import Card
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.classes import check_classes
from bottega.core.params import Choice, Parameter, Real
from bottega.core.results import CoefficientResults, glance_row, tidy_columns
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.validate import read_response

__all__ = ["NaiveBayes"]


@dataclass(frozen=True)
class Distributions(Parameter):
    """A family of distributions for all numbers, or one for each of some columns."""

    def accepts(self, value: Any) -> bool:
        """Return True for the name of a family, ``"auto"``, or a mapping to names."""
        return check_distributions(value)

    def describe(self) -> str:
        """Return the names of the families."""
        names = ", ".join(repr(name) for name in FAMILIES)
        return f"'auto', one of {names}, or a dict of columns to these"

    def schema(self) -> dict[str, Any]:
        """Return the form of the parameter in JSON."""
        names = {"type": "string", "enum": list(FAMILIES)}
        return {"anyOf": [Choice("auto", *FAMILIES).schema(), {"additionalProperties": names}]}

    def parse(self, text: str) -> str:
        """Read the name of a family."""
        return Choice("auto", *FAMILIES).parse(text)


class NaiveBayes(CoefficientResults, Chunked, StreamedClasses):
    r"""Classify by Bayes' rule with inputs that are independent within each class.

    A row goes to the class with the largest

    .. math:: \log \pi_k + \sum_j \log p_{kj}(x_j)

    where :math:`p_{kj}` is the distribution of input j in class k, of a family that suits the
    column. An input that a row misses is left out of the sum, and of the sums of the fit: this is
    exact, nothing is filled in.

    Parameters
    ----------
    distributions : str or dict, default="auto"
        Family of the inputs. ``"auto"``: texts and categories of a frame are ``"categorical"``,
        truth values and columns of zeros and ones ``"bernoulli"``, whole numbers from 0 on whose
        variance within classes is about their mean ``"poisson"``, other numbers ``"gaussian"``. A
        name is for all columns of numbers; ``"kernel"`` gives them a kernel density. A dict gives
        families by name or number of the column, the others are ``"auto"``.
    priors : array-like of shape (K,), dict or None, default=None
        Probability of each class, in sorted order or by label; None takes their shares. Numbers
        that do not sum to one are divided by their sum, with a warning.
    alpha : float, default=1.0
        Pseudo-count of each level in each class (Laplace's rule), of zeros and ones too; for
        counts, pseudo-rows at the mean of the column. 0 is maximum likelihood.
    var_smoothing : float, default=1e-9
        Least variance of an input in a class, as a share of its variance over all rows.
    bandwidth : float, default=1.0
        Width of the kernels, as a multiple of Silverman's rule: 0.9 times the lesser of the
        standard deviation and the interquartile range over 1.34, times n^(-1/5).

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    priors_ : ndarray of shape (K,)
        Probability of each class.
    class_prior_ : ndarray of shape (K,)
        `priors_`, under scikit-learn's name.
    class_count_ : ndarray of shape (K,)
        Weight of the rows of each class.
    theta_, var_ : ndarray of shape (K, p)
        Mean and variance of each input in each class; NaN for categories, and for a class that
        a stream has yet to bring.
    distributions_ : dict
        Family of each column, by its name; ``"constant"`` for one that does not vary.
    densities_ : ColumnModels
        The fitted distributions.
    columns_in_ : DistributedInputs
        What reads the inputs: names, kinds and levels.

    See Also
    --------
    LinearDiscriminant : normal inputs that depend on one another.

    Notes
    -----
    One pass over the rows gives count, mean and variance of each input in each class, 3 n p
    operations; categories take a count of their levels. A model has 2 K p numbers, and a stream
    keeps as many. Kernel densities keep their values: at most 1,000 kernels per class, to which
    more values are shared out. Variances have the divisor n - 1; a class with a single value of an
    input has the variance that the classes have together.

    A level that the fit has not seen, and a value that no class can have (a fraction among
    counts), says nothing. Dates are days since 1970-01-01.

    Do not use it where probabilities matter and inputs are strongly dependent: their evidence is
    counted several times, so probabilities come out too near to 0 and 1. The order of the classes
    may be right all the same.

    References
    ----------
    .. [1] Hand, D. J. and Yu, K. (2001). Idiot's Bayes: not so stupid after all? International
       Statistical Review 69, 385-398.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"city": ["Rome", "Rome", "Oslo", "Oslo"], "age": [20.0, 22, 41, None]})
    >>> model = NaiveBayes().fit(X, ["out", "out", "in", "in"])
    >>> model.predict(pd.DataFrame({"city": ["Rome", None], "age": [None, 40.0]}))
    array(['out', 'in'], dtype='<U3')
    >>> model.distributions_
    {'city': 'categorical', 'age': 'gaussian'}
    >>> model.fill_in(pd.DataFrame({"city": [None], "age": [41.0]}))["city"].tolist()
    ['Oslo']
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "distributions": Distributions(help="families of the inputs, for numbers or by column"),
        "priors": PRIORS,
        "alpha": Real(0, help="pseudo-count of each level in each class"),
        "var_smoothing": Real(
            0, 1, open_low=True, log=True, help="least variance, as a share of the column's"
        ),
        "bandwidth": Real(0, open_low=True, log=True, help="width of kernels, against the rule's"),
    }
    card: ClassVar[Card] = Card(
        method="naive_bayes",
        title="Naive Bayes",
        task="classification",
        strengths=(
            "Takes numbers, counts, truth values and categories together, each in its own way.",
            "Leaves out missing values exactly, in the fit and in predictions.",
            "Few parameters: works with many columns and few rows.",
            "One pass over the rows, in chunks and streams too.",
            "A model of the inputs: it draws rows, fills in gaps and finds outliers.",
        ),
        weaknesses=(
            "Takes no notice of how inputs depend on one another.",
            "Probabilities are too near to 0 and 1 where inputs are dependent.",
            "No interactions: each input adds its evidence.",
        ),
        assumptions=(
            "Inputs are independent within each class.",
            "Each has a distribution of the family that is used for it.",
        ),
        cost="n p",
        source="M528-M529, M536",
        takes=frozenset({"number", "category", "missing"}),
        wide=True,
    )

    def __init__(
        self,
        distributions: Any = "auto",
        *,
        priors: Any = None,
        alpha: float = 1.0,
        var_smoothing: float = 1e-9,
        bandwidth: float = 1.0,
    ) -> None:
        self.distributions = distributions
        self.priors = priors
        self.alpha = alpha
        self.var_smoothing = var_smoothing
        self.bandwidth = bandwidth

    def _check_rows(self, X: Any, y: Any) -> tuple[FloatArray, Array]:
        y = read_response(self, y)
        self.columns_in_ = DistributedInputs()
        matrix = self.columns_in_.fit(self, X)
        check_consistent_length(matrix, y)
        return matrix, y

    def _check_next(self, X: Any, y: Any) -> tuple[FloatArray, Array]:
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        matrix = self.columns_in_.read(self, X, learn=True)
        check_consistent_length(matrix, y)
        return matrix, y

    def _check_new(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self.columns_in_.read(self, X)

    def _check_gappy(self, X: Any) -> FloatArray:
        return self._check_new(X)

    def _sums(self, X: FloatArray, y: IntArray, w: Any) -> ColumnSums:
        reader = self.columns_in_
        categories = [j for j, levels in enumerate(reader.levels) if levels is not None]
        kept = [j for j, family in enumerate(reader.declared) if family == "kernel"]
        return column_sums(X, y, w, len(self.classes_), categories, kept)

    def _prepare(self, rows: Rows) -> ColumnSums:
        check_classes(self.classes_)
        return self._sums(rows.X, rows.y, rows.weight)

    def _reader_of_chunks(self, first: Any) -> Any:
        self.columns_in_ = DistributedInputs()
        self.columns_in_.fit(self, first)
        return self.columns_in_.reader(self)

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Any:
        return self._sums(X, y, w)

    def _prepare_merged(self, statistics: ColumnSums, chunks: CheckedChunks) -> ColumnSums:
        check_classes(self.classes_)
        return statistics

    def _take_in(self, rows: Rows, first: bool) -> None:
        new = self._sums(rows.X, rows.y, rows.weight)
        self._settle(new if first else deepcopy(self._statistics_so_far).merge(new), {})

    def _settle(self, work: ColumnSums, setting: Mapping[str, Any]) -> None:
        reader = self.columns_in_
        families = chosen_families(work, reader.declared, reader.kinds, reader.names)
        self.densities_: ColumnModels = fitted_columns(
            work,
            families,
            alpha=float(self.alpha),
            var_smoothing=float(self.var_smoothing),
            bandwidth=float(self.bandwidth),
        )
        self.distributions_ = dict(zip(reader.names, families, strict=True))
        self._statistics_so_far = work
        self._present = np.flatnonzero(work.count)
        priors = checked_priors(self.priors, self.classes_, work.weight)
        self.priors_ = np.where(work.count > 0, priors, 0.0)
        self.class_prior_, self.class_count_ = self.priors_, work.weight
        self.theta_, self.var_ = (
            self._of_all_classes(each) for each in (self.densities_.mean, self.densities_.sd**2)
        )

    def _of_all_classes(self, seen: FloatArray) -> FloatArray:
        """Return one row per class from those of the classes seen; categories have no numbers."""
        wide = np.full((len(self.classes_), seen.shape[1]), np.nan)
        wide[self._present] = seen
        wide[:, [shares is not None for shares in self.densities_.shares]] = np.nan
        return wide

    def _log_joint(self, X: FloatArray) -> FloatArray:
        return self.densities_.log_density(X) + self._log_prior()

    def _drawn(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        return self.densities_.drawn(codes, rng)

    def _filled(self, X: FloatArray, shares: FloatArray) -> FloatArray:
        return self.densities_.filled(X, shares)

    def _written(self, X: FloatArray, like: str | None) -> Any:
        return self.columns_in_.written(X, like)

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        models, reader, sums = self.densities_, self.columns_in_, self._statistics_so_far
        seen = np.maximum(sums.seen[self._present], 1.0)
        terms: list[str] = []
        estimates, errors = [], []
        for j, name in enumerate(reader.names):
            shares = models.shares[j]
            if shares is None:
                terms.append(name)
                estimates.append(models.mean[:, j])
                errors.append(models.sd[:, j] / np.sqrt(seen[:, j]))
                continue
            weight = np.maximum(sums.levels[j][self._present].sum(axis=1), 1.0)
            for code in np.flatnonzero(~np.isnan(shares[0])).tolist():
                label = reader.levels[j][code]
                terms.append(f"{name}[{label}]")
                estimates.append(shares[:, code])
                errors.append(np.sqrt(shares[:, code] * (1 - shares[:, code]) / weight))
        return tidy_columns(
            terms,
            np.array(estimates),
            std_error=np.array(errors),
            response=self.classes_[self._present],
            level=level,
        )

    def _notes(self) -> tuple[str, ...]:
        return ("Means of numbers, and probabilities of levels, in each class.",)

    def _glance_row(self) -> dict[str, Any]:
        return glance_row({"nobs": int(self._statistics_so_far.count.sum())})

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
