"""The task ``translation_multi_simple_epoch_dcmbr``: fairseq's multilingual task with sampled MBR decoding.

It serves mBART-50, M2M-100, and what the task itself has trained.
"""

from argparse import ArgumentParser, Namespace
from typing import Any

from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.tasks import register_task
from fairseq.tasks.translation_multi_simple_epoch import TranslationMultiSimpleEpochTask

from dcmbr_fairseq.decoding.options import DecodingConfig
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.preflight import multilingual
from dcmbr_fairseq.preflight.checkpoints import CheckpointFacts
from dcmbr_fairseq.preflight.data import missing_subset
from dcmbr_fairseq.preflight.languages import SPECIAL, LanguageTokens, known_ids, language_symbols
from dcmbr_fairseq.preflight.segmentation import refuse_pieces
from dcmbr_fairseq.tasks._command import Command
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

    @classmethod
    def check_request(cls, cfg: Namespace, command: Command, sampling: bool) -> None:
        """Check languages, files and the sentencepiece model; in training the languages alone."""
        if cfg.source_lang is None and cfg.target_lang is None and command.path is None:
            if cfg.lang_pairs is None:
                raise UserError("--lang-pairs is missing: list the pairs to train on, such as en_XX-de_DE,de_DE-en_XX")
            multilingual.listed_languages(cfg)
            return
        multilingual.check_direction(cfg, multilingual.listed_languages(cfg))
        multilingual.check_files(cfg)
        if command.path is not None and sampling:
            refuse_pieces(command.bpe, command.post_process)
        if sampling and cfg.keep_inference_langtok:
            raise UserError("--keep-inference-langtok has no meaning with sampled pools: use --decoding beam")

    @classmethod
    def complete(cls, cfg: Namespace) -> None:
        """``--lang-pairs``, where only one direction is decoded; the languages in their order, for the checkpoint."""
        setattr(cfg, multilingual.TRAINED_LANGUAGES, multilingual.listed_languages(cfg))
        if cfg.lang_pairs is None:
            cfg.lang_pairs = f"{cfg.source_lang}-{cfg.target_lang}"

    @classmethod
    def check_training(cls, cfg: Namespace, overrides: str, facts: CheckpointFacts) -> None:
        """Compare the language options with those that a checkpoint was trained with."""
        multilingual.check_training(cfg, multilingual.listed_languages(cfg), facts, overrides)

    def load_dataset(self, split: str, *args: Any, **kwargs: Any) -> None:
        """As :meth:`DecodingMixin.load_dataset`; fairseq's multilingual task stumbles over pairs without data."""
        try:
            super().load_dataset(split, *args, **kwargs)
        except KeyError as error:
            if not str(error.args[0]).startswith("main:"):  # its name for a pair's data
                raise
            raise missing_subset(self.args, split) from error

    def check_sizes(self, facts: CheckpointFacts) -> None:
        """Compare the dictionaries, language tokens included, with a checkpoint's embeddings."""
        multilingual.check_sizes(facts, self.args, self.langs, self.source_dictionary, self.target_dictionary)

    def check_texts(self, bpe: Any, post_process: str | None) -> None:
        """As :meth:`DecodingMixin.check_texts`; texts of these models are always segmented."""
        super().check_texts(bpe, post_process)
        refuse_pieces(bpe, post_process)

    def language_tokens(self) -> LanguageTokens:
        """The tokens of all languages; the target's is forced as a prefix, unless it replaces the end of sentence."""
        args = self.args
        symbols = [*language_symbols(self.langs, args.lang_tok_style, args.langtoks_specs), *SPECIAL]
        prefixed = args.langtoks["main"][1] and not args.lang_tok_replacing_bos_eos
        return LanguageTokens(
            ids=known_ids(self.target_dictionary, symbols),
            forced=1 if prefixed else 0,
            source_ids=known_ids(self.source_dictionary, symbols),
        )

    def build_generator(self, models: Any, args: Any, *others: Any, **more: Any) -> Any:
        """As :meth:`DecodingMixin.build_generator`; fairseq's task knows no ``prefix_allowed_tokens_fn``."""
        if self.args.source_lang is None or self.args.target_lang is None:  # the hub, given a checkpoint alone
            raise UserError("source_lang or target_lang is missing: give both, such as en_XX and de_DE")
        if more.get("prefix_allowed_tokens_fn") is not None:
            raise UserError("prefix_allowed_tokens_fn is not known to the multilingual task: leave it out")
        return super().build_generator(models, args, *others, **more)
