"""Losses of entries, known ones or held out, for a grid of ranks and penalties."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.folds import Fold
from bottega.core.rows import split_rows
from bottega.core.typing import FloatArray
from bottega.latent._ratings.observed import Ratings
from bottega.latent._ratings.problem import FactorPair, FactorProblem, RatingsPenalty, fitted_pairs
from bottega.latent._ratings.search import FactorSearch
from bottega.latent._ratings.start import FactorStart

__all__ = ["RankGrid", "held_out_losses", "percentile_ranks", "training_errors"]

_SCORES = 2**22  # of pairs that are compared at a time
_MOST_RANKED = 20_000  # known entries whose ranks are looked at


@dataclass(frozen=True)
class RankGrid:
    """Ranks and penalties to try, and how.

    Attributes
    ----------
    ranks : sequence of int
        Rising.
    alphas : sequence of float
        Falling.
    search : FactorSearch
        How factors are found.
    start_of : callable
        Makes a `FactorStart` from a problem and a rank.
    problem_of : callable
        Makes a `FactorProblem` from ratings.
    penalty_of : callable
        Makes a `RatingsPenalty` from an alpha and the unit of a problem.
    scale : tuple of float or None
        Ends that predictions are clipped to.
    """

    ranks: Sequence[int]
    alphas: Sequence[float]
    search: FactorSearch
    start_of: Callable[[FactorProblem, int], FactorStart]
    problem_of: Callable[[Ratings], FactorProblem]
    penalty_of: Callable[[float, float], RatingsPenalty]
    scale: tuple[float, float] | None

    def __len__(self) -> int:
        return len(self.ranks) * len(self.alphas)

    def settings(self) -> list[dict[str, Any]]:
        """Return the settings, rank by rank, each from the largest penalty to the smallest."""
        return [{"n_components": k, "alpha": a} for k in self.ranks for a in self.alphas]

    def walk(self, start: FactorStart, look: Callable[[int, FactorPair], None]) -> None:
        """Call `look` with the position of each setting and its factors."""
        penalties = [self.penalty_of(alpha, start.problem.unit) for alpha in self.alphas]
        for row, rank in enumerate(self.ranks):
            for k, found in self.search.along(start, rank, penalties):
                look(row * len(self.alphas) + k, found.factors)

    def predicted(
        self, problem: FactorProblem, factors: FactorPair, entries: Ratings
    ) -> FloatArray:
        """Return the predicted ratings of entries."""
        x, i = entries.user, entries.item
        size = factors.users.shape[1] - problem.biased
        found = fitted_pairs(factors.users[:, :size], factors.items[:, :size], x, i)
        if problem.biased:
            found += factors.users[x, -1] + factors.items[i, -1]
        found = problem.mean + problem.unit * found
        return found if self.scale is None else np.clip(found, *self.scale)


def training_errors(grid: RankGrid, start: FactorStart, ratings: Ratings) -> FloatArray:
    """Return the mean loss on the entries that each setting was fitted to."""
    found = np.empty(len(grid))
    problem = start.problem
    looked = ratings
    if problem.implicit and ratings.size > _MOST_RANKED:
        places = np.linspace(0, ratings.size - 1, _MOST_RANKED).astype(np.intp)
        looked = ratings.entries(places)

    def look(place: int, factors: FactorPair) -> None:
        if problem.implicit:
            losses = percentile_ranks(factors, looked, None)
        else:
            losses = (looked.value - grid.predicted(problem, factors, looked)) ** 2
        found[place] = np.average(losses, weights=looked.weight)

    grid.walk(start, look)
    return found


def held_out_losses(grid: RankGrid, ratings: Ratings, fold: Fold) -> FloatArray:
    """Return the losses of the entries that a fold holds out, one column per setting."""
    known, held = (ratings.entries(part) for part in fold)
    problem = grid.problem_of(known)
    losses = np.empty((held.size, len(grid)))

    def look(place: int, factors: FactorPair) -> None:
        if problem.implicit:
            losses[:, place] = percentile_ranks(factors, held, known)
        else:
            gap = held.value - grid.predicted(problem, factors, held)
            losses[:, place] = gap**2

    grid.walk(grid.start_of(problem, max(grid.ranks)), look)
    return losses


def percentile_ranks(factors: FactorPair, entries: Ratings, known: Ratings | None) -> FloatArray:
    """Return the share of items that are recommended before that of each entry, ties half.

    Items that the user has among the `known` entries are not recommended.
    """
    m = entries.shape[1]
    found = np.empty(entries.size)
    starts = None if known is None else np.searchsorted(known.user, np.arange(len(known) + 1))
    for rows in split_rows(entries.size, max(1, _SCORES // m)):
        x, i = entries.user[rows], entries.item[rows]
        users, place = np.unique(x, return_inverse=True)
        scores = factors.users[users] @ factors.items.T
        if known is not None and starts is not None:
            for row, user in enumerate(users.tolist()):
                scores[row, known.item[starts[user] : starts[user + 1]]] = -np.inf
        of_entry = scores[place]
        own = of_entry[np.arange(len(i)), i][:, None]
        above = np.count_nonzero(of_entry > own, axis=1)
        level = np.count_nonzero(of_entry == own, axis=1) - 1
        others = np.count_nonzero(of_entry > -np.inf, axis=1) - 1
        found[rows] = (above + 0.5 * level) / np.maximum(others, 1)
    return found
