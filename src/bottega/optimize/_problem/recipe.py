"""The three steps from a constrained problem to its dual and its solution, in words."""

from typing import Any

from bottega.core.typing import FloatArray
from bottega.optimize._problem.functions import ProblemFunction, QuadraticParts
from bottega.optimize._problem.search import Pieces

__all__ = ["recipe_text"]

_MOST_INPUTS = 6  # of functions that are written out


def recipe_text(pieces: Pieces, primal: Any, dual: Any, slater: Any, at_zero: Any) -> str:
    """Return the recipe with its numbers."""
    names = [f"a{i + 1}" for i in range(len(pieces.inequality))]
    more = [f"n{j + 1}" for j in range(len(pieces.equality))]
    multipliers = ", ".join(names + more)
    lines = ["Problem", f"  minimise    {_name(pieces.f)}"]
    lines += [f"  subject to  {_name(c)} <= 0" for c in pieces.inequality]
    lines += [f"  subject to  {_name(c)} = 0" for c in pieces.equality]
    terms = ["f(x)"]
    terms += [f"{a} {c.name}(x)" for a, c in zip(names, pieces.inequality, strict=True)]
    terms += [f"{n} {c.name}(x)" for n, c in zip(more, pieces.equality, strict=True)]
    positive = f", {', '.join(names)} >= 0" if names else ""
    lines += [
        "",
        "Step 1: the Lagrangian",
        f"  L(x, {multipliers}) = {' + '.join(terms)}{positive}",
    ]
    functions = [pieces.f, *pieces.constraints]
    if all(g.parts is not None and len(g.parts.c) <= _MOST_INPUTS for g in functions):
        written = [polynomial(g.parts) for g in functions if g.parts is not None]
        inner = [f"{w} ({g})" for w, g in zip(names + more, written[1:], strict=True)]
        lines.append(f"    = {' + '.join([written[0], *inner])}")
    lines += ["", f"Step 2: the dual function g({multipliers}) = min over x of L"]
    lines += [f"  {line}" for line in _second(pieces)]
    lines.append(f"  with all multipliers 0: g = {_number(at_zero.value)} ({at_zero.verdict})")
    side = " over multipliers of inequalities >= 0" if names else ""
    lines += ["", f"Step 3: maximise g{side}"]
    lines += [f"  {line}" for line in _third(names, more, primal, dual, slater)]
    return "\n".join(lines)


def _second(pieces: Pieces) -> list[str]:
    functions = [pieces.f, *pieces.constraints]
    known = [f.parts for f in functions if f.parts is not None]
    if len(known) < len(functions):
        return ["by search: solve grad L = 0 in x; g is a lower bound if L is convex in x"]
    if all(p.affine for p in known):
        return [
            "L is linear in x: g is -inf unless the coefficients of x add up to zero,",
            "and then the sum of the constant terms",
        ]
    return [
        "L is quadratic in x, with curvature Q and slope c that depend on the multipliers:",
        "g is -inf where Q has an eigenvalue below 0 or c is outside of the range of Q;",
        "else grad L = 0 gives x = -Q^+ c, and g = constant - c.Q^+ c / 2",
    ]


def _third(names: list[str], more: list[str], primal: Any, dual: Any, slater: Any) -> list[str]:
    if primal.x is None:
        return [f"the problem is {primal.verdict}: {primal.message}"]
    found = [f"{n} = {_number(v)}" for n, v in zip(names, dual.multipliers, strict=True)]
    found += [f"{n} = {_number(v)}" for n, v in zip(more, dual.equality_multipliers, strict=True)]
    lines = [f"d* = {_number(dual.value)} at {', '.join(found) or 'no multiplier'}"]
    if dual.x is not None:
        lines.append(f"x minimising L there: {_vector(dual.x)}")
    lines.append(f"p* = {_number(primal.value)} at x* = {_vector(primal.x)}")
    gap = primal.value - dual.value
    small = abs(gap) <= 1e-9 * (1 + abs(primal.value))
    lines.append(f"duality gap p* - d* = {_number(0.0 if small else gap)}")
    lines.append(f"Slater's condition: {slater.verdict}; {slater.message}")
    return lines


def _name(f: ProblemFunction) -> str:
    if f.parts is not None and len(f.parts.c) <= _MOST_INPUTS:
        return f"{f.name}(x) = {polynomial(f.parts)}"
    return f"{f.name}(x)"


def polynomial(parts: QuadraticParts) -> str:
    """Return a quadratic function as a sum of products.

    Examples
    --------
    >>> import numpy as np
    >>> Q, c = np.array([[2.0, 1.0], [1.0, 0.0]]), np.array([0.0, -1.0])
    >>> polynomial(QuadraticParts(Q, c, 3.0))
    'x0^2 + x0 x1 - x1 + 3'
    """
    d = len(parts.c)
    terms: list[tuple[float, str]] = []
    for i in range(d):
        terms.append((parts.Q[i, i] / 2, f"x{i}^2"))
        terms += [(parts.Q[i, j], f"x{i} x{j}") for j in range(i + 1, d)]
    terms += [(parts.c[i], f"x{i}") for i in range(d)]
    terms.append((parts.constant, ""))
    text = ""
    for factor, what in terms:
        if factor == 0:
            continue
        size = abs(factor)
        shown = what if what and size == 1 else f"{_number(size)} {what}".strip()
        sign = "-" if factor < 0 else "+"
        text += f" {sign} {shown}" if text else ("-" if factor < 0 else "") + shown
    return text or "0"


def _number(value: float) -> str:
    return f"{value:.6g}"


def _vector(x: FloatArray) -> str:
    shown = ", ".join(_number(v) for v in x[:8] + 0.0)
    return f"({shown}{', ...' if len(x) > 8 else ''})"
