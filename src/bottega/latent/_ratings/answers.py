"""What fitted factors answer: predictions, recommendations, similar items, factors of new users."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import DataWarning, InputError, ParameterError, did_you_mean, warn_caller
from bottega.core.estimator import Unweighted
from bottega.core.frames import is_frame
from bottega.core.params import Integer
from bottega.core.rows import split_rows
from bottega.core.tables import Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.latent._ratings.observed import (
    Ratings,
    as_labels,
    as_values,
    codes_of,
    columns_of,
    ratings_of_matrix,
    ratings_of_triples,
    some_labels,
)
from bottega.latent._ratings.problem import FactorProblem, fitted_pairs
from bottega.latent._ratings.summary import summary_of
from bottega.plot import error_grid_chart, ratings_chart

__all__ = ["FactorAnswers"]

_SCORES = 2**22  # of pairs at a time
_SHOWN = 12  # users and items in a picture


def _takes_pairs(model: Any) -> bool:
    if model.columns is None:
        raise AttributeError(
            f"This {type(model).__name__} is of a matrix (columns=None): use predict_pairs(users, "
            "items), or complete(X) for whole rows."
        )
    return True


class FactorAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Unweighted):
    """Answers of a fitted `MatrixFactorization`, and how it reads ratings."""

    columns: Any
    scale: Any
    clip: bool
    biases: bool
    implicit: bool
    confidence: float
    alpha_biases: float

    users_: Array
    items_: Array
    user_factors_: FloatArray
    item_factors_: FloatArray
    user_biases_: FloatArray
    item_biases_: FloatArray
    mean_: float
    alpha_users_: float
    _unit: float
    _seen_start: IntArray
    _seen_items: IntArray
    _seen_values: FloatArray
    rmse_: float

    @property
    def components_(self) -> FloatArray:
        """Factors of the items, one row per component (scikit-learn's name)."""
        return self.item_factors_.T

    @property
    def _n_features_out(self) -> int:
        return int(self.item_factors_.shape[1])

    def _of_matrix(self, X: Any, table: Any) -> Ratings:
        """Return the entries of a checked matrix, with the labels of what was given."""
        n, m = table.shape
        index = nw.maybe_get_index(nw.from_native(X, eager_only=True)) if is_frame(X) else None
        users = np.arange(n) if index is None else as_labels(index.to_numpy(), "users")
        names = getattr(self, "feature_names_in_", None)
        items = np.arange(m) if names is None else np.asarray(names).astype(np.str_)
        if len(np.unique(users)) < n:
            raise InputError(
                "Some users of X (its index) occur more than once; give every user one row."
            )
        return self._checked(ratings_of_matrix(table, users, items))

    def _of_triples(self, X: Any, items: Array | None = None) -> Ratings:
        """Return the entries of a list of ratings; those of items not known are left out."""
        found = columns_of(X, self.columns)
        user, item = as_labels(found[0], "users"), as_labels(found[1], "items")
        value = as_values(found[2]) if len(found) == 3 else np.ones(len(user))
        if not len(user):
            raise InputError("X has no ratings; found 0 sample(s) while 1 is required.")
        if items is not None:
            known = codes_of(item, items) >= 0
            if not np.all(known):
                warn_caller(
                    f"{np.count_nonzero(~known):,} of {len(known):,} ratings are of items that the "
                    "model does not know, and count for nothing; fit it again to learn them.",
                    DataWarning,
                )
            kept = ratings_of_triples(user, np.where(known, item, items[0]), value, items)
            return self._checked(kept.entries(np.flatnonzero(known)))
        return self._checked(ratings_of_triples(user, item, value))

    def _checked(self, ratings: Ratings) -> Ratings:
        if self.scale is not None:
            ratings.refuse_outside(*self.scale)
        if self.columns is not None:
            ratings = ratings.joined(counts=self.implicit)
        return ratings.counted() if self.implicit else ratings

    def _problem(self, ratings: Ratings, center: Any = None) -> FactorProblem:
        confidence = float(self.confidence) if self.implicit else None
        return FactorProblem.of(ratings, biased=self.biases, confidence=confidence, center=center)

    def _new_ratings(self, X: Any) -> Ratings:
        check_is_fitted(self)
        if self.columns is not None:
            return self._of_triples(X, self.items_)
        return self._of_matrix(X, self._check_new(X))

    def _fold_in(self, ratings: Ratings) -> tuple[FloatArray, FloatArray]:
        """Return factors and biases of users, given those of the items."""
        problem = self._problem(ratings, (self.mean_, self._unit))
        root, size = np.sqrt(self._unit), self.item_factors_.shape[1]
        other = self.item_factors_ / root
        penalty = np.full(size, self.alpha_users_ / self._unit)
        if problem.biased:
            other = np.column_stack([other, self.item_biases_ / self._unit])
            penalty = np.append(penalty, float(self.alpha_biases))
        rows = np.zeros((len(ratings), other.shape[1]))
        problem.solve(problem.users, rows, other, penalty)
        biases = self._unit * rows[:, -1] if problem.biased else np.zeros(len(rows))
        return root * rows[:, :size], biases

    def transform(self, X: Any) -> FloatArray:
        """Return the factors of users, who may be new, given those of the items (fold-in).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            Ratings in the form that `fit` took: rows of a matrix with the same items, or a list of
            ratings, whose users are then sorted.

        Returns
        -------
        ndarray of shape (n_users, n_components)
            For the ratings of the fit these are `user_factors_`.
        """
        return self._fold_in(self._new_ratings(X))[0]

    def complete(self, X: Any) -> FloatArray:
        """Return predictions of all items for users, who may be new.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_users, n_items)
            Predicted ratings, of known entries too. With ``implicit`` a prediction is a preference,
            near 1 for what a user is likely to choose.
        """
        factors, biases = self._fold_in(self._new_ratings(X))
        return self._clipped(self._scores(factors, biases))

    @available_if(_takes_pairs)
    def predict(self, X: Any) -> FloatArray:
        """Return the predicted rating of each pair; for a model of a list of ratings (`columns`).

        Parameters
        ----------
        X : data frame or array-like
            The pairs: a frame with the columns of users and items, a table that has them at the
            same positions, or a table of two columns, user and item.

        Returns
        -------
        ndarray of shape (n,)
            As of `predict_pairs`.
        """
        check_is_fitted(self)
        places = self.columns[:2]
        if not is_frame(X) and np.ndim(X) == 2 and np.shape(X)[1] == 2:
            places = (0, 1)
        user, item = columns_of(X, places)
        return self.predict_pairs(user, item)

    def predict_pairs(self, users: Any, items: Any) -> FloatArray:
        """Return the predicted rating of each pair of a user and an item, given by their labels.

        Parameters
        ----------
        users, items : array-like of shape (n,)
            Labels, as in `users_` and `items_`. Those that are not known are predicted by biases
            and the mean, and a `DataWarning` says how many they are.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        given = {"users": users, "items": items}
        labels = [as_labels(np.atleast_1d(each), name) for name, each in given.items()]
        if labels[0].shape != labels[1].shape:
            raise InputError(
                f"There are {len(labels[0])} users and {len(labels[1])} items; give one of each "
                "per pair."
            )
        x, i = codes_of(labels[0], self.users_), codes_of(labels[1], self.items_)
        self._warn_new(x, i)
        user_factors, item_factors = self._with_unknown()
        found = fitted_pairs(user_factors, item_factors, x, i)
        found += np.append(self.user_biases_, 0.0)[x] + np.append(self.item_biases_, 0.0)[i]
        return self._clipped(found + self.mean_)

    def _with_unknown(self) -> tuple[FloatArray, FloatArray]:
        """Return the factors with a last row for users and items that are not known.

        It is zero, where biases are left; the average user or item, where there are none.
        """
        found = []
        for factors in (self.user_factors_, self.item_factors_):
            biased = self.biases and not self.implicit
            unknown = np.zeros(factors.shape[1]) if biased else factors.mean(axis=0)
            found.append(np.vstack([factors, unknown]))
        return found[0], found[1]

    def _warn_new(self, x: IntArray, i: IntArray) -> None:
        new = int(np.count_nonzero((x < 0) | (i < 0)))
        if new:
            left = "the average user or item" if self.implicit or not self.biases else "biases"
            warn_caller(
                f"{new:,} of {len(x):,} pairs have a user or an item that the model does not know "
                f"(cold start); they are predicted by {left} and the mean.",
                DataWarning,
            )

    def _scores(self, factors: FloatArray, biases: FloatArray) -> FloatArray:
        return self.mean_ + biases[:, None] + factors @ self.item_factors_.T + self.item_biases_

    def _clipped(self, predicted: FloatArray) -> FloatArray:
        return np.clip(predicted, *self.scale) if self.clip else predicted

    def recommend(self, users: Any = None, n: int = 10, *, exclude_seen: bool = True) -> Any:
        """Return the items with the highest predictions, user by user.

        Parameters
        ----------
        users : array-like, optional
            Labels; all of `users_` by default. A user who is not known gets what the biases (with
            ``implicit`` the average user) recommend.
        n : int
            Items per user; fewer where there are not so many left.
        exclude_seen : bool
            Whether to leave out the items that the user has rated.

        Returns
        -------
        data frame
            ``user``, ``rank`` from 1, ``item``, ``score`` (the prediction), and ``cold_start``:
            True for users who are not known, or had no ratings. Equal scores keep the order of
            `items_`.
        """
        check_is_fitted(self)
        Integer(1).check("recommend", "n", n)
        labels = self.users_ if users is None else some_labels(users, "users")
        x = codes_of(labels, self.users_)
        user_factors, _ = self._with_unknown()
        biases = np.append(self.user_biases_, 0.0)
        counts = np.append(np.diff(self._seen_start), 0)
        row, picked, score = [], [], []
        for rows in split_rows(len(x), max(1, _SCORES // len(self.items_))):
            scores = self._clipped(self._scores(user_factors[x[rows]], biases[x[rows]]))
            order_by = self._scores(user_factors[x[rows]], biases[x[rows]])
            for k, user in enumerate(x[rows].tolist()):
                if exclude_seen and user >= 0:
                    seen = self._seen_items[self._seen_start[user] : self._seen_start[user + 1]]
                    order_by[k, seen] = -np.inf
                best = _highest(order_by[k], n)
                picked.append(best)
                score.append(scores[k, best])
                row.append(np.full(len(best), rows.start + k))
        at, items = np.concatenate(row), np.concatenate(picked)
        return self._make_frame(
            {
                "user": labels[at],
                "rank": np.concatenate([np.arange(1, len(each) + 1) for each in picked]),
                "item": self.items_[items],
                "score": np.concatenate(score),
                "cold_start": counts[x[at]] == 0,
            }
        )

    def similar_items(self, item: Any, n: int = 10) -> Any:
        """Return the items whose factors point in the direction of those of `item`.

        Parameters
        ----------
        item : label
            One of `items_`.
        n : int
            How many.

        Returns
        -------
        data frame
            ``item`` and ``similarity``, the cosine of the angle between the factors; 0 for items
            without factors.
        """
        check_is_fitted(self)
        Integer(1).check("similar_items", "n", n)
        place = int(codes_of(as_labels(np.atleast_1d(item), "items"), self.items_)[0])
        if place < 0:
            near = did_you_mean(str(item), map(str, self.items_.tolist()))
            raise InputError(f"The model does not know the item {item!r}.{near}")
        length = np.linalg.norm(self.item_factors_, axis=1)
        product = self.item_factors_ @ self.item_factors_[place]
        scale = length * length[place]
        cosine = np.divide(product, scale, out=np.zeros(len(length)), where=scale > 0)
        cosine[place] = -np.inf
        best = _highest(cosine, n)
        return self._make_frame({"item": self.items_[best], "similarity": cosine[best]})

    def summary(self) -> Summary:
        """Return the components with the items at their ends, and what the fit found."""
        check_is_fitted(self)
        return summary_of(self)

    def plot(self, users: Any = None, items: Any = None) -> Any:
        """Draw observed ratings beside the predicted ones.

        Parameters
        ----------
        users, items : array-like, optional
            Labels to show; those with most ratings by default.

        Returns
        -------
        altair.HConcatChart
            Pointing at a cell shows both numbers.
        """
        check_is_fitted(self)
        per_item = np.bincount(self._seen_items, minlength=len(self.items_))
        x = self._places(users, self.users_, np.diff(self._seen_start), "users")
        i = self._places(items, self.items_, per_item, "items")
        predicted = self._clipped(self._scores(self.user_factors_[x], self.user_biases_[x]))[:, i]
        observed = np.full((len(x), len(i)), np.nan)
        for row, user in enumerate(x.tolist()):
            known = slice(self._seen_start[user], self._seen_start[user + 1])
            place = {item: k for k, item in enumerate(i.tolist())}
            for item, value in zip(self._seen_items[known], self._seen_values[known], strict=True):
                if int(item) in place:
                    observed[row, place[int(item)]] = value
        names = [str(label) for label in self.users_[x]], [str(label) for label in self.items_[i]]
        return ratings_chart(observed, predicted, *names)

    def _places(self, wanted: Any, known: Array, counts: IntArray, what: str) -> IntArray:
        if wanted is None:
            return np.sort(np.argsort(-counts, kind="stable")[:_SHOWN])
        found = codes_of(some_labels(wanted, what), known)
        if np.any(found < 0):
            missing = np.atleast_1d(wanted)[np.argmax(found < 0)]
            raise InputError(f"The model does not know {missing!r} among its {what}.")
        return found

    def plot_path(self) -> Any:
        """Draw the error of held-out entries over rank and penalty; the picked pair is marked.

        Returns
        -------
        altair.LayerChart
        """
        check_is_fitted(self)
        if not hasattr(self, "path_"):
            raise ParameterError(
                "There is no path to draw, as n_components and alpha were given; fit with 'auto', "
                "or draw path(X)."
            )
        return error_grid_chart(self.path_)


def _highest(scores: FloatArray, n: int) -> IntArray:
    """Return the positions of the n highest scores above minus infinity, equal ones in order."""
    places = np.flatnonzero(scores > -np.inf)
    if len(places) > n:
        level = np.partition(scores[places], len(places) - n)[len(places) - n]
        places = places[scores[places] >= level]
    return places[np.argsort(-scores[places], kind="stable")][:n]
