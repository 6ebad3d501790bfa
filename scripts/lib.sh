# shellcheck shell=bash
# What all pipelines share (sourced, never run): steps that resume, the environment, and the way from text to tensors.
#
# A pipeline is a list of steps. A step writes to a temporary name that is renamed when its command has succeeded, so
# whatever exists under a final name is whole, and running a script again does only what is still missing.
#
# Environment: JOBS (processes for text tools, default: all cores), VENV (default: .venv in the repository), PYTHON (see
# install.sh), DCMBR_USE_VENV_AS_IS=1 (install nothing: use VENV as it stands).

set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$ROOT/.venv}"
JOBS="${JOBS:-$(nproc)}"
USER_DIR="$ROOT/dcmbr_fairseq"

# How to decode (see generate); the paper's settings by default.
NUM="${NUM:-50}"
TEMP_HYP="${TEMP_HYP:-0.5}"
TEMP_REF="${TEMP_REF:-0.5}"
UTILITY="${UTILITY:-chrf}"
UTILITY_ARGS="${UTILITY_ARGS:-{\}}"
GENERATE_TOKENS="${GENERATE_TOKENS:-2048}"
SEED="${SEED:-1}"
METRICS="${METRICS:-bleu,chrf}"
METRIC_ARGS="${METRIC_ARGS:-{\}}"
# What a pipeline says of its models and text, and for (DC-)MBR alone; a data set's script may say otherwise.
TASK_FLAGS=(--task translation_dcmbr --tokenizer moses --remove-bpe)
POOL_FLAGS=()

SHARD_LINES=200000 # sacremoses holds its whole input in memory: larger files go through it in pieces of this many lines

log() { printf '%s | %s\n' "$(date +%H:%M:%S)" "$*" >&2; }

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# print_head FILE: the comment block at the head of a script, without its first line.
print_head() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$1"; }

# usage FILE: print the comment block at the head of a script, and stop.
usage() {
    print_head "$1" >&2
    exit 2
}

# step NAME OUTPUT COMMAND...: run COMMAND unless OUTPUT (a file or folder) exists. {} in the command stands for the
# temporary name it must write to; OUTPUT appears only when the command has succeeded.
step() {
    local name="$1" output="$2" partial="$2.partial"
    shift 2
    if [[ -e "$output" ]]; then
        log "$name: done already ($output)"
        return
    fi
    log "$name ..."
    rm -rf "$partial"
    mkdir -p "$(dirname "$output")"
    "${@//\{\}/$partial}"
    [[ -e "$partial" ]] || die "$name: the command succeeded but wrote nothing to $partial"
    mv "$partial" "$output"
}

# ---------------------------------------------------------------------------------------------------- environment

# setup_venv [EXTRAS]: put VENV with this package and the named extras on PATH, installed first where they are not.
setup_venv() {
    [[ -n "${DCMBR_USE_VENV_AS_IS:-}" ]] || VENV="$VENV" bash "$ROOT/scripts/install.sh" "${1:-}"
    export PATH="$VENV/bin:$PATH"
    # The package that is imported is the one passed as --user-dir, also when another copy is installed.
    export PYTHONPATH="$ROOT${PYTHONPATH:+:$PYTHONPATH}"
}

# dcmbr SUBCOMMAND...: the package's command, from this repository.
dcmbr() { python -m dcmbr_fairseq.cli "$@"; }

# --------------------------------------------------------------------------------------------------- getting text

# download URL OUTPUT [SHA256]: fetch a file, resuming a transfer that was cut off; a wrong checksum removes it.
download() {
    local url="$1" output="$2" checksum="${3:-}" incoming="$2.incoming"
    [[ -e "$output" ]] && return
    mkdir -p "$(dirname "$output")"
    log "download $url"
    curl --fail --location --silent --show-error --retry 5 --retry-delay 5 --continue-at - \
        --output "$incoming" "$url" ||
        die "could not download $url: run this again to resume, or give local files with DATA=dir"
    if [[ -n "$checksum" ]] && ! echo "$checksum  $incoming" | sha256sum --check --status; then
        rm -f "$incoming"
        die "$url does not have the expected SHA-256 $checksum: it was removed, run this again"
    fi
    [[ "$output" != *gz ]] || gzip --test "$incoming" ||
        die "$incoming is not a complete gzip file: remove it and run this again"
    mv "$incoming" "$output"
}

# find_text STEM: print STEM or STEM.gz, whichever is a file; fails if neither is.
find_text() {
    local name
    for name in "$1" "$1.gz"; do
        if [[ -f "$name" ]]; then
            echo "$name"
            return
        fi
    done
    return 1
}

# one_line_each: a filter. Only \n ends a line in our files, but the tools that follow also break lines at \r, vertical
# tabs, U+0085, U+2028 and the like: these become spaces, so that lines stay aligned.
one_line_each() {
    LC_ALL=C sed -e 's/\r$//' -e 's/[\r\v\f\x1c-\x1e]/ /g' -e 's/\xc2\x85/ /g' -e 's/\xe2\x80[\xa8\xa9]/ /g'
}

# read_text FILE: the lines of plain or .gz text.
read_text() {
    case "$1" in
        *.gz) gzip --decompress --stdout "$1" ;;
        *) cat "$1" ;;
    esac | one_line_each
}

count_lines() { wc -l <"$1" | tr -d ' '; }

# assert_aligned FILE...: all files must have as many lines as the first, and at least one.
assert_aligned() {
    local file first expected actual
    first="$1"
    expected="$(count_lines "$first")"
    ((expected > 0)) || die "$first is empty"
    for file in "$@"; do
        actual="$(count_lines "$file")"
        ((actual == expected)) || die "not aligned: $first has $expected lines, $file has $actual"
    done
}

# -------------------------------------------------------------------------------------------- from text to tensors

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
    fairseq-preprocess --source-lang "$source" --target-lang "$target" --joined-dictionary \
        --trainpref "$text/train" --validpref "$text/valid" ${tests:+--testpref "$tests"} \
        --destdir "$output" --workers "$JOBS" >&2
}

# -------------------------------------------------------------------------------------------- training and decoding

# list_configs: the names that scripts/train.sh takes.
list_configs() {
    (cd "$ROOT/configs" && find . -mindepth 2 -name '*.yaml' -not -path './common/*' -not -path './recipe/*' -printf '%P\n') |
        sed 's/\.yaml$//' | sort | paste -sd ' '
}

# has_gpu: whether torch can use one; asked only where a driver is installed, because importing torch takes seconds.
has_gpu() { type nvidia-smi &>/dev/null && python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; }

# worth_reading: of fairseq's messages, what is not the same every time.
worth_reading() {
    grep --line-buffered -vE "'_name': |tensorboardX|JobRuntime|reuse_|rebuild_batches|creating new batches" >&2 || true
}

# show_progress: of a training log, what tells how far it is.
show_progress() {
    grep --line-buffered -E 'train_inner|valid on|Error|error|WARNING' | sed --unbuffered -E 's/^(.{240}).*/\1/' >&2 || true
}

# average_last N SAVE_DIR OUTPUT: average the last N checkpoints of a run.
average_last() { dcmbr average "$2" --last "$1" --output "$3"; }

# label SYSTEM: beam, mbr or dcmbr with the settings that its result depends on, such as dcmbr-chrf-n50-t0.5.
label() {
    local name="$1-${UTILITY//[^a-zA-Z0-9+._-]/.}-n$NUM"
    case "$1" in
        beam) name=beam ;;
        mbr) ;;
        dcmbr) [[ "$TEMP_HYP" == "$TEMP_REF" ]] && name+="-t$TEMP_HYP" || name+="-t$TEMP_HYP-$TEMP_REF" ;;
        *) die "unknown system $1: give beam, mbr or dcmbr" ;;
    esac
    [[ "$SEED" == 1 || "$1" == beam ]] || name+="-seed$SEED"
    echo "$name"
}

# generate DATA SRC TGT SUBSET CHECKPOINT SYSTEM OUT_DIR: decode a binarised set as beam, mbr or dcmbr. OUT_DIR receives
# generate.log, messages.log, hypotheses.txt (detokenised, one line for each source line), seconds, and pools.jsonl for
# (DC-)MBR. The settings are those at the head of this file.
generate() {
    local data="$1" source="$2" target="$3" subset="$4" checkpoint="$5" system="$6" out="$7" flags=() start
    if [[ "$system" == beam ]]; then
        read -r -a flags <<<"$BEAM_FLAGS"
    else
        flags=(--num-hyp "$NUM" --utility "$UTILITY" --utility-args "$UTILITY_ARGS" --pools-out "$out/pools.jsonl")
        [[ "$system" == mbr ]] || flags+=(--temp-hyp "$TEMP_HYP" --temp-ref "$TEMP_REF")
        flags+=("${POOL_FLAGS[@]}")
    fi
    has_gpu || flags+=(--cpu)
    mkdir -p "$out"
    start="$(date +%s.%N)"
    fairseq-generate "$data" --user-dir "$USER_DIR" "${TASK_FLAGS[@]}" --decoding "$system" "${flags[@]}" \
        --source-lang "$source" --target-lang "$target" --gen-subset "$subset" --path "$checkpoint" \
        --max-tokens "$GENERATE_TOKENS" --seed "$SEED" \
        --log-format simple --log-interval 10 >"$out/generate.log" 2> >(tee "$out/messages.log" | worth_reading)
    echo "$(date +%s.%N) $start" | awk '{ printf "%.1f\n", $1 - $2 }' >"$out/seconds"
    extract "$out/generate.log" "$out/hypotheses.txt"
}

# extract LOG OUTPUT: the detokenised translations of fairseq-generate in the order of the source; the best of an n-best
# list. A missing sentence is an error.
extract() {
    grep '^D-' "$1" | LC_ALL=C sed 's/^D-//' | LC_ALL=C sort --stable --unique --numeric-sort --key 1,1 >"$2.numbered" ||
        die "$1 holds no translations"
    LC_ALL=C awk -F '\t' '$1 != NR - 1 { print NR - 1; exit 1 }' "$2.numbered" || die "$1 lacks the sentence just named"
    LC_ALL=C cut -f 3- "$2.numbered" >"$2"
    rm "$2.numbered"
}

# score REFERENCES OUT_STEM BASE FOLDER...: one table of BLEU and chrF for what generate left in BASE/FOLDER, printed and
# written to OUT_STEM.text and .json. METRICS, METRIC_ARGS and SCORE_FLAGS (of dcmbr evaluate) choose others.
score() {
    local references="$1" stem="$2" base="$3" folder form names="" seconds="" files=() flags=()
    shift 3
    read -r -a flags <<<"${SCORE_FLAGS:-}"
    for folder in "$@"; do
        assert_aligned "$references" "$base/$folder/hypotheses.txt"
        files+=("$base/$folder/hypotheses.txt")
        names+="${names:+,}$folder"
        seconds+="${seconds:+,}$(cat "$base/$folder/seconds")"
    done
    for form in json text; do
        dcmbr evaluate "${files[@]}" --references "$references" --names "$names" --seconds "$seconds" "${flags[@]}" \
            --metrics "$METRICS" --metric-args "$METRIC_ARGS" --format "$form" --output "$stem.$form"
    done
    cat "$stem.text"
}

# decoded BASE: the folders below BASE that generate has finished, one a line, relative to BASE.
decoded() { (cd "$1" 2>/dev/null && find . -name seconds -not -path '*.partial*' -printf '%P\n' | sed 's,/seconds$,,' | sort); }
