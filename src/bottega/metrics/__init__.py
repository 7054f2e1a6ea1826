"""How good predicted classes are: confusion table, rates, precision and recall along a knob."""

from bottega.metrics.balance import Balance, balance
from bottega.metrics.confusion import Confusion, VersusMajority, confusion
from bottega.metrics.precision_recall import PrecisionRecallPath, precision_recall_path
from bottega.metrics.rates import Rates

__all__ = [  # made by docs/generate.py
    "Balance",
    "Confusion",
    "PrecisionRecallPath",
    "Rates",
    "VersusMajority",
    "balance",
    "confusion",
    "precision_recall_path",
]
