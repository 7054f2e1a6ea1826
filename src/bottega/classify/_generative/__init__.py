"""Models of the inputs within each class: their statistics, densities, samples, gaps."""
