"""Corpus tools: filters, normalisation, the demo's phrasebook."""
