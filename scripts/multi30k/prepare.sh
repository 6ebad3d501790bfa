#!/usr/bin/env bash
# Multi30k captions, from text to tensors: Moses tokenisation, joint BPE, fairseq-preprocess.
#
#   scripts/multi30k/prepare.sh SRC TGT              for example: en de (also fr, cs)
#
# Environment: DATA=DIR with local files train.LANG, val.LANG, test_2016_flickr.LANG (plain or .gz; test_2017_flickr
# and test_2018_flickr are taken where both languages have them); without it they are downloaded from the data set's
# own repository. WORK (work/multi30k), MERGES (4000: few merges suit 29,000 sentences), JOBS (all cores).
# Everything lands in WORK/SRC-TGT; running it again does only what is missing.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/multi30k/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# == 2 ]] || usage "$0"
set_pair "$1" "$2"
setup_venv

BASE_URL="https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"

# fetch_raw OUT_DIR: the raw text of each set under the names that fairseq uses, one folder for all.
fetch_raw() {
    local out="$1" name lang file
    mkdir -p "$out"
    for name in train val "${TESTS[@]}"; do
        for lang in "$SRC" "$TGT"; do
            if [[ -z "${DATA:-}" ]]; then
                file="$WORK/download/$name.$lang.gz"
                download "$BASE_URL/$name.$lang.gz" "$file"
            else
                file="$(find_text "$DATA/$name.$lang")" || die "$DATA has neither $name.$lang nor $name.$lang.gz"
            fi
            read_text "$file" >"$out/${name/#val/valid}.$lang"
        done
        assert_aligned "$out/${name/#val/valid}.$SRC" "$out/${name/#val/valid}.$TGT"
    done
}

# local_files: the files of DATA that fetch_raw takes, one a line.
local_files() {
    local name lang
    for name in train val "${TESTS[@]}"; do
        for lang in "$SRC" "$TGT"; do find_text "$DATA/$name.$lang" || true; done
    done
}

mapfile -t files < <([[ -z "${DATA:-}" ]] || local_files)
data_basis "${files[@]}"
step "raw text" "$DIR/raw" "${BASIS[@]}" -- fetch_raw {}
to_tensors "$DIR" "$DIR/raw" "${TESTS[@]}"
log "ready: $DIR/bin"
