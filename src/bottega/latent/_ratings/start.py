"""Where the search for factors starts: biases alone, then the singular vectors of what is left."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from bottega.core.typing import FloatArray
from bottega.latent._decomposition.leading import rough_singular_vectors
from bottega.latent._ratings.problem import FactorPair, FactorProblem, RatingsPenalty

__all__ = ["FactorStart"]

_BIAS_SWEEPS = 20
_POWER = 3  # steps of power iteration of the randomised decomposition
_RANDOM_SIZE = 0.1  # of a product of random factors


@dataclass(frozen=True)
class FactorStart:
    """Starting values of any rank, up to that of the decomposition.

    Attributes
    ----------
    problem : FactorProblem
        What is to be solved.
    users, items : ndarray
        Factors of users and items, the most important first.
    biases : tuple of ndarray
        Biases of users and items, fitted without factors; empty columns where there are none.
    rest : csr_matrix
        The ratings less biases times their weights, with zeros for what is unknown.
    """

    problem: FactorProblem
    users: FloatArray
    items: FloatArray
    biases: tuple[FloatArray, FloatArray]
    rest: csr_matrix
    seed: int

    @classmethod
    def of(
        cls, problem: FactorProblem, rank: int, biases: float, init: str, seed: int
    ) -> "FactorStart":
        """Decompose what the biases leave of the ratings, or draw factors at random."""
        n, m = problem.shape
        fitted = _biases_alone(problem, biases)
        gap = problem.target - problem.fitted(fitted)
        weight = 1.0 + problem.weight if problem.implicit else problem.weight
        places = (problem.user, problem.item)
        table = csr_matrix((weight * gap, places), shape=(n, m))
        users, items = np.zeros((n, rank)), np.zeros((m, rank))
        if init == "svd":
            known = csr_matrix((gap, places), shape=(n, m))
            left, values, right = _decomposed(known, rank, seed)
            root = np.sqrt(values)
            users[:, : len(root)], items[:, : len(root)] = left * root, right.T * root
        else:
            rng = np.random.default_rng(seed)
            spread = np.sqrt(_RANDOM_SIZE / np.sqrt(rank))
            users[:], items[:] = (spread * rng.normal(size=(rows, rank)) for rows in (n, m))
        users[problem.users.counts == 0] = 0.0
        items[problem.items.counts == 0] = 0.0
        return cls(problem, users, items, (fitted.users, fitted.items), table, seed)

    def largest(self) -> float:
        """Return the largest singular value of the rest.

        A penalty above it (the geometric mean of those of users and items) lets factors vanish.
        """
        return float(_decomposed(self.rest, 1, self.seed)[1][0])

    def factors(self, rank: int) -> FactorPair:
        """Return the starting values of a rank."""
        return FactorPair(
            np.column_stack([self.users[:, :rank], self.biases[0]]),
            np.column_stack([self.items[:, :rank], self.biases[1]]),
        )


def _biases_alone(problem: FactorProblem, biases: float) -> FactorPair:
    n, m = problem.shape
    size = int(problem.biased)
    found = FactorPair(np.zeros((n, size)), np.zeros((m, size)))
    if problem.biased:
        penalty = RatingsPenalty(0.0, 0.0, biases)
        for _ in range(_BIAS_SWEEPS):
            for side, rows, other in (
                (problem.items, found.items, found.users),
                (problem.users, found.users, found.items),
            ):
                problem.solve(side, rows, other, penalty.columns(side.name, 1, True))
    return found


def _decomposed(table: csr_matrix, rank: int, seed: int) -> tuple[FloatArray, ...]:
    return rough_singular_vectors(table, rank, iterations=_POWER, seed=seed)
