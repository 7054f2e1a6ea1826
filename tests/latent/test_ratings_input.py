"""Forms in which ratings are given, what is refused, new users and items, paths, lists."""

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from scipy.sparse import coo_matrix, csr_array, csr_matrix
from sklearn.base import clone

from bottega.core.errors import (
    ConvergenceWarning,
    DataWarning,
    InputError,
    MissingExtra,
    ParameterError,
)
from bottega.latent import MatrixFactorization
from bottega.metrics import recommendations, rmse
from bottega.workbench import trusted_types

COLUMNS = ("user", "item", "rating")


def tastes(n=40, m=15, rank=2, share=0.5, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    truth = 3.0 + 0.5 * rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=m)
    truth = truth + rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m))
    known = rng.random((n, m)) < share
    known[:, 0] = known[0] = True
    return np.where(known, truth + noise * rng.normal(size=(n, m)), np.nan), truth


def long(X, users=None, items=None):
    """Return the known entries of a matrix as three columns."""
    x, i = np.nonzero(~np.isnan(X))
    users = np.arange(X.shape[0]) if users is None else np.asarray(users)
    items = np.arange(X.shape[1]) if items is None else np.asarray(items)
    return {"user": users[x], "item": items[i], "rating": X[x, i]}


def fixed(**given):
    return MatrixFactorization(**{"n_components": 2, "alpha": 1.0, **given})


X, TRUTH = tastes()


def test_all_forms_of_ratings_give_the_same_factors():
    expected = fixed().fit(X)
    table = long(X)
    entries = (table["rating"], (table["user"], table["item"]))
    shuffled = np.random.default_rng(1).permutation(len(table["user"]))
    mixed = {name: column[shuffled] for name, column in table.items()}
    for given, options in (
        (X.tolist(), {}),
        (pd.DataFrame(X), {}),
        (csr_matrix(entries, shape=X.shape), {}),
        (csr_array(entries, shape=X.shape), {}),
        (coo_matrix(entries, shape=X.shape), {}),
        (pd.DataFrame(mixed), {"columns": COLUMNS}),
        (pl.DataFrame(mixed), {"columns": COLUMNS}),
        (np.column_stack(list(mixed.values())), {"columns": (0, 1, 2)}),
        (list(zip(*mixed.values(), strict=True)), {"columns": (0, 1, 2)}),
    ):
        model = fixed(**options).fit(given)
        assert model.item_factors_ == pytest.approx(expected.item_factors_, rel=1e-9)
        assert model.predict_pairs([3, 7], [1, 14]) == pytest.approx(
            expected.predict_pairs([3, 7], [1, 14]), rel=1e-9
        )


def test_labels_are_kept():
    users, items = [f"u{x:02}" for x in range(40)], [f"film {i}" for i in range(15)]
    wide = fixed().fit(pd.DataFrame(X, index=users, columns=items))
    assert wide.users_.tolist() == users
    assert wide.items_.tolist() == items
    table = long(X, users, items)
    listed = fixed(columns=COLUMNS).fit(pd.DataFrame(table))
    assert listed.items_.tolist() == sorted(items)
    pairs = pd.DataFrame({"item": ["film 9", "film 2"], "user": ["u01", "u30"], "when": [1, 2]})
    expected = wide.complete(pd.DataFrame(X, index=users, columns=items))[[1, 30], [9, 2]]
    assert listed.predict(pairs) == pytest.approx(expected, rel=1e-9)
    assert listed.predict([("u01", "film 9"), ("u30", "film 2")]) == pytest.approx(
        expected, rel=1e-9
    )
    assert isinstance(listed.recommend(["u01"]), pd.DataFrame)
    in_polars = fixed(columns=COLUMNS).fit(pl.DataFrame(table))
    assert isinstance(in_polars.recommend(["u01"]), pl.DataFrame)


def test_a_model_of_a_matrix_says_how_pairs_are_predicted():
    model = fixed().fit(X)
    assert not hasattr(model, "predict")
    with pytest.raises(AttributeError) as raised:
        model.predict([[1, 2]])
    assert "predict_pairs" in str(raised.value.__cause__)


def test_order_and_units_do_not_matter():
    expected = fixed().fit(X)
    order = np.random.default_rng(2).permutation(len(X))
    shuffled = fixed().fit(X[order])
    assert shuffled.complete(X) == pytest.approx(expected.complete(X), rel=1e-7)
    # Ratings ten times as large need a penalty ten times as large; biases have none of a unit.
    scaled = fixed(alpha=10.0).fit(10 * X + 50)
    assert scaled.complete(10 * X + 50) == pytest.approx(10 * expected.complete(X) + 50, rel=1e-8)
    picked, again = (MatrixFactorization(random_state=3).fit(c * X) for c in (1.0, 1000.0))
    assert again.n_components_ == picked.n_components_
    assert again.alpha_ == pytest.approx(1000 * picked.alpha_, rel=1e-8)


@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_extreme_units_are_survived(factor):
    model = fixed(alpha=factor).fit(factor * X)
    expected = factor * fixed().fit(X).complete(X)
    assert model.complete(factor * X) == pytest.approx(expected, rel=1e-7)


def test_ratings_far_from_zero_keep_their_digits():
    model = fixed().fit(X + 1e7)
    assert model.complete(X + 1e7) - 1e7 == pytest.approx(fixed().fit(X).complete(X), abs=1e-5)


def test_repeated_ratings_weigh_as_many():
    table = pd.DataFrame(long(X))
    twice = pd.concat([table, table.iloc[:50], table.iloc[:50].assign(rating=1.0)])
    with pytest.warns(DataWarning, match="50 pairs of user and item have more than one rating"):
        model = fixed(columns=COLUMNS, tol=1e-12, max_iter=3000).fit(twice)
    # At the minimum the gradient of the sum over all ratings, repeated ones too, vanishes.
    rest = twice["rating"].to_numpy() - model.predict(twice)
    x = twice["user"].to_numpy()
    for user in (0, 1, 20):
        pull = rest[x == user] @ model.item_factors_[twice["item"].to_numpy()[x == user]]
        assert pull == pytest.approx(model.user_factors_[user], abs=1e-5)  # alpha is one
        assert rest[x == user].sum() == pytest.approx(5 * model.user_biases_[user], abs=1e-5)


def test_counts_of_one_pair_are_added_up():
    log = [("a", "p"), ("a", "p"), ("a", "q"), ("b", "q"), ("b", "r"), ("c", "r")]
    options = {"implicit": True, "alpha": 0.5, "n_components": 2, "max_iter": 30, "tol": 0}
    listed = MatrixFactorization(columns=(0, 1), **options).fit(log)
    table = np.array([[2, 1, 0], [0, 1, 1], [0, 0, 1.0]])
    matrix = MatrixFactorization(**options).fit(table)
    for other in (matrix, MatrixFactorization(**options).fit(csr_matrix(table))):
        assert listed.complete(log) == pytest.approx(other.complete(table), abs=1e-9)


def test_new_users_are_folded_in():
    """Their factors are a ridge regression on those of the items."""
    model = fixed(alpha_users=0.7).fit(X)
    assert model.transform(X) == pytest.approx(model.user_factors_, rel=1e-7, abs=1e-9)
    new = np.full((1, 15), np.nan)
    new[0, [2, 5, 9]] = [4.0, 1.0, 3.5]
    F = np.column_stack([model.item_factors_, np.ones(15)])[[2, 5, 9]]
    gap = new[0, [2, 5, 9]] - model.mean_ - model.item_biases_[[2, 5, 9]]
    z = np.linalg.solve(F.T @ F + np.diag([0.7, 0.7, 5.0]), F.T @ gap)
    assert model.transform(new)[0] == pytest.approx(z[:2], rel=1e-9)
    expected = model.mean_ + z[2] + model.item_biases_ + model.item_factors_ @ z[:2]
    assert model.complete(new)[0] == pytest.approx(expected, rel=1e-9)
    listed = fixed(alpha_users=0.7, columns=COLUMNS).fit(pd.DataFrame(long(X)))
    ratings = pd.DataFrame({"user": "new", "item": [2, 5, 9, 99], "rating": [4.0, 1.0, 3.5, 2.0]})
    with pytest.warns(DataWarning, match="1 of 4 ratings are of items that the model does not"):
        assert listed.transform(ratings)[0] == pytest.approx(z[:2], rel=1e-7)


def test_who_is_not_known_is_predicted_by_biases():
    model = fixed().fit(X)
    with pytest.warns(DataWarning, match=r"3 of 4 pairs .* \(cold start\)"):
        found = model.predict_pairs([99, 3, 99, 3], [4, 99, 99, 4])
    assert found[:3] == pytest.approx(
        [model.mean_ + model.item_biases_[4], model.mean_ + model.user_biases_[3], model.mean_]
    )
    lists = model.recommend([99, 3], n=2)
    assert lists["cold_start"].tolist() == [True, True, False, False]
    best = np.argsort(-model.item_biases_)[:2]
    assert lists["item"].tolist()[:2] == best.tolist()


def test_without_biases_the_unknown_user_is_the_average_one():
    counts = np.where(np.nan_to_num(X) > 3, 1.0, 0.0)
    counts[:, 2] = counts[1] = 1.0
    model = fixed(implicit=True, max_iter=300).fit(counts)
    with pytest.warns(DataWarning, match="the average user or item"):
        found = model.predict_pairs(["nobody"], [2])
    assert found[0] == pytest.approx(model.user_factors_.mean(axis=0) @ model.item_factors_[2])


def test_rows_and_columns_without_ratings():
    gaps = X.copy()
    gaps[5], gaps[:, 3] = np.nan, np.nan
    with pytest.warns(DataWarning, match="1 of 40 users and 1 of 15 items have no ratings"):
        model = fixed().fit(gaps)
    for found in (model.user_factors_[5], model.user_biases_[5], model.item_factors_[3]):
        assert np.all(found == 0)
    expected = model.mean_ + model.item_biases_
    assert model.complete(gaps)[5] == pytest.approx(expected)
    assert model.recommend([5], n=1)["cold_start"].tolist() == [True]
    with pytest.warns(DataWarning):
        random = fixed(init="random", solver="sgd", max_iter=50, tol=0).fit(gaps)
    assert np.all(random.item_factors_[3] == 0)


def test_recommendations_are_the_best_of_what_is_not_seen():
    model = fixed().fit(X)
    table = model.complete(X)
    lists = model.recommend(n=3)
    for user in (0, 7, 31):
        rows = lists[lists["user"] == user]
        hidden = np.where(np.isnan(X[user]), table[user], -np.inf)
        free = int(np.isnan(X[user]).sum())
        best = np.argsort(-hidden)[: min(3, free)]
        assert rows["item"].tolist() == best.tolist()
        assert rows["score"].to_numpy() == pytest.approx(hidden[best])
        assert rows["rank"].tolist() == list(range(1, len(best) + 1))
    seen = model.recommend([7], n=15, exclude_seen=False)
    assert seen["item"].tolist() == np.argsort(-table[7]).tolist()


def test_equal_scores_keep_the_order_of_the_items():
    flat = np.full((4, 6), 3.0)
    flat[0, 2:] = np.nan
    model = MatrixFactorization(1, alpha=1.0).fit(flat)
    assert model.recommend([0], n=3)["item"].tolist() == [2, 3, 4]


def test_lists_from_factors_beat_the_popular_items():
    counts = np.random.default_rng(0)
    taste, kind = counts.integers(0, 4, 80), counts.integers(0, 4, 40)
    table = counts.poisson(np.where(taste[:, None] == kind, 1.2, 0.15)).astype(float)
    held = (table > 0) & (counts.random(table.shape) < 0.25)
    known = np.where(held, 0.0, table)
    relevant = {x: np.flatnonzero(held[x]).tolist() for x in range(80)}
    model = MatrixFactorization(4, alpha=5.0, implicit=True).fit(known)
    ours = recommendations(relevant, model.recommend(n=5), n=5).means()
    popular = np.argsort(-(known > 0).sum(axis=0))
    lists = {x: [i for i in popular.tolist() if known[x, i] == 0][:5] for x in range(80)}
    theirs = recommendations(relevant, lists, n=5).means()
    for name in ("precision", "recall", "ndcg", "hit_rate"):
        assert ours[name] > 1.5 * theirs[name]


def test_similar_items_point_the_same_way():
    twin = np.column_stack([X, X[:, 4]])
    model = fixed().fit(twin)
    found = model.similar_items(4, n=3)
    assert found["item"].tolist()[0] == 15
    assert found["similarity"][0] == pytest.approx(1.0)
    assert np.all(np.diff(found["similarity"]) <= 0)
    with pytest.raises(InputError, match="does not know the item 99"):
        model.similar_items(99)


def test_predictions_are_clipped_on_request():
    stars = np.clip(np.rint(X), 1, 5)
    free, cut = fixed(scale=(1, 5)).fit(stars), fixed(scale=(1, 5), clip=True).fit(stars)
    assert free.complete(stars).max() > 5
    assert cut.complete(stars) == pytest.approx(np.clip(free.complete(stars), 1, 5))
    assert cut.recommend([0, 1], exclude_seen=False)["score"].max() <= 5
    # The order is that of the predictions before they are clipped.
    both = (model.recommend(n=4)["item"].tolist() for model in (free, cut))
    assert next(both) == next(both)


def test_the_path_is_judged_by_entries():
    curve = MatrixFactorization(tol=1e-6, max_iter=1000).path(X)
    assert curve.estimate == "entries"
    assert curve.knobs == ("n_components", "alpha")
    assert len(curve) == 4 * 7  # ranks 1, 2, 4, 8
    assert curve.criteria["rmse"] == pytest.approx(np.sqrt(curve.error))
    best = curve.settings[curve.best("min")]
    assert best["n_components"] == 2
    picked = MatrixFactorization(select="min", tol=1e-6, max_iter=1000).fit(X)
    assert (picked.n_components_, picked.alpha_) == (best["n_components"], best["alpha"])
    at = curve.at(curve.best("min"))
    assert at.complete(X) == pytest.approx(picked.complete(X), rel=1e-9)
    unknown = np.isnan(X)
    # The honest error is that of entries with noise; the truth is without.
    noiseless = rmse(TRUTH[unknown], picked.complete(X)[unknown])
    assert noiseless**2 + 0.3**2 == pytest.approx(curve.error.min(), rel=0.5)


def test_held_out_errors_are_those_of_models_fitted_by_hand():
    x, i = np.nonzero(~np.isnan(X))
    folds = [
        (np.flatnonzero(np.arange(len(x)) % 3 != k), np.arange(k, len(x), 3)) for k in range(3)
    ]
    curve = fixed(tol=1e-10, max_iter=3000).path(X, values=[1, 3], cv=folds)
    assert [each["n_components"] for each in curve.settings] == [1, 3]
    assert {each["alpha"] for each in curve.settings} == {1.0}
    for k, (_, test) in enumerate(folds):
        part = X.copy()
        part[x[test], i[test]] = np.nan
        for place, rank in enumerate((1, 3)):
            model = fixed(n_components=rank, tol=1e-10, max_iter=3000).fit(part)
            told = model.predict_pairs(x[test], i[test])
            # Starts differ between a path and a fit alone: both end near the minimum.
            assert curve.fold_error[k, place] == pytest.approx(
                rmse(X[x[test], i[test]], told) ** 2, rel=1e-3
            )


def test_one_knob_may_be_given():
    rank = MatrixFactorization(alpha=1.0).fit(X)
    assert {each["alpha"] for each in rank.path_.settings} == {1.0}
    penalty = MatrixFactorization(2).fit(X)
    assert {each["n_components"] for each in penalty.path_.settings} == {2}
    assert len(penalty.path_) == 7
    both = MatrixFactorization(alpha_users=4.0, alpha_items=1.0).fit(X)
    assert both.alpha_ == pytest.approx(2.0)
    assert (both.alpha_users_, both.alpha_items_) == (4.0, 1.0)
    share = MatrixFactorization(2, cv=0.2).fit(X)
    assert share.path_.fold_error.shape == (1, 7)
    with pytest.raises(ParameterError, match="squared error"):
        MatrixFactorization(2).path(X, loss="absolute_error")


def test_the_path_of_counts_is_judged_by_ranks():
    rng = np.random.default_rng(0)
    taste, kind = rng.integers(0, 3, 60), rng.integers(0, 3, 30)
    table = rng.poisson(np.where(taste[:, None] == kind, 1.5, 0.1)).astype(float)
    curve = MatrixFactorization(implicit=True, max_iter=30).path(table, values=[1, 2, 4])
    assert curve.loss == "percentile rank"
    assert curve.settings[curve.best("min")]["n_components"] == 4
    assert curve.error.min() < 0.3  # 0.5 is chance
    noise = rng.permuted(table.ravel()).reshape(table.shape)
    chance = MatrixFactorization(implicit=True, max_iter=30).path(noise, values=[2])
    # A mean over some 800 held-out entries: five standard errors at least.
    assert np.all(np.abs(chance.error - 0.5) < 0.06)


def test_threads_do_not_change_the_answer():
    rng = np.random.default_rng(0)
    big = csr_matrix(
        (rng.normal(size=30_000), (rng.integers(0, 900, 30_000), rng.integers(0, 400, 30_000)))
    )
    one, two = (fixed(n_components=8, max_iter=3, tol=0, n_jobs=k).fit(big) for k in (1, 2))
    assert one.item_factors_ == pytest.approx(two.item_factors_, rel=1e-10)


def test_stored_models_answer_the_same():
    names = {"columns": COLUMNS}
    for model, data in (
        (MatrixFactorization(cv=2).fit(X), X),
        (fixed(**names).fit(pd.DataFrame(long(X, [f"u{x}" for x in range(40)]))), None),
    ):
        content = skops.io.dumps(model)
        assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
        for copy in (
            pickle.loads(pickle.dumps(model)),
            skops.io.loads(content, trusted=trusted_types()),
        ):
            assert copy.recommend(n=2).equals(model.recommend(n=2))
            if data is not None:
                assert np.array_equal(copy.complete(data), model.complete(data))


def test_names_of_factors_and_frames_out():
    model = fixed().set_output(transform="pandas").fit(pd.DataFrame(X).add_prefix("film"))
    out = model.transform(pd.DataFrame(X).add_prefix("film"))
    assert list(out.columns) == ["matrixfactorization0", "matrixfactorization1"]
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("fitted", [fixed(), MatrixFactorization(2, cv=3)])
def test_summary_and_pictures(fitted):
    model = clone(fitted).fit(pd.DataFrame(X).add_prefix("film"))
    assert "film" in str(model.summary())
    chart = model.plot(items=["film3", "film4"]).to_dict()
    assert len(chart["data"]["values"]) == 12 * 2
    if fitted.alpha == "auto":
        assert len(model.plot_path().to_dict()["data"]["values"]) == 7
    else:
        with pytest.raises(ParameterError, match="no path to draw"):
            model.plot_path()
    with pytest.raises(InputError, match="does not know"):
        model.plot(users=["nobody"])


def test_too_few_ratings_for_the_rank_without_a_penalty():
    """N164: more unknowns than ratings, a singular system."""
    few = X.copy()
    few[3, 1:] = np.nan
    with pytest.warns(DataWarning, match="do not determine their factors"):
        model = fixed(n_components=3, alpha=0.0, alpha_biases=0.0, max_iter=500).fit(few)
    assert np.all(np.isfinite(model.complete(few)))


def test_a_search_that_is_stopped_says_so():
    with pytest.warns(ConvergenceWarning, match=r"did not converge in 2 sweeps: give more \(max_i"):
        fixed(max_iter=2, tol=1e-9).fit(X)
    assert fixed(max_iter=2, tol=0).fit(X).n_iter_ == 2  # as asked for


def test_constant_ratings_and_few_of_them():
    same = MatrixFactorization().fit(np.full((6, 5), 4.0))
    assert same.complete(np.full((6, 5), 4.0)) == pytest.approx(np.full((6, 5), 4.0))
    tiny = fixed(n_components=1).fit([[1.0, np.nan], [np.nan, 5.0]])
    assert np.all(np.isfinite(tiny.complete([[1.0, np.nan], [np.nan, 5.0]])))


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (np.full((3, 3), np.nan), {}, "no rating in X to learn from"),
        (np.array([[1.0, np.inf], [1.0, 2.0]]), {}, "infinity"),
        (X * 1e150, {}, "squares of these numbers overflow"),
        (X * 1e-150, {}, "squares of these numbers vanish"),
        (np.array([[1.0, 7.0], [0.5, 2.0]]), {"scale": (1, 5)}, r"2 of 4 ratings lie outside"),
        (np.array([[1.0, -2.0], [0.5, 2.0]]), {"implicit": True}, "takes counts"),
        (X, {"n_components": 16}, "n_components=16 is more than a table of 40 users and 15 items"),
        (X, {"columns": COLUMNS}, "names columns of a data frame"),
        (X, {"columns": (0, 1, 99)}, "at least 100 columns"),
        (pd.DataFrame({"user": [1], "itm": [2], "rating": [3]}), {"columns": COLUMNS}, "'itm'"),
        ([("a", 1, 3.0), (2, 1, 4.0)], {"columns": (0, 1, 2)}, "Some users are texts"),
        ([("a", None, 3.0)], {"columns": (0, 1, 2)}, "items of some ratings are missing"),
        ([("a", 1, np.nan)], {"columns": (0, 1, 2)}, "1 ratings are missing or infinite"),
        ([("a", 1, "good")], {"columns": (0, 1, 2)}, "must be numbers"),
        (pd.DataFrame(X[:2], index=["a", "a"]), {"n_components": 1}, "occur more than once"),
        ([("a", 1, 9.0), ("a", 1, 1.0)], {"columns": (0, 1, 2), "scale": (1, 5)}, "1 of 2 ratings"),
    ],
)
def test_bad_ratings_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        fixed(**options).fit(data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clip": True}, "clip=True needs a scale"),
        ({"implicit": True, "scale": (1, 5)}, "have no scale"),
        ({"implicit": True, "solver": "sgd"}, "use 'als' or 'cg'"),
        ({"columns": ("user", "item")}, "has no column of ratings"),
        ({"scale": (5, 1)}, "scale="),
        ({"columns": ("user", "user", "rating")}, "columns="),
        ({"device": "cuda", "solver": "cg"}, "solver='als' with it"),
        ({"device": "cuda", "alpha": 0.0}, "a device cannot solve"),
        ({"confidence": 0}, "confidence=0"),
        ({"alpha": -1.0}, "alpha=-1.0"),
    ],
)
def test_parameters_that_do_not_go_together(options, message):
    with pytest.raises(ParameterError, match=message):
        fixed(**options).fit(X)


def test_one_rating_cannot_choose():
    with pytest.raises(InputError, match="needs ratings to hold out; found 1"):
        MatrixFactorization().fit([[3.0]])


def test_a_device_without_torch_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="torch"):
        fixed(device="cuda").fit(X)


@pytest.mark.parametrize("options", [{}, {"biases": False}, {"implicit": True}])
def test_torch_finds_the_same_factors(options):
    pytest.importorskip("torch")
    data = np.abs(np.rint(np.nan_to_num(X))) if options.get("implicit") else X
    here, there = (fixed(device=device, **options).fit(data) for device in (None, "cpu"))
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-8)
    assert there.complete(data) == pytest.approx(here.complete(data), rel=1e-6, abs=1e-8)


def test_a_gpu_that_is_not_there_is_said():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    for device in ("cuda", "toaster"):
        with pytest.raises(InputError, match=f"device='{device}' cannot be used here"):
            fixed(device=device).fit(X)


def test_a_list_of_ratings_without_columns_is_told_to_name_them():
    frame = pd.DataFrame({"user": list("aab"), "item": list("xyx"), "rating": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match=r"columns=\(user, item, rating\)"):
        MatrixFactorization(1, alpha=1.0).fit(frame)


def test_no_users_are_refused():
    model = MatrixFactorization(1, alpha=1.0).fit([[1.0, 2.0], [2.0, np.nan], [3.0, 5.0]])
    for answer in (model.recommend, model.plot):
        with pytest.raises(InputError, match="no users in users="):
            answer([])
    with pytest.raises(InputError, match="no items in items="):
        model.plot(items=[])
