"""Pre-flight of multilingual decoding: what a user can get wrong is found before anything large is loaded.

fairseq builds its multilingual task from the command line alone. An option that differs from training gives no error
there but nonsense, so each is compared with what the checkpoint says of its training, as far as it says it.
"""

import ast
import difflib
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairseq.data import Dictionary

from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.files.reading import read_lines
from dcmbr_fairseq.preflight.checkpoints import CheckpointFacts, check_dictionaries
from dcmbr_fairseq.preflight.data import first_folder
from dcmbr_fairseq.preflight.languages import MASK, known_ids, language_symbols

logger = logging.getLogger(__name__)

#: The option under which tasks of this package store the list of languages in the checkpoints that they train.
TRAINED_LANGUAGES = "trained_languages"
STYLES = ("multilingual", "mbart")
#: fairseq's tasks whose models have language tokens, each in its own way; ours are called so and end in ``_dcmbr``.
FAMILIES = ("translation_multi_simple_epoch", "translation_from_pretrained_bart")


def listed_languages(options: Any) -> list[str]:
    """The languages of a model in the order that numbers their tokens: ``--lang-dict``, ``--langs`` or the pairs'.

    Args:
        options: the options of fairseq's multilingual task.

    Raises:
        UserError: both are given or nothing is, or the file is missing.
    """
    if options.lang_dict and options.langs:
        raise UserError(f"--langs and --lang-dict {options.lang_dict} cannot both be given: leave out one of them")
    if options.langs:
        return list(options.langs)
    if options.lang_dict:
        if not Path(options.lang_dict).is_file():
            raise UserError(
                f"--lang-dict {options.lang_dict} is not a file: give the list of the model's languages, one a line "
                "(ML50_langs.txt of mBART-50)"
            )
        languages = languages_of_file(options.lang_dict)
        if not languages:
            raise UserError(f"--lang-dict {options.lang_dict} is empty: give the model's languages, one a line")
        return languages
    if not options.lang_pairs:
        raise UserError("--lang-dict is missing: give the list of the model's languages, one a line, in their order")
    return sorted({language for pair in pairs_of(options.lang_pairs) for language in pair.split("-")})


def languages_of_file(path: str) -> list[str]:
    """The languages that a file lists, one a line."""
    return [line.strip() for line in read_lines(path) if line.strip()]


def pairs_of(pairs: Any) -> list[str]:
    """``--lang-pairs`` as a list; fairseq has it as text first."""
    return pairs.split(",") if isinstance(pairs, str) else list(pairs or ())


def check_direction(options: Any, languages: Sequence[str]) -> None:
    """Check ``--source-lang`` and ``--target-lang``.

    Raises:
        UserError: one is missing or unknown; names the languages that may be meant.
    """
    for side in ("source_lang", "target_lang"):
        code, flag = getattr(options, side), "--" + side.replace("_", "-")
        if code is None:
            raise UserError(f"{flag} is missing: give --source-lang and --target-lang, such as en_XX and de_DE")
        if code not in languages:
            meant = similar(code, languages) or languages
            raise UserError(
                f"{flag} {code} is not among the {len(languages)} languages given with --lang-dict, --langs or "
                f"--lang-pairs: give {' or '.join(meant)}"
            )


def similar(code: str, languages: Sequence[str]) -> list[str]:
    """Languages that a wrong code may mean: of the same first two letters, otherwise spelt nearly so."""
    same = [language for language in languages if language[:2].lower() == code[:2].lower()]
    return same or difflib.get_close_matches(code, languages, cutoff=0.8)


def check_files(options: Any) -> None:
    """Check the data folder and the dictionaries in it.

    Raises:
        UserError: one is missing.
    """
    fixed = getattr(options, "fixed_dictionary", None)
    if fixed and not Path(fixed).is_file():
        raise UserError(f"--fixed-dictionary {fixed} is not a file: give the dictionary that all languages share")
    for side, path in dictionary_files(options).items():
        if not path.is_file():
            raise UserError(
                f"the {side} dictionary {path} is missing: copy the model's dict.*.txt files into the data folder, or "
                f"give --{side}-dict FILE"
            )


def dictionary_files(options: Any) -> dict[str, Path]:
    """Where fairseq will read the source and the target dictionary."""
    folder = first_folder(options.data)
    fixed = getattr(options, "fixed_dictionary", None)
    own = {"source": getattr(options, "source_dict", None), "target": getattr(options, "target_dict", None)}
    languages = {"source": options.source_lang, "target": options.target_lang}
    return {side: Path(fixed or own[side] or folder / f"dict.{languages[side]}.txt") for side in own}


def main_tokens(settings: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Which language's token the source and the target carry: ``("src", "tgt")`` with mBART-50; None for no token."""
    given = (settings.get("langtoks") or {}).get("main")
    if given is not None:
        return given[0], given[1]
    return settings.get("encoder_langtok") or None, "tgt" if settings.get("decoder_langtok") else None


def check_training(options: Any, languages: Sequence[str], facts: CheckpointFacts, overrides: str) -> None:
    """Compare the language options with those that a checkpoint was trained with, as far as it says them.

    Args:
        options: the options of fairseq's multilingual task, as given.
        languages: those of :func:`listed_languages`.
        facts: of the checkpoint.
        overrides: ``--model-overrides``, which corrects a checkpoint that is wrong about itself.

    Raises:
        UserError: they differ; says what to pass.
    """
    trained = corrected(facts, overrides)
    if check_family(facts.path, trained, FAMILIES[0]) is None:
        return  # trained otherwise: nothing to compare with
    _check_tokens(vars(options), trained, facts.path)
    _check_order(languages, trained, facts.path)
    _check_pair(options, trained, facts.path)


def check_family(path: str, trained: Mapping[str, Any], own: str | None = None) -> str | None:
    """Refuse a model of another task with language tokens than the task at hand: each places them in its own way.

    Args:
        path: of the checkpoint.
        trained: the options of its training.
        own: which of :data:`FAMILIES` the task at hand is of; None for a bilingual one.

    Returns:
        which of them the training's is of; None for any other, and where no tokens were used.

    Raises:
        UserError: it is another; says which task to give.
    """
    name = str(trained.get("task") or trained.get("_name"))
    family = next((family for family in FAMILIES if name.startswith(family)), None)
    if own is None and family == FAMILIES[0] and main_tokens(trained) == (None, None):
        return None
    if family not in (None, own):
        raise UserError(
            f"--path {path} was trained with --task {name}, which places language tokens otherwise: give --task "
            f"{family}_dcmbr"
        )
    return family


def corrected(facts: CheckpointFacts, overrides: str) -> dict[str, Any]:
    """The options that a checkpoint was trained with, as ``--model-overrides`` corrects them."""
    return {**facts.task, **corrections(overrides)}


def corrections(overrides: str) -> dict[str, Any]:
    """``--model-overrides`` as a dictionary.

    Raises:
        UserError: it is none.
    """
    try:
        return dict(ast.literal_eval(overrides))
    except (ValueError, SyntaxError, TypeError) as error:
        raise UserError(f"--model-overrides {overrides} must be a Python dictionary such as {{'seed': 2}}") from error


def check_bilingual(options: Any, languages: Sequence[str], trained: Mapping[str, Any], path: str) -> None:
    """Compare languages and direction with those of a fine-tuned mBART, which writes one language alone.

    Args:
        options: the task's, as given.
        languages: those given, in their order.
        trained: the options of the checkpoint's training.
        path: of the checkpoint.

    Raises:
        UserError: they differ; says what to pass.
    """
    _check_order(languages, {"langs": trained.get("langs")}, path)
    asked = f"{options.source_lang}-{options.target_lang}"
    direction = f"{trained.get('source_lang')}-{trained.get('target_lang')}"
    if "None" not in direction and asked != direction:
        raise UserError(
            f"--path {path} was trained on {direction} alone, {asked} was given: give -s {trained['source_lang']} "
            f"-t {trained['target_lang']}, or the model of that direction"
        )


def _check_tokens(given: Mapping[str, Any], trained: Mapping[str, Any], path: str) -> None:
    ours, theirs = main_tokens(given), main_tokens(trained)
    if ours[0] != theirs[0]:
        remedy = f"give --encoder-langtok {theirs[0]}" if theirs[0] else "leave out --encoder-langtok"
        raise UserError(f"--path {path} was trained with source tokens of kind {theirs[0]}, not {ours[0]}: {remedy}")
    if ours[1] != theirs[1]:
        remedy = "give --decoder-langtok" if theirs[1] else "leave out --decoder-langtok"
        raise UserError(f"--path {path} was trained with target tokens of kind {theirs[1]}, not {ours[1]}: {remedy}")
    name = "lang_tok_replacing_bos_eos"
    if any(ours) and bool(given.get(name)) != bool(trained.get(name)):
        raise UserError(
            f"--path {path} was trained {'with' if trained.get(name) else 'without'} --lang-tok-replacing-bos-eos: "
            f"{'give it' if trained.get(name) else 'leave it out'}"
        )


def _check_order(languages: Sequence[str], trained: Mapping[str, Any], path: str) -> None:
    known = trained_languages(trained)
    if known is None:
        logger.warning(
            "%s does not say in which order its languages were listed, which numbers their tokens: make sure that "
            "--lang-dict or --langs is the list of its training", path,
        )  # fmt: skip
    elif known != list(languages):
        raise UserError(
            f"--path {path} was trained with the languages {','.join(known)} in this order, which numbers their "
            "tokens: give them with --langs"
        )


def trained_languages(trained: Mapping[str, Any]) -> list[str] | None:
    """The languages of a checkpoint in their order; None where it does not say them.

    It has them itself where it was trained with ``--langs``, or by a task of this package; otherwise the path of the
    list, which is read if it is still there; or the pairs, whose languages fairseq sorts.

    Args:
        trained: the options of its training.
    """
    for name in (TRAINED_LANGUAGES, "langs"):
        if trained.get(name):
            listed = trained[name]
            return listed.split(",") if isinstance(listed, str) else list(listed)
    if trained.get("lang_dict"):
        return languages_of_file(trained["lang_dict"]) if Path(trained["lang_dict"]).is_file() else None
    if trained.get("lang_pairs"):
        return sorted({language for pair in pairs_of(trained["lang_pairs"]) for language in pair.split("-")})
    return None


def _check_pair(options: Any, trained: Mapping[str, Any], path: str) -> None:
    pair = f"{options.source_lang}-{options.target_lang}"
    extra = [pair for pairs in (trained.get("extra_lang_pairs") or {}).values() for pair in pairs_of(pairs)]
    known = {*pairs_of(trained.get("lang_pairs")), *extra}
    if not known or pair in known:
        return
    if pair not in pairs_of(options.lang_pairs):
        raise UserError(
            f"--path {path} was trained on {len(known)} pairs of languages, {pair} is not among them: choose another, "
            f"or give --lang-pairs {pair} to translate between languages that it has not seen together"
        )
    logger.warning("%s was not trained on %s: it translates between languages it has not seen together", path, pair)


def check_sizes(
    facts: CheckpointFacts, options: Any, languages: Sequence[str], source: Dictionary, target: Dictionary
) -> None:
    """Compare dictionaries, language tokens included, with the embeddings.

    Raises:
        UserError: their sizes differ, or agree by chance; says which option is likely to be wrong.
    """
    given, trained = options.lang_tok_style, facts.task.get("lang_tok_style")
    try:
        check_dictionaries(facts, len(source), len(target), MASK in source or MASK in target)
    except UserError as error:
        both = facts.encoder_rows != len(source) and facts.decoder_rows != len(target)  # as a list of languages does
        advice = _sizes_advice(facts, options, languages, trained) if both else None
        raise UserError(advice or str(error)) from error
    by_chance = len(target) == facts.decoder_rows  # a language more or less makes up for the mask
    if trained not in (given, None) and by_chance:
        raise UserError(f"--path {facts.path} was trained with --lang-tok-style {trained}, not {given}: give that")


def _sizes_advice(facts: CheckpointFacts, options: Any, languages: Sequence[str], trained: Any) -> str | None:
    """A sentence where other language tokens would make the sizes agree; None where they would not."""
    file = dictionary_files(options)["target"]
    bare = Dictionary.load(str(file))
    rows, base, given = facts.decoder_rows, len(bare), options.lang_tok_style
    if rows is None or rows < base:
        return None
    start = f"--path {facts.path} has {rows} target embeddings; {file} has {base} types and {len(languages)} languages"
    for style in STYLES:
        size = base + len(_new_symbols(bare, languages, style, options.langtoks_specs))
        if style != given and trained in (style, None) and rows == size:
            return f"{start} were given, which fits --lang-tok-style {style}, not {given}: give that"
    missing = rows - base - (given == "mbart")
    if options.langtoks_specs == ["main"] and not known_ids(bare, language_symbols(languages, given)):
        return f"{start} were given, but the model has {missing}: give the model's own list with --lang-dict"
    return None


def _new_symbols(bare: Dictionary, languages: Sequence[str], style: str, specs: Sequence[str]) -> list[str]:
    """What fairseq will add to a dictionary: the mask with mBART's style only."""
    symbols = [*language_symbols(languages, style, specs), *([MASK] if style == "mbart" else [])]
    return [symbol for symbol in symbols if symbol not in bare]
