"""The main jobs: many methods compared on one data set, and a table without a target described."""

from bottega.workbench.compare import compare
from bottega.workbench.comparison import Comparison
from bottega.workbench.describe import describe
from bottega.workbench.description import Description
from bottega.workbench.persist import SavedModel, load, trusted_types
from bottega.workbench.results import MethodResult
from bottega.workbench.warmup import warmup

__all__ = [
    "Comparison",
    "Description",
    "MethodResult",
    "SavedModel",
    "compare",
    "describe",
    "load",
    "trusted_types",
    "warmup",
]
