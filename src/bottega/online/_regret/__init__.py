"""What a tracker of regret is made of."""
