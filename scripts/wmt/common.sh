# shellcheck shell=bash
# What the WMT20 and WMT16 pipelines share (sourced). A data set is a folder beside this one: its settings.sh says where
# the data come from, its scripts hand their arguments to those here.

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# set_data_set NAME: the settings of a data set, wmt16 or wmt20.
set_data_set() {
    local file="$ROOT/scripts/$1/settings.sh"
    [[ "$1" == wmt[0-9]* && -f "$file" ]] || die "unknown data set ${1:-(none)}: call scripts/wmt20/ or scripts/wmt16/"
    # shellcheck source=scripts/wmt20/settings.sh
    source "$file"
    WORK="${WORK:-$ROOT/work/$DATASET}"
    MERGES="${MERGES:-32000}"
    SYSTEMS="${SYSTEMS:-beam mbr dcmbr}"
    SUBSET="${SUBSET:-test}"
    BEAM_FLAGS="${BEAM_FLAGS:---beam 4 --lenpen 0.6}" # Vaswani et al. 2017
}

# usage FILE: the comment block at the head of one of these scripts, with the names of the data set; and stop.
usage() {
    print_head "$1" | sed -e "s/DATASET/$DATASET/g" -e "s/FIRST_PAIR/${PAIRS[0]}/g" >&2
    exit 2
}

# set_pair PAIR: the languages and the folder of a direction of this data set.
set_pair() {
    [[ " ${PAIRS[*]} " == *" $1 "* ]] || die "unknown pair $1: give one of ${PAIRS[*]}"
    PAIR="$1"
    SRC="${PAIR%-*}"
    TGT="${PAIR#*-}"
    DIR="$WORK/$PAIR"
}

# set_run LS [ALPHA BETA]: the name of a training run, and how many checkpoints are averaged after it.
set_run() {
    RUN="${RUN:-ls$1${2:+-ger-a$2-b$3}}"
    SAVE_DIR="$DIR/checkpoints/$RUN"
    # 10k updates of GER fine-tuning leave two checkpoints, of which only the last has been trained to the end.
    AVERAGE="${AVERAGE:-$([[ $# == 1 ]] && echo 5 || echo 1)}"
}

# ---------------------------------------------------------------------------------------------------------- prepare

# corpus_side FILE HOW: one language of a corpus. HOW is column:N of tab-separated text, member:NAME of a tar archive,
# zip:PATTERN of a zip archive, or xlf:source and xlf:target of XLIFF with one segment a line.
corpus_side() {
    local file="$1" kind="${2%%:*}" what="${2#*:}"
    case "$kind" in
        column) read_text "$file" | LC_ALL=C awk -F '\t' -v column="$what" '{ print $column }' ;;
        member) tar --extract --to-stdout --file "$file" --wildcards --no-anchored "$what" | one_line_each ;;
        zip) python -P -c "$UNZIP" "$file" "$what" | one_line_each ;;
        xlf) read_text "$file" | sed -n "s,.*<$what [^>]*>\(.*\)</$what>.*,\1,p" |
            sed -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&quot;/"/g' -e "s/&apos;/'/g" -e 's/&amp;/\&/g' ;;
        *) die "corpus_side: unknown kind $kind" ;;
    esac
}

# Debian's minimal images have no unzip.
UNZIP='
import fnmatch, shutil, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
names = fnmatch.filter(archive.namelist(), sys.argv[2])
if len(names) != 1:
    sys.exit(f"error: {sys.argv[1]} must hold one file {sys.argv[2]}, it holds {names or archive.namelist()}")
shutil.copyfileobj(archive.open(names[0]), sys.stdout.buffer)
'

# get_corpora OUT_DIR: all training corpora as NAME.LANG. With DATA=DIR those that are there, otherwise all.
get_corpora() {
    local out="$1" file first second url path name fault
    mkdir -p "$out"
    while read -r file first second url; do
        [[ -n "$file" ]] || continue
        path="${DATA:-$WORK/download}/$file"
        [[ -n "${DATA:-}" ]] || download "$url/$file" "$path"
        if [[ ! -f "$path" ]]; then
            log "  $file is not in $DATA: left out"
            continue
        fi
        log "  $file"
        fault="$(archive_fault "$path" "$path")"
        [[ -z "$fault" ]] || die "$path $fault: fetch it again"
        name="$out/${file%%.*}"
        corpus_side "$path" "$first" >"$name.${CORPUS_LANGS[0]}" || die "$path does not hold $first as its publisher has it"
        corpus_side "$path" "$second" >"$name.${CORPUS_LANGS[1]}" || die "$path does not hold $second as its publisher has it"
        assert_aligned "$name.${CORPUS_LANGS[0]}" "$name.${CORPUS_LANGS[1]}"
    done <<<"$CORPORA"
    compgen -G "$out/*.$SRC" >/dev/null ||
        die "${DATA:-} holds none of the corpora $(awk 'NF { printf "%s ", $1 }' <<<"$CORPORA"): name the folder they are in"
}

# get_sets OUT_DIR: valid and test, detokenised, as their publisher gives them.
get_sets() {
    local out="$1" name lang
    mkdir -p "$out"
    for name in valid test; do
        for lang in "$SRC" "$TGT"; do
            get_set "$name" "$lang" >"$out/$name.$lang"
        done
        assert_aligned "$out/$name.$SRC" "$out/$name.$TGT"
        assert_official_size "$name" "$out/$name.$SRC"
    done
}

# get_set NAME LANG: one side of valid or test. In DATA it is a file with the official name, such as
# newstest2020-ende-src.en.sgm, or the same without .sgm as plain text, a line a segment (either may be .gz).
get_set() {
    local stem file
    if [[ -z "${DATA:-}" ]]; then
        SACREBLEU="$WORK/download/sacrebleu" sacrebleu --test-set "$(set_of "$1")" --language-pair "$PAIR" \
            --echo "$(side "$2")" | one_line_each
        return
    fi
    stem="$(local_stem "$1" "$2")"
    if file="$(find_text "$stem.sgm")"; then
        read_text "$file" | sed -n 's,.*<seg[^>]*> *\(.*[^ ]\) *</seg>.*,\1,p'
    elif file="$(find_text "$stem")"; then
        read_text "$file"
    else
        die "$DATA has neither $(basename "$stem").sgm nor $(basename "$stem") (or either with .gz)"
    fi
}

# set_of NAME: valid or test by sacreBLEU's name.
set_of() { [[ "$1" == valid ]] && echo "$VALID_SET" || echo "$TEST_SET"; }

# local_stem NAME LANG: one side of a set in DATA, without .sgm and .gz.
local_stem() { echo "$DATA/$(official_stem "$(set_of "$1")")-$SRC$TGT-$(side "$2").$2"; }

side() { [[ "$1" == "$SRC" ]] && echo src || echo ref; }

# official_stem SET: newstest2019 for wmt19, newsdev2016 for wmt16/dev.
official_stem() {
    local year="${1#wmt}"
    [[ "$1" == */dev ]] && echo "newsdev20${year%/dev}" || echo "newstest20$year"
}

# assert_official_size NAME FILE: the paper's numbers. OTHER_SETS=1 allows other sets.
assert_official_size() {
    local actual expected
    actual="$(count_lines "$2")"
    expected="$(expected_lines "$PAIR" "$1")"
    [[ "$actual" == "$expected" || -n "${OTHER_SETS:-}" ]] ||
        die "the $1 set of $PAIR has $actual lines, the official one $expected: OTHER_SETS=1 accepts another set"
}

# gather OUT_DIR: the corpora in one as train, and valid and test, not changed.
gather() {
    local lang name
    mkdir -p "$1"
    for lang in "$SRC" "$TGT"; do
        cat "$DIR"/raw/corpora/*."$lang" >"$1/train.$lang"
        for name in valid test; do cp "$DIR/raw/sets/$name.$lang" "$1/"; done
    done
}

# clean OUT_DIR: train, valid and test normalised, and train filtered. What each rule has dropped stands in filter.json.
clean() {
    local out="$1" scores=()
    gather "$out/raw"
    for_all_texts normalise "$out/raw" "$out/normal"
    [[ -z "${ALIGNMENT_SCORES:-}" ]] ||
        scores=(--scores "$ALIGNMENT_SCORES" --min-score "${MIN_SCORE:?give the lowest score with MIN_SCORE}" --score-per-word)
    dcmbr corpus filter "$out/normal/train.$SRC" "$out/normal/train.$TGT" --out "$out/train.$SRC" "$out/train.$TGT" \
        --processes "$JOBS" --report "$DIR/filter.json" "${scores[@]}" >&2
    mv "$out"/normal/{valid,test}.* "$out/"
    rm -r "$out/raw" "$out/normal"
}

# normalise LANG INPUT OUTPUT: punctuation, white space, Romanian letters; and the case, for a case-insensitive corpus.
normalise() {
    if [[ -z "${LOWERCASE:-}" ]]; then
        dcmbr corpus normalize "$2" "$3" --lang "$1" --processes "$JOBS" >&2
    else
        dcmbr corpus normalize "$2" "$3.cased" --lang "$1" --processes "$JOBS" >&2
        python -P -c 'import sys; sys.stdout.buffer.writelines(l.decode().lower().encode() for l in sys.stdin.buffer)' \
            <"$3.cased" >"$3"
        rm "$3.cased"
    fi
    assert_aligned "$2" "$3"
}

# local_files corpora|sets: the files of DATA that get_corpora or get_sets takes, one a line.
local_files() {
    local file name lang stem
    if [[ "$1" == corpora ]]; then
        while read -r file _; do [[ ! -f "$DATA/${file:-/}" ]] || echo "$DATA/$file"; done <<<"$CORPORA"
        return
    fi
    for name in valid test; do
        for lang in "$SRC" "$TGT"; do
            stem="$(local_stem "$name" "$lang")"
            find_text "$stem.sgm" || find_text "$stem" || true
        done
    done
}

# prepare PAIR: all steps from the publishers' files to tensors.
prepare() {
    local files scores=()
    mapfile -t files < <([[ -z "${DATA:-}" ]] || local_files corpora)
    data_basis "${files[@]}"
    step "corpora" "$DIR/raw/corpora" "${BASIS[@]}" -- get_corpora {}
    mapfile -t files < <([[ -z "${DATA:-}" ]] || local_files sets)
    data_basis "${files[@]}"
    step "valid and test" "$DIR/raw/sets" "${BASIS[@]}" -- get_sets {}
    [[ -z "${ALIGNMENT_SCORES:-}" ]] || scores=("ALIGNMENT_SCORES=$ALIGNMENT_SCORES")
    step "normalise and filter" "$DIR/clean" --with LOWERCASE MIN_SCORE \
        --from "$DIR/raw/corpora" "$DIR/raw/sets" "${scores[@]}" -- clean {}
    to_tensors "$DIR" "$DIR/clean" test
    log "ready: $DIR/bin, $(count_lines "$DIR/bpe/train.$SRC") training pairs"
}

# ------------------------------------------------------------------------------------------- train, decode, evaluate

# train_run LS ALPHA BETA KEY=VALUE...: from scratch with label smoothing; with ALPHA and BETA (else both empty), GER
# fine-tuning of the averaged model of the run with that label smoothing.
train_run() {
    local smoothing="$1" alpha="$2" beta="$3" base recipe
    shift 3
    recipe=("criterion.label_smoothing=$smoothing")
    if [[ -n "$alpha" ]]; then
        base="$DIR/checkpoints/ls$smoothing/averaged.pt"
        [[ -f "$base" ]] || die "$base does not exist: GER starts from it, run train.sh and average.sh $PAIR $smoothing first"
        recipe=(recipe=ger_finetuning "checkpoint.finetune_from_model=$base"
            "criterion.ger_alpha=$alpha" "criterion.ger_beta=$beta")
    fi
    "$ROOT/scripts/train.sh" "$DATASET/$PAIR" "$DIR/bin" "$SAVE_DIR" "${recipe[@]}" "$@"
}

average() { average_run "$SAVE_DIR" "$SAVE_DIR/averaged.pt"; }

# decode: SYSTEMS on SUBSET (test or valid) with the averaged model of a run; and its token entropy, for Figure 4.
decode() {
    local system base="$DIR/decode/$SUBSET/$RUN"
    for system in $SYSTEMS; do
        translate "$SUBSET, $RUN" "$base" "$DIR/bin" "$SUBSET" "$SAVE_DIR/averaged.pt" "$system"
    done
    step "$SUBSET, $RUN, token entropy" "$base/entropy.tsv" --from "$DIR/bin" "$SAVE_DIR/averaged.pt" -- measure_entropy {}
}

# measure_entropy OUTPUT: the mean token entropy of a run's averaged model over SUBSET.
measure_entropy() {
    local flags=()
    has_gpu || flags=(--cpu)
    dcmbr entropy "$DIR/bin" --path "$SAVE_DIR/averaged.pt" -s "$SRC" -t "$TGT" --gen-subset "$SUBSET" --remove-bpe \
        --tokenizer moses "${flags[@]}" --format tsv --output "$1"
}

# evaluate: one table of everything that has been decoded of SUBSET, against the references as published.
evaluate() {
    local folders
    mapfile -t folders < <(decoded "$DIR/decode/$SUBSET")
    [[ ${#folders[@]} -gt 0 ]] || die "nothing decoded yet in $DIR/decode/$SUBSET: run decode.sh $PAIR LS first"
    score "$DIR/raw/sets/$SUBSET.$TGT" "$DIR/results/$SUBSET" "$DIR/decode/$SUBSET" "${folders[@]}"
    tidy "$DIR/results/$SUBSET" "$DIR/decode/$SUBSET" "$DATASET-$PAIR" "$SUBSET"
}
