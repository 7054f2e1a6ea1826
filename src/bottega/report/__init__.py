"""The report of a comparison: one HTML file that works offline and says what it means."""

from bottega.report.charts import write_charts
from bottega.report.page import render, write

__all__ = ["render", "write", "write_charts"]
