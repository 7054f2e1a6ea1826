"""What the ways to combine models share: any model as a base, and inputs that pass as they came."""

from typing import Any, ClassVar

from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from bottega.core.errors import ParameterError
from bottega.core.estimator import Estimator
from bottega.core.frames import is_frame
from bottega.core.rows import Rows
from bottega.core.typing import Array
from bottega.ensemble._combination.models import named_models
from bottega.ensemble._resampling.samples import OrderedRows
from bottega.tree._grow.column_reader import read_response


class Combination(Estimator):
    """A model made of other models; the inputs are theirs to judge, so they pass as they came."""

    _own: ClassVar[
        tuple[Any, ...]
    ] = ()  # the models in use when no `estimator` or `estimators` are given

    def _named(self) -> list[tuple[str, Any]]:
        """Return the base models, not fitted, with their names."""
        given = getattr(self, "estimators", None)
        if getattr(self, "estimator", None) is not None:
            given = [self.estimator]
        return named_models(self._own if given is None else given)

    def _bases(self) -> list[Any]:
        return [model for _, model in self._named()]

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        classifier = is_classifier(self)
        for base in self._bases():
            if is_classifier(base) != classifier:
                kind = "a classifier" if classifier else "a regressor"
                raise ParameterError(
                    f"{type(self).__name__} needs {kind} as its base; got {type(base).__name__}."
                )
        if not is_frame(X):
            return super()._check_rows(X, y)
        y = read_response(self, y)
        validate_data(self, X, skip_check_array=True)
        check_consistent_length(X, y)
        return X, y

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        return super()._check_new(X)

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        return super()._input_options(new) | {"dtype": None}

    def _prepare(self, rows: Rows) -> Any:
        return OrderedRows.of(rows, self._responses(rows))

    def _responses(self, rows: Rows) -> Array:
        """Return the responses as the bases take them: numbers, or class labels."""
        return self.classes_[rows.y] if is_classifier(self) else rows.y

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # A pipeline speaks for its first step, so what it is given is judged there.
        firsts = [base[0] if isinstance(base, Pipeline) else base for base in self._bases()]
        for name in ("allow_nan", "string", "categorical"):
            allowed = all(
                getattr(get_tags(each).input_tags, name) for each in (*firsts, *self._bases())
            )
            setattr(tags.input_tags, name, allowed)
        return tags
