"""The search for factors: alternating least squares, or gradient descent entry by entry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bottega.core import progress
from bottega.core.typing import FloatArray
from bottega.latent._kernels.ratings_descent import descend
from bottega.latent._ratings.problem import FactorPair, FactorProblem, RatingsPenalty
from bottega.latent._ratings.start import FactorStart

__all__ = ["FactorSearch", "FactorsFound"]

CONJUGATE_STEPS = 3
_SLOWING = 10  # epochs after which the rate of gradient descent is half of what it was
_SMALLEST_RATE = 1e-8


@dataclass
class FactorsFound:
    """Factors and how they were found.

    Attributes
    ----------
    factors : FactorPair
        In the units of the problem.
    objective : list of float
        After the start and after each sweep, in those units.
    converged : bool
        Whether the last sweep gained less than the tolerance.
    singular : int
        Users and items whose entries, at the last sweep, did not determine their factors.
    """

    factors: FactorPair
    objective: list[float]
    converged: bool
    singular: int = 0


@dataclass(frozen=True)
class FactorSearch:
    """How factors are searched for.

    Attributes
    ----------
    solver : {"als", "cg", "sgd"}
        Rows solved exactly, by conjugate gradient steps, or one step per entry.
    max_iter : int
        The most sweeps.
    tol : float
        Relative gain of a sweep below which the search ends; 0 takes all sweeps.
    learning_rate : float
        First length of a step per entry.
    seed : int
        Order of the entries.
    device : str or None
        Where torch computes, None for compiled loops.
    """

    solver: str
    max_iter: int
    tol: float
    learning_rate: float
    seed: int
    device: str | None = None

    def run(
        self, problem: FactorProblem, start: FactorPair, penalty: RatingsPenalty
    ) -> FactorsFound:
        """Return the factors that a search from `start` leads to; its arrays are used up."""
        if self.device is not None:
            from bottega.latent._ratings.torch import alternate_on

            return alternate_on(self, problem, start, penalty)
        if self.solver == "sgd":
            return self._descend(problem, start, penalty)
        return self._alternate(problem, start, penalty)

    def ended(self, objective: Sequence[float]) -> bool:
        """Return True if the last sweep gained less than the tolerance."""
        before, after = objective[-2:]
        return self.tol > 0 and before - after <= self.tol * max(before, 0.0)

    def _alternate(
        self, problem: FactorProblem, factors: FactorPair, penalty: RatingsPenalty
    ) -> FactorsFound:
        size = factors.users.shape[1]
        steps = CONJUGATE_STEPS if self.solver == "cg" else 0
        of_users = penalty.columns("users", size, problem.biased)
        of_items = penalty.columns("items", size, problem.biased)
        objective = [problem.objective(factors, penalty)]
        converged, singular = False, 0
        for sweep in range(self.max_iter):
            _, few_items = problem.solve(
                problem.items, factors.items, factors.users, of_items, steps
            )
            found, few_users = problem.solve(
                problem.users, factors.users, factors.items, of_users, steps
            )
            singular = few_items + few_users
            objective.append(found + penalty.of("items", factors.items, problem.biased))
            progress.report("sweeps", sweep + 1, self.max_iter)
            if self.ended(objective):
                converged = True
                break
        if steps:
            found, singular = problem.solve(problem.users, factors.users, factors.items, of_users)
            objective[-1] = found + penalty.of("items", factors.items, problem.biased)
        return FactorsFound(factors, objective, converged, singular)

    def _descend(
        self, problem: FactorProblem, factors: FactorPair, penalty: RatingsPenalty
    ) -> FactorsFound:
        rng = np.random.default_rng(self.seed)
        shrinks = _per_entry(problem, penalty)
        objective = [problem.objective(factors, penalty)]
        rate, converged = self.learning_rate, False
        for epoch in range(self.max_iter):
            before, order = factors.copy(), rng.permutation(len(problem.target))
            taken = rate / (1 + epoch / _SLOWING)
            descend(
                order, problem.user, problem.item, problem.target, problem.weight,
                factors.users, factors.items, problem.biased, shrinks, taken,
            )  # fmt: skip
            found = problem.objective(factors, penalty)
            if not found <= objective[-1]:  # too long a step: back, and shorter ones
                factors, rate = before, rate / 2
                found = objective[-1]
                converged = self.tol > 0 and rate < _SMALLEST_RATE
            objective.append(found)
            progress.report("epochs", epoch + 1, self.max_iter)
            if converged or (found < objective[-2] and self.ended(objective)):
                converged = True
                break
        of_users = penalty.columns("users", factors.users.shape[1], problem.biased)
        found, singular = problem.solve(problem.users, factors.users, factors.items, of_users)
        objective[-1] = found + penalty.of("items", factors.items, problem.biased)
        return FactorsFound(factors, objective, converged, singular)

    def along(
        self, start: FactorStart, rank: int, penalties: Sequence[RatingsPenalty]
    ) -> Iterator[tuple[int, FactorsFound]]:
        """Yield positions and factors of a rank for penalties, the smallest first.

        Each search starts where the one before ended: factors shrink as the penalty grows, while
        factors that have vanished would not come back.
        """
        order = sorted(range(len(penalties)), key=lambda k: penalties[k].users + penalties[k].items)
        factors = start.factors(rank)
        for k in order:
            found = self.run(start.problem, factors, penalties[k])
            yield k, found
            factors = found.factors


def _per_entry(problem: FactorProblem, penalty: RatingsPenalty) -> FloatArray:
    """Return the penalties of factors and biases of users, then of items, per entry of each."""
    width = max(problem.shape)
    found = np.zeros((4, width))
    for row, (side, factor) in enumerate(
        ((problem.users, penalty.users), (problem.items, penalty.items))
    ):
        share = 1 / np.maximum(side.counts, 1)
        found[2 * row, : len(share)] = factor * share
        found[2 * row + 1, : len(share)] = penalty.biases * share
    return found
