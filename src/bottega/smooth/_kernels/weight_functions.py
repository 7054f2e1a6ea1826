"""The weight functions of local regression.

Symbols
-------
u        distance from the point in bandwidths
code     0 normal, 1 biquadratic, 2 tricube, 3 Epanechnikov; all are one at zero
"""

from bottega._jit import kernel


@kernel
def fill_weights(u, w, code, t):
    """Write w times the weight function at each u, |u| within its reach.

    The exponential is that of a 64th of its argument by its series, squared six times: to
    5e-15 of the peak, 2e-11 relative at the reach, and several rows at a time, as calls are not.
    """
    if code == 0:
        for j in range(u.size):
            z = u[j] * u[j] * (-0.5 / 64.0)
            e = 1.0 + (z * (1.0 / 12.0))
            e = 1.0 + e * (z * (1.0 / 11.0))
            e = 1.0 + e * (z * (1.0 / 10.0))
            e = 1.0 + e * (z * (1.0 / 9.0))
            e = 1.0 + e * (z * (1.0 / 8.0))
            e = 1.0 + e * (z * (1.0 / 7.0))
            e = 1.0 + e * (z * (1.0 / 6.0))
            e = 1.0 + e * (z * (1.0 / 5.0))
            e = 1.0 + e * (z * (1.0 / 4.0))
            e = 1.0 + e * (z * (1.0 / 3.0))
            e = 1.0 + e * (z * (1.0 / 2.0))
            e = 1.0 + e * z
            e = e * e
            e = e * e
            e = e * e
            e = e * e
            e = e * e
            t[j] = w[j] * (e * e)
    elif code == 1:
        for j in range(u.size):
            left = max(1.0 - u[j] * u[j], 0.0)
            t[j] = w[j] * left * left
    elif code == 2:
        for j in range(u.size):
            left = max(1.0 - abs(u[j] * u[j] * u[j]), 0.0)
            t[j] = w[j] * left * left * left
    else:
        for j in range(u.size):
            t[j] = w[j] * max(1.0 - u[j] * u[j], 0.0)


@kernel
def tricube(u):
    """Return the tricube weight of a distance of at most one."""
    cube = 1.0 - u * u * u
    return cube * cube * cube
