"""What is wrong with a network, in numbers and words."""
