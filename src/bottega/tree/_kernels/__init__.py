"""Compiled loops of the trees."""
