"""Ridge regression in the space of a kernel."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from bottega.core.cards import Card
from bottega.core.errors import ParameterError
from bottega.core.likelihood import gaussian_path
from bottega.core.lists import Alphas, Listed, alphas_of
from bottega.core.losses import Loss
from bottega.core.params import (
    AnyOf,
    Anything,
    Auto,
    Boolean,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
    Seed,
)
from bottega.core.path import Path, Rule
from bottega.core.rows import Rows
from bottega.core.smoother import Smoother
from bottega.core.tuned import Tuned
from bottega.core.typing import Array
from bottega.kernel._inputs.points import KERNEL, refuse_vanishing
from bottega.kernel._objects.numbers import gamma_grid
from bottega.kernel._ridge.fitted import FittedRidge, row_blocks
from bottega.kernel._ridge.penalties import default_alphas, evened
from bottega.kernel._ridge.spectrum import judged
from bottega.kernel._ridge.work import ApproximateRidge, ExactRidge, RidgeWork
from bottega.kernel.approximate import kernel_error, nystroem, random_fourier
from bottega.kernel.kernels import Kernel

__all__ = ["KernelRidge"]

_EXACT = 4000  # rows up to which the whole kernel matrix is decomposed


class KernelRidge(FittedRidge, RegressorMixin, Tuned):
    r"""Ridge regression on the features of a kernel, without computing them.

    Minimises over the functions f of the kernel's space and an intercept that is never penalised

    .. math:: \sum_i w_i (y_i - \beta_0 - f(x_i))^2 + \alpha \lVert f \rVert_K^2 .

    The minimiser is :math:`f = \sum_i c_i K(x_i, \cdot)` with, for equal weights and no intercept,
    :math:`c = (K + \alpha I)^{-1} y`. By default the kernel is Gaussian, there is an intercept and
    the penalty is chosen from the data; with ``fit_intercept=False`` and a number as `alpha` the
    answer is that of scikit-learn's class of this name.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the penalty, at least 0. ``"auto"`` picks from the path by the rule `select`.
    kernel : str, Kernel or callable, default="rbf"
        ``"rbf"`` (Gaussian), ``"linear"``, ``"poly"``, ``"laplacian"``, ``"sigmoid"``,
        ``"cosine"``; a kernel object, for texts too; a function of two rows; or ``"precomputed"``,
        where X is the matrix of the kernels of all pairs.
    gamma : float, "scale", "auto", "path", list of float or None, default="scale"
        Factor in the kernel. ``"scale"`` is 1 / (p var(X)), ``"auto"`` and None are 1 / p, as in
        scikit-learn. ``"path"`` chooses it together with `alpha`, from `gammas`, and a list from
        its values.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial and the sigmoid kernel.
    kernel_params : dict or None, default=None
        Further arguments of a kernel that is a function.
    fit_intercept : bool, default=True
        Whether there is an intercept, free of penalty.
    approximation : {"auto", "nystroem", "fourier"} or None, default="auto"
        None decomposes the whole kernel matrix. ``"nystroem"`` takes the kernels with
        `n_components` of the rows as features, ``"fourier"`` as many random waves (Gaussian and
        Laplacian kernels). ``"auto"`` is None up to 4,000 rows, then ``"nystroem"``.
    n_components : int, default=500
        Features of an approximation.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).
    alphas : int or array-like, default=50
        Penalties on the path: their number, or their values.
    gammas : int or array-like, default=5
        Values that ``gamma="path"`` tries: their number, each four times the one before and about
        ``"scale"``, or the values.
    random_state : int, RandomState, Generator or None, default=0
        Seed of what an approximation draws.

    Attributes
    ----------
    alpha_ : float
        The penalty in use.
    gamma_ : float or None
        The factor in use; None for a kernel without one.
    kernel_ : Kernel
        The kernel in use.
    dual_coef_ : ndarray of shape (n,) or (n, q)
        Coefficients c of the kernels with the training rows. An approximation has none.
    intercept_ : float or ndarray of shape (q,)
        Intercept.
    X_fit_ : ndarray or sparse matrix of shape (n, p)
        The training rows.
    approximation_ : {"exact", "nystroem", "fourier"}
        What was done.
    approximation_error_ : float
        Error of the approximate kernel matrix relative to the true one, in squares over all pairs
        of at most 1,000 rows; 0 where it is exact.
    expansion_ : KernelExpansion
        The fitted function without its intercept, with its norm in the kernel's space.
    path_ : Path
        The whole curve, where something was ``"auto"``.
    smoother_ : Smoother
        What df, sigma, leverages, leave-one-out and the criteria follow from.

    Notes
    -----
    One decomposition of the kernel matrix, :math:`O(n^3)`, gives every penalty; the exact
    leave-one-out errors of m of them cost :math:`4 n^2 m` operations more. Of more than 300 rows it
    is the tridiagonal form, half the work of eigenvectors. A single penalty with
    more than 500 rows takes a Cholesky factor instead. An approximation by r features costs
    :math:`O(n r^2)`. df is one (for the intercept) plus
    :math:`\sum_j \lambda_j / (\lambda_j + \alpha)`, with the eigenvalues of the centred matrix.
    Leave-one-out keeps the kernel, gamma included, as it is with all rows.

    A kernel matrix with a negative eigenvalue is refused, with this eigenvalue: the objective then
    has no least point.

    Do not use it on columns of different units without scaling them, for jumps, or with hundreds
    of inputs of which few matter: all of them enter the distance. Standard errors and bands say
    nothing about bias, and `interval`, `matrix` and ``return_std`` decompose the matrix anew.

    References
    ----------
    .. [1] Saunders, C., Gammerman, A. and Vovk, V. (1998). Ridge regression learning algorithm in
       dual variables. Proceedings of ICML, 515-521.
    .. [2] Wahba, G. (1990). Spline models for observational data. SIAM.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 6, 80)[:, None]
    >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=80)
    >>> model = KernelRidge(gamma=1.0, select="min").fit(x, y)
    >>> bool(np.max(np.abs(model.predict(x) - np.sin(x[:, 0]))) < 0.15)
    True
    >>> round(model.df_, 1), round(model.expansion_.norm(), 2)
    (12.0, 1.95)
    """

    knob: ClassVar[str] = "alpha"
    knobs: ClassVar[tuple[str, ...]] = ("alpha", "gamma")
    walks: ClassVar[Mapping[str, Any]] = {"gamma": "path"}
    params: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Auto(Real(0, None, log=True), help="strength of the penalty"),
        "kernel": KERNEL,
        "gamma": OrNone(
            AnyOf(
                Choice("scale", "auto", "path"),
                Real(0, None, open_low=True, log=True),
                Listed(Real(0, None, open_low=True)),
            ),
            help="factor in the kernel, 'path' or a list for the path to choose from",
        ),
        "degree": Integer(1, help="degree of the polynomial kernel"),
        "coef0": Real(help="constant of the polynomial and the sigmoid kernel"),
        "kernel_params": OrNone(Anything(), help="further arguments of a kernel function"),
        "fit_intercept": Boolean(help="have an intercept, free of penalty"),
        "approximation": OrNone(
            Choice("auto", "nystroem", "fourier"), help="few features in place of the kernel"
        ),
        "n_components": Integer(1, help="features of an approximation"),
        "select": Rule(),
        "alphas": Alphas(),
        "gammas": AnyOf(
            Integer(1), Listed(Real(0, open_low=True)), help="gammas tried: how many, or which"
        ),
        "random_state": Seed(help="seed of what an approximation draws"),
    }
    card: ClassVar[Card] = Card(
        method="kernel_ridge",
        title="Kernel ridge regression",
        task="regression",
        strengths=(
            "Fits smooth functions of many inputs, interactions and all, without naming them.",
            "The whole path with exact leave-one-out errors comes from one decomposition.",
            "Works on whatever has a kernel: texts, graphs, a matrix of similarities.",
            "Few features stand in for the kernel on many rows, with their error reported.",
        ),
        weaknesses=(
            "Every input counts in the distance: inputs that do not matter blur it.",
            "Depends on the scale of the inputs: standardise them.",
            "Cannot be read: the coefficients belong to rows, not to inputs.",
            "Costs the cube of the number of rows where it is exact.",
        ),
        assumptions=(
            "The mean of the response is a smooth function of the inputs, equally rough "
            "everywhere and in every direction.",
            "The noise has mean zero and the same variance everywhere, over the weight of the row.",
        ),
        cost="n^3 up to 4,000 rows, then n n_components^2",
        source="A81, A83, M825",
        wide=True,
        standardize=True,
    )
    _by_pair: ClassVar[bool] = True
    _least_rows: ClassVar[int] = 2

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        fit_intercept: bool = True,
        approximation: str | None = "auto",
        n_components: int = 500,
        select: str = "one_se",
        alphas: Any = 50,
        gammas: Any = 5,
        random_state: Any = 0,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.approximation = approximation
        self.n_components = n_components
        self.select = select
        self.alphas = alphas
        self.gammas = gammas
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        if self._precomputed and self.approximation in ("nystroem", "fourier"):
            raise ParameterError(
                f"KernelRidge: approximation={self.approximation!r} needs the points; with "
                "kernel='precomputed' there is the matrix alone."
            )

    def _prepare(self, rows: Rows) -> RidgeWork:
        y = rows.y if rows.y.ndim == 2 else rows.y[:, None]

        def make(gamma: Any) -> Any:
            kernel = self._kernel_for(rows.X, rows.weight, gamma)
            how = self._how(len(rows))
            if how == "exact":
                K = self._between(kernel, rows.X, rows.X)
                refuse_vanishing(K, rows.X)
                return ExactRidge(kernel, K, rows, y, bool(self.fit_intercept))
            count = min(int(self.n_components), len(rows))
            if how == "nystroem":
                features: Any = nystroem(kernel, rows.X, count, self.random_state)
            else:
                features = random_fourier(
                    kernel, rows.X.shape[1], int(self.n_components), self.random_state
                )
            error = kernel_error(kernel, features, rows.X)
            return ApproximateRidge(kernel, features, rows, y, bool(self.fit_intercept), error)

        return RidgeWork(rows, y, make)

    def _how(self, n: int) -> str:
        """Return what is done with n rows: exact, nystroem or fourier."""
        if self.approximation == "auto":
            return "exact" if n <= _EXACT or self._precomputed else "nystroem"
        return self.approximation or "exact"

    def _given(self, work: RidgeWork) -> dict[str, Any] | None:
        if isinstance(self.alpha, str) or self._chooses_gamma:
            return None
        return {"alpha": float(self.alpha), "gamma": self.gamma}

    def _path(self, work: RidgeWork, values: Any, loss: Loss | None) -> Path:
        settings: list[dict[str, Any]] = []
        parts: list[tuple[Any, ...]] = []
        values = alphas_of(values, self.alphas)
        if values is None and not isinstance(self.alpha, str):
            values = [self.alpha]
        for gamma in self._gammas(work):
            spectrum = work.at(gamma).spectrum
            if values is None:
                alphas = default_alphas(spectrum.lam, work.rows, int(self.alphas))
            else:
                alphas = np.sort(np.asarray(values, dtype=np.float64))[::-1]
            settings += [{"alpha": float(alpha), "gamma": gamma} for alpha in alphas]
            parts.append((spectrum.df(alphas), *judged(spectrum, work.y, work.rows, alphas, loss)))
        df, rss = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        order = np.argsort(df, kind="stable") if len(parts) > 1 else np.arange(len(df))
        found: dict[str, Any] = {}
        if loss is not None:
            error, error_se = (np.concatenate([part[k] for part in parts]) for k in (2, 3))
            found = {"error": evened(error[order]), "error_se": error_se[order]}
            found |= {"estimate": "loo", "loss": loss.title}
        return gaussian_path(
            [settings[i] for i in order],
            rss=rss[order] if rss.shape[1] > 1 else rss[order, 0],
            df=df[order],
            n=len(work.rows),
            weight=work.rows.total_weight,
            log_weights=work.rows.log_weights,
            **found,
        )

    def _gammas(self, work: RidgeWork) -> list[Any]:
        """Return the gammas of the path: the one that is given, or several."""
        if not self._chooses_gamma:
            return [self.gamma]
        listed = self.gammas if np.ndim(self.gamma) == 0 else self.gamma
        if np.ndim(listed):
            return [float(gamma) for gamma in np.unique(listed)]
        return gamma_grid(work.rows.X, work.rows.weight, int(self.gammas))

    def _predictions(
        self, work: RidgeWork, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        q = work.y.shape[1]
        found = np.empty((X_new.shape[0], len(settings), q))
        for gamma in dict.fromkeys(setting["gamma"] for setting in settings):
            places = [i for i, setting in enumerate(settings) if setting["gamma"] == gamma]
            ridge = work.at(gamma)
            alphas = np.array([settings[i]["alpha"] for i in places])
            coef, intercept = ridge.coefficients(alphas)
            flat = coef.reshape(len(coef), -1)
            features = getattr(ridge, "features", None)
            for rows in row_blocks(X_new.shape[0], len(coef)):
                table = (
                    self._between(ridge.kernel, X_new[rows], work.rows.X)
                    if features is None
                    else features(X_new[rows])
                )
                predicted = (table @ flat).reshape(len(table), len(places), q) + intercept
                found[rows, places] = predicted
        return found[:, :, 0] if work.rows.y.ndim == 1 else found

    def _settle(self, work: RidgeWork, setting: Mapping[str, Any]) -> None:
        self.alpha_ = float(setting["alpha"])
        ridge = work.at(setting["gamma"])
        fit = ridge.solution(self.alpha_)
        one = work.rows.y.ndim == 1
        self.kernel_: Kernel = ridge.kernel
        self.gamma_ = getattr(ridge.kernel, "gamma", None)
        self.approximation_ = self._how(len(work.rows))
        self.approximation_error_ = float(getattr(ridge, "error", 0.0))
        self.X_fit_ = work.rows.X
        self._features = getattr(ridge, "features", None)
        self._coef = fit.coef[:, 0] if one else fit.coef
        self.intercept_ = float(fit.intercept[0]) if one else fit.intercept
        residual = fit.residual[:, 0] if one else fit.residual
        self.smoother_ = Smoother(
            work.rows.y,
            work.rows.y - residual,
            1 - fit.left,
            fit.df,
            work.rows.weight,
            fit.trace_sst,
            self._path_scale,
        )

    def _glance_row(self) -> dict[str, Any]:
        own = {"alpha": self.alpha_}
        if self.gamma_ is not None:
            own["gamma"] = self.gamma_
        return super()._glance_row() | own

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
