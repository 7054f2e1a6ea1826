"""Loess: nearest windows, direct and blended surfaces, robustness."""
