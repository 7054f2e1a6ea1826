"""Texts: corpora, stem matrices, tags, scores, deciding words, proportions of labels."""

from bottega.text.corpus import Corpus, read_corpus
from bottega.text.deciding_words import DecidingWords, deciding_words
from bottega.text.latent_scores import LatentScores, latent_scores
from bottega.text.manual_tags import ManualTags, read_tags
from bottega.text.proportions import AggregateProportions
from bottega.text.stem_matrix import StemMatrix
from bottega.text.tagger import Tagger
from bottega.text.text_cleaner import TextCleaner
from bottega.text.typical_stems import TypicalStems, typical_stems
from bottega.text.word_scores import WordScores

__all__ = [  # made by docs/generate.py
    "AggregateProportions",
    "Corpus",
    "DecidingWords",
    "LatentScores",
    "ManualTags",
    "StemMatrix",
    "Tagger",
    "TextCleaner",
    "TypicalStems",
    "WordScores",
    "deciding_words",
    "latent_scores",
    "read_corpus",
    "read_tags",
    "typical_stems",
]
