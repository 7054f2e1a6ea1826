"""Data analysis and data mining."""
