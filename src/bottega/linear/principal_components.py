"""Regression on principal components: least squares on the directions in which the inputs vary."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from bottega.core.cards import Card
from bottega.core.chunks import CheckedChunks
from bottega.core.deal import deal_rows
from bottega.core.documents import documented_like
from bottega.core.errors import InputError
from bottega.core.folds import Folds
from bottega.core.losses import Loss
from bottega.core.moments import Moments
from bottega.core.params import Auto, Boolean, Integer, Parameter
from bottega.core.path import Path, Rule
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.linear._decomposition.centering import Centering, squeeze
from bottega.linear._decomposition.coefficients import SpectralPath
from bottega.linear._decomposition.fold_moments import FoldMoments, judge_linear
from bottega.linear._decomposition.problem import DecomposedProblem
from bottega.linear._decomposition.spectrum import by_gram
from bottega.linear.ridge import Ridge

__all__ = ["PrincipalComponentsRegression"]


@documented_like(Ridge, without=("alpha_",))
class PrincipalComponentsRegression(RegressorMixin, SpectralPath):
    r"""Least squares on the first few principal components of the inputs.

    With :math:`X = U D V^\top` the singular value decomposition of the centred (and, with
    ``standardize=True``, scaled) inputs and :math:`U_J` the first J columns of U,

    .. math:: \hat y = \bar y + U_J U_J^\top y = \bar y + \sum_{j \le J} \hat\gamma_j z_j,
              \qquad z_j = X v_j, \quad \hat\gamma_j = \frac{z_j^\top y}{z_j^\top z_j}

    so each coefficient is a simple regression: the components are orthogonal. Where ridge shrinks
    direction j by :math:`d_j^2 / (d_j^2 + \alpha)`, this keeps the first J whole and drops the
    rest. There is always an intercept.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many components are kept, from 0 (the mean) to the rank of the inputs (least squares);
        more fit closer. ``"auto"`` picks from the path by the rule `select`.
    standardize : bool, default=True
        Whether the components are those of the correlation matrix (each input counts the same) or
        of the covariance matrix (an input counts by its spread).
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the cross-validated error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).
    cv : int, float, "loo", splitter or list of (train, test), default=10
        Number of folds (at most one per row), the share of rows to hold out, or the folds;
        ``"loo"`` leaves out every row by itself (n decompositions: for small data).

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (q, p)
        Coefficients on the original scale of the inputs; in general none is zero.
    n_components_ : int
        The number of components in use, J.
    path_ : Path
        The whole curve, when `n_components` is ``"auto"``.
    rotation_ : ndarray of shape (p, J)
        Direction of each component in the (standardised) inputs, V.
    component_coef_ : ndarray of shape (J,) or (q, J)
        Coefficients of the components, gamma.
    explained_variance_ : ndarray of shape (r,)
        Variance (divisor n) of every component, r the rank of the inputs.
    explained_variance_ratio_ : ndarray of shape (r,)
        Their shares of the whole variance of the inputs.

    Notes
    -----
    One decomposition, :math:`O(n p \min(n, p))`, gives the fits and criteria for every J; df is
    J + 1. The honest error of the path is found by cross-validation in which the centre, scale and
    components are computed anew from the rows of each training part: `cv` decompositions more. A
    training part of lower rank than J uses all the components it has.

    `loo_residuals_` and `loo_` follow from the leverages and so hold the components fixed: they
    flatter a little, because a row left out would have changed the components too. ``cv="loo"``
    refits everything.

    Do not use it when the response may depend on a direction in which the inputs vary little: the
    components are built without looking at y, and those of small variance go first. Nor to select
    inputs: every input is in every component. Standard errors take the dropped components to
    have no effect; unless all p are kept the t tests do not hold, and are left out.

    References
    ----------
    .. [1] Massy, W. F. (1965). Principal components regression in exploratory statistical research.
       Journal of the American Statistical Association 60, 234-256.
    .. [2] Jolliffe, I. T. (1982). A note on the use of principal components in regression.
       Applied Statistics 31, 300-303.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(60, 2))
    >>> X = hidden @ rng.normal(size=(2, 8)) + 0.1 * rng.normal(size=(60, 8))
    >>> y = hidden[:, 0] - hidden[:, 1] + 0.3 * rng.normal(size=60)
    >>> model = PrincipalComponentsRegression().fit(X, y)
    >>> model.n_components_, model.df_
    (2, 3.0)
    >>> model.explained_variance_ratio_[:3].round(3)
    array([0.681, 0.307, 0.007])
    """

    knob: ClassVar[str] = "n_components"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": Auto(Integer(0, None), help="number of components kept"),
        "standardize": Boolean(help="take the components of inputs on one scale"),
        "select": Rule(),
        "cv": Folds(help="folds of the cross-validation"),
    }
    card: ClassVar[Card] = Card(
        method="pcr",
        title="Principal components regression",
        task="regression",
        strengths=(
            "Works with more columns than rows and with collinear columns.",
            "Few numbers describe the fit where the inputs share a few causes.",
            "The fits for every number of components come from one decomposition.",
            "The components are orthogonal: each coefficient is a simple regression of its own.",
        ),
        weaknesses=(
            "Components are built without looking at the response: a signal in a direction of "
            "small variance is dropped first.",
            "Keeps every input, in combinations that are hard to interpret.",
            "Captures linear effects only: anything curved or interacting is bias.",
            "Depends on the scale of the inputs: standardise them, as is the default.",
        ),
        assumptions=(
            "The mean is linear in the inputs.",
            "The response depends on the directions in which the inputs vary most.",
        ),
        cost="k n p min(n, p) for k folds",
        source="D68-D70, D77",
        wide=True,
    )
    # What the inference of the linear methods asks for: among the components kept there is no
    # penalty, and there is always an intercept.
    alpha_: ClassVar[float] = 0.0  # type: ignore[misc]
    fit_intercept: ClassVar[bool] = True  # type: ignore[misc]

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        standardize: bool = True,
        select: str = "one_se",
        cv: Any = 10,
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.select = select
        self.cv = cv

    def _kept(self, problem: DecomposedProblem, counts: Array) -> FloatArray:
        # A count above the rank (of a fold) stands for all the components there are.
        return np.asarray(np.arange(problem.spectrum.rank)[:, None] < counts, dtype=np.float64)

    def _folds_of_chunks(self) -> int:
        if not isinstance(self.n_components, str):
            return 1
        if not isinstance(self.cv, Integral):
            raise InputError(
                f"cv={self.cv!r} needs all rows at once, and a fit in chunks has folds of its own: "
                "give cv= a number of folds, or n_components= a number."
            )
        return int(self.cv)

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Any:
        return FoldMoments(X, y, w, self._folds_of_chunks(), fold)

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> DecomposedProblem:
        problem = super()._prepare_merged(statistics.total(), chunks)
        reduce = partial(chunks.reduce, folds=len(statistics.parts))
        return replace(problem, folds=(statistics, reduce))

    def _settle(self, problem: DecomposedProblem, setting: Mapping[str, Any]) -> None:
        spectrum = problem.spectrum
        self.n_components_ = int(_check_components([setting["n_components"]], spectrum.rank)[0])
        used = spectrum.first(self.n_components_)
        kept = self._kept(problem, np.array([self.n_components_]))
        self._keep(problem, used, kept, 1 - kept)
        self.rotation_ = used.V
        gamma = (used.rotated / np.sqrt(used.lam)[:, None]).T
        self.component_coef_ = squeeze(gamma, problem.y_ndim)
        self.explained_variance_ = spectrum.lam / problem.centering.weight
        total = self.explained_variance_.sum()
        self.explained_variance_ratio_ = self.explained_variance_ / (total if total else 1.0)

    def _path(self, problem: DecomposedProblem, values: Any, loss: Loss | None) -> Path:
        spectrum, rank = problem.spectrum, problem.spectrum.rank
        counts = np.arange(rank + 1) if values is None else _check_components(values, rank)
        rss = problem.squares_outside() + (1 - self._kept(problem, counts)).T @ spectrum.rotated**2
        judged = {}
        if loss is not None:
            folds = problem.folds or self._moments_by_fold(problem)
            if folds is not None:
                _check_enough_rows(problem.centering.n)
                judged = self._judge_moments(folds, counts, loss)
        return self._gaussian_path(problem, counts, rss, **judged)

    def _moments_by_fold(self, problem: DecomposedProblem) -> Any:
        """Return moments of the folds of rows in memory, and what passes over the folded rows.

        None where sums of squares would lose digits, or the rows are few: then those of each fold
        are decomposed themselves.
        """
        rows = problem.rows
        if rows is None or problem.solver != "gram" or not isinstance(self.cv, Integral):
            return None
        X, y, w, count = rows.X, rows.y.reshape(len(rows), -1), rows.weight, int(self.cv)
        fold = deal_rows(count, len(rows), X, rows.y, w)
        return FoldMoments(X, y, w, count, fold), lambda function: function(X, y, w, fold)

    def _judge_moments(self, work: Any, counts: Array, loss: Loss) -> dict[str, Any]:
        """Return the cross-validated error of each number of components, by one more pass."""
        folds, reduce = work
        p = folds.p

        def fit(train: Moments) -> tuple[FloatArray, FloatArray]:
            centering, scatter = Centering.from_moments(train, p, **self._frame_of_inputs)
            spectrum: Any = by_gram(scatter[:p, :p], scatter[:p, p:], drop=True)
            kept = np.arange(spectrum.rank)[:, None] < counts
            return centering.original(spectrum.coef_keeping(kept))

        fits = [None if train is None else fit(train) for train in folds.training()]
        return {"estimate": "cv", **judge_linear(reduce, fits, loss)}

    def _judge(self, curve: Path, work: Any, rows: Rows, cv: Any, loss: Loss) -> Path:
        _check_enough_rows(len(rows))
        if isinstance(cv, Integral) and int(cv) >= len(rows):
            cv = "loo"
        return super()._judge(curve, work, rows, cv, loss)

    def component_scores(self, X: Any) -> FloatArray:
        """Return the components of each row: its (standardised) inputs times `rotation_`."""
        return self._centering.inputs(self._check_new(X)) @ self.rotation_

    def covariance(self, kind: str = "sampling") -> FloatArray:
        r"""Return the covariance matrix of `coef_` on the original scale.

        Parameters
        ----------
        kind : {"sampling"}
            Over repeated responses at the same inputs: :math:`\sigma^2 V_J D_J^{-2} V_J^\top`.

        Returns
        -------
        ndarray of shape (p, p) or (q, p, p)
        """
        if kind != "sampling":
            raise InputError(f"kind={kind!r} is not allowed; components have no prior: 'sampling'.")
        return super().covariance("sampling")

    def _tested(self) -> bool:
        # With components dropped the estimates are biased; limits cover the mean of the estimate.
        return self.n_components_ == self.n_features_in_

    def _notes(self) -> tuple[str, ...]:
        share = self.explained_variance_ratio_[: self.n_components_].sum()
        kept = (
            f"{self.n_components_} of {len(self.explained_variance_)} components of "
            f"{'standardised' if self.standardize else 'unscaled'} inputs, with {share:.1%} of "
            f"their variance; solver {self.solver_}."
        )
        if self._tested():
            return (kept,)
        return kept, "Standard errors take the dropped components to have no effect: no tests."


def _check_components(values: Any, rank: int) -> IntArray:
    counts = np.asarray(values)
    if counts.max() > rank:
        raise InputError(
            f"n_components={counts.max()} is more than the {rank} directions in which these inputs "
            f"vary: give at most {rank}."
        )
    return np.sort(counts)


def _check_enough_rows(n: int) -> None:
    if n < 3:
        raise InputError(
            f"There are {n} rows, and choosing the components by cross-validation needs at least "
            "3: give more rows, or n_components= a number."
        )
