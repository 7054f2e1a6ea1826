"""Where the search for factors starts: biases alone, then the singular vectors of what is left."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.extmath import randomized_svd

from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray
from bottega.latent._ratings.problem import Factors, Penalty, Problem

__all__ = ["Start"]

_BIAS_SWEEPS = 20
_DENSE = 200  # rows or columns up to which all singular values are computed
_POWER = 3  # steps of power iteration of the randomised decomposition
_RANDOM_SIZE = 0.1  # of a product of random factors


@dataclass(frozen=True)
class Start:
    """Starting values of any rank, up to that of the decomposition.

    Attributes
    ----------
    problem : Problem
        What is to be solved.
    users, items : ndarray
        Factors of users and items, the most important first.
    biases : tuple of ndarray
        Biases of users and items, fitted without factors; empty columns where there are none.
    largest : float
        The largest singular value of the ratings less biases, with zeros for what is unknown: a
        penalty (the geometric mean of those of users and items) above it lets all factors vanish.
    """

    problem: Problem
    users: FloatArray
    items: FloatArray
    biases: tuple[FloatArray, FloatArray]
    largest: float

    @classmethod
    def of(cls, problem: Problem, rank: int, biases: float, init: str, seed: int) -> "Start":
        """Decompose what the biases leave of the ratings, or draw factors at random."""
        n, m = problem.shape
        fitted = _biases_alone(problem, biases)
        rest = problem.weight * (problem.target - problem.fitted(fitted))
        if problem.implicit:
            rest = 1.0 + problem.weight
        table = csr_matrix((rest, (problem.user, problem.item)), shape=(n, m))
        drawn = rank if init == "svd" else 1
        with one_thread():
            left, values, right = _decomposition(table, min(drawn, n, m), seed)
        largest = float(values[0])
        if init == "svd":
            root = np.sqrt(values)
            users, items = np.zeros((n, rank)), np.zeros((m, rank))
            users[:, : len(root)], items[:, : len(root)] = left * root, right.T * root
        else:
            rng = np.random.default_rng(seed)
            spread = np.sqrt(_RANDOM_SIZE / np.sqrt(rank))
            users, items = (spread * rng.normal(size=(rows, rank)) for rows in (n, m))
        users[problem.users.counts == 0] = 0.0
        items[problem.items.counts == 0] = 0.0
        return cls(problem, users, items, (fitted.users, fitted.items), largest)

    def factors(self, rank: int) -> Factors:
        """Return the starting values of a rank."""
        return Factors(
            np.column_stack([self.users[:, :rank], self.biases[0]]),
            np.column_stack([self.items[:, :rank], self.biases[1]]),
        )


def _biases_alone(problem: Problem, biases: float) -> Factors:
    n, m = problem.shape
    size = int(problem.biased)
    found = Factors(np.zeros((n, size)), np.zeros((m, size)))
    if problem.biased:
        penalty = Penalty(0.0, 0.0, biases)
        for _ in range(_BIAS_SWEEPS):
            for side, rows, other in (
                (problem.items, found.items, found.users),
                (problem.users, found.users, found.items),
            ):
                problem.solve(side, rows, other, penalty.columns(side.name, 1, True))
    return found


def _decomposition(table: csr_matrix, rank: int, seed: int) -> tuple[FloatArray, ...]:
    if min(table.shape) <= _DENSE and table.shape[0] * table.shape[1] <= 2**22:
        left, values, right = np.linalg.svd(table.toarray(), full_matrices=False)
        return left[:, :rank], values[:rank], right[:rank]
    found: tuple[FloatArray, ...] = randomized_svd(
        table, n_components=rank, n_iter=_POWER, random_state=seed
    )
    return found
