"""Variable elimination: pgmpy's answers, the joint itself, d-separation, large graphs, limits."""

import json
import pickle
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError, ParameterError
from bottega.core.stored import stored_types
from bottega.probability import BayesianNetwork

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference/probability/networks.json").read_text()
)["networks"]


# M417: edges 4 -> 1, 5 -> 1, 1 -> 2, 5 -> 2, 1 -> 3, 2 -> 3.
GRAPH = {"x1": ["x4", "x5"], "x2": ["x1", "x5"], "x3": ["x1", "x2"], "x4": [], "x5": []}


def filled(graph, seed=0, cardinality=None):
    """Random tables for a graph of names and parents."""
    rng = np.random.default_rng(seed)
    sizes = dict.fromkeys(graph, 2) | (cardinality or {})
    nodes = {
        name: (parents, rng.dirichlet(np.ones(sizes[name]), size=[sizes[p] for p in parents]))
        for name, parents in graph.items()
    }
    return BayesianNetwork(nodes, states={name: range(k) for name, k in sizes.items()})


def assignments(network):
    for states in product(*network.states_.values()):
        yield dict(zip(network.states_, states, strict=True))


@st.composite
def networks(draw):
    """Random graphs of up to five variables with two or three states, declared in any order."""
    count = draw(st.integers(1, 5))
    names = [f"v{i}" for i in range(count)]
    graph = {
        name: draw(st.permutations(names[:i]).map(lambda p: p[:3])) if i else []
        for i, name in enumerate(names)
    }
    for name in names:
        graph[name] = graph[name][: draw(st.integers(0, 3))]
    sizes = {name: draw(st.integers(2, 3)) for name in names}
    declared = {name: graph[name] for name in draw(st.permutations(names))}
    return filled(declared, draw(st.integers(0, 1000)), sizes)


def published(title):
    nodes = REFERENCE[title]["nodes"]
    return BayesianNetwork(
        {name: (node["parents"], node["table"]) for name, node in nodes.items()},
        states={name: node["states"] for name, node in nodes.items()},
    )


def joint_table(network):
    """The whole joint, one axis per variable in the order of `states_`."""
    shape = [len(states) for states in network.states_.values()]
    return np.reshape([network.joint(row) for row in assignments(network)], shape)


# ---- against pgmpy -------------------------------------------------------------------------------


@pytest.mark.parametrize("title", ["asia", "earthquake", "alarm"])
def test_marginals_are_those_of_pgmpy(title):
    """Both are exact: 1e-10 leaves room for sums in another order, and no more."""
    network = published(title)
    assert len(REFERENCE[title]["answers"]) >= 20 or title == "earthquake"
    for answer in REFERENCE[title]["answers"]:
        frame = network.marginal(*answer["query"], given=answer["given"])
        expected = np.ravel(answer["probability"])
        np.testing.assert_allclose(frame["probability"], expected, rtol=0, atol=1e-10)
        states = product(*(network.states_[name] for name in answer["query"]))
        assert list(frame[answer["query"]].itertuples(index=False, name=None)) == list(states)


def test_asia_as_published():
    """Lauritzen and Spiegelhalter (1988): a smoker's risks, and dyspnoea after a visit to Asia."""
    asia = published("asia")
    assert asia.probability({"lung": "yes"}, given={"smoke": "yes"}) == pytest.approx(0.1)
    assert asia.probability({"either": "yes"}, given={"lung": "yes"}) == pytest.approx(1)
    assert asia.d_separated("asia", "smoke")
    assert not asia.d_separated("asia", "smoke", "dysp")
    assert asia.d_separated("xray", ["smoke", "bronc"], given="either")


# ---- against the joint ---------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(network=networks(), data=st.data())
def test_marginals_are_sums_of_the_joint(network, data):
    names = list(network.states_)
    query = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    known = {
        name: data.draw(st.sampled_from(network.states_[name]))
        for name in data.draw(st.lists(st.sampled_from(names), unique=True))
    }
    table = joint_table(network)
    for axis, name in enumerate(names):
        if name in known:  # other states get no weight; the axis stays
            keep = np.array(network.states_[name]) == known[name]
            table = table * keep.reshape([-1 if i == axis else 1 for i in range(table.ndim)])
    axes = [names.index(name) for name in query]
    rest = tuple(i for i in range(table.ndim) if i not in axes)
    expected = np.transpose(table.sum(axis=rest), np.argsort(np.argsort(axes)))
    found = network.marginal(*query, given=known)
    np.testing.assert_allclose(
        found["probability"], expected.ravel() / table.sum(), rtol=1e-10, atol=1e-14
    )
    assert found["probability"].sum() == pytest.approx(1, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(network=networks(), data=st.data())
def test_the_most_probable_states_have_the_largest_joint(network, data):
    names = list(network.states_)
    known = {
        name: data.draw(st.sampled_from(network.states_[name]))
        for name in data.draw(st.lists(st.sampled_from(names), unique=True))
    }
    found = network.most_probable(known)
    assert known.items() <= found.items()
    most = max(network.joint(row) for row in assignments(network) if known.items() <= row.items())
    assert network.joint(found) == pytest.approx(most, rel=1e-12)


@settings(max_examples=150, deadline=None)
@given(network=networks(), data=st.data())
def test_d_separation_is_independence_in_the_joint(network, data):
    """With random tables dependence shows wherever the graph admits it (with probability one)."""
    names = list(network.states_)
    assume(len(names) >= 2)
    a, b, *others = data.draw(st.permutations(names))
    known = others[: data.draw(st.integers(0, len(others)))]
    axes = [names.index(name) for name in (*known, a, b)]
    table = joint_table(network)
    table = np.moveaxis(table, axes, range(len(axes)))
    table = table.sum(axis=tuple(range(len(axes), table.ndim)))
    table = table.reshape(-1, *table.shape[-2:])
    independent = table.sum(axis=2, keepdims=True) * table.sum(axis=1, keepdims=True)
    gap = np.abs(table * table.sum(axis=(1, 2), keepdims=True) - independent).max()
    # Rounding leaves some 1e-17; the weakest dependence through five variables is far above it.
    assert network.d_separated(a, b, known) == (gap < 1e-14)
    assert network.d_separated(b, a, known) == network.d_separated(a, b, known)


def test_d_separation_of_the_three_patterns():
    chain = BayesianNetwork({"a": ([], None), "b": (["a"], None), "c": (["b"], None)})
    assert not chain.d_separated("a", "c")
    assert chain.d_separated("a", "c", ["b"])
    meeting = BayesianNetwork(
        {"a": ([], None), "c": ([], None), "b": (["a", "c"], None), "d": (["b"], None)}
    )
    assert meeting.d_separated("a", "c")
    assert not meeting.d_separated("a", "c", "b")
    assert not meeting.d_separated("a", "c", "d")  # a descendant opens the path too
    fork = BayesianNetwork({"b": ([], None), "a": (["b"], None), "c": (["b"], None)})
    assert not fork.d_separated("a", "c")
    assert fork.d_separated("a", "c", "b")
    for a, b, known in [("a", "a", ()), ("a", "c", "a"), ([], "c", ())]:
        with pytest.raises(InputError, match="without common members"):
            fork.d_separated(a, b, known)
    with pytest.raises(InputError, match="'e' is no variable"):
        fork.d_separated("a", "e")


# ---- size ----------------------------------------------------------------------------------------


def banded(count, states, width, seed):
    """Each variable has up to three parents among the `width` before it."""
    rng = np.random.default_rng(seed)
    graph = {
        f"v{i}": [f"v{j}" for j in rng.choice(np.arange(max(0, i - width), i), min(i, 3), False)]
        for i in range(count)
    }
    return filled(graph, seed, dict.fromkeys(graph, states))


def test_twenty_variables_of_four_states_take_less_than_a_million_look_ups():
    """4^20 = 10^12 combinations; the limit of the issue, with the fastest of three tries."""
    network = banded(20, 4, 5, seed=1)
    table = dict.fromkeys(range(10), 0.5)
    taken, look_ups = [], []
    for _ in range(3):
        start = time.perf_counter()
        for i in range(1_000_000):
            table[i % 10]
        look_ups.append(time.perf_counter() - start)
        fresh = pickle.loads(pickle.dumps(network))
        start = time.perf_counter()
        found = fresh.marginal("v0", given={"v19": 3})
        taken.append(time.perf_counter() - start)
    assert found["probability"].sum() == pytest.approx(1)
    assert min(taken) < min(look_ups)


def test_a_long_chain_is_a_product_of_matrices():
    rng = np.random.default_rng(0)
    first, steps = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), size=(299, 3))
    nodes = {"v0": ([], first)}
    nodes |= {f"v{i}": ([f"v{i - 1}"], step) for i, step in enumerate(steps, start=1)}
    network = BayesianNetwork(nodes, states={name: list("abc") for name in nodes})
    expected = np.linalg.multi_dot([first, *steps])
    np.testing.assert_allclose(network.marginal("v299")["probability"], expected, rtol=1e-10)


def test_evidence_too_improbable_for_a_float_is_no_problem():
    """One cause and 400 effects, each seen with 1e-3 or 2e-3: the evidence has about 1e-1200."""
    nodes = {"cause": ([], 0.5)}
    nodes |= {f"e{i}": (["cause"], [0.001, 0.002]) for i in range(400)}
    network = BayesianNetwork(nodes)
    known = {f"e{i}": 1 for i in range(400)} | {"e0": 0}
    # 399 factors of two in favour of the cause: the odds are 2^399 * 0.998 / 0.999.
    found = network.probability({"cause": 0}, given=known)
    assert found == pytest.approx(0.999 / 0.998 * 2.0**-399, rel=1e-10)
    assert network.most_probable(known)["cause"] == 1
    # Half speaks for the cause and half against it, each by a factor of 1000: the odds stay even.
    nodes = {"cause": ([], 0.5)}
    nodes |= {f"e{i}": (["cause"], [0.001, 1e-6] if i % 2 else [1e-6, 0.001]) for i in range(400)}
    even, known = BayesianNetwork(nodes), {f"e{i}": 1 for i in range(400)}
    assert even.probability({"cause": 1}, given=known) == pytest.approx(0.5, rel=1e-10)
    assert even.most_probable(known).keys() == nodes.keys()


def test_a_question_that_is_too_large_is_refused_with_its_size():
    names = [f"a{i}" for i in range(26)]
    rng = np.random.default_rng(0)
    nodes = {name: ([], 0.5) for name in names}
    # Each pair has a child that is seen: 26 variables of which all are neighbours.
    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    nodes |= {f"{a}{b}": ([a, b], rng.random((2, 2))) for a, b in pairs}
    network = BayesianNetwork(nodes)
    known = {f"{a}{b}": 1 for a, b in pairs}
    with pytest.raises(InputError, match=r"table of 67,108,864 numbers.* width 25.*sample\(\)"):
        network.probability({"a0": 1}, given=known)
    # Without the evidence, or with a few causes known, it is cheap.
    assert network.probability({"a0": 1}) == pytest.approx(0.5)
    some = known | dict.fromkeys(names[10:], 0)
    assert 0 < network.probability({"a0": 1}, given=some) < 1


# ---- impossible evidence, questions about what is given ------------------------------------------


def test_impossible_evidence_is_refused_wherever_it_is():
    """Even if it is in a part of the graph that the question does not touch."""
    network = BayesianNetwork({"a": ([], 0.3), "b": ([], 0.0), "c": (["b"], [0.5, 0.5])})
    for ask in (
        lambda: network.probability({"a": 1}, given={"b": 1}),
        lambda: network.probability({}, given={"b": 1}),
        lambda: network.probability({"b": 1}, given={"b": 1}),
        lambda: network.marginal("a", "c", given={"b": 1}),
        lambda: network.most_probable({"b": 1}),
        lambda: network.plot({"b": 1}),
    ):
        with pytest.raises(InputError, match=r"given, \{'b': 1\}, has probability 0"):
            ask()
    assert network.probability({"a": 1}, given={"b": 0}) == pytest.approx(0.3)
    assert network.probability({"b": 1, "c": 1}) == 0


def test_what_is_given_has_all_the_probability():
    network = filled({"a": [], "b": ["a"]}, cardinality={"a": 3})
    frame = network.marginal("b", "a", given={"a": 2})
    assert frame.loc[frame["a"] != 2, "probability"].tolist() == [0, 0, 0, 0]
    assert frame.loc[frame["a"] == 2, "probability"].tolist() == pytest.approx(
        network.tables_["b"][2]
    )
    assert network.marginal("a", given={"a": 1})["probability"].tolist() == [0, 1, 0]


def test_bad_names_of_marginals_are_named():
    network = filled(GRAPH)
    for names in ((), ("x1", "x1")):
        with pytest.raises(InputError, match="names of different variables"):
            network.marginal(*names)
    with pytest.raises(InputError, match=r"'x11' is no variable.*Did you mean 'x1'"):
        network.marginal("x11")
    with pytest.raises(InputError, match=r"\(37 in all\).*Did you mean 'INTUBATION'"):
        published("alarm").marginal("INTUBATED")
    with pytest.raises(InputError, match="has no state 5"):
        network.marginal("x1", given={"x2": 5})
    with pytest.raises(InputError, match="has no table yet"):
        BayesianNetwork({"a": ([], None)}).marginal("a")


def test_answers_follow_the_tables():
    """A fit, and other parameters, make new answers; a stored network answers alike."""
    network = BayesianNetwork({"a": ([], 0.5), "b": (["a"], [0.2, 0.4])})
    assert network.probability({"b": 1}) == pytest.approx(0.3)
    network.fit(pd.DataFrame({"a": [0, 1, 1, 1], "b": [1, 1, 1, 1]}))
    again = pickle.loads(pickle.dumps(network))
    # a = 1 with 4/6; b = 1 with 2/3 and 4/5.
    assert network.probability({"b": 1}) == pytest.approx(2 / 6 * 2 / 3 + 4 / 6 * 4 / 5)
    assert again.probability({"b": 1}) == network.probability({"b": 1})
    # What was prepared for the answers is not written into a model file.
    text = skops.io.dumps(network)
    kept = set(skops.io.get_untrusted_types(data=text))
    assert kept <= stored_types() | {f"{BayesianNetwork.__module__}.BayesianNetwork"}
    loaded = skops.io.loads(text, trusted=sorted(kept))
    assert loaded.probability({"b": 1}) == network.probability({"b": 1})
    network.set_params(nodes={"b": ([], 0.9)})
    assert network.fit(pd.DataFrame({"b": [1]})).probability({"b": 1}) == pytest.approx(2 / 3)


# ---- Dirichlet priors ----------------------------------------------------------------------------


def test_pseudo_counts_for_each_table():
    frame = pd.DataFrame({"a": [0, 0, 0, 1], "b": ["u", "u", "v", "v"]})
    nodes, states = {"b": (["a"], None), "a": ([], None)}, {"b": ["u", "v"]}

    def tables(smoothing):
        return BayesianNetwork(nodes, states=states, smoothing=smoothing).fit(frame).tables_

    found = tables({"a": [1.0, 3.0], "b": [[0.5, 0.5], [2.0, 8.0]]})
    np.testing.assert_allclose(found["a"], [4 / 8, 4 / 8])
    np.testing.assert_allclose(found["b"], [[2.5 / 4, 1.5 / 4], [2 / 11, 9 / 11]])
    # One number per state stands for all rows; a name left out has Laplace's rule.
    found = tables({"b": [0.0, 2.0]})
    np.testing.assert_allclose(found["a"], [4 / 6, 2 / 6])
    np.testing.assert_allclose(found["b"], [[2 / 5, 3 / 5], [0, 1]])
    for name in ("a", "b"):
        np.testing.assert_array_equal(tables({"a": 2, "b": 2})[name], tables(2.0)[name])
    # Pseudo-counts are rows: those of the first two rows added to the other two.
    half = BayesianNetwork(nodes, states=states, smoothing={"a": [2, 0], "b": [[2, 0], [0, 0]]})
    np.testing.assert_allclose(half.fit(frame[2:]).tables_["a"], tables(0.0)["a"])
    np.testing.assert_allclose(half.tables_["b"], tables(0.0)["b"])


@pytest.mark.parametrize(
    ("smoothing", "message"),
    [
        ({"c": 1.0}, "smoothing names 'c'"),
        ({"a": -1.0}, r"smoothing of 'a' must be a number in \[0, inf\)"),
        ({"a": np.nan}, "smoothing of 'a'"),
        ({"b": np.ones((3, 2))}, r"shape of its table, \(2, 2\)"),
        ({"a": "much"}, "smoothing of 'a' must be a number"),
        ("much", "or a mapping of names to such numbers"),
    ],
)
def test_bad_pseudo_counts_are_named(smoothing, message):
    network = BayesianNetwork({"a": ([], None), "b": (["a"], None)}, smoothing=smoothing)
    with pytest.raises(ParameterError, match=message):
        network.fit(pd.DataFrame({"a": [0, 1], "b": [0, 1]}))


def test_published_tables_are_rounded():
    third = [0.3333333, 0.3333333, 0.3333333]
    network = BayesianNetwork({"a": ([], third)}, states={"a": [1, 2, 3]})
    np.testing.assert_allclose(network.tables_["a"], 1 / 3, rtol=1e-15)
    with pytest.raises(InputError, match=r"sums to 0\.999"):
        BayesianNetwork({"a": ([], [0.333, 0.333, 0.333])}, states={"a": [1, 2, 3]})


# ---- drawing -------------------------------------------------------------------------------------


def test_the_drawing_has_every_node_below_its_parents():
    network = published("asia")
    spec = network.plot(given={"xray": "yes"}).to_dict()
    rows = spec["data"]["values"]
    place = {row["name"]: row["top"] for row in rows if row["kind"] == "node"}
    assert place.keys() == network.parents_.keys()
    for name, parents in network.parents_.items():
        assert all(place[parent] < place[name] for parent in parents)
    boxes = [row for row in rows if row["kind"] == "node"]
    for i, one in enumerate(boxes):  # no two boxes overlap
        for other in boxes[:i]:
            apart = one["left"] >= other["right"] or other["left"] >= one["right"]
            assert apart or one["top"] >= other["bottom"] or other["top"] >= one["bottom"]
    assert [row["name"] for row in boxes if row["role"] == "marked"] == ["xray"]
    lung = {r["state"]: r["p"] for r in rows if r["kind"] == "share" and r["name"] == "lung"}
    assert lung["yes"] == pytest.approx(
        network.probability({"lung": "yes"}, given={"xray": "yes"}), abs=1e-6
    )
    assert sum(row["kind"] == "head" for row in rows) == 8


def test_a_graph_without_tables_can_be_drawn():
    rows = BayesianNetwork({name: (parents, None) for name, parents in GRAPH.items()}).plot()
    kinds = {row["kind"] for row in rows.to_dict()["data"]["values"]}
    assert kinds == {"node", "edge", "head"}
