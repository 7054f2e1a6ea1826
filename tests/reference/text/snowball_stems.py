"""Reference stems: Snowball's own C library, by PyStemmer.

Run with ``python tests/reference/text/snowball_stems.py`` where PyStemmer is installed; writes
snowball_stems.json beside this script. The words are those of the samples at snowballstem.org and
others of all parts of speech.
"""

import json
from importlib.metadata import version
from pathlib import Path

import Stemmer

WORDS = {
    "english": """consign consigned consignment consistency consistently consolation consolatory
        consolidate knackeries knaves knavish kneaded knightly knots running ran runner happily
        happiness national nationality rationalise skies dying news inning proceed generously
        communism arsenal relational hopping hoping agreed feed universe cats' says""",
    "italian": """abbandonata abbandonava abbandonerà abbandono abbaruffato abbassamento
        abbassandola abbassarono pronto pronuncerà pronunciamento pronunziare propaganda propone
        proporre città università perché amichevolmente amici amico bellissimo bella mangiandolo
        mangiarono andarsene attenzioni governo governativo politiche libertà pazzesco""",
    "german": "aufeinander kategorie katzen häuser schönste gehörte freundlichkeit",
    "french": "continuellement majestueux chevaux généralement amitié mangeaient",
    "spanish": "chicharrones torneados rápidamente canciones amistad comiendo",
}

found = {
    language: dict(
        zip(words.split(), Stemmer.Stemmer(language).stemWords(words.split()), strict=True)
    )
    for language, words in WORDS.items()
}
out = {
    "call": "Stemmer.Stemmer(language).stemWords(words)",
    "versions": {"PyStemmer": version("PyStemmer"), "Snowball": Stemmer.version()},
    "stems": found,
}
text = json.dumps(out, ensure_ascii=False, indent=1)
Path(__file__).with_suffix(".json").write_text(text + "\n", encoding="utf-8")
