"""DC-MBR (distributional cooling for minimum Bayes risk decoding) as a fairseq plugin."""

__version__ = "0.1.0"
