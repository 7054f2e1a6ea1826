"""Alternating least squares on a device of torch: the only place that imports it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bottega.core.devices import torch_on
from bottega.latent._ratings.problem import FactorPair, FactorProblem, RatingsPenalty, RatingsSide

if TYPE_CHECKING:
    from bottega.latent._ratings.search import FactorSearch, FactorsFound

__all__ = ["alternate_on"]

_PRODUCTS = 2**26  # numbers in the outer products of a block of entries


def alternate_on(
    search: "FactorSearch", problem: FactorProblem, factors: FactorPair, penalty: RatingsPenalty
) -> "FactorsFound":
    """Do as `FactorSearch.run` with exact solutions, on the device of the search."""
    from bottega.latent._ratings.search import FactorsFound

    torch, device, real = torch_on(str(search.device))

    def there(array: Any) -> Any:
        tensor = torch.as_tensor(np.ascontiguousarray(array))
        return (tensor.to(real) if tensor.is_floating_point() else tensor).to(device)

    users, items = there(factors.users), there(factors.items)
    size = int(users.shape[1])
    prepared = {
        side.name: _SideOnDevice(torch, there, problem, side, penalty, size)
        for side in (problem.users, problem.items)
    }
    objective = [problem.objective(factors, penalty)]
    converged = False
    cost_of_items = prepared["items"].penalty
    for _ in range(search.max_iter):
        items, _ = prepared["items"].solve(users)
        users, found = prepared["users"].solve(items)
        objective.append(found + float((items**2 @ cost_of_items).sum()))
        if search.ended(objective):
            converged = True
            break
    here = [np.asarray(each.cpu().numpy(), dtype=np.float64) for each in (users, items)]
    return FactorsFound(FactorPair(*here), objective, converged)


class _SideOnDevice:
    """The entries of one side on the device, in blocks of rows whose products fit into memory."""

    def __init__(
        self,
        torch: Any,
        there: Any,
        problem: FactorProblem,
        side: RatingsSide,
        penalty: RatingsPenalty,
        size: int,
    ) -> None:
        self.torch, self.problem = torch, problem
        self.penalty = there(penalty.columns(side.name, size, problem.biased))
        self.start = side.start
        self.column, self.weight = there(side.column), there(side.weight)
        self.target = there(problem.target[side.order])
        self.row = there(np.repeat(np.arange(len(side.start) - 1), side.counts))
        most = max(1, _PRODUCTS // size**2)
        cuts = np.searchsorted(side.start, np.arange(most, side.start[-1], most))
        self.edges = np.unique([0, *cuts, len(side.start) - 1])

    def solve(self, other: Any) -> tuple[Any, float]:
        """Return the best factors given those of the other side, and the objective so far."""
        torch, problem = self.torch, self.problem
        features, size = other.clone(), int(other.shape[1])
        gap = self.target
        if problem.biased:
            gap = gap - other[self.column, -1]
            features[:, -1] = 1.0
        right = 1.0 + self.weight if problem.implicit else self.weight * gap
        constant = right.sum() if problem.implicit else right @ gap
        base = torch.diag(self.penalty)
        if problem.implicit:
            base = base + features.T @ features
        found = torch.empty((len(self.start) - 1, size), dtype=other.dtype, device=other.device)
        gain = 0.0
        for first, last in zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True):
            entries = slice(int(self.start[first]), int(self.start[last]))
            f, row = features[self.column[entries]], self.row[entries] - first
            A = torch.zeros((last - first, size * size), dtype=f.dtype, device=f.device)
            products = (self.weight[entries, None] * f)[:, :, None] * f[:, None, :]
            A.index_add_(0, row, products.reshape(-1, size * size))
            b = torch.zeros((last - first, size), dtype=f.dtype, device=f.device)
            b.index_add_(0, row, right[entries, None] * f)
            A = A.reshape(-1, size, size) + base
            factor = torch.linalg.cholesky(A)
            z = torch.cholesky_solve(b[:, :, None], factor)[:, :, 0]
            found[first:last] = z
            gain += float((z * b).sum())
        return found, float(constant) - gain
