"""Nonnegative matrix factorisation: a table as sums of parts."""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags

from bottega.core.cards import Card
from bottega.core.errors import ConvergenceWarning, InputError, ParameterError, warn_caller
from bottega.core.estimator import Unweighted
from bottega.core.folds import Folds
from bottega.core.losses import Loss
from bottega.core.params import (
    AnyOf,
    Anything,
    Boolean,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
    Seed,
)
from bottega.core.path import Path, Rule, along
from bottega.core.results import term_names
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray, IntArray
from bottega.core.unsupervised import Unsupervised
from bottega.latent._entries.held_out import judge_table
from bottega.latent._entries.range import refuse_out_of_range
from bottega.latent._nonnegative.checks import largest_entry, refuse_empty, refuse_negative
from bottega.latent._nonnegative.chunks import TableChunks
from bottega.latent._nonnegative.coordinate import descend, solve
from bottega.latent._nonnegative.custom import CustomStart
from bottega.latent._nonnegative.gradient import project_gradients
from bottega.latent._nonnegative.losses import PreparedTable, entry_losses, mean_losses
from bottega.latent._nonnegative.multiplicative import divergence_codes, multiply
from bottega.latent._nonnegative.parts import Parts
from bottega.latent._nonnegative.problem import FactorPenalty, Factors
from bottega.latent._nonnegative.start import start_from
from bottega.latent._nonnegative.table import NonnegativeTable

__all__ = ["NonnegativeFactorization"]

_MOST_COMPONENTS = 10  # of the path that chooses
_STARTS = Choice("nndsvd", "nndsvda", "nndsvdar", "random", "custom")
_LARGEST_HELD_OUT = 1e145  # what is fitted to an entry held out may be far larger than all entries
_SWEEPS = 5_000  # of the codes of one row


class NonnegativeFactorization(Parts, CustomStart, TableChunks, Unweighted, Unsupervised):
    r"""Nonnegative matrix factorisation: rows as sums of parts, nothing taken away.

    Minimises over :math:`W \ge 0` (n by k) and :math:`H \ge 0` (k by p), with squared error,

    .. math:: \tfrac12 \sum_{(i,j)\ \text{observed}} (x_{ij} - (WH)_{ij})^2
              + \alpha_W p\, r(W) + \alpha_H n\, r(H), \qquad
              r(F) = \rho \lVert F \rVert_1 + \tfrac{1-\rho}{2} \lVert F \rVert_F^2

    or the same with the Kullback-Leibler divergence
    :math:`\sum x \log (x / (WH)) - x + WH` in the place of half the squared error. The objective is
    not convex: what is found depends on the start.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        Number of components k. More fit the table more closely. ``"auto"`` walks the path from 1
        to 10 and chooses by entries held out, unless `init` gives factors: theirs is taken. None
        is as many as columns, which is scikit-learn's ``"auto"``.
    init : {"nndsvd", "nndsvda", "nndsvdar", "random", "custom"}, pair of arrays or None
        Start: parts of singular vectors (``"nndsvd"``; with zeros filled by the mean of the factor,
        ``"nndsvda"``, or by small random numbers, ``"nndsvdar"``), random numbers, or the factors
        (W, H) themselves, here or (``"custom"``) in `fit_transform`. None is ``"nndsvda"``, or
        ``"random"`` with more components than rows or columns.
    solver : {"cd", "pg", "mu"}, default="cd"
        Coordinate descent with extrapolation, projected gradient descent (both for squared error),
        or multiplicative steps, which the Kullback-Leibler divergence needs.
    beta_loss : {"frobenius", 2, "kullback-leibler", 1}, default="frobenius"
        Squared error, or the divergence for which counts are Poisson.
    tol : float, default=1e-4
        Stop when the violation of the conditions of a minimum is this share of that at the start
        (``"mu"``: when ten iterations lower the objective by less than this share of its start).
        Larger stops earlier.
    max_iter : int, default=200
        The most iterations.
    random_state : int, generator or None, default=None
        Seed of random starts and orders. The entries held out along the path, and singular vectors
        of large tables, are the same at every call where it is None.
    alpha_W : float, default=0.0
        Penalty of the codes; larger makes them smaller.
    alpha_H : float or "same", default="same"
        Penalty of the components; that of the codes by default.
    l1_ratio : float, default=0.0
        Share of the penalties that is lasso; larger gives more zeros.
    select : str, default="one_se"
        Rule that picks from the path.
    cv : int, float, "loo", splitter or list of (train, test), default=5
        Folds of the entries that judge the path, or the share of the entries that is held out once.
        Folds that are given count the observed entries row after row.
    verbose : bool or int, default=False
        Whether the progress of the fit is written to standard output.
    shuffle : bool, default=False
        Whether ``"cd"`` takes the components in random order.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        The parts H.
    n_components_ : int
        Their number.
    reconstruction_err_ : float
        Root of the squared error over observed entries, or of twice the divergence.
    objective_ : ndarray of shape (m,)
        The objective at the start and after each iteration that lowered it; it never rises.
    n_iter_ : int
        Iterations taken.
    converged_ : bool
        Whether the iterations came to rest.
    path_ : Path
        The path, if it chose the number of components.

    Notes
    -----
    An iteration costs about 4 k times the number of entries (of a sparse table, of entries that are
    not zero: it is never made dense). Missing entries (NaN) count for nothing, in the fit and in
    `transform`.

    A component and its codes may exchange a factor, so look at their products, or scale one side.

    Do not use it where entries have no natural zero, or where the parts must be unique: another
    start may give others.

    References
    ----------
    .. [1] Lee, D. D. and Seung, H. S. (1999). Learning the parts of objects by non-negative matrix
       factorization. Nature 401, 788-791.
    .. [2] Gillis, N. and Glineur, F. (2012). Accelerated multiplicative updates and hierarchical
       ALS algorithms for nonnegative matrix factorization. Neural Computation 24, 1085-1105.
    .. [3] Ang, A. M. S. and Gillis, N. (2019). Accelerating nonnegative matrix factorization
       algorithms using extrapolation. Neural Computation 31, 417-439.
    .. [4] Lin, C.-J. (2007). Projected gradient methods for nonnegative matrix factorization.
       Neural Computation 19, 2756-2779.
    .. [5] Boutsidis, C. and Gallopoulos, E. (2008). SVD based initialization: a head start for
       nonnegative matrix factorization. Pattern Recognition 41, 1350-1362.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 3.0], [1.0, 1.0, 3.0]])
    >>> model = NonnegativeFactorization(n_components=2, tol=1e-8).fit(X)
    >>> np.round(model.inverse_transform(model.transform(X)), 3)
    array([[1., 1., 0.],
           [2., 2., 0.],
           [0., 0., 3.],
           [1., 1., 3.]])
    """

    knob = "n_components"
    row_loss: ClassVar[str] = "loss of an entry"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": OrNone(
            AnyOf(Choice("auto"), Integer(1)), help="number of components; None for all columns"
        ),
        "init": AnyOf(
            OrNone(_STARTS),
            Anything(),
            help="start of the factors, or the factors (W, H) to start from",
        ),
        "solver": Choice("cd", "pg", "mu", help="how it is minimised"),
        "beta_loss": AnyOf(
            Choice("frobenius", "kullback-leibler"), Integer(1, 2), help="loss of an entry"
        ),
        "tol": Real(0, help="share of the violation at the start at which it stops"),
        "max_iter": Integer(1, help="the most iterations"),
        "random_state": Seed(help="seed of random starts"),
        "alpha_W": Real(0, help="penalty of the codes"),
        "alpha_H": AnyOf(Choice("same"), Real(0), help="penalty of the components"),
        "l1_ratio": Real(0, 1, help="share of the penalties that is lasso"),
        "select": Rule(),
        "cv": Folds(help="folds of the entries, or the share that is held out"),
        "verbose": Anything(help="whether progress is written"),
        "shuffle": Boolean(help="take the components in random order, with solver='cd'"),
    }
    card: ClassVar[Card] = Card(
        method="nonnegative_factorization",
        title="Nonnegative matrix factorisation",
        task="decomposition",
        strengths=(
            "Components are parts that only add up, so they can be read and drawn.",
            "Takes missing entries and large sparse tables as they are.",
            "Chooses the number of components by entries held out.",
        ),
        weaknesses=(
            "The objective has many minima: what is found depends on the start.",
            "Components are not ordered, and change with their number.",
            "Fits less closely than as many principal components.",
        ),
        assumptions=(
            "No entry is negative, and zero means that there is nothing.",
            "Rows are sums of parts, with errors of one size (or counts that are Poisson).",
        ),
        cost="k times the entries, for each iteration",
        source="N167, D220",
        takes=frozenset({"number", "missing"}),
        wide=True,
    )

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        init: Any = None,
        solver: str = "cd",
        beta_loss: str | int = "frobenius",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        alpha_W: float = 0.0,
        alpha_H: Any = "same",
        l1_ratio: float = 0.0,
        select: str = "one_se",
        cv: Any = 5,
        verbose: bool | int = False,
        shuffle: bool = False,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.select = select
        self.cv = cv
        self.verbose = verbose
        self.shuffle = shuffle

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        return {**super()._input_options(new), "accept_sparse": ("csr", "csc")}

    def _check_params(self) -> None:
        super()._check_params()
        if isinstance(self.init, str):
            _STARTS.check(type(self).__name__, "init", self.init)
        if self._by_divergence and self.solver != "mu":
            raise ParameterError(
                f"NonnegativeFactorization: solver={self.solver!r} minimises squared error; with "
                f"beta_loss={self.beta_loss!r} use solver='mu'."
            )

    @property
    def _by_divergence(self) -> bool:
        return self.beta_loss in ("kullback-leibler", 1)

    def _given(self, work: PreparedTable) -> dict[str, Any] | None:
        if self.n_components is None:
            return {"n_components": work.table.shape[1]}
        start = self._start_given()
        if self.n_components == "auto" and start is not None and not isinstance(start, str):
            return {"n_components": len(start[1])}
        return super()._given(work)

    def _prepare(self, rows: Rows) -> PreparedTable:
        names = term_names(self, intercept=False)
        refuse_negative(rows.X, type(self).__name__, names)
        refuse_empty(rows.X, names)
        refuse_out_of_range(largest_entry(rows.X), "X")
        seed = 0 if self.random_state is None and self.init != "random" else None
        seed = seed_of(self.random_state) if seed is None else seed
        table = NonnegativeTable.of(rows.X)
        fit = partial(self._factors, table, seed=seed)
        return PreparedTable(rows.X, table, seed, self._by_divergence, fit)

    def _penalty(self, table: NonnegativeTable) -> FactorPenalty:
        """Return the penalties of the factors of the table as it is scaled."""
        alpha_H = self.alpha_W if self.alpha_H == "same" else self.alpha_H
        power = 1 if self._by_divergence else 2
        return FactorPenalty.scaled(table, self.alpha_W, alpha_H, self.l1_ratio, power)

    def _factors(self, table: NonnegativeTable, k: int, seed: int) -> Factors:
        W, Z = start_from(table, k, self._start_given(), seed)
        how = (table, W, Z, self._penalty(table), float(self.tol), int(self.max_iter))
        if self.solver == "mu":
            return multiply(*how, self._by_divergence)
        if self.solver == "pg":
            return project_gradients(*how)
        return descend(*how, np.random.default_rng(seed) if self.shuffle else None)

    def _settle(self, work: PreparedTable, setting: Mapping[str, Any]) -> None:
        k = int(setting["n_components"])
        table, found = work.table, work.fit(k)
        self.n_components_ = k
        unit = table.scale if self._by_divergence else table.scale**2
        self.components_ = np.ascontiguousarray(found.Z.T) * np.sqrt(table.scale)
        self._n_rows = table.shape[0]
        self.reconstruction_err_ = np.sqrt(2 * work.loss(found)) * np.sqrt(unit)
        self.objective_ = np.array(found.objective) * unit
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        if not found.converged:
            warn_caller(
                f"NonnegativeFactorization: {found.n_iter} iterations did not reach tol="
                f"{self.tol:g}; raise max_iter, or tol.",
                ConvergenceWarning,
            )

    def _path(self, work: PreparedTable, values: Any, loss: Loss | None) -> Path:
        most = min(_MOST_COMPONENTS, *work.table.shape)
        counts = np.arange(1, most + 1) if values is None else np.unique(values)
        errors = [work.loss(work.fit(int(k))) for k in counts]
        factor = (1 if self._by_divergence else 2) / max(work.table.observed, 1)
        unit = work.table.scale if self._by_divergence else work.table.scale**2
        title = "Kullback-Leibler divergence" if self._by_divergence else "squared error"
        return Path(
            along("n_components", counts),
            train_error=np.array(errors) * factor * unit,
            loss=f"{title} of an entry",
            complexity=counts.astype(np.float64),
        )

    def _judge(self, curve: Path, work: PreparedTable, rows: Rows, cv: Any, loss: Loss) -> Path:
        largest = largest_entry(work.X)
        if largest > _LARGEST_HELD_OUT and not self._by_divergence:
            raise InputError(
                f"The largest number in X is {largest:.3g}, and squared errors of entries held out "
                "overflow: measure in larger units, or give n_components= a number."
            )

        def losses(rest: Any, at: IntArray, columns: IntArray) -> FloatArray:
            table = NonnegativeTable.of(rest)
            true = np.asarray(work.X[at, columns]).ravel()
            found = np.empty((len(true), len(curve)))
            for i, k in enumerate(curve.values):
                factors = self._factors(table, int(k), work.seed)
                fitted = np.einsum("ij,ij->i", factors.W[at], factors.Z[columns]) * table.scale
                found[:, i] = entry_losses(true, fitted, self._by_divergence)
            return found

        return judge_table(curve, work.X, cv, work.seed, losses)

    def _row_losses(self, X: Any) -> FloatArray:
        table = NonnegativeTable.of(X)
        Z = np.ascontiguousarray(self.components_.T) / np.sqrt(table.scale)
        return mean_losses(table, self._codes(table), Z, self._by_divergence)

    def _codes(self, table: NonnegativeTable) -> FloatArray:
        """Return the codes of rows of a table, in its scale."""
        Z = np.ascontiguousarray(self.components_.T) / np.sqrt(table.scale)
        penalty = self._penalty(table)
        if self._by_divergence:
            how = (penalty.l1_codes, penalty.l2_codes, max(self.tol, 1e-8), 50 * int(self.max_iter))
            codes, left = divergence_codes(table.rows, Z, *how)
        else:
            codes, left = solve(table.rows, Z, penalty.l1_codes, penalty.l2_codes, _SWEEPS)
        if left:
            warn_caller(
                f"NonnegativeFactorization: the codes of {left} rows did not converge; the "
                "components are nearly the same: use fewer, or a penalty alpha_W.",
                ConvergenceWarning,
            )
        return codes

    def transform(self, X: Any) -> FloatArray:
        """Return the codes of rows: the W that minimises the objective for the components.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (m, p)
            Rows; missing entries (NaN) count for nothing.

        Returns
        -------
        ndarray of shape (m, k)
            Codes, none negative.
        """
        X = self._check_new(X)
        refuse_negative(X, type(self).__name__, term_names(self, intercept=False))
        refuse_empty(X)
        table = NonnegativeTable.of(X)
        return self._codes(table) * np.sqrt(table.scale)
