"""Images as arrays: borders, shapes and copies that are turned, shifted or noisy."""
