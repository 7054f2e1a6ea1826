"""What the latent methods refuse before a fit."""
