"""The fairseq tasks; importing this package registers them."""

import fairseq  # noqa: F401  (first: the tasks are registered as soon as fairseq is there, and need the modules below)

from dcmbr_fairseq.tasks import (  # noqa: F401
    translation_dcmbr,
    translation_from_pretrained_bart_dcmbr,
    translation_multi_simple_epoch_dcmbr,
)
