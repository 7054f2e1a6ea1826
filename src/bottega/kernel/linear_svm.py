"""Linear support vector machines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from bottega.core.cards import Card
from bottega.core.classes import NoProbabilities, check_classes, decided
from bottega.core.errors import ConvergenceWarning, ParameterError, warn_caller
from bottega.core.folds import Folds
from bottega.core.lists import Listed
from bottega.core.losses import ZERO_ONE, Loss
from bottega.core.params import (
    AnyOf,
    Auto,
    Boolean,
    Choice,
    ClassWeight,
    Integer,
    Parameter,
    Real,
    Seed,
)
from bottega.core.path import Path, along
from bottega.core.results import CoefficientResults, glance_row, term_names, tidy_columns
from bottega.core.rows import Rows
from bottega.core.scores import linear_scores
from bottega.core.seeds import seed_of
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray
from bottega.kernel._linear.problem import LinearProblem, Separator, readable
from bottega.kernel._objects.products import row_squares

__all__ = ["LinearSVM"]

_WIDE = 500  # columns up to which Newton's equations are quick to solve


@dataclass(frozen=True)
class _SvmWork:
    """The problem of each class against the others (one of two classes), and the row weights."""

    rows: Rows
    problems: tuple[LinearProblem, ...]
    unit: float  # mean squared length of a row, without the constant


class LinearSVM(NoProbabilities, CoefficientResults, ClassifierMixin, Tuned):
    r"""Linear classifier of large margin.

    Minimises for labels :math:`y_i = \pm 1`

    .. math:: \tfrac12 \lVert w \rVert^2 + \tfrac12 b'^2 +
        C \sum_i s_i\, \ell(1 - y_i (w^\top x_i + b)), \qquad b = \text{intercept\_scaling} \cdot b'

    with the squared hinge :math:`\ell(t) = \max(0, t)^2` or the hinge :math:`\max(0, t)`; with more
    than two classes each class against all others, and the largest value decides. These are the
    objective and the answer of scikit-learn's ``LinearSVC`` and of liblinear.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the losses, above 0: the larger, the fewer rows inside the margin. ``"auto"``
        picks from the path by the rule `select`.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss.
    solver : {"auto", "dual", "newton", "pegasos"}, default="auto"
        ``"dual"`` is coordinate descent on the dual, in random order and without the rows that rest
        at a limit. ``"newton"`` (squared hinge) solves the primal problem exactly. ``"pegasos"``
        (hinge) takes random subgradient steps, `max_iter` times the number of rows, and averages
        the second half: a rough answer for very many rows. ``"auto"`` is ``"newton"`` for the
        squared hinge with up to 500 columns and more rows than columns, else ``"dual"``.
    penalty : {"l2"}, default="l2"
        Taken because scikit-learn has it: half the squared weights are the only penalty here.
    dual : bool or "auto", default="auto"
        Taken because scikit-learn has it; without effect: `solver` says how it is solved.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is penalised as the weights are.
    intercept_scaling : float, default=1.0
        The constant whose weight is the intercept: the larger, the less it is penalised.
    class_weight : dict, "balanced" or None, default=None
        Factors of C by class.
    tol : float, default=1e-4
        Largest spread of the dual's derivatives at the end of ``"dual"``.
    max_iter : int, default=1000
        Most passes over the rows.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the cross-validated error.
    Cs : int or array-like, default=10
        Values of C on the path: their number, or the values.
    cv : int, splitter or list of (train, test), default=10
        Folds that judge the path.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the order in which rows are visited.

    Attributes
    ----------
    coef_ : ndarray of shape (1, p) or (n_classes, p)
        Weights of the columns.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels, in sorted order.
    C_ : float
        The weight of the losses in use.
    solver_ : str
        The solver in use.
    n_iter_ : int
        Most passes (of ``"newton"``: steps) over the classes.
    converged_ : bool
        Whether every class reached the tolerance within `max_iter`.
    objective_ : ndarray of shape (1,) or (n_classes,)
        Objective of each solution.
    gap_ : ndarray of shape (1,) or (n_classes,)
        Objective minus that of the dual: the solution is no further from the best than this.
    n_support_ : ndarray of int, shape (1,) or (n_classes,)
        Rows with a dual variable above zero, on or inside the margin.
    path_ : Path
        The whole curve, when `C` is ``"auto"``.

    Notes
    -----
    A pass of ``"dual"`` costs the number of entries of X, a step of ``"newton"``
    :math:`O(n p^2)`; ten or so are enough. Along the path each solution starts from the one
    before. Dense rows are read as they are, sparse ones as CSR.

    Without scaled columns C means something else for each: scale them. Do not use it for
    probabilities (see `bottega.classify` for calibration), or where classes are not nearly
    separated by a hyperplane: see `SupportVectorClassifier`.

    References
    ----------
    .. [1] Hsieh, C.-J., Chang, K.-W., Lin, C.-J., Keerthi, S. S. and Sundararajan, S. (2008). A
       dual coordinate descent method for large-scale linear SVM. Proceedings of ICML, 408-415.
    .. [2] Shalev-Shwartz, S., Singer, Y., Srebro, N. and Cotter, A. (2011). Pegasos: primal
       estimated sub-gradient solver for SVM. Mathematical Programming 127, 3-30.
    .. [3] Mangasarian, O. L. (2002). A finite Newton method for classification. Optimization
       Methods and Software 17, 913-929.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    >>> model = LinearSVM(loss="hinge", C=10.0, tol=1e-8).fit(X, ["no", "no", "yes", "yes"])
    >>> model.coef_.round(4), model.predict([[0.5]])
    (array([[1.]]), array(['yes'], dtype='<U3'))
    >>> bool(model.gap_[0] < 1e-6)
    True
    """

    knob: ClassVar[str] = "C"
    walks: ClassVar[Mapping[str, Any]] = {"C": "auto"}
    params: ClassVar[Mapping[str, Parameter]] = {
        "C": Auto(Real(0, None, open_low=True, log=True), help="weight of the losses"),
        "loss": Choice("squared_hinge", "hinge", help="loss of a row"),
        "solver": Choice("auto", "dual", "newton", "pegasos", help="how it is solved"),
        "penalty": Choice("l2", help="half the squared weights, the only one"),
        "dual": AnyOf(Choice("auto"), Boolean(), help="without effect: see solver"),
        "fit_intercept": Boolean(help="have an intercept"),
        "intercept_scaling": Real(0, open_low=True, help="constant whose weight is the intercept"),
        "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
        "tol": Real(0, open_low=True, help="tolerance of the dual solver"),
        "max_iter": Integer(1, help="most passes over the rows"),
        "select": Choice("min", "one_se", help="rule that picks from the path"),
        "Cs": AnyOf(
            Integer(2), Listed(Real(0, open_low=True)), help="values of C: how many, or which"
        ),
        "cv": Folds(help="folds that judge the path"),
        "random_state": Seed(help="seed of the order of rows"),
    }
    card: ClassVar[Card] = Card(
        method="linear_svm",
        title="Linear support vector machine",
        task="classification",
        strengths=(
            "Fast on many rows and on many sparse columns, texts above all.",
            "Depends on the rows near the boundary alone: those far on the right side do not pull.",
            "Works with more columns than rows.",
            "The gap between primal and dual says how far from the best the solution is.",
        ),
        weaknesses=(
            "Separates classes by a hyperplane only.",
            "Gives no probabilities of its own.",
            "Depends on the scale of the inputs: standardise them.",
            "More than two classes are taken one against the others.",
        ),
        assumptions=(
            "A hyperplane separates the classes, or nearly so.",
            "Columns are on comparable scales.",
        ),
        cost="n p per pass, 10 to 1,000 passes",
        source="M801-M819, M832",
        wide=True,
        standardize=True,
    )

    def __init__(
        self,
        C: float | str = 1.0,
        *,
        loss: str = "squared_hinge",
        solver: str = "auto",
        penalty: str = "l2",
        dual: bool | str = "auto",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        select: str = "one_se",
        Cs: Any = 10,
        cv: Any = 10,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.solver = solver
        self.penalty = penalty
        self.dual = dual
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.select = select
        self.Cs = Cs
        self.cv = cv
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        wanted = {"newton": "squared_hinge", "pegasos": "hinge"}.get(self.solver, self.loss)
        if wanted != self.loss:
            raise ParameterError(
                f"LinearSVM: solver={self.solver!r} is for loss={wanted!r}; loss is {self.loss!r}."
            )

    def _prepare(self, rows: Rows) -> _SvmWork:
        n_classes = len(self.classes_)
        check_classes(self.classes_)
        X = readable(rows.X)
        constant = float(self.intercept_scaling) if self.fit_intercept else 0.0
        square = row_squares(X)
        unit = float(np.mean(square))
        positive = [1] if n_classes == 2 else range(n_classes)
        problems = tuple(
            LinearProblem(
                X,
                np.where(rows.y == k, 1.0, -1.0),
                rows.weights,
                self.loss == "squared_hinge",
                square + constant**2,
                constant,
            )
            for k in positive
        )
        return _SvmWork(rows, problems, unit if unit > 0 else 1.0)

    def _solver_for(self, work: _SvmWork) -> str:
        if self.solver != "auto":
            return self.solver
        n, p = work.problems[0].X.shape
        newton = self.loss == "squared_hinge" and p <= min(n, _WIDE)
        return "newton" if newton else "dual"

    def _solutions(self, work: _SvmWork, Cs: Sequence[float]) -> list[list[Separator]]:
        """Return the solution of each C (in rising order) and class, each from the one before."""
        how, seed = self._solver_for(work), seed_of(self.random_state)
        found: list[list[Separator]] = []
        start: list[Separator | None] = [None] * len(work.problems)
        for C in Cs:
            row = []
            for k, problem in enumerate(work.problems):
                if how == "newton":
                    one = problem.solve_newton(C, start[k], int(self.max_iter))
                elif how == "dual":
                    one = problem.solve_dual(C, start[k], float(self.tol), int(self.max_iter), seed)
                else:
                    one = problem.solve_pegasos(C, int(self.max_iter), seed)
                start[k] = one
                row.append(one)
            found.append(row)
        return found

    def _path(self, work: _SvmWork, values: Any, loss: Loss | None) -> Path:
        if values is None and np.ndim(self.Cs):
            values = self.Cs
        if values is None:
            low, high = np.log10(np.array([1e-3, 1e2]) / work.unit).round(2)
            Cs = np.logspace(low, high, int(self.Cs))
        else:
            Cs = np.sort(np.asarray(values, dtype=np.float64))
        settings = along(self.knob, Cs)
        solutions = self._solutions(work, Cs.tolist())
        codes = self._codes(solutions, work.rows.X)
        wrong = (codes != work.rows.y[:, None]).astype(np.float64)
        short = sum(not all(one.converged for one in row) for row in solutions)
        if short:
            warn_caller(
                f"LinearSVM: {short} of {len(Cs)} values of C did not reach tol={self.tol:g} in "
                f"max_iter={self.max_iter} passes. Scale the inputs, or raise max_iter.",
                ConvergenceWarning,
            )
        return Path(
            settings,
            train_error=np.average(wrong, axis=0, weights=work.rows.weight),
            loss=ZERO_ONE.title,
            complexity=np.log(Cs),
        )

    def _predictions(
        self, work: _SvmWork, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        order = np.argsort([setting["C"] for setting in settings], kind="stable")
        solutions = self._solutions(work, [float(settings[i]["C"]) for i in order])
        found = np.empty((X_new.shape[0], len(settings)), dtype=np.intp)
        found[:, order] = self._codes(solutions, X_new)
        return found

    def _codes(self, solutions: Sequence[Sequence[Separator]], X: Any) -> Array:
        """Return the codes of the classes of rows, one column per solution."""
        parts = [self._parts(row) for row in solutions]
        return np.stack([_decide(np.asarray(X @ w.T) + b) for w, b in parts], axis=1)

    def _parts(self, row: Sequence[Separator]) -> tuple[FloatArray, FloatArray]:
        """Return coefficients, one row per class, and intercepts."""
        w = np.array([one.w for one in row])
        scale = float(self.intercept_scaling) if self.fit_intercept else 0.0
        return w[:, :-1].copy(), w[:, -1] * scale

    def _settle(self, work: _SvmWork, setting: Mapping[str, Any]) -> None:
        self.C_ = float(setting["C"])
        row = self._solutions(work, [self.C_])[0]
        self.coef_, self.intercept_ = self._parts(row)
        self.solver_ = self._solver_for(work)
        self.n_iter_ = max(one.n_iter for one in row)
        self.converged_ = all(one.converged for one in row)
        pairs = list(zip(work.problems, row, strict=True))
        self.objective_ = np.array([each.primal(one.w, self.C_) for each, one in pairs])
        self.gap_ = self.objective_ - [each.dual(one, self.C_) for each, one in pairs]
        self.n_support_ = np.array([np.count_nonzero(one.a > 0) for one in row])
        self._n_rows = len(work.rows)
        if not self.converged_:
            warn_caller(
                f"LinearSVM did not reach tol={self.tol:g} in max_iter={self.max_iter} passes; the "
                f"objective is at most {np.max(self.gap_):.3g} above the least one. Scale the "
                "inputs, raise max_iter, or lower C.",
                ConvergenceWarning,
            )

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        names, estimate = term_names(self, intercept=bool(self.fit_intercept)), self.coef_.T
        if self.fit_intercept:
            estimate = np.vstack([self.intercept_, estimate])
        if len(self.coef_) == 1:
            return tidy_columns(names, estimate[:, 0], level=level)
        return tidy_columns(names, estimate, level=level, response=self.classes_)

    def _glance_row(self) -> dict[str, Any]:
        about = {"n_support": int(self.n_support_.sum()), "C": self.C_}
        size, gap = float(np.sum(self.objective_)), float(np.max(self.gap_))
        return glance_row({"nobs": self._n_rows}, **about, objective=size, gap=gap)

    def _notes(self) -> tuple[str, ...]:
        return ("The hinge is no likelihood: weights have no standard errors and no tests.",)

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        return super()._input_options(new) | {"accept_sparse": "csr"}

    def decision_function(self, X: Any) -> FloatArray:
        """Return w.x + b: for two classes at least 0 means the second; else a column per class."""
        X = self._check_new(X)
        scores = linear_scores(X, self.coef_, self.intercept_)
        return scores[:, 0] if len(self.coef_) == 1 else scores

    def predict(self, X: Any) -> Array:
        """Return the class of each row: sgn(0) is +1, the second class; of equals the first."""
        scores = self.decision_function(X)
        return self.classes_[_decide(scores if scores.ndim == 2 else scores[:, None])]

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _decide(scores: FloatArray) -> Array:
    return (scores[:, 0] >= 0).astype(np.intp) if scores.shape[1] == 1 else decided(scores)
