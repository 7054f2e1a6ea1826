"""A model explained: importance, effects, calibration, worst rows, terms, single predictions."""

from bottega.explain.effects import Effect, Effects
from bottega.explain.explanation import Explanation, explain
from bottega.explain.importance import Importance
from bottega.explain.row_explanation import RowExplanation
from bottega.explain.terms import Terms
from bottega.explain.worst_rows import WorstRows

__all__ = [  # made by docs/generate.py
    "Effect",
    "Effects",
    "Explanation",
    "Importance",
    "RowExplanation",
    "Terms",
    "WorstRows",
    "explain",
]
