"""E steps on a device of PyTorch: the same products of matrices, with all rows kept there."""

from dataclasses import replace
from typing import Any

import numpy as np

from bottega.cluster._mixture.density import Centred, Expanded, density_of
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
        self.torch, self.place, self.real = torch_on(device)
        self.units = units
        self.n, self.p = X.shape
        if np.isnan(X).any():
            raise InputError(
                f"device={device!r} does not take missing values; use device=None for them."
            )
        # As `units.into`, on the device.
        Z = (self._there(X) - self._there(units.center)) / self._there(units.scale)
        self.Z = Z.T.contiguous()
        self.weight = None if weight is None else self._there(weight)
        first, second = np.triu_indices(self.p)
        self.pairs = tuple(self.torch.as_tensor(each).to(self.place) for each in (first, second))

    def _there(self, array: FloatArray) -> Any:
        return self.torch.as_tensor(np.ascontiguousarray(array)).to(self.place, dtype=self.real)

    def expect(self, parameters: MixtureParameters) -> MixtureSums:
        """Return the expected sums of all rows: one E step.

        Squares are expanded where they are on the processor, and never in single precision.
        """
        density = density_of(parameters)
        if self.real != self.torch.float64:
            density = Centred(parameters)
        if isinstance(density, Centred):
            return self._centred(density, parameters)
        return self._expanded(density, parameters)

    def _expanded(self, density: Expanded, parameters: MixtureParameters) -> MixtureSums:
        torch = self.torch
        coefficients = self._there(density.coefficients)
        collected = torch.zeros_like(coefficients)
        totals = torch.zeros(3, dtype=self.real, device=self.place)
        for part in self._parts(density.width):
            Z = self.Z[:, part]
            one = torch.ones((1, Z.shape[1]), dtype=Z.dtype, device=Z.device)
            square = Z * Z if density.diagonal else Z[self.pairs[0]] * Z[self.pairs[1]]
            features = torch.cat([square, Z, one])
            q, here = self._responsibilities(coefficients @ features, part)
            totals += here
            collected += q @ features.T
        found = density.unfold(_here(collected), _here(totals))
        return replace(found, parameters=parameters)

    def _centred(self, density: Centred, parameters: MixtureParameters) -> MixtureSums:
        """Do as `Centred.sums`: rows are taken about each mean."""
        torch = self.torch
        k, p = parameters.means.shape
        about, root = self._there(density.about)[:, :, None], self._there(density.root)
        constant = self._there(density.constant)[:, None]
        shapes = (k,), (k, p), (k, p) if density.diagonal else (k, p, p), (3,)
        mass, first, second, totals = (
            torch.zeros(shape, dtype=self.real, device=self.place) for shape in shapes
        )
        for part in self._parts(k * p):
            gap = self.Z[None, :, part] - about
            scaled = root[:, :, None] * gap if density.diagonal else torch.bmm(root, gap)
            logs = constant - 0.5 * (scaled * scaled).sum(dim=1)
            q, here = self._responsibilities(logs, part)
            totals += here
            shared = gap * q[:, None]
            mass += q.sum(dim=1)
            first += shared.sum(dim=2)
            second += (gap * shared).sum(dim=2) if density.diagonal else torch.bmm(shared, gap.mT)
        found = _here(mass), density.about, _here(first), _here(second), _here(totals)
        return MixtureSums(*found, parameters)

    def _parts(self, width: int) -> list[slice]:
        size = max(_NUMBERS // width, 1)
        return [slice(start, start + size) for start in range(0, self.n, size)]

    def _responsibilities(self, logs: Any, part: slice) -> tuple[Any, Any]:
        """Do as `density.responsibilities`, on the device."""
        torch = self.torch
        top = logs.max(dim=0).values
        logs = logs - top
        q = torch.exp(logs)
        total = q.sum(dim=0)
        w = torch.ones_like(total) if self.weight is None else self.weight[part]
        q = q * (w / total)
        doubt = w @ torch.log(total)
        return q, torch.stack([w @ top + doubt, doubt - (q * logs).sum(), doubt])


def _here(tensor: Any) -> FloatArray:
    return np.asarray(tensor.cpu().numpy(), dtype=np.float64)
