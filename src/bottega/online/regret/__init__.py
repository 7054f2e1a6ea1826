"""Regret: what a learner lost more than the best fixed predictor, and what theory promises."""
