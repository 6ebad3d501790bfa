"""The fairseq tasks; importing this package registers them.

In come fairseq's configuration and its calls; out go its own results for ``--decoding beam``, and generators of ours
otherwise. Each task is fairseq's with two mixins; files that begin with an underscore are shared and not registered:
`_decoding_mixin.py` (the hooks), `_command.py` (what the command was asked for), `_recording.py` (where pools are
written, under which ids), `_validation_entropy.py`. May import all below; only the package's door imports this room.
"""

import fairseq  # noqa: F401  (first: the tasks are registered as soon as fairseq is there, and need the modules below)

from dcmbr_fairseq.preflight.overrides import check_the_hub
from dcmbr_fairseq.tasks import (  # noqa: F401
    translation_dcmbr,
    translation_from_pretrained_bart_dcmbr,
    translation_multi_simple_epoch_dcmbr,
)
from dcmbr_fairseq.tasks._decoding_mixin import DecodingMixin

check_the_hub(DecodingMixin)
