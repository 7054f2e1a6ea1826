"""Three published Bayesian networks with marginals from pgmpy.

Run  python tests/reference/probability/networks.py  with pgmpy installed. The networks are those of
the Bayesian Network Repository (https://www.bnlearn.com/bnrepository), as pgmpy ships them:

- asia: Lauritzen, S. and Spiegelhalter, D. (1988). Local computations with probabilities on
  graphical structures and their application to expert systems. JRSS B 50, 157-224.
- earthquake: Korb, K. and Nicholson, A. (2010). Bayesian Artificial Intelligence, 2nd edition.
- alarm: Beinlich, I., Suermondt, H., Chavez, R. and Cooper, G. (1989). The ALARM monitoring system.
  Proc. 2nd European Conference on Artificial Intelligence in Medicine, 247-256.
"""

import gzip
import json
import logging
from pathlib import Path

import numpy as np
import pgmpy
from pgmpy.inference import VariableElimination
from pgmpy.readwrite import BIFReader

logging.disable(logging.CRITICAL)
FOLDER = Path(pgmpy.__file__).parent / "utils/example_models"
SEED = 0


def read(name):
    text = gzip.decompress((FOLDER / f"{name}.bif.gz").read_bytes()).decode()
    model = BIFReader(string=text).get_model()
    for table in model.get_cpds():
        table.normalize()  # those of alarm are published with 7 digits (0.3333333)
    return model


def nodes_of(model):
    found = {}
    for name in model.nodes():
        table = model.get_cpds(name)
        axes = table.variables  # the variable, then its parents
        found[name] = {
            "parents": axes[1:],
            "states": table.state_names[name],
            "table": np.moveaxis(table.values, 0, -1).tolist(),
        }
        for parent in axes[1:]:
            assert table.state_names[parent] == model.get_cpds(parent).state_names[parent]
    return found


def questions(nodes, rng, count):
    """Each variable given three others, in states that one draw of the network has."""
    names = sorted(nodes)
    for _ in range(count):
        query, *given = (str(name) for name in rng.choice(names, 4, replace=False))
        yield [query], given
    for _ in range(3):
        first, second, given = (str(name) for name in rng.choice(names, 3, replace=False))
        yield [first, second], [given]


def drawn(nodes, rng):
    """One draw of all variables."""
    state = {}
    while len(state) < len(nodes):
        for name, node in nodes.items():
            if name not in state and all(parent in state for parent in node["parents"]):
                row = np.array(node["table"])[tuple(state[p] for p in node["parents"])]
                state[name] = int(rng.choice(len(row), p=row / row.sum()))
    return {name: nodes[name]["states"][code] for name, code in state.items()}


def main():
    rng = np.random.default_rng(SEED)
    networks = {}
    for title in ("asia", "earthquake", "alarm"):
        model = read(title)
        nodes, exact = nodes_of(model), VariableElimination(model)
        answers = [{"query": [name], "given": {}} for name in nodes]
        for query, given in questions(nodes, rng, 12):
            state = drawn(nodes, rng)
            answers.append({"query": query, "given": {name: state[name] for name in given}})
        for answer in answers:
            found = exact.query(answer["query"], evidence=answer["given"], show_progress=False)
            for name in found.variables:
                assert found.state_names[name] == nodes[name]["states"]
            axes = [found.variables.index(name) for name in answer["query"]]
            answer["probability"] = np.transpose(found.values, axes).tolist()
        networks[title] = {"nodes": nodes, "answers": answers}
    content = {
        "call": "pgmpy.inference.VariableElimination(model).query(query, evidence=given)",
        "versions": {"pgmpy": pgmpy.__version__, "numpy": np.__version__},
        "seed": SEED,
        "source": "Bayesian Network Repository, https://www.bnlearn.com/bnrepository",
        "networks": networks,
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
