"""The distribution of labels in a population of texts that nobody has read."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from bottega.core.cards import Card
from bottega.core.errors import InputError, ParameterError
from bottega.core.folds import Folds
from bottega.core.frames import default_names
from bottega.core.params import Anything, Boolean, Choice, Integer, OrNone, Parameter, Real, Seed
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.wrapping import Model
from bottega.text._proportions import by_blocks, by_classifier
from bottega.text._proportions.by_blocks import BlockAnswers
from bottega.text._proportions.by_classifier import ClassifierAnswers
from bottega.text._proportions.carry_over import CarryOver, carry_over, told_stems
from bottega.text._proportions.cells import Ones, StemCells, presence
from bottega.text._proportions.checks import check_counted, warn_of_few
from bottega.text._proportions.equations import CountedAnswers, Draws, Equations, class_means
from bottega.text._proportions.result import Proportions, notes_of, sets_of
from bottega.text._proportions.several import place_of
from bottega.text._proportions.tagged import TaggedTexts

__all__ = ["AggregateProportions"]

_BLOCKS = by_blocks.METHODS
_MOST_BLOCKS = 1000


class AggregateProportions(TaggedTexts):
    r"""Proportions of labels in texts that nobody has read, from texts that people have tagged.

    Counting the labels that a classifier gives to single texts is biased wherever the unread texts
    have other proportions than the tagged ones: errors on single texts do not cancel. What carries
    over is how texts of each class are written, so the proportions :math:`\pi` solve

    .. math:: P(S) = P(S \mid D)\, P(D) \quad\text{or}\quad
              E[\phi(S)] = \sum_k \pi_k\, E[\phi(S) \mid D = k]

    with the left side from the unread and the right from the tagged texts, by least squares over
    :math:`\pi_k \ge 0, \sum_k \pi_k = 1`. The methods differ in :math:`\phi`, and everything about
    a tagged text is answered by models that were fitted without it.

    Parameters
    ----------
    method : str, default="adjusted_em"
        - ``"adjusted_em"``: :math:`\phi` are the probabilities of a classifier as they are under
          the proportions that ``"em"`` finds: as exact as maximum likelihood, and right even where
          the probabilities are not;
        - ``"em"``: maximum likelihood by expectation-maximisation [3]_ from the probabilities of a
          classifier, calibrated by a factor and a shift per class [4]_;
        - ``"probabilistic_adjusted_count"``: :math:`\phi` are the probabilities of a classifier;
        - ``"adjusted_count"``: :math:`\phi` are its labels;
        - ``"inversion"``: :math:`\phi` are the cells of random blocks of stems [1]_, weighed by the
          inverse of their variance, out of fold;
        - ``"least_squares"``: the same, all cells alike, P(S | D) as it is in the tagged texts;
        - ``"count"``: the shares of the classifier's labels, for comparison.
    estimator : classifier or None, default=None
        Classifier of single texts; None is `bottega.classify.LogisticRegression`.
    cv : int, splitter or list of (train, test), default=10
        Folds whose texts are answered by models of the others.
    constrained : bool, default=True
        Whether proportions are at least 0 and sum to one. False is the plain generalised inverse,
        :math:`(X^\top X)^{-1} X^\top P(S)`.
    block_size : int, default=5
        Stems in a block, m: a block has 2^m cells. More stems see how stems go together, in cells
        with fewer texts.
    n_blocks : int or None, default=None
        Number of random blocks; None takes as many as there are stems, at most 1,000.
    classes : sequence or None, default=None
        The labels that must be among the tagged texts; None takes those that are. Of a matrix of
        several labels, the names of its columns.
    random_state : int, generator or None, default=0
        Of blocks and of bootstrap samples.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted; of a matrix of several labels, in the order of its columns.
    priors_ : ndarray of shape (K,)
        Their shares among the tagged texts.
    estimators_ : list of AggregateProportions
        Of several labels, a model per label, which has the attributes below.
    confusion_ : ndarray of shape (K, K)
        Of a classifier, what texts of each class (columns) are answered (rows), out of fold: shares
        of labels, or mean probabilities.
    answers_ : ClassifierAnswers or BlockAnswers
        The classifiers of the folds (``answers_.models``) or the blocks (``answers_.cells``), and
        what they answer of the tagged texts (``answers_.tagged``).
    codes_, weight_ : ndarray of shape (n,)
        Class (as a position in ``classes_``) and weight of the tagged texts: copies where all
        given are whole numbers, else 1 on average.
    known_stems_ : ndarray of bool of shape (p,)
        Whether a tagged text has the stem.
    compared_stems_ : ndarray of int
        Columns of the stems that `carry_over_test` looks at.
    n_features_in_ : int
        Number of stems.
    feature_names_in_ : ndarray of shape (p,)
        Names of the stems, when S is a data frame.

    See Also
    --------
    bottega.classify.LogisticRegression : The label of each single text.

    Notes
    -----
    D has one label per text, or is a matrix of zeros and ones with a column per label: then there
    is a problem of two classes per label, and the proportions need not sum to one.

    A fit costs `cv` fits of the classifier, or one pass over the stems per block. An estimate is a
    mean over the unread texts and a problem of K unknowns; expectation-maximisation takes some
    tens of passes over N K numbers. A bootstrap sample reweighs the answers of single texts and
    refits nothing, so a thousand take a fraction of a second.

    Intervals take in that tagged and unread texts are samples. They do not take in that the
    assumption may be wrong (`carry_over_test` looks at that), nor the bias of ``"count"``, ``"em"``
    with a badly calibrated classifier, and ``"least_squares"``, which draws proportions together:
    noise in P(S | D) looks like spread that classes share.

    Do not use it to label single texts, nor where the unread texts of a class are about something
    else than the tagged ones.

    References
    ----------
    .. [1] Hopkins, D. and King, G. (2010). A method of automated nonparametric content analysis for
       social science. American Journal of Political Science 54, 229-247.
    .. [2] Ceron, A., Curini, L. and Iacus, S. M. (2016). Politics and Big Data: Nowcasting and
       Forecasting Elections with Social Media. Routledge.
    .. [3] Saerens, M., Latinne, P. and Decaestecker, C. (2002). Adjusting the outputs of a
       classifier to new a priori probabilities: a simple procedure. Neural Computation 14, 21-41.
    .. [4] Alexandari, A., Kundaje, A. and Shrikumar, A. (2020). Maximum likelihood with
       bias-corrected calibration is hard-to-beat at label shift adaptation. ICML, 222-232.
    .. [5] Forman, G. (2008). Quantifying counts and costs via classification. Data Mining and
       Knowledge Discovery 17, 164-206.

    Examples
    --------
    Of the tagged texts half are for, of the unread a tenth:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> def texts(n, share):
    ...     D = np.where(rng.random(n) < share, "for", "against")
    ...     often = np.where(D[:, None] == "for", [0.6, 0.3, 0.2], [0.3, 0.6, 0.2])
    ...     return (rng.random((n, 3)) < often).astype(float), D
    >>> S, D = texts(2000, 0.5)
    >>> unread, _ = texts(2000, 0.1)
    >>> model = AggregateProportions().fit(S, D)
    >>> model.predict(unread).round(2).tolist()
    [0.92, 0.08]
    >>> AggregateProportions("count").fit(S, D).predict(unread).round(2).tolist()
    [0.68, 0.32]
    >>> model.proportions(unread).to_frame().columns.tolist()
    ['class', 'proportion', 'std_error', 'conf_low', 'conf_high', 'texts']
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "method": Choice(
            *by_classifier.METHODS, *_BLOCKS, help="what proportions are estimated by"
        ),
        "estimator": Model(help="classifier of single texts"),
        "cv": Folds(share=False, help="folds answered by models of the others"),
        "constrained": Boolean(help="proportions are at least 0 and sum to one"),
        "block_size": Integer(1, 12, help="stems in a block"),
        "n_blocks": OrNone(Integer(1, 100_000), help="number of random blocks"),
        "classes": OrNone(Anything(), help="labels that must be among the tagged texts"),
        "random_state": Seed(help="of blocks and of bootstrap samples"),
    }
    card: ClassVar[Card] = Card(
        method="aggregate_proportions",
        title="Aggregate proportions",
        task="quantification",
        strengths=(
            "Right about totals where counting the labels of single texts is far off.",
            "Intervals from resampling both the tagged and the unread texts, without refits.",
            "Any classifier, or blocks of stems without one; any number of classes.",
            "A test of whether the tagged classes carry over, with the stems that do not.",
        ),
        weaknesses=(
            "Says nothing about single texts.",
            "Classes that are written alike have wide intervals.",
            "Needs some tens of tagged texts of every class that occurs, of no class too.",
        ),
        assumptions=(
            "Texts of a class are alike among the tagged and the unread.",
            "Every unread text is of one of the tagged classes.",
            "Texts are independent.",
        ),
        cost="cv fits of the classifier, or n p; N K per estimate",
        source="D222-D224",
        wide=True,
    )

    def __init__(
        self,
        method: str = "adjusted_em",
        *,
        estimator: Any = None,
        cv: Any = 10,
        constrained: bool = True,
        block_size: int = 5,
        n_blocks: int | None = None,
        classes: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.method = method
        self.estimator = estimator
        self.cv = cv
        self.constrained = constrained
        self.block_size = block_size
        self.n_blocks = n_blocks
        self.classes = classes
        self.random_state = random_state

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        present = presence(work.X)
        self.known_stems_ = np.asarray(present.sum(axis=0)).ravel() > 0
        if not np.any(self.known_stems_):
            raise InputError("No tagged text has a stem: all of S is zero.")
        if work.y.ndim == 2:
            one = clone(self).set_params(classes=None)
            self.estimators_ = [clone(one).fit(work.X, d, work.weight) for d in work.y.T]
            self.priors_ = np.array([each.priors_[1] for each in self.estimators_])
            return
        self.codes_, self.weight_ = work.y, work.weights
        K = len(self.classes_)
        self.priors_ = np.bincount(work.y, self.weight_, minlength=K) / self.weight_.sum()
        self.compared_stems_ = told_stems(present)
        self._compared = Ones.of(present[:, self.compared_stems_])
        self.answers_: BlockAnswers | ClassifierAnswers
        if self.method in _BLOCKS:
            self.answers_ = BlockAnswers.fitted(self.method, self._cells(work), work, self.cv, K)
            return
        self.answers_ = ClassifierAnswers.fitted(
            self.method, self.estimator, work, self.cv, self.classes_
        )
        self.confusion_ = class_means(self.answers_.tagged, self.codes_, self.weight_, K)

    def _cells(self, work: Rows) -> StemCells:
        stems = np.flatnonzero(self.known_stems_)
        count = min(len(stems), _MOST_BLOCKS) if self.n_blocks is None else self.n_blocks
        return StemCells.drawn(stems, work.X.shape[1], int(self.block_size), count, self._rng())

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(seed_of(self.random_state, type(self).__name__))

    def predict(self, X: Any) -> FloatArray:
        """Return the proportions of the classes in a set of unread texts.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (N, p)
            Stem matrix of the unread texts, with the columns of the tagged ones.

        Returns
        -------
        ndarray of shape (K,)
            Proportions of all N texts together, in the order of ``classes_``.
        """
        S, weight = self._check_unread(X, None)
        if self._several:
            return np.array([each._estimate(S, weight)[1] for each in self.estimators_])
        return self._estimate(S, weight)

    def _estimate(self, S: Any, weight: FloatArray) -> FloatArray:
        system = self._system(self.answers_.of(S), np.arange(len(weight)), weight)
        return system.estimate(constrained=bool(self.constrained))

    @property
    def _several(self) -> bool:
        return hasattr(self, "estimators_")

    def proportions(
        self,
        X: Any,
        *,
        level: float = 0.95,
        groups: Any = None,
        time: Any = None,
        sample_weight: Any = None,
        n_bootstrap: int = 1000,
    ) -> Proportions:
        """Return proportions with intervals, of all unread texts, by group, and over time.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (N, p)
            Stem matrix of the unread texts.
        level : float, default=0.95
            Level of the intervals.
        groups : array-like of shape (N,), optional
            Sets of texts to estimate apart, such as regions.
        time : array-like of shape (N,), optional
            Periods to estimate apart, such as days: every distinct value is one.
        sample_weight : array-like of shape (N,), optional
            Weights of the unread texts.
        n_bootstrap : int, default=1000
            Bootstrap samples.

        Returns
        -------
        Proportions
            Shows itself as a table; `to_frame` is a data frame and `plot` a chart.
        """
        Real(0, 1, open_low=True, open_high=True).check("proportions", "level", level)
        Integer(2).check("proportions", "n_bootstrap", n_bootstrap)
        S, weight = self._check_unread(X, sample_weight)
        sets = sets_of(len(weight), groups, time)
        sets = [(key, check_counted(key, rows[weight[rows] > 0])) for key, rows in sets]
        if self._several:
            each = [one._resampled(S, weight, sets, n_bootstrap) for one in self.estimators_]
            estimate, again = (np.stack([e[i][..., 1] for e in each], axis=-1) for i in (0, 1))
        else:
            estimate, again = self._resampled(S, weight, sets, n_bootstrap)
        sizes = tuple(len(rows) for _, rows in sets)
        warn_of_few(sizes)
        return Proportions(
            tuple(self.classes_.tolist()),
            estimate,
            again,
            sizes,
            tuple(key for key, _ in sets),
            float(level),
            bool(self.constrained),
            notes_of(self.method, self._several),
            self._frame,
            self._several,
        )

    def _resampled(
        self, S: Any, weight: FloatArray, sets: Any, samples: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return the proportions of each set of texts, and those of bootstrap samples."""
        answers, rng, found = self.answers_.of(S), self._rng(), []
        tagged = [Draws.of(n, samples, rng) for n in np.bincount(self.codes_).tolist()]
        for _, rows in sets:
            system = self._system(answers, rows, weight)
            again = system.replicates(tagged, Draws.of(len(rows), samples, rng))
            found.append((system.estimate(constrained=bool(self.constrained)), again))
        estimates, replicates = zip(*found, strict=True)
        return np.array(estimates), np.array(replicates)

    def carry_over_test(
        self,
        X: Any,
        *,
        label: Any = None,
        sample_weight: Any = None,
        n_bootstrap: int = 500,
        stems: Any = None,
    ) -> CarryOver:
        """Test whether texts of a class use the same stems among the tagged and the unread.

        If they do, the share of the unread texts with a stem is a mixture of its shares in the
        tagged classes, by the proportions. The test compares these for all stems at once.

        It sees stems that are more or less frequent than any mixture explains: new topics, other
        words, another time or place. It does not see a change within classes that looks like
        another mixture of them (which the proportions then wrongly show), stems that go together
        differently with the same shares, stems of no tagged text, and little at all with few texts.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (N, p)
            Stem matrix of the unread texts.
        label : object, optional
            Of several labels, the one whose texts (and those without it) are compared.
        sample_weight : array-like of shape (N,), optional
            Weights of the unread texts.
        n_bootstrap : int, default=500
            Bootstrap samples.
        stems : StemMatrix or sequence of str, optional
            What made the matrices, or the names of their columns; by default those of the data
            frame of the fit, x0, x1, ... where it was none.

        Returns
        -------
        CarryOver
            The p-value, and found and expected shares of the stems.
        """
        Integer(2).check("carry_over_test", "n_bootstrap", n_bootstrap)
        S, weight = self._check_unread(X, sample_weight)
        one, rows = self._of_label(label), np.flatnonzero(weight > 0)
        system = one._system(one.answers_.of(S), rows, weight)
        if not isinstance(system, Equations):
            raise ParameterError("method='count' has no mixture to test; use another method.")
        names = self._names_of(stems)[one.compared_stems_]
        unread = presence(S)[rows][:, one.compared_stems_]
        found = carry_over(system, one._compared.matrix, unread, names, n_bootstrap, self._rng())
        return replace(found, _like=self._frame)

    def _names_of(self, stems: Any) -> Array:
        """Return the names of all stems, as they are given or known."""
        if stems is None:
            stems = getattr(self, "feature_names_in_", default_names(self.n_features_in_))
        elif hasattr(stems, "get_feature_names_out"):
            stems = stems.get_feature_names_out()
        names = np.asarray(stems, dtype=object)
        if names.shape != (self.n_features_in_,):
            raise InputError(
                f"stems has shape {names.shape} and the matrix {self.n_features_in_:,} columns; "
                "give one name per column, or the StemMatrix that made it."
            )
        return names

    def _of_label(self, label: Any) -> "AggregateProportions":
        """Return the model of one of several labels, or of all classes."""
        place = place_of(label, self.classes_.tolist() if self._several else None)
        return self if place is None else self.estimators_[place]

    def _system(
        self, answers: Any, rows: IntArray, weight: FloatArray
    ) -> CountedAnswers | Equations:
        """Return what the proportions of some of the unread texts follow from."""
        return self.answers_.system(answers, rows, weight[rows], self.codes_, self.weight_)
