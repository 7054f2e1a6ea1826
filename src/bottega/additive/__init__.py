"""Additive and adaptive models: sums of functions of a few inputs each.

An additive model is the sum of smooth functions of single inputs (or pairs); projection pursuit
takes functions of directions; adaptive splines build their terms from the data.
"""

__all__ = [  # made by docs/generate.py
]
