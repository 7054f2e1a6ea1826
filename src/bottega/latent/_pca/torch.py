"""Principal components on an accelerator. Torch is imported inside the call.

The decomposition is torch's own; that of the processor is in `_decomposition/leading.py`.
"""

from typing import Any

import numpy as np

from bottega.core.devices import torch_on
from bottega.core.typing import FloatArray
from bottega.latent._pca.centred import CentredRows

__all__ = ["decompose_on"]


def decompose_on(device: str, rows: CentredRows) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues of A'A, largest first, and right singular vectors of A.

    The smaller of A'A and AA' is decomposed, in double precision where the device has it.
    """
    torch, place, real = torch_on(device)

    def there(array: FloatArray) -> Any:
        return torch.as_tensor(array).to(place, dtype=real)

    A = (there(rows.X) - there(rows.mean)) / there(rows.scale)
    if rows.w is not None:
        A *= there(np.sqrt(rows.w))[:, None]
    n, p = A.shape
    lam, Q = torch.linalg.eigh(A.T @ A if p <= n else A @ A.T)
    lam, Q = lam.flip(0).clamp(min=0), Q.flip(1)
    if p > n:
        d = lam.sqrt()
        Q = A.T @ (Q / torch.where(d > 1e-6 * d[0], d, torch.inf))
        Q = torch.linalg.qr(Q)[0]
    found: tuple[FloatArray, FloatArray] = (
        np.asarray(lam.cpu().numpy(), dtype=np.float64),
        np.asarray(Q.cpu().numpy(), dtype=np.float64),
    )
    return found
