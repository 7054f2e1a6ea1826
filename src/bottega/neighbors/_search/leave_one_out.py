"""A path judged by leaving each row out, for estimators that keep their rows."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core import progress
from bottega.core.errors import InputError
from bottega.core.estimator import Unweighted
from bottega.core.judge import LossSums, row_losses
from bottega.core.losses import Loss, get_loss
from bottega.core.path import Path, along
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray, IntArray


class JudgedPart(NamedTuple):
    """What all settings, simplest first, predict for some of their own rows."""

    rows: IntArray
    fitted: Array
    held_out: Iterable[tuple[Any, Array]]  # parts of the rows, and what is predicted without each
    own_weight: FloatArray  # of the rows in their own predictions, summed


class LeaveOneOutPath(Unweighted, Tuned):
    """Keeps its rows, and judges every value of its knob by predicting each without itself."""

    @abstractmethod
    def _grid(self, work: Any, values: Any) -> Array:
        """Return the values of the knob for a path, simplest first."""

    @abstractmethod
    def _parts(self, work: Any, grid: Array, loss: Loss | None) -> Iterator[JudgedPart]:
        """Yield predictions for all training rows, part by part."""

    def _criteria(self, train_error: FloatArray, df: FloatArray, n: int) -> dict[str, Any]:
        """Return criteria and scale of the path from training errors (settings, responses)."""
        return {}

    def _path(self, work: Any, values: Any, loss: Loss | None) -> Path:
        n = len(work.y)
        if n < 2:
            raise InputError(
                f"Choosing {self.knob} needs at least two rows to leave one out; got n_samples = "
                f"{n}."
            )
        grid, own = self._grid(work, values), get_loss(None, self.card.task)
        honest, fitted, df = LossSums(), LossSums(), np.zeros(len(grid))
        for part in self._parts(work, grid, loss):
            y = work.y[part.rows]
            losses = own.of_rows(y if y.ndim == 1 else y[:, None], part.fitted)
            fitted.update(losses.reshape(len(y), -1))
            if loss is not None:
                for some, predicted in part.held_out:
                    honest.update(row_losses(loss, y[some], predicted))
            df += part.own_weight
            progress.report("rows", fitted.count, n)
        error, error_se = (None, None) if loss is None else honest.mean_and_se()
        train_error = fitted.mean.reshape(len(grid), -1)
        return Path(
            along(self.knob, grid),
            df=df,
            train_error=train_error.mean(axis=1),
            error=error,
            error_se=error_se,
            estimate=None if loss is None else "loo",
            loss=(loss or own).title,
            **self._criteria(train_error, df, n),
        )

    def _bare_path(self, work: Any, values: Any) -> Path:
        # Training errors would take as long a search as all folds together.
        grid = self._grid(work, values)
        return Path(
            along(self.knob, grid),
            complexity=len(work.y) / grid,
            train_error=np.full(len(grid), np.nan),
            loss=get_loss(None, self.card.task).title,
        )

    def _path_df(self) -> float | None:
        """Return the degrees of freedom of the setting in use, where a path was walked."""
        check_is_fitted(self)
        path: Path | None = getattr(self, "path_", None)
        if path is None or path.df is None:
            return None
        return float(path.df[path.values == getattr(self, f"{self.knob}_")][0])
