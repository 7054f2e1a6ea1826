"""How convexity is checked: curves, rules, chords on samples, eigenvalues."""
