"""Reports of comparisons and descriptions: one HTML file that says what it means, offline."""

from bottega.report.charts import write_charts
from bottega.report.page import render, render_description, write, write_description

__all__ = ["render", "render_description", "write", "write_charts", "write_description"]
