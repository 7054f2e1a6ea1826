"""Passes over rows, compiled."""
