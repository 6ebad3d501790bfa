#!/usr/bin/env bash
# Distillation: a model learns its own DC-MBR translations, and a small beam gives their quality afterwards, as far as it
# can be learnt (docs/distillation.md says what it gave, and what it did not).
#
#   scripts/distill.sh CONFIG MODEL SOURCES OUT [KEY=VALUE...]
#   DATA=work/multi30k/en-de scripts/distill.sh multi30k/small averaged.pt train.en work/distilled 'optimization.lr=[5e-4]'
#
# CONFIG is the model's config below configs/, MODEL its checkpoint, SOURCES plain text (or .gz), a sentence a line: what
# the model was trained on, or any text of its source language. KEY=VALUE changes the fine-tuning
# (configs/recipe/distillation.yaml). The steps, of which each is kept with its settings and none is made twice:
#   TEXT/sources         the text, tokenised and segmented as the model's
#   TEXT/decode/PIECE    its translations, PIECE sentences each, with their records; JOBS pieces at a time
#   TEXT/pairs           the training text: sources and choices without bad teachers (TEXT/pairs/report.json counts them)
#   TEXT/bin             the same as tensors, by the model's own dictionaries
#   OUT/checkpoints, OUT/distilled.pt        fine-tuning, and the mean of the last AVERAGE checkpoints
#   OUT/test, OUT/results.{text,json,tsv}    the test set by beam 5 and DC-MBR of MODEL, and by beam 1, beam 5 and DC-MBR
#                                            of the distilled model; OUT/significance.text against MODEL's beam of 5
#
# Environment: DATA, the folder that prepare.sh has made for the model (bin, bpe.codes, raw), and TEST, the name of its
# first test set (test_2016_flickr); BIN, CODES and REFERENCES where they lie elsewhere. SRC and TGT (en, de). TEACHER:
# dcmbr (default), mbr, beam, or a file of translations of SOURCES, line by line, which is taken instead of decoding.
# LIMIT (0: all sentences; otherwise the first LIMIT), PIECE (2000 sentences). What is left out: MAX_RATIO (2.5),
# DROP_LOWEST (0: the share of sentences of the lowest expected utility). MIX="FILE.src FILE.tgt" adds plain parallel
# text. ONLY=text stops at OUT/pairs, for another trainer. AVERAGE (3). BASE_TEST, a folder where MODEL has translated
# the test set already (OUT/test/base of another distillation of it, or the decode folder of a pipeline). How to decode:
# NUM (32 samples for the training text; the test set takes TEST_NUM, 50), DRAWS (independent, or arithmetic), TEMP_HYP
# and TEMP_REF (0.5), UTILITY (chrf), UTILITY_ARGS, SEED (1), METRICS (bleu,chrf).

NUM="${NUM:-32}"
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
[[ $# -ge 4 ]] || usage "$0"

CONFIG="$1"
MODEL="$2"
SOURCES="$3"
OUT="$4"
shift 4
TEXT="${TEXT:-$OUT}"
SRC="${SRC:-en}" TGT="${TGT:-de}"
TEST="${TEST:-test_2016_flickr}"
TEACHER="${TEACHER:-dcmbr}"
LIMIT="${LIMIT:-0}"
PIECE="${PIECE:-2000}"
MAX_RATIO="${MAX_RATIO:-2.5}"
DROP_LOWEST="${DROP_LOWEST:-0}"
MIX="${MIX:-}"
AVERAGE="${AVERAGE:-3}"
TEST_NUM="${TEST_NUM:-50}"
BIN="${BIN:-${DATA:?names the folder of prepare.sh, such as work/multi30k/en-de}/bin}"
CODES="${CODES:-$DATA/bpe.codes}"
REFERENCES="${REFERENCES:-$DATA/raw/$TEST.$TGT}"
RECIPE=recipe=distillation
grep -q '/recipe:' "$ROOT/configs/$CONFIG.yaml" 2>/dev/null || RECIPE="+$RECIPE"

for file in "$MODEL" "$SOURCES" "$CODES" "$REFERENCES" "$BIN/dict.$SRC.txt" "$BIN/dict.$TGT.txt"; do
    [[ -f "$file" ]] || die "$file does not exist: give MODEL, SOURCES, and DATA (or BIN, CODES, REFERENCES), SRC and TGT"
done
[[ -f "$ROOT/configs/$CONFIG.yaml" ]] || die "there is no configs/$CONFIG.yaml: give one of $(list_configs)"
case "$TEACHER" in
    dcmbr | mbr | beam) ;;
    *) [[ -f "$TEACHER" ]] || die "TEACHER=$TEACHER: give dcmbr, mbr, beam, or a file of translations of SOURCES" ;;
esac
[[ "$PIECE" =~ ^[1-9][0-9]*$ && "$LIMIT" =~ ^[0-9]+$ ]] || die "PIECE=$PIECE, LIMIT=$LIMIT: give numbers of sentences"
setup_venv

# segmented OUT_DIR TEXT LANG: a text as the model's training text was made, with the plain text beside it.
segmented() {
    mkdir -p "$1"
    cp "$2" "$1/raw.$3"
    tokenise "$3" "$1/raw.$3" "$1/tok.$3"
    apply_bpe "$CODES" "$1/tok.$3" "$1/bpe.$3"
}

# in_pieces OUT_DIR: the sources in pieces of PIECE sentences, as text and as tensors (subsets test, test1, ...).
in_pieces() {
    local names
    mkdir -p "$1/text"
    split --lines="$PIECE" --numeric-suffixes --suffix-length=5 --additional-suffix=".$SRC" "$TEXT/sources/bpe.$SRC" "$1/text/bpe"
    split --lines="$PIECE" --numeric-suffixes --suffix-length=5 --additional-suffix=".$SRC" "$TEXT/sources/raw.$SRC" "$1/text/raw"
    names="$(find "$1/text" -name "bpe*.$SRC" | sort | sed "s/\.$SRC\$//" | paste -sd ,)"
    preprocess "$SRC" "$TGT" "$1/bin" --only-source --srcdict "$BIN/dict.$SRC.txt" --testpref "$names"
    cp "$BIN/dict.$TGT.txt" "$1/bin/"
}

# decode_all: every piece as a step of its own, JOBS at a time; on a GPU one after the other.
decode_all() {
    local piece at_once="$JOBS" failed=
    ! has_gpu || at_once=1
    export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
    for piece in "${PIECES[@]}"; do
        while (($(jobs -rp | wc -l) >= at_once)); do wait -n || failed=yes; done
        [[ -z "$failed" ]] || break
        translate "sources, $piece of ${#PIECES[@]}" "$TEXT/decode/$piece" "$TEXT/pieces/bin" "$piece" "$MODEL" "$TEACHER" &
    done
    while [[ -n "$(jobs -rp)" ]]; do wait -n || failed=yes; done
    [[ -z "$failed" ]] || die "a piece of the sources was not decoded (see above): run this again, it goes on from there"
}

# pairs_of OUT_DIR: the training text, from records, or from plain translations by the same rules.
pairs_of() {
    local piece records=() texts=() all=("$1/all.$SRC" "$1/all.$TGT") out=("$1/train.$SRC" "$1/train.$TGT")
    mkdir -p "$1"
    if [[ "$TEACHER" == *mbr ]]; then
        for piece in "${PIECES[@]}"; do
            records+=("$TEXT/decode/$piece/$LABEL/pools.jsonl")
            texts+=("$TEXT/pieces/text/raw$(printf %05d "$((10#0${piece#test}))").$SRC")
        done
        dcmbr distill-data "${records[@]}" --sources "${texts[@]}" --out "${out[@]}" --max-ratio "$MAX_RATIO" \
            --drop-lowest "$DROP_LOWEST" --report "$1/report.json" >&2
    else
        cat "$TEXT/sources/raw.$SRC" >"${all[0]}"
        if [[ "$TEACHER" == beam ]]; then
            for piece in "${PIECES[@]}"; do cat "$TEXT/decode/$piece/$LABEL/hypotheses.txt"; done >"${all[1]}"
        else
            first_lines "$TEACHER" "${all[1]}"
        fi
        assert_aligned "${all[@]}"
        dcmbr corpus filter "${all[@]}" --out "${out[@]}" --max-ratio "$MAX_RATIO" --report "$1/report.json" >&2
        rm "${all[@]}"
    fi
    [[ -z "$MIX" ]] || mix "$1"
}

# mix OUT_DIR: add the parallel text MIX to the training text.
mix() {
    local source target
    read -r source target <<<"$MIX"
    assert_aligned "$source" "$target"
    read_text "$source" >>"$1/train.$SRC"
    read_text "$target" >>"$1/train.$TGT"
}

# tensors_of OUT_DIR: the training text by the model's dictionaries, and the model's own validation set.
tensors_of() {
    local lang file
    for lang in "$SRC" "$TGT"; do segmented "$1/text/$lang" "$TEXT/pairs/train.$lang" "$lang"; done
    mkdir -p "$1/text/both"
    for lang in "$SRC" "$TGT"; do mv "$1/text/$lang/bpe.$lang" "$1/text/both/train.$lang"; done
    preprocess "$SRC" "$TGT" "$1" --srcdict "$BIN/dict.$SRC.txt" --tgtdict "$BIN/dict.$TGT.txt" \
        --trainpref "$1/text/both/train"
    for file in "$BIN"/valid.*; do cp "$file" "$1/"; done
    rm -r "$1/text"
}

# on_test NAME CHECKPOINT SYSTEM BEAM: the test set by a model, into OUT/test/NAME.
on_test() { BEAM_FLAGS="--beam $4" NUM="$TEST_NUM" translate "test set" "$OUT/test/$1" "$BIN" test "$2" "$3"; }

BEAM_FLAGS="${BEAM_FLAGS:---beam 5}"
step "sources" "$TEXT/text.$SRC" --with LIMIT --from "SOURCES=$SOURCES" -- first_lines "$SOURCES" {}
step "segment the sources" "$TEXT/sources" --from "$TEXT/text.$SRC" "CODES=$CODES" -- segmented {} "$TEXT/text.$SRC" "$SRC"
PIECES=() LABEL=
if [[ "$TEACHER" =~ ^(dcmbr|mbr|beam)$ ]]; then
    step "pieces of $PIECE sentences" "$TEXT/pieces" --with PIECE --from "$TEXT/sources" "DICT=$BIN/dict.$SRC.txt" -- in_pieces {}
    count="$(find "$TEXT/pieces/text" -name 'raw*' | wc -l)"
    for ((i = 0; i < count; i++)); do PIECES+=("test${i/#0/}"); done
    LABEL="$(label "$TEACHER")"
    decode_all
    made=()
    for piece in "${PIECES[@]}"; do made+=("$TEXT/decode/$piece/$LABEL"); done
else
    made=("$TEXT/sources" "TEACHER=$TEACHER")
fi
mixed=()
for file in $MIX; do mixed+=("MIX$((${#mixed[@]} + 1))=$file"); done # numbered: which is the source matters
step "training text" "$TEXT/pairs" --with MAX_RATIO DROP_LOWEST --from "${made[@]}" "${mixed[@]}" -- pairs_of {}
if [[ "${ONLY:-}" == text ]]; then
    log "the training text: $TEXT/pairs/train.$SRC, $TEXT/pairs/train.$TGT"
    exit
fi
step "binarise the training text" "$TEXT/bin" --from "$TEXT/pairs" "CODES=$CODES" "BIN=$BIN" -- tensors_of {}

"$ROOT/scripts/train.sh" "$CONFIG" "$TEXT/bin" "$OUT/checkpoints" "$RECIPE" "task.source_lang=$SRC" \
    "task.target_lang=$TGT" "checkpoint.finetune_from_model=$(realpath "$MODEL")" "$@"
average_run "$OUT/checkpoints" "$OUT/distilled.pt"

if [[ -n "${BASE_TEST:-}" && ! -e "$OUT/test/base" ]]; then
    mkdir -p "$OUT/test"
    ln -s "$(realpath "$BASE_TEST")" "$OUT/test/base"
fi
on_test base "$MODEL" beam 5
on_test base "$MODEL" dcmbr 5
on_test distilled-1 "$OUT/distilled.pt" beam 1
on_test distilled "$OUT/distilled.pt" beam 5
on_test distilled "$OUT/distilled.pt" dcmbr 5
dcmbr_label="$(NUM=$TEST_NUM label dcmbr)"
systems=(base/beam "base/$dcmbr_label" distilled-1/beam distilled/beam "distilled/$dcmbr_label")
printf '\nThe test set %s, %s-%s: the model before and after\n' "$TEST" "$SRC" "$TGT"
score "$REFERENCES" "$OUT/results" "$OUT/test" "${systems[@]}"
tidy "$OUT/results" "$OUT/test" "$TEST-$SRC-$TGT" test
files=()
for system in "${systems[@]}"; do files+=("$OUT/test/$system/hypotheses.txt"); done
printf '\nDifferences from the beam of the model before\n'
dcmbr significance "${files[@]}" --names "$(IFS=, && echo "${systems[*]}")" --references "$REFERENCES" \
    --metrics "${METRICS//bleu/sacrebleu}" --metric-args "$METRIC_ARGS" --test randomisation --correction holm \
    --output "$OUT/significance.text"
cat "$OUT/significance.text"
