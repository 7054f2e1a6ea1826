"""Several classes by classifiers of two: one against the rest, one against one, codes."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from bottega.classify._reduction.binary import BinaryProblems, gives_probabilities
from bottega.classify._reduction.codes import exhaustive_code, least_distance, random_code
from bottega.core.cards import Card
from bottega.core.classes import check_classes
from bottega.core.documents import documented_like
from bottega.core.pairs import coupled, pair_scores, pairs_of
from bottega.core.params import Anything, Choice, Jobs, Parameter, Real, Seed
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.typing import BoolArray, FloatArray
from bottega.core.wrapping import Model

__all__ = ["OneVsOneClassifier", "OneVsRestClassifier", "OutputCodeClassifier"]

_BASE = Model(help="classifier of two classes; None: logistic regression")
_TAKES: dict[str, Any] = {
    "task": "classification",
    "twin_of": "logistic_regression",
    "takes": frozenset({"number"}),
    "wide": True,
}
_ANY = "Makes a classifier of two classes, of any kind, one of several."
_ALIKE = "The binary problems can be told apart by the base."


class OneVsRestClassifier(BinaryProblems):
    r"""Tell each class from all others by a classifier of two classes.

    With :math:`f_k` the score of class k against the rest, :math:`\hat y = \arg\max_k f_k(x)`.

    Parameters
    ----------
    estimator : classifier, optional
        Of two classes, pipelines included; logistic regression of standardised inputs by default.
        It is cloned.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        Whether the progress of the fit is written to standard output.

    Attributes
    ----------
    estimators_ : list
        One fitted classifier per class, with 1 for it; of two classes only that of the second.
    classes_ : ndarray of shape (K,)
        The classes, sorted.

    See Also
    --------
    OneVsOneClassifier : A problem per pair of classes.
    OutputCodeClassifier : Codes that correct some errors.

    Notes
    -----
    Where no classifier, or more than one, says yes, hard votes would leave the class open
    (`ambiguous`); scores decide there, of equal ones the first class. Probabilities are those of
    the classifiers divided by their sum.
    Cost: K fits of the base, side by side in threads; K times its degrees of freedom. Not for
    methods that handle several classes themselves, and not for very rare classes: each problem is
    as unbalanced as its class is rare.

    References
    ----------
    .. [1] Rifkin, R. and Klautau, A. (2004). In defense of one-vs-all classification. Journal of
       Machine Learning Research 5, 101-141.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]])
    >>> model = OneVsRestClassifier().fit(X, ["a", "a", "b", "b", "c", "c"])
    >>> len(model.estimators_), model.predict([[-1.0], [3.0]]).tolist()
    (3, ['a', 'c'])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "estimator": _BASE,
        "n_jobs": Jobs(),
        "verbose": Anything(help="whether progress is written"),
    }
    card: ClassVar[Card] = Card(
        method="one_vs_rest",
        title="One class against the rest (logistic regression)",
        strengths=(_ANY, "One model per class, which says what sets that class apart."),
        weaknesses=(
            "Each problem is unbalanced, and the rest may lie on both sides of the class.",
            "Scores of different problems are compared although they were learned apart.",
        ),
        assumptions=(_ALIKE, "Scores of different problems are on one scale."),
        cost="K fits of the base",
        source="M506, M508",
        **_TAKES,
    )

    def __init__(
        self, estimator: Any = None, *, n_jobs: int | None = None, verbose: Any = 0
    ) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        check_classes(self.classes_)
        first = 1 if len(self.classes_) == 2 else 0
        sides = [(work.y == k).astype(np.intp) for k in range(first, len(self.classes_))]
        self.estimators_ = self._fit_problems(work, sides)

    def _decisions(self, X: Any) -> FloatArray:
        scores = self._scores(X)
        return np.column_stack([-scores, scores]) if len(self.classes_) == 2 else scores

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each class against the rest; of two classes that of the second."""
        return _of_two(self._scores(self._check_new(X)))

    @available_if(gives_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classifiers, divided by their sum."""
        shares = self._shares(self._check_new(X))
        if len(self.classes_) == 2:
            return np.column_stack([1 - shares, shares])
        total = shares.sum(axis=1, keepdims=True)
        shares[total[:, 0] == 0], total[total == 0] = 1.0, shares.shape[1]
        return np.asarray(shares / total)

    def votes(self, X: Any) -> BoolArray:
        """Return which classifiers say yes, one column per class."""
        return self._decisions(self._check_new(X)) > 0

    def ambiguous(self, X: Any) -> BoolArray:
        """Return where none of the classifiers, or more than one, says yes."""
        return self.votes(X).sum(axis=1) != 1


@documented_like(OneVsRestClassifier, without=("verbose",))
class OneVsOneClassifier(BinaryProblems):
    r"""Tell every pair of classes apart by a classifier of two classes, and let them vote.

    .. math:: \hat y = \arg\max_k \sum_{j \ne k} 1[\text{the classifier of } j, k \text{ says } k]

    Parameters
    ----------
    estimator : classifier, optional
        Of two classes, pipelines included; logistic regression of standardised inputs by default.
        It is cloned.

    Attributes
    ----------
    estimators_ : list
        One fitted classifier per pair (i, j), i < j, with class 1 for j.
    pairs_ : list of (int, int)
        The pairs, as positions in ``classes_``.

    See Also
    --------
    OneVsRestClassifier : A problem per class.

    Notes
    -----
    Of classes with equally many votes that with the larger sum of scores wins, then the first.
    Probabilities couple those of the pairs: the distribution whose pairs are nearest to them.
    Cost: K (K - 1) / 2 fits to the rows of two classes each, in sum cheaper than one against the
    rest where a fit grows faster than its rows. Not for many classes: pairs grow as their square.

    References
    ----------
    .. [1] Hastie, T. and Tibshirani, R. (1998). Classification by pairwise coupling. Annals of
       Statistics 26, 451-471.
    .. [2] Wu, T.-F., Lin, C.-J. and Weng, R. C. (2004). Probability estimates for multi-class
       classification by pairwise coupling. Journal of Machine Learning Research 5, 975-1005.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]])
    >>> model = OneVsOneClassifier().fit(X, ["a", "a", "b", "b", "c", "c"])
    >>> model.pairs_, model.predict([[-1.0], [1.1], [3.0]]).tolist()
    ([(0, 1), (0, 2), (1, 2)], ['a', 'b', 'c'])
    """

    params: ClassVar[Mapping[str, Parameter]] = {"estimator": _BASE, "n_jobs": Jobs()}
    card: ClassVar[Card] = Card(
        method="one_vs_one",
        title="One class against one (logistic regression)",
        strengths=(_ANY, "Each problem has the rows of two classes only: small and balanced."),
        weaknesses=(
            "The number of problems grows as the square of the number of classes.",
            "Classifiers vote on rows of classes that they have never seen.",
        ),
        assumptions=(_ALIKE,),
        cost="K (K - 1) / 2 fits of the base to two classes each",
        source="M507",
        **_TAKES,
    )

    def __init__(self, estimator: Any = None, *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        check_classes(self.classes_)
        self.pairs_ = pairs_of(len(self.classes_))
        sides = []
        for i, j in self.pairs_:
            side = np.full(len(self.classes_), -1)
            side[i], side[j] = 0, 1
            sides.append(side[work.y])
        self.estimators_ = self._fit_problems(work, sides)

    def _decisions(self, X: Any) -> FloatArray:
        scores = self._scores(X)
        return pair_scores(~(scores > 0), -scores, len(self.classes_))

    def decision_function(self, X: Any) -> FloatArray:
        """Return votes plus less than a third by the sum of scores; of two classes the score."""
        X = self._check_new(X)
        if len(self.classes_) == 2:
            return _of_two(self._scores(X))
        return self._decisions(X)

    @available_if(gives_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities whose pairs are nearest to those of the classifiers.

        Their largest need not be the class with the most votes, which `predict` returns.
        """
        return coupled(1 - self._shares(self._check_new(X)), len(self.classes_))

    def votes(self, X: Any) -> FloatArray:
        """Return how many classifiers say each class."""
        return np.rint(self._decisions(self._check_new(X)))

    def ambiguous(self, X: Any) -> BoolArray:
        """Return where two or more classes have the most votes."""
        votes = self.votes(X)
        return np.count_nonzero(votes == votes.max(axis=1, keepdims=True), axis=1) > 1


@documented_like(OneVsRestClassifier, without=("verbose",))
class OutputCodeClassifier(BinaryProblems):
    r"""Give each class a code of several bits, learn each bit, and take the nearest code.

    .. math:: \hat y = \arg\min_k \sum_b (f_b(x) - c_{kb})^2

    Codes that differ in d bits still tell the classes apart when :math:`\lfloor (d - 1)/2 \rfloor`
    classifiers are wrong.

    Parameters
    ----------
    estimator : classifier, optional
        Of two classes, pipelines included; logistic regression of standardised inputs by default.
        It is cloned.
    code_size : float, default=1.5
        Bits of a random code, as a multiple of the number of classes.
    code : {"random", "exhaustive"}, default="random"
        A random code, the best of 100 draws; or all splits of the classes in two (at most 11
        classes).
    random_state : int, RandomState, Generator or None, default=0
        Seed of the code.

    Attributes
    ----------
    estimators_ : list
        One fitted classifier per bit.
    code_book_ : ndarray of shape (K, B)
        The codes: 1 and -1 where the base has a `decision_function`, else 1 and 0.
    least_distance_ : int
        The least number of bits in which two codes differ.

    See Also
    --------
    OneVsRestClassifier : The code of K bits with a single one in each row.

    Notes
    -----
    Scores are compared with the codes as they are (decision values with -1 and 1, probabilities
    with 0 and 1); of equally near codes the first class in sorted order wins. There are no
    probabilities.
    Cost: one fit of the base per bit, to all rows. Not for bases whose errors are alike in all
    bits: nothing is corrected then.

    References
    ----------
    .. [1] Dietterich, T. G. and Bakiri, G. (1995). Solving multiclass learning problems via
       error-correcting output codes. Journal of Artificial Intelligence Research 2, 263-286.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]])
    >>> model = OutputCodeClassifier(code="exhaustive").fit(X, ["a", "a", "b", "b", "c", "c"])
    >>> model.code_book_.shape, model.least_distance_
    ((3, 3), 2)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "estimator": _BASE,
        "code_size": Real(0, None, open_low=True, help="bits of a random code per class"),
        "code": Choice("random", "exhaustive", help="how the codes are made"),
        "random_state": Seed(help="seed of the code; None: another in every fit"),
        "n_jobs": Jobs(),
    }
    card: ClassVar[Card] = Card(
        method="output_code",
        title="Error-correcting codes (logistic regression)",
        strengths=(_ANY, "Some wrong classifiers do not matter: the codes are far apart."),
        weaknesses=(
            "Splits of the classes are arbitrary, and may be hard to learn by a simple base.",
            "Gives no probabilities.",
        ),
        assumptions=(_ALIKE, "Errors of different bits are not much correlated."),
        cost="a fit of the base per bit",
        source="M508",
        **_TAKES,
    )

    def __init__(
        self,
        estimator: Any = None,
        *,
        code_size: float = 1.5,
        code: str = "random",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.code_size = code_size
        self.code = code
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        check_classes(self.classes_)
        count = len(self.classes_)
        if self.code == "exhaustive" or count == 2:
            bits = exhaustive_code(count)[:, ::-1] if count > 2 else np.array([[0], [1]])
        else:
            length = max(int(count * self.code_size), int(np.ceil(np.log2(count))))
            bits = random_code(count, length, seed_of(self.random_state, type(self).__name__))
        self.least_distance_ = least_distance(bits)
        self.estimators_ = self._fit_problems(work, [column[work.y] for column in bits.T])
        low = -1.0 if hasattr(self._bases()[0], "decision_function") else 0.0
        self.code_book_ = np.where(bits == 1, 1.0, low)

    def _decisions(self, X: Any) -> FloatArray:
        scores = self._scores(X) + (0.0 if self.code_book_.min() < 0 else 0.5)
        # The squared length of a row's scores is the same for all classes.
        book = self.code_book_
        return np.asarray(2 * scores @ book.T - np.sum(book**2, axis=1))


def _of_two(scores: FloatArray) -> FloatArray:
    return scores[:, 0] if scores.shape[1] == 1 else scores
