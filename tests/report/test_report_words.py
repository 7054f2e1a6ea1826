import dataclasses

import numpy as np
import pytest

from bottega.report.content import content
from bottega.report.words import data_name, duration, fold_sentence, percent


def said(comparison, date=None):
    import datetime

    return content(comparison, date or datetime.datetime(2026, 1, 31, 12, 0))


def test_verdict_names_winner_lead_and_certificate(regression):
    first, second, third = said(regression())["verdict"]
    assert first == (
        "Ridge has the least error: mean squared error 2.5 (±\u00a00.25) on rows it had not seen, "
        "50% less than the baseline, which ignores every input (mean squared error 5). It is "
        "typically off by 1.58, the baseline by 2.24."
    )
    assert second == (
        "The runner-up, Neighbours, is 0.5 behind, and the 95% interval for the difference, 0.1 to "
        "0.9, excludes zero: the lead is clear."
    )
    assert third == (
        "On 50 locked rows that took no part in fitting or choosing, its mean squared error is "
        "2.4; the true error lies between 2 and 2.9 with probability at least 95%."
    )


def test_verdict_gives_the_difference_that_the_data_cannot_exclude(regression):
    second = said(regression(gaps={"knn": (-0.2, 1.2)}))["verdict"][1]
    assert second == (
        "The runner-up, Neighbours, is 0.5 behind, but these data cannot tell the two apart: on "
        "new rows Neighbours could be up to 0.2 better or 1.2 worse (95% interval)."
    )


def test_verdict_of_classes_is_in_percent(classification):
    first, second, third = said(classification())["verdict"]
    assert "17% wrong (±\u00a05.0%)" in first
    assert "75% less than the baseline" in first
    assert "50.0 percentage points behind" in second
    assert "20% of its predictions are wrong; the true error lies between 10% and 35%" in third


def test_close_limits_are_told_apart(classification):
    limits = {"lower": 0.1261, "estimate": 0.13, "upper": 0.1349}
    certificate = dataclasses.replace(classification().certificate, **limits)
    third = said(classification(certificate=certificate))["verdict"][2]
    assert "the true error lies between 12.61% and 13.49%" in third


def test_verdict_when_nothing_beats_the_baseline(regression):
    comparison = regression(best_method="baseline")
    assert said(comparison)["verdict"][0].startswith("No method beat the baseline")


def test_verdict_when_there_is_only_the_baseline(regression):
    comparison = regression()
    only = {"baseline": comparison.results["baseline"]}
    comparison.results, comparison.best_method = only, "baseline"
    comparison.leaderboard = comparison.leaderboard.query("method == 'baseline'")
    first, second, _ = said(comparison)["verdict"]
    assert first == "Only the baseline was run (mean of the responses): mean squared error 5."
    assert second == "There is no other method to compare it with."


def test_no_certificate_is_explained(regression):
    locked = regression(certificate=None, looks=0)
    assert "have not been opened" in said(locked)["verdict"][2]
    none = regression(certificate=None, looks=0, n_test=0)
    assert "No rows were locked away for a final test" in said(none)["verdict"][2]
    assert said(none)["certificate"]["looked"] == "No rows were locked away."


def test_one_sided_and_approximate_certificates(regression):
    comparison = regression()
    certificate = dataclasses.replace(comparison.certificate, lower=-np.inf, approximate=True)
    third = said(regression(certificate=certificate))["verdict"][2]
    assert "the true error is at most 2.9 with probability about 95%" in third


def test_equal_losses_are_no_interval(regression):
    comparison = regression()
    equal = {"estimate": 0.0, "lower": 0.0, "upper": np.inf, "method": "no interval"}
    certificate = dataclasses.replace(comparison.certificate, **equal)
    found = said(regression(certificate=certificate))
    assert found["verdict"][2].endswith(
        "all of them have the same loss, which sets no limit to that of other rows."
    )
    assert found["certificate"]["upper"] == "no limit"


@pytest.mark.parametrize(("looks", "words"), [(0, "opened never"), (1, "opened once")])
def test_looks_at_the_test_part_are_told(looks, words, regression):
    certificate = said(regression(looks=looks))["certificate"]
    assert words in certificate["looked"]
    assert not certificate["looked_twice"]


def test_a_second_look_is_told(regression):
    words = "the locked rows have been opened 3 times: the claim is weaker than it reads"
    certificate = said(regression(looks=3, looks_in_words=words))["certificate"]
    assert certificate["looked"] == f"T{words[1:]}."
    assert certificate["looked_twice"]
    third = said(regression(looks=3, looks_in_words=words))["verdict"][2]
    assert third.startswith("On 50 locked rows that have been opened 3 times, its mean")


def test_locked_rows_that_were_opened_before_give_no_certificate(regression):
    words = "the 50 locked rows were opened before: give again=True for a second look"
    told = said(regression(certificate=None, looks=1, looks_in_words=words))
    assert told["verdict"][2] == "The 50 locked rows were opened before: ask for a second look."
    assert told["certificate"]["looked"] == "The locked part (50 rows) has been opened once."


def test_two_classes_are_ranked_beside(classification):
    comparison = classification()
    board = comparison.leaderboard.assign(auc=[0.913, float("nan")], lift=[3.25, 1.0])
    comparison.leaderboard = board
    shown = said(comparison)["leaderboard"]
    assert [row["ranking"] for row in shown["rows"]] == [["0.913", "3.25"], ["–", "1"]]
    assert {"AUC", "Lift"} < {name for name, _ in shown["explained"]}
    assert not said(classification())["leaderboard"]["ranked"]


def test_leaderboard_rows(regression):
    best, second, baseline = said(regression())["leaderboard"]["rows"]
    assert (best["error"], best["versus"], best["difference"]) == ("2.5", "50% less", "–")
    assert best["chosen"] == "alpha = 10"
    assert second["interval"] == "0.1 to 0.9"
    assert (baseline["versus"], baseline["chosen"], baseline["df"]) == ("–", "–", "–")


def test_method_tells_its_pick_and_its_folds(regression):
    ridge = said(regression())["methods"][0]
    # 2.6 is within 2.5 + 0.3, and 10 is simpler than 1.
    assert ridge["sentence"] == (
        "Of 3 values, alpha = 10 was picked (2.0 degrees of freedom, mean squared error 2.6 by "
        "leave-one-out)."
    )
    assert ridge["folds"] == (
        "The 3 outer folds picked alpha = 10, 10, 1; on all training rows it is 10."
    )
    assert ridge["assumptions"] == ("The world is flat.",)
    five, two = {"k": 5}, {"C": 1.0, "gamma": 0.5}
    assert fold_sentence([five, five], five) == (
        "Each of the 2 outer folds picked k = 5: a stable choice."
    )
    assert fold_sentence([two, {**two, "C": 9.0}], two) == (
        "The 2 outer folds picked C = 1, gamma = 0.5; C = 9, gamma = 0.5; on all training rows it "
        "is C = 1, gamma = 0.5."
    )


def test_a_path_without_degrees_of_freedom_is_not_given_any(regression):
    comparison = regression()
    path = dataclasses.replace(comparison.results["ridge"].path, df=None)
    comparison.results["ridge"].path = path
    assert said(comparison)["methods"][0]["sentence"] == (
        "Of 3 values, alpha = 10 was picked (mean squared error 2.6 by leave-one-out)."
    )


def test_alerts_stand_first(regression):
    comparison = regression(
        interrupted=True,
        not_shown={
            "failed with ValueError: no convergence": ["gam"],
            "skipped: takes at most 3 inputs": ["loess", "pspline"],
        },
    )
    head = said(comparison)["head"]
    stopped, failed = head["alerts"]
    assert "stopped before all methods were done" in stopped
    assert failed == "Not shown: gam (failed with ValueError: no convergence)."
    assert head["away"] == [("takes at most 3 inputs", "loess, pspline")]
    assert head["n_away"] == 2


def test_what_does_not_apply_is_no_alert(regression):
    told = said(regression(not_shown={"skipped: takes at most 3 inputs": ["loess"]}))
    assert told["head"]["alerts"] == []


def test_rows_never_held_out_are_not_drawn(regression):
    comparison = regression()
    fold = np.repeat([-1, 0, 1, 2], 10)
    comparison.results["ridge"].fold = fold
    observed, residuals = said(comparison)["misses"]["figures"]
    assert len(observed.spec["data"]["values"]) == 30
    kept = {round(row["residual"], 6) for row in residuals.spec["data"]["values"]}
    assert kept == {-0.5}  # the fake predictions are half above the observations


def test_charts_of_the_best_classifier(classification):
    confusion, roc = said(classification())["misses"]["figures"]
    wrong = [
        row["count"]
        for row in confusion.spec["data"]["values"]
        if (row["predicted"], row["observed"]) == ("b", "a")
    ]
    assert wrong == [10]
    assert "AUC" in roc.description


def test_wide_table_lists_its_first_columns(regression):
    names = tuple(f"c{j}" for j in range(250))
    comparison = regression(columns=names)
    comparison.results["ridge"].path = None
    data = said(comparison)["data"]
    assert (len(data["rows"]), data["left_out"]) == (200, 51)


def test_small_words():
    assert percent(-0.05) == "−5.0%"
    assert duration(59.94) == "59.9 s"
    assert data_name("C:\\data\\houses.csv") == "houses.csv"
    assert data_name("/data/houses/*.parquet") == "houses/*.parquet"  # a pattern names its folder
    assert data_name("x" * 100) == "x" * 79 + "…"


def test_time_to_prepare_kernels_is_told_apart(regression):
    assert said(regression())["repeat"]["seconds"] == "12.3 s"
    facts = dict(said(regression(preparing_seconds=40.0))["head"]["facts"])
    assert facts["Compared in"] == "12.3 s, and 40.0 s to prepare kernels"


def test_a_score_that_ranks_stands_in_one_column(classification):
    comparison = classification()  # three classes: an AUC that ranks, and no lift
    comparison.measure = dataclasses.replace(comparison.measure, name="auc", shown="AUC")
    comparison.leaderboard = comparison.leaderboard.assign(auc=[0.913, 0.5])
    shown = said(comparison)["leaderboard"]
    assert (shown["heading"], shown["ranked"]) == ("AUC", [])
    assert [row["ranking"] for row in shown["rows"]] == [[], []]
    comparison.leaderboard = comparison.leaderboard.assign(lift=[3.25, 1.0])
    shown = said(comparison)["leaderboard"]
    assert (shown["ranked"], shown["rows"][0]["ranking"]) == (["Lift"], ["3.25"])
