"""Boosting: the rounds, the weak learners, and what a boosted vote can be asked."""
