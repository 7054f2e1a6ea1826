"""What the ways to combine models share: any model as a base, and inputs that pass as they came."""

from typing import Any, ClassVar

from sklearn.base import is_classifier

from bottega.core.rows import Rows
from bottega.core.typing import Array
from bottega.core.wrapping import Wrapping
from bottega.ensemble._combination.models import DROP, named_models
from bottega.ensemble._resampling.samples import OrderedRows


class Combination(Wrapping):
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

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _prepare(self, rows: Rows) -> Any:
        return OrderedRows.of(rows, self._responses(rows))

    def _responses(self, rows: Rows) -> Array:
        """Return the responses as the bases take them: numbers, or class labels."""
        return self.classes_[rows.y] if is_classifier(self) else rows.y


def _is_dropped(model: Any) -> bool:
    return isinstance(model, str) and model == DROP
