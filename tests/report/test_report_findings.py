"""What the report says about leads, picks, cuts, the order of rows, and the winner's inside."""

import dataclasses
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bottega.plot import importance_chart
from bottega.report import render, write_charts
from bottega.report.content import content
from bottega.workbench.measures import Measure


@pytest.fixture(autouse=True)
def _small_bundle(monkeypatch):
    monkeypatch.setattr("bottega.report.page.javascript", lambda: "window.vegaEmbed = null;")


def said(comparison):
    return content(comparison, datetime(2026, 1, 31, 12, 0))


def test_a_simpler_method_is_named_only_within_the_margin(regression):
    third = said(regression(gaps={"knn": (-0.1, 0.1)}, simpler=("knn",)))["verdict"][2]
    assert third == (
        "Neighbours is simpler (its rules can be read), and with 95% confidence at most 0.1 worse. "
        "That is within 0.1 (2% of the baseline's error), which counts as small here: it is a "
        "sound choice too."
    )
    far = said(regression(gaps={"knn": (-0.1, 0.9)}, simpler=("knn",)))["verdict"]
    assert far[2] == (
        "Of the simpler methods Neighbours (its rules can be read) comes nearest, but it could be "
        "up to 0.9 worse: more than 0.1 (2% of the baseline's error), which would count as "
        "small."
    )
    assert not any("as good a choice" in each for each in far)


def test_no_simpler_method_is_named_where_the_lead_is_clear_or_none_is_simpler(regression):
    assert len(said(regression(gaps={"knn": (0.2, 0.9)}, simpler=("knn",)))["verdict"]) == 3
    assert len(said(regression(gaps={"knn": (-0.1, 0.1)}))["verdict"]) == 3


def test_a_method_that_was_stopped_may_be_the_runner_up(regression):
    comparison = regression(gaps={"knn": (-0.2, 1.2)})
    stopped = comparison.results["knn"]
    stopped.partial, stopped.folds_done, stopped.path = True, 2, None
    told = said(comparison)
    assert told["verdict"][1] == (
        "The runner-up, Neighbours, judged on 2 of 3 folds, is 0.5 behind, but these data cannot "
        "tell the two apart: on new rows Neighbours could be up to 0.2 better or 1.2 worse (95% "
        "interval)."
    )
    behind = dict(told["leaderboard"]["explained"])["Behind the best"]
    assert "judged on fewer parts have their place by this difference" in behind
    assert "fewer parts" not in str(said(regression())["leaderboard"]["explained"])
    assert told["leaderboard"]["rows"][1]["stopped"] == "stopped after 2 of 3 folds"
    assert told["methods"][1]["sentence"].startswith("It was stopped after 2 of 3 outer folds")
    stopped.folds_done = 3
    assert said(comparison)["leaderboard"]["rows"][1]["stopped"] == ""
    assert "no model of all" in said(comparison)["methods"][1]["sentence"]
    assert "stopped" not in said(comparison)["methods"][1]["sentence"]


def test_a_clear_lead_is_one_over_all_methods(regression):
    wide = regression(gaps={"knn": (0.1, 0.9), "baseline": (-1.0, 6.0)})
    assert said(wide)["verdict"][1].endswith(
        "excludes zero: the lead is clear over it, but not over Mean of the responses, where the "
        "interval includes zero."
    )


def test_a_method_ahead_that_there_was_no_time_to_fit(regression):
    comparison = regression(best_method="knn", gaps={"ridge": (-1.0, 0.2), "knn": (0.0, 0.0)})
    board = comparison.leaderboard.assign(difference=lambda each: each["error"] - 3)
    comparison.leaderboard = board.iloc[[1, 0, 2]]
    ridge = comparison.results["ridge"]
    ridge.partial, ridge.folds_done, ridge.path = True, 2, None
    first, second, *_ = said(comparison)["verdict"]
    assert first.startswith(
        "Neighbours has the least error of the methods that were fitted to all training rows: "
    )
    assert second == (
        "Ridge (judged on 2 of 3 folds) has 0.5 less error here, which may be luck: on new rows it "
        "could be up to 1 better or 0.2 worse (95% interval). There was no time to fit it to all "
        "training rows."
    )


def test_both_picks_are_shown_where_they_differ(regression):
    ridge = said(regression())["methods"][0]
    other = "By the least error it would be alpha = 1 (mean squared error 2.5)."
    assert ridge["other_pick"] == other
    ridge = said(regression(select="min"))["methods"][0]
    other = "By the one-standard-error rule it would be alpha = 10 (mean squared error 2.6)."
    assert ridge["other_pick"] == other
    same = regression()
    same.results["ridge"].both_picks = {}  # as where simpler has no meaning
    assert said(same)["methods"][0]["other_pick"] == ""
    unjudged = regression(select="min")
    unjudged.results["ridge"].path = dataclasses.replace(
        unjudged.results["ridge"].path, error_se=np.full(3, np.nan)
    )
    assert said(unjudged)["methods"][0]["other_pick"] == ""


def test_a_score_is_told_as_readers_know_it(regression):
    measure = Measure("r2", "share of the variance left", None, "share", "R²")
    comparison = regression()
    comparison.measure = measure
    for result in comparison.results.values():
        result.error /= 10
    comparison.leaderboard["error"] /= 10
    told = content_of_measure(comparison)
    assert told["verdict"][0] == (
        "Ridge has the best R²: 0.75 (±\u00a00.25) on rows it had not seen, 50% less error than "
        "the baseline, which ignores every input (R² 0.5)."
    )
    assert told["leaderboard"]["heading"] == "R²"
    assert [row["error"] for row in told["leaderboard"]["rows"]] == ["0.75", "0.7", "0.5"]
    name, meaning = told["leaderboard"]["explained"][0]
    assert name == "R²"
    assert meaning.endswith("Larger is better.")


def test_large_errors_are_told_in_millions(regression):
    comparison = regression(gaps={"knn": (-0.4e9, 1.2e9)})
    for result in comparison.results.values():
        result.error, result.std_error = 1e9 * result.error, 1e9 * result.std_error
    for name in ("error", "std_error", "difference"):
        comparison.leaderboard[name] *= 1e9
    told = said(comparison)
    first, second = told["verdict"][:2]
    assert "mean squared error 2.5 billion (±\u00a00.25 billion)" in first
    assert first.endswith("It is typically off by 50,000, the baseline by 70,711.")
    assert "could be up to 0.4 billion better or 1.2 billion worse" in second
    assert told["leaderboard"]["heading"] == "Error, billions"
    best = told["leaderboard"]["rows"][0]
    assert (best["error"], best["std_error"]) == ("2.5", "0.25")


def content_of_measure(comparison):
    comparison.certificate = None
    comparison.explain = lambda: None
    comparison.measure = dataclasses.replace(
        comparison.measure, loss=SimpleNamespace(title="squared error")
    )
    return said(comparison)


def test_what_the_budget_cut_is_said(regression):
    cut = ("The random forest was judged on 2 of 5 folds.",)
    page = render(regression(cut=cut))
    assert "The time budget cut some of the work." in page
    assert cut[0] in page
    assert "time budget" not in render(regression())


def test_the_order_of_the_rows_comes_before_the_numbers(regression):
    comparison = regression()
    message = "The rows follow one another in time: split by time."
    finding = SimpleNamespace(code="time_order", column=None, message=message)
    other = SimpleNamespace(code="few_rows", column=None, message="There are only 40 rows.")
    comparison.table.warnings = (other, finding)
    told = said(comparison)
    assert told["head"]["urgent"] == [message]
    assert told["data"]["findings"] == [other.message]
    page = render(comparison)
    assert page.count(message) == 1
    assert page.index("Read this before the numbers.") < page.index("The verdict")


def test_the_winner_is_explained(regression):
    told = said(regression())["explained"]
    assert told["importance"]["sentence"] == (
        "If an input is shuffled, the model can no longer use it, and the error on held-out rows "
        "rises: for rooms by 0.5 (0.45 to 0.55) (95% intervals). The rise for 1 other input cannot "
        "be told from zero."
    )
    assert [column["title"] for column in told["terms"]["columns"]] == ["Term", "Estimate"]
    assert told["terms"]["notes"] == ["Per standard deviation."]
    assert [column["title"] for column in told["worst"]["columns"]][-1] == "rooms"
    assert told["worst"]["rows"] == [["7", "9.5", "1.25", "68.1", "=A1"]]
    names = [figure.name for figure in said(regression())["drawn"].made]
    assert {"importance", "effects", "calibration"} <= set(names)
    page = render(regression())
    assert "What the winner uses" in page
    assert "The coefficients of Ridge" in page


def test_inputs_that_are_not_used_are_told_apart(regression):
    comparison = regression(columns=("rooms", "age", "door"))
    found = comparison.explain()
    frame = found.importance.frame
    frame.loc[2, ["increase", "conf_low", "conf_high"]] = 0.0
    groups = frame.assign(column=["rooms + age + door", "age + door", "door + bell"])
    found.importance.together = type(found.importance)(groups)
    comparison.explain = lambda: found
    told = said(comparison)["explained"]["importance"]
    assert told["sentence"].endswith(
        "The rise for 1 other input cannot be told from zero. Shuffling 1 other input leaves the "
        "error as it is."
    )
    assert [each.partition(" go ")[0] for each in told["together"]] == [
        "rooms, age and door",
        "age and door",
    ]


def test_two_folds_are_said_to_be_too_few_to_tell(regression):
    comparison = regression(columns=("rooms", "age", "door"))
    found = comparison.explain()
    frame = found.importance.frame
    frame.loc[:, "increase"], frame.loc[:, "conf_low"] = [0.9, 0.4, 0.01], [-2.0, 0.3, -0.1]
    frame["conf_high"] = [3.8, 0.5, 0.12]
    found.importance.folds, found.importance.few_folds = 2, True
    comparison.explain = lambda: found
    told = said(comparison)["explained"]["importance"]["sentence"]
    assert told.endswith(
        "for age by 0.4 (0.3 to 0.5) (95% intervals). For 2 other inputs, rooms above all (by 0.9 "
        "(−2 to 3.8)), 2 folds are too few to tell."
    )
    frame["conf_low"] = -1.0
    assert said(comparison)["explained"]["importance"]["sentence"] == (
        "2 folds are too few to tell which inputs are needed: the error on held-out rows rises "
        "most when rooms is shuffled, by 0.9 (−1 to 3.8) (95% interval)."
    )


def test_limits_for_new_rows_are_told_where_something_calibrated_them(regression):
    told = "Limits for new rows, level 90%: split conformal, calibrated by 50 rows; a new row"
    assert said(regression())["limits"].startswith(told)
    assert told in render(regression())
    assert said(regression(interrupted=True))["limits"] is None
    assert said(regression(certificate=None, n_train=30_000))["limits"] is None


def test_an_error_close_to_nothing_is_doubted(regression):
    assert not any("nearly perfect" in each for each in said(regression())["verdict"])
    comparison = regression()
    comparison.results["ridge"].error = 0.01
    assert said(comparison)["verdict"][1] == (
        "That is nearly perfect, which is rare: make sure that the inputs it uses most are known "
        "before price is, and are not made from it."
    )


def test_zero_coefficients_are_counted_and_not_listed(regression):
    comparison = regression()
    found = comparison.explain()
    found.terms.frame.loc[0, "estimate"] = 0.0
    comparison.explain = lambda: found
    terms = said(comparison)["explained"]["terms"]
    assert [row[0] for row in terms["rows"]] == ["age"]
    assert terms["notes"][-1] == "1 further coefficient is zero."


def test_terms_without_coefficients_stay_in_their_order(regression):
    comparison = regression()
    found = comparison.explain()
    frame = pd.DataFrame(
        {"term": ["(Intercept)", "smooth(age)"], "estimate": [0.0, np.nan], "edf": [np.nan, 3.5]}
    )
    found.terms = type(found.terms)(frame, kind="terms", notes=())
    comparison.explain = lambda: found
    terms = said(comparison)["explained"]["terms"]
    assert [column["title"] for column in terms["columns"]] == [
        "Term",
        "Estimate",
        "Degrees of freedom",
    ]
    assert [row[0] for row in terms["rows"]] == ["(Intercept)", "smooth(age)"]
    assert terms["notes"] == []
    assert "The terms of Ridge" in render(comparison)


def test_many_levels_do_not_hide_the_other_terms(regression):
    comparison = regression()
    found = comparison.explain()
    levels = [f"factor(shop)[{i}]" for i in range(30)]
    frame = pd.DataFrame(
        {
            "term": ["(Intercept)", *levels, "factor(shop)", "smooth(age)"],
            "kind": ["intercept", *["level"] * 30, "factor", "smooth"],
            "edf": [np.nan] * 31 + [29.0, 3.5],
        }
    )
    found.terms = type(found.terms)(frame, kind="terms", notes=())
    comparison.explain = lambda: found
    terms = said(comparison)["explained"]["terms"]
    assert [row[0] for row in terms["rows"]] == ["(Intercept)", "factor(shop)", "smooth(age)"]
    assert terms["left_out"] == 0
    assert terms["notes"] == ["The 30 levels of the factors are in its summary()."]


def test_cures_are_told_in_the_words_of_the_call(regression):
    finding = SimpleNamespace(code="id", column="a", message="give kinds={'a': 'number'}")
    typed = regression()
    typed.table.warnings = (finding,)
    assert said(typed)["data"]["findings"] == ["give --kind 'a=number'"]
    called = regression(command="bottega.compare(data, 'price')")
    called.table.warnings = (finding,)
    assert said(called)["data"]["findings"] == [finding.message]


def test_a_share_of_rows_is_told_in_points(classification):
    told = said(classification())["explained"]["importance"]["sentence"]
    assert "for x by 50.0 percentage points (45.0 to 55.0)" in told


@pytest.mark.parametrize(
    "changed", [{"interrupted": True}, {"best_method": "baseline"}], ids=["stopped", "baseline"]
)
def test_nothing_is_explained_where_there_is_nothing(regression, changed):
    comparison = regression(explain=pytest.fail, **changed)
    assert not said(comparison)["explained"]["shown"]
    assert "What the winner uses" not in render(comparison)


def break_down(*_):
    raise ZeroDivisionError("division by zero")


def test_an_explanation_that_fails_is_said_and_the_rest_is_shown(regression):
    broken = regression(explain=break_down)
    assert said(broken)["head"]["alerts"] == [
        "The explanation could not be computed (ZeroDivisionError: division by zero)."
    ]
    assert "The verdict" in render(broken)
    half = regression()
    found = half.explain()
    found.worst_rows.to_frame = break_down
    found.effects.plot = break_down
    half.explain = lambda: found
    told = said(half)
    assert told["explained"]["importance"]["figure"] is not None
    worst, effects = told["head"]["alerts"]
    assert worst.startswith("The rows it misses most could not be computed")
    assert effects.startswith("The chart 'effects' could not be drawn")


def test_a_part_that_fails_takes_no_other_down(regression):
    comparison = regression()
    comparison.results["ridge"].predicted = np.zeros(3)
    comparison.results["knn"].fold_settings = 7
    told = said(comparison)
    misses, knn = told["head"]["alerts"]
    assert misses.startswith("What the winner misses could not be computed (IndexError")
    assert knn.startswith("The part on Neighbours could not be computed (TypeError")
    assert [method["name"] for method in told["methods"]] == ["ridge", "baseline"]
    assert "The verdict" in render(comparison)


def test_weights_of_other_methods_are_told(regression):
    comparison = regression()
    result = comparison.results["knn"]
    result.path, result.tuned = None, {"ridge": 0.75, "tree": 0.25}
    result.fold_settings = [{"ridge": 1.0}, {"tree": 1.0}]
    result.card = comparison.results["baseline"].card  # it has no knob
    told = said(comparison)["methods"][1]
    assert told["sentence"] == "On all training rows: ridge = 0.75, tree = 0.25."
    assert told["folds"] == ""


def test_charts_are_written_each_for_itself(regression, tmp_path):
    comparison = regression()
    written = write_charts(comparison, tmp_path / "charts")
    assert {path.suffix for path in written} == {".png", ".svg"}
    found = comparison.explain()
    found.importance.plot = break_down
    comparison.explain = lambda: found
    from bottega.core.errors import BottegaError

    with pytest.raises(BottegaError, match="'importance' could not be drawn"):
        write_charts(comparison, tmp_path / "others")
    assert len(list((tmp_path / "others").iterdir())) == len(written) - 2


def test_long_names_and_many_terms_do_not_grow_the_page(regression):
    comparison = regression()
    found = comparison.explain()
    frame = found.terms.frame.loc[[0] * 500].assign(term="n" * 400)
    found.terms.frame = frame
    found.importance.chart = importance_chart(["n" * 400], [1.0])
    comparison.explain = lambda: found
    terms = said(comparison)["explained"]["terms"]
    assert (len(terms["rows"]), terms["left_out"]) == (20, 480)
    assert max(len(cell) for row in terms["rows"] for cell in row) == 240
