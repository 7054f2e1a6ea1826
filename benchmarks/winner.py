"""Which method a comparison should name: the evidence for the rule.

``python -m benchmarks.winner`` runs `bottega.compare` on the tables that defaults may be set by
(never those it is judged on), smallest first, and judges on the locked rows what each rule would
have named. What was measured is kept in ``benchmarks/winners``, one JSON file for each table and
split, so a run that is stopped goes on where it was; ``--most-seconds 300`` stops by itself.
``python -m benchmarks.defaults`` writes the outcome to ``benchmarks/DEFAULTS.md``.
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.public_tables import public_tables
from benchmarks.tables import geometric_mean, measure, ratio

KEPT = Path(__file__).parent / "winners"
STACK = "stacking"
CLEAR = (0.5, 1.0, 2.0)  # standard errors by which a method must be better than the stack
HEAD = """## The winner

Printed by `python -m benchmarks.winner` and `python -m benchmarks.defaults`, from {splits} splits
of {tables} tables of use `tune`. `bottega.compare` locks a quarter of the rows; the table has the
error of what each rule would have named, on those rows, relative to the best of scikit-learn's
three (geometric mean over the tables, the splits of a table averaged first; known only
afterwards). `SE` are standard errors of the difference to the leaders combined, over rows. The last
columns compare each rule with that of the leaders combined, table by table: below one it is better.

| rule | all | numbers | classes | other than the stack | to the stack, numbers | classes |
|---|---|---|---|---|---|---|
"""
TAIL = """
`compare` goes by two standard errors. Of numbers a single method with a smaller lead is worse than
the leaders combined; of classes no rule can be told from another by so few tables (one table of
which one row of 64 decides makes most of the difference); a method that is better beyond doubt
still wins.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="tables; all of use tune by default")
    parser.add_argument("--seeds", type=int, default=1, help="number of splits of each table")
    parser.add_argument("--most-seconds", type=float, default=math.inf, help="start none after")
    asked = parser.parse_args()
    start = time.perf_counter()
    chosen = [each for each in public_tables("tune") if not asked.names or each.name in asked.names]
    for seed in range(asked.seeds):
        for public in chosen:
            file = KEPT / f"{public.name}-{seed}.json"
            if file.exists():
                continue
            if time.perf_counter() - start > asked.most_seconds:
                break
            found = measure(public, seed)
            wanted = ("name", "task", "seed", "rows", "locked_rows", "peer_error", "methods")
            kept = {name: found[name] for name in (*wanted, "lead", "lead_se", "when", "revision")}
            KEPT.mkdir(exist_ok=True)
            file.write_text(json.dumps(kept, indent=1) + "\n")
            print(public.name, seed, found["winner"], f"{found['seconds']:.1f} s", flush=True)
    print(section())


def least(found: dict, among: Callable[[str], bool] = lambda _: True) -> str:
    """Return the method of least error over the outer folds."""
    named = [name for name in found["methods"] if among(name)]
    return min(named, key=lambda name: found["methods"][name]["nested"])


def unless_better(found: dict, clear: float) -> str:
    """Return the stack, unless a method is better by so many standard errors."""
    if STACK not in found["methods"]:
        return least(found)
    single = least(found, lambda name: name != STACK)
    return single if found["lead"] < -clear * found["lead_se"] else STACK


RULES: dict[str, Callable[[dict], str]] = {
    "the least error, the leaders combined being one of the methods": least,
    "the least error of a single method": lambda found: least(found, lambda name: name != STACK),
    **{
        f"the leaders combined, unless a method is better by {clear:g} SE": (
            lambda found, clear=clear: unless_better(found, clear)
        )
        for clear in CLEAR
    },
    "the leaders combined, always": lambda found: unless_better(found, math.inf),
    "the best, known only afterwards": lambda found: min(
        found["methods"], key=lambda name: found["methods"][name]["locked"]
    ),
}


def section() -> str:
    """Return the table of the rules; empty where nothing was measured."""
    kept = [json.loads(file.read_text()) for file in sorted(KEPT.glob("*.json"))]
    if not kept:
        return ""
    lines = []
    for words, rule in RULES.items():
        cells = [
            _mean([each for each in kept if task in (None, each["task"])], rule)
            for task in (None, "regression", "classification")
        ]
        others = sum(rule(each) != STACK for each in kept)
        cells.append(f"{others} of {len(kept)}")
        always = RULES["the leaders combined, always"]
        cells += [
            _mean([each for each in kept if each["task"] == task], rule, always)
            for task in ("regression", "classification")
        ]
        lines.append(f"| {words} | " + " | ".join(cells) + " |")
    names = {each["name"] for each in kept}
    return HEAD.format(splits=len(kept), tables=len(names)) + "\n".join(lines) + "\n" + TAIL


def _mean(kept: list[dict], rule: Callable[[dict], str], other: Callable | None = None) -> str:
    """Return the geometric mean over tables, with its standard error.

    It is of the error relative to the best peer, or to what another rule would have named.
    """
    by_table: dict[str, list[float]] = {}
    for each in kept:
        error, peer = each["methods"][rule(each)]["locked"], each["peer_error"]
        if other is not None:
            peer = each["methods"][other(each)]["locked"]
        found = max(ratio({**each, "error": error}, peer), 1e-9)
        by_table.setdefault(each["name"], []).append(found)
    if not by_table:
        return ""
    means = [geometric_mean(values) for values in by_table.values()]
    spread = np.std(np.log(means), ddof=1) / math.sqrt(len(means)) if len(means) > 1 else math.nan
    return f"{geometric_mean(means):.3f} ± {100 * spread:.0f} % ({len(means)})"


if __name__ == "__main__":
    main()
