"""The main path of decoding: options, the generator, texts.

In come fairseq's batches and the options, which `pools/settings.py` declares; `options.py` makes the tasks' fields of
them and one validated object. `generator.py` encodes, samples pools, has the rule decide, and gives fairseq's n-best
lists; `texts.py` makes the texts that a utility sees, for decoding and analyses alike. May import sampling, decoders,
preflight, pools, rules, utilities; not tasks, commands, measure or present.
"""
