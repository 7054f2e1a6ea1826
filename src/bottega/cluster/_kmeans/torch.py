"""Lloyd's algorithm on an accelerator, by torch; imported only where a device is asked for."""

from typing import Any

import numpy as np

from bottega.cluster._kmeans.lloyd import Clustering
from bottega.core.devices import torch_on
from bottega.core.typing import FloatArray

__all__ = ["lloyd_on_device"]

_BUFFER = 2**27  # distances that are held at a time


def lloyd_on_device(
    X: FloatArray,
    w: FloatArray,
    shift: FloatArray,
    start: FloatArray,
    *,
    max_iter: int,
    tol: float,
    device: str,
) -> Clustering:
    """Run Lloyd's algorithm from given centres; as `lloyd`, on a device of torch.

    Rows and distances are in double precision where the device has it. An empty cluster starts
    again at the row farthest from its centre. Sums of clusters are products of matrices, which
    have one order: sums by index would be taken in another order in each run.
    """
    torch, where, real = torch_on(device)

    def there(array: FloatArray) -> Any:
        return torch.as_tensor(array).to(where, dtype=real)

    rows = there(X) - there(shift)
    weight = there(w) if len(w) else torch.ones(len(X), dtype=real, device=where)
    C = there(start - shift)
    least_mass = torch.finfo(real).tiny
    n, K = len(rows), len(C)
    size = max(1, _BUFFER // K)
    own = (rows * rows).sum(1)
    label = torch.full((n,), -1, dtype=torch.int64, device=where)
    far = torch.empty(n, dtype=real, device=where)
    cuts = [slice(at, at + size) for at in range(0, n, size)]

    def assign(C: Any) -> int:
        changed = torch.zeros((), dtype=torch.int64, device=where)
        square = (C * C).sum(1)
        for cut in cuts:
            least, best = torch.addmm(square[None], rows[cut], C.T, alpha=-2.0).min(1)
            changed += (best != label[cut]).sum()
            label[cut] = best
            far[cut] = (least + own[cut]).clamp_min_(0.0)
        return int(changed)

    def totals() -> tuple[Any, Any]:
        mass, sums = torch.zeros(K, dtype=real, device=where), torch.zeros_like(C)
        for cut in cuts:
            member = torch.zeros((len(label[cut]), K), dtype=real, device=where)
            member.scatter_(1, label[cut, None], weight[cut, None])
            mass += member.sum(0)
            sums += member.T @ rows[cut]
        return mass, sums

    n_iter = reseeded = 0
    converged = False
    while n_iter < max_iter and not converged:
        n_iter += 1
        changed = assign(C)
        count = torch.bincount(label, minlength=K)
        for k in torch.nonzero(count == 0).flatten().tolist():
            row = int(far.argmax())
            if float(far[row]) <= 0 or int(count[label[row]]) < 2:
                break
            count[label[row]] -= 1
            count[k] += 1
            label[row], far[row] = k, 0.0
            reseeded, changed = reseeded + 1, changed + 1
        mass, sums = totals()
        new = torch.where((mass > 0)[:, None], sums / mass.clamp_min(least_mass)[:, None], C)
        moved = float(((new - C) ** 2).sum())
        C = new
        converged = changed == 0 or moved <= tol
    assign(C)
    return Clustering(
        C.cpu().numpy().astype(np.float64) + shift,
        label.cpu().numpy().astype(np.int32),
        float((weight * far).sum()),
        n_iter,
        converged,
        reseeded,
        K - len(torch.unique(label)),
    )
