"""Compiled loops of the bases."""
