"""Exponential weights: predict nearly as well as the best of several experts."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.params import Choice, Integer, OrNone, Parameter, Real, check_params
from bottega.core.typing import Array, FloatArray
from bottega.online._kernels_forecast import aggregate, aggregate_losses

__all__ = ["ExponentialWeights"]


class ExponentialWeights(BaseEstimator):
    r"""A forecaster that weighs experts by how little they have lost.

    Expert k has weight :math:`e^{-\eta L_k} / \sum_j e^{-\eta L_j}` with :math:`L_k` its summed
    loss so far. The forecast is the weighted mean of the experts' predictions; under the zero-one
    loss an expert is drawn by the weights, and the chance of a mistake is what is charged.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "zero_one"}
        :math:`(y - z)^2` or :math:`|y - z|` for truths and predictions in [0, 1], or whether a
        label is wrong.
    eta : float or None
        How fast losses tell. None takes :math:`\sqrt{8 \ln K / T}` where `horizon` is given, else
        :math:`\sqrt{8 \ln K / t}` at row t, for streams without a known end.
    horizon : int or None
        T, the number of rows to come, where it is known.

    Attributes
    ----------
    n_experts_ : int
        Number of experts, K.
    n_samples_seen_ : int
        Rows seen, T.
    expert_losses_ : ndarray of shape (K,)
        Summed loss of each expert.
    loss_ : float
        Summed loss of the forecaster.
    weights_ : ndarray of shape (K,)
        Weights for the next row.
    best_expert_ : int
        The expert that lost least so far.
    regret_ : float
        Summed loss of the forecaster less that of the best expert.
    regret_bound_ : float
        What the regret is at most, on any stream.

    Notes
    -----
    A row costs K exponentials. Weights are worked out from the summed losses, shifted by the least
    of them, so nothing underflows however long the stream.

    For losses in [0, 1], convex in the prediction (or charged as a mean), the regret is at most
    :math:`\ln K / \eta + \eta T / 8`: :math:`\sqrt{T \ln K / 2}` with the horizon known. With
    :math:`\eta_t = \sqrt{8 \ln K / t}` it is at most :math:`2\sqrt{T \ln K / 2} +
    \sqrt{\ln K / 8}`. For the quadratic loss and :math:`\eta \le 1/2` it is at most
    :math:`\ln K / \eta`, whatever T.

    Do not use it to find a combination that beats every expert: it competes with the best single
    one (stacking competes with the best combination).

    References
    ----------
    .. [1] Littlestone, N. and Warmuth, M. K. (1994). The weighted majority algorithm. Information
       and Computation 108, 212-261.
    .. [2] Cesa-Bianchi, N. and Lugosi, G. (2006). Prediction, Learning, and Games. Cambridge
       University Press, chapters 2 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(1000)
    >>> experts = np.column_stack([y * 0.9, rng.random(1000), np.full(1000, 0.5)])
    >>> model = ExponentialWeights(loss="absolute_error")
    >>> charged = model.learn_block(experts, y)
    >>> model.best_expert_, bool(model.regret_ < model.regret_bound_)
    (0, True)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "loss": Choice("squared_error", "absolute_error", "zero_one", help="loss in [0, 1]"),
        "eta": OrNone(Real(0, open_low=True, log=True), help="how fast losses tell"),
        "horizon": OrNone(Integer(1), help="rows to come, where it is known"),
    }

    def __init__(
        self, *, loss: str = "squared_error", eta: float | None = None, horizon: int | None = None
    ) -> None:
        self.loss = loss
        self.eta = eta
        self.horizon = horizon

    def fit(self, P: Any, y: Any) -> Self:
        """Forget everything and learn from these rows; parameters as for `learn_block`."""
        check_params(self)
        losses = self._charge(*self._read(P, y, new=True), new=True)
        return self._advance(*losses)

    def partial_fit(self, P: Any, y: Any) -> Self:
        """Learn from more rows; parameters as for `learn_block`."""
        self.learn_block(P, y)
        return self

    def learn_block(self, P: Any, y: Any) -> FloatArray:
        """Learn from more rows, and return what each was charged before it was learned.

        Parameters
        ----------
        P : array-like of shape (m, K)
            What each expert predicts.
        y : array-like of shape (m,)
            Truths.

        Returns
        -------
        ndarray of shape (m,)
            Loss of the forecast of each row.
        """
        new = self._begin()
        charged = self._charge(*self._read(P, y, new=new), new=new)
        self._advance(*charged)
        return charged[0]

    def learn_losses(self, losses: Any) -> FloatArray:
        """Learn from the losses of the experts alone: any losses in [0, 1] (Hedge).

        Parameters
        ----------
        losses : array-like of shape (m, K)
            What each expert lost at each row.

        Returns
        -------
        ndarray of shape (m,)
            The weighted mean of the experts' losses: what a random expert loses.
        """
        new = self._begin()
        table = self._check_unit("losses", self._table("losses", losses, new))
        charged = self._hedge(table, new=new)
        self._advance(*charged)
        return charged[0]

    def predict(self, P: Any) -> Array:
        """Return the forecast of each row from what the experts predict, without learning.

        Under the zero-one loss, the label with the largest weight behind it (the first in sorted
        order of equals).
        """
        check_is_fitted(self, "n_experts_")
        P = self._table("P", P, new=False, numeric=self.loss != "zero_one")
        if self.loss != "zero_one":
            return np.asarray(P @ self.weights_)
        labels, codes = np.unique(P, return_inverse=True)
        votes = np.zeros((len(P), len(labels)))
        rows = np.repeat(np.arange(len(P)), P.shape[1])
        np.add.at(votes, (rows, codes.ravel()), np.tile(self.weights_, len(P)))
        return labels[np.argmax(votes, axis=1)]

    # ---- the pass -------------------------------------------------------------------------------

    def _begin(self) -> bool:
        """Check the parameters; tell whether these are the first rows."""
        check_params(self)
        new = not hasattr(self, "n_experts_")
        if not new and self._started_with != self._settings():
            raise InputError(
                "A parameter has changed since the first rows; call fit to start afresh."
            )
        return new

    def _settings(self) -> tuple[Any, ...]:
        return (self.loss, self.eta, self.horizon)

    def _table(self, name: str, values: Any, new: bool, numeric: bool = True) -> Array:
        table = np.ascontiguousarray(values, dtype=np.float64 if numeric else None)
        if table.ndim != 2 or not table.size:
            raise InputError(
                f"{name} has shape {table.shape}; give at least one row, with one column an expert."
            )
        if not new and table.shape[1] != self.n_experts_:
            raise InputError(
                f"{name} has {table.shape[1]} experts and there were {self.n_experts_} before; "
                "start a new forecaster for others."
            )
        return table

    def _check_unit(self, name: str, values: Array) -> Array:
        if not np.all((values >= 0) & (values <= 1)):  # NaN fails too
            raise InputError(
                f"{name} must lie in [0, 1] for the bounds to hold, and has values outside (or "
                "missing); rescale by known limits."
            )
        return values

    def _read(self, P: Any, y: Any, *, new: bool) -> tuple[Array, Array]:
        labels = self.loss == "zero_one"
        P = self._table("P", P, new, numeric=not labels)
        y = np.ascontiguousarray(y, dtype=None if labels else np.float64)
        if y.shape != (len(P),):
            raise InputError(f"y has shape {y.shape}; it needs one truth a row: ({len(P)},).")
        if not labels:
            self._check_unit("P", P)
            self._check_unit("y", y)
        return P, y

    def _charge(self, P: Array, y: Array, *, new: bool) -> tuple[FloatArray, FloatArray]:
        """Return what each row is charged and the summed losses of the experts after it."""
        if self.loss == "zero_one":
            return self._hedge((y[:, None] != P).astype(np.float64), new=new)
        L, seen = self._memory(P.shape[1], new)
        losses = np.empty(len(y))
        aggregate(P, y, L, self._rate(len(L)), seen, self.loss == "squared_error", losses)
        return losses, L

    def _hedge(self, table: FloatArray, *, new: bool) -> tuple[FloatArray, FloatArray]:
        L, seen = self._memory(table.shape[1], new)
        losses = np.empty(len(table))
        aggregate_losses(table, L, self._rate(len(L)), seen, losses)
        return losses, L

    def _memory(self, n_experts: int, new: bool) -> tuple[FloatArray, float]:
        if new:
            self.n_samples_seen_, self.loss_ = 0, 0.0
            self._started_with = self._settings()
            return np.zeros(n_experts), 0.0
        return self.expert_losses_.copy(), float(self.n_samples_seen_)

    def _advance(self, losses: FloatArray, L: FloatArray) -> Self:
        self.expert_losses_, self.n_experts_ = L, len(L)
        self.n_samples_seen_ += len(losses)
        self.loss_ += float(losses.sum())
        return self

    def _rate(self, n_experts: int) -> float:
        """Return eta, or 0 where it falls with the rows."""
        if self.eta is not None:
            return float(self.eta)
        if self.horizon is not None and n_experts > 1:
            return math.sqrt(8 * math.log(n_experts) / self.horizon)
        return 0.0

    # ---- what is known --------------------------------------------------------------------------

    @property
    def weights_(self) -> FloatArray:
        """Weights for the next row."""
        check_is_fitted(self, "n_experts_")
        K = self.n_experts_
        eta = self._rate(K) or math.sqrt(8 * math.log(K) / (self.n_samples_seen_ + 1))
        weights = np.exp(-eta * (self.expert_losses_ - self.expert_losses_.min()))
        return np.asarray(weights / weights.sum())

    @property
    def best_expert_(self) -> int:
        """The expert that lost least so far, the first of equals."""
        check_is_fitted(self, "n_experts_")
        return int(np.argmin(self.expert_losses_))

    @property
    def regret_(self) -> float:
        """Summed loss of the forecaster less that of the best expert."""
        check_is_fitted(self, "n_experts_")
        return self.loss_ - float(self.expert_losses_.min())

    @property
    def regret_bound_(self) -> float:
        """What the regret is at most, on any stream."""
        check_is_fitted(self, "n_experts_")
        T, log_K = self.n_samples_seen_, math.log(self.n_experts_)
        eta = self._rate(self.n_experts_)
        if eta == 0:
            return 2 * math.sqrt(T * log_K / 2) + math.sqrt(log_K / 8)
        # (y - z)^2 on [0, 1] is exp-concave up to 1/2: the second-order term is not needed.
        curved = self.loss == "squared_error" and eta <= 0.5
        return log_K / eta + (0.0 if curved else eta * T / 8)
