"""Exponential weights: predict nearly as well as the best of several experts."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.cards import Card
from bottega.core.classes import decided
from bottega.core.errors import InputError
from bottega.core.estimator import Unweighted
from bottega.core.loaded import insist_on_length
from bottega.core.losses import Loss, get_loss
from bottega.core.params import Choice, Integer, OrNone, Parameter, Real
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import refuse_masked
from bottega.online._kernels.experts import aggregate
from bottega.online._learner.base import OnlineModel

__all__ = ["ExponentialWeights"]


class ExponentialWeights(Unweighted, OnlineModel):
    r"""A forecaster that weighs experts by how little they have lost.

    Expert k has weight :math:`e^{-\eta L_k} / \sum_j e^{-\eta L_j}` with :math:`L_k` its summed
    loss so far. The forecast is the weighted mean of the experts' predictions; under the zero-one
    loss an expert is drawn by the weights, and the chance of a mistake is what is charged. The
    inputs X are what the experts predict, one column per expert.

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
    n_features_in_ : int
        Number of experts.
    feature_names_in_ : ndarray of shape (K,)
        Names of the experts, when X is a data frame.

    Notes
    -----
    A row costs K exponentials. Weights are worked out from the summed losses, shifted by the least
    of them, so nothing underflows however long the stream.

    For losses in [0, 1], convex in the prediction (or charged as a mean), the regret is at most
    :math:`\ln K / \eta + \eta T / 8`: :math:`\sqrt{T \ln K / 2}` with the horizon known. With
    :math:`\eta_t = \sqrt{8 \ln K / t}` it is at most :math:`2\sqrt{T \ln K / 2} +
    \sqrt{\ln K / 8}`. For the squared error and :math:`\eta \le 1/2` it is at most
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
    card: ClassVar[Card] = Card(
        method="exponential_weights",
        title="Exponential weights",
        task="experts",
        strengths=(
            "Loses on every stream hardly more than the best expert, by a bound that is computed.",
            "Combines anything that predicts: models, people, rules, other learners.",
            "Needs no more than the summed loss of each expert.",
        ),
        weaknesses=(
            "Competes with the best single expert, not with the best combination.",
            "Needs losses in [0, 1].",
            "Never forgets: an expert that was good for long is believed for long.",
        ),
        assumptions=("None about how truths arise: the bound holds on every stream.",),
        cost="n K",
        source="A63-A68",
        ordered=True,
    )

    expert_losses_: FloatArray
    loss_: float

    def __init__(
        self, *, loss: str = "squared_error", eta: float | None = None, horizon: int | None = None
    ) -> None:
        self.loss = loss
        self.eta = eta
        self.horizon = horizon

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
        return self._learn(losses, None, charge=True)

    def predict(self, X: Any) -> Array:
        """Return the forecast of each row from what the experts predict, without learning.

        Under the zero-one loss, the label with the largest weight behind it (the first in sorted
        order of equals).
        """
        check_is_fitted(self)
        X = self._table("X", X, reset=False, labels=self.loss == "zero_one")
        if self.loss != "zero_one":
            return np.asarray(X @ self.weights_)
        labels, codes = np.unique(X, return_inverse=True)
        votes = np.zeros((len(X), len(labels)))
        rows = np.repeat(np.arange(len(X)), X.shape[1])
        np.add.at(votes, (rows, codes.ravel()), np.tile(self.weights_, len(X)))
        return labels[decided(votes)]

    def _charged_loss(self) -> Loss:
        return get_loss(self.loss)

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        if hasattr(self, "expert_losses_"):
            insist_on_length(self, self.n_experts_, "expert_losses_")

    def _start(self) -> None:
        self.expert_losses_, self.loss_ = np.zeros(self.n_experts_), 0.0

    def _learn_rows(self, rows: Rows, *, charge: bool) -> FloatArray:
        X, targets, loss = rows.X, rows.y, self._charged_loss()
        lost = X if targets is None else loss.of_rows(targets, X)
        values = lost if self.loss == "zero_one" else X
        L, losses = self.expert_losses_.copy(), np.empty(len(X))
        aggregate(values, lost, L, self._rate(), float(self.n_samples_seen_), losses)
        if values is not lost:  # the mean is a prediction, not yet a loss
            losses = loss(targets, losses)
        self.expert_losses_ = L
        self.n_samples_seen_ += len(losses)
        self.loss_ += float(losses.sum())
        return losses

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        if y is None:
            raise InputError("y is missing; to learn from losses alone use learn_losses.")
        return super()._check_rows(X, y)

    def _read_block(self, X: Any, y: Any, *, reset: bool) -> tuple[Array, Any]:
        """Return the predictions of the experts and the truths; without truths, losses."""
        labels = self.loss == "zero_one" and y is not None
        table = self._table("losses" if y is None else "X", X, reset=reset, labels=labels)
        if y is None:
            return _in_unit("losses", table), None
        y = np.ascontiguousarray(y, dtype=None if labels else np.float64)
        if y.shape != (len(table),):
            raise InputError(f"y has shape {y.shape}; it needs one truth per row: ({len(table)},).")
        return (table, y) if labels else (_in_unit("X", table), _in_unit("y", y))

    def _table(self, name: str, values: Any, *, reset: bool, labels: bool) -> Array:
        refuse_masked(**{name: values})
        table = np.ascontiguousarray(values, dtype=None if labels else np.float64)
        if table.ndim != 2 or not table.size:
            raise InputError(
                f"{name} has shape {table.shape}; give at least one row, with one column per "
                "expert."
            )
        if not reset and table.shape[1] != self.n_experts_:
            raise InputError(
                f"{name} has {table.shape[1]} experts and there were {self.n_experts_} before; "
                "start a new forecaster for others."
            )
        if reset or hasattr(self, "feature_names_in_"):
            validate_data(self, values, skip_check_array=True, reset=reset)
        return table

    def _rate(self) -> float:
        """Return eta, or 0 where it falls with the rows."""
        if self.eta is not None:
            return float(self.eta)
        if self.horizon is not None and self.n_experts_ > 1:
            return math.sqrt(8 * math.log(self.n_experts_) / self.horizon)
        return 0.0

    @property
    def n_experts_(self) -> int:
        """Number of experts, K."""
        return self.n_features_in_

    @property
    def weights_(self) -> FloatArray:
        """Weights for the next row."""
        check_is_fitted(self)
        K = self.n_experts_
        eta = self._rate() or math.sqrt(8 * math.log(K) / (self.n_samples_seen_ + 1))
        weights = np.exp(-eta * (self.expert_losses_ - self.expert_losses_.min()))
        return np.asarray(weights / weights.sum())

    @property
    def best_expert_(self) -> int:
        """The expert that lost least so far, the first of equals."""
        check_is_fitted(self)
        return int(decided(-self.expert_losses_))

    @property
    def regret_(self) -> float:
        """Summed loss of the forecaster less that of the best expert."""
        check_is_fitted(self)
        return self.loss_ - float(self.expert_losses_.min())

    @property
    def regret_bound_(self) -> float:
        """What the regret is at most, on any stream."""
        check_is_fitted(self)
        T, log_K = self.n_samples_seen_, math.log(self.n_experts_)
        eta = self._rate()
        if eta == 0:
            return 2 * math.sqrt(T * log_K / 2) + math.sqrt(log_K / 8)
        # (y - z)^2 on [0, 1] is exp-concave up to 1/2: the second-order term is not needed.
        curved = self.loss == "squared_error" and eta <= 0.5
        return log_K / eta + (0.0 if curved else eta * T / 8)


def _in_unit(name: str, values: Array) -> Array:
    if not np.all((values >= 0) & (values <= 1)):  # NaN fails too
        raise InputError(
            f"{name} must lie in [0, 1] for the bounds to hold, and has values outside (or "
            "missing); rescale by known limits."
        )
    return values
