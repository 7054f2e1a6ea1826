"""Loops of the latent methods, compiled."""
