"""fairseq criterions of the plugin; importing this package registers them (fairseq does not look here by itself)."""

from dcmbr_fairseq.criterions import generalized_entropy  # noqa: F401
