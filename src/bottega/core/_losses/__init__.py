"""The losses that `bottega.core.losses` offers, by what they take as a prediction."""
