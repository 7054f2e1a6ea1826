"""Texts as they should not be: empty, foreign, enormous, full of markup."""

import numpy as np
import pytest

from bottega.core.errors import DataWarning, InputError
from bottega.text import StemMatrix, TextCleaner


def test_empty_texts_are_counted_and_only_empty_ones_refused():
    with pytest.warns(DataWarning, match="3 of 4 texts have no stem"):
        model = StemMatrix().fit(["clean air", "", None, float("nan")])
    assert model.n_empty_ == 3
    assert model.transform(["", None]).nnz == 0
    for texts in (["", " "], ["the of and the with"], ["1 2 ! ?"], ["мир"]):
        with pytest.raises(InputError, match="texts has a word that is kept"):
            StemMatrix().fit(texts)
    with pytest.raises(InputError, match="There are no texts"):
        StemMatrix().fit([])
    with pytest.raises(InputError, match="too few or too many"):
        StemMatrix(min_df=3).fit(["clean air", "clean water"])


def test_what_is_no_text_is_named():
    with pytest.raises(InputError, match=r"holds 3 of type int in row 1"):
        StemMatrix().fit(["a text", 3])
    with pytest.raises(InputError, match=r"bytes in row 0 .* decode"):
        StemMatrix().fit([b"caf\xe9"])
    with pytest.raises(InputError, match="shape"):
        StemMatrix().fit(np.array([["a", "b"]]))
    with pytest.raises(InputError, match="type int"):
        StemMatrix().fit(3)


@pytest.mark.slow
def test_ten_megabytes_in_one_text():
    text = "clean water and dirty air " * 400_000
    assert len(text) > 10_000_000
    found = StemMatrix(weighting="counts").fit_transform(["short", text])
    assert found.toarray().max() == 400_000


def test_directions_marks_and_signs():
    hebrew, arabic = "שלום עולם", "\u202bسلام\u202c"
    cleaner = TextCleaner(None, stop_words=None, other_alphabets=True)
    found = cleaner.fit([hebrew]).transform([hebrew, arabic, "\ud83d x\udcff yy \ufffd zz"])
    assert found == ["שלום עולם", "سلام", "yy zz"]
    # A text may hold the very sign that stands between joined texts.
    assert cleaner.transform(["one\x1etwo", "three"]) == ["one two", "three"]
    assert cleaner.transform(["\x1e\x1e", "\x1e", "three"]) == ["", "", "three"]


def test_markup_is_taken_out():
    texts = ["<script>alert('x')</script><b>clean</b> &amp; air", "clean <3 air"]
    assert TextCleaner(None, stop_words=None).fit(texts).transform(texts) == [
        "alert clean amp air", "clean air",
    ]  # fmt: skip
