"""Exact top-N search: a model's N most probable translations.

In come a sentence's decoder (of the room `decoders`), what its translations look like (first token, longest length,
forced prefix) and the sampler's support, so that both agree on what may follow; out come scored token sequences and
whether they are certainly the best. It imports `decoders` and `sampling` only, and knows no data sets and no texts.
"""
