"""What the conjugate models share: their methods, what they have seen, marginal distributions."""
