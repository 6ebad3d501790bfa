"""What can be known before a model runs: checkpoints, languages, long sources, automatic temperature."""
