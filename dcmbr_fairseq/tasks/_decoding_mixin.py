"""What the tasks of this package share: sampled MBR decoding behind fairseq's task interface.

The name starts with an underscore because fairseq imports every other file of ``tasks/`` as a task of its own.
"""

import logging
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from fairseq.data import FairseqDataset, encoders
from fairseq.tasks import FairseqTask

from dcmbr_fairseq.decoding.generation_options import (
    names_of,
    refuse_undecided,
    refuse_unknown,
    refuse_without_sampling,
    without_sampling,
)
from dcmbr_fairseq.decoding.generator import MBRSequenceGenerator
from dcmbr_fairseq.decoding.options import check_options, decoding_values
from dcmbr_fairseq.decoding.texts import TextSide, text_side
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.hooks import compat
from dcmbr_fairseq.pools.identity import Identity
from dcmbr_fairseq.pools.record_writer import RecordWriter
from dcmbr_fairseq.pools.settings import flag, json_object, seed_number
from dcmbr_fairseq.preflight.auto_temperature import checkpoint_temperature
from dcmbr_fairseq.preflight.checkpoints import (
    CheckpointFacts,
    check_dictionaries,
    check_fit,
    facts_of_settings,
    inspect_checkpoints,
)
from dcmbr_fairseq.preflight.data import check_data, missing_subset
from dcmbr_fairseq.preflight.identity import Processing, Sentences, identity_of
from dcmbr_fairseq.preflight.languages import BILINGUAL, LanguageTokens
from dcmbr_fairseq.preflight.long_sources import fit_sources, given_limits, length_limits
from dcmbr_fairseq.preflight.multilingual import check_family, corrected, corrections
from dcmbr_fairseq.preflight.overrides import check_overrides
from dcmbr_fairseq.preflight.segmentation import check_pieces, check_symbol, refuse_twice
from dcmbr_fairseq.tasks._command import Command, command_of, root_of, store_languages
from dcmbr_fairseq.tasks._recording import Recording
from dcmbr_fairseq.utilities import build_utility

logger = logging.getLogger(__name__)

_NOT_CAPTURED = object()


class DecodingMixin:
    """Adds ``--decoding sample|mbr|dcmbr`` to a fairseq translation task; stands before the task class.

    With ``--decoding beam``, the default, every method does what the task's own does.
    """

    _captured_tokenizer: Any = _NOT_CAPTURED
    _captured_bpe: Any = _NOT_CAPTURED
    _checkpoints: Sequence[CheckpointFacts] = ()
    _loaded: Sequence[CheckpointFacts] = ()  # what the hub's checkpoints say, whose files nobody has named
    _subset: str | None = None  # what is decoded, where it is one of the task's own
    _validating = False
    _samples: bool | None = None  # whether the last generator does; None before there is one
    _limits: Any = None  # the most tokens of source and target by the models of the last generator
    source_tail = 1  # how many tokens at the end of a source are kept when it is cut

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._recording = Recording()

    @classmethod
    def setup_task(cls, cfg: Any, **kwargs: Any) -> Any:
        """As fairseq's; checks the options and the checkpoints' headers first, before anything is loaded."""
        compat.end_lines_at_newline_only()  # fairseq-interactive may have been imported after the other repairs
        command = command_of(cfg)
        values = decoding_values(cfg)
        sampling = str(values["decoding"]) != "beam"
        check_command(command, cfg, sampling)
        cls.check_request(cfg, command, sampling)
        checkpoints = inspect_checkpoints(command.path, command.suffix, command.shards)
        if checkpoints and not sampling:
            refuse_without_sampling(cfg)
        for facts in checkpoints:
            if sampling:
                check_overrides("--model-overrides", corrections(command.model_overrides), facts, names_of(cfg))
            cls.check_training(cfg, command.model_overrides, facts)
        cls.complete(cfg)
        task = super().setup_task(cfg, **kwargs)  # type: ignore[misc]
        if command.path is None:
            store_languages(cfg)
        task._checkpoints = checkpoints
        for facts in checkpoints:
            check_fit(task, facts)
            logger.info(facts.describe())
        if checkpoints and sampling:  # once more, now that "auto" can be told
            check_options(values, command.generation, task._automatic_temperature)
        return task

    @classmethod
    def check_request(cls, cfg: Any, command: Command, sampling: bool) -> None:
        """Check the options of the task's own, before anything is read: the data folder of a bilingual task."""
        check_data(cfg)

    @classmethod
    def check_training(cls, cfg: Any, overrides: str, facts: CheckpointFacts) -> None:
        """Compare the options with what a checkpoint was trained with: a bilingual task knows no language tokens."""
        check_family(facts.path, corrected(facts, overrides))

    @classmethod
    def complete(cls, cfg: Any) -> None:
        """Fill in options that fairseq's task asks for though nobody needs them: nothing in a bilingual task."""

    def check_sizes(self, facts: CheckpointFacts) -> None:
        """Compare the dictionaries with a checkpoint's embeddings."""
        check_dictionaries(facts, len(self.source_dictionary), len(self.target_dictionary))  # type: ignore[attr-defined]

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """As fairseq's; a generator built here (``--eval-bleu``) searches with beam unless its own arguments differ."""
        if from_checkpoint and command_of(self._options).path is None:  # the hub: what the command's --path says else
            settings = cfg if isinstance(cfg, Namespace) else root_of(cfg)
            self._loaded = [*self._loaded, facts_of_settings(settings)]
        self._validating = True
        try:
            return super().build_model(cfg, from_checkpoint)  # type: ignore[misc]
        finally:
            self._validating = False

    def load_dataset(self, split: str, *args: Any, **kwargs: Any) -> None:
        """As fairseq's; a subset that is missing is one sentence, which says what there is."""
        try:
            super().load_dataset(split, *args, **kwargs)  # type: ignore[misc]
        except FileNotFoundError as error:
            raise missing_subset(self._options, split) from error

    def build_tokenizer(self, args: Any) -> Any:
        """As fairseq's; remembers the tokenizer, since the utility sees detokenised text."""
        self._captured_tokenizer = super().build_tokenizer(args)  # type: ignore[misc]
        return self._captured_tokenizer

    def build_bpe(self, args: Any) -> Any:
        """As fairseq's; remembers the BPE, since the utility sees detokenised text."""
        self._captured_bpe = super().build_bpe(args)  # type: ignore[misc]
        return self._captured_bpe

    def build_generator(
        self,
        models: Any,
        args: Any,
        seq_gen_cls: Any = None,
        extra_gen_cls_kwargs: dict[str, Any] | None = None,
        prefix_allowed_tokens_fn: Any = None,
    ) -> Any:
        """fairseq's generator for ``beam`` and ``--score-reference``, otherwise an :class:`MBRSequenceGenerator`."""
        refuse_unknown(args, "--eval-bleu-args" if self._validating else "translate or generate")
        values = self._decoding_values(args)
        samples = str(values["decoding"]) != "beam" and not getattr(args, "score_reference", False)
        if not self._validating:
            self._samples, self._limits = samples, length_limits(self, models) if samples else None
        given = {"seq_gen_cls": seq_gen_cls, "prefix_allowed_tokens_fn": prefix_allowed_tokens_fn}
        given = {name: value for name, value in given.items() if value is not None}  # not all tasks know them
        if samples:
            if given:
                raise UserError(f"{next(iter(given))} has no meaning with --decoding {values['decoding']}: use beam")
            return self._sampling_generator(models, args, values, extra_gen_cls_kwargs or {})
        if str(values["decoding"]) == "beam":
            refuse_without_sampling(args, names_of(args))
        self._recording.open(None, self._identity)
        return super().build_generator(models, args, extra_gen_cls_kwargs=extra_gen_cls_kwargs, **given)  # type: ignore[misc]

    def _sampling_generator(
        self, models: Any, args: Any, values: dict[str, Any], extra: dict[str, Any]
    ) -> MBRSequenceGenerator:
        """Args as those of :meth:`build_generator`; ``values`` are our own options."""
        options = check_options(values, args, self._automatic_temperature)
        if not self._validating:
            command = command_of(self._options)
            self.check_texts(command.bpe, command.post_process)
        extra = {k: v for k, v in extra.items() if k not in ("lm_model", "lm_weight")}
        recorder = extra.pop("recorder", None)  # a caller may bring one
        if options.decoding == "sample":
            keeps_pools = values["pools_out"] is not None or recorder is not None
            refuse_undecided(args, keeps_pools, names_of(args))
            options = options if keeps_pools else options.printed_draws(getattr(args, "nbest", 1))
        logger.info("decoding: %s", options.describe())
        utility = None
        if options.decoding != "sample":
            utility = build_utility(options.utility, options.utility_args)
            logger.info("utility: %s", utility.signature())
        # fairseq's own, since its multilingual tasks override it and drop the class
        return FairseqTask.build_generator(
            self,
            models,
            without_sampling(args),
            seq_gen_cls=MBRSequenceGenerator,
            extra_gen_cls_kwargs={
                **extra,
                "options": options,
                "utility": utility,
                "make_texts": self._validation_texts if self._validating else self._texts,
                "seed": self._seed(args),
                "nbest": getattr(args, "nbest", 1),
                "recorder": recorder or self._recording.open(values["pools_out"], self._identity),
                "languages": self.language_tokens(),
            },
        )

    def language_tokens(self) -> LanguageTokens:
        """The language tokens that decoding must know of: none in a bilingual task."""
        return BILINGUAL

    def max_positions(self) -> Any:
        """As fairseq's; for sampled pools the model's own limits hold, unless the user gave others than the default."""
        limits = super().max_positions()  # type: ignore[misc]
        return given_limits(limits) if self._decodes else limits

    def get_batch_iterator(self, dataset: FairseqDataset, *args: Any, **kwargs: Any) -> Any:
        """As fairseq's; where sentences are to be decoded, over-long sources are cut and the ids are learnt."""
        if not self._decodes:
            return super().get_batch_iterator(dataset, *args, **kwargs)  # type: ignore[misc]
        own = next((name for name, known in self.datasets.items() if dataset is known), None)  # type: ignore[attr-defined]
        if kwargs.get("max_positions") is not None and not kwargs.get("ignore_invalid_inputs"):
            limits = self._limits or kwargs["max_positions"]  # the hub computes its own before it knows of sampling
            dataset, kwargs["max_positions"] = fit_sources(self, dataset, limits)
        if own is None:
            self._recording.count_on(dataset)
            if kwargs.get("max_tokens") and command_of(self._options).path is None:  # the hub's is that of training
                kwargs["max_tokens"] = max(kwargs["max_tokens"], *map(dataset.num_tokens, range(len(dataset))))
        iterator = super().get_batch_iterator(dataset, *args, **kwargs)  # type: ignore[misc]
        if own is not None:  # the data set's own ids are all that will come
            self._subset = own
            self._recording.expect(iterator)
        return iterator

    def inference_step(self, generator: Any, models: Any, sample: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """As fairseq's; gives the recorder ids that count on from buffer to buffer."""
        return super().inference_step(generator, models, self._recording.with_ids(sample), *args, **kwargs)  # type: ignore[misc]

    @property
    def _options(self) -> Any:
        """The task's own options, where fairseq's newer and its older tasks keep them."""
        cfg = self.cfg  # type: ignore[attr-defined]
        return cfg if cfg is not None else self.args  # type: ignore[attr-defined]

    @property
    def _decodes(self) -> bool:
        """Whether sentences are decoded by sampled pools: the last generator's, or what the command asks for."""
        if self._samples is not None:
            return self._samples
        asked = str(decoding_values(self._options)["decoding"]) != "beam"
        return asked and command_of(self._options).path is not None

    def _decoding_values(self, args: Any) -> dict[str, Any]:
        """The decoding options: the generator's own arguments where they have them, otherwise the task's."""
        values = {name: getattr(args, name, value) for name, value in decoding_values(self._options).items()}
        if self._validating:  # MBR never runs inside training unless --eval-bleu-args asks for it
            values["decoding"] = getattr(args, "decoding", "beam")
            values["pools_out"] = None
        return values

    def _automatic_temperature(self) -> float:
        return checkpoint_temperature(self._checkpoints or self._loaded, len(self.target_dictionary))  # type: ignore[attr-defined]

    def _seed(self, args: Any) -> int:
        """fairseq's ``--seed``, or ``seed`` among the generator's own arguments (hub)."""
        return seed_number("--seed", getattr(args, "seed", command_of(self._options).seed))

    def check_texts(self, bpe: Any, post_process: str | None) -> None:
        """Refuse ``--bpe`` and ``--post-process`` that would put words together twice."""
        refuse_twice(bpe, post_process)

    def _identity(self) -> Identity:
        """What the records say that they were made from."""
        command, sentences = command_of(self._options), None
        if self._subset is not None:
            dataset = self.datasets[self._subset]  # type: ignore[attr-defined]
            sentences = Sentences(self._subset, dataset, range(len(dataset)))
        processing = Processing(command.post_process, command.tokenizer, command.bpe)
        files = [facts.path for facts in self._checkpoints]
        return identity_of(self, files, command.model_overrides, processing, sentences)

    def _texts(self, generator: MBRSequenceGenerator) -> TextSide:
        """Text as in fairseq's D- lines, by the command's tokenizer and BPE, or else the configuration's (hub)."""
        command = command_of(self._options)
        tokenizer, bpe = self._captured_tokenizer, self._captured_bpe
        if tokenizer is _NOT_CAPTURED:
            tokenizer = None if command.tokenizer is None else encoders.build_tokenizer(command.tokenizer)
        if bpe is _NOT_CAPTURED:
            bpe = None if command.bpe is None else encoders.build_bpe(command.bpe)
        return text_side(self, generator, command.post_process, bpe, tokenizer)

    def _validation_texts(self, generator: MBRSequenceGenerator) -> TextSide:
        """Text as ``--eval-bleu`` scores it."""
        remove_bpe = self.cfg.eval_bleu_remove_bpe  # type: ignore[attr-defined]
        return text_side(self, generator, remove_bpe, None, self.tokenizer)  # type: ignore[attr-defined]


def check_command(command: Command, options: Any, sampling: bool) -> None:
    """Find out before anything is loaded what is wrong with a command, whatever its task.

    Args:
        command: the options around the task.
        options: the task's.
        sampling: whether pools are to be sampled.

    Raises:
        UserError: an option is out of range, would be ignored, or does not fit another; ``--pools-out`` cannot be
            written.
    """
    seed_number("--seed", command.seed)
    if command.half_on_cpu and command.path is None:
        raise UserError("--fp16 trains on a GPU only: leave out --fp16, or --cpu")
    check_pieces(command.bpe)
    check_symbol(command.post_process)
    check_validation(options)
    if not sampling:
        return
    values = decoding_values(options)
    check_options(values, command.generation, lambda: 1.0)
    if command.path is not None:
        if values["decoding"] == "sample":
            refuse_undecided(options, keeps_pools=values["pools_out"] is not None)
        refuse_twice(command.bpe, command.post_process)
    if values["pools_out"] is not None:
        RecordWriter(values["pools_out"]).discard()


def check_validation(options: Any) -> None:
    """Check the arguments of ``--eval-bleu``, which fairseq reads when it builds the model.

    Raises:
        UserError: they are no JSON objects.
    """
    if getattr(options, "eval_bleu", False):
        for name in ("eval_bleu_args", "eval_bleu_detok_args"):
            json_object(flag(name), getattr(options, name))
