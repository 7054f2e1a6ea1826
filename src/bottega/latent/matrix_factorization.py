"""Factors of a table of ratings of which few entries are known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.folds import Folds
from bottega.core.losses import Loss
from bottega.core.params import (
    Auto,
    Boolean,
    Choice,
    Integer,
    Jobs,
    OrNone,
    Parameter,
    Real,
    Seed,
    Text,
)
from bottega.core.path import Path
from bottega.core.rows import Rows
from bottega.core.unsupervised import Unsupervised
from bottega.latent._entries.held_out import judge_entries
from bottega.latent._ratings.answers import FactorAnswers
from bottega.latent._ratings.chunks import RatingChunks
from bottega.latent._ratings.held_out import RankGrid, held_out_losses, training_errors
from bottega.latent._ratings.parameters import ColumnNames, RatingScale
from bottega.latent._ratings.problem import FactorProblem, RatingsPenalty
from bottega.latent._ratings.search import FactorSearch
from bottega.latent._ratings.start import FactorStart
from bottega.latent._ratings.work import RatingsWork, canonical, check_together, warn_unfinished

__all__ = ["MatrixFactorization"]

_PENALTIES = 7  # on the path
_STEP = {False: 2.0, True: 4.0}  # between them, without and with implicit feedback


class MatrixFactorization(FactorAnswers, RatingChunks, Unsupervised):
    r"""Factors of the entries that are known: what users would think of items they have not rated.

    Minimises, over factors :math:`p_x` of users, :math:`q_i` of items and their biases,

    .. math:: \sum_{(x, i)\ \text{known}} (r_{xi} - \mu - b_x - c_i - p_x \cdot q_i)^2
              + \alpha_1 \sum_x \lVert p_x \rVert^2 + \alpha_2 \sum_i \lVert q_i \rVert^2
              + \beta \Bigl(\sum_x b_x^2 + \sum_i c_i^2\Bigr)

    with :math:`\mu` the mean rating. What is not known does not count. With ``implicit=True`` the
    entries are counts :math:`r`, and all pairs count:

    .. math:: \sum_{x, i} (1 + \kappa\, r_{xi}) (1[r_{xi} > 0] - p_x \cdot q_i)^2
              + \alpha_1 \sum_x \lVert p_x \rVert^2 + \alpha_2 \sum_i \lVert q_i \rVert^2 .

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of factors of a user and an item; more fit the known entries better, and noise too.
        ``"auto"`` picks from the path.
    alpha : float or "auto", default="auto"
        Penalty of the factors of users and items; larger values pull them to zero, most of all
        those with few ratings. It is measured in units of the ratings. ``"auto"`` picks from the
        path.
    alpha_users, alpha_items : float or None, default=None
        Penalties :math:`\alpha_1` of users and :math:`\alpha_2` of items where they differ from
        `alpha`. Their geometric mean sets how much is fitted; their ratio only scales factors.
    alpha_biases : float, default=5.0
        Penalty :math:`\beta` of the biases: as many ratings equal to the mean, which every user
        and item is taken to have.
    biases : bool, default=True
        Whether there are a mean and biases; not used with ``implicit=True``.
    implicit : bool, default=False
        Whether entries are counts of what users did (clicks, purchases) instead of ratings.
    confidence : float, default=40.0
        Factor :math:`\kappa` of the counts; a larger one trusts what users did more, against what
        they did not do.
    columns : tuple of str or int, or None, default=None
        Names of the columns (user, item, rating) of a data frame with one row per rating, or their
        positions in a table of such rows; without the third every row is one count. None says that
        X is a matrix of users and items: an array with NaN for what is unknown, or a sparse matrix,
        whose stored entries are known.
    scale : tuple of float or None, default=None
        Least and greatest rating; ratings outside are refused.
    clip : bool, default=False
        Whether predictions are clipped to the scale.
    solver : {"als", "cg", "sgd"}, default="als"
        Alternating least squares with exact solutions, or with three conjugate gradient steps per
        row (quicker sweeps, of many components above all), or stochastic gradient descent.
    init : {"svd", "random"}, default="svd"
        Start at the singular vectors of the ratings less biases, with zeros for what is unknown; or
        at random factors.
    max_iter : int, default=100
        The most sweeps.
    tol : float, default=1e-4
        Relative gain of a sweep below which the search ends. With 0 all sweeps are taken.
    learning_rate : float, default=0.02
        First step length of ``solver="sgd"``, which falls from epoch to epoch, and is halved when
        the objective rises.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"``.
    cv : int, float, splitter or list of (train, test), default=5
        Folds that the known entries are dealt to; a share holds out so much of them once, which is
        enough for many ratings.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the folds of entries, of random starts and of the order of gradient descent.
    device : str or None, default=None
        Where torch solves the equations, such as ``"cuda"``; None for compiled loops.

    Attributes
    ----------
    users_, items_ : ndarray
        Labels.
    user_factors_, item_factors_ : ndarray of shape (n_users, k) and (n_items, k)
        Factors. Components of the items are orthogonal, those that matter most come first, and the
        largest entry of each is positive.
    components_ : ndarray of shape (k, n_items)
        The factors of the items.
    user_biases_, item_biases_ : ndarray
        Biases; zeros where there are none.
    mean_ : float
        Mean rating; 0 without biases.
    n_components_ : int
        The rank in use.
    alpha_, alpha_users_, alpha_items_ : float
        Penalties in use.
    objective_ : ndarray of shape (n_iter + 1,)
        The objective at the start and after each sweep; it never rises.
    rmse_ : float
        Root mean squared residual of the known entries; NaN with ``implicit=True``.
    n_iter_ : int
        Sweeps taken.
    converged_ : bool
        Whether the last sweep gained less than `tol`.
    path_ : Path
        Errors of held-out entries, when `n_components` or `alpha` is ``"auto"``.

    Notes
    -----
    A sweep of r ratings and k components costs :math:`r k^2 + (n + m) k^3 / 3` operations, one of
    ``"cg"`` :math:`12\, r k`; unknown entries are never touched, with ``implicit=True`` neither:
    the sum over all pairs is that of known ones and the k by k products of the factors. Each
    regression is solved exactly, or improved, so the objective never rises; it has several
    minima, and which one is found depends on the start.

    The path holds out entries, not users. The error is the mean squared error of held-out ratings,
    whose root is in the column ``rmse``; with ``implicit=True`` it is the percentile rank of
    held-out items among those that a user does not have, 0.5 for recommendations at random.
    A penalty whose geometric mean exceeds the largest singular value of the ratings less biases
    lets all factors vanish, and the penalties of the path are fractions of it.

    A user or an item that the fit has not seen has no factors. It is predicted by biases and the
    mean (cold start), with a `DataWarning`; `transform` finds the factors of new users from their
    ratings.

    Do not use it where what is rated depends on the rating beyond users, items and factors: then
    the known entries are no guide to the unknown ones. For a table that is known completely `PCA`
    has the exact answer.

    References
    ----------
    .. [1] Koren, Y., Bell, R. and Volinsky, C. (2009). Matrix factorization techniques for
       recommender systems. Computer 42(8), 30-37.
    .. [2] Hu, Y., Koren, Y. and Volinsky, C. (2008). Collaborative filtering for implicit feedback
       datasets. ICDM, 263-272.
    .. [3] Hastie, T., Mazumder, R., Lee, J. and Zadeh, R. (2015). Matrix completion and low-rank
       SVD via fast alternating least squares. JMLR 16, 3367-3402.

    Examples
    --------
    >>> import numpy as np
    >>> nan = np.nan
    >>> ratings = [[5, 4, nan, 1], [4, nan, 1, 1], [nan, 1, 5, 4], [1, 2, 4, 5]]
    >>> model = MatrixFactorization(1, alpha=0.5).fit(ratings)
    >>> model.predict_pairs([0, 2], [2, 0]).round(1)
    array([1.2, 1.1])
    >>> model.recommend([0], n=1)[["user", "item"]].to_numpy()
    array([[0, 2]])
    """

    knob: ClassVar[str] = "n_components"
    knobs: ClassVar[tuple[str, ...]] = ("n_components", "alpha")
    row_loss: ClassVar[str] = "squared error"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": Auto(Integer(1), help="number of factors of a user and an item"),
        "alpha": Auto(Real(0, log=True), help="penalty of the factors"),
        "alpha_users": OrNone(Real(0), help="penalty of the factors of users, if it is another"),
        "alpha_items": OrNone(Real(0), help="penalty of the factors of items, if it is another"),
        "alpha_biases": Real(0, help="penalty of the biases"),
        "biases": Boolean(help="have a mean and biases of users and items"),
        "implicit": Boolean(help="take entries as counts of what users did"),
        "confidence": Real(0, open_low=True, help="factor of the counts"),
        "columns": OrNone(
            ColumnNames(), help="columns of users, items and ratings of a long table"
        ),
        "scale": OrNone(RatingScale(), help="least and greatest rating"),
        "clip": Boolean(help="clip predictions to the scale"),
        "solver": Choice("als", "cg", "sgd", help="how factors are found"),
        "init": Choice("svd", "random", help="where the search starts"),
        "max_iter": Integer(1, help="the most sweeps"),
        "tol": Real(0, help="relative gain of a sweep below which the search ends"),
        "learning_rate": Real(0, open_low=True, help="first step length of gradient descent"),
        "select": Choice("min", "one_se", help="rule that picks from the path"),
        "cv": Folds(help="folds of the known entries"),
        "n_jobs": Jobs(),
        "random_state": Seed(help="seed of folds, random starts and gradient descent"),
        "device": OrNone(Text(), help="where torch computes"),
    }
    card: ClassVar[Card] = Card(
        method="matrix_factorization",
        title="Matrix factorisation",
        task="decomposition",
        strengths=(
            "Uses the known entries alone, however few they are: what is unknown is not a zero.",
            "Recommends items to users, and finds factors of new users from their ratings.",
            "The error of the path is that of entries held out.",
        ),
        weaknesses=(
            "A user or an item without ratings is predicted by biases alone.",
            "The objective has several minima; the one that is found depends on the start.",
            "Factors are found up to a rotation, and need not mean anything one by one.",
        ),
        assumptions=(
            "Ratings are sums of biases and few products of factors, with errors of equal size.",
            "Which entries are known does not depend on the errors.",
        ),
        cost="per sweep the ratings times the squared components",
        source="N157-N166",
        takes=frozenset({"number", "missing"}),
        wide=True,
    )

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        alpha: float | str = "auto",
        alpha_users: float | None = None,
        alpha_items: float | None = None,
        alpha_biases: float = 5.0,
        biases: bool = True,
        implicit: bool = False,
        confidence: float = 40.0,
        columns: Sequence[Any] | None = None,
        scale: Sequence[float] | None = None,
        clip: bool = False,
        solver: str = "als",
        init: str = "svd",
        max_iter: int = 100,
        tol: float = 1e-4,
        learning_rate: float = 0.02,
        select: str = "one_se",
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.alpha_users = alpha_users
        self.alpha_items = alpha_items
        self.alpha_biases = alpha_biases
        self.biases = biases
        self.implicit = implicit
        self.confidence = confidence
        self.columns = columns
        self.scale = scale
        self.clip = clip
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.select = select
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.device = device

    def _check_params(self) -> None:
        super()._check_params()
        check_together(self)

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        if self.columns is not None:
            return self._of_triples(X), None
        try:
            table, _ = super()._check_rows(X, None)
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            raise InputError(
                f"X is no matrix of numbers ({str(error).partition('. Encode')[0]}). If its rows "
                "are single ratings, give columns=(user, item, rating), names or positions."
            ) from error
        return self._of_matrix(X, table), None

    def _prepare(self, rows: Rows) -> RatingsWork:
        return RatingsWork.of(rows.X, self._problem, self.random_state)

    def _penalty(self, alpha: float, unit: float) -> RatingsPenalty:
        users, items = self._alphas(alpha)
        return RatingsPenalty(users / unit, items / unit, float(self.alpha_biases))

    def _alphas(self, alpha: float) -> tuple[float, float]:
        given = (self.alpha_users, self.alpha_items)
        users, items = (float(alpha if each is None else each) for each in given)
        return users, items

    def _starting(self, problem: FactorProblem, rank: int, seed: int) -> FactorStart:
        return FactorStart.of(problem, rank, float(self.alpha_biases), self.init, seed)

    def _search(self, seed: int) -> FactorSearch:
        rate, sweeps = float(self.learning_rate), int(self.max_iter)
        return FactorSearch(self.solver, sweeps, float(self.tol), rate, seed, self.device)

    def _grid(self, work: RatingsWork, ranks: Sequence[int], alphas: Sequence[float]) -> RankGrid:
        return RankGrid(
            ranks=ranks,
            alphas=alphas,
            search=self._search(work.seed),
            start_of=lambda problem, rank: self._starting(problem, rank, work.seed),
            problem_of=self._problem,
            penalty_of=self._penalty,
            scale=tuple(self.scale) if self.clip else None,
        )

    def _path(self, work: RatingsWork, values: Any, loss: Loss | None) -> Path:
        fixed: Any = None if self.n_components == "auto" else [self.n_components]
        ranks = work.ranks(fixed if values is None else values)
        start = self._starting(work.problem, max(ranks), work.seed)
        if self.alpha_users is not None and self.alpha_items is not None:
            alphas = [float(np.sqrt(self.alpha_users * self.alpha_items))]
        elif self.alpha == "auto":
            largest = (start.largest() or 1.0) * work.problem.unit
            step = _STEP[bool(self.implicit)]
            alphas = [largest / step**k for k in range(1, _PENALTIES + 1)]
        else:
            alphas = [float(self.alpha)]
        grid = self._grid(work, ranks, alphas)
        settings = grid.settings()
        # The ranks in their order, and within a rank from all that is penalised away to all kept.
        shrunk = np.array([each["alpha"] for each in settings])
        shrunk = shrunk / (shrunk + (max(alphas) or 1.0))
        return Path(
            settings,
            train_error=training_errors(grid, start, work.ratings),
            loss="percentile rank" if self.implicit else self.row_loss,
            complexity=np.array([each["n_components"] for each in settings]) - shrunk,
        )

    def _judge(self, curve: Path, work: RatingsWork, rows: Rows, cv: Any, loss: Loss) -> Path:
        ranks = sorted({each["n_components"] for each in curve.settings})
        alphas = sorted({each["alpha"] for each in curve.settings}, reverse=True)
        grid = self._grid(work, ranks, alphas)
        ratings = work.ratings
        weight = None if np.all(ratings.weight == 1) else ratings.weight
        losses = partial(held_out_losses, grid, ratings)
        curve = judge_entries(curve, work.folds(cv), losses, weight)
        if self.implicit or curve.error is None:
            return curve
        return replace(curve, criteria={"rmse": np.sqrt(curve.error)})

    def _settle(self, work: RatingsWork, setting: Mapping[str, Any]) -> None:
        problem, ratings = work.problem, work.ratings
        (rank,) = work.ranks([setting["n_components"]])
        self.n_components_, self.alpha_ = rank, float(setting["alpha"])
        self.alpha_users_, self.alpha_items_ = self._alphas(self.alpha_)
        start = self._starting(problem, rank, work.seed).factors(rank)
        penalty = self._penalty(self.alpha_, problem.unit)
        found = self._search(work.seed).run(problem, start, penalty)
        self.n_iter_, self.converged_ = len(found.objective) - 1, found.converged
        self.objective_ = problem.unit**2 * np.array(found.objective)
        self.users_, self.items_ = ratings.users, ratings.items
        self.mean_, self._unit = problem.mean, problem.unit
        self._seen_start, self._seen_items = problem.users.start, problem.users.column
        self._seen_values = ratings.value
        gap = problem.target - problem.fitted(found.factors)
        mean_square = np.average(gap**2, weights=problem.weight)
        self.rmse_ = np.nan if self.implicit else float(problem.unit * np.sqrt(mean_square))
        users, items = canonical(found.factors, rank)
        self.user_factors_ = np.sqrt(problem.unit) * users[:, :rank]
        self.item_factors_ = np.sqrt(problem.unit) * items[:, :rank]
        self.user_biases_, self.item_biases_ = (
            problem.unit * each[:, -1] if problem.biased else np.zeros(len(each))
            for each in (users, items)
        )
        warn_unfinished(self, found, work)
