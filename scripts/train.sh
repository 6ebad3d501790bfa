#!/usr/bin/env bash
# Train from a config with fairseq-train, on all GPUs of this machine, or on the CPU where there is none.
#
#   scripts/train.sh CONFIG DATA SAVE_DIR [KEY=VALUE...]
#   scripts/train.sh wmt20/en-de work/wmt20/en-de/bin work/wmt20/en-de/checkpoints/ls0.2 criterion.label_smoothing=0.2
#   scripts/train.sh --print-flags CONFIG DATA SAVE_DIR [KEY=VALUE...]     only show the command
#
# CONFIG is a file below configs/, without .yaml; DATA is what fairseq-preprocess wrote. Running it again goes on from
# SAVE_DIR/checkpoint_last.pt. A run that has come to its end leaves SAVE_DIR/finished and is not repeated, unless more
# updates are asked for; one that stop_time_hours has ended before exits with status 75: run it again. Going on with
# other settings is refused, and they are named; CHANGED="--lr --max-tokens" goes on with other values of these.
# Environment: LAUNCH, a launcher to put in front for several machines (docs/training.md gives the lines), such as
# LAUNCH="torchrun --nproc_per_node 8 --nnodes 2 --node_rank 0 --master_addr HOST"; DEVICE (auto: GPUs if torch can use
# them; gpu: stop where there is none, and with --print-flags show the command for GPUs on a machine without; cpu);
# CHANGED.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

PRINT_ONLY=
if [[ "${1:-}" == --print-flags ]]; then
    PRINT_ONLY=1
    shift
fi
[[ $# -ge 3 ]] || usage "$0"

CONFIG="$1"
DATA="$(realpath --canonicalize-missing "$2")"
SAVE_DIR="$(realpath --canonicalize-missing "$3")"
shift 3
setup_venv
cd "$ROOT" # the configs name their common parts from here

[[ -f "configs/$CONFIG.yaml" ]] || die "there is no configs/$CONFIG.yaml: give one of $(list_configs)"
[[ -d "$DATA" || -n "$PRINT_ONLY" ]] || die "$DATA is not a folder: run prepare.sh first"
has_gpu || set -- common.cpu=true common.fp16=false "$@"
words="$(dcmbr flags "configs/$CONFIG" "task.data=$DATA" "checkpoint.save_dir=$SAVE_DIR" "$@")"
mapfile -t FLAGS <<<"$words"

if [[ -n "$PRINT_ONLY" ]]; then
    printf 'fairseq-train'
    printf ' %q' "${FLAGS[@]}"
    echo
    exit
fi

MAX_UPDATE="$(flag --max-update "${FLAGS[@]}")"
MAX_EPOCH="$(flag --max-epoch "${FLAGS[@]}")"
MAX_UPDATE="${MAX_UPDATE:-0}" MAX_EPOCH="${MAX_EPOCH:-0}" # 0: no limit

# more_is_asked: whether this asks for more updates or epochs than the run that has left SAVE_DIR/finished.
more_is_asked() {
    local updates target epochs
    updates="$(finished "$SAVE_DIR" updates)"
    target="$(finished "$SAVE_DIR" max_update)"
    epochs="$(finished "$SAVE_DIR" max_epoch)"
    if [[ -z "$updates" ]]; then # left by an earlier version, whatever had ended the training
        updates="$(last_saved "$SAVE_DIR/train.log")"
        log "WARNING: $SAVE_DIR/finished does not say after how many updates; the log says ${updates:-nothing}"
        [[ -n "$updates" ]] && ((updates < MAX_UPDATE))
        return
    fi
    ((updates < MAX_UPDATE && target < MAX_UPDATE)) || ((epochs > 0 && epochs < MAX_EPOCH))
}

# record_settings: refuse other settings than those the run was begun with; write them down.
record_settings() {
    local differences
    basis_of_flags "${FLAGS[@]}"
    if [[ -f "$SAVE_DIR/training.settings" ]]; then
        differences="$(differences_from "$SAVE_DIR/training" "${BASIS[@]}")"
        [[ -z "$differences" ]] || die "training: $SAVE_DIR was begun otherwise: $differences;" \
            "give what it was begun with, train under another name (RUN), or accept it with CHANGED=\"KEY...\""
    elif [[ -f "$SAVE_DIR/checkpoint_last.pt" ]]; then
        log "WARNING: $SAVE_DIR has no record of the settings it was trained with: it is taken as it is"
    fi
    mkdir -p "$SAVE_DIR"
    write_record "$SAVE_DIR/training" "$SAVE_DIR/training" "$(made_from "$SAVE_DIR/training" "${BASIS[@]}")"
}

record_settings
if [[ -e "$SAVE_DIR/finished" ]]; then
    if ! more_is_asked; then
        log "training: done already ($SAVE_DIR)"
        exit
    fi
    log "training: goes on, $MAX_UPDATE updates are asked for"
    rm "$SAVE_DIR/finished"
fi
log "training: fairseq-train ${FLAGS[*]}"
log "its log goes to $SAVE_DIR/train.log"
settle_slurm "${FLAGS[@]}"
OWN_LOG="$(mktemp)"
trap 'rm -f "$OWN_LOG"' EXIT
# shellcheck disable=SC2086  # LAUNCH is a command with arguments
${LAUNCH:-} "$VENV/bin/fairseq-train" "${FLAGS[@]}" 2>&1 | tee -a "$SAVE_DIR/train.log" "$OWN_LOG" | show_progress "$MAX_UPDATE"

if ! grep --quiet 'done training in' "$OWN_LOG"; then # fairseq's first process alone says it, and writes checkpoints
    log "trained: the first process of this run says how far"
    exit
fi
UPDATES="$(last_saved "$SAVE_DIR/train.log")"
UPDATES="${UPDATES:-0}"
if ((MAX_UPDATE == 0 || UPDATES < MAX_UPDATE)) && grep --quiet 'Stopping training due to cumulative_training_time' "$OWN_LOG"; then
    log "training: stop_time_hours ended it after $UPDATES of $MAX_UPDATE updates ($SAVE_DIR): run this again to go on." \
        "The hours count all runs together: give more"
    exit 75
fi
TEMPORARY="$(temporary_name "$SAVE_DIR/finished")"
printf 'updates %s\nmax_update %s\nmax_epoch %s\n' "$UPDATES" "$MAX_UPDATE" "$MAX_EPOCH" >"$TEMPORARY"
mv "$TEMPORARY" "$SAVE_DIR/finished"
log "trained: $SAVE_DIR, $UPDATES updates"
