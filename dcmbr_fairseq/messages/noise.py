"""Lines of others that say nothing to a user: exactly these are dropped, real warnings stay."""

import logging

from dcmbr_fairseq.errors import wants_traceback

#: fairseq's own commands import fairseq before they import us: what its import says, as the first of these does, is
#: dropped in `dcmbr`; the pipelines filter it out of what their programs say (worth_reading in scripts/lib/decode.sh).
#: Logger -> how its lines begin that are dropped. The overrides are 17 KB before the sentence that says what is wrong.
NOISE = {
    "fairseq.tasks.text_to_speech": "Please install tensorboardX",
    "fairseq.dataclass.utils": "Error when composing. Overrides: ",
}


def drop_noise() -> None:
    """Let the loggers of :data:`NOISE` drop those lines; a second call changes nothing."""
    for name, beginning in NOISE.items():
        logger = logging.getLogger(name)
        if not any(isinstance(each, _Drops) for each in logger.filters):
            logger.addFilter(_Drops(beginning))


class _Drops(logging.Filter):
    """Drops the lines that begin so, unless tracebacks are asked for: then everything may help."""

    def __init__(self, beginning: str) -> None:
        super().__init__()
        self.beginning = beginning

    def filter(self, record: logging.LogRecord) -> bool:
        return wants_traceback() or not record.getMessage().startswith(self.beginning)
