"""The cubic smoothing spline as the posterior mean of an integrated Brownian motion.

The minimiser of ``sum w (y - f)^2 + alpha * integral f''^2`` is the posterior mean of f when f'' is
white noise of variance ``q = 1 / alpha`` and the level and slope at the start are unknown. The
state ``(f, f')`` is filtered from left to right and smoothed from right to left, one step per knot.

Symbols
-------
y, w, h     mean response, weight and distance to the next knot, of each knot
P, C        covariance of the state given the knots so far (C: of the noise of y alone), as
            (11, 12, 22); det is the determinant of P
v, F        innovation (y less its prediction) and its variance; iF = 1 / F
m1, m2      gain of the filter, (P H') / F; 1 - m1 = iF / w without cancellation
r, N, B     what the knots to the right say about the state: gradient, its covariance (N: of the
            prior and noise, B: of the noise alone), first in the coordinates of the next knot,
            then pulled back to the present one
u           w (y - f); d = w (1 - leverage)

No difference of near numbers is taken where it matters: the covariance update goes through the
determinant, and 1 - leverage is a sum of positive terms. An error of one rounding grows at most
like the number of knots in a bandwidth, where the condition of Reinsch's pentadiagonal system
grows like its fourth power.
"""

import numpy as np

from bottega._jit import kernel


@kernel
def _predict(P11, P12, P22, det, h, q):
    """Return the covariance of the state a step h ahead, and its determinant."""
    A12 = P12 + h * P22
    A11 = P11 + h * (P12 + A12)
    Q11, Q12, Q22 = q * h * h * h / 3, q * h * h / 2, q * h
    det = det + Q11 * Q22 / 4 + A11 * Q22 + P22 * Q11 - 2 * A12 * Q12
    return A11 + Q11, A12 + Q12, P22 + Q22, det


@kernel
def filter_path(y, w, h, q, v, iF, m1, m2, slope, P):
    """Filter from left to right; return sum v^2 / F and sum log F after the first two knots.

    Slopes and covariances are kept where there is room for them (not in empty arrays).
    """
    n, keep = len(y), len(slope) > 0
    a1, a2 = y[1], (y[1] - y[0]) / h[0]
    P11, P12 = 1 / w[1], 1 / (w[1] * h[0])
    first = 1 / (w[0] * h[0] * h[0])
    P22 = first + P12 / h[0] + q * h[0] / 3
    det = P11 * (first + q * h[0] / 3)
    v[0] = v[1] = 0.0
    iF[0] = iF[1] = 0.0
    m1[0], m2[0] = 1.0, 0.0
    m1[1], m2[1] = 1.0, 1 / h[0]
    if keep:
        slope[0], slope[1] = np.nan, a2
        P[0] = np.nan
        P[1, 0], P[1, 1], P[1, 2] = P11, P12, P22
    squares, logs, product = 0.0, 0.0, 1.0
    for t in range(2, n):
        step = h[t - 1]
        a1 += step * a2
        P11, P12, P22, det = _predict(P11, P12, P22, det, step, q)
        noise = 1 / w[t]
        F = P11 + noise
        inverse = 1 / F
        innovation = y[t] - a1
        gain1, gain2 = P11 * inverse, P12 * inverse
        a1 += gain1 * innovation
        a2 += gain2 * innovation
        left = noise * inverse
        P22 = (P22 * noise + det) * inverse
        P11 *= left
        P12 *= left
        det *= left
        v[t], iF[t], m1[t], m2[t] = innovation, inverse, gain1, gain2
        if keep:
            slope[t], P[t, 0], P[t, 1], P[t, 2] = a2, P11, P12, P22
        squares += innovation * innovation * inverse
        product *= F
        if product > 1e100 or product < 1e-100:
            logs += np.log(product)
            product = 1.0
    return squares, logs + np.log(product)


@kernel
def full_pass(y, w, h, q, want_variance):
    """Return the curve at the knots and what its variance anywhere follows from.

    Returns (f, f', f''), 1 - leverage, leverage, and the states P, C (given the knots so far) and
    N, B (from the knots to the right, in the coordinates of the next knot), each as rows
    (11, 12, 22), and the variance of f at each knot due to the noise of y.
    """
    n = len(y)
    v, iF, m1, m2 = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    a2, P = np.empty(n), np.empty((n, 3))
    filter_path(y, w, h, q, v, iF, m1, m2, a2, P)
    rows = n if want_variance else 0
    C, N, B = np.zeros((rows, 3)), np.zeros((rows, 3)), np.zeros((rows, 3))
    noise_variance = np.zeros(rows)
    if want_variance:
        C11, C12 = 1 / w[1], 1 / (w[1] * h[0])
        C22 = 1 / (w[0] * h[0] * h[0]) + C12 / h[0]
        C[0] = np.nan
        C[1, 0], C[1, 1], C[1, 2] = C11, C12, C22
        for t in range(2, n):
            step, noise, k1, k2 = h[t - 1], 1 / w[t], m1[t], m2[t]
            left = noise * iF[t]
            C11 += step * (2 * C12 + step * C22)
            C12 += step * C22
            C22 += k2 * (k2 * (C11 + noise) - 2 * C12)
            C12 = left * (C12 - k2 * C11) + k1 * k2 * noise
            C11 = left * left * C11 + k1 * k1 * noise
            C[t, 0], C[t, 1], C[t, 2] = C11, C12, C22

    f, slope, curvature = np.empty(n), np.empty(n), np.zeros(n)
    remain, leverage = np.empty(n), np.empty(n)
    r1 = r2 = N11 = N12 = N22 = B11 = B12 = B22 = 0.0
    for t in range(n - 1, 0, -1):
        if want_variance:
            N[t, 0], N[t, 1], N[t, 2] = N11, N12, N22
            B[t, 0], B[t, 1], B[t, 2] = B11, B12, B22
        if t < n - 1:
            step = h[t]
            r2 += step * r1
            N22 += step * (2 * N12 + step * N11)
            N12 += step * N11
            B22 += step * (2 * B12 + step * B11)
            B12 += step * B11
        k1, k2, noise = m1[t], m2[t], 1 / w[t]
        curvature[t] = q * r2
        slope[t] = a2[t] + P[t, 1] * r1 + P[t, 2] * r2
        g1, g2 = k1 * N11 + k2 * N12, k1 * N12 + k2 * N22
        spread = k1 * g1 + k2 * g2
        remain[t] = (iF[t] + spread) * noise
        leverage[t] = k1 - spread * noise
        f[t] = y[t] - (v[t] * iF[t] - k1 * r1 - k2 * r2) * noise
        if want_variance:
            e1, e2 = 1 - g1 * noise, -g2 * noise
            noise_variance[t] = (
                e1 * e1 * C[t, 0] + 2 * e1 * e2 * C[t, 1] + e2 * e2 * C[t, 2]
            ) + noise * noise * (k1 * k1 * B11 + 2 * k1 * k2 * B12 + k2 * k2 * B22)
        if t > 1:
            c = iF[t] * noise
            r1 = c * r1 - k2 * r2 + v[t] * iF[t]
            b1, b2 = iF[t] - (c * g1 - k2 * g2), -g2
            B11 = c * c * B11 - 2 * c * k2 * B12 + k2 * k2 * B22 + b1 * b1 * noise
            B12 = c * B12 - k2 * B22 + b1 * b2 * noise
            B22 += b2 * b2 * noise
            N11 = c * c * N11 - 2 * c * k2 * N12 + k2 * k2 * N22 + iF[t]
            N12 = c * N12 - k2 * N22

    # The first knot: before it the slope is unknown.
    d1 = 1 / h[0]
    f[0] = y[0] - r2 * d1 / w[0]
    slope[0] = slope[1] - h[0] * curvature[1] / 2
    remain[0] = N22 * d1 * d1 / w[0]
    leverage[0] = 1 - remain[0]
    if want_variance:
        c2 = -d1 / w[0]
        seen = N12 * N12 * C[1, 0] + 2 * N12 * N22 * C[1, 1] + N22 * N22 * C[1, 2]
        noise_variance[0] = 1 / w[0] + c2 * c2 * (B22 + seen - 2 * N22)
    return f, slope, curvature, remain, leverage, P, C, N, B, noise_variance


@kernel
def curve_variance(x, knots, q, P, C, N, B, derivative, posterior):
    """Return the variance (in units of sigma^2) of the curve or a derivative at each x.

    x is not left of the second knot, with which the filter starts. `posterior` is for f and f'
    alone: f'' is white noise under the prior.
    """
    m = len(knots)
    found = np.empty(len(x))
    for i in range(len(x)):
        t = max(min(np.searchsorted(knots, x[i], side="right") - 1, m - 1), 1)
        d = x[i] - knots[t]
        n11 = n12 = n22 = b11 = b12 = b22 = 0.0
        if t < m - 1:
            e = knots[t + 1] - x[i]
            n11, n12 = N[t, 0], N[t, 1] + e * N[t, 0]
            n22 = N[t, 2] + e * (2 * N[t, 1] + e * N[t, 0])
            b11, b12 = B[t, 0], B[t, 1] + e * B[t, 0]
            b22 = B[t, 2] + e * (2 * B[t, 1] + e * B[t, 0])
        p11, p12, p22, _ = _predict(P[t, 0], P[t, 1], P[t, 2], 0.0, d, q)
        c11 = C[t, 0] + d * (2 * C[t, 1] + d * C[t, 2])
        c12, c22 = C[t, 1] + d * C[t, 2], C[t, 2]
        if derivative >= 2:  # q (b - N a), second or first part
            if derivative == 2:
                z1, z2, own = n12, n22, b22
            else:
                z1, z2, own = n11, n12, b11
            found[i] = q * q * (own + z1 * z1 * c11 + 2 * z1 * z2 * c12 + z2 * z2 * c22)
            continue
        if derivative == 0:
            p1, p2, e1, e2 = p11, p12, 1.0, 0.0
        else:
            p1, p2, e1, e2 = p12, p22, 0.0, 1.0
        g1, g2 = p1 * n11 + p2 * n12, p1 * n12 + p2 * n22
        if posterior:
            found[i] = (p11 if derivative == 0 else p22) - (p1 * g1 + p2 * g2)
        else:
            e1, e2 = e1 - g1, e2 - g2
            found[i] = (
                e1 * e1 * c11
                + 2 * e1 * e2 * c12
                + e2 * e2 * c22
                + p1 * p1 * b11
                + 2 * p1 * p2 * b12
                + p2 * p2 * b22
            )
    return found


@kernel
def evaluate(x, knots, f, slope, curvature, derivative):
    """Return a cubic spline (or a derivative), linear beyond its ends, at each x."""
    m = len(knots)
    found = np.empty(len(x))
    for i in range(len(x)):
        t = np.searchsorted(knots, x[i], side="right") - 1
        inside = 0 <= t < m - 1
        t = min(max(t, 0), m - 1)
        d = x[i] - knots[t]
        bend = curvature[t] if inside else 0.0
        jerk = (curvature[t + 1] - curvature[t]) / (knots[t + 1] - knots[t]) if inside else 0.0
        if derivative == 0:
            found[i] = f[t] + d * (slope[t] + d * (bend / 2 + d * jerk / 6))
        elif derivative == 1:
            found[i] = slope[t] + d * (bend + d * jerk / 2)
        elif derivative == 2:
            found[i] = bend + d * jerk
        else:
            found[i] = jerk
    return found
