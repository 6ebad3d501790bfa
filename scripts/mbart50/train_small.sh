#!/usr/bin/env bash
# Make a small model laid out like the release of mBART-50, to try the pipeline where mBART-50 itself cannot be had:
# Multi30k, English to and from German, Czech and French, one sentencepiece vocabulary (configs/mbart50/small.yaml).
#
#   scripts/mbart50/train_small.sh DATA [KEY=VALUE...]
#
# It goes on from there with the scripts for mBART-50 itself, TEST=test_2016_flickr and WORK the same:
#   MBART50=work/mbart50-small/release WORK=work/mbart50-small TEST=test_2016_flickr DATA=DATA scripts/mbart50/prepare.sh en-de
#
# DATA holds Multi30k: train.LANG and val.LANG for en, de, cs and fr (plain or .gz). KEY=VALUE changes the config.
# About 40 minutes on one core. Goes on where it was cut off. The release is WORK/release: model.pt, dict.LANG.txt,
# sentence.bpe.model, ML50_langs.txt.
# Environment: WORK (work/mbart50-small), PIECES (4000), AVERAGE (3 checkpoints are averaged), JOBS (all cores).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
WORK="${WORK:-$ROOT/work/mbart50-small}"
# shellcheck source=scripts/mbart50/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# -ge 1 ]] || usage "$0"
DATA="$1"
PIECES="${PIECES:-4000}"
AVERAGE="${AVERAGE:-3}"
declare -A CODES
for lang in en de cs fr; do CODES[$lang]="$(language 2 "$lang")"; done
setup_venv

# raw OUT_DIR: train and valid under the names of mBART-50's languages.
raw() {
    local name lang file
    mkdir -p "$1"
    for name in train val; do
        for lang in "${!CODES[@]}"; do
            file="$(find_text "$DATA/$name.$lang")" || die "$DATA has neither $name.$lang nor $name.$lang.gz"
            read_text "$file" >"$1/${name/val/valid}.${CODES[$lang]}"
        done
        assert_aligned "$1/${name/val/valid}".*
    done
}

# learn_pieces OUT_DIR: sentence.bpe.model, and its pieces as a fairseq dictionary without language tokens, as released.
learn_pieces() {
    mkdir -p "$1"
    python -P -c "$LEARN" "$PIECES" "$1/sentence.bpe" "$WORK"/raw/train.*
    LC_ALL=C awk -F '\t' 'NR > 3 { print $1, 1 }' "$1/sentence.bpe.vocab" >"$1/dict.txt"
}
LEARN='
import sys
import sentencepiece
sentencepiece.SentencePieceTrainer.train(
    input=sys.argv[3:], vocab_size=int(sys.argv[1]), model_prefix=sys.argv[2], character_coverage=1.0,
    num_threads=1, minloglevel=1,
)
'

segment_all() {
    local file
    mkdir -p "$1"
    for file in "$WORK"/raw/*; do segment "$WORK/pieces/sentence.bpe.model" "$file" "$1/$(basename "$file")"; done
}

# binarise_pairs OUT_DIR: English with each other language; fairseq reads a pair in both directions.
binarise_pairs() {
    local code
    for code in de_DE cs_CZ fr_XX; do
        preprocess en_XX "$code" "$1" --srcdict "$WORK/pieces/dict.txt" --tgtdict "$WORK/pieces/dict.txt" \
            --trainpref "$WORK/text/train" --validpref "$WORK/text/valid"
    done
}

languages() { printf '%s\n' "${ML50_LANGS[@]}" >"$1"; }

# lay_out OUT_DIR: the release.
lay_out() {
    local code
    mkdir -p "$1"
    cp "$WORK/checkpoints/averaged.pt" "$1/model.pt"
    for code in "${CODES[@]}"; do cp "$WORK/pieces/dict.txt" "$1/dict.$code.txt"; done
    cp "$WORK/pieces/sentence.bpe.model" "$1/"
    cp "$WORK/ML50_langs.txt" "$1/"
}

# local_files: the files of DATA that raw takes, one a line.
local_files() {
    local name lang
    for name in train val; do
        for lang in en de cs fr; do find_text "$DATA/$name.$lang" || true; done
    done
}

mapfile -t files < <(local_files)
data_basis "${files[@]}"
step "raw text" "$WORK/raw" "${BASIS[@]}" -- raw {}
step "learn $PIECES pieces" "$WORK/pieces" --with PIECES --from "$WORK/raw" -- learn_pieces {}
step "segment" "$WORK/text" --from "$WORK/raw" "$WORK/pieces" -- segment_all {}
step "binarise" "$WORK/bin" --from "$WORK/text" "$WORK/pieces" -- binarise_pairs {}
step "languages" "$WORK/ML50_langs.txt" -- languages {}
"$ROOT/scripts/train.sh" mbart50/small "$WORK/bin" "$WORK/checkpoints" "task.lang_dict=$WORK/ML50_langs.txt" "${@:2}"
average_run "$WORK/checkpoints" "$WORK/checkpoints/averaged.pt"
step "lay out the release" "$WORK/release" \
    --from "$WORK/checkpoints/averaged.pt" "$WORK/pieces" "$WORK/ML50_langs.txt" -- lay_out {}
log "ready: $WORK/release"
