"""Why a function is convex: the rule that was used, and the same of each of its parts."""

from dataclasses import dataclass

__all__ = ["Reason", "combined", "negated"]


@dataclass(frozen=True)
class Reason:
    """One rule of a proof, with the proofs it rests on.

    Attributes
    ----------
    kind : str
        ``"affine"``, ``"convex"``, ``"concave"`` or ``"unknown"``.
    of : str
        The function it speaks of.
    rule : str
        The rule, in words.
    parts : tuple of Reason
        The same of the parts.

    Examples
    --------
    >>> print(Reason("convex", "f + g", "a sum", (Reason("affine", "f", "it is affine"),)))
    f + g is convex: a sum
      f is affine: it is affine
    """

    kind: str
    of: str
    rule: str
    parts: tuple["Reason", ...] = ()

    def lines(self, depth: int = 0) -> list[str]:
        """Return the proof line by line, the parts indented below their rule."""
        known = self.kind if self.kind != "unknown" else "of unknown curvature"
        own = f"{'  ' * depth}{self.of} is {known}: {self.rule}"
        return [own, *(line for part in self.parts for line in part.lines(depth + 1))]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def combined(kinds: list[str]) -> str:
    """Return the curvature of a sum of functions of these curvatures.

    Examples
    --------
    >>> combined(["affine", "convex"]), combined(["convex", "concave"])
    ('convex', 'unknown')
    """
    left = set(kinds) - {"affine"}
    if not left:
        return "affine"
    return left.pop() if len(left) == 1 else "unknown"


def negated(kind: str) -> str:
    """Return the curvature of minus a function of this curvature."""
    return {"convex": "concave", "concave": "convex"}.get(kind, kind)
