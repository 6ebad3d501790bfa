"""Incremental decoders: fairseq's own interface, the fast Transformer, caches, encoding."""
