"""The same fit on an array, on files larger than memory, and on a cluster.

>>> from bottega import scale
>>> from bottega.linear import LeastSquares
>>> rows = scale.source("diabetes", target="target")
>>> LeastSquares().fit(rows).coef_.shape
(10,)
"""

from bottega.scale.on import on
from bottega.scale.source import source

__all__ = ["on", "source"]
