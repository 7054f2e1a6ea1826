"""Models made of other models: any estimator as a base, and the average of several."""
