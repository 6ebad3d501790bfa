"""Analyses of the paper: entropy, ranks, exact search, diversity, sweeps, figures."""
