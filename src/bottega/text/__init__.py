"""Texts: proportions of labels in texts that nobody has read."""

from bottega.text.proportions import AggregateProportions

__all__ = [  # made by docs/generate.py
    "AggregateProportions",
]
