"""The report of a comparison: one HTML file that works offline and says what it means."""

from bottega.report.page import render, write

__all__ = ["render", "write"]
