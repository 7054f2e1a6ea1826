"""The rows a number of rounds is judged by: folds, a held-out part, or what samples leave out."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.folds import fold_rows
from bottega.core.frames import take_rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble.resampling import draw_rows, seeds
from bottega.tree._grow.columns import Columns

__all__ = ["Rows", "check_rounds", "judged_parts"]


@dataclass(frozen=True)
class Rows:
    """The checked inputs, whatever they are stored in, by rows."""

    data: Any

    def __len__(self) -> int:
        return len(self.data) if isinstance(self.data, Columns) else int(self.data.shape[0])

    def __getitem__(self, index: Any) -> "Rows":
        if isinstance(self.data, Columns):
            return Rows(self.data.rows(index))
        return Rows(take_rows(self.data, index))

    @property
    def inputs(self) -> Any:
        """What learners predict from."""
        return self.data.X if isinstance(self.data, Columns) else self.data


def judged_parts(
    codes: IntArray, weight: FloatArray | None, estimate: str, cv: int, share: float, seed: int
) -> list[tuple[IntArray, IntArray, Any]]:
    """Return rows to fit, rows to judge by and the weights of the former, for each run."""
    n = len(codes)
    if n < 2:
        raise InputError(
            f"Choosing the rounds takes rows to judge by; got n_samples = {n}. Give n_rounds."
        )
    if estimate == "oob":
        counts = [draw_rows(n, n, each, weight=weight) for each in seeds(seed, cv)]
        parts = [
            (np.flatnonzero(c), np.flatnonzero(c == 0), c[c > 0].astype(float)) for c in counts
        ]
        return [part for part in parts if len(part[1])]
    if estimate == "validation":
        held = _hold_out(codes, share, seed)
        pairs = [(np.flatnonzero(~held), np.flatnonzero(held))]
    else:
        pairs = fold_rows(n, min(cv, n), codes)
    return [
        (train, test, None if weight is None else weight[train])
        for train, test in pairs
        if len(test)
    ]


def check_rounds(values: Any) -> IntArray:
    """Return the numbers of rounds for a path, ascending."""
    rounds = np.unique(np.asarray(values))
    if not len(rounds) or rounds.dtype.kind not in "iu" or rounds[0] < 1:
        raise InputError(f"values={values!r} is not allowed; rounds are whole numbers from 1 up.")
    return rounds.astype(np.intp)


def _hold_out(codes: IntArray, share: float, seed: int) -> Array:
    """Mark a share of the rows of each class, never all of them."""
    rng = np.random.default_rng(seed)
    held = np.zeros(len(codes), dtype=bool)
    for k in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == k))
        held[rows[: min(int(np.ceil(share * len(rows))), len(rows) - 1)]] = True
    if not held.any():
        raise InputError("Every class has one row only, so none can be held out; give n_rounds.")
    return held
