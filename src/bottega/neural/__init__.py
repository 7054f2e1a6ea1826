"""Neural networks on PyTorch, as scikit-learn estimators (extra ``neural``).

PyTorch is imported when a network is fitted, not before. A fitted network keeps arrays and a
description of its architecture, never code.
"""

from bottega.neural.graph import Node

__all__ = ["Node"]  # made by docs/generate.py
