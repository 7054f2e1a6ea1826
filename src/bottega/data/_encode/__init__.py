"""What an encoder learns from numbers, merged over chunks."""
