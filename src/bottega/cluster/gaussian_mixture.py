"""Mixtures of normal distributions by expectation-maximisation."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from bottega.cluster._mixture.families import FAMILIES, WORDS
from bottega.cluster._mixture.fit import MixtureOptions, MixtureWork
from bottega.cluster._mixture.fitted import FittedMixture, log_joint
from bottega.cluster._mixture.given import GivenArray
from bottega.cluster._mixture.settled import as_declared, warn_about
from bottega.cluster._mixture.source import ColumnMoments
from bottega.cluster._mixture.starts import STARTS
from bottega.core.cards import Card
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError
from bottega.core.folds import Folds
from bottega.core.lists import Listed
from bottega.core.parallel import in_threads
from bottega.core.params import (
    AnyOf,
    Auto,
    Boolean,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
    Seed,
    Text,
)
from bottega.core.path import Path
from bottega.core.results import term_names
from bottega.core.row_counts import as_counts
from bottega.core.rows import Rows
from bottega.core.seeds import seeds_of
from bottega.core.typing import Array

__all__ = ["GaussianMixture"]

_MOST = 9  # components of the path, unless values are given
_MOST_AXES = 10  # columns beyond which common axes take long to find
_NAMES = (*WORDS, *FAMILIES)


class GaussianMixture(Chunked, FittedMixture):
    r"""Mixture of normal distributions: clusters with soft borders, and a density.

    Each row comes from one of K components; which one is not observed. Maximises the
    log-likelihood

    .. math:: \sum_i w_i \log \sum_{k=1}^{K} \pi_k \, N(x_i \mid \mu_k, \Sigma_k)

    by expectation-maximisation. The E step gives the responsibilities
    :math:`\gamma_{ik} = \pi_k N(x_i \mid \mu_k, \Sigma_k) / \sum_j \pi_j N(x_i \mid \mu_j,
    \Sigma_j)`, the M step weighted means, covariances (about the new means) and weights. The
    likelihood never falls.

    Parameters
    ----------
    n_components : int or "auto", default=1
        Number of components K. More of them fit the rows more closely, and each has fewer rows to
        be estimated from. ``"auto"`` walks from 1 to 9 and picks by `select`.
    covariance_type : str, list of str or "auto", default="full"
        What the covariances may be: ``"full"``, ``"tied"`` (one for all), ``"diag"`` or
        ``"spherical"``; or, by their volume, shape and orientation, each equal (E), varying (V) or
        none (I), one of EII, VII, EEI, VEI, EVI, VVI, EEE, VEE, EVE, VVE, EEV, VEV, EVV, VVV. Of a
        list, or of all (``"auto"``), `select` picks one together with the number of components.
    tol : float, default=1e-3
        Stop when an iteration raises the mean log-likelihood by no more than this, and no faster
        than the one before: from a start of equal components it rises slowly at first.
    reg_covar : float, default=1e-6
        The least variance of a component in any direction, as a share of the variance of the data
        (of each column, for families that units of columns do not matter to). Larger values keep
        components from shrinking onto few rows. scikit-learn adds the number to all variances
        instead, in the units of the data.
    max_iter : int, default=100
        The most iterations; 0 keeps the start.
    n_init : int, default=1
        Starts, of which the most likely end is kept. There is one tree of clusters: further starts
        of ``"hierarchical"`` are those of k-means.
    init_params : str or array-like, default="kmeans"
        Where to start: the groups of k-means, of seeds spread as its ++ does (``"k-means++"``), of
        seeds drawn evenly (``"random_from_data"``), of a tree of clusters (``"hierarchical"``, by
        Ward's rule on principal axes), or ``"random"`` responsibilities; or an array of one label
        per row, or of responsibilities of shape (n, K). With more than 20,000 rows the groups are
        made from 20,000 of them.
    weights_init, means_init, precisions_init : array-like, optional
        Parameters to start from, in the place of those of `init_params`.
    random_state : int, Generator or None
        Seed of the starts and of `sample`.
    warm_start : bool, default=False
        Whether a fit starts where the last one ended.
    verbose : int, default=0
        Whether the progress of the fit is written to standard output.
    verbose_interval : int, default=10
        Without effect: progress is written about once a second.
    select : {"bic", "icl", "aic", "min", "one_se"}, default="bic"
        Rule that picks from the path: a criterion, or the log-likelihood of rows held out.
    cv : int, float, splitter or list of (train, test), default=5
        Folds that hold rows out for ``"min"`` and ``"one_se"``.
    device : str, optional
        A device of PyTorch, such as ``"cuda"``, that the E steps run on; None for this processor
        without PyTorch.

    Attributes
    ----------
    weights_ : ndarray of shape (K,)
        Share of each component.
    means_ : ndarray of shape (K, p)
        Their means.
    covariances_, precisions_, precisions_cholesky_ : ndarray
        Their covariances, the inverses, and triangular C with CC' the inverse. For the four words
        in the shapes (K, p, p), (p, p), (K, p) and (K,), else (K, p, p).
    converged_ : bool
        Whether the likelihood stopped rising before `max_iter`.
    n_iter_ : int
        Iterations.
    lower_bound_ : float
        Mean log-likelihood of the rows.
    lower_bounds_ : list of float
        The same before each iteration, and at the end.
    log_likelihood_ : float
        Log-likelihood of all rows.
    entropy_ : float
        Entropy of the responsibilities: 0 where no row is in doubt.
    aic_, bic_, icl_ : float
        Criteria on the rows of the fit; smaller is better.
    n_components_, covariance_type_ : int, str
        What was used.
    n_parameters_ : int
        Free parameters.
    degenerate_ : ndarray of shape (K,)
        Components at the least variance allowed: their likelihood depends on `reg_covar`.
    trace_ : Ascent
        Bound, entropy and Kullback-Leibler distance after each step; ``trace_.plot()`` draws it.
    path_ : Path
        The path, if `n_components` or `covariance_type` was chosen.

    Notes
    -----
    A pass over the rows takes two products of large matrices, about n p² K operations each. The
    path shares rows and starts between families. Values may be missing: the likelihood is then that
    of what was observed, exactly, if whether a value is missing does not depend on it.

    A row of weight two counts as two equal rows. Weights that sum to less than the number of rows
    are shares, and are brought to mean one.

    With one covariance for all components the borders between them are linear, with different ones
    quadratic. The likelihood of ``"full"`` has no maximum without a least variance: a component may
    shrink onto one row. A warning names such components; a path does not pick their models.

    Do not use it for groups that are curved, or of which a normal distribution says little: several
    components then share a group. With p near n use diagonal covariances.

    References
    ----------
    .. [1] Celeux, G. and Govaert, G. (1995). Gaussian parsimonious clustering models. Pattern
       Recognition 28, 781-793.
    .. [2] Fraley, C. and Raftery, A. (2002). Model-based clustering, discriminant analysis, and
       density estimation. Journal of the American Statistical Association 97, 611-631.
    .. [3] Biernacki, C., Celeux, G. and Govaert, G. (2000). Assessing a mixture model for
       clustering with the integrated completed likelihood. IEEE PAMI 22, 719-725.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, (100, 2)), rng.normal(6, 2, (50, 2))]
    >>> model = GaussianMixture("auto", covariance_type=["VII", "VVV"], random_state=0).fit(X)
    >>> model.n_components_, model.covariance_type_, round(float(model.weights_.max()), 1)
    (2, 'VII', 0.7)
    >>> bool(model.outlier_scores([[0, 0], [20, -20]])[1] > 3)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": Auto(Integer(1), help="components; more fit the rows more closely"),
        "covariance_type": AnyOf(
            Choice(*_NAMES, "auto"),
            Listed(Choice(*_NAMES)),
            help="what covariances components may have",
        ),
        "tol": Real(0, help="rise of the mean log-likelihood that ends the fit"),
        "reg_covar": Real(0, help="least variance, as a share of the data's"),
        "max_iter": Integer(0, help="the most iterations"),
        "n_init": Integer(1, help="starts, of which the best is kept"),
        "init_params": AnyOf(
            Choice(*STARTS),
            GivenArray(),
            help="where to start: a word, labels, or responsibilities",
        ),
        "weights_init": OrNone(Listed(Real(0)), help="weights to start from"),
        "means_init": OrNone(GivenArray(), help="means to start from"),
        "precisions_init": OrNone(GivenArray(), help="inverse covariances to start from"),
        "random_state": Seed(help="seed of the starts and of samples"),
        "warm_start": Boolean(help="start where the last fit ended"),
        "verbose": Integer(0, help="write the progress of the fit"),
        "verbose_interval": Integer(1, help="without effect"),
        "select": Choice("bic", "icl", "aic", "min", "one_se", help="rule that picks"),
        "cv": Folds(help="folds that hold rows out"),
        "device": OrNone(Text(), help="device of PyTorch for the E steps"),
    }
    card: ClassVar[Card] = Card(
        method="gaussian_mixture",
        title="Mixture of normal distributions",
        task="clustering",
        strengths=(
            "Says how likely each row belongs to each group, and how unusual it is.",
            "Groups of different size, shape and orientation.",
            "The number of groups and the family of covariances follow from one criterion.",
            "Takes missing values as they are, by the exact likelihood of what was observed.",
        ),
        weaknesses=(
            "Finds a local maximum that depends on the start.",
            "A group that is not normal is split into several components.",
            "Full covariances need many rows for each component.",
        ),
        assumptions=(
            "Within a group rows are normal.",
            "Whether a value is missing does not depend on the value.",
        ),
        cost="n p^2 K for each iteration",
        source="N181-N193",
        takes=frozenset({"number", "missing"}),
        wide=True,
    )
    knob: ClassVar[str] = "n_components"
    knobs: ClassVar[tuple[str, ...]] = ("n_components", "covariance_type")
    walks: ClassVar[Mapping[str, Any]] = {"n_components": "auto"}
    _least_rows: ClassVar[int] = 2

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        covariance_type: Any = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: Any = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        select: str = "bic",
        cv: Any = 5,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.select = select
        self.cv = cv
        self.device = device

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator"
        tags.input_tags.allow_nan = True
        return tags

    # ---- the work --------------------------------------------------------------------------------

    def _forget(self) -> None:
        resume = vars(self).get("_resume")
        if self.warm_start and hasattr(self, "weights_"):
            resume = (self.weights_, self.means_, self.full_covariances())
        quiet = vars(self).get("_quiet", False)
        super()._forget()
        if resume is not None:
            self._resume = resume
        if quiet:
            self._quiet = True

    def _options(self) -> MixtureOptions:
        return MixtureOptions(
            tol=float(self.tol),
            reg_covar=float(self.reg_covar),
            max_iter=int(self.max_iter),
            n_init=int(self.n_init),
            start=self.init_params,
            weights=self.weights_init,
            means=self.means_init,
            precisions=self.precisions_init,
            seeds=seeds_of(self.random_state, int(self.n_init)),
            warm=self.__dict__.pop("_resume", None),
            device=self.device,
        )

    def _prepare(self, rows: Rows) -> MixtureWork:
        # The criteria count rows: shares would change the number of components that they pick.
        weight = None if rows.weight is None else as_counts(rows.weight)
        moments = ColumnMoments().update(rows.X, w=weight)
        moments.refuse_empty(term_names(self, intercept=False))
        return MixtureWork(moments, self._options(), (rows.X, weight))

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> ColumnMoments:
        if self.device is not None:
            raise InputError(
                f"GaussianMixture: a fit in chunks runs on this processor; got "
                f"device={self.device!r}. Leave it None, or fit the rows at once."
            )
        return ColumnMoments().update(X, w=w)

    def _prepare_merged(self, statistics: ColumnMoments, chunks: CheckedChunks) -> MixtureWork:
        statistics.refuse_empty(term_names(self, intercept=False))
        # What is done to a row of mean weight is done to all.
        mean = np.array([statistics.weight / statistics.count])
        counted = float(as_counts(mean)[0] / mean[0])
        return MixtureWork(statistics.times(counted), self._options(), None, chunks, counted)

    # ---- the path --------------------------------------------------------------------------------

    def _families(self, p: int) -> list[str]:
        """Return the families that the path goes over, by the names that the user has for them."""
        given = self.covariance_type
        if not isinstance(given, str):
            return list(dict.fromkeys(str(name) for name in given))
        if given != "auto":
            return [given]
        return [name for name in FAMILIES if p <= _MOST_AXES or name not in ("EVE", "VVE")]

    def _given(self, work: MixtureWork) -> dict[str, Any] | None:
        families = self._families(work.p)
        if isinstance(self.n_components, str) or len(families) > 1:
            return None
        return {"n_components": int(self.n_components), "covariance_type": families[0]}

    def _path(self, work: MixtureWork, values: Any, loss: Any) -> Path:
        if values is None:
            fixed = self.n_components
            values = range(1, max(1, min(_MOST, work.n - 1)) + 1) if fixed == "auto" else [fixed]
        sizes = sorted({int(k) for k in values})
        families = self._families(work.p)
        turned = [name for name in families if not WORDS.get(name, name).endswith("I")]
        if turned and len(turned) < len(families) and len(work.collinear):
            # Along the columns, many small components are the only way to follow a line or plane.
            work.left_out = [name for name in families if name not in turned]
            families = turned
        settings = [(k, name) for k in sizes for name in families]
        for k, name in settings:  # starts are made one by one: they are shared
            for trial in range(work.options.n_init):
                work.begin(k, WORDS.get(name, name), trial)
        fits = in_threads(lambda each: work.fit(each[0], WORDS.get(each[1], each[1])), settings)
        df = np.array([fit.df for fit in fits], dtype=np.float64)
        order = np.lexsort(np.array([[k for k, _ in settings], df]))
        found = [fit.criteria() for fit in fits]
        criteria = {name: np.array([each[name] for each in found]) for name in found[0]}
        spoilt = np.array([bool(fit.parameters.floored.any()) for fit in fits])
        if spoilt.any() and not spoilt.all():  # their likelihood is that of the least variance
            criteria = {name: np.where(spoilt, np.nan, c) for name, c in criteria.items()}
        lost = np.array([-fit.log_likelihood / work.total for fit in fits])
        return Path(
            [
                {"n_components": settings[i][0], "covariance_type": settings[i][1]}
                for i in order.tolist()
            ],
            train_error=lost[order],
            loss=self.row_loss,
            df=df[order],
            criteria={name: column[order] for name, column in criteria.items()},
        )

    def _predictions(
        self, work: MixtureWork, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        found = []
        for setting in settings:
            name = setting["covariance_type"]
            fit = work.fit(setting["n_components"], WORDS.get(name, name))
            found.append(-logsumexp(log_joint(X_new, fit.units, fit.parameters), axis=1))
        return np.stack(found, axis=1)

    def _settle(self, work: MixtureWork, setting: Mapping[str, Any]) -> None:
        name = setting["covariance_type"]
        fit = work.fit(int(setting["n_components"]), WORDS.get(name, name))
        as_declared(self, fit, name)
        if not self.__dict__.pop("_quiet", False):
            warn_about(self, work, fit)
