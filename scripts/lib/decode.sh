# shellcheck shell=bash
# Decoding and scoring (sourced by lib.sh).
#
# Environment: how to decode, by default as in the paper: NUM (50 samples), DRAWS (independent, or arithmetic), TEMP_HYP
# and TEMP_REF (0.5), UTILITY (chrf), UTILITY_ARGS ({}), GENERATE_TOKENS (2048 a batch), SEED (1); how to score: METRICS
# (bleu,chrf), METRIC_ARGS ({}).

NUM="${NUM:-50}"
DRAWS="${DRAWS:-independent}"
TEMP_HYP="${TEMP_HYP:-0.5}"
TEMP_REF="${TEMP_REF:-0.5}"
UTILITY="${UTILITY:-chrf}"
UTILITY_ARGS="${UTILITY_ARGS:-{\}}"
GENERATE_TOKENS="${GENERATE_TOKENS:-2048}"
SEED="${SEED:-1}"
METRICS="${METRICS:-bleu,chrf}"
METRIC_ARGS="${METRIC_ARGS:-{\}}"
# What a pipeline says of its models and text, and for (DC-)MBR alone; a data set's script may say otherwise, and then
# what this depends on, as step takes it.
TASK_FLAGS=(--task translation_dcmbr --tokenizer moses --remove-bpe)
POOL_FLAGS=()
TASK_BASIS=()
SOURCE="" TARGET="" # the model's own names of SRC and TGT, where it has others

# worth_reading: of fairseq's messages, what is not the same every time.
worth_reading() {
    grep --line-buffered -vE "'_name': |tensorboardX|Namespace\(|JobRuntime|reuse_|rebuild_batches|creating new batches" >&2 || true
}

# label SYSTEM: beam, mbr or dcmbr with the settings that its result depends on, such as dcmbr-chrf-n50-t0.5.
label() {
    local name="$1-${UTILITY//[^a-zA-Z0-9+._-]/.}-n$NUM"
    case "$1" in
        beam) name=beam ;;
        mbr) ;;
        dcmbr) [[ "$TEMP_HYP" == "$TEMP_REF" ]] && name+="-t$TEMP_HYP" || name+="-t$TEMP_HYP-$TEMP_REF" ;;
        *) die "unknown system $1: give beam, mbr or dcmbr" ;;
    esac
    if [[ "$1" != beam ]]; then
        [[ "$DRAWS" == independent ]] || name+="-$DRAWS"
        [[ "$SEED" == 1 ]] || name+="-seed$SEED"
    fi
    echo "$name"
}

# translate NAME BASE DATA SUBSET CHECKPOINT SYSTEM: generate as a step, into BASE/LABEL.
translate() {
    local name="$1" base="$2" data="$3" subset="$4" checkpoint="$5" system="$6" settings=(GENERATE_TOKENS) label
    case "$system" in
        beam) settings+=(BEAM_FLAGS) ;;
        mbr) settings+=(NUM UTILITY UTILITY_ARGS SEED) ;;
        dcmbr) settings+=(NUM UTILITY UTILITY_ARGS SEED TEMP_HYP TEMP_REF) ;;
    esac
    # what was decoded before there were others is of independent draws, and its record does not say so
    [[ "$system" == beam || "$DRAWS" == independent ]] || settings+=(DRAWS)
    label="$(label "$system")"
    [[ -e "$base/$label" || -f "$checkpoint" ]] || die "$checkpoint does not exist: train and average first"
    checkpoint_basis "$checkpoint"
    step "$name, $system" "$base/$label" \
        --with "${settings[@]}" "${TASK_BASIS[@]}" --from "$data" "${BASIS[@]}" -- \
        generate "$data" "${SOURCE:-$SRC}" "${TARGET:-$TGT}" "$subset" "$checkpoint" "$system" {}
}

# generate DATA SRC TGT SUBSET CHECKPOINT SYSTEM OUT_DIR: decode a binarised set as beam, mbr or dcmbr. OUT_DIR receives
# generate.log, messages.log, hypotheses.txt (detokenised, one line for each source line), seconds, and pools.jsonl for
# (DC-)MBR. The settings are those at the head of this file.
generate() {
    local data="$1" source="$2" target="$3" subset="$4" checkpoint="$5" system="$6" out="$7" flags=() start
    if [[ "$system" == beam ]]; then
        read -r -a flags <<<"$BEAM_FLAGS"
    else
        flags=(--num-hyp "$NUM" --draws "$DRAWS" --utility "$UTILITY" --utility-args "$UTILITY_ARGS")
        flags+=(--pools-out "$out/pools.jsonl")
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

# decoded BASE: the folders below BASE that generate has finished, one a line, relative to BASE; the others are named.
decoded() {
    local unfinished
    [[ -d "$1" ]] || return 0
    while read -r unfinished; do
        log "WARNING: $1/$unfinished has not been finished and is left out: run the decode script again"
    done < <(cd "$1" && find . -name '.*.????????.tmp' -type d -printf '%P\n' |
        sed -E 's,(^|/)\.([^/]*)\.[^/]{8}\.tmp$,\1\2,' | sort --unique)
    # .partial: what version 0.1.0 called unfinished folders
    (cd "$1" && find . -name seconds -not -path '*/.*.tmp/*' -not -path '*.partial/*' -printf '%P\n' | sed 's,/seconds$,,' | sort)
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

# tidy STEM BASE TASK SUBSET [RUN]: the scores in STEM.json as STEM.tsv, the tidy table that `dcmbr table` and `dcmbr
# plot` read. RUN is the model where the systems' names do not begin with it.
tidy() { python -P "$ROOT/scripts/lib/tidy.py" "$@"; }

# column NAME TABLE: the cells of a column of a TSV table.
column() { awk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' "$2"; }
