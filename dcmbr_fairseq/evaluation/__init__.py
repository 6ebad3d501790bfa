"""Corpus metrics and significance tests on finished translations."""
