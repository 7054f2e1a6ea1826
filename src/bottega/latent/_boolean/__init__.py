"""Factors of zeros and ones: candidates, the greedy cover, and flips that mend it."""
