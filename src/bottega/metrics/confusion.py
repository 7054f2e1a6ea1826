"""The confusion table: which classes are taken for which."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils.multiclass import unique_labels

from bottega.core.cross_table import cross_table
from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.frames import make_frame
from bottega.core.proportion import exact_limits
from bottega.core.results import check_level
from bottega.core.rows import check_weight
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array
from bottega.metrics._ranked.measured import Measured
from bottega.metrics.balance import check_labels
from bottega.metrics.rates import NAMES, Rates, share
from bottega.plot import confusion_table_chart, dots_chart

__all__ = ["Confusion", "VersusMajority", "confusion"]


@dataclass(frozen=True, eq=False, repr=False)
class VersusMajority(Measured):
    """A model against the constant predictor of the most frequent class, on the same rows.

    Attributes
    ----------
    majority : object
        The most frequent class.
    accuracy, majority_accuracy, gain : float
        Of the model, of the constant predictor, and their difference.
    won, lost : int
        Rows (or their weight) that only the model gets right, and those that only the constant
        predictor does.
    p_value : float
        Probability of winning at least so many of the won and lost rows if each were a coin toss
        (the exact McNemar test, one-sided); NaN for rows with weights.
    """

    majority: Any
    accuracy: float
    majority_accuracy: float
    gain: float
    won: int
    lost: int
    p_value: float

    def _columns(self) -> dict[str, Any]:
        return {each.name: [getattr(self, each.name)] for each in fields(self)}

    def summary(self) -> Summary:
        """Return both accuracies and the test of their difference."""
        columns: dict[str, Any] = {
            "prediction": ["the model", f"always {self.majority}"],
            "accuracy": [self.accuracy, self.majority_accuracy],
            "right alone": [self.won, self.lost],
        }
        note = f"McNemar's exact test that the model is no better: p-value {self.p_value:.3g}"
        return Summary(
            "The model against the most frequent class", (Section("", columns),), (note,)
        )

    def plot(self) -> Any:
        """Draw both accuracies."""
        return dots_chart(
            ["the model", f"always {self.majority}"],
            {"accuracy": [self.accuracy, self.majority_accuracy]},
            x_title="accuracy",
            title="The model against the most frequent class",
            subtitle=f"{self.won:,} rows are right with the model alone, {self.lost:,} without it.",
        )


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(Measured):
    """Counts of predicted against observed classes, with the rates that follow.

    Attributes
    ----------
    labels : ndarray of shape (K,)
        The classes.
    table : ndarray of shape (K, K)
        Counts, or sums of row weights; rows are predictions, columns observations (scikit-learn has
        it the other way).

    Notes
    -----
    A rate whose rows do not exist is NaN: see `bottega.metrics.rates`.
    """

    labels: Array
    table: Array

    @property
    def n(self) -> Any:
        """Number of rows, or the sum of their weights."""
        return self.table.sum().item()

    @property
    def weighted(self) -> bool:
        """Whether rows have weights: then there are no exact intervals and tests."""
        return self.table.dtype.kind == "f"

    @property
    def accuracy(self) -> float:
        """Share of the rows predicted right."""
        return float(share(np.trace(self.table), self.n))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the exact confidence interval of the accuracy (Clopper and Pearson's).

        It is NaN for rows with weights.
        """
        if self.weighted:
            return float("nan"), float("nan")
        tail = (1 - check_level(level)) / 2
        low, high = exact_limits(np.trace(self.table), self.n, tail)
        return float(low), float(high)

    @property
    def mcc(self) -> float:
        """Correlation of what is observed and predicted, for any number of classes.

        Matthews' for two [1]_. NaN where one class alone is observed, or predicted.

        References
        ----------
        .. [1] Gorodkin, J. (2004). Comparing two K-category assignments by a K-category correlation
           coefficient. Computational Biology and Chemistry 28, 367-374.
        """
        share_of = self.table / self.n
        seen, said = share_of.sum(axis=0), share_of.sum(axis=1)
        scale = np.sqrt((1 - seen @ seen) * (1 - said @ said))
        top = np.trace(share_of) - seen @ said
        return float(top / scale) if scale > 0 else float("nan")

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall of the classes that are observed."""
        return self.average("macro", skip_undefined=True)["recall"]

    def fbeta(self, beta: float = 1.0, kind: str = "macro") -> float:
        """Return F-beta averaged over the classes: recall counts beta times as much as precision.

        Parameters
        ----------
        beta : float
            How much recall counts.
        kind : {"macro", "weighted", "micro"}
            As in `average`.
        """
        check_average(kind)
        if kind == "micro":
            return float(self._summed().fbeta(beta))
        return _mean(self.per_class.fbeta(beta), self._class_weights(kind), False)

    @property
    def per_class(self) -> Rates:
        """Counts and rates with each class in turn as the positive one, one entry per class."""
        tp = np.diag(self.table)
        fp, fn = self.table.sum(axis=1) - tp, self.table.sum(axis=0) - tp
        return Rates(tp, fp, fn, self.n - tp - fp - fn, self.labels)

    def of(self, pos_label: Any) -> Rates:
        """Return counts and rates with this class as the positive one."""
        place = np.flatnonzero(self.labels == pos_label)
        if len(place) != 1:
            known = [str(label) for label in self.labels.tolist()]
            raise InputError(
                f"pos_label={pos_label!r} is not among the classes {', '.join(known)}."
                + did_you_mean(str(pos_label), known)
            )
        rates = self.per_class
        tp, fp, fn, tn = (count[place[0]].item() for count in rates.counts)
        return Rates(tp, fp, fn, tn, pos_label)

    def average(self, kind: str = "macro", *, skip_undefined: bool = False) -> dict[str, float]:
        """Return each rate averaged over the classes as positive ones.

        Parameters
        ----------
        kind : {"macro", "weighted", "micro"}
            The plain mean; the mean weighted by how often each class is observed; or the rates of
            the counts added up over the classes.
        skip_undefined : bool
            Average over the classes where the rate is defined. By default an average is undefined
            (NaN) as soon as one of its terms is.

        Returns
        -------
        dict of str to float
            Accuracy is that of the whole table, whatever the average.
        """
        check_average(kind)
        if kind == "micro":
            found = {name: float(value) for name, value in self._summed().to_dict().items()}
        else:
            rates, weight = self.per_class, self._class_weights(kind)
            found = {name: _mean(getattr(rates, name), weight, skip_undefined) for name in NAMES}
        return {**found, "accuracy": self.accuracy}

    def _summed(self) -> Rates:
        return Rates(*(np.sum(count) for count in self.per_class.counts))

    def _class_weights(self, kind: str) -> Array:
        return self.table.sum(axis=0) if kind == "weighted" else np.ones(len(self.labels))

    def versus_majority(self) -> VersusMajority:
        """Compare with always predicting the most frequent class (the first of equals)."""
        observed = self.table.sum(axis=0)
        top = int(np.argmax(observed))
        won = (np.trace(self.table) - self.table[top, top]).item()
        lost = (observed[top] - self.table[top, top]).item()
        p_value = float("nan") if self.weighted else 1.0
        if won + lost and not self.weighted:
            p_value = float(stats.binomtest(won, won + lost, alternative="greater").pvalue)
        accuracies = self.accuracy, float(share(observed[top], self.n)), (won - lost) / self.n
        return VersusMajority(self.labels[top], *accuracies, won, lost, p_value)

    def rates(self, level: float = 0.95, like: Any = None) -> Any:
        """Return every rate of every class with its interval, as a long data frame.

        Parameters
        ----------
        level : float
            Of the exact intervals (Clopper and Pearson's); rates that are no share of rows (F1,
            MCC) have none.
        like : data frame or str, optional
            A frame, or the name of a library, whose kind of frame is returned.

        Returns
        -------
        data frame
            ``label, measure, estimate, conf_low, conf_high``.
        """
        return make_frame(self.per_class.columns(level), like)

    def table_frame(self, like: Any = None) -> Any:
        """Return the table as a data frame: a row per predicted, a column per observed class."""
        columns: dict[str, Any] = {"predicted": self.labels}
        columns |= {str(label): self.table[:, j] for j, label in enumerate(self.labels.tolist())}
        return make_frame(columns, like)

    def summary(self) -> Summary:
        """Return the table and the rates as something to read."""
        names = [str(label) for label in self.labels.tolist()]
        counts: dict[str, Any] = {"predicted": names}
        counts |= {name: self.table[:, j].tolist() for j, name in enumerate(names)}
        rates = {name: list(column) for name, column in self._columns().items()}
        against = self.versus_majority()
        notes = (
            f"Accuracy {self.accuracy:.4g}; always predicting {against.majority!s} has "
            f"{against.majority_accuracy:.4g}.",
            f"Balanced accuracy {self.balanced_accuracy:.4g}, correlation (MCC) {self.mcc:.4g}.",
            "A dash is a rate that is undefined: there are no rows to take the share of.",
        )
        return Summary(
            "Confusion table",
            (
                Section("Rows: predicted; columns: observed", counts),
                Section("Each class as the positive one", {**rates, "label": names}),
            ),
            notes,
        )

    def plot(self) -> Any:
        """Draw the table."""
        return confusion_table_chart(self.table, self.labels)

    def _columns(self) -> dict[str, Any]:
        rates = self.per_class
        counts = {name: getattr(rates, name) for name in ("tp", "fp", "fn", "tn")}
        return {"label": self.labels, **counts, **rates.to_dict()}


def confusion(
    y_true: Any, y_pred: Any, labels: Any = None, *, sample_weight: Any = None
) -> Confusion:
    """Count predicted against observed classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Observed and predicted labels.
    labels : array-like of shape (K,), optional
        The classes, in the order to show them; those that occur, sorted, by default. A label that
        occurs and is not among them is refused, not dropped.
    sample_weight : array-like of shape (n,), optional
        Row weights.

    Returns
    -------
    Confusion

    Examples
    --------
    >>> y = ["ham"] * 6 + ["spam"] * 4
    >>> found = confusion(y, ["ham"] * 5 + ["spam"] * 3 + ["ham"] * 2)
    >>> found.table
    array([[5, 2],
           [1, 2]])
    >>> spam = found.of("spam")
    >>> spam.tp, spam.fp, round(float(spam.precision), 4), float(spam.recall)
    (2, 1, 0.6667, 0.5)
    >>> round(found.versus_majority().gain, 4)
    0.1
    """
    true, predicted = check_labels("y_true", y_true), check_labels("y_pred", y_pred)
    if len(true) != len(predicted):
        raise InputError(
            f"y_true has {len(true)} rows and y_pred {len(predicted)}; they must match."
        )
    try:
        occurring = unique_labels(true, predicted)
    except ValueError as error:
        raise InputError(
            f"y_true and y_pred must hold class labels of one kind, as both words or both numbers: "
            f"{error}"
        ) from error
    known = occurring if labels is None else np.asarray(labels)
    if len(set(known.tolist())) < len(known):
        raise InputError(f"labels holds a class twice: {known.tolist()}.")
    strange = sorted(set(occurring.tolist()) - set(known.tolist()), key=str)
    if strange:
        raise InputError(
            f"These labels occur but are not among labels: {', '.join(map(str, strange))}."
        )
    weight = check_weight(sample_weight, len(true))
    return Confusion(known, cross_table(predicted, true, known, weight)[:-1, :-1])


def check_average(kind: str) -> None:
    """Refuse a kind of average that there is not."""
    if kind not in ("macro", "weighted", "micro"):
        raise ParameterError(f"kind={kind!r} is not allowed; use 'macro', 'weighted' or 'micro'.")


def _mean(rate: Array, weight: Array, skip_undefined: bool) -> float:
    """Return the weighted mean; a term of no weight may be undefined."""
    kept = weight > 0
    if skip_undefined:
        kept &= ~np.isnan(rate)
    return float(np.average(rate[kept], weights=weight[kept])) if np.any(kept) else float("nan")
