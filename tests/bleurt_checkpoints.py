"""Small random BLEURT models saved to folders, as bleurt-pytorch saves them, with tokenizers trained on a few texts."""

from pathlib import Path
from typing import Any

TEXTS = [
    "A man in an orange hat starring at something.",
    "Ein Mann mit einem orangefarbenen Hut starrt auf etwas.",
    "Ein Hund rennt über das weiß-grüne Gras vor einem weißen Zaun.",
    "Zwei Frauen sitzen auf einer Bank, und ein Kind spielt mit dem Ball.",
    "The quick brown fox jumps over the lazy dog; 1234567890 times?",
]


def sentencepiece_checkpoint(folder: Path, **config: Any) -> Path:
    """A model with a SentencePiece tokenizer, like BLEURT-20."""
    import sentencepiece
    from bleurt_pytorch.bleurt.tokenization_bleurt_sp import BleurtSPTokenizer

    folder.mkdir(parents=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS), model_prefix=str(folder / "spm"), vocab_size=80, minloglevel=2,
        pad_id=0, unk_id=1, bos_id=2, eos_id=3, pad_piece="[PAD]", unk_piece="[UNK]", bos_piece="[CLS]",
        eos_piece="[SEP]", user_defined_symbols=["[MASK]"],
    )  # fmt: skip
    tokenizer = BleurtSPTokenizer(str(folder / "spm.model"))
    tokenizer.save_pretrained(folder)
    return save_random_model(folder, len(tokenizer), **config)


def wordpiece_checkpoint(folder: Path, **config: Any) -> Path:
    """A model with a WordPiece tokenizer, like BLEURT-tiny and BLEURT-base."""
    from bleurt_pytorch.bleurt.tokenization_bleurt_fast import BleurtTokenizerFast

    folder.mkdir(parents=True)
    characters = sorted(set("".join(TEXTS).lower()) - {" "})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *(f"##{c}" for c in characters)]
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    BleurtTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return save_random_model(folder, len(pieces), **config)


def save_random_model(folder: Path, vocabulary: int, **config: Any) -> Path:
    """Weights from a fixed seed, larger than at the start of a training, so that scores differ visibly."""
    import torch
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification

    sizes = dict(hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64)
    torch.manual_seed(1)
    settings = BleurtConfig(vocab_size=vocabulary, initializer_range=0.1, **{**sizes, **config})
    BleurtForSequenceClassification(settings).save_pretrained(folder)
    return folder
