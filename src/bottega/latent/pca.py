"""Principal components: the directions in which rows vary most."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from bottega.core.cards import Card
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import DataWarning, InputError, ParameterError, warn_caller
from bottega.core.folds import Folds
from bottega.core.judge import judged_path
from bottega.core.losses import Loss
from bottega.core.moments import Moments
from bottega.core.params import AnyOf, Boolean, Choice, Integer, OrNone, Parameter, Real, Seed, Text
from bottega.core.path import Path, along
from bottega.core.row_factor import RowFactor
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.sparse import is_large_sparse, small_as_dense
from bottega.core.typing import FloatArray, IntArray
from bottega.core.unsupervised import Unsupervised
from bottega.data.scatter import row_moments
from bottega.latent._pca.centred import CentredRows
from bottega.latent._pca.decomposed import ComponentSolver, Directions, from_moments, from_rows
from bottega.latent._pca.density import ComponentDensity
from bottega.latent._pca.gabriel import block_losses, column_blocks
from bottega.latent._pca.number import MOST_SIMULATED, by_evidence, criteria_of, reaching_share
from bottega.latent._pca.stream import ComponentStream

__all__ = ["PCA"]

_ITERATED = ("arpack", "randomized", "power")  # solvers that find the first components only


class PCA(ComponentDensity, ComponentStream, Unsupervised):
    r"""Principal components: the directions in which rows vary most.

    The covariance matrix of the columns is decomposed, :math:`\Sigma = \Gamma \Lambda
    \Gamma^\top` with orthogonal :math:`\Gamma` and :math:`\lambda_1 \ge \lambda_2 \ge \dots`, and
    rows are given by their coordinates on the first K eigenvectors,

    .. math:: Z = (X - \bar x)\, \Gamma_K, \qquad
              \operatorname{Cov}(Z) = \operatorname{diag}(\lambda_1, \dots, \lambda_K) .

    Of all K-dimensional planes the one through the mean along :math:`\Gamma_K` is nearest to the
    rows: the mean squared distance is the sum of the discarded eigenvalues.

    Parameters
    ----------
    n_components : int, float, "mle", "auto" or None, default=None
        Number of components K; more keep more of the variance. A share between 0 and 1: the fewest
        components with more than this share of the variance. ``"mle"``: those of the largest
        evidence by Minka. ``"auto"``: picked from the path by the rule `select`. None: all of them,
        ``min(n, p)``.
    copy : bool, default=True
        For compatibility with scikit-learn: X is never changed.
    whiten : bool, default=False
        Divide the components by their standard deviations. Differences in variance between them
        are lost.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized", "power"}
        ``"full"`` decomposes the rows (most exact); ``"covariance_eigh"`` the covariance matrix, or
        with more columns than rows the matrix of inner products of rows; ``"arpack"`` finds the
        first components by Lanczos iterations, ``"randomized"`` by random projections, ``"power"``
        by power iteration with deflation (for teaching). ``"auto"`` picks by the size of X.
        `fit_chunks` and `partial_fit` take ``"auto"`` and ``"covariance_eigh"``.
    tol : float, default=0.0
        Accuracy of ``"arpack"`` (0: as exact as can be) and ``"power"`` (0: 1e-10); larger is
        quicker and less exact.
    iterated_power : int or "auto", default="auto"
        Iterations of ``"randomized"`` (4 to 7 by default), and the most of ``"power"`` per
        component (10,000 by default); more are more exact.
    n_oversamples : int, default=10
        Further random vectors of ``"randomized"``; more are more exact.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        How ``"randomized"`` keeps its vectors apart between iterations; ``"auto"`` is ``"QR"``.
    random_state : int, generator or None, default=None
        Seed of ``"randomized"``, ``"arpack"`` and ``"power"``, and of parallel analysis.
    standardize : bool, default=False
        Divide columns by their standard deviations first: components of the correlation matrix.
        Without it a column counts by its spread, so its units matter.
    select : {"one_se", "min", "share", "parallel", "mle"}, default="one_se"
        Rule that picks K where `n_components` is ``"auto"``: the least error on blocks of cells
        held out (``"min"``), or the fewest components within one standard error of it
        (``"one_se"``); the fewest with 90 % of the variance (``"share"``); the eigenvalues above
        those of independent columns (``"parallel"``); the largest evidence (``"mle"``).
    cv : int, float, "loo", splitter or list of (train, test), default=5
        Row folds of the blocks that are held out; the columns are hidden in as many blocks.
    device : str or None, default=None
        Decompose with torch on this device (``"cuda"``, ``"cpu"``, ...); None uses NumPy. It goes
        with `fit` and ``svd_solver="auto"``.

    Attributes
    ----------
    components_ : ndarray of shape (K, p)
        Unit vectors, by falling variance. The entry of largest size is positive in each.
    explained_variance_ : ndarray of shape (K,)
        Variances of the components (divisor n - 1).
    explained_variance_ratio_ : ndarray of shape (K,)
        Their shares of the whole variance.
    singular_values_ : ndarray of shape (K,)
        Singular values of the centred rows.
    eigenvalues_ : ndarray of shape (m,)
        Variances along all directions that the solver found, kept or not.
    mean_ : ndarray of shape (p,)
        Means of the columns.
    scale_ : ndarray of shape (p,)
        What the centred columns are divided by; ones without `standardize`.
    column_variance_ : ndarray of shape (p,)
        Variances of the (scaled) columns.
    n_components_ : int
        Number of components, K.
    n_samples_ : int
        Number of rows.
    noise_variance_ : float
        Mean of the discarded eigenvalues, the noise of the probabilistic model.
    reconstruction_error_ : float
        Mean squared distance of the rows from their reconstructions: the sum of the discarded
        eigenvalues (divisor n), in units of the scaled columns.
    solver_ : str
        Solver that was used.
    n_iter_ : list of int
        Products that ``"power"`` took for each component.
    path_ : Path
        The whole curve, when `n_components` is ``"auto"``.

    Notes
    -----
    ``"full"`` costs :math:`O(n p \min(n, p))`; ``"covariance_eigh"`` the same with a smaller
    factor, :math:`n p^2 / 2 + O(p^3)`, and without a copy of X, but it squares the numbers: an
    eigenvalue below 1e-12 of the first is not known, unless it is small because a column is. Where
    a component that is kept loses digits so, ``"auto"`` passes over the rows once more for their QR
    factor (``solver_`` is then ``"qr"``). K components by iterations cost
    :math:`O(n p K)` per pass over the rows. Large sparse tables are centred implicitly and are
    never made dense. `fit_chunks` and `partial_fit` add up means and products of columns: the
    answer is that of one fit, whatever the chunks; a stream has no further pass.

    The path counts from no component (the mean) up. Its honest error is by Gabriel's
    cross-validation: cells in blocks of held-out rows and hidden columns are predicted from the
    other columns of those rows by components of the other rows. Rows held out alone would be
    projected by their own values, and every component more would seem to help. Where hiding columns
    leaves fewer directions than components, the error is NaN.

    Row weights count as repeated rows. Where they sum to less than the number of rows they are
    shares, and their scale does not matter.

    Do not use it on columns in different units without ``standardize=True``, where the structure
    is curved, nor with outliers among the rows: the variance is theirs. To predict a response,
    directions of small variance may matter most
    (`bottega.linear.PrincipalComponentsRegression` chooses with the response in view).

    References
    ----------
    .. [1] Pearson, K. (1901). On lines and planes of closest fit to systems of points in space.
       Philosophical Magazine 2, 559-572.
    .. [2] Halko, N., Martinsson, P.-G. and Tropp, J. A. (2011). Finding structure with randomness.
       SIAM Review 53, 217-288.
    .. [3] Gabriel, K. R. (2002). Le biplot: outil d'exploration de donnees multidimensionnelles.
       Journal de la Societe francaise de statistique 143, 5-55.
    .. [4] Owen, A. B. and Perry, P. O. (2009). Bi-cross-validation of the SVD and the nonnegative
       matrix factorization. Annals of Applied Statistics 3, 564-594.
    .. [5] Horn, J. L. (1965). A rationale and test for the number of factors in factor analysis.
       Psychometrika 30, 179-185.
    .. [6] Minka, T. P. (2000). Automatic choice of dimensionality for PCA. Advances in Neural
       Information Processing Systems 13, 598-604.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(100, 2)) * [3.0, 2.0]
    >>> X = hidden @ np.linalg.qr(rng.normal(size=(8, 2)))[0].T + 0.3 * rng.normal(size=(100, 8))
    >>> model = PCA("auto").fit(X)
    >>> model.n_components_, model.explained_variance_ratio_.round(3)
    (2, array([0.681, 0.279]))
    >>> round(float(np.mean(np.sum((X - model.inverse_transform(model.transform(X))) ** 2, 1))), 4)
    0.5069
    >>> round(model.reconstruction_error_, 4)
    0.5069
    """

    knob: ClassVar[str] = "n_components"
    row_loss: ClassVar[str] = "squared reconstruction error"
    walks: ClassVar[Mapping[str, Any]] = {"n_components": "auto"}
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": OrNone(
            AnyOf(
                Choice("auto", "mle"), Integer(0, None), Real(0, 1, open_low=True, open_high=True)
            ),
            help="number of components kept, or the share of variance that they must have",
        ),
        "copy": Boolean(help="without effect: X is never changed"),
        "whiten": Boolean(help="divide the components by their standard deviations"),
        "svd_solver": Choice("auto", "full", "covariance_eigh", *_ITERATED, help="how it is found"),
        "tol": Real(0, None, help="accuracy of the iterations; 0 for the best"),
        "iterated_power": AnyOf(
            Choice("auto"), Integer(0, None), help="iterations of 'randomized' and 'power'"
        ),
        "n_oversamples": Integer(1, None, help="further random vectors of 'randomized'"),
        "power_iteration_normalizer": Choice(
            "auto", "QR", "LU", "none", help="how 'randomized' keeps its vectors apart"
        ),
        "random_state": Seed(help="seed of the iterations and of parallel analysis"),
        "standardize": Boolean(help="take the components of columns on one scale"),
        "select": Choice(
            *("min", "one_se", "share", "parallel", "mle"),
            help="rule that picks the number of components when it is 'auto'",
        ),
        "cv": Folds(help="row folds of the blocks held out"),
        "device": OrNone(Text(), help="device of torch to decompose on; None for NumPy"),
    }
    card: ClassVar[Card] = Card(
        method="pca",
        title="Principal components",
        task="decomposition",
        strengths=(
            "Gives the best linear reconstruction for any number of components, in closed form.",
            "Components are uncorrelated and come by falling variance.",
            "Works with more columns than rows, with sparse tables and with data beyond memory.",
            "The number of components can be judged by cells held out.",
        ),
        weaknesses=(
            "Captures linear structure only.",
            "Depends on the units of the columns unless they are standardised.",
            "One outlier can turn a component towards itself.",
            "Every column is in every component, which makes components hard to name.",
        ),
        assumptions=(
            "Directions of large variance are the interesting ones.",
            "Columns are on comparable scales, or are standardised.",
        ),
        cost="n p min(n, p); the path k^2 p^3 + n p^2 for k blocks each way",
        source="N111-N130, N143-N156, D68-D70",
        wide=True,
        standardize=True,
    )
    _least_rows: ClassVar[int] = 2

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        standardize: bool = False,
        select: str = "one_se",
        cv: Any = 5,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.standardize = standardize
        self.select = select
        self.cv = cv
        self.device = device

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    # ---- fit ------------------------------------------------------------------------------------

    def _solver(self, size: int | None) -> ComponentSolver:
        """Return how components are found among `size` directions (None: from moments)."""
        k: int | None = None
        if isinstance(self.n_components, Integral):
            k = int(self.n_components)
        elif self.svd_solver == "arpack" and self.n_components is None and size is not None:
            k = size - 1
        elif self.svd_solver in _ITERATED and self.n_components is not None:
            raise ParameterError(
                f"PCA: n_components={self.n_components!r} needs the variances of all directions, "
                f"and svd_solver={self.svd_solver!r} finds the first ones; give a whole number, or "
                "use svd_solver='full' or 'covariance_eigh'."
            )
        return ComponentSolver(
            self.svd_solver,
            k,
            self.tol,
            self.iterated_power,
            self.n_oversamples,
            self.power_iteration_normalizer,
            self.random_state,
            self.device,
        )

    def _prepare(self, rows: Rows) -> Directions:
        return from_rows(rows, self.standardize, self._solver(min(rows.X.shape)))

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Moments:
        return row_moments(X, w)

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks | None) -> Directions:
        again = None
        if chunks is not None and self.svd_solver == "auto":

            def again(mean: FloatArray, scale: FloatArray) -> RowFactor:
                def of_chunk(X: FloatArray, _y: Any, w: Any, _fold: Any) -> RowFactor:
                    return CentredRows(X, w, mean, scale).factor()

                found: RowFactor = chunks.reduce(of_chunk)
                return found

        given = self.n_components
        needed = int(given) if isinstance(given, Integral) else None
        return from_moments(
            statistics, self.standardize, growing=chunks is None, needed=needed, again=again
        )

    def _given(self, work: Directions) -> dict[str, Any] | None:
        given = self.n_components
        if given == "auto":
            return None
        if given is None:
            found = min(work.size, len(work.variances))
        elif work.growing and isinstance(given, Integral) and given <= work.p:
            found = min(int(given), work.size)
        elif given == "mle":
            found = by_evidence(work)
        elif isinstance(given, Integral):
            found = work.check_count(int(given))
        else:
            found = reaching_share(work.variances, work.total, float(given))
        return {"n_components": found}

    def _settle(self, work: Directions, setting: Mapping[str, Any]) -> None:
        k = work.check_count(int(setting["n_components"]))
        if k == 0 and self.n_components == "auto":
            warn_caller(
                f"PCA keeps no component: by select={self.select!r} no direction of these columns "
                "stands out. Give n_components a number to keep some.",
                DataWarning,
            )
        self.n_components_ = k
        self.components_ = np.ascontiguousarray(work.first(k).T)
        self.explained_variance_ = work.variances[:k].copy()
        total = work.total if work.total > 0 else 1.0
        self.explained_variance_ratio_ = self.explained_variance_ / total
        self.singular_values_ = np.sqrt(self.explained_variance_ * work.divisor)
        self.eigenvalues_ = work.variances
        self.mean_, self.scale_ = work.mean, work.scale
        self.column_variance_ = work.column_variances
        self.n_samples_ = work.n
        left = float(work.discarded(k))
        self.noise_variance_ = left / (work.size - k) if k < work.size else 0.0
        self.reconstruction_error_ = left * work.divisor / work.weight
        self.solver_ = work.solver
        self._total_variance, self._weight = work.total, work.weight
        if work.n_iter is not None:
            self.n_iter_ = work.n_iter[:k]

    # ---- path -----------------------------------------------------------------------------------

    def _path(self, work: Directions, values: Any, loss: Loss | None) -> Path:
        counts = np.arange(len(work.variances) + 1) if values is None else self._counts(values)
        work.check_count(int(counts[-1]))
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        parallel = self.select == "parallel" or len(work.variances) <= MOST_SIMULATED
        return Path(
            along("n_components", counts),
            work.discarded(counts) * work.divisor / work.weight,
            self.row_loss,
            complexity=counts.astype(np.float64),
            **criteria_of(work, counts, parallel=parallel, seed=seed),
        )

    def _counts(self, values: Any) -> IntArray:
        found = np.sort(np.asarray(values))
        if np.any(found % 1):
            raise ParameterError(
                f"PCA: values={np.asarray(values).tolist()} is not allowed; a path is over whole "
                "numbers of components."
            )
        return found.astype(np.intp)

    def _judge(self, curve: Path, work: Any, rows: Rows, cv: Any, loss: Loss) -> Path:
        if is_large_sparse(rows.X):
            raise InputError(
                "Blocks of rows and columns cannot be held out of a large sparse table; give "
                "n_components, or select='share', 'parallel' or 'mle'."
            )
        X = small_as_dense(rows.X)
        p = X.shape[1]
        folds, _ = self._held_out(rows, cv)
        count = min(int(cv), p) if isinstance(cv, Integral) else min(5, p)
        blocks = column_blocks(p, count)
        counts = curve.values.astype(np.intp)
        parts = []
        for train, test in folds:
            if len(train) < 2:
                raise InputError(
                    f"There are {len(rows)} rows, and choosing n_components by blocks held out "
                    "needs at least 3: give more rows, or n_components= a number."
                )
            table = X, rows.weight, train, test, blocks
            parts.append(block_losses(*table, int(counts[-1]), self.standardize)[:, counts])
        return judged_path(curve, rows, folds, parts, loss, "blocks")

    def _row_losses(self, X: Any) -> FloatArray:
        return self._distances(X)
