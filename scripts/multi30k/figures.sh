#!/usr/bin/env bash
# The paper's Figures 1-7 from the checkpoints in a folder: measures what has not been measured yet, then draws.
#
#   scripts/multi30k/figures.sh SRC TGT MODELS [TEST]        for example: en de models test_2016_flickr
#
# MODELS holds checkpoints NAME.pt. Figures 1 and 2 show MODELS/ls*.pt, which were trained with label smoothing (or
# without); Figures 3 and 5 two of them, PAIR; Figure 4 every model, as GER gives them; Figures 6 and 7 one, MAIN.
# Figure 6 has a line for each direction SRC-TGT for which this script has been run below WORK. A figure whose models
# are missing is left out. Tables and figures lie in WORK/SRC-TGT/figures/TEST: remove a table to have it measured
# again; one that was measured with other settings or models is refused. Cut off, the script goes on where it was.
#
# Environment: BIN (binarised data, WORK/SRC-TGT/bin), FIRST (200 sentences; Figure 2 takes all), TOP_FIRST (100, for
# Figure 3), MAX_EXPANSIONS (10000: gives a sentence of Figure 3 up), PAIR ("ls0.0 ls0.1"), MAIN (ls0.1), NUM (50, for
# Figures 1 and 4), SIZES (5,10,50,100, for Figure 5), TEMPERATURES (0.1,0.3,0.5,0.7,0.9,1), SEEDS (1,2,3, for Figure
# 5; the others take SEED, 1), UTILITY (chrf), METRIC (chrf), UTILITY_ARGS and METRIC_ARGS (as of dcmbr sweep), DPI
# (150), WORK (work/multi30k).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/multi30k/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# == 3 || $# == 4 ]] || usage "$0"
set_pair "$1" "$2"
MODELS="$3"
TEST="${4:-${TESTS[0]}}"
SUBSET="$(subset_of "$TEST")"
[[ -n "$SUBSET" ]] || die "there is no test set $TEST for $SRC-$TGT: give one of ${TESTS[*]}"
BIN="${BIN:-$DIR/bin}"
OUT="$DIR/figures/$TEST"
FIRST="${FIRST:-200}"
TOP_FIRST="${TOP_FIRST:-100}"
MAX_EXPANSIONS="${MAX_EXPANSIONS:-10000}"
PAIR="${PAIR:-ls0.0 ls0.1}"
MAIN="${MAIN:-ls0.1}"
SIZES="${SIZES:-5,10,50,100}"
TEMPERATURES="${TEMPERATURES:-0.1,0.3,0.5,0.7,0.9,1}"
SEEDS="${SEEDS:-1,2,3}"
METRIC="${METRIC:-chrf}"
DPI="${DPI:-150}"
setup_venv analysis,plots

compgen -G "$MODELS/*.pt" >/dev/null || die "$MODELS holds no checkpoint NAME.pt: give the folder of your models"
FLAGS=(-s "$SRC" -t "$TGT" --gen-subset "$SUBSET" --remove-bpe --tokenizer moses --seed "$SEED")
has_gpu || FLAGS+=(--cpu)
GRID_FLAGS=(--draws independent --pools "$OUT/pools" --utility-args "$UTILITY_ARGS" --metric-args "$METRIC_ARGS" --metrics "$METRIC")

# paths NAME...: PATHS becomes --path MODELS/NAME.pt ..., empty where one is missing.
paths() {
    local name
    PATHS=()
    for name in "$@"; do
        [[ -f "$MODELS/$name.pt" ]] || { PATHS=() && return; }
        PATHS+=(--path "$MODELS/$name.pt")
    done
}

# names PATTERN: the checkpoints of MODELS that fit, without folder and ending.
names() { find "$MODELS" -maxdepth 1 -name "$1.pt" -printf '%f\n' | sed 's/\.pt$//' | sort; }

# measure TABLE SETTINGS SUBCOMMAND...: one table for the models in PATHS, unless it is there; SETTINGS are the variables
# that it depends on, of which FIRST or TOP_FIRST is how many sentences are measured.
measure() {
    local name="$1" table="$OUT/$1.tsv" settings first=() word basis
    read -r -a settings <<<"$2"
    for word in "${settings[@]}"; do [[ "$word" != *FIRST ]] || first=(--first "${!word}"); done
    shift 2
    [[ ${#PATHS[@]} -gt 0 ]] || return 0
    basis=(--with SEED "${settings[@]}" --from "$BIN")
    for word in "${PATHS[@]}"; do [[ "$word" == --path ]] || basis+=("$word"); done
    resumable_step "$name" "$table" "${basis[@]}" -- \
        dcmbr "$1" "$BIN" "${PATHS[@]}" "${FLAGS[@]}" "${first[@]}" "${@:2}" --output "$table"
}

# sweep TABLE SETTINGS OPTION...: one dcmbr sweep by UTILITY of the FIRST sentences.
sweep() {
    measure "$1" "FIRST UTILITY UTILITY_ARGS METRIC METRIC_ARGS $2" sweep "${GRID_FLAGS[@]}" --utilities "$UTILITY" \
        --test-set "$TEST-$SRC-$TGT" "${@:3}"
}

# figure N TABLE...: draw it from those tables that are there.
figure() {
    local number="$1" table tables=()
    shift
    for table in "$@"; do [[ ! -e "$table" ]] || tables+=("$table"); done
    if [[ ${#tables[@]} -lt $# || $# == 0 ]]; then
        log "Figure $number is left out: $MODELS lacks its models"
        return
    fi
    dcmbr plot "$number" "${tables[@]}" "${WHERE[@]}" --dpi "$DPI" --output "$OUT/figure$number"
}

mkdir -p "$OUT"
mapfile -t SMOOTHED < <(names 'ls*')
mapfile -t ALL < <(names '*')
read -r -a BOTH <<<"$PAIR"

# The largest pools first: the others are their first draws.
paths "${BOTH[@]}"
sweep sizes "PAIR SIZES TEMPERATURES SEEDS" --num-hyp "$SIZES" --temp-hyp "$TEMPERATURES" --seeds "$SEEDS"
measure topn "TOP_FIRST MAX_EXPANSIONS PAIR METRIC METRIC_ARGS" topn --max-expansions "$MAX_EXPANSIONS" \
    --metrics "$METRIC" --metric-args "$METRIC_ARGS" --test-set "$TEST-$SRC-$TGT"
paths "$MAIN"
sweep temperature "MAIN TEMPERATURES" --num-hyp 10 --temp-hyp "$TEMPERATURES"
sweep hypotheses "MAIN TEMPERATURES" --num-hyp 10 --temp-hyp "$TEMPERATURES" --temp-ref 1 --ref-pool separate
sweep references "MAIN TEMPERATURES" --num-hyp 10 --temp-hyp 0.5 --temp-ref "$TEMPERATURES" --ref-pool separate
measure diversity "FIRST MAIN TEMPERATURES METRIC METRIC_ARGS" diversity --temperatures "$TEMPERATURES" --num-hyp 10 \
    --pools "$OUT/pools" --metrics "$METRIC" --metric-args "$METRIC_ARGS" --test-set "$TEST-$SRC-$TGT"
[[ ${#SMOOTHED[@]} == 0 ]] || paths "${SMOOTHED[@]}"
measure ranks "" ranks
paths "${ALL[@]}"
sweep models "NUM" --num-hyp "$NUM" --temp-hyp 0.5,1 --with-beam --beam 5 --entropy

WHERE=()
figure 1 "$OUT/models.tsv"
figure 2 "$OUT/ranks.tsv"
WHERE=(--where all_exact=yes)
figure 3 "$OUT/topn.tsv"
WHERE=(--where decoding=mbr)
if [[ ${#ALL[@]} -ge 3 ]]; then
    figure 4 "$OUT/models.tsv"
    dcmbr correlation "$OUT/models.tsv" "${WHERE[@]}"
else
    log "Figure 4 is left out: it needs at least three models"
fi
WHERE=()
figure 5 "$OUT/sizes.tsv"
figure 6 "$DIR/../"*/figures/"$TEST"/temperature.tsv
figure 7 "$OUT"/{hypotheses,references,diversity}.tsv
