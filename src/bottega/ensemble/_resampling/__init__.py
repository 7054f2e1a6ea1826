"""Drawing rows at random, models fitted to the drawn rows, and what the left-out rows tell."""
