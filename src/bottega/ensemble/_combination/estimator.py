"""What the ways to combine models share: any model as a base, and inputs that pass as they came."""

from typing import Any, ClassVar

from sklearn.base import RegressorMixin, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from bottega.core.errors import ParameterError
from bottega.core.estimator import Estimator
from bottega.core.frames import is_frame
from bottega.core.rows import Rows
from bottega.core.typing import Array
from bottega.core.validate import refuse_doubled_names, refuse_masked
from bottega.ensemble._combination.models import DROP, named_models
from bottega.ensemble._resampling.samples import OrderedRows
from bottega.tree._grow.column_reader import read_response


class Combination(Estimator):
    """A model made of other models; the inputs are theirs to judge, so they pass as they came."""

    _own: ClassVar[tuple[Any, ...]] = ()  # used when no `estimator` or `estimators` are given

    def _named(self) -> list[tuple[str, Any]]:
        """Return the base models, not fitted, with their names; dropped ones are left out."""
        given = getattr(self, "estimators", None)
        if getattr(self, "estimator", None) is not None:
            given = [self.estimator]
        named = named_models(self._own if given is None else given)
        return [(name, model) for name, model in named if not _is_dropped(model)]

    def _bases(self) -> list[Any]:
        return [model for _, model in self._named()]

    def _check_kind(self) -> None:
        """Refuse a base for another task."""
        classifier = is_classifier(self)
        for base in self._bases():
            if is_regressor(base) if classifier else is_classifier(base):
                kind = "a classifier" if classifier else "a regressor"
                raise ParameterError(
                    f"{type(self).__name__} needs {kind} as its base; got {type(base).__name__}."
                )

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        self._check_kind()
        if not is_frame(X):
            X, y = super()._check_rows(X, y)
            return X, y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        y = read_response(self, y)
        validate_data(self, X, skip_check_array=True)
        check_consistent_length(X, y)
        return X, y

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        refuse_masked(X=X)
        refuse_doubled_names(X)
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        return super()._check_new(X)

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        # What is missing, a text, or sparse is for the models to judge.
        passed = {"dtype": None, "ensure_all_finite": False, "accept_sparse": ("csr", "csc")}
        return super()._input_options(new) | passed | {"allow_nd": True}

    def _prepare(self, rows: Rows) -> Any:
        return OrderedRows.of(rows, self._responses(rows))

    def _responses(self, rows: Rows) -> Array:
        """Return the responses as the bases take them: numbers, or class labels."""
        return self.classes_[rows.y] if is_classifier(self) else rows.y

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            bases = self._bases()
        except (TypeError, ValueError):  # bases that are refused in `fit`
            return tags
        # A pipeline speaks for its first step, so what it is given is judged there.
        firsts = [base[0] if isinstance(base, Pipeline) else base for base in bases]
        for name in ("allow_nan", "string", "categorical", "sparse"):
            allowed = all(getattr(get_tags(each).input_tags, name) for each in (*firsts, *bases))
            setattr(tags.input_tags, name, allowed)
        tags.target_tags.multi_output = isinstance(self, RegressorMixin) and all(
            get_tags(base).target_tags.multi_output for base in bases
        )
        return tags


def _is_dropped(model: Any) -> bool:
    return isinstance(model, str) and model == DROP
