"""Methods of other libraries that a comparison may take in beside its own, when installed."""
