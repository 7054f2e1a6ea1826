"""Compiled loops of the additive and adaptive models."""
