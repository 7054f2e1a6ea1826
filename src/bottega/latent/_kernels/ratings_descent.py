"""Stochastic gradient descent for factors of observed entries.

Symbols
-------
P, Q        factors of users and of items; their last column is a bias if ``biased``
shrink_p    penalty of a user's factors per entry of that user: over all entries the whole penalty
shrink_b    the same of the user's bias; ``shrink_q`` and ``shrink_c`` are those of items
"""

import numpy as np

from bottega._jit import kernel, summing_kernel


@kernel
def descend(order, user, item, target, weight, P, Q, biased, shrinks, rate):
    """Take one step per entry, in the given order; P and Q change in place."""
    size = P.shape[1] - biased
    for place in range(len(order)):
        e = order[place]
        x, i = user[e], item[e]
        p, q = P[x], Q[i]
        gap = target[e] - fitted(p, q, size, biased)
        pull = rate * weight[e] * gap
        for k in range(size):
            before = p[k]
            p[k] += pull * q[k] - rate * shrinks[0, x] * before
            q[k] += pull * before - rate * shrinks[2, i] * q[k]
        if biased:
            p[size] += pull - rate * shrinks[1, x] * p[size]
            q[size] += pull - rate * shrinks[3, i] * q[size]


@summing_kernel
def fitted(p, q, size, biased):
    """Return what the factors and biases of one user and one item say of their entry."""
    total = p[size] + q[size] if biased else 0.0
    for k in range(size):
        total += p[k] * q[k]
    return total


@kernel
def fitted_entries(user, item, P, Q, biased):
    """Return what the factors say of each entry."""
    size = P.shape[1] - biased
    found = np.empty(len(user))
    for e in range(len(user)):
        found[e] = fitted(P[user[e]], Q[item[e]], size, biased)
    return found
