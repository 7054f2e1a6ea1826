"""What every estimator shares: one fit, one path, one way to read rows.

``fit`` is the same for all: forget the earlier fit, check the parameters, read the rows,
`_prepare` what all settings share, `_choose` a setting (along the path, unless the knob is given),
and `_settle` it. A fit in chunks differs only in how the prepared work is made. A method writes the
hooks; nobody writes another ``fit``.
"""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import compute_sample_weight, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core import progress
from bottega.core.cards import Card
from bottega.core.documents import with_inputs
from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import backend_of, is_frame, make_frame
from bottega.core.parallel import at_most
from bottega.core.params import Parameter, check_params
from bottega.core.parts import RowSource, refuse_source
from bottega.core.rows import Rows, check_weight
from bottega.core.validate import (
    check_response,
    naming_texts,
    refuse_doubled_names,
    refuse_masked,
    refuse_missing_labels,
    refuse_paths,
    refuse_texts,
)
from bottega.core.words import unknown_word

__all__ = ["AS_IT_IS", "Estimator", "Unweighted", "Walk"]

# What scikit-learn keeps on an instance between fits: routing requests, output formats, and the
# callbacks of the pipeline or search that the fit is part of.
_KEPT = (
    "_metadata_request",
    "_sklearn_output_config",
    "_skl_callbacks",
    "_parent_callback_ctx",
    "_callback_fit_ctx",
)


@dataclass(frozen=True)
class Walk:
    """How a path is walked and picked from, where it is not as the estimator would do it itself.

    `values` of the knob; the folds `cv` that hold rows out, instead of the method's own estimate;
    the `loss` that rows are judged by; the rule `select` that picks, instead of the estimator's
    own; and whether the path may be `bare`, without training errors and criteria.
    """

    values: Any = None
    cv: Any = None
    loss: Any = None
    select: str | None = None
    bare: bool = False


AS_IT_IS = Walk()


class Estimator(BaseEstimator):
    """A scikit-learn estimator with declared parameters and a card."""

    params: ClassVar[Mapping[str, Parameter]] = {}
    card: ClassVar[Card]

    _least_rows: ClassVar[int] = 1
    classes_: Any  # of a classifier

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:
            cls.__init__ = _naming_words(cls.__init__)  # type: ignore[method-assign]
        if "card" in cls.__dict__:
            cls.card = replace(cls.card, estimator=cls)
            cls.__doc__ = with_inputs(cls.__doc__, getattr(cls, "in_chunks", ""))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p), or a source
            Inputs; or a source (`bottega.scale.source`), which has the responses and weights too.
        y : array-like of shape (n,), or (n, q) where the method takes several responses
            Responses, or class labels.
        sample_weight : array-like of shape (n,), optional
            Row weights; rows of weight zero count for nothing.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, walk: Walk = AS_IT_IS) -> Self:
        if isinstance(X, RowSource):
            if y is not None or sample_weight is not None or walk is not AS_IT_IS:
                raise InputError(
                    "A source has its own responses and weights: name their columns when it is "
                    "made, and give fit the source alone."
                )
            return self._fit_source(X)
        self._forget()
        self._check_params()
        try:
            with at_most(getattr(self, "n_jobs", None)), self._told():
                rows = self._read(X, y, sample_weight)
                work = self._prepare(rows)
                self._finish(work, rows, self._choose(work, rows, walk))
        except BaseException:
            self._forget()  # a model that could not be fitted is not fitted
            raise
        return self

    def _fit_source(self, source: RowSource) -> Self:
        """Fit to rows in chunks, where the method can."""
        raise InputError(
            f"{type(self).__name__} needs all rows in memory, and a source gives them in chunks: "
            "draw a sample of them (source.sample), or use a method that fits chunks "
            "(bottega.cards(chunks=True))."
        )

    def _told(self) -> AbstractContextManager[None]:
        """Write the progress of a fit that is `verbose`."""
        wanted = bool(getattr(self, "verbose", False))
        return progress.written(type(self).__name__) if wanted else nullcontext()

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of parts as ``part__parameter``; return the estimator."""
        known = self.get_params(deep=False)
        for name in params:
            if name.partition("__")[0] not in known and name not in self.get_params():
                raise ParameterError(unknown_word(type(self).__name__, name, known))
        super().set_params(**params)
        return self

    @available_if(lambda self: hasattr(self, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of `predict_proba`, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.

        Returns
        -------
        ndarray of shape (m, n_classes), or a list of them with several responses
            Logarithms; minus infinity where the probability is zero.
        """
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(one) for one in found] if isinstance(found, list) else np.log(found)

    def _forget(self) -> None:
        """Delete whatever an earlier fit left."""
        stay = {*self.get_params(deep=False), *_KEPT}
        for name in [name for name in vars(self) if name not in stay]:
            delattr(self, name)

    def _check_params(self) -> None:
        check_params(self)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Return the rows that count, checked; classes as codes."""
        refuse_paths(X)
        refuse_masked(X=X, y=y, sample_weight=sample_weight)
        refuse_doubled_names(X)
        self._remember_frame(X)
        X, y = self._check_rows(X, y)
        if is_regressor(self) and y is not None:
            check_response(y)
        n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        rows = Rows.of(X, y, self._class_weighted(y, check_weight(sample_weight, n)))
        if len(rows) < self._least_rows:
            raise InputError(
                f"{type(self).__name__} requires at least {self._least_rows} rows with positive "
                f"weight; found {len(rows)}."
            )
        if is_classifier(self):
            rows = replace(rows, y=self._read_classes(rows.y))
        return rows

    def _read_classes(self, y: Any) -> Any:
        """Set ``classes_`` and return the labels as codes, a column of them per response."""
        if y.ndim == 1:
            self.classes_, codes = np.unique(y, return_inverse=True)
            return codes
        pairs = [np.unique(column, return_inverse=True) for column in y.T]
        self.classes_ = [classes for classes, _ in pairs]
        return np.column_stack([codes for _, codes in pairs])

    def _class_weighted(self, y: Any, weight: Any) -> Any:
        """Return the row weights times those of the rows' classes, if `class_weight` is given."""
        by_class = getattr(self, "class_weight", None)
        if by_class is None or not is_classifier(self):
            return weight
        try:
            factor = compute_sample_weight(by_class, y)
        except ValueError as error:
            raise ParameterError(f"{type(self).__name__}: class_weight: {error}") from error
        return check_weight(factor if weight is None else factor * weight, len(factor))

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return inputs and responses as arrays that the method can take."""
        tags = get_tags(self)
        if y is None and not tags.target_tags.required:
            with naming_texts(X, type(self).__name__):
                X = validate_data(self, X, **self._input_options())
            return self._check_width(X), None
        if is_classifier(self):
            refuse_missing_labels(y)
        elif is_regressor(self):
            refuse_texts(y)
        with naming_texts(X):
            X, y = validate_data(
                self,
                X,
                y,
                multi_output=tags.target_tags.multi_output,
                y_numeric=is_regressor(self),
                **self._input_options(),
            )
        if is_classifier(self):
            check_classification_targets(y)
        elif is_regressor(self):
            y = np.asarray(y, dtype=np.float64)
        return self._check_width(X), y

    def _check_new(self, X: Any) -> Any:
        """Return the inputs of rows to predict, checked; refused before a fit."""
        check_is_fitted(self)
        refuse_source(X)
        refuse_masked(X=X)
        refuse_doubled_names(X)
        without_y = None if get_tags(self).target_tags.required else type(self).__name__
        with naming_texts(X, without_y):
            X = validate_data(self, X, reset=False, **self._input_options(new=True))
        return self._check_width(X)

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        tags = get_tags(self).input_tags
        return {
            "dtype": np.float64,
            "accept_sparse": ("csr", "csc") if new and tags.sparse else tags.sparse and "csc",
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
            "ensure_min_samples": 1 if new else self._least_rows,
        }

    def _check_width(self, X: Any) -> Any:
        """Return X, or refuse it where it has more columns than the method takes."""
        most = self.card.n_inputs
        if most is not None and X.shape[1] > most:
            inputs = "one input" if most == 1 else f"at most {most} inputs"
            raise InputError(
                f"{type(self).__name__} takes {inputs}; X has {X.shape[1]} columns. Give it "
                f"{'one column' if most == 1 else 'fewer columns'}, or use a method for several."
            )
        return X

    def _prepare(self, rows: Rows) -> Any:
        """Return what all settings share: a decomposition, a Gram matrix, bins, distances."""
        return rows

    def _choose(self, work: Any, rows: Rows | None, walk: Walk) -> dict[str, Any]:
        """Return the setting to settle on; a method without a knob has none."""
        return {}

    @abstractmethod
    def _settle(self, work: Any, setting: Mapping[str, Any]) -> None:
        """Set the learned attributes of one setting, from the prepared work alone."""

    def _finish(self, work: Any, rows: Rows | None, setting: Mapping[str, Any]) -> None:
        self._settle(work, setting)
        if rows is not None and rows.given is not None:
            self._restore(rows)

    def _restore(self, rows: Rows) -> None:
        """Extend what was learned per row to the rows of weight zero; most methods keep none."""

    def _remember_frame(self, X: Any) -> None:
        """Keep which frame library the data came in: results are shown in the same."""
        self._frame = backend_of(X) if is_frame(X) else None

    def _make_frame(self, columns: Mapping[str, Any]) -> Any:
        return make_frame(columns, like=self._frame)

    def _unnamed(self, X: Any) -> Any:
        """Return a copy that takes inputs read before as they are, whatever they were named."""
        model = copy(self)
        model.__dict__.pop("feature_names_in_", None)
        if hasattr(model, "n_features_in_") and getattr(X, "ndim", 0) == 2:
            model.n_features_in_ = int(X.shape[1])
        return model


def _naming_words(init: Any) -> Any:
    """Return the constructor, which says the right word where it is given one it does not know."""
    known = list(signature(init).parameters)[1:]

    @wraps(init)
    def construct(self: Any, *args: Any, **given: Any) -> None:
        for name in given:
            if name not in known:
                raise ParameterError(unknown_word(type(self).__name__, name, known))
        init(self, *args, **given)

    return construct


class Unweighted(Estimator):
    """An estimator that has no meaning for row weights."""

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,), or (n, q) where the method takes several responses
            Responses, or class labels.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, None)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        if sample_weight is not None:
            raise InputError(
                f"{type(self).__name__} takes no sample_weight: leave it out, or repeat rows."
            )
        return super()._read(X, y, None)
