#!/usr/bin/env bash
# Translate a test set with mBART-50 by beam search, MBR and DC-MBR.
#
#   MBART50=DIR scripts/mbart50/decode.sh DIRECTION            for example: en-de
#
# Environment: SYSTEMS (beam mbr dcmbr), SIZES ("10 50": samples), TEMP_HYP and TEMP_REF (0.5), UTILITY (chrf; the paper's
# is bleurt, with UTILITY_ARGS='{"checkpoint": "FOLDER"}'), BEAM_FLAGS (--beam 5), GENERATE_TOKENS (2048 a batch),
# MAX_ROWS (400 draws at once), PRECISION (--fp16 on a GPU; PRECISION= decodes in single precision), SEED (1); TEST,
# LIMIT and WORK as for prepare.sh.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/mbart50/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# == 1 ]] || usage "$0"
set_direction "$1"
set_release
setup_venv
[[ -d "$DIR/bin" ]] || die "nothing prepared yet in $DIR/bin: run scripts/mbart50/prepare.sh $1 first"

TASK_FLAGS=(--task translation_multi_simple_epoch_dcmbr --lang-dict "$MBART50/ML50_langs.txt" --lang-tok-style mbart
    --encoder-langtok src --decoder-langtok --bpe sentencepiece --sentencepiece-model "$MBART50/sentence.bpe.model")
PRECISION="${PRECISION---fp16}"
POOL_FLAGS=(--max-rows "$MAX_ROWS")
if has_gpu; then
    read -r -a precision <<<"$PRECISION"
    TASK_FLAGS+=("${precision[@]}")
fi
TASK_BASIS=(MAX_ROWS PRECISION --from "MBART50=$MBART50/ML50_langs.txt" "MBART50=$MBART50/sentence.bpe.model")

for system in $SYSTEMS; do
    for NUM in $SIZES; do
        translate "$NAME $1, N = $NUM" "$DIR/decode" "$DIR/bin" test "$MBART50/model.pt" "$system"
        [[ "$system" != beam ]] || break
    done
done
