"""Linear support vector machines: the problem, and three ways to solve it."""
