"""What runs a model to learn about it: entropy, ranks, top-N, diversity, sampling, sweeps, tuning."""
