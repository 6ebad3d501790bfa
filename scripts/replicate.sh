#!/usr/bin/env bash
# The paper's tables and figures from nothing: trains models with label smoothing 0.0 to 0.3 and several seeds, decodes,
# scores, draws. Everything goes on where it was cut off.
#
#   scripts/replicate.sh [SETTING]                   multi30k-en-de (default), or another pair: multi30k-de-en, ...
#                                                    multi30k-en-de-two-layers: smaller models, half the time
#
# A run is a label smoothing and a seed, which is the training's and the draws' alike. What is measured of it lies in
# docs/results/SETTING/RUN, a tidy table and its settings for each measurement: what is there, and was made with these
# settings from this data, is not measured again, nor is its model trained again, so that the tables of several machines
# come together in one repository. docs/results/SETTING/log.tsv says when, where and at which commit each was measured.
# From the tables that are there come tables.md and the figures. docs/claims.md reads them. Beside quality.tsv lies
# tests.tsv, paired tests against beam search and MBR.
#
# Environment: RUNS ("0.1-1 0.0-1 0.2-1 0.3-1 0.1-2 0.0-2 0.1-3 0.0-3": label smoothing and seed), PAIR ("ls0.0-1
# ls0.1-1", compared closely, by more draws and longer searches) and MAIN (ls0.1-1, whose temperatures are studied),
# GER_RUNS ("ALPHA-BETA ...", Figure 4: fine-tunings of the run 0.0-1 by GER_UPDATES, 150, each an extra point), PARTS
# (quality ranks growth temperature roles diversity truncation topn ger: what to measure), FIRST (200 sentences for all
# but quality and ranks), TOP_FIRST (60), TRUNCATIONS ("none topp-0.9 topp-0.7 topk-10 topk-5 epsilon-0.02 epsilon-0.05":
# what the part truncation compares), SIZES (10,50: N of quality), UPDATES (2000), AVERAGE (3 epochs are averaged), WORK
# (work/multi30k), DATA (see multi30k/prepare.sh), OUT (docs/results/SETTING), DPI (100).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
SETTING="${1:-multi30k-en-de}"
[[ $# -le 1 && "$SETTING" =~ ^multi30k-([a-z]{2})-([a-z]{2})(-two-layers)?$ ]] || usage "$0"
SIZE="${BASH_REMATCH[3]}" MODEL=()
[[ -z "$SIZE" ]] || MODEL=(model.{en,de}coder_layers=2 model.{en,de}coder_embed_dim=128)
# shellcheck source=scripts/multi30k/settings.sh
source "$ROOT/scripts/multi30k/settings.sh"
set_pair "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
CONFIG=multi30k/small
CHECKPOINTS="$DIR/checkpoints$SIZE" POOLS="$DIR/pools$SIZE"
TEST="${TESTS[0]}"
SUBSET="$(subset_of "$TEST")"
RUNS="${RUNS:-0.1-1 0.0-1 0.2-1 0.3-1 0.1-2 0.0-2 0.1-3 0.0-3}"
PAIR="${PAIR:-ls0.0-1 ls0.1-1}"
MAIN="${MAIN:-ls0.1-1}"
number='[0-9]+(\.[0-9]+)?'
each_like RUNS "$number-[0-9]+" "label smoothing and seed, such as 0.1-1"
each_like PAIR "ls$number-[0-9]+" "runs as their folders are called, such as ls0.1-1"
each_like MAIN "ls$number-[0-9]+" "a run as its folder is called, such as ls0.1-1"
GER_BASE=ls0.0-1
GER_RUNS="${GER_RUNS:-}"
each_like GER_RUNS "$number-$number" "ALPHA-BETA, such as 0.5-0.3"
GER_UPDATES="${GER_UPDATES:-150}"
ALL_PARTS="quality ranks growth temperature roles diversity truncation topn ger"
PARTS="${PARTS:-$ALL_PARTS}"
each_like PARTS "${ALL_PARTS// /|}" "some of $ALL_PARTS"
SIZES="${SIZES:-10,50}"
LARGEST="${SIZES##*,}"
FIRST="${FIRST:-200}"
TOP_FIRST="${TOP_FIRST:-60}"
TRUNCATIONS="${TRUNCATIONS:-none topp-0.9 topp-0.7 topk-10 topk-5 epsilon-0.02 epsilon-0.05}"
each_like TRUNCATIONS "none|(topp|topk|epsilon)-$number" "none, topp-P, topk-K or epsilon-E"
UPDATES="${UPDATES:-2000}"
AVERAGE="${AVERAGE:-3}"
METRICS=bleu,chrf,ter METRIC_ARGS="{}"
if type java &>/dev/null; then
    METRICS+=,meteor METRIC_ARGS="{\"meteor\": {\"language\": \"$TGT\"}}"
else
    log "java is not installed: METEOR, which needs it, is not measured"
fi
OUT="$(realpath --canonicalize-missing "${OUT:-$ROOT/docs/results/$SETTING}")"
DPI="${DPI:-100}"
beside=()
setup_venv analysis,plots,meteor
export DCMBR_USE_VENV_AS_IS=1 # the scripts called from here need not look again

"$ROOT/scripts/multi30k/prepare.sh" "$SRC" "$TGT"
REFERENCES="$DIR/raw/$TEST.$TGT"
FLAGS=("$DIR/bin" -s "$SRC" -t "$TGT" --user-dir "$USER_DIR" --task translation_dcmbr --remove-bpe --tokenizer moses)
has_gpu || FLAGS+=(--cpu)

# begin RUN: what a run is: NAME of its model in tables, SEED, TRAINING (what is changed in the config), LAST (how many
# checkpoints are averaged), CHECKPOINT, and in BASIS what the model depends on. A run of GER, gerALPHA-BETA, starts from
# the run GER_BASE.
begin() {
    local words smoothing
    RUN="$1" SEED="${1##*-}" NAME="${1%-*}" smoothing="${1%-*}" LAST="$AVERAGE"
    TRAINING=("task.source_lang=$SRC" "task.target_lang=$TGT" "${MODEL[@]}")
    if [[ "$RUN" == ger* ]]; then
        NAME="$RUN" SEED=1 LAST=1
        TRAINING+=("+recipe=ger_finetuning" "~criterion.label_smoothing" "criterion.ger_alpha=$(echo "${RUN#ger}" | cut -d - -f 1)"
            "criterion.ger_beta=${RUN##*-}" "optimization.max_update=$GER_UPDATES" 'optimization.lr=[0.0005]'
            "lr_scheduler.warmup_updates=30")
    else
        TRAINING+=("criterion.label_smoothing=${smoothing#ls}" "common.seed=$SEED" "optimization.max_update=$UPDATES")
    fi
    CHECKPOINT="$CHECKPOINTS/$RUN/averaged.pt"
    words="$(cd "$ROOT" && dcmbr flags "configs/$CONFIG" "task.data=$DIR/bin" checkpoint.save_dir=none "${TRAINING[@]}")"
    mapfile -t words <<<"$words"
    basis_of_flags "${words[@]}"
    BASIS=(--with "updates=$(flag --max-update "${words[@]}")" "average=$LAST" "${BASIS[@]}")
    if [[ "$RUN" == ger* ]]; then # GER_BASIS: by what the base is made from, for the base itself may be gone
        BASIS=(--with "base=$GER_BASIS" "${BASIS[@]}")
        TRAINING+=("checkpoint.finetune_from_model=$CHECKPOINTS/$GER_BASE/averaged.pt")
    fi
}

# trained: the run's model is there: trained, and its last epochs averaged.
trained() {
    [[ "$RUN" != ger* ]] || (begin "$GER_BASE" && trained)
    "$ROOT/scripts/train.sh" "$CONFIG" "$DIR/bin" "$CHECKPOINTS/$RUN" "${TRAINING[@]}"
    AVERAGE="$LAST" average_run "$CHECKPOINTS/$RUN" "$CHECKPOINT"
}

# measure TABLE FIRST SUBSET SUBCOMMAND OPTION...: one table of the run that was begun, of FIRST sentences (0: all).
measure() {
    local options="${*:4}"
    options="${options//$WORK/WORK}" # where it lies on this machine is no setting
    resumable_step "$RUN, $1" "$OUT/$RUN/$1.tsv" --with "first=$2" "subset=$3" "options=$options" "${BASIS[@]}" -- \
        measure_now "$options" "$@"
}

# measure_now OPTIONS TABLE FIRST SUBSET SUBCOMMAND OPTION...: the same, and a line of log.tsv; OPTIONS as shown there.
# beside: more options, that change nothing in the table, such as --tests FILE, the last, which is made anew with it.
measure_now() {
    local shown="$1${beside:+ }${beside[*]//"$OUT"/OUT}" name="$2" first=() start="$SECONDS" commit
    shift
    [[ "$2" == 0 ]] || first=(--first "$2")
    (trained) # apart: its steps have a BASIS of their own
    [[ ${#beside[@]} == 0 ]] || rm -f "${beside[-1]}"
    dcmbr "$4" "${FLAGS[@]}" --gen-subset "$3" --path "$CHECKPOINT" --names "$NAME" "${first[@]}" "${@:5}" \
        "${beside[@]}" --output "$OUT/$RUN/$name.tsv"
    if commit="$(git -C "$ROOT" rev-parse --short HEAD 2>/dev/null)"; then
        git -C "$ROOT" diff --quiet HEAD -- configs dcmbr_fairseq scripts || commit+="+" # and changes that are in no commit
    fi
    [[ -f "$OUT/log.tsv" ]] || printf 'when\tcommit\trun\ttable\tseconds\tprocessor\tcommand\n' >"$OUT/log.tsv"
    printf '%s\t%s\t%s\t%s\t%s\t%s\tdcmbr %s\n' "$(date -u +%FT%TZ)" "$commit" "$RUN" "$name" \
        "$((SECONDS - start))" "$(nproc) x $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)" "$shown" >>"$OUT/log.tsv"
}

# pools NAME FIRST: where the pools of that name are kept: those of the first sentences apart from those of all.
pools() { echo "$POOLS/$1$([[ "$2" == 0 ]] || echo "-first$2")"; }

# sweep TABLE FIRST POOLS OPTION...: a sweep of the test set by chrF, whose pools are kept under that name.
sweep() {
    measure "$1" "$2" "$SUBSET" sweep --utilities chrf --draws independent --test-set "$TEST-$SRC-$TGT" \
        --pools "$(pools "$3" "$2")" "${@:4}"
}

is_in() { [[ " $2 " == *" $1 "* ]]; }

# Which variable names the runs that a part is measured of; the others are measured of all runs.
declare -A AMONG=([growth]=PAIR [topn]=PAIR [truncation]=PAIR [temperature]=MAIN [roles]=MAIN [diversity]=MAIN)

# wants PART: whether the part is wanted of the run that was begun.
wants() {
    local among="${AMONG[$1]-RUN}"
    is_in "$1" "$PARTS" && is_in "$RUN" "${!among}"
}

# say_what_is_left_out: the parts that are wanted, and are of none of the runs.
say_what_is_left_out() {
    local part run among named
    for part in $PARTS; do
        named=
        for run in $RUNS; do ! RUN="ls$run" wants "$part" || named=yes; done
        among="${AMONG[$part]-RUNS}"
        [[ -n "$named" ]] || log "$part: nothing to do, for it is measured of $among (${!among}), and RUNS has none of these"
    done
    [[ -n "$GER_RUNS" ]] || ! is_in ger "$PARTS" || log "ger: nothing to do, for GER_RUNS names no model"
}

# study: everything of the run that was begun.
study() {
    local judged=(--metrics "$METRICS" --metric-args "$METRIC_ARGS" --references "$REFERENCES") grid=0.1,0.3,0.5,0.7,0.9,1
    if [[ "$RUN" == ger* ]]; then # a point of Figure 4
        sweep quality 0 "$RUN" "${judged[@]}" --num-hyp "$LARGEST" --temp-hyp 1 --entropy --seeds "$SEED"
        return
    fi
    if wants quality; then
        beside=(--baseline decoding=beam --baseline "temp_hyp=1,temp_ref=1" --tests "$OUT/$RUN/tests.tsv")
        sweep quality 0 "$RUN" "${judged[@]}" --num-hyp "$SIZES" --temp-hyp 0.5,1 --with-beam --beam 5 --entropy \
            --seeds "$SEED"
        beside=()
    fi
    wants ranks && measure ranks 0 "$SUBSET" ranks
    wants growth && sweep growth "$FIRST" "$RUN" --metrics chrf,bleu --num-hyp 5,10,50,100,250 --temp-hyp 0.3,0.5,1 \
        --seeds 1,2,3
    wants topn && measure topn "$TOP_FIRST" "$SUBSET" topn --max-expansions 10000 --test-set "$TEST-$SRC-$TGT"
    if wants truncation; then truncations; fi
    wants temperature && sweep temperature "$FIRST" "$RUN" --metrics chrf --num-hyp 10 --temp-hyp "$grid" --seeds 1,2,3
    wants roles && sweep roles "$FIRST" "$RUN" --metrics chrf --num-hyp 10 --temp-hyp "$grid" --temp-ref "$grid" \
        --ref-pool separate --seeds 1,2,3
    wants diversity && measure diversity "$FIRST" "$SUBSET" diversity --temperatures "$grid" --num-hyp 10 \
        --metrics chrf --test-set "$TEST-$SRC-$TGT" --pools "$(pools "$RUN" "$FIRST")"
    return 0
}

# truncations: cooling against the ways of cutting off the tail, and with each; a table for each value.
truncations() {
    local way
    for way in $TRUNCATIONS; do
        local flags=()
        [[ "$way" == none ]] || flags=("--sampling-${way%-*}" "${way#*-}")
        sweep "truncation-$way" "$FIRST" "$RUN-$way" --metrics "$METRICS" --metric-args "$METRIC_ARGS" --num-hyp 50 \
            --temp-hyp 0.5,0.7,1 --seeds 1,2,3 "${flags[@]}"
    done
}

# present: tables.md and the figures, from what has been measured so far.
present() {
    local metric metrics number quality seed table temporary tests
    mapfile -t quality < <(find "$OUT" -path '*/ls*/quality.tsv' | sort)
    mapfile -t tests < <(find "$OUT" -path '*/ls*/tests.tsv' | sort)
    [[ ${#quality[@]} -gt 0 ]] || return 0
    metrics="$(for table in "${quality[@]}"; do column metric "$table"; done)"
    figure 1 --where metric=chrF --where "num_hyp=$LARGEST" -- 'ls*/quality.tsv'
    seed="$(find "$OUT" -path '*/ls*/ranks.tsv' | sed -E 's#.*-([0-9]+)/ranks\.tsv$#\1#' | sort -n | head -n 1)"
    figure 2 -- "ls*-$seed/ranks.tsv" # a model of each smoothing
    figure 3 --where all_exact=yes -- '*/topn.tsv'
    figure 4 --where metric=chrF --where decoding=mbr --where "num_hyp=$LARGEST" -- '*/quality.tsv'
    figure 5 --where metric=chrF -- '*/growth.tsv'
    figure 6 -- '*/temperature.tsv'
    figure 7 -- '*/roles.tsv' '*/diversity.tsv'
    temporary="$(temporary_name "$OUT/tables.md")"
    {
        printf '# %s\n\nMade by scripts/replicate.sh from the tables beside it; when, where and how: log.tsv. ' "$SETTING"
        printf 'Means over the seeds of training and draws that were measured.\n'
        for metric in chrF BLEU METEOR TER; do
            grep --quiet --line-regexp "$metric" <<<"$metrics" || continue
            printf '\n## Table 1, by %s\n' "$metric"
            dcmbr table 1 "${quality[@]}" --where "metric=$metric" --spread --format markdown
        done
        if [[ ${#tests[@]} -gt 0 ]]; then
            printf '\n## DC-MBR against beam search, and against MBR\n'
            dcmbr table tests "${tests[@]}" --format markdown
        fi
        for number in {1..7}; do
            [[ ! -f "$OUT/figure$number.png" ]] || printf '\n## Figure %d\n\n![Figure %d](figure%d.png)\n' "$number"{,,}
        done
    } >"$temporary"
    mv "$temporary" "$OUT/tables.md"
}

# figure N OPTION... -- PATTERN...: draw it from the tables that fit, if there are some for each pattern.
figure() {
    local number="$1" options=() tables=() found pattern
    shift
    while [[ "$1" != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    for pattern in "$@"; do
        mapfile -t found < <(find "$OUT" -path "$OUT/$pattern" | sort)
        [[ ${#found[@]} -gt 0 ]] || return 0
        tables+=("${found[@]}")
    done
    # from within OUT: the text beside a figure names its tables
    (cd "$OUT" && dcmbr plot "$number" "${tables[@]#"$OUT/"}" "${options[@]}" --dpi "$DPI" --formats png --output "figure$number") ||
        log "Figure $number cannot be drawn yet"
}

say_what_is_left_out
for run in $RUNS; do
    begin "ls$run"
    study
    present
done
wants ger || GER_RUNS=""
[[ -z "$GER_RUNS" ]] ||
    GER_BASIS="$(begin "$GER_BASE" && made_from none "${BASIS[@]}" | cut -f 1,2 | sha256sum | cut -c 1-16)"
for run in $GER_RUNS; do
    begin "ger$run"
    study
done
present
log "tables and figures: $OUT"
