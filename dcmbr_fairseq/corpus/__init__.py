"""Corpus tools: filters and normalisation of parallel text for training."""
