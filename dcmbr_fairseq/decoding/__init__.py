"""Decoding: from an encoded batch to fairseq's hypothesis lists."""
