"""Incremental decoders: the next-token distributions of prefix rows, step by step.

In come a model and its encoded sentences (`encoding`), then rows that split, stay or leave (`incremental`); out come
logits ``(P, V)``. `fairseq_decoder` drives any fairseq model, `transformer` the standard one faster (with `attention`,
`key_value_cache` and `memory`), and `choice` is the table that says which is taken. It imports no other room: what is
drawn from the logits, and what they mean, is not known here.
"""
