"""Every claim of the course that a program can test, as a function to run and look at.

There is one module per chapter of the notes. Each function draws its own data, returns the numbers
with a verdict, and draws a chart; `claims` lists them all, `run` tests one by its id. The modules
are discovered: a function with the decorator `experiment` in any of them is a member.
"""

from importlib import import_module
from pkgutil import walk_packages

from bottega.course.experiment import CLAIMS, Claim, Experiment, claims, experiment, run

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

_calls = {claim.call.__name__: claim.call for claim in CLAIMS.values()}
globals().update(_calls)

__all__ = ["CLAIMS", "Claim", "Experiment", "claims", "experiment", "run", *sorted(_calls)]  # noqa: PLE0604
