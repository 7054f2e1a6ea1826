"""The loop that all minimisers share, and the line searches."""
