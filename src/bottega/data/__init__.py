"""Data in: reading, kinds and roles, splits, encoding, and generators with known truth.

>>> from bottega.data import read
>>> table = read("iris")
>>> table.n_rows, table.task
(150, 'classification')
"""

import bottega.data.make as make
from bottega.data.chunks import EncodedChunks, chunks
from bottega.data.columns import Column
from bottega.data.encoder import Encoder
from bottega.data.findings import Finding
from bottega.data.prepare import prepare
from bottega.data.read import read, read_chunks, read_frame
from bottega.data.sampling_bias import effective_sample_size
from bottega.data.splits import LockedPart, Split, folds
from bottega.data.table import Table

__all__ = [
    "Column",
    "EncodedChunks",
    "Encoder",
    "Finding",
    "LockedPart",
    "Split",
    "Table",
    "chunks",
    "effective_sample_size",
    "folds",
    "make",
    "prepare",
    "read",
    "read_chunks",
    "read_frame",
]
