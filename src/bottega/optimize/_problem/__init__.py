"""Constrained problems: functions recognised, dual values, conditions of optimality, answers."""
