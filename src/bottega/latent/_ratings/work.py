"""What a fit of ratings shares between its settings, and what it refuses or warns of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.devices import torch_on
from bottega.core.errors import (
    ConvergenceWarning,
    DataWarning,
    InputError,
    ParameterError,
    warn_caller,
)
from bottega.core.folds import Fold
from bottega.core.seeds import seed_of
from bottega.core.signs import signs
from bottega.core.typing import FloatArray
from bottega.latent._entries.held_out import entry_folds
from bottega.latent._ratings.observed import Ratings
from bottega.latent._ratings.problem import FactorPair, FactorProblem
from bottega.latent._ratings.search import FactorsFound

__all__ = ["RatingsWork", "canonical", "check_together", "warn_unfinished"]

_RANKS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class RatingsWork:
    """Checked ratings, their least squares problem, and the seed of all that is random."""

    ratings: Ratings
    problem: FactorProblem
    seed: int

    @classmethod
    def of(
        cls, ratings: Ratings, problem_of: Callable[[Ratings], FactorProblem], random_state: Any
    ) -> "RatingsWork":
        """Check the ratings as a whole; warn of users and items without any."""
        ratings.refuse_extremes()
        empty = [
            int(np.count_nonzero(np.bincount(codes, minlength=count) == 0))
            for count, codes in zip(ratings.shape, (ratings.user, ratings.item), strict=True)
        ]
        if any(empty):
            warn_caller(
                f"{empty[0]:,} of {ratings.shape[0]:,} users and {empty[1]:,} of "
                f"{ratings.shape[1]:,} items have no ratings: their factors and biases are zero, "
                "and they are predicted by what is left.",
                DataWarning,
            )
        return cls(ratings, problem_of(ratings), seed_of(random_state))

    def ranks(self, wanted: Sequence[int] | None) -> list[int]:
        """Return ranks in rising order, those of the path by default; too high ones are refused."""
        n, m = self.ratings.shape
        most = min(n, m)
        if wanted is None:
            return [rank for rank in _RANKS if rank < most] or [1]
        found = sorted({int(rank) for rank in wanted})
        if found[-1] > most:
            raise InputError(
                f"n_components={found[-1]} is more than a table of {n:,} users and {m:,} items "
                f"can have; give at most {most}."
            )
        return found

    def folds(self, cv: Any) -> list[Fold]:
        """Return folds of the entries, by their position."""
        size = self.ratings.size
        if size < 2:
            raise InputError(
                f"Choosing n_components and alpha needs ratings to hold out; found {size}. Give "
                "values of both, or more ratings."
            )
        return entry_folds(cv, size, self.seed)


def canonical(factors: FactorPair, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return the factors turned so that those of the items are orthogonal, the longest first.

    Neither products nor penalties change. The largest factor of each component is positive.
    """
    users, items = factors.users.copy(), factors.items.copy()
    q = items[:, :rank]
    _, turn = np.linalg.eigh(q.T @ q)
    turn = turn[:, ::-1]
    turn = turn * signs(q @ turn)
    items[:, :rank], users[:, :rank] = q @ turn, users[:, :rank] @ turn
    return users, items


def check_together(model: Any) -> None:
    """Refuse parameters that do not go together."""
    owner = type(model).__name__
    if model.clip and model.scale is None:
        raise ParameterError(f"{owner}: clip=True needs a scale, such as scale=(1, 5).")
    if model.implicit and model.scale is not None:
        raise ParameterError(f"{owner}: implicit=True takes counts, which have no scale.")
    if model.implicit and model.solver == "sgd":
        raise ParameterError(
            f"{owner}: solver='sgd' visits known entries alone, and implicit=True counts all "
            "pairs; use 'als' or 'cg'."
        )
    if model.columns is not None and len(model.columns) == 2 and not model.implicit:
        raise ParameterError(
            f"{owner}: columns={tuple(model.columns)!r} has no column of ratings; add it, or use "
            "implicit=True for a list of what users did."
        )
    if model.device is not None:
        if model.solver != "als":
            raise ParameterError(
                f"{owner}: device={model.device!r} solves exactly; use solver='als' with it."
            )
        zero = [
            name for name in ("alpha", "alpha_users", "alpha_items") if getattr(model, name) == 0
        ]
        if zero:
            raise ParameterError(
                f"{owner}: {zero[0]}=0 leaves equations that a device cannot solve; give a small "
                "penalty, or device=None."
            )
        torch_on(model.device)


def warn_unfinished(model: Any, found: FactorsFound, work: RatingsWork) -> None:
    """Warn where the search stopped early, or factors are not determined."""
    owner = type(model).__name__
    if not found.converged and model.tol > 0:
        words = "epochs" if model.solver == "sgd" else "sweeps"
        warn_caller(
            f"{owner} did not converge in {model.max_iter} {words}: give more (max_iter), a larger "
            "penalty (alpha), or a larger tol.",
            ConvergenceWarning,
        )
    n, m = work.problem.shape
    counts = work.problem.users.counts, work.problem.items.counts
    empty = sum(int(np.count_nonzero(each == 0)) for each in counts)
    if found.singular > empty:
        warn_caller(
            f"{found.singular - empty:,} of {n + m:,} users and items have ratings that do not "
            "determine their factors, and a penalty of zero does not either: what is not "
            "determined is set to zero. Give alpha > 0, or fewer components.",
            DataWarning,
        )
