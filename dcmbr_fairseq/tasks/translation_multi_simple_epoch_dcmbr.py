"""The task ``translation_multi_simple_epoch_dcmbr``: fairseq's multilingual task with sampled MBR decoding.

It serves mBART-50, M2M-100 and models trained by the task itself.
"""

from argparse import ArgumentParser

from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.tasks import register_task
from fairseq.tasks.translation_multi_simple_epoch import TranslationMultiSimpleEpochTask

from dcmbr_fairseq.decoding.options import DecodingConfig
from dcmbr_fairseq.tasks._decoding_mixin import DecodingMixin
from dcmbr_fairseq.tasks._validation_entropy import ValidationEntropyMixin


@register_task("translation_multi_simple_epoch_dcmbr")
class TranslationMultiSimpleEpochDcmbrTask(DecodingMixin, ValidationEntropyMixin, TranslationMultiSimpleEpochTask):
    """Translate between many languages with one model; ``--decoding`` chooses the decision rule."""

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """Declare fairseq's options of the task, and those of :class:`DecodingConfig`."""
        TranslationMultiSimpleEpochTask.add_args(parser)
        gen_parser_from_dataclass(parser, DecodingConfig())
