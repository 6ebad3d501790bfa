"""Sampling pools: prefix sampler, the step's distribution, drawing, truncation, support, keyed uniforms, trace."""
