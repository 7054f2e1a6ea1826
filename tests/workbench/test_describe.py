"""`bottega.describe`: what it finds in real tables, and what it does not claim."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

import bottega
from bottega.core import progress
from bottega.core.errors import InputError
from bottega.workbench.describe import _Progress

TABLES = Path(__file__).parents[1] / "reference" / "tables"


@pytest.fixture(scope="module")
def crabs():
    return bottega.describe(str(TABLES / "crabs.csv"), exclude=["index"])


@pytest.fixture(scope="module")
def cars():
    return bottega.describe(str(TABLES / "cars93.csv"))


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    return bottega.describe(pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde")))


def test_crabs_are_two_species_of_two_sexes(crabs):
    # R's mclust finds the same four clusters (EEV) in the five measurements; 0.7 leaves room for
    # rows between the sexes.
    assert crabs.clusters.count == 4
    truth = crabs.table.frame["sp"] + crabs.table.frame["sex"]
    assert adjusted_rand_score(truth, crabs.clusters.labels) > 0.7
    told = " ".join(crabs.clusters.words())
    assert "sp = " in told
    assert "sex = " in told


def test_setosa_stands_apart_from_the_other_irises():
    found = bottega.describe("iris", exclude=["target"])
    assert found.clusters.count == 2
    setosa = load_iris().target == 0
    assert adjusted_rand_score(setosa, found.clusters.labels) == 1.0
    assert found.clusters.silhouette > 0.5


def test_a_few_far_rows_do_not_hide_the_clusters():
    rng = np.random.default_rng(0)
    group = np.arange(120) % 2
    rows = rng.normal(size=(120, 2)) + 9 * group[:, None]
    rows[3, 1] = 60.0
    found = bottega.describe(pd.DataFrame(rows, columns=["a", "b"]))
    assert found.clusters.count == 2
    assert adjusted_rand_score(group, found.clusters.labels) > 0.95
    assert 3 in {each.row for each in found.outliers.rows}


def test_pure_noise_is_one_cluster_without_components(noise):
    assert noise.clusters.count == 1
    assert noise.components.kept == 0
    assert "no evidence of more than one cluster" in " ".join(noise.sentences)
    assert "hardly vary together" in " ".join(noise.sentences)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: np.exp(rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3))),
        lambda rng: rng.uniform(size=(300, 3)),
        lambda rng: rng.standard_t(3, size=(300, 3)),
        lambda rng: rng.exponential(size=(300, 3)),
        lambda rng: np.round(rng.normal(size=(300, 3)) * 4),
    ],
    ids=["lognormal", "uniform", "t3", "exponential", "rounded"],
)
def test_one_population_of_any_shape_is_one_cluster(draw):
    rows = draw(np.random.default_rng(1))
    found = bottega.describe(pd.DataFrame(rows, columns=["a", "b", "c"]))
    assert found.clusters.count == 1


@pytest.mark.parametrize(
    "repeat",
    [
        lambda X: X.a,
        lambda X: 2 * X.a + 3,
        lambda X: X.a.round(1),
        lambda X: X.a + 0.01 * np.random.default_rng(1).normal(size=200),
        lambda X: X.a + X.b,
    ],
    ids=["copy", "linear", "rounded", "noise", "sum"],
)
def test_a_column_that_follows_from_others_makes_no_clusters(repeat):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    X.loc[3, "a"] = 50.0  # a wild value in one column hides nothing
    found = bottega.describe(X.assign(again=repeat(X)))
    assert found.clusters.count == 1
    assert found.clusters.columns == found.outliers.columns == tuple("abcd")
    assert "of its variance" in found.skipped["again"]
    assert "column 'again': other number columns explain" in str(found)


@pytest.mark.parametrize("join", [np.add, np.multiply])
def test_sums_and_products_of_skewed_columns_make_no_clusters(join):
    X = pd.DataFrame(np.exp(np.random.default_rng(2).normal(size=(200, 4))), columns=list("abcd"))
    found = bottega.describe(X.assign(joined=join(X.a, X.b)))
    assert found.clusters.count == 1
    assert len(found.clusters.columns) == 4


def test_related_measurements_are_no_repetitions(crabs):
    # Correlations of crabs reach 0.995, and their small differences are what tells the sexes apart.
    assert not crabs.skipped
    assert crabs.clusters.columns == ("FL", "RW", "CL", "CW", "BD")
    assert not bottega.describe("iris", exclude=["target"]).skipped


def test_categories_of_two_sorts_of_rows_are_two_clusters():
    rng = np.random.default_rng(0)
    sort = rng.integers(0, 2, 300)
    frame = pd.DataFrame(
        {name: np.where(rng.random(300) < 0.05, "x", np.where(sort, "y", "z")) for name in "abcdef"}
    )
    found = bottega.describe(frame)
    assert found.clusters.by == "means"
    assert found.clusters.count == 2
    assert adjusted_rand_score(sort, found.clusters.labels) > 0.95
    assert "outliers" in found.absent


def test_unrelated_categories_are_one_cluster():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("xyz"), 300) for name in "abcdef"})
    assert bottega.describe(frame).clusters.count == 1


def test_planted_outliers_are_found_with_the_column_that_makes_them_so():
    rng = np.random.default_rng(0)
    size = rng.normal(170, 10, 300)
    frame = pd.DataFrame(
        {
            "height": size,
            "weight": 0.9 * size - 85 + rng.normal(0, 5, 300),
            "age": rng.normal(40, 10, 300),
        }
    )
    frame.loc[17, "weight"] = 110.0  # possible for somebody, but not at 150 cm
    frame.loc[17, "height"] = 150.0
    frame.loc[99, "age"] = 999.0
    found = bottega.describe(frame)
    rows = {each.row: each for each in found.outliers.rows}
    assert {17, 99} <= rows.keys()
    assert found.outliers.count <= 4  # 0.3 expected
    assert [name for name, _, _ in rows[99].columns] == ["age"]
    (name, value, expected), *_ = rows[17].columns
    assert name in ("height", "weight")
    assert value in (110.0, 150.0)
    assert abs(expected - value) > 20


def test_a_wild_value_does_not_move_a_row_to_another_cluster():
    rng = np.random.default_rng(0)
    group = np.arange(200) % 2
    rows = rng.normal(size=(200, 3)) + 10 * group[:, None]
    rows[4] = [0.3, 40.0, -0.2]  # of the first cluster, and nearer to the second
    found = bottega.describe(pd.DataFrame(rows, columns=["a", "b", "c"]))
    assert found.clusters.count == 2
    ((name, value, expected),) = next(r.columns for r in found.outliers.rows if r.row == 4)
    assert (name, value) == ("b", 40.0)
    assert abs(expected) < 2


def test_scores_beyond_what_can_be_computed_are_finite():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"])
    frame.loc[[5, 6], "a"] = [1e9, 300.0]
    found = bottega.describe(frame)
    assert np.isfinite(found.outliers.scores).all()
    assert found.outliers.rows[0].score == 300.0
    assert "> 300" in str(found)
    assert "&gt; 300" in found._repr_html_()
    assert "inf" not in json.dumps(found.to_dict()["outliers"]).lower()


def test_the_share_of_false_alarms_is_as_stated():
    # 4,000 normal rows at 0.01: 40 expected, standard deviation 6.3; 15 to 70 is beyond 4 of them.
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 4)) @ rng.normal(size=(4, 4))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    found = bottega.describe(pd.DataFrame(rows, columns=list("abcd")), false_alarm=0.01)
    assert 15 <= found.outliers.count <= 70
    assert found.outliers.expected == pytest.approx(40, abs=0.5)


def test_a_messy_table_of_all_kinds_is_described(cars):
    assert cars.clusters is not None
    assert cars.components.kept >= 2
    assert cars.outliers is not None
    assert not cars.absent
    pairs = {frozenset((pair.first, pair.second)) for pair in cars.relations.pairs}
    assert frozenset(("Price", "Min.Price")) in pairs
    frame = cars.to_frame()
    assert len(frame) == 93
    assert {"row", "cluster", "outlier", "outlier_score", "component_1"} <= set(frame.columns)
    assert cars.id_column in frame.columns


def test_the_first_component_of_cars_is_their_size(cars):
    carriers = dict(cars.components.carriers(0))
    assert len({np.sign(carriers[name]) for name in carriers if name in ("Weight", "Width")}) == 1
    assert "Weight" in carriers
    assert np.sign(carriers["Weight"]) != np.sign(dict(cars.components.carriers(0, 30))["MPG.city"])


def test_components_are_principal_components_of_standardised_numbers():
    X = load_iris(as_frame=True).data
    found = bottega.describe(X)
    values = np.linalg.eigvalsh(np.corrcoef(X.to_numpy(), rowvar=False))[::-1]
    # Columns that are not bent and have no far values are standardised exactly.
    np.testing.assert_allclose(found.components.shares, values / 4, rtol=0.05)
    r = np.corrcoef(X.to_numpy()[:, 2], found.components.scores[:, 0])[0, 1]
    assert abs(r) == pytest.approx(abs(found.components.correlations[2, 0]), abs=0.02)


@pytest.mark.parametrize("values", [np.arange(50.0) ** 1.5, list("abcde") * 10])
def test_one_column_has_no_components_to_claim(values):
    found = bottega.describe(pd.DataFrame({"only": values}))
    assert found.components.kept == 0
    assert "variance" not in " ".join(found.sentences)
    assert "There is one column" in str(found)


def test_clusters_are_not_explained_by_columns_that_are_left_out():
    rng = np.random.default_rng(0)
    group = np.arange(200) % 2
    frame = pd.DataFrame(rng.normal(size=(200, 2)) + 9 * group[:, None], columns=["a", "b"])
    frame["rare"] = np.where(rng.random(200) < 0.8, np.nan, 50.0 * group + rng.normal(size=200))
    frame["copy"] = 1000 * frame["a"]
    found = bottega.describe(frame)
    assert found.clusters.count == 2
    assert {"rare"} < set(found.skipped)
    words = " ".join(found.clusters.words())
    assert "rare" not in words
    assert ("higher a" in words) + ("higher copy" in words) == 1  # it says the same once


def test_the_answer_follows_a_change_of_units():
    X = load_iris(as_frame=True).data
    here = bottega.describe(X)
    there = bottega.describe(X * 2.54e9 + 7.0)
    np.testing.assert_allclose(here.components.shares, there.components.shares, rtol=1e-6)
    np.testing.assert_array_equal(here.clusters.labels, there.clusters.labels)
    np.testing.assert_allclose(here.outliers.scores, there.outliers.scores, rtol=1e-4, atol=1e-6)


def test_the_same_seed_gives_the_same_answer(crabs):
    again = bottega.describe(str(TABLES / "crabs.csv"), exclude=["index"])
    pd.testing.assert_frame_equal(crabs.to_frame(), again.to_frame())


@pytest.mark.parametrize("scale", [1e150, 1e-150])
def test_numbers_of_any_size(scale):
    rng = np.random.default_rng(0)
    found = bottega.describe(pd.DataFrame(rng.normal(size=(60, 3)) * scale, columns=list("abc")))
    assert not found.absent
    assert np.isfinite(found.components.scores).all()
    assert np.isfinite(found.outliers.scores).all()


def test_missing_values_and_rows_without_any():
    X = load_iris(as_frame=True).data
    rng = np.random.default_rng(0)
    X = X.mask(rng.random(X.shape) < 0.2)
    X.iloc[5] = np.nan
    found = bottega.describe(X)
    assert found.clusters.count == 2
    assert np.isnan(found.outliers.scores[5])
    assert not found.outliers.flagged[5]
    assert np.isfinite(found.components.scores).all()
    setosa = load_iris().target == 0
    assert adjusted_rand_score(setosa, found.clusters.labels) > 0.85


def test_what_is_left_out_is_said():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.arange(1, 101),
            "same": 1,
            "mostly gone": np.where(rng.random(100) < 0.9, np.nan, rng.normal(size=100)),
            "step": rng.integers(1, 4, 100),
            "zeros": np.where(rng.random(100) < 0.7, 0.0, rng.normal(size=100)),
            "x": rng.normal(size=100),
            "y": rng.normal(size=100),
        }
    )
    found = bottega.describe(frame)
    told = str(found)
    assert "'same' has the same value in every row" in told
    assert "missing in" in found.skipped["mostly gone"]
    assert "3 different values" in found.skipped["step"]
    assert "of its values are 0" in found.skipped["zeros"]
    assert found.clusters.columns == ("x", "y")
    assert found.id_column == "id"


def test_equal_columns_and_repeated_rows_are_told():
    rng = np.random.default_rng(0)
    a = rng.normal(size=50)
    frame = pd.DataFrame({"a": a, "copy": a, "minus": -a, "b": rng.normal(size=50)})
    frame = pd.concat([frame, frame.iloc[:3]], ignore_index=True)
    found = bottega.describe(frame)
    kinds = {(pair.first, pair.second): pair for pair in found.relations.pairs}
    assert kinds["a", "copy"].kind == "equal"
    assert kinds["a", "minus"].strength == pytest.approx(-1.0)
    assert found.relations.repeated_rows == 3
    assert not found.absent


def test_categories_of_numbers_and_intervals_lists_and_names_of_several_levels():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    frame = pd.DataFrame({"x": x, "bin": pd.cut(x, 3), "list": [[1, 2]] * 60})
    frame["grade"] = pd.Categorical([3, 1, 2] * 20, ordered=True)
    frame["half"] = pd.Categorical([0.5, 1.0, np.nan] * 20)
    found = bottega.describe(frame)
    kinds = {column.name: column.kind for column in found.table.columns}
    assert {kinds[name] for name in ("bin", "grade", "half")} == {"category"}
    assert kinds["list"] == "foreign"
    assert {"grade=3", "half=1", "half=0.5"} < set(found.components.titles)
    assert any("'list'" in finding.message for finding in found.findings)
    deep = frame[["x"]].assign(y=x[::-1])
    deep.columns = pd.MultiIndex.from_tuples([("size", "first"), ("size", 2)])
    assert [each.name for each in bottega.describe(deep).table.columns] == ["size first", "size 2"]


def test_columns_that_are_not_shown_are_counted(noise):
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(8, 14)))
    wide.columns = [f"c{j}" for j in range(14)]
    assert "Columns (the first 10; 4 more)" in str(bottega.describe(wide))
    assert "Columns (" not in str(noise)


def test_it_shows_itself_on_one_screen(cars, noise):
    for found in (cars, noise):
        assert len(repr(found).splitlines()) <= 26
        assert found._repr_html_().startswith("<div")
    assert "Clusters" in str(cars) or "no evidence of more than one cluster" in str(cars)


def test_plain_values_are_json(cars):
    told = json.loads(json.dumps(cars.to_dict(), default=float))
    assert told["n_rows"] == 93
    assert told["components"]["kept"] == cars.components.kept


def test_arrays_polars_frames_and_tables_are_taken():
    X = load_iris().data
    by_array = bottega.describe(X)
    frame = pl.DataFrame({name: X[:, j] for j, name in enumerate("abcd")})
    by_frame = bottega.describe(frame)
    np.testing.assert_array_equal(by_array.clusters.labels, by_frame.clusters.labels)
    assert isinstance(by_frame.to_frame(), pl.DataFrame)
    table = bottega.read("iris")
    assert "target" in bottega.describe(table).table.features


def test_large_tables_are_thinned_and_this_is_said():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(21_000, 3)) + 8 * (np.arange(21_000) % 2)[:, None]
    found = bottega.describe(pd.DataFrame(rows, columns=list("abc")))
    assert found.n_fitted == 20_000
    assert "20,000 of 21,000 rows" in str(found)
    assert found.clusters.count == 2
    assert len(found.to_frame()) == 21_000
    assert adjusted_rand_score(np.arange(21_000) % 2, found.clusters.labels) > 0.99


@pytest.mark.parametrize("n", [1, 2, 3, 9, 15])
def test_few_rows(n):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    if n == 1:
        with pytest.raises(InputError, match="No column is left"):
            bottega.describe(frame)
        return
    found = bottega.describe(frame)
    assert ("clusters" in found.absent) == (n < 10)
    assert ("components" in found.absent) == (n < 3)
    assert len(found.to_frame()) == n
    assert repr(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["Sepal"]}, "columns names 'Sepal'"),
        ({"exclude": ["nothing"]}, "exclude names 'nothing'"),
        ({"columns": []}, "columns is empty"),
        ({"columns": ["a"], "exclude": ["a"]}, "in columns and in exclude"),
        ({"max_clusters": 0}, "max_clusters=0 is not allowed"),
        ({"false_alarm": 0.0}, "false_alarm=0.0 is not allowed"),
        ({"kinds": {"q": "number"}}, "kinds names a column 'q'"),
    ],
)
def test_bad_arguments(options, message):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.5], "b": [2.0, 1.0, 4.0]})
    with pytest.raises(InputError, match=message):
        bottega.describe(frame, **options)


def test_data_without_two_axes_are_refused():
    with pytest.raises(InputError, match="two axes"):
        bottega.describe(np.zeros(5))


def test_progress_is_reported():
    seen = []
    with progress.listen(seen.append):
        bottega.describe(load_iris(as_frame=True).data)
    stages = [event.message for event in seen if event.stage == "describing"]
    assert stages[-4:-1] == ["clusters", "outliers", "relations"]
    assert seen[-1].done == seen[-1].total


def test_an_interruption_leaves_what_was_done():
    work = _Progress()
    assert work.do("components", lambda: 7, 1) == 7

    def pressed():
        raise KeyboardInterrupt

    assert work.do("clusters", pressed, 2) is None
    assert work.do("outliers", lambda: 7, 3) is None
    assert work.stopped
    assert work.absent == dict.fromkeys(("clusters", "outliers"), "stopped before it was done")


def test_a_stopped_description_shows_and_reports_itself(monkeypatch, tmp_path):
    def pressed(*_):
        raise KeyboardInterrupt

    module = import_module("bottega.workbench.describe")  # the package has its function here
    monkeypatch.setattr(module, "find_clusters", pressed)
    found = bottega.describe(load_iris(as_frame=True).data)
    assert found.interrupted
    assert found.components is not None
    assert found.clusters is found.outliers is found.relations is None
    assert "stopped" in str(found)
    assert "not complete" in found.report(tmp_path / "r.html").read_text()
