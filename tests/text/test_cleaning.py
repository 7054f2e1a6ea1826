"""What is taken out of texts, and the stems that are left."""

import json
import pickle
from pathlib import Path

import pytest
import skops.io
from sklearn.base import clone

from bottega.core.errors import InputError, ParameterError
from bottega.text import TextCleaner
from bottega.workbench import trusted_types


def cleaned(text, **settings):
    """Return the words of one text; stems and stop words only where they are asked for."""
    settings = {"language": None, "stop_words": None, **settings}
    (found,) = TextCleaner(**settings).fit([text]).transform([text])
    return found


@pytest.mark.parametrize("language", ["english", "italian", "german", "french", "spanish"])
def test_stems_are_those_of_snowball(language):
    path = Path(__file__).parents[1] / "reference/text/snowball_stems.json"
    stems = json.loads(path.read_text(encoding="utf-8"))["stems"][language]
    found = cleaned(" ".join(stems), language=language)
    assert found.split() == list(stems.values())


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        ("See https://a.org/x?y=1 or www.b.it now", {}, "see or now"),
        ("See https://a.org", {"urls": True}, "see https org"),
        ("@anna tells bob@site.org", {}, "tells bob site org"),
        ("@anna tells", {"mentions": True}, "anna tells"),
        ("<p class='x'>Clean</p><br/>air, 3 < 4 > 2", {"numbers": True}, "clean air"),
        ("<b>bold</b>", {"markup": True, "min_length": 1}, "b bold b"),
        ("In 2016 route66 was 50% $!?", {}, "in route66 was"),
        ("In 2016", {"numbers": True}, "in 2016"),
        ("good 👍🏽 day 😀", {}, "good day"),
        ("good 👍🏽 day 😀😀", {"emoji": True}, "good 👍🏽 day 😀 😀"),
        ("pace мир سلام naïve", {}, "pace naïve"),
        ("pace мир سلام", {"other_alphabets": True}, "pace мир سلام"),
        ("Hot AND Cold", {"lowercase": False}, "Hot AND Cold"),
        ("it rains cats and  dogs again", {"idioms": ["Cats and dogs"]}, "it rains again"),
        ("it is hot air", {"idioms": {"hot air": "nonsense"}}, "it is nonsense"),
        ("a hot airship", {"idioms": ["hot air"]}, "hot airship"),
        ("I am so so", {"min_length": 1, "stop_words": ["SO"]}, "i am"),
    ],
)
def test_what_is_taken_out(text, settings, expected):
    assert cleaned(text, **settings) == expected


def test_marks_beside_letters_are_joined_to_them():
    assert cleaned("perche\u0301 e\u0300 cos\u0131") == cleaned("perch\u00e9 \u00e8 cos\u0131")
    # Vowel signs of Arabic are no letters, and right-to-left marks no words.
    arabic = "\u200fك\u064eت\u064eب\u200f"
    assert cleaned(arabic, other_alphabets=True) == "كتب"


def test_stop_words_keep_what_denies():
    assert TextCleaner().fit(["x"]).language_ is None
    english = TextCleaner("english").fit(["x"])
    assert english.transform(["This is not the best of them"]) == ["not best"]
    italian = TextCleaner("italian").fit(["x"])
    assert italian.transform(["Questo non è il migliore di tutti"]) == ["non miglior"]


@pytest.mark.parametrize(
    ("given", "name"),
    [("it", "italian"), ("EN", "english"), ("de-AT", "german"), ("italan", "italian")],
)
def test_the_name_of_a_language_is_suggested(given, name):
    with pytest.raises(InputError, match=f"Did you mean '{name}'"):
        TextCleaner(given).fit(["x"])


def test_the_language_is_found():
    english = ["The cat is on the table and it is not mine."]
    italian = ["Il gatto è sul tavolo e non è il mio."]
    german = ["Die Katze sitzt auf dem Tisch und gehört nicht mir."]
    assert TextCleaner().fit(english).language_ == "english"
    assert TextCleaner().fit(italian).language_ == "italian"
    assert TextCleaner().fit(german).language_ is None
    assert TextCleaner("german").fit(german).transform(["Katzen"]) == ["katz"]


def test_thresholds_are_learnt_and_kept():
    texts = ["all one two", "all one three", "all two four"]
    cleaner = TextCleaner(None, stop_words=None, min_df=2, max_df=0.9).fit(texts)
    assert (cleaner.frequent_, cleaner.rare_) == (["all"], ["four", "three"])
    assert cleaner.transform(["all four new two one"]) == ["new two one"]


def test_a_fitted_cleaner_is_cloned_and_stored():
    cleaner = TextCleaner(min_df=2, idioms=["of course"]).fit(["the best of course", "the best"])
    assert clone(cleaner).get_params() == cleaner.get_params()
    content = skops.io.dumps(cleaner)
    assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
    for copy in (
        pickle.loads(pickle.dumps(cleaner)),
        skops.io.loads(content, trusted=trusted_types()),
    ):
        assert copy.transform(["The best runners"]) == cleaner.transform(["The best runners"])


def test_bad_settings_are_refused():
    with pytest.raises(ParameterError, match="'english'"):
        TextCleaner("englisch").fit(["a"])
    with pytest.raises(ParameterError, match="stop_words='some' is not allowed"):
        TextCleaner(stop_words="some").fit(["a"])
    with pytest.raises(ParameterError, match="one phrase"):
        TextCleaner(idioms="hot air").fit(["a"])
    with pytest.raises(ParameterError, match="idioms is empty"):
        TextCleaner(idioms=[" "]).fit(["a"])
    with pytest.raises(InputError, match=r"\[text\]"):
        TextCleaner().fit("one text")
