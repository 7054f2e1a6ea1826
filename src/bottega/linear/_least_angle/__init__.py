"""The exact path of least angle regression."""
