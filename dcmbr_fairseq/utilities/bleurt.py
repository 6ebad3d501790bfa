"""BLEURT (Sellam et al., 2020; Pu et al., 2021): a Transformer trained to rate a candidate against a reference.

Reference and candidate are encoded jointly, so no embedding can be kept. What can be saved without changing a score:
each distinct pair of a batch is scored once, each distinct text is tokenised once, pairs of similar length are padded
together, and the last layer is computed for the one position that the score is read from.
"""

import contextlib
import hashlib
import importlib.metadata
import logging
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.utilities.arguments import check_choice, check_text, check_whole
from dcmbr_fairseq.utilities.base import Comparison, Utility
from dcmbr_fairseq.utilities.devices import find_device
from dcmbr_fairseq.utilities.pairs import Pair, distinct_pairs

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)

PRECISIONS = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
TOKENS_PER_BATCH = {"cpu": 2048, "cuda": 32768}  # on the CPU a batch should stay in the cache
SPECIAL_TOKENS = 3  # [CLS] reference [SEP] candidate [SEP]
INSTALL = "pip install 'dcmbr_fairseq[bleurt]'"
NOT_HERE = "Unless it is on this machine it must be downloaded: check its name and the network, or give a folder"


class BleurtUtility(Utility):
    """BLEURT: a Transformer's regression of human ratings from reference and candidate.

    Args:
        checkpoint: folder of a BLEURT model for bleurt-pytorch, or its name on a model hub.
        device: ``auto`` (CUDA where there is one), ``cpu``, ``cuda``, ``cuda:1``, ...
        precision: fp32, fp16 or bf16; the last two are faster on CUDA and move scores by about 5e-3.
        tokens_per_batch: upper limit of pairs times padded length of a batch.
        hidden_act: activation function, such as ``gelu_new`` (tanh), if the checkpoint's own is to be overruled.
        max_length: longest pair in tokens; by default what the checkpoint allows.

    Raises:
        UserError: bleurt-pytorch or the checkpoint is missing, or an argument does not fit.
    """

    label = "BLEURT"
    in_per_cent = True
    needs = "pip install 'dcmbr_fairseq[bleurt]', a checkpoint"
    least_arguments = '{"checkpoint": "FOLDER"}'

    @classmethod
    def require_ready(cls) -> None:
        """bleurt-pytorch, and a transformers that it works with."""
        require_packages()

    def __init__(
        self,
        *,
        checkpoint: str = "",
        device: str = "auto",
        precision: str = "fp32",
        tokens_per_batch: int | None = None,
        hidden_act: str | None = None,
        max_length: int | None = None,
    ) -> None:
        import torch

        self.precision = check_choice("precision", precision, PRECISIONS)
        self.device = find_device(check_text("device", device))
        model, self._tokenizer = load_checkpoint(checkpoint, hidden_act)
        self.fingerprint = weights_fingerprint(model)
        self._model = model.to(device=self.device, dtype=getattr(torch, PRECISIONS[precision]))
        self.checkpoint = Path(checkpoint).name
        self.max_length = self._check_max_length(max_length)
        default_tokens = TOKENS_PER_BATCH.get(self.device.type, TOKENS_PER_BATCH["cuda"])
        self.tokens_per_batch = check_whole(
            "tokens_per_batch", default_tokens if tokens_per_batch is None else tokens_per_batch, 1
        )
        self._truncations = Truncations(self.max_length)
        self._report_end = weakref.finalize(self, self._truncations.report)  # at the latest when the program ends

    def _check_max_length(self, max_length: int | None) -> int:
        longest = min(self._model.config.max_position_embeddings, self._tokenizer.model_max_length)
        if max_length is None:
            return longest
        return check_whole("max_length", max_length, SPECIAL_TOKENS + 2, longest)  # the checkpoint's positions

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str], source: str | None = None) -> np.ndarray:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise`; scores mostly from 0 to 1."""
        return self.pairwise_batch([Comparison(hypotheses, references)])[0]

    def pairwise_batch(self, batch: Sequence[Comparison]) -> list[np.ndarray]:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise_batch`."""
        needed = distinct_pairs(batch)
        return needed.matrices(self._scores(needed.pairs))

    def _scores(self, pairs: Sequence[Pair]) -> np.ndarray:
        """``(P,)`` the scores of distinct pairs."""
        rows = self._encode(pairs)
        scores = np.zeros(len(pairs))
        lengths = [len(reference) + len(candidate) + SPECIAL_TOKENS for reference, candidate in rows]
        for batch in length_batches(lengths, self.tokens_per_batch):
            scores[batch] = self._forward([rows[i] for i in batch])
        return scores

    def _encode(self, pairs: Sequence[Pair]) -> list[tuple[list[int], list[int]]]:
        """Token ids of (reference, candidate) of each pair, truncated; each distinct text is tokenised once."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        ids = self._tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"] if texts else []
        ids_of: dict[str, list[int]] = dict(zip(texts, ids, strict=True))
        limit = self.max_length - SPECIAL_TOKENS
        rows = [(ids_of[reference], ids_of[hypothesis]) for hypothesis, reference in pairs]
        too_long = [i for i, (reference, candidate) in enumerate(rows) if len(reference) + len(candidate) > limit]
        for i in too_long:
            rows[i] = truncate(*rows[i], limit)
        self._truncations.add(len(pairs), len(too_long))
        return rows

    def _forward(self, rows: Sequence[tuple[list[int], list[int]]]) -> np.ndarray:
        """``(B,)`` the scores of one batch of encoded pairs, longest first."""
        import torch

        cls, sep, pad = (getattr(self._tokenizer, f"{name}_token_id") for name in ("cls", "sep", "pad"))
        longest = max(len(reference) + len(candidate) for reference, candidate in rows) + SPECIAL_TOKENS
        tokens = np.full((len(rows), longest), pad, dtype=np.int64)
        segments = np.zeros_like(tokens)
        mask = np.zeros(tokens.shape, dtype=bool)
        for i, (reference, candidate) in enumerate(rows):
            row = [cls, *reference, sep, *candidate, sep]
            tokens[i, : len(row)] = row
            segments[i, len(reference) + 2 : len(row)] = 1
            mask[i, : len(row)] = True
        on_device = [torch.from_numpy(array).to(self.device) for array in (tokens, segments, mask)]
        visible = None if mask.all() else on_device[2]  # asked here, so that nothing waits for the device
        with torch.inference_mode():
            return first_token_scores(self._model, on_device[0], on_device[1], visible).double().cpu().numpy()

    def signature(self) -> str:
        """Checkpoint with a fingerprint of its weights, activation, length limit, precision, and version."""
        parts = [
            f"BLEURT|ckpt:{self.checkpoint}",
            f"weights:{self.fingerprint}",
            f"act:{self._model.config.hidden_act}",
            f"len:{self.max_length}",
            self.precision,
            f"version:bleurt-pytorch-{importlib.metadata.version('bleurt-pytorch')}",
        ]
        return "|".join(parts)

    def close(self) -> None:
        """Log how many pairs were truncated."""
        self._report_end()


class Truncations:
    """Counts pairs that were too long: warns of the first, and tells their number in the end."""

    def __init__(self, max_length: int) -> None:
        self.max_length = max_length
        self.scored = 0
        self.truncated = 0

    def add(self, scored: int, truncated: int) -> None:
        """Count the pairs of a batch."""
        if truncated and not self.truncated:
            logger.warning(
                "BLEURT: %d of %d pairs have more than %d tokens and were truncated, the longer side first, as in the "
                "original; further ones are counted, and their number is logged at the end",
                truncated,
                scored,
                self.max_length,
            )
        self.scored += scored
        self.truncated += truncated

    def report(self) -> None:
        """Log the total, if there is any."""
        if self.truncated:
            logger.info("BLEURT: %d of %d pairs were truncated", self.truncated, self.scored)


def truncate(reference: Sequence[int], candidate: Sequence[int], limit: int) -> tuple[list[int], list[int]]:
    """Shorten a pair to ``limit`` tokens as the original does: drop the last token of the longer side, or of the
    candidate where both are equally long, until it fits."""
    half = limit // 2
    if len(candidate) <= half:
        kept = limit - len(candidate)
    else:
        kept = min(len(reference), limit - half)
    return list(reference[:kept]), list(candidate[: limit - kept])


def length_batches(lengths: Sequence[int], budget: int) -> Iterator[np.ndarray]:
    """Indices of items of similar length, longest first; a batch's size times its longest stays within ``budget``.

    Longest first: if memory does not suffice, it is seen at once.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def first_token_scores(
    model: Any, tokens: "torch.Tensor", segments: "torch.Tensor", visible: Optional["torch.Tensor"]
) -> "torch.Tensor":
    """The scores ``(B,)`` of a ``BleurtForSequenceClassification`` in evaluation mode.

    The inputs are ``(B, L)``: token ids, segment ids, and what is no padding (None: nothing is).
    The same numbers as the model's own forward pass, up to rounding. The score is read from the first position alone:
    in the last layer nothing but that position's query, attention and feed-forward is computed.
    """
    import torch

    encoder = model.bleurt.encoder
    positions = torch.arange(tokens.shape[1], device=tokens.device)[None]  # (1, T)
    states = model.bleurt.embeddings(input_ids=tokens, token_type_ids=segments, position_ids=positions)  # (B, L, E)
    if hasattr(encoder, "embedding_projection"):
        states = encoder.embedding_projection(states)  # (B, L, C)
    attended = None if visible is None else visible[:, None, None, :]  # (B, 1, 1, T)
    for layer in encoder.layer[:-1]:
        states = _layer(layer, states, states, attended)
    states = _layer(encoder.layer[-1], states[:, :1], states, attended)  # (B, 1, C)
    return model.classifier(model.bleurt.pooler(states)).flatten()


def _layer(
    layer: Any, queries: "torch.Tensor", states: "torch.Tensor", attended: Optional["torch.Tensor"]
) -> "torch.Tensor":
    """One Transformer layer for the positions ``queries (B, Q, C)``, which attend to all ``states (B, L, C)``."""
    import torch.nn.functional as functional

    attention = layer.attention.self

    def heads(projected: "torch.Tensor") -> "torch.Tensor":  # (B, L, C) -> (B, heads, L, C / heads)
        return projected.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)

    context = functional.scaled_dot_product_attention(
        heads(attention.query(queries)), heads(attention.key(states)), heads(attention.value(states)), attended
    )
    states = layer.attention.output(context.transpose(1, 2).flatten(2), queries)
    return layer.output(layer.intermediate(states), states)


def load_checkpoint(checkpoint: str, hidden_act: str | None = None) -> tuple[Any, Any]:
    """The model, in evaluation mode on the CPU, and the tokenizer of a folder, or of a name on a model hub.

    Raises:
        UserError: bleurt-pytorch is missing, or the checkpoint is missing, incomplete or of another kind.
    """
    if checkpoint == "":
        raise UserError('--utility bleurt needs a checkpoint: add --utility-args \'{"checkpoint": "FOLDER"}\'')
    check_text("checkpoint", checkpoint)
    require_packages()
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification, BleurtTokenizer

    _check_folder(checkpoint)
    options = {"local_files_only": True} if Path(checkpoint).is_dir() else {}
    try:
        config = BleurtConfig.from_pretrained(checkpoint, **options)
        if hidden_act is not None:
            config.hidden_act = _check_activation(hidden_act)
        with _errors_only():
            model, loading = BleurtForSequenceClassification.from_pretrained(
                checkpoint, config=config, output_loading_info=True, **options
            )
            tokenizer = BleurtTokenizer.from_pretrained(checkpoint, **options)
    except (OSError, TypeError, RuntimeError) as error:  # a missing file, a tokenizer without its model, wrong shapes
        reason = " ".join(str(error).split())
        remedy = "" if Path(checkpoint).is_dir() else f". {NOT_HERE}"
        raise UserError(f"--utility-args: checkpoint {checkpoint} cannot be loaded: {reason}{remedy}") from error
    missing = [name for name in loading["missing_keys"] if not name.endswith("position_ids")]
    if missing:
        raise UserError(
            f"--utility-args: checkpoint {checkpoint} lacks {len(missing)} weights of a BLEURT model, such as "
            f"{missing[0]}: give a BLEURT checkpoint converted for bleurt-pytorch"
        )
    return model.eval(), tokenizer


@contextlib.contextmanager
def _errors_only() -> Iterator[None]:
    """Without transformers' warnings: of a tokenizer class that is tried first, and of weights, which are checked."""
    from transformers.utils import logging as transformers_logging

    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)


def _check_folder(checkpoint: str) -> None:
    folder = Path(checkpoint)
    if (folder / "bert_config.json").is_file() and not (folder / "config.json").is_file():
        raise UserError(
            f"--utility-args: checkpoint {checkpoint} is in the original's TensorFlow format: convert it with "
            "bleurt_pytorch/utils/convert_tf_to_pytorch_bleurt.py (docs/utilities.md)"
        )
    looks_like_path = folder.is_absolute() or checkpoint.startswith(".") or checkpoint.count("/") > 1
    if looks_like_path and not folder.is_dir():
        raise UserError(f"--utility-args: checkpoint {checkpoint} is not a folder: give the folder of a BLEURT model")


def _check_activation(name: str) -> str:
    from transformers.activations import ACT2FN

    return check_choice("hidden_act", name, ACT2FN)


def require_packages() -> None:
    """Check that bleurt-pytorch and a transformers that it works with are installed, without importing them.

    Raises:
        UserError: one of them is missing or of the wrong version.
    """
    try:
        importlib.metadata.version("bleurt-pytorch")
        transformers = importlib.metadata.version("transformers")
    except importlib.metadata.PackageNotFoundError as error:
        raise UserError(f"BLEURT needs the package {error.name}: {INSTALL}") from error
    if int(transformers.split(".")[0]) >= 5:
        raise UserError(f"BLEURT needs transformers<5, {transformers} is installed: {INSTALL}")


def weights_fingerprint(model: Any) -> str:
    """Eight hexadecimal digits that tell checkpoints apart: a hash of the pooler's and the classifier's weights."""
    digest = hashlib.sha256()
    for part in (model.bleurt.pooler, model.classifier):
        for weights in part.parameters():
            digest.update(weights.detach().float().cpu().numpy().tobytes())
    return digest.hexdigest()[:8]
