"""Reading rows for trees: numbers, categories as codes, missing values as they are."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from bottega.core.typing import Array
from bottega.tree._grow.column_reader import ColumnReader
from bottega.tree._grow.columns import Columns


def read_columns(estimator: Any, X: Any, y: Any) -> tuple[Columns, Array]:
    """Return inputs and responses, and leave on the estimator what reads new inputs."""
    # The response first: its check forgets the names of the columns.
    y = validate_data(estimator, X="no_validation", y=y, y_numeric=is_regressor(estimator))
    estimator.columns_in_ = ColumnReader(estimator.categorical)
    columns = estimator.columns_in_.fit(estimator, X)
    check_consistent_length(columns.X, y)
    if is_classifier(estimator):
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        return columns, y
    return columns, np.asarray(y, dtype=np.float64)
