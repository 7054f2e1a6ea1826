"""The weight functions of local regression.

Symbols
-------
u        distance from the point in bandwidths
code     0 normal, 1 biquadratic, 2 tricube, 3 Epanechnikov; all are one at zero
"""

from bottega._jit import kernel

TRICUBE = 2


@kernel
def fill_weights(u, w, code, t):
    """Write w times the weight function at each u, |u| within its reach.

    The exponential is that of a 64th of its argument by its series, squared six times: to
    5e-15 of the peak, 2e-11 relative at the reach, and several rows at a time, as calls are not.
    """
    if code == 0:
        for j in range(u.size):
            z = u[j] * u[j] * (-0.5 / 64.0)
            e = 1.0
            for k in range(12, 0, -1):
                e = 1.0 + e * (z * (1.0 / k))
            for _ in range(6):
                e = e * e
            t[j] = w[j] * e
    elif code == 1:
        for j in range(u.size):
            left = max(1.0 - u[j] * u[j], 0.0)
            t[j] = w[j] * left * left
    elif code == TRICUBE:
        for j in range(u.size):
            left = max(1.0 - abs(u[j] * u[j] * u[j]), 0.0)
            t[j] = w[j] * (left * left * left)
    else:
        for j in range(u.size):
            t[j] = w[j] * max(1.0 - u[j] * u[j], 0.0)
