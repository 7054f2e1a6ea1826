"""What every linear smoother takes for granted, in words for its card."""

NOISE = (
    "The noise has mean zero, the same variance everywhere (over the weight of the row), and is "
    "not correlated between rows."
)
FIXED_KNOB = (
    "The knob does not depend on the responses: when it is chosen from the same rows, the fit is "
    "no longer linear in them, and its standard errors and errors are a little too small."
)
