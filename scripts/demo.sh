#!/usr/bin/env bash
# The demo, embedded: a phrasebook, a tiny Transformer, and its test set translated with beam search, MBR and DC-MBR.
# On two cores it takes less than six minutes after installation, one or two of them training.
#
#   bash scripts/demo.sh [KEY=VALUE...]
#
# Makes .venv if missing, installs this package into it, and leaves everything else in work/demo. Running it again does
# only what is missing and prints the table again; WORK=other/folder starts from nothing. KEY=VALUE changes the training
# config (configs/demo/phrasebook.yaml), such as criterion.label_smoothing=0.0.
# Environment: WORK (work/demo), SYSTEMS (beam mbr dcmbr), NUM (50 samples), TEMP_HYP and TEMP_REF (0.5), UTILITY (chrf),
# UTILITY_ARGS ({}), BEAM_FLAGS ("--beam 5"), SEED (1), PAIRS (20000), HELD_OUT (500 pairs in valid, as many in test).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
[[ "${1:-}" != -* ]] || usage "$0"

WORK="${WORK:-$ROOT/work/demo}"
SYSTEMS="${SYSTEMS:-beam mbr dcmbr}"
BEAM_FLAGS="${BEAM_FLAGS:---beam 5}"
PAIRS="${PAIRS:-20000}"
HELD_OUT="${HELD_OUT:-500}"
SRC=en
TGT=de
MERGES=3000

# side_by_side FOLDER...: the first test sentences that each system translates differently from the one before it.
side_by_side() {
    local folder columns=()
    for folder in "$@"; do columns+=("$WORK/decode/$folder/hypotheses.txt"); done
    paste "$WORK/raw/test.$SRC" "$WORK/raw/test.$TGT" "${columns[@]}" |
        awk -F '\t' -v names="$*" '
            BEGIN { split(names, name, " ") }
            { different = 0; for (i = 4; i <= NF; i++) different += $i != $(i - 1) }
            different == NF - 3 && shown++ < 4 {
                printf "\n%-21s%s\n%-21s%s\n", "source", $1, "reference", $2
                for (i = 3; i <= NF; i++) printf "%-21s%s\n", name[i - 2], $i
            }'
}

setup_venv demo
export DCMBR_USE_VENV_AS_IS=1 # the scripts called from here need not look again
SECONDS=0

step "make the phrasebook" "$WORK/raw" --with PAIRS HELD_OUT -- \
    python "$ROOT/scripts/phrasebook/make.py" {} --pairs "$PAIRS" --valid "$HELD_OUT" --test "$HELD_OUT"
to_tensors "$WORK" "$WORK/raw" test
# The model is tiny: more threads than these only wait for each other.
threads=$(nproc)
OMP_NUM_THREADS="${OMP_NUM_THREADS:-$((threads < 4 ? threads : 4))}" \
    "$ROOT/scripts/train.sh" demo/phrasebook "$WORK/bin" "$WORK/checkpoints" "$@"

export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
folders=()
for system in $SYSTEMS; do
    folder="$(label "$system")"
    folders+=("$folder")
    translate "translate" "$WORK/decode" "$WORK/bin" test "$WORK/checkpoints/checkpoint_last.pt" "$system"
done

printf '\nThe phrasebook, English to German: %s test pairs\n' "$HELD_OUT"
score "$WORK/raw/test.$TGT" "$WORK/results" "$WORK/decode" "${folders[@]}"
side_by_side "${folders[@]}"
log "everything is in $WORK; this run took $SECONDS seconds"

# report_of OUTPUT FOLDER...: a page about the decisions of the last system that has recorded some, beside the others.
report_of() {
    local output="$1" folder compared=()
    shift
    for folder in "$@"; do
        [[ "$folder" == "$REPORTED" ]] || compared+=(--compare "$folder=$WORK/decode/$folder/hypotheses.txt")
    done
    dcmbr report "$WORK/decode/$REPORTED/pools.jsonl" "${compared[@]}" --references "$WORK/raw/test.$TGT" --output "$output"
}

REPORTED=
for folder in "${folders[@]}"; do [[ ! -f "$WORK/decode/$folder/pools.jsonl" ]] || REPORTED="$folder"; done
if [[ -n "$REPORTED" ]]; then
    made=("$WORK/raw")
    for folder in "${folders[@]}"; do made+=("$WORK/decode/$folder"); done
    resumable_step "report" "$WORK/report.html" --with REPORTED SYSTEMS --from "${made[@]}" -- \
        report_of "$WORK/report.html" "${folders[@]}"
    log "look into the decisions, sentence by sentence: open $WORK/report.html in a browser"
fi
