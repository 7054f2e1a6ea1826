"""Compiled loops of the smoothers."""
