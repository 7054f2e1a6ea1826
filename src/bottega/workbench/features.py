"""The columns that a model was fitted on, out of a table that may have more, in any order."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import is_frame, make_frame
from bottega.core.stored import stored
from bottega.data.prepare import without_slips

__all__ = ["ChosenColumns", "chosen_columns", "inputs_of", "named_columns"]


def chosen_columns(data: Any, columns: list[str] | tuple[str, ...]) -> Any:
    """Return the given columns of a frame, in this order; one that is missing is refused."""
    frame = nw.from_native(data, eager_only=True)
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise InputError(
            f"The column {absent[0]!r} that the model was fitted on is missing from the new data "
            f"({len(absent)} of {len(columns)} are); add it."
            + did_you_mean(absent[0], [name for name in frame.columns if name not in columns])
        )
    return frame.select(list(columns)).to_native()


def inputs_of(
    model: Any,
    data: Any,
    columns: list[str] | tuple[str, ...],
    day_first: dict[str, bool],
    *,
    warn: bool = True,
) -> Any:
    """Return the columns of new rows that a procedure takes; slips of the pen are missing values.

    An encoder that refuses labels it has not met refuses words among numbers, too. `day_first`
    has the columns with dates like 31/1/2026. With `warn` slips are told of.
    """
    frame = chosen_columns(data, columns)
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    if getattr(first, "handle_unknown", "") == "error":
        return frame
    written = getattr(first, "decimal", None) or {}  # as people write numbers: read by the encoder
    kinds = getattr(first, "kinds", None) or {}
    kinds = {name: kind for name, kind in kinds.items() if name not in written}
    return without_slips(frame, kinds, day_first, warn=warn)


def named_columns(data: Any, *names: list[str] | tuple[str, ...]) -> Any:
    """Return an array as a frame with the first list of names that is as long as it is wide."""
    array = np.asarray(data)
    if array.ndim != 2:
        raise InputError(f"X must have rows and columns; got shape {array.shape}.")
    for each in names:
        if len(each) == array.shape[1]:
            return make_frame({name: array[:, j] for j, name in enumerate(each)})
    widths = " or ".join(str(len(each)) for each in names)
    raise InputError(f"X has {array.shape[1]} columns; the model takes {widths}.")


@stored
class ChosenColumns(TransformerMixin, BaseEstimator):
    """Select the columns that a model was fitted on.

    Parameters
    ----------
    columns : list of str
        Their names, in the order of the fit.
    text_columns : list of str
        Those whose values are labels, whatever they look like: a file should be read so.
    kinds : dict of str to str
        What they hold, where that is known.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"id": [7, 8], "b": [1.0, 2.0], "a": [3.0, 4.0]})
    >>> ChosenColumns(["a", "b"]).transform(frame).columns.tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        columns: list[str],
        text_columns: list[str] | None = None,
        kinds: dict[str, str] | None = None,
    ) -> None:
        self.columns = columns
        self.text_columns = text_columns
        self.kinds = kinds

    def fit(self, X: Any, y: Any = None) -> "ChosenColumns":
        """Do nothing: the columns are given."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> Any:
        """Return the columns of a frame; an array passes as it is."""
        return chosen_columns(X, self.columns) if is_frame(X) else X

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns."""
        return np.array(self.columns, dtype=object)
