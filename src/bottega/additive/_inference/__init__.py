"""Inference for additive models: covariances, tests, bands, and checks of a fit."""
