"""fairseq criterions of the plugin; importing this package registers them (fairseq does not look here by itself)."""

import fairseq  # noqa: F401  (first: the tasks are registered as soon as fairseq is there, and need the modules below)

from dcmbr_fairseq.criterions import generalized_entropy  # noqa: F401
