"""Texts as numbers: cleaning, stems, counts and weights; what `bottega.text` is made of."""
