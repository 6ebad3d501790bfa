"""The task ``translation_dcmbr``: fairseq's ``translation`` with sampled MBR decoding and entropy in validation."""

from argparse import ArgumentParser
from dataclasses import dataclass

from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask

from dcmbr_fairseq.decoding.options import DecodingConfig
from dcmbr_fairseq.preflight.data import infer_languages
from dcmbr_fairseq.tasks._decoding_mixin import DecodingMixin
from dcmbr_fairseq.tasks._validation_entropy import ValidationEntropyMixin


@dataclass
class TranslationDcmbrConfig(DecodingConfig, TranslationConfig):
    """The options of ``translation`` and those of :class:`DecodingConfig`."""


@register_task("translation_dcmbr", dataclass=TranslationDcmbrConfig)
class TranslationDcmbrTask(DecodingMixin, ValidationEntropyMixin, TranslationTask):
    """Translate from one language to another; ``--decoding`` chooses the decision rule."""

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        """Declare the options; languages that are not given follow from the data folder."""
        super().add_args(parser)
        infer_languages(parser)
