#!/usr/bin/env bash
# The test set of a direction, from text to tensors: sentencepiece, and fairseq-preprocess with mBART-50's dictionaries.
#
#   MBART50=DIR scripts/mbart50/prepare.sh DIRECTION           for example: en-de
#
# The paper's directions: English to and from de, cs, ro, ru, fi.
# Environment:
#   MBART50=DIR   the fairseq release of mBART-50: model.pt, dict.LANG.txt, sentence.bpe.model, ML50_langs.txt
#   DATA=DIR      local text, plain or .gz, in this folder or one below: newstest2016.en and newstest2016.de, or .eng and
#                 .deu; without it sacreBLEU downloads the sets. The paper's validation set is taken too if it is there.
#   TEST          newstest2016, or another set of DATA
#   LIMIT         0: all sentences; otherwise the first LIMIT
#   OTHER_SETS=1  accepts sets of another size than the official ones
#   WORK          work/mbart50      JOBS    all cores
# Everything lands in WORK/TEST/DIRECTION; running it again does only what is missing.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/mbart50/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# == 1 ]] || usage "$0"
set_direction "$1"
set_release
setup_venv

# find_pair SET: print the two files of a set in DATA, both in one folder; fails if there are none.
find_pair() {
    local folder source target
    for folder in "$DATA" "$DATA"/*/; do
        for column in 1 3; do
            source="$(find_text "$folder/$1.$(language "$column" "$SRC")")" || continue
            target="$(find_text "$folder/$1.$(language "$column" "$TGT")")" || continue
            printf '%s\n' "$source" "$target"
            return
        done
    done
    return 1
}

# published SET: the same set by sacreBLEU's name, such as wmt16 and wmt16/dev.
published() {
    case "$1" in
        newstest20*) echo "wmt${1#newstest20}" ;;
        newsdev20*) echo "wmt${1#newsdev20}/dev" ;;
        *) echo "$1" ;;
    esac
}

# get_set SET NAME OUT_DIR: a set as OUT_DIR/NAME.LANG with the model's names of languages; fails if there is none.
get_set() {
    local files expected actual
    if [[ -n "${DATA:-}" ]]; then
        files="$(find_pair "$1")" || return 1
        read_text "$(head -n 1 <<<"$files")" >"$3/$2.$SOURCE"
        read_text "$(tail -n 1 <<<"$files")" >"$3/$2.$TARGET"
    else
        for side in src ref; do
            SACREBLEU="$WORK/download" sacrebleu --test-set "$(published "$1")" --language-pair "$SRC-$TGT" \
                --echo "$side" >"$3/$side" || return 1
        done
        one_line_each <"$3/src" >"$3/$2.$SOURCE"
        one_line_each <"$3/ref" >"$3/$2.$TARGET"
        rm "$3/src" "$3/ref"
    fi
    assert_aligned "$3/$2.$SOURCE" "$3/$2.$TARGET"
    expected="$(official_lines "$1" "$SRC-$TGT")"
    actual="$(count_lines "$3/$2.$SOURCE")"
    [[ -z "$expected" || "$actual" == "$expected" || -n "${OTHER_SETS:-}" ]] ||
        die "$1 of $SRC-$TGT has $actual lines, the official set $expected: OTHER_SETS=1 accepts another set"
}

# raw OUT_DIR: test, and valid where it is the paper's and can be had.
raw() {
    local file valid
    mkdir -p "$1"
    get_set "$TEST" test "$1" || die "${DATA:-sacreBLEU} has no $TEST of $SRC and $TGT: name a folder that has with DATA"
    valid="$(valid_set "$SRC-$TGT")"
    if [[ "$TEST" == newstest2016 ]]; then
        (get_set "$valid" valid "$1") 2>/dev/null || {
            rm -f "$1"/valid.* "$1"/{src,ref}
            log "  $valid, the paper's validation set, is not at hand: left out"
        }
    fi
    if ((LIMIT > 0)); then
        for file in "$1"/*; do sed -i "$LIMIT q" "$file"; done
    fi
}

segment_all() {
    local file
    mkdir -p "$1"
    for file in "$DIR"/raw/*; do segment "$MBART50/sentence.bpe.model" "$file" "$1/$(basename "$file")"; done
}

binarise_sets() {
    local prefixes=(--testpref "$DIR/pieces/test")
    [[ ! -e "$DIR/pieces/valid.$SOURCE" ]] || prefixes+=(--validpref "$DIR/pieces/valid")
    preprocess "$SOURCE" "$TARGET" "$1" --srcdict "$MBART50/dict.$SOURCE.txt" --tgtdict "$MBART50/dict.$TARGET.txt" \
        "${prefixes[@]}"
}

# local_files: the files of DATA that raw takes, one a line.
local_files() {
    find_pair "$TEST" || true
    find_pair "$(valid_set "$SRC-$TGT")" || true
}

mapfile -t files < <([[ -z "${DATA:-}" ]] || local_files)
data_basis "${files[@]}"
step "raw text" "$DIR/raw" "${BASIS[@]}" -- raw {}
step "segment" "$DIR/pieces" --from "$DIR/raw" "MBART50=$MBART50/sentence.bpe.model" -- segment_all {}
step "binarise" "$DIR/bin" \
    --from "$DIR/pieces" "MBART50=$MBART50/dict.$SOURCE.txt" "MBART50=$MBART50/dict.$TARGET.txt" -- binarise_sets {}
log "ready: $DIR/bin"
