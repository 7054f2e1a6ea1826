"""The main job: many methods, one data set, an honest comparison."""

from bottega.workbench.compare import compare
from bottega.workbench.comparison import Comparison
from bottega.workbench.persist import SavedModel, load, trusted_types
from bottega.workbench.results import MethodResult
from bottega.workbench.warmup import warmup

__all__ = ["Comparison", "MethodResult", "SavedModel", "compare", "load", "trusted_types", "warmup"]
