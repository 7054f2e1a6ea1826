"""Risk where the truth is known: finite classes, simulations, noise, bias and variance."""
