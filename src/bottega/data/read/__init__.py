"""Reading: files, folders, databases, frames and bundled data sets, whole or in chunks."""

from bottega.data.read.chunks import is_query, read_chunks
from bottega.data.read.whole import read, read_frame

__all__ = ["is_query", "read", "read_chunks", "read_frame"]
