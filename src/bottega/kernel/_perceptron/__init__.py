"""The updates of a kernel perceptron, and what they predict."""
