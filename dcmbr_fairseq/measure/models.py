"""What fairseq-generate loads, for the analyses: a task, a split of its data, checkpoints; and batches of sentences.

The flags are fairseq-generate's own, parsed by its own parser, so that any task, model, tokenizer and device that it
can use is at hand here. A *model* here is what follows one ``--path``: a checkpoint, or several joined by colons.
"""

import logging
import os
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from fairseq import checkpoint_utils, tasks, utils
from fairseq.data import BaseWrapperDataset
from torch import Tensor

from dcmbr_fairseq.decoding.generation_options import names_of, without_sampling
from dcmbr_fairseq.decoding.texts import Detokenizer, TextSide, text_side
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.evaluation.translations import read_segments
from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.measure.flags import SAMPLING, parse_flags
from dcmbr_fairseq.measure.preparation import Preparation, Prepared
from dcmbr_fairseq.numeric import whole_number
from dcmbr_fairseq.pools.identity import Identity
from dcmbr_fairseq.preflight.checkpoints import CheckpointFacts, check_fit, inspect_checkpoints
from dcmbr_fairseq.preflight.data import missing_subset
from dcmbr_fairseq.preflight.identity import Processing, Sentences, identity_of
from dcmbr_fairseq.preflight.languages import language_tokens
from dcmbr_fairseq.preflight.long_sources import fit_sources, length_limits
from dcmbr_fairseq.preflight.multilingual import check_family, corrections
from dcmbr_fairseq.preflight.overrides import check_overrides
from dcmbr_fairseq.preflight.segmentation import check_pieces, check_symbol, refuse_twice
from dcmbr_fairseq.sampling.support import Support

logger = logging.getLogger(__name__)

#: Tokens of a batch where neither --max-tokens nor --batch-size is given: teacher forcing keeps (tokens, V) floats.
MAX_TOKENS = 4000


@dataclass(frozen=True)
class Model:
    """A loaded model or ensemble.

    Attributes:
        name: what tables call it.
        path: as given with ``--path``.
        members: its models as fairseq has them, in evaluation mode on the device.
        facts: what each checkpoint says of its training.
    """

    name: str
    path: str
    members: list[Any]
    facts: list[CheckpointFacts]

    def columns(self) -> dict[str, Any]:
        """The columns of tidy tables that describe the model; None where unknown, or where members differ."""
        smoothings = {facts.label_smoothing for facts in self.facts}
        regularisers = {facts.ger for facts in self.facts}
        alpha, beta = (regularisers.pop() if len(regularisers) == 1 else None) or (None, None)
        smoothing = smoothings.pop() if len(smoothings) == 1 else None
        return {"model": self.name, "label_smoothing": smoothing, "alpha": alpha, "beta": beta}


class Translation(NamedTuple):
    """A translation as text, and the log-probability of its tokens at temperature 1."""

    text: str
    log_prob: float


class Corpus(NamedTuple):
    """The text of the split (or of its first sentences), by the sentence's number."""

    sources: dict[int, str]
    references: dict[int, str]


class Workspace:
    """A split of the data, and the task that reads it.

    Args:
        flags: fairseq-generate's flags, without ``--path``: the data folder, ``-s en -t de --gen-subset valid`` ...
        first: use the first sentences of the split only; None for all.
        follows: the options of decoding that are followed; the others are refused (:mod:`dcmbr_fairseq.measure.flags`).

    Raises:
        UserError: a flag is wrong, or the data cannot be found.
    """

    def __init__(
        self, flags: Sequence[str], first: int | None = None, follows: Collection[str] = SAMPLING
    ) -> None:
        if first is not None:
            whole_number("--first", first)
        self.cfg = parse_flags(flags, follows)
        check_pieces(self.cfg.bpe)
        check_symbol(self.cfg.common_eval.post_process)
        refuse_twice(self.cfg.bpe, self.cfg.common_eval.post_process)
        try:
            self.task = tasks.setup_task(self.cfg.task)
        except (FileNotFoundError, AssertionError) as error:
            raise UserError(f"{self.cfg.task.data} is no folder of binarised data for this task ({error})") from error
        self.first = first
        self.device = torch.device("cuda" if torch.cuda.is_available() and not self.cfg.common.cpu else "cpu")
        self._dataset: Any = None

    def load(self, path: str, name: str | None = None) -> Model:
        """Load one model as fairseq-generate does, and with the first the data.

        Raises:
            UserError: a checkpoint or the split is missing, or the dictionaries do not fit the model.
        """
        cfg, parts = self.cfg, utils.split_paths(path)
        overrides = corrections(cfg.common_eval.model_overrides)
        facts = inspect_checkpoints(path, cfg.checkpoint.checkpoint_suffix, cfg.checkpoint.checkpoint_shard_count)
        for fact in facts:
            check_overrides("--model-overrides", overrides, fact, names_of(cfg.task))
            if hasattr(self.task, "check_training"):
                self.task.check_training(cfg.task, cfg.common_eval.model_overrides, fact)
            else:
                check_family(fact.path, {**fact.task, **overrides})
            check_fit(self.task, fact)
            logger.info(fact.describe())
        members, saved = checkpoint_utils.load_model_ensemble(
            parts,
            arg_overrides=overrides,
            task=self.task,
            suffix=cfg.checkpoint.checkpoint_suffix,
            strict=cfg.checkpoint.checkpoint_shard_count == 1,
            num_shards=cfg.checkpoint.checkpoint_shard_count,
        )
        for member in members:
            if cfg.common.fp16:
                member.half()
            member.to(self.device).prepare_for_inference_(cfg)
        if self._dataset is None:
            self._load_data(saved)
        return Model(name or Path(parts[0]).stem, path, members, facts)

    def _load_data(self, saved: Any) -> None:
        subset = self.cfg.dataset.gen_subset
        try:
            self.task.load_dataset(subset, task_cfg=saved.task)
        except FileNotFoundError as error:
            raise missing_subset(self.cfg.task, subset) from error
        self._dataset = self.task.dataset(subset)

    @property
    def ids(self) -> list[int]:
        """The numbers of the sentences in use."""
        assert self._dataset is not None, "load a model first"
        return list(range(len(self._dataset)))[: self.first]

    def by_length(self) -> np.ndarray:
        """``(B,)`` the numbers of the sentences in use in ascending order of length, as fairseq sorts them."""
        order = self._dataset.ordered_indices()
        return order if self.first is None else order[order < self.first]

    def identity(self, model: Model) -> Identity:
        """What its pools are made from: its weights, these sentences, and how text is made of tokens."""
        cfg = self.cfg
        processing = Processing(cfg.common_eval.post_process, cfg.tokenizer, cfg.bpe)
        sentences = Sentences(cfg.dataset.gen_subset, self._dataset, self.ids)
        files = [facts.path for facts in model.facts]
        return identity_of(self.task, files, cfg.common_eval.model_overrides, processing, sentences)

    def test_set(self) -> str:
        """A name for the split that ends in its direction, such as ``multi30k-en-de``."""
        folder = Path(str(self.cfg.task.data).split(os.pathsep)[0]).resolve().name
        languages = [getattr(self.cfg.task, side, None) for side in ("source_lang", "target_lang")]
        direction = "-".join(map(str, languages)) if all(languages) else ""
        return folder if not direction or folder.endswith(direction) else f"{folder}-{direction}"

    def batches(self, model: Model, only: Collection[int] | None = None, decode: bool = True) -> Iterator[Any]:
        """Yield fairseq's batches of the sentences in use, short ones first, on the device.

        Args:
            model: the models that are to read them: their length limits count.
            only: a part of the sentences.
            decode: sources that are too long are cut, as in decoding; otherwise they are refused, references too.

        Raises:
            UserError: sentences are too long.
        """
        cfg = self.cfg.dataset
        if cfg.max_tokens is None and cfg.batch_size is None:
            cfg.max_tokens = MAX_TOKENS
        limits = length_limits(self.task, model.members)
        dataset = self._dataset
        if decode and isinstance(limits, (tuple, list)):
            dataset, limits = fit_sources(self.task, dataset, limits)
        dataset = _Part(dataset, self.ids if only is None else only)
        skip = cfg.skip_invalid_size_inputs_valid_test
        refuse_too_long(dataset, limits, skip)
        # fairseq's default of one worker would leave a process behind after every pass
        workers = cfg.num_workers if cfg.num_workers > 1 else 0
        batches = self.task.get_batch_iterator(
            dataset=dataset, max_tokens=cfg.max_tokens, max_sentences=cfg.batch_size, max_positions=limits,
            ignore_invalid_inputs=skip, required_batch_size_multiple=cfg.required_batch_size_multiple,
            seed=self.cfg.common.seed, num_workers=workers, data_buffer_size=cfg.data_buffer_size,
        ).next_epoch_itr(shuffle=False)  # fmt: skip
        for sample in batches:
            yield utils.move_to_cuda(sample) if self.device.type == "cuda" else sample

    def prepared(
        self, model: Model, only: Collection[int] | None = None, done: AbstractSet[int] = frozenset()
    ) -> Iterator[Prepared]:
        """Yield batches encoded for sampling and search, as the task would hand them to its generator.

        Args:
            model: the models.
            only: a part of the sentences.
            done: batches of these sentences alone are left out; the others stay as they would be.
        """
        preparation = self._preparation(model)
        for sample in self.batches(model, only):
            if not done >= set(sample["id"].tolist()):
                yield self.task.inference_step(preparation, model.members, sample)

    def support(self, model: Model) -> Support:
        """Which tokens may follow a prefix, by fairseq's ``--min-len`` and ``--unkpen``."""
        return self._preparation(model).sampler.support

    def _preparation(self, model: Model) -> Preparation:
        return Preparation.of(self.cfg, self.task, model.members, self.texts)

    def counted(self, target: Tensor) -> Tensor:
        """``(B, L)`` which reference tokens count: all but padding and the language tokens that are forced in front."""
        real = target.ne(self.task.target_dictionary.pad())
        return real & (real.cumsum(dim=1) > language_tokens(self.task).forced)

    def translations(self, model: Model) -> dict[int, list[Translation]]:
        """What the task's generator makes of every sentence: its ``--nbest`` translations, best first; without
        ``--decoding`` that is fairseq's own beam search, with ``--beam``, ``--lenpen`` ..."""
        generation = self.cfg.generation
        if not generation.sampling and getattr(self.cfg.task, "decoding", "beam") == "beam":
            generation = without_sampling(generation)  # the truncation is of our pools
        generator = self.task.build_generator(model.members, generation)
        detokenize = self.texts(generator).target
        found: dict[int, list[Translation]] = {}
        for sample in self.batches(model):
            hypotheses = self.task.inference_step(generator, model.members, sample)
            for sentence, nbest in zip(sample["id"].tolist(), hypotheses, strict=True):
                found[sentence] = [
                    Translation(detokenize(one["tokens"].tolist()), float(one["positional_scores"].sum()))
                    for one in nbest[: self.cfg.generation.nbest]
                ]
        return found

    def texts(self, generator: Any) -> TextSide:
        """Detokenisers of both sides, for the text of fairseq-generate's S- and D- lines."""
        cfg, task = self.cfg, self.task
        if hasattr(task, "check_texts"):
            task.check_texts(cfg.bpe, cfg.common_eval.post_process)
        tokenizer, bpe = task.build_tokenizer(cfg.tokenizer), task.build_bpe(cfg.bpe)
        return text_side(task, generator, cfg.common_eval.post_process, bpe, tokenizer)

    def corpus(self, model: Model, references: PathLike | None = None) -> Corpus:
        """Sources and references as text.

        Args:
            model: a loaded model.
            references: a file with one reference for each sentence of the split; None takes the split's own target
                side, detokenised (fairseq-generate's T- lines).

        Raises:
            UserError: the split has no target side, or the file another number of lines.
        """
        texts = self._preparation(model).texts
        own: dict[int, str] = {}
        sources: dict[int, str] = {}
        unknown = 0
        for sample in self.batches(model):
            for row, sentence in enumerate(sample["id"].tolist()):
                sources[sentence] = texts.source(self._real(sample["net_input"]["src_tokens"][row]))
                if references is None:
                    own[sentence] = self._reference(sample, row, texts.target)
                    unknown += int(sample["target"][row].eq(self.task.target_dictionary.unk()).any())
        if unknown:
            logger.warning(
                "%d of %d references hold words that the dictionary does not know, which score as <<unk>>: give the "
                "references as text with --references", unknown, len(own),
            )  # fmt: skip
        if references is not None:
            lines = read_segments(references, "--references")
            if len(lines) != len(self._dataset):
                raise UserError(
                    f"--references {references} has {len(lines)} lines but the split has {len(self._dataset)} "
                    "sentences: give the references of this split"
                )
            own = {sentence: lines[sentence] for sentence in sources}
        return Corpus(dict(sorted(sources.items())), dict(sorted(own.items())))

    def _reference(self, sample: Any, row: int, detokenizer: Detokenizer) -> str:
        if sample.get("target") is None:
            raise UserError(f"--gen-subset {self.cfg.dataset.gen_subset} has no target side: give --references")
        tokens = self._real(sample["target"][row])
        # escaped unknown words, as in fairseq's T- lines: no hypothesis may match them
        text = self.task.target_dictionary.string(
            tokens, detokenizer.post_process, escape_unk=True, extra_symbols_to_ignore=detokenizer.ignore
        )
        for decode in detokenizer.decoders:
            text = decode(text)
        return text

    def _real(self, tokens: Tensor) -> list[int]:
        return tokens[tokens.ne(self.task.target_dictionary.pad())].tolist()


class _Part(BaseWrapperDataset):
    """Some of a data set's sentences, under their own numbers."""

    def __init__(self, dataset: Any, ids: Collection[int]) -> None:
        super().__init__(dataset)
        self._ids = np.array(sorted(ids), dtype=np.int64)

    def ordered_indices(self) -> np.ndarray:
        """Their numbers, in the data set's order."""
        order = self.dataset.ordered_indices()
        return order[np.isin(order, self._ids)]


def refuse_too_long(dataset: Any, limits: Any, skip: bool) -> None:
    """Refuse sentences that the models cannot read, unless they may be skipped and some are left.

    Raises:
        UserError: names the first.
    """
    left, ignored = dataset.filter_indices_by_size(dataset.ordered_indices(), limits)
    if len(ignored) and not (skip and len(left)):
        remedy = "use another split" if skip else "--skip-invalid-size-inputs-valid-test leaves them out"
        raise UserError(
            f"{len(ignored)} sentences are longer than the model's {limits} tokens, "
            f"the first is number {min(ignored)}: {remedy}"
        )
