"""Probabilities that mean what they say, around any classifier."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.classify._calibration.scores import class_scores, is_probability
from bottega.classify.naive_bayes import NaiveBayes
from bottega.core.cards import Card
from bottega.core.classes import check_classes, decided
from bottega.core.errors import InputError, ParameterError
from bottega.core.folds import Folds, folds_that_count
from bottega.core.frames import take_rows
from bottega.core.parallel import at_most, in_threads
from bottega.core.params import AnyOf, Boolean, Choice, Jobs, OrNone, Parameter
from bottega.core.rows import Rows
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.wrapping import Model, Wrapping, fit_weighted
from bottega.metrics import Calibration, calibration
from bottega.optimize.score_maps import MAPS, ScoreMap, Temperature
from bottega.plot import lines_chart

__all__ = ["CalibratedClassifierCV"]


@stored
class CalibratedModel:
    """A fitted classifier and the maps from its scores to probabilities.

    Attributes
    ----------
    estimator : classifier
        Fitted.
    maps : list of ScoreMap
        One per class; of two classes the second alone. Or one Temperature.
    classes : ndarray of shape (K,)
        All classes.
    method : str
        Kind of the maps.
    seen : (float, float)
        The least and the largest score that they were learned from.
    """

    def __init__(
        self,
        estimator: Any,
        maps: list[Any],
        classes: Array,
        method: str,
        seen: tuple[float, float],
    ) -> None:
        self.estimator = estimator
        self.maps = maps
        self.classes = classes
        self.method = method
        self.seen = seen

    def predict_proba(self, X: Any) -> FloatArray:
        """Return calibrated probabilities."""
        scores = class_scores(self.estimator, X, self.classes, self.method)
        return mapped(self.maps, scores, is_probability(self.estimator, self.method))


class CalibratedClassifierCV(ClassifierMixin, Wrapping):
    r"""Calibrate the probabilities of a classifier on rows that it was not fitted to.

    In each fold the classifier is fitted to the other rows, and a rising map from its score s for
    the fold's rows to the outcomes is learned:

    - ``"sigmoid"`` (Platt): :math:`1 / (1 + e^{-(a s + b)})`, with responses
      :math:`(n_+ + 1)/(n_+ + 2)` and :math:`1/(n_- + 2)` in place of 1 and 0;
    - ``"isotonic"``: the nearest rising function;
    - ``"beta"``: log odds :math:`a \ln s - b \ln(1 - s) + c` of a probability s, with a and b not
      negative: it includes the identity, so that what is calibrated stays;
    - ``"temperature"``: :math:`e^{\tau s_k} / \sum_j e^{\tau s_j}`, one factor for all classes.

    With several classes each is mapped against the rest, and the results are divided by their sum
    (not so with a temperature, which is of all classes at once).

    Parameters
    ----------
    estimator : classifier, optional
        What is calibrated, pipelines included; naive Bayes by default, whose probabilities are
        notoriously extreme. One that is fitted already is given as scikit-learn's
        ``FrozenEstimator``: then all rows learn the map.
    method : {"sigmoid", "isotonic", "beta", "temperature"}, default="sigmoid"
        Kind of the map. ``"isotonic"`` needs many rows (some 1,000), the others few.
    cv : int, float, splitter, list of (train, test) or None, default=None
        Folds; 5 by default. Each class is spread over the folds.
    n_jobs : int, optional
        Threads; all cores by default.
    ensemble : bool or "auto", default="auto"
        Whether to average the calibrated classifiers of the folds. Otherwise the classifier is
        fitted again to all rows, and one map learned from the held-out scores of all of them.
        ``"auto"`` averages, unless the estimator is fitted already.

    Attributes
    ----------
    calibrated_classifiers_ : list of CalibratedModel
        Classifiers with their maps: one per fold, or one.
    classes_ : ndarray of shape (K,)
        The classes, sorted.

    See Also
    --------
    bottega.metrics.calibration : The reliability curve of any probabilities.
    bottega.risk.ThresholdClassifier : Decides by a threshold on probabilities.
    bottega.risk.CostSensitiveClassifier : Decides by costs.

    Notes
    -----
    Cost: one fit per fold (and one more without `ensemble`). The map adds one to three degrees of
    freedom (isotonic: as many as it has steps). Rising maps leave the order of the rows of two
    classes as it was, so neither ROC nor lift change within a fold. An isotonic map gives
    probabilities of 0 and 1, which the log loss punishes without limit. Not for methods whose
    probabilities are right already, such as logistic regression of a true model: the map only adds
    variance.

    References
    ----------
    .. [1] Platt, J. (1999). Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods. Advances in Large Margin Classifiers, 61-74. MIT Press.
    .. [2] Zadrozny, B. and Elkan, C. (2002). Transforming classifier scores into accurate
       multiclass probability estimates. Proceedings of KDD 2002, 694-699.
    .. [3] Kull, M., Silva Filho, T. and Flach, P. (2017). Beta calibration. Proceedings of AISTATS
       2017, 623-631.
    .. [4] Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern
       neural networks. Proceedings of ICML 2017, 1321-1330.

    Examples
    --------
    >>> from bottega.data import make
    >>> sample = make.two_gaussians(400, distance=1.0)
    >>> X = np.hstack([sample.X, sample.X])  # each input twice: naive Bayes counts it twice
    >>> plain = NaiveBayes().fit(X[:200], sample.y[:200])
    >>> better = CalibratedClassifierCV(NaiveBayes()).fit(X[:200], sample.y[:200])
    >>> slopes = [calibration(sample.y[200:], m.predict_proba(X[200:])).slope
    ...           for m in (plain, better)]
    >>> slopes[0] < 0.7 < slopes[1]  # 1 is calibrated
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "estimator": Model(help="classifier to calibrate; None: naive Bayes"),
        "method": Choice("sigmoid", "isotonic", "beta", "temperature", help="kind of the map"),
        "cv": OrNone(Folds(), help="folds whose rows learn the map; None: 5"),
        "n_jobs": Jobs(),
        "ensemble": AnyOf(
            Boolean(), Choice("auto"), help="whether to average the classifiers of the folds"
        ),
    }
    card: ClassVar[Card] = Card(
        method="calibrated",
        title="Calibrated naive Bayes",
        task="classification",
        strengths=(
            "Turns the scores of any classifier into probabilities that mean what they say.",
            "Leaves the order of the rows as it was, so a good ranking stays good.",
        ),
        weaknesses=(
            "Costs a fit per fold, and rows that the classifier does not learn from.",
            "The isotonic map overfits fewer than about 1,000 rows.",
        ),
        assumptions=(
            "A higher score means a higher probability.",
            "New rows come from where the held-out rows came from.",
        ),
        cost="one fit of the base per fold",
        source="M516",
        twin_of="naive_bayes",
        takes=frozenset({"number", "category", "missing"}),
        wide=True,
    )
    _least_rows = 2

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "sigmoid",
        cv: Any = None,
        n_jobs: int | None = None,
        ensemble: bool | str = "auto",
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.ensemble = ensemble

    def _bases(self) -> list[Any]:
        return [NaiveBayes() if self.estimator is None else self.estimator]

    def _prepare(self, rows: Rows) -> Rows:
        return rows

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        (base,) = self._bases()
        check_classes(self.classes_)
        frozen = isinstance(base, FrozenEstimator)
        if frozen:
            work = self._known_to(base, work)
        averaged = not frozen if self.ensemble == "auto" else self.ensemble
        if frozen and self.cv is None and not averaged:
            scores = class_scores(base, work.X, self.classes_, self.method)
            self.calibrated_classifiers_ = [self._mapped(base, scores, work.y, work.weights)]
            return
        folds = self._folds(work)
        fitted = in_threads(lambda fold: self._fit_part(base, work, fold[0]), folds, stage="folds")
        held = [
            class_scores(model, take_rows(work.X, test), self.classes_, self.method)
            for model, (_, test) in zip(fitted, folds, strict=True)
        ]
        if averaged:
            self.calibrated_classifiers_ = [
                self._mapped(model, scores, work.y[test], work.weights[test])
                for model, scores, (_, test) in zip(fitted, held, folds, strict=True)
            ]
            return
        rows = np.concatenate([test for _, test in folds])
        if len(np.unique(rows)) < len(rows):
            raise ParameterError(
                "Without ensemble a row is held out once; cv holds some out several times. Use "
                "ensemble=True, or folds that are a partition."
            )
        model = self._fit_part(base, work, np.arange(len(work)))
        scores = np.concatenate(held)
        self.calibrated_classifiers_ = [
            self._mapped(model, scores, work.y[rows], work.weights[rows])
        ]

    def _folds(self, work: Rows) -> list[tuple[IntArray, IntArray]]:
        wanted = 5 if self.cv is None else self.cv
        sizes = np.bincount(work.y)
        least = int(sizes[sizes > 0].min())
        if isinstance(wanted, int) and not isinstance(wanted, bool) and least < wanted:
            if least < 2 and self.cv is None:
                rare = self.classes_[np.flatnonzero(sizes == least)[0]]
                raise InputError(
                    f"The class {rare} has {least} row; calibration holds rows out, so a class "
                    "needs at least 2 (better 5)."
                )
            if self.cv is not None:
                raise InputError(
                    f"Requesting {wanted}-fold cross-validation but provided less than {wanted} "
                    f"examples for at least one class: the rarest has {least}. Use fewer folds."
                )
            wanted = least
        return folds_that_count(wanted, work, strata=work.y)

    def _fit_part(self, base: Any, work: Rows, rows: IntArray) -> Any:
        if isinstance(base, FrozenEstimator):
            return base
        y = self.classes_[work.y[rows]]
        weight = None if work.weight is None else work.weight[rows]
        return fit_weighted(clone(base), take_rows(work.X, rows), y, weight)

    def _mapped(
        self, model: Any, scores: FloatArray, codes: IntArray, weight: FloatArray
    ) -> CalibratedModel:
        """Return the model with maps learned from the scores of rows."""
        probable = is_probability(model, self.method)
        maps: list[ScoreMap | Temperature] = []
        if self.method == "temperature":
            maps.append(Temperature().fit(_logs(scores, probable), codes, weight))
        else:
            for k in range(1 if len(self.classes_) == 2 else 0, len(self.classes_)):
                score, used = scores[:, k], np.isfinite(scores[:, k])
                if not used.any():  # the model has not seen the class: its map is never used
                    score, used = np.zeros(len(score)), ~used
                maps.append(MAPS[self.method]().fit(score[used], codes[used] == k, weight[used]))
        finite = scores[np.isfinite(scores)]
        seen = float(finite.min()), float(finite.max())
        return CalibratedModel(model, maps, self.classes_, self.method, seen)

    def _known_to(self, base: Any, work: Rows) -> Rows:
        """Return the rows with classes as codes of those that a fitted classifier knows."""
        known = getattr(base, "classes_", None)
        if known is None or not np.all(np.isin(self.classes_, known)):
            raise InputError(
                "The fitted classifier does not know all classes of y; calibrate it on rows of the "
                "classes that it was fitted to."
            )
        place = np.searchsorted(known, self.classes_)
        self.classes_ = np.asarray(known)
        return replace(work, y=place[work.y])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return calibrated probabilities, in the order of ``classes_``."""
        X = self._check_new(X)
        with at_most(self.n_jobs):
            each = in_threads(lambda part: part.predict_proba(X), self.calibrated_classifiers_)
        return np.asarray(np.mean(each, axis=0))

    def predict(self, X: Any) -> Array:
        """Return the class of the largest calibrated probability; of equals the first."""
        codes = decided(self.predict_proba(X))
        return self.classes_[codes]

    def reliability(self, X: Any, y: Any, *, bins: int = 10) -> Calibration:
        """Return the reliability curve on new rows.

        Parameters
        ----------
        X, y : array-like or data frame
            Rows that the model was not fitted to.
        bins : int
            Number of bins.

        Returns
        -------
        Calibration
            As `bottega.metrics.calibration`.
        """
        return calibration(y, self.predict_proba(X), classes=self.classes_, bins=bins)

    def plot(self) -> Any:
        """Draw the maps from score to probability: one line per fold, or per class (their mean)."""
        check_is_fitted(self)
        if self.method == "temperature":
            raise InputError("A temperature is one number for all classes, not a map to draw.")
        parts = self.calibrated_classifiers_
        ends = np.array([part.seen for part in parts])
        at = np.linspace(ends[:, 0].min(), ends[:, 1].max(), 201)
        if len(self.classes_) == 2:
            drawn = {f"fold {k + 1}": part.maps[0](at) for k, part in enumerate(parts)}
            if len(parts) == 1:
                drawn = {"map": parts[0].maps[0](at)}
        else:
            drawn = {
                str(label): np.mean([part.maps[k](at) for part in parts], axis=0)
                for k, label in enumerate(self.classes_.tolist())
            }
        probable = is_probability(parts[0].estimator, self.method)
        return lines_chart(
            at,
            drawn,
            x_title="probability before" if probable else "decision value",
            y_title="calibrated probability",
            title="From score to probability",
            subtitle=f"The {self.method} map, learned from rows that were held out.",
            points=False,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def mapped(maps: list[Any], scores: FloatArray, probable: bool) -> FloatArray:
    """Return the probabilities that maps give to scores of the classes."""
    if isinstance(maps[0], Temperature):
        return maps[0](_logs(scores, probable))
    if len(maps) == 1:
        second = maps[0](scores[:, 1])
        return np.column_stack([1 - second, second])
    seen = np.isfinite(scores)
    known = np.where(seen, scores, 0.0)
    found = np.column_stack([each(known[:, k]) for k, each in enumerate(maps)])
    found[~seen] = 0.0  # of a class that the model has not seen
    total = found.sum(axis=1, keepdims=True)
    none = total[:, 0] <= 0
    found[none], total[none] = 1.0, found.shape[1]
    return np.asarray(found / total)


def _logs(scores: FloatArray, probable: bool) -> FloatArray:
    """Return scores that a softmax takes: the logarithms of probabilities."""
    if not probable:
        # Decision values of two classes are their difference.
        return scores / 2 if scores.shape[1] == 2 else np.maximum(scores, -1e300)
    return np.log(np.maximum(scores, 1e-300))
