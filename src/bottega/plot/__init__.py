"""Pictures of results, as Altair charts: they show in notebooks, save as PNG, SVG or HTML.

Each function takes arrays or an object with the named attributes, never a data frame library.
"""

from bottega.plot.coefficients import coefficient_chart
from bottega.plot.confusion import confusion_chart
from bottega.plot.criteria import criteria_chart
from bottega.plot.leaderboard import leaderboard_chart
from bottega.plot.path import path_chart
from bottega.plot.regions import region_chart
from bottega.plot.residuals import observed_chart, residual_chart
from bottega.plot.roc import roc_chart
from bottega.plot.shrinkage import shrinkage_chart, threshold_chart
from bottega.plot.target import target_chart
from bottega.plot.theme import DARK, LIGHT, config

__all__ = [
    "DARK",
    "LIGHT",
    "coefficient_chart",
    "config",
    "confusion_chart",
    "criteria_chart",
    "leaderboard_chart",
    "observed_chart",
    "path_chart",
    "region_chart",
    "residual_chart",
    "roc_chart",
    "shrinkage_chart",
    "target_chart",
    "threshold_chart",
]
