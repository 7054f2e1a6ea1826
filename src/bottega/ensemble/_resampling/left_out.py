"""What models fitted to samples tell: out-of-bag predictions, importance, proximity."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import r2_score

from bottega.core.classes import decided
from bottega.core.errors import DataWarning, InputError, ParameterError, warn_caller
from bottega.core.estimator import Estimator
from bottega.core.params import AnyOf, Boolean, Choice, Function
from bottega.core.rows import Rows
from bottega.core.seeds import seeds_of
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._kernels.proximity import same_leaf

_MOST_ROWS = 10_000


def importance_columns(names: Sequence[str], rise: FloatArray) -> dict[str, Any]:
    """Return the table of importance from the rise of the loss: (models, columns).

    A model without rows to judge it by has NaN.
    """
    n_models = np.sum(np.isfinite(rise), axis=0)
    mean = np.nanmean(rise, axis=0)
    std_error = np.nanstd(rise, axis=0, ddof=1) / np.sqrt(n_models)
    z = np.divide(mean, std_error, out=np.zeros_like(mean), where=std_error > 0)
    return {"column": list(names), "importance": mean, "std_error": std_error, "z": z}


def proximity_of(n: int, leaves: Callable[[], IntArray]) -> FloatArray:
    """Return in what share of the trees each two of n rows share a leaf; leaves: (rows, trees)."""
    if n > _MOST_ROWS:
        raise InputError(
            f"The proximities of {n} rows are {n}^2 numbers; give at most {_MOST_ROWS} rows as X."
        )
    return same_leaf(leaves())


OOB_SCORE = AnyOf(
    Choice("auto"),
    Boolean(),
    Function(),
    help="whether the rows left out of the samples score the model, or by which function",
)


class OutOfBag(Estimator):
    """A model that keeps what its parts predict for the rows they have not drawn.

    `oob_score` is ``"auto"`` (score where rows are left out), True (insist on it), False, or a
    function of the responses and the predictions.
    """

    @property
    def _out_of_bag_name(self) -> str:
        return "oob_decision_function_" if is_classifier(self) else "oob_prediction_"

    @property
    def _draws_all(self) -> bool:
        """Whether every part sees every row, so that none is left out."""
        whole = self.max_samples is None or (
            isinstance(self.max_samples, float) and self.max_samples >= 1
        )
        return whole and not self.bootstrap

    @property
    def _judges(self) -> bool:
        """Whether rows that are left out judge the model."""
        return self.oob_score is not False

    def _check_params(self) -> None:
        super()._check_params()
        if self._draws_all and (self.oob_score is True or callable(self.oob_score)):
            raise ParameterError(
                "Out of bag estimation only available if bootstrap=True, or with a share of the "
                f"rows as max_samples; got oob_score={self.oob_score!r}."
            )

    def _score_out_of_bag(self, y: Array, found: FloatArray, weight: FloatArray | None) -> None:
        """Set `oob_score_`: accuracy or R squared of the rows that some part has not drawn.

        `y` are numbers or class codes, `found` numbers or shares of classes (their axis is 1).
        """
        seen = np.isfinite(found).reshape(len(found), -1).all(axis=1)
        asked = self.oob_score is True or callable(self.oob_score)
        if asked and not seen.all():
            warn_caller(
                "Some inputs do not have OOB scores. This probably means too few estimators were "
                "used to compute any reliable oob estimates.",
                DataWarning,
            )
        self.oob_score_ = np.nan
        if not seen.any():
            return
        y, found, weight = y[seen], found[seen], None if weight is None else weight[seen]
        answer: Array = decided(np.moveaxis(found, 1, -1)) if is_classifier(self) else found
        if callable(self.oob_score):
            self.oob_score_ = self.oob_score(self._shown(y), self._shown(answer))
        elif is_classifier(self):
            right = answer == y
            right = right.all(axis=1) if right.ndim == 2 else right
            self.oob_score_ = float(np.average(right, weights=weight))
        elif len(y) > 1:
            self.oob_score_ = float(r2_score(y, answer, sample_weight=weight))

    def _shown(self, codes: Array) -> Array:
        """Return the labels of class codes; numbers as they are."""
        if not is_classifier(self):
            return codes
        if codes.ndim == 1:
            return self.classes_[codes]
        return np.column_stack([c[k] for c, k in zip(self.classes_, codes.T, strict=True)])

    def _keep_out_of_bag(self, found: FloatArray, places: Any, n: int | None = None) -> None:
        """Keep predictions at their places among the n rows that were given; NaN at the others."""
        kept: FloatArray = np.full((n or len(found), *found.shape[1:]), np.nan)
        kept[places] = found
        setattr(self, self._out_of_bag_name, kept)

    def _restore(self, rows: Rows) -> None:
        assert rows.given is not None
        if hasattr(self, self._out_of_bag_name):
            self._keep_out_of_bag(getattr(self, self._out_of_bag_name), rows.kept, len(rows.given))


class WarmStart(Estimator):
    """A model of many parts that can be fitted again with more of them: `warm_start`."""

    _earlier: dict[str, Any] | None

    def _forget(self) -> None:
        kept = dict(vars(self)) if self.warm_start and self._n_parts else None
        super()._forget()
        self._earlier = kept

    @property
    def _n_parts(self) -> int:
        """How many parts are fitted; 0 before a fit."""
        return len(vars(self).get("_seeds", ()))

    def _begin(self) -> tuple[dict[str, Any] | None, list[int]]:
        """Return what an earlier fit left, and the seeds of all parts."""
        earlier = self.__dict__.pop("_earlier", None)
        found = seeds_of(self.random_state, self.n_estimators)
        if earlier is None:
            return None, found
        old = earlier["_seeds"]
        if self.n_estimators < len(old):
            raise ParameterError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {len(old)} of "
                "the earlier fit when warm_start=True."
            )
        if self.n_estimators == len(old):
            warn_caller(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                DataWarning,
            )
        return earlier, [*old, *found[len(old) :]]
