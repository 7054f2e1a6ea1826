"""Terms as objects and as formulas: what is read, and where a mistake stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bottega.additive.formula import parse_formula
from bottega.additive.terms import factor, linear, local, offset, random, smooth, tensor
from bottega.core.errors import ParameterError

TERMS = {
    "smooth(x1)": smooth("x1"),
    "smooth(x1, df=6)": smooth("x1", df=6),
    "smooth(x1, n_splines=20, by=g)": smooth("x1", n_splines=20, by="g"),
    "smooth(hour, basis='cyclic', period=(0.0, 24.0))": smooth(
        "hour", basis="cyclic", period=(0, 24)
    ),
    "smooth(x1, shape='increasing')": smooth("x1", shape="increasing"),
    "smooth(`a b`, x2, basis='thin_plate')": smooth("a b", "x2", basis="thin_plate"),
    "local(x5, span=0.3)": local("x5", span=0.3),
    "tensor(x3, x4, n_splines=(5, 6), main=false)": tensor(
        "x3", "x4", n_splines=(5, 6), main=False
    ),
    "factor(g)": factor("g"),
    "random(id, by=x1)": random("id", by="x1"),
    "linear(x6)": linear("x6"),
    "offset(log_years)": offset("log_years"),
    "smooth(3)": smooth(3),
}


@pytest.mark.parametrize("text", TERMS)
def test_a_term_shows_itself_as_the_formula_reads_it(text):
    assert parse_formula(text) == (TERMS[text],)
    assert repr(TERMS[text]) == text


def test_terms_are_joined_and_columns_stand_alone():
    found = parse_formula("smooth(x1)+ region + `two words`\n + linear(x6)")
    assert [repr(term) for term in found] == ["smooth(x1)", "region", "`two words`", "linear(x6)"]


@given(st.lists(st.sampled_from(sorted(TERMS)), min_size=1, max_size=6))
def test_any_sum_of_terms_is_read_back(texts):
    found = parse_formula(" + ".join(texts))
    assert found == tuple(TERMS[text] for text in texts)


MISTAKES = [
    ("smooth(x1) + exp(x2)", 13, "'exp' at character 14 is no term, and functions are not called"),
    ("smooth(x1, df=open('f'))", 14, "functions are not called"),
    ("__import__('os')", 0, "functions are not called"),
    ("smoth(x1)", 0, "Did you mean 'smooth'?"),
    ("smooth(x1", 9, "ends where '\\)' is expected"),
    ("smooth(x1) smooth(x2)", 11, "'\\+' is expected before 'smooth'"),
    ("x1 * x2", 3, "tensor\\(a, b\\)"),
    ("y ~ x1", 2, "the response is given as y"),
    ("x1 - x2", 3, "'\\+' is expected"),
    ("x1 +", 4, "ends where a term is expected"),
    ("smooth(x1, knot=3)", 11, "no option 'knot'.*Did you mean 'knots'"),
    ("smooth(x1, df=3, df=4)", 17, "given twice"),
    ("smooth(df=3, x1)", 13, "columns come before options"),
    ("smooth()", 0, "names no column"),
    ("x1 + 2.5", 5, "the intercept is always in the model"),
    ("1 + x1", 0, "the intercept is always in the model.*smooth\\(1\\)"),
    ("x1 + smooth(2.5)", 12, "a column is expected"),
    ("s(x1)", 0, "Did you mean 'smooth'?"),
    ("te(x1, x2)", 0, "Did you mean 'tensor'?"),
    ("smooth(x1, k=20)", 11, "Did you mean 'n_splines'?"),
    ("x1 @ x2", 3, "'@' cannot be read"),
    ("x1 + smooth(x2, df=-1)", 5, "give a number above 0"),
    ("x1 + factor(a, b)", 5, "takes fewer columns"),
    ("x1 + smooth(x1, x1, basis=thin_plate)", 5, "names a column twice"),
]


@pytest.mark.parametrize(("formula", "at", "said"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_shown_where_it_stands(formula, at, said):
    with pytest.raises(ParameterError, match=said) as caught:
        parse_formula(formula)
    lines = str(caught.value).split("\n")
    assert lines[-2] == f"  {formula}"
    assert lines[-1].index("^") == at + 2


def test_an_empty_formula_is_refused():
    with pytest.raises(ParameterError, match="empty"):
        parse_formula("  ")


@given(st.text(max_size=30))
def test_no_text_does_anything_but_parse_or_be_refused(text):
    try:
        found = parse_formula(text)
    except ParameterError:
        return
    assert " + ".join(map(repr, found))


BAD = [
    (lambda: smooth("a", "b"), "thin_plate"),
    (lambda: smooth("a", df=3, alpha=1.0), "not both"),
    (lambda: smooth("a", basis="wavelet"), "choose one of"),
    (lambda: smooth("a", shape="convex", basis="cyclic"), "pspline"),
    (lambda: smooth("a", period=(0, 1)), "cyclic"),
    (lambda: smooth("a", basis="cyclic", period=(2, 1)), "start and its end"),
    (lambda: smooth("a", n_splines=2), "at least 3"),
    (lambda: smooth("a", knots="quantile", order=3), "order=2"),
    (lambda: smooth("a", smoother=3), "bottega.smooth"),
    (lambda: smooth(1.5), "name or its position"),
    (lambda: tensor("a"), "2 to 3"),
    (lambda: tensor("a", "b", n_splines=(5, 5, 5)), "one per column"),
    (lambda: local("a", degree=3), "0, 1 or 2"),
    (lambda: random("a", alpha=-1.0), "at least 0"),
]


@pytest.mark.parametrize(("make", "said"), BAD, ids=[said for _, said in BAD])
def test_terms_refuse_what_they_cannot_be(make, said):
    with pytest.raises(ParameterError, match=said):
        make()
