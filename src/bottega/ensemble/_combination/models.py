"""Estimators as parameters, and as parts that are asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from bottega.core.classes import spread
from bottega.core.errors import ParameterError
from bottega.core.estimator import AS_IT_IS, Estimator, Walk
from bottega.core.frames import take_rows
from bottega.core.losses import Loss
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.core.wrapping import Model, fit_weighted, is_model
from bottega.ensemble._resampling.samples import OrderedRows

DROP = "drop"
_ROUTED = ("_routed", "_weight_given")  # what `fit` was given, until it is done


@dataclass(frozen=True)
class Models(Model):
    """A list of estimators or of pairs (name, estimator), or None for the method's own.

    The word ``"drop"`` in place of an estimator leaves it out.
    """

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is a list of models, with or without names."""
        if value is None:
            return True
        if not isinstance(value, list | tuple) or not value:
            return False
        return all(is_model(each) or _is_pair(each) for each in value)

    def describe(self) -> str:
        """Return the words for a list of estimators."""
        return (
            "None or a non-empty list of estimators, each with a name (name, estimator) or "
            "without, or with 'drop' for one that is left out"
        )


def _is_pair(value: Any) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[0], str)
    return pair and (is_model(value[1]) or (isinstance(value[1], str) and value[1] == DROP))


def named_models(given: Any) -> list[tuple[str, Any]]:
    """Return pairs of name and model; a name that is taken gets a number."""
    named: list[tuple[str, Any]] = []
    for each in given:
        own_name = getattr(getattr(each, "card", None), "method", type(each).__name__)
        name, model = (own_name, each) if is_model(each) else each
        wanted, count = name, 2
        while name in dict(named):
            name, count = f"{wanted} {count}", count + 1
        named.append((name, model))
    return named


class NamedParts(Estimator):
    """An estimator whose `estimators` can be set by their names: ``name`` and ``name__parameter``.

    The word ``"drop"`` in place of an estimator leaves it out. With scikit-learn's metadata routing
    switched on, weights go to the parts that request them.
    """

    _routed: Mapping[str, Any] | None = None

    def _fit(self, X: Any, y: Any, sample_weight: Any, walk: Walk = AS_IT_IS) -> Self:
        if sample_weight is None or not get_config()["enable_metadata_routing"]:
            return super()._fit(X, y, sample_weight, walk)
        self._check_params()
        self._routed = process_routing(self, "fit", sample_weight=sample_weight)
        self._weight_given = sample_weight
        return super()._fit(X, y, None, walk)

    def _forget(self) -> None:
        routed = {name: vars(self)[name] for name in _ROUTED if name in vars(self)}
        super()._forget()
        self.__dict__.update(routed)

    def _finish(self, work: Any, rows: Rows | None, setting: Mapping[str, Any]) -> None:
        super()._finish(work, rows, setting)
        for name in _ROUTED:
            self.__dict__.pop(name, None)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which estimator is given what, for scikit-learn's metadata routing."""
        router = MetadataRouter(owner=self)
        for name, part in self._all_parts():
            if not isinstance(part, str):
                mapping = MethodMapping().add(caller="fit", callee="fit")
                router.add(**{name: part}, method_mapping=mapping)
        return router

    def _fit_part(self, name: str, base: Any, work: OrderedRows, rows: Any = None) -> Any:
        """Return a copy of a base fitted to some of the rows, with what is routed to it."""
        X, y = work.X, work.y
        if rows is not None:
            X, y = take_rows(X, rows), y[rows]
        if self._routed is None:
            weight = work.weight if rows is None or work.weight is None else work.weight[rows]
            return fit_weighted(clone(base), X, y, weight)
        asked = dict(self._routed[name].fit)
        model = clone(base)
        model.fit(X, y, **{key: work.of_rows(value, rows) for key, value in asked.items()})
        return model

    def _all_parts(self) -> list[tuple[str, Any]]:
        given = self.estimators
        return named_models(given) if given is not None and Models().accepts(given) else []

    @property
    def named_estimators(self) -> Bunch:
        """The estimators that were given, by name."""
        return Bunch(**dict(self._all_parts()))

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted estimators by name; those left out are ``"drop"``."""
        check_is_fitted(self)
        fitted = iter(self.estimators_)
        parts = self._all_parts() or [(name, None) for name in self.names_]
        return Bunch(**{n: part if isinstance(part, str) else next(fitted) for n, part in parts})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep` also the estimators by name, and their parameters."""
        found = super().get_params(deep=False)
        if not deep:
            return found
        parts = dict(self._all_parts())
        final = found.get("final_estimator")
        nested = parts if final is None else {**parts, "final_estimator": final}
        for name, part in nested.items():
            if hasattr(part, "get_params"):
                found |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return parts | found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of parts as ``name__parameter``; return the estimator."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        parts = dict(self._all_parts())
        own = set(super().get_params(deep=False))
        replaced = {name: params.pop(name) for name in parts if name in params and name not in own}
        if replaced:
            self.estimators = list((parts | replaced).items())
        return super().set_params(**params)

    def _check_params(self) -> None:
        if not Models().accepts(self.estimators):
            raise ParameterError(
                f"{type(self).__name__}: Invalid 'estimators' attribute, 'estimators' should be a "
                "non-empty list of estimators, each with a name (name, estimator) or without, or "
                f"with 'drop' for one that is left out; got estimators={self.estimators!r}."
            )
        super()._check_params()
        if self.estimators is None:
            return
        own = set(super().get_params(deep=False))
        for name, _ in named_models(self.estimators):
            if "__" in name or name in own:
                reason = "contains '__'" if "__" in name else "is the name of a parameter"
                raise ParameterError(
                    f"{type(self).__name__}: the name {name!r} of an estimator {reason}; give "
                    "another."
                )
        if all(isinstance(part, str) for _, part in named_models(self.estimators)):
            raise ParameterError(
                f"{type(self).__name__}: All estimators are dropped. At least one is required."
            )


def class_shares(model: Any, X: Any, classes: Array, *, votes: bool = False) -> FloatArray:
    """Return what a fitted classifier gives to each of `classes`, which may be more than its own.

    Its probabilities; with `votes`, or where it has none, a one for the class it predicts.
    """
    if votes or not hasattr(model, "predict_proba"):
        shares = np.zeros((int(X.shape[0]), len(classes)))
        shares[np.arange(len(shares)), np.searchsorted(classes, model.predict(X))] = 1
        return shares
    return spread(model.predict_proba(X), model.classes_, classes)


def losses_of_rows(loss: Loss, y: Array, predicted: Array) -> FloatArray:
    """Return the loss of each row; several responses count alike."""
    losses = loss.of_rows(y, predicted)
    return losses if losses.ndim == 1 else losses.mean(axis=1)
