"""Backfitting: one term at a time, each by a smoother of its own."""
