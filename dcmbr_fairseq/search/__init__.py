"""Exact top-N search."""
