"""The same fit on an array, on files larger than memory, and on a cluster.

>>> from bottega import scale
>>> from bottega.linear import LeastSquares
>>> rows = scale.source("diabetes", target="target")
>>> LeastSquares().fit(rows).coef_.shape
(10,)
"""

from bottega.scale.on import on
from bottega.scale.source import source
from bottega.scale.speedup import SpeedUp, amdahl, speedup_report
from bottega.scale.streaming import predict_to, score

__all__ = ["SpeedUp", "amdahl", "on", "predict_to", "score", "source", "speedup_report"]
