"""Classification: linear, generative and by codes, with calibration and hyperplanes."""

__all__: list[str] = []  # made by docs/generate.py
