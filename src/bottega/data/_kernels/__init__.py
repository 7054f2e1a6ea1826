"""Compiled loops over data."""
