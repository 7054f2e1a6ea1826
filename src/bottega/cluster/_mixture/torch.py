"""E steps on a device of PyTorch: the same products of matrices, with all rows kept there."""

from dataclasses import replace
from typing import Any

import numpy as np

from bottega.cluster._mixture.density import Expanded
from bottega.cluster._mixture.parameters import MixtureParameters, MixtureUnits
from bottega.cluster._mixture.sums import MixtureSums
from bottega.core.devices import torch_on
from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["TorchSource"]

_NUMBERS = 2**26  # of a block of features


class TorchSource:
    """Rows on a device, in the units of the work."""

    def __init__(self, X: FloatArray, weight: Any, units: MixtureUnits, device: str) -> None:
        torch, place = torch_on(device)
        self.torch = torch
        self.units = units
        self.n, self.p = X.shape
        if np.isnan(X).any():
            raise InputError(
                f"device={device!r} does not take missing values; use device=None for them."
            )
        self.Z = torch.as_tensor(np.ascontiguousarray(units.into(X)), device=place)
        self.weight = None if weight is None else torch.as_tensor(weight, device=place)
        first, second = np.triu_indices(self.p)
        self.pairs = torch.as_tensor(first, device=place), torch.as_tensor(second, device=place)

    def expect(self, parameters: MixtureParameters) -> MixtureSums:
        """Return the expected sums of all rows: one E step."""
        torch = self.torch
        density = Expanded(parameters)
        coefficients = torch.as_tensor(density.coefficients, device=self.Z.device)
        collected = torch.zeros_like(coefficients)
        totals = torch.zeros(3, dtype=self.Z.dtype, device=self.Z.device)
        size = max(_NUMBERS // density.width, 1)
        for start in range(0, self.n, size):
            Z = self.Z[:, start : start + size]
            one = torch.ones((1, Z.shape[1]), dtype=Z.dtype, device=Z.device)
            square = Z * Z if density.diagonal else Z[self.pairs[0]] * Z[self.pairs[1]]
            features = torch.cat([square, Z, one])
            logs = coefficients @ features
            top = logs.max(dim=0).values
            logs = logs - top
            q = torch.exp(logs)
            total = q.sum(dim=0)
            w = one[0] if self.weight is None else self.weight[start : start + size]
            q = q * (w / total)
            level = torch.log(total)
            doubt = w @ level
            totals += torch.stack([w @ top + doubt, doubt - (q * logs).sum(), doubt])
            collected += q @ features.T
        found = density.unfold(collected.cpu().numpy(), totals.cpu().numpy())
        return replace(found, parameters=parameters)
