"""Linear models.

`Ridge` shrinks the coefficients of least squares: one decomposition of the inputs gives the whole
path of penalties with exact leave-one-out errors, and its algebra is what the other linear methods
stand on. `centering` brings the inputs to one origin and scale, `spectrum` holds the singular
coordinates, `problem` decomposes rows or chunks of rows, `leave_one_out` judges every penalty in
one pass.
"""

from bottega.linear.ridge import Ridge

__all__ = ["Ridge"]
