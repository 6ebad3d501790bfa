"""What can be known before a model runs.

In come paths, options, dictionaries and data sets; out come facts about checkpoints and language tokens, the automatic
temperature, sources cut to the model's length, or a sentence that names flag, value and remedy. Nothing here runs a
model or draws a sample, and weights are mapped, not read. May import pools, files, errors, lemma and fairseq; not
decoding, sampling, tasks, measure or commands.
"""
