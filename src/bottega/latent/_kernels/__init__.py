"""Compiled loops of the latent methods."""
