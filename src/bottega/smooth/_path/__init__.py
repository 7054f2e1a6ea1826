"""The path of a linear smoother, judged by leaving out one row at a time."""
