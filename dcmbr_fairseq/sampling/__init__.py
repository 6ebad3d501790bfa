"""Sampling: pools of draws from a model, keyed so that the same draws come whatever the batch.

In come decoders that give logits, source sentences and the pools wanted; out come pools of token sequences with
log-probabilities. `prefix_sampler` is the loop, `next_token` one step of it (`support` and `truncation`: what may be
drawn; `categorical`: the drawing), `randomness` the uniforms, `trace` what has been drawn. It imports `decoders` and
`pools` only, and knows neither texts, utilities nor options.
"""
