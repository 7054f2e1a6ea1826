"""How far a claim about error can be trusted: bounds, and the certificates made from them."""

from bottega.risk.bounds import clopper_pearson, hoeffding, student
from bottega.risk.certify import certify

__all__ = ["certify", "clopper_pearson", "hoeffding", "student"]
