"""Statistical methods for machine learning, linear classifiers, non-parametric methods."""
