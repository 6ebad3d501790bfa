"""Speed of the sampler and of a whole DC-MBR decode against fairseq's own sampling and beam search.

Everything decodes the same batch with the same model in one process, on one thread, in alternating runs. ``rows`` are
the decoder rows that were forwarded and ``tokens`` the tokens drawn: on a large model cost follows the rows. Peak
memory is what a first run needs beyond the model.
"""

import argparse
import itertools
import subprocess
import tempfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils, search, utils
from fairseq.data import Dictionary, encoders
from fairseq.models.transformer import TransformerModel, base_architecture
from fairseq.sequence_generator import SequenceGenerator
from timing import Times, medians, peak_memory, ratio

import dcmbr_fairseq  # noqa: F401  (registers the task and repairs fairseq)
from dcmbr_fairseq.decoders.encoding import encode, source_sentences
from dcmbr_fairseq.decoding.generator import MBRSequenceGenerator
from dcmbr_fairseq.decoding.options import DecodingConfig, decoding_options
from dcmbr_fairseq.decoding.texts import Detokenizer, TextSide
from dcmbr_fairseq.files.reading import iter_lines
from dcmbr_fairseq.pools.draws import PoolSpec
from dcmbr_fairseq.sampling.prefix_sampler import PrefixSampler, Sampled, SamplingBatch
from dcmbr_fairseq.sampling.support import Support
from dcmbr_fairseq.utilities import build_utility


class World:
    """A model in memory, one batch of source sentences, and how to make text of its output."""

    def __init__(self, model: Any, target: Dictionary, sample: dict[str, Any], texts: Callable[[], TextSide]) -> None:
        self.model, self.target, self.sample, self.texts = model, target, sample, texts
        self.sources = source_sentences(sample["net_input"]["src_tokens"], target.pad())

    def source_pieces(self) -> list[list[str]]:
        """The tokens of the sources as strings, without the end of sentence; for models with one joint dictionary."""
        return [[self.target[token] for token in source if token != self.target.eos()] for source in self.sources]

    def fairseq(self, beam: int, temperature: float = 1.0, sampling: bool = False, **limits: Any) -> SequenceGenerator:
        """fairseq's own generator: beam search, or its sampling of ``beam`` hypotheses."""
        strategy = search.Sampling(self.target) if sampling else None
        return SequenceGenerator(
            [self.model], self.target, beam_size=beam, temperature=temperature, search_strategy=strategy, **limits
        )

    def sample_pool(
        self, size: int, temperature: float, max_len: int = 200, draws: str = "independent"
    ) -> Sampled:
        """Our pool of the batch."""
        support = Support(self.target.eos(), (self.target.pad(),), 1, self.target.unk())
        with torch.no_grad():
            make_decoder = encode([self.model], self.sample["net_input"], self.target.pad())
            limits = torch.full((len(self.sources),), max_len).numpy()
            batch = SamplingBatch(self.sources, limits, self.target.eos())
            return PrefixSampler(support, draws=draws).sample(make_decoder, batch, [PoolSpec(size, temperature, 0)])

    def dcmbr(
        self, size: int, utility: str = "chrf", draws: str = "independent", temperature: float = 0.5, **limits: Any
    ) -> MBRSequenceGenerator:
        """Our whole decode: pools, texts, utilities, choice; nothing is kept from earlier batches."""
        values = {name: value for name, value in vars(DecodingConfig()).items() if name != "_name"}
        values.update(decoding="dcmbr", num_hyp=size, utility=utility, draws=draws)
        values.update(temp_hyp=temperature, temp_ref=temperature)
        return MBRSequenceGenerator(
            [self.model], self.target, options=decoding_options(values), utility=build_utility(utility, {}),
            make_texts=lambda generator: self.texts(), seed=1, **limits,
        )  # fmt: skip


def trained_world(checkpoint: Path, data: Path, text: Path, bpe_codes: Path, sentences: int) -> World:
    """A checkpoint, and the first sentences of a text as one batch, tokenised with Moses and subword-nmt.

    Args:
        checkpoint: fairseq checkpoint of a bilingual model.
        data: folder with its ``dict.*.txt``.
        text: source text, one sentence a line, plain or .gz.
        bpe_codes: subword-nmt codes.
        sentences: size of the batch.
    """
    models, cfg, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(checkpoint)], arg_overrides={"data": str(data)}
    )
    model = models[0].eval()
    model.prepare_for_inference_(cfg)
    bpe = encoders.build_bpe(Namespace(bpe="subword_nmt", bpe_codes=str(bpe_codes), bpe_separator="@@"))
    moses = {"source_lang": cfg.task.source_lang, "target_lang": cfg.task.target_lang}
    tokenizer = encoders.build_tokenizer(Namespace(tokenizer="moses", **moses))
    lines = itertools.islice(iter_lines(text), sentences)
    tokens = [
        task.source_dictionary.encode_line(bpe.encode(tokenizer.encode(x)), add_if_not_exist=False) for x in lines
    ]
    data_set = task.build_dataset_for_inference([x.long() for x in tokens], [len(x) for x in tokens])
    sample = data_set.collater([data_set[i] for i in range(len(tokens))])

    def texts() -> TextSide:
        ignore = {task.target_dictionary.eos()}
        sides = (task.target_dictionary, task.source_dictionary)
        return TextSide(*(Detokenizer(side, None, bpe, tokenizer, ignore) for side in sides))

    return World(model, task.target_dictionary, sample, texts)


def add_world_arguments(parser: argparse.ArgumentParser, sentences: int) -> None:
    """What :func:`given_world` needs."""
    for name in ("checkpoint", "data", "text", "bpe_codes"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--sentences", type=int, default=sentences)


def given_world(args: argparse.Namespace) -> World:
    """The checkpoint and the batch of a command line."""
    return trained_world(args.checkpoint, args.data, args.text, args.bpe_codes, args.sentences)


def random_world(
    words: int, sentences: int, source_length: int, architecture: Callable[[Namespace], None] = base_architecture
) -> World:
    """Random weights, of Transformer-base's dimensions or another's, where hardly any prefixes are shared."""
    torch.manual_seed(1)
    dictionary = Dictionary()
    for number in range(words - len(dictionary)):
        dictionary.add_symbol(f"w{number}")
    args = Namespace(share_all_embeddings=True)
    architecture(args)
    model = TransformerModel.build_model(args, Namespace(source_dictionary=dictionary, target_dictionary=dictionary))
    src_tokens = torch.randint(dictionary.nspecial, words, (sentences, source_length))
    src_tokens[:, -1] = dictionary.eos()
    net_input = {"src_tokens": src_tokens, "src_lengths": torch.full((sentences,), source_length)}
    nothing = Detokenizer(dictionary)
    return World(model.eval(), dictionary, {"net_input": net_input}, lambda: TextSide(nothing, nothing))


def pool_benchmark(world: World, size: int, temperature: float, runs: int, max_len: int = 200) -> dict[str, Any]:
    """Our pool against ``--sampling --beam N --nbest N --temperature T``."""
    theirs = world.fairseq(size, temperature, sampling=True, max_len_b=max_len)
    contestants = {
        "fairseq": lambda: theirs.generate([world.model], world.sample),
        "ours": lambda: world.sample_pool(size, temperature, max_len),
    }
    memory = {f"{name}_peak_mib": round(peak_memory(run)) for name, run in contestants.items()}
    times = medians(contestants, runs)
    sampled = world.sample_pool(size, temperature, max_len)
    distinct = [len(pool.tokens) for (pool,) in sampled.pools]
    counts = {"rows": sampled.rows, "tokens": sampled.tokens, "distinct_a_sentence": sum(distinct) / len(distinct)}
    return {**report_of(times, "fairseq", "ours"), **memory, **counts}


def decode_benchmark(world: World, size: int, runs: int) -> dict[str, Any]:
    """A whole DC-MBR decode with chrF against beam search with beam 5, and the part of it that is the pool."""
    beam = world.fairseq(5)
    times = medians(
        {
            "fairseq": lambda: beam.generate([world.model], world.sample),
            "ours": lambda: world.dcmbr(size).generate([world.model], world.sample),
            "ours_pool_alone": lambda: world.sample_pool(size, 0.5),
        },
        runs,
    )
    return report_of(times, "fairseq", "ours")


def report_of(times: dict[str, Times], slower: str, faster: str) -> dict[str, Any]:
    """Milliseconds of each, and how many times faster the one is than the other."""
    report: dict[str, Any] = {f"{name}_ms": found.rounded(1) for name, found in times.items()}
    return {**report, "times_faster": ratio(times[slower], times[faster]).rounded(2)}


def decoding_benchmarks(world: World, runs: int, sizes: tuple[int, ...] = (50, 250)) -> dict[str, Any]:
    """All comparisons on a trained model."""
    report = {f"pool of {size}, T = 0.5": pool_benchmark(world, size, 0.5, runs) for size in sizes}
    report["pool of 50, T = 1.0"] = pool_benchmark(world, 50, 1.0, runs)
    report["whole decode, N = 50, against beam 5"] = decode_benchmark(world, 50, runs)
    return report


def base_world() -> World:
    """Transformer-base dimensions and random weights: 4 sentences of 20 words, 32,000 words."""
    return random_world(words=32000, sentences=4, source_length=20)


def base_benchmark(runs: int, size: int = 50, max_len: int = 16) -> dict[str, Any]:
    """The pool with Transformer-base dimensions and random weights, translations of 16."""
    return pool_benchmark(base_world(), size, 0.5, runs, max_len)


def mbrs_benchmark(world: World, mbrs_decode: Path, runs: int, size: int = 50) -> dict[str, Any]:
    """A whole decode against fairseq's sampling to a file and ``mbrs-decode`` with chrF on it, in its own environment.

    The start of mbrs-decode (imports) is measured on an empty job and taken off.
    """
    theirs = world.fairseq(size, 0.5, sampling=True)
    texts = world.texts()
    with tempfile.TemporaryDirectory() as folder:
        lines, empty, source = (Path(folder) / name for name in ("hypotheses", "one", "source"))
        source.write_text("\n".join(texts.source(s) for s in world.sources) + "\n", "utf-8")
        empty.write_text("a\n", "utf-8")

        def decide(path: Path, candidates: int) -> None:
            command = [mbrs_decode, path, "--num_candidates", candidates, "--metric", "chrf", "--quiet"]
            command += ["--output", Path(folder) / "out"]
            subprocess.run(list(map(str, command)), check=True, capture_output=True)

        def pipeline() -> None:
            hypotheses: list[list[dict[str, Any]]] = theirs.generate([world.model], world.sample)
            strings = [texts.target(utils.strip_pad(h["tokens"], 1).tolist()) for pool in hypotheses for h in pool]
            lines.write_text("\n".join(strings) + "\n", "utf-8")
            decide(lines, size)

        times = medians(
            {
                "fairseq": pipeline,
                "start_of_mbrs": lambda: decide(empty, 1),
                "ours": lambda: world.dcmbr(size).generate([world.model], world.sample),
            },
            runs,
        )
    net = Times(*(a - b for a, b in zip(times["fairseq"], times["start_of_mbrs"], strict=True)))
    report = report_of(times, "fairseq", "ours")
    return {**report, "times_faster_without_start": ratio(net, times["ours"]).rounded(2)}
