"""Decision rules: from pools to a ranking of the hypotheses. `rules` and `utilities` never import fairseq."""
