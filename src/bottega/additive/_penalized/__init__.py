"""The penalised engine: all terms at once on binned inputs, smoothing chosen by the data."""
