"""Compiled loops of the linear models."""
