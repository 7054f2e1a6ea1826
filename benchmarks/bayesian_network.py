"""Exact questions to Bayesian networks, against pgmpy's variable elimination."""

import gzip
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Result, best_peer, cold_seconds, in_turns
from bottega.probability import BayesianNetwork


def run() -> Iterator[Result]:
    yield questions("asia", again=False)
    yield questions("asia", again=True)
    yield questions("alarm", again=False)
    yield questions("alarm", again=True)
    yield look_ups()


def published(title):
    """Return the network as pgmpy's model, its tables normalized (they are rounded)."""
    import pgmpy
    from pgmpy.readwrite import BIFReader

    logging.disable(logging.CRITICAL)
    file = Path(pgmpy.__file__).parent / f"utils/example_models/{title}.bif.gz"
    model = BIFReader(string=gzip.decompress(file.read_bytes()).decode()).get_model()
    for table in model.get_cpds():
        table.normalize()
    return model


def as_ours(model):
    nodes, states = {}, {}
    for name in model.nodes():
        table = model.get_cpds(name)  # the variable's axis comes first
        nodes[name] = (table.variables[1:], np.moveaxis(table.values, 0, -1))
        states[name] = table.state_names[name]
    return BayesianNetwork(nodes, states=states)


def questions(title, again, count=40, repeats=7) -> Result:
    """One variable given three others, in states that a draw of the network has.

    `again` asks the same network with the evidence in other states, so that the order of
    elimination is known; else each question is new to it.
    """
    from pgmpy.inference import VariableElimination

    model = published(title)
    network, theirs = as_ours(model), VariableElimination(model)
    rng = np.random.default_rng(0)
    rows = network.sample(2 * count, random_state=0).to_dict("records")
    names = list(network.states_)
    chosen = [[str(each) for each in rng.choice(names, 4, replace=False)] for _ in range(count)]
    asked, before = (
        [
            (query, {n: row[n] for n in given})
            for (query, *given), row in zip(chosen, part, strict=True)
        ]
        for part in (rows[:count], rows[count:])
    )
    waiting = []  # networks that know the questions, or do not
    for _ in range(repeats + 1):
        fresh = as_ours(model)
        fresh.marginal(names[0])
        for query, given in before if again else ():
            fresh.marginal(query, given=given)
        waiting.append(fresh)

    def ours():
        network = waiting.pop()
        return [
            network.probability({query: network.states_[query][0]}, given=given)
            for query, given in asked
        ]

    def peer(order):
        def call():
            return [
                theirs.query([query], evidence=given, elimination_order=order, show_progress=False)
                for query, given in asked
            ]

        return call

    gap = max(
        abs(mine - float(other.values[0]))
        for mine, other in zip(ours(), peer("greedy")(), strict=True)
    )
    peers = {f"elimination_order={order!r}": peer(order) for order in ("greedy", "MinFill")}
    medians = in_turns({"ours": ours, **peers}, repeats)
    name, seconds = best_peer(medians, "ours")
    kind = "evidence in other states" if again else "each asked for the first time"
    return Result(
        f"Bayesian network, {title}, {count} questions, {kind}",
        f"pgmpy VariableElimination ({name})",
        medians["ours"],
        seconds,
        bar=5,
        accuracy=f"largest difference of a probability {gap:.1g}",
    )


def look_ups() -> Result:
    """20 variables of 4 states, up to 3 parents among the 5 before each: 10^12 combinations."""
    rng = np.random.default_rng(1)
    nodes = {}
    for i in range(20):
        near = rng.choice(np.arange(max(0, i - 5), i), min(i, 3), replace=False)
        table = rng.dirichlet(np.ones(4), size=(4,) * len(near))
        nodes[f"v{i}"] = ([f"v{j}" for j in near], table)
    states = {name: range(4) for name in nodes}
    table = dict.fromkeys(range(10), 0.5)
    places = list(table) * 100_000

    def ours():
        network = BayesianNetwork(nodes, states=states)
        return network.probability({"v0": 1}, given={"v19": 3})

    start = time.perf_counter()
    for each in places:
        table[each]
    limit = time.perf_counter() - start
    medians = in_turns({"ours": ours}, 5)
    drawn = BayesianNetwork(nodes, states=states).sample(400_000, random_state=0)
    seen = drawn[drawn["v19"] == 3]
    return Result(
        "Bayesian network of 20 variables with 4 states, one question",
        "10^6 look-ups in a table",
        medians["ours"],
        limit,
        bar=1,
        accuracy=f"{ours():.4f}; share of samples {float((seen['v0'] == 1).mean()):.4f}",
        limit=True,
        cold=cold_seconds(
            "from bottega.probability import BayesianNetwork\n"
            "nodes = {f'v{i}': ([f'v{i-1}'] if i else [], [0.3, 0.6] if i else 0.5) "
            "for i in range(20)}",
            "BayesianNetwork(nodes).probability({'v0': 1}, given={'v19': 1})",
        ),
    )
