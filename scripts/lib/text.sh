# shellcheck shell=bash
# From text to tensors (sourced by lib.sh): Moses tokenisation, joint BPE, fairseq-preprocess.

SHARD_LINES=200000 # sacremoses holds its whole input in memory: larger files go through it in pieces of this many lines

# to_tensors FOLDER TEXT TEST...: the steps from the folder TEXT, with train, valid and the named test sets in SRC and
# TGT, to FOLDER/bin. MERGES: how many joint BPE merges are learnt.
to_tensors() {
    local folder="$1" text="$2"
    shift 2
    CODES="$folder/bpe.codes"
    step "tokenise" "$folder/tok" --from "$text" -- for_all_texts tokenise "$text" {}
    # shellcheck disable=SC2153  # a data set's settings
    step "learn BPE, $MERGES merges" "$CODES" --with MERGES --from "$folder/tok" -- \
        learn_bpe "$MERGES" {} "$folder/tok/train.$SRC" "$folder/tok/train.$TGT"
    step "apply BPE" "$folder/bpe" --from "$folder/tok" "$CODES" -- for_all_texts encode "$folder/tok" {}
    step "binarise" "$folder/bin" --from "$folder/bpe" -- binarise "$SRC" "$TGT" "$folder/bpe" {} "$@"
}

# encode LANG INPUT OUTPUT: BPE with the codes of to_tensors.
encode() { apply_bpe "$CODES" "$2" "$3"; }

# in_parallel INPUT OUTPUT COMMAND...: run a filter that maps each line of stdin to one line of stdout over pieces of
# INPUT, JOBS at a time, and join what they print in order.
in_parallel() {
    local input="$1" output="$2" total lines
    shift 2
    total="$(count_lines "$input")"
    ((total > 0)) || die "$input is empty"
    lines=$(((total + JOBS - 1) / JOBS))
    ((lines < SHARD_LINES)) || lines=$SHARD_LINES
    rm -rf "$output.pieces"
    mkdir -p "$output.pieces"
    split --lines="$lines" --suffix-length=6 --numeric-suffixes "$input" "$output.pieces/"
    # shellcheck disable=SC2016  # $0 and $@ are the inner shell's
    find "$output.pieces" -type f -name '[0-9]*' -print0 | sort --zero-terminated |
        xargs --null --max-procs="$JOBS" --replace=PIECE \
            bash -c 'piece="$0"; "$@" <"$piece" >"$piece.out"' PIECE "$@" ||
        die "failed on a piece of $input: $*"
    find "$output.pieces" -type f -name '*.out' -print0 | sort --zero-terminated | xargs --null cat >"$output"
    rm -r "$output.pieces"
    assert_aligned "$input" "$output"
}

# tokenise LANG INPUT OUTPUT: Moses tokenisation; -a is what fairseq's --tokenizer moses does at run time.
tokenise() { in_parallel "$2" "$3" sacremoses --quiet --language "$1" tokenize --aggressive-dash-splits; }

# apply_bpe CODES INPUT OUTPUT
apply_bpe() { in_parallel "$2" "$3" subword-nmt apply-bpe --codes "$1"; }

# learn_bpe MERGES OUTPUT FILE...: one set of merges for all files together.
learn_bpe() {
    local merges="$1" output="$2"
    shift 2
    cat "$@" | subword-nmt learn-bpe --symbols "$merges" --output "$output"
}

# for_all_texts FUNCTION IN_DIR OUT_DIR: FUNCTION LANG INPUT OUTPUT for the files NAME.LANG of a folder, which must be
# aligned by NAME. All files of a language go through it as one: small ones would cost a start of the tool each.
for_all_texts() {
    local function="$1" input="$2" output="$3" lang file
    mkdir -p "$output"
    for lang in "$SRC" "$TGT"; do
        cat "$input"/*."$lang" >"$output/all"
        "$function" "$lang" "$output/all" "$output/done"
        for file in "$input"/*."$lang"; do
            head --lines="$(count_lines "$file")" >"$output/$(basename "$file")" # leaves the rest to the next head
        done <"$output/done"
    done
    rm "$output/all" "$output/done"
    for file in "$input"/*."$SRC"; do
        file="$(basename "$file" ".$SRC")"
        assert_aligned "$input/$file.$SRC" "$output/$file.$SRC" "$output/$file.$TGT"
    done
}

# binarise SRC TGT TEXT_DIR OUTPUT TEST...: fairseq-preprocess of train, valid and the named test sets of a folder
# (subsets test, test1, test2, ... in that order), with one dictionary for both languages.
binarise() {
    local source="$1" target="$2" text="$3" output="$4" name tests=""
    shift 4
    for name in "$@"; do tests+="${tests:+,}$text/$name"; done
    preprocess "$source" "$target" "$output" --joined-dictionary \
        --trainpref "$text/train" --validpref "$text/valid" ${tests:+--testpref "$tests"}
}

# preprocess SRC TGT OUTPUT FLAG...: fairseq-preprocess with JOBS workers, and of its messages what is worth reading.
preprocess() {
    fairseq-preprocess --source-lang "$1" --target-lang "$2" --destdir "$3" "${@:4}" --workers "$JOBS" 2>&1 | worth_reading
}

# first_lines FILE OUTPUT: the lines of plain or .gz text, or the first LIMIT where that is above 0.
first_lines() { if ((LIMIT > 0)); then read_text "$1" | awk -v n="$LIMIT" 'NR <= n' >"$2"; else read_text "$1" >"$2"; fi; }
