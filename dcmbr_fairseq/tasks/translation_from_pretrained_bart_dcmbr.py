"""The task ``translation_from_pretrained_bart_dcmbr``: fairseq's task for bilingual fine-tunes of mBART-25.

There a target reads ``words </s> [xx]`` and starts from ``[xx]``; fairseq decodes until ``[xx]``. Here ``</s>`` ends a
sampled target: ``[xx]`` follows by convention, so it is no part of the translation or of its probability.
"""

from argparse import ArgumentParser
from dataclasses import dataclass, field
from typing import Any, Optional

from fairseq.data import Dictionary
from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.tasks import register_task
from fairseq.tasks.translation_from_pretrained_bart import TranslationFromPretrainedBARTTask

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.preflight import multilingual
from dcmbr_fairseq.preflight.checkpoints import CheckpointFacts
from dcmbr_fairseq.preflight.languages import SPECIAL, LanguageTokens, known_ids, language_symbols
from dcmbr_fairseq.preflight.segmentation import refuse_pieces
from dcmbr_fairseq.tasks._command import Command
from dcmbr_fairseq.tasks._decoding_mixin import DecodingMixin
from dcmbr_fairseq.tasks._validation_entropy import ValidationEntropyMixin
from dcmbr_fairseq.tasks.translation_dcmbr import TranslationDcmbrConfig


@dataclass
class TranslationFromPretrainedBartDcmbrConfig(TranslationDcmbrConfig):
    """The options of ``translation_dcmbr`` and fairseq's own for mBART."""

    langs: Optional[str] = field(
        default=None,
        metadata={"help": "all languages of the pretraining in its order, joined by commas: ar_AR,cs_CZ,..."},
    )
    prepend_bos: bool = field(
        default=False, metadata={"help": "begin each sentence with the beginning-of-sentence token"}
    )


@register_task("translation_from_pretrained_bart_dcmbr", dataclass=TranslationFromPretrainedBartDcmbrConfig)
class TranslationFromPretrainedBartDcmbrTask(DecodingMixin, ValidationEntropyMixin, TranslationFromPretrainedBARTTask):
    """Translate with a fine-tuned mBART; ``--decoding`` chooses the decision rule."""

    source_tail = 2  # the end of sentence and the language

    def __init__(self, cfg: Any, src_dict: Dictionary, tgt_dict: Dictionary) -> None:
        self.args = cfg  # fairseq's class reads it but no longer sets it
        super().__init__(cfg, src_dict, tgt_dict)

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """Declare the options; fairseq's class declares its own by hand."""
        gen_parser_from_dataclass(parser, TranslationFromPretrainedBartDcmbrConfig())

    @classmethod
    def check_request(cls, cfg: Any, command: Command, sampling: bool) -> None:
        """Check the languages, and for decoding the files and the sentencepiece model."""
        if not cfg.langs:
            raise UserError("--langs is missing: give all languages of mBART's pretraining, ar_AR,cs_CZ,..., in order")
        if command.path is not None:
            multilingual.check_direction(cfg, languages_of(cfg))
            multilingual.check_files(cfg)
            if sampling:
                refuse_pieces(command.bpe, command.post_process)

    @classmethod
    def check_training(cls, cfg: Any, overrides: str, facts: CheckpointFacts) -> None:
        """Refuse a checkpoint whose language tokens stand elsewhere, or that was trained on other languages."""
        trained = multilingual.corrected(facts, overrides)
        if multilingual.check_family(facts.path, trained, multilingual.FAMILIES[1]):
            multilingual.check_bilingual(cfg, languages_of(cfg), trained, facts.path)

    def check_texts(self, bpe: Any, post_process: str | None) -> None:
        """As :meth:`DecodingMixin.check_texts`; texts of these models are always segmented."""
        super().check_texts(bpe, post_process)
        refuse_pieces(bpe, post_process)

    def language_tokens(self) -> LanguageTokens:
        """The tokens of all languages; a target starts from its own."""
        symbols = [*language_symbols(languages_of(self.args), "mbart"), *SPECIAL]
        return LanguageTokens(
            ids=known_ids(self.target_dictionary, symbols),
            start=self.target_dictionary.index(f"[{self.args.target_lang}]"),
            source_ids=known_ids(self.source_dictionary, symbols),
        )


def languages_of(options: Any) -> list[str]:
    """``--langs`` as a list."""
    return options.langs.split(",")
