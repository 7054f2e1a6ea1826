"""Bayesian networks: the notes' graph and counts, exact probabilities, sampling, estimation."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from bottega.core.errors import InputError, ParameterError
from bottega.probability import BayesianNetwork

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


# ---- the graph (M417, M418) ----------------------------------------------------------------------


def test_factorization_of_the_notes():
    network = filled(GRAPH)
    assert network.factorization() == "p(x1|x4,x5) p(x2|x1,x5) p(x3|x1,x2) p(x4) p(x5)"
    place = {name: i for i, name in enumerate(network.order_)}
    assert all(place[p] < place[name] for name, parents in GRAPH.items() for p in parents)


def test_number_of_parameters_of_the_notes():
    """4 + 4 + 4 + 1 + 1; the full joint has 2^5 - 1 (the notes print 2^5), no edges 5."""
    assert filled(GRAPH).n_parameters == 14
    names = list(GRAPH)
    assert filled({name: names[:i] for i, name in enumerate(names)}).n_parameters == 31
    assert filled({name: [] for name in names}).n_parameters == 5
    # Of k states k - 1 are free: 2 for a; for b, given each of three, 3.
    assert filled({"a": [], "b": ["a"]}, cardinality={"a": 3, "b": 4}).n_parameters == 2 + 3 * 3


def test_regression_as_a_graph_needs_no_tables():
    """M434: each response depends on its inputs, the coefficients and the noise's precision."""
    nodes = {"alpha": ([], None), "beta": ([], None), "w": (["alpha"], None)}
    for i in (1, 2):
        nodes |= {f"x{i}": ([], None), f"y{i}": ([f"x{i}", "w", "beta"], None)}
    network = BayesianNetwork(nodes)
    assert network.factorization() == (
        "p(alpha) p(beta) p(w|alpha) p(x1) p(y1|x1,w,beta) p(x2) p(y2|x2,w,beta)"
    )
    assert repr(network).endswith("p(y2|x2,w,beta)")
    with pytest.raises(InputError, match="has no table yet"):
        network.sample(1)


# ---- probabilities -------------------------------------------------------------------------------


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


@settings(max_examples=40, deadline=None)
@given(network=networks())
def test_the_joint_sums_to_one(network):
    assert sum(map(network.joint, assignments(network))) == pytest.approx(1, abs=1e-12)
    assert network.probability({}) == 1


@settings(max_examples=40, deadline=None)
@given(network=networks(), data=st.data())
def test_probability_is_the_share_of_the_joint(network, data):
    names = list(network.states_)
    some = st.lists(st.sampled_from(names), unique=True)
    query = {name: data.draw(st.sampled_from(network.states_[name])) for name in data.draw(some)}
    known = {name: data.draw(st.sampled_from(network.states_[name])) for name in data.draw(some)}

    def total(*conditions):
        return sum(
            network.joint(row)
            for row in assignments(network)
            if all(row[name] == state for each in conditions for name, state in each.items())
        )

    expected = total(query, known) / total(known)
    assert network.probability(query, given=known) == pytest.approx(expected, rel=1e-10, abs=1e-14)


def test_explaining_away_by_hand():
    """Two causes of one effect: independent, and not so once the effect is seen."""
    network = BayesianNetwork(
        {"effect": (["a", "b"], [[0.0, 1.0], [1.0, 1.0]]), "a": ([], 0.1), "b": ([], [0.8, 0.2])}
    )
    assert network.probability({"a": 1}, given={"b": 1}) == pytest.approx(0.1)
    # p(effect) = 1 - 0.9 * 0.8 = 0.28
    assert network.probability({"a": 1}, given={"effect": 1}) == pytest.approx(0.1 / 0.28)
    assert network.probability({"a": 1}, given={"effect": 1, "b": 1}) == pytest.approx(0.1)
    assert network.probability({"a": 1}, given={"effect": 1, "b": 0}) == pytest.approx(1)
    assert network.probability({"a": True, "b": True}) == pytest.approx(0.02)
    assert network.probability({"a": 1}, given={"a": 0}) == 0


def test_variables_below_the_question_cost_nothing():
    """A chain of 60: the first three are asked about, 57 descendants are never summed over."""
    chain = {f"v{i}": ([f"v{i - 1}"] if i else [], [0.3, 0.6] if i else 0.5) for i in range(60)}
    network = BayesianNetwork(chain)
    assert network.probability({"v1": 1}) == pytest.approx(0.45)
    assert network.probability({"v2": 1}, given={"v0": 1}) == pytest.approx(0.6 * 0.6 + 0.4 * 0.3)
    assert network.probability({"v59": 1}) == pytest.approx(3 / 7)  # p = 0.3 + 0.3 p


# ---- sampling (M419) -----------------------------------------------------------------------------


def test_frequencies_converge_to_the_joint():
    """Each of 48 frequencies within five standard errors: false alarm below 48 * 6e-7 = 3e-5."""
    n = 200_000
    network = filled(GRAPH, seed=3, cardinality={"x1": 3})
    drawn = network.sample(n, random_state=1)
    assert list(drawn.columns) == list(GRAPH)
    counts = drawn.value_counts().to_dict()
    seen = 0
    for row in assignments(network):
        p = network.joint(row)
        # Rarer states are left out: the normal approximation is poor for them.
        if n * p < 50:
            continue
        seen += 1
        share = counts.get(tuple(row.values()), 0) / n
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / n)
    assert seen > 30


def test_samples_repeat_with_their_seed_and_show_the_states():
    network = BayesianNetwork(
        {"sky": ([], [0.5, 0.3, 0.2]), "late": (["sky"], [0.1, 0.2, 0.9])},
        states={"sky": ["clear", "cloudy", 3], "late": ["no", "yes"]},
    )
    drawn = network.sample(500, random_state=4)
    assert set(drawn["sky"]) == {"clear", "cloudy", 3}
    assert set(drawn["late"]) == {"no", "yes"}
    assert drawn.equals(network.sample(500, random_state=4))
    assert not drawn.equals(network.sample(500, random_state=5))
    never = BayesianNetwork({"a": ([], 0.0), "b": (["a"], [1.0, 0.0])}).sample(100, random_state=0)
    assert (never["a"] == 0).all()
    assert (never["b"] == 1).all()


# ---- estimation ----------------------------------------------------------------------------------


def test_tables_are_shares_of_the_rows():
    frame = pd.DataFrame({"a": [0, 0, 0, 1], "b": ["u", "u", "v", "v"], "other": 1.5})
    nodes, states = {"b": (["a"], None), "a": ([], None)}, {"b": ["u", "v"]}
    plain = BayesianNetwork(nodes, states=states, smoothing=0).fit(frame)
    np.testing.assert_allclose(plain.tables_["a"], [3 / 4, 1 / 4])
    np.testing.assert_allclose(plain.tables_["b"], [[2 / 3, 1 / 3], [0, 1]])
    laplace = BayesianNetwork(nodes, states=states).fit(pl.from_pandas(frame))
    np.testing.assert_allclose(laplace.tables_["a"], [4 / 6, 2 / 6])
    np.testing.assert_allclose(laplace.tables_["b"], [[3 / 5, 2 / 5], [1 / 3, 2 / 3]])
    assert laplace.probability({"b": "v"}, given={"a": 1}) == pytest.approx(2 / 3)


def test_estimates_come_back_to_the_tables_the_data_are_from():
    """Every row of a table within five standard errors: 14 rows, false alarm below 1e-5."""
    truth = filled(GRAPH, seed=6)
    frame = truth.sample(100_000, random_state=7)
    found = BayesianNetwork({name: (parents, None) for name, parents in GRAPH.items()}).fit(frame)
    for name, parents in GRAPH.items():
        for states in product((0, 1), repeat=len(parents)):
            rows = np.ones(len(frame), bool)
            for parent, state in zip(parents, states, strict=True):
                rows &= (frame[parent] == state).to_numpy()
            p = truth.tables_[name][states][1]
            error = abs(found.tables_[name][states][1] - p)
            # Laplace's rule moves a share by at most 1 / rows.
            assert error < 5 * np.sqrt(p * (1 - p) / rows.sum()) + 1 / rows.sum()


def test_a_combination_of_parents_never_seen_is_named():
    network = BayesianNetwork({"a": ([], None), "b": (["a"], None)}, smoothing=0)
    with pytest.raises(InputError, match=r"No row of the data has a=1, so the table of 'b'"):
        network.fit(pd.DataFrame({"a": [0, 0], "b": [0, 1]}))
    assert network.tables_["b"] is None
    with pytest.raises(InputError, match="smoothing > 0"):
        network.fit(pd.DataFrame({"a": [], "b": []}))


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "states", "message"),
    [
        ({}, None, "at least one variable"),
        ({1: ([], 0.5)}, None, "must be text; got 1"),
        ({"a": 0.5}, None, r"pair \(list of parents, table\)"),
        ({"a": ([], 0.5), "b": ("a", [0.5, 0.5])}, None, r"pair \(list of parents, table\)"),
        ({"rain": ([], 0.5), "b": (["rian"], [0, 1])}, None, "'rian'.*Did you mean 'rain'"),
        ({"a": ([], 0.5), "b": (["a", "a"], [0, 1])}, None, "a parent twice"),
        ({"a": (["a"], [0, 1])}, None, "cycle a -> a;"),
        (
            {"a": (["c"], [0, 1]), "b": (["a"], [0, 1]), "c": (["b"], [0, 1])},
            None,
            "cycle (a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c);",
        ),
        ({"a": ([], [0.2, 0.3, 0.5])}, None, r"shape \(3,\); it needs \(2,\)"),
        ({"a": ([], 0.5), "b": (["a"], 0.5)}, None, r"needs \(2, 2\): one axis each for a, b"),
        ({"a": ([], "often")}, None, "must be numbers"),
        ({"a": ([], 1.2)}, None, "no probabilities"),
        ({"a": ([], np.nan)}, None, "no probabilities"),
        ({"a": ([], [0.3, 0.6])}, None, "sums to 0.9; each row must sum to 1"),
        ({"a": ([], 0.5)}, {"b": [1, 2]}, "states names 'b'"),
        ({"a": ([], 0.5)}, {"a": ["one"]}, "at least two different"),
        ({"a": ([], 0.5)}, {"a": [1, 1]}, "at least two different"),
        ({"a": ([], 0.5)}, {"a": "no"}, "at least two different"),
    ],
)
def test_bad_networks_are_named(nodes, states, message):
    with pytest.raises(InputError, match=message):
        BayesianNetwork(nodes, states=states)


def test_bad_questions_are_named():
    network = BayesianNetwork({"a": ([], 1.0), "b": (["a"], [0.5, 0.5])})
    with pytest.raises(InputError, match="needs a state of every variable and 'b' has none"):
        network.joint({"a": 1})
    with pytest.raises(InputError, match=r"'a' has no state 2; its states are 0, 1"):
        network.probability({"a": 2})
    with pytest.raises(InputError, match="no state"):
        network.probability({"a": [1]})
    with pytest.raises(InputError, match="'c' is no variable"):
        network.probability({"b": 1}, given={"c": 1})
    with pytest.raises(InputError, match="has probability 0; nothing follows"):
        network.probability({"b": 1}, given={"a": 0})
    for n in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="n_samples"):
            network.sample(n)


def test_bad_data_are_named():
    network = BayesianNetwork({"a": ([], None), "b": (["a"], None)})
    good = pd.DataFrame({"a": [0, 1], "b": [0, 1]})
    with pytest.raises(InputError, match="no column 'b'"):
        network.fit(good[["a"]])
    with pytest.raises(InputError, match=r"'b' has no state (None|nan)"):
        network.fit(good.assign(b=[0, np.nan]))
    with pytest.raises(InputError, match="needs a data frame; got list"):
        network.fit([[0, 1]])
    for smoothing in (-1, np.inf, np.nan):
        with pytest.raises(ParameterError, match="smoothing"):
            network.set_params(smoothing=smoothing).fit(good)


def test_a_network_is_an_estimator_with_a_card():
    frame = pd.DataFrame({"a": [0, 0, 1], "b": [0, 1, 1]})
    network = BayesianNetwork({"a": ([], 0.5), "b": (["a"], None)})
    again = clone(network)
    assert again.nodes.keys() == network.nodes.keys()
    fitted = again.fit(frame)
    np.testing.assert_allclose(fitted.tables_["a"], [3 / 5, 2 / 5])
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.tables_["b"], fitted.tables_["b"])
    # Other parameters are another graph, and what was learned is forgotten with the next fit.
    fitted.set_params(nodes={"b": ([], None)}).fit(frame)
    assert fitted.order_ == ("b",)
    np.testing.assert_allclose(fitted.tables_["b"], [2 / 5, 3 / 5])
    assert (fitted.card.task, fitted.card.weights, fitted.card.knob) == ("density", False, None)


def test_what_is_no_mapping_is_said():
    with pytest.raises(InputError, match="nodes must be a mapping"):
        BayesianNetwork([("a", ([], 0.5))])
    with pytest.raises(InputError, match="mapping of names to states"):
        BayesianNetwork({"a": ([], 0.5)}).probability("a")
