"""Arrays in memory that several processes see."""

import os
import secrets
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from bottega.core.typing import Array

__all__ = ["Place", "SharedArrays"]


@dataclass(frozen=True)
class Place:
    """Where an array lies: all that another process needs to see it."""

    block: str
    shape: tuple[int, ...]
    kind: str


class SharedArrays:
    """Named arrays in shared memory; whoever made them removes them by `close`.

    Parameters
    ----------
    arrays : dict of str to ndarray, optional
        Arrays to put there: copied once.
    places : dict of str to Place, optional
        Arrays that another process has put there, to see the same memory.
    """

    def __init__(
        self, arrays: dict[str, Array] | None = None, places: dict[str, Place] | None = None
    ) -> None:
        self._owner = places is None
        self._blocks: list[SharedMemory] = []
        self._views: dict[str, Array] = {}
        self.places: dict[str, Place] = {}
        try:
            for name, array in (arrays or {}).items():
                block = _new_block(max(array.nbytes, 1))
                self._blocks.append(block)
                self._see(name, Place(block.name, array.shape, array.dtype.str), block)
                self._views[name][...] = array
            for name, place in (places or {}).items():
                block = SharedMemory(name=place.block)
                self._blocks.append(block)
                self._see(name, place, block)
        except BaseException:
            self.close()
            raise

    def _see(self, name: str, place: Place, block: SharedMemory) -> None:
        self.places[name] = place
        view: Any = np.ndarray(place.shape, dtype=place.kind, buffer=block.buf)
        self._views[name] = view

    def __getitem__(self, name: str) -> Array:
        return self._views[name]

    def close(self) -> None:
        """Let go of the memory, and remove it if it was made here; views end with it."""
        self._views.clear()
        for block in self._blocks:
            if self._owner:
                block.unlink()
            try:
                block.close()
            except BufferError:  # somebody keeps a view: the memory goes when the view does
                continue
        self._blocks.clear()


def _new_block(size: int) -> SharedMemory:
    """Return a block whose name tells the process that made it."""
    while True:
        name = f"bottega-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            return SharedMemory(name=name, create=True, size=size)
        except FileExistsError:  # one name in 2^32
            continue
