#!/usr/bin/env bash
# Train from a config with fairseq-train, on all GPUs of this machine, or on the CPU where there is none.
#
#   scripts/train.sh CONFIG DATA SAVE_DIR [KEY=VALUE...]
#   scripts/train.sh wmt20/en-de work/wmt20/en-de/bin work/wmt20/en-de/checkpoints/ls0.2 criterion.label_smoothing=0.2
#   scripts/train.sh --print-flags CONFIG DATA SAVE_DIR [KEY=VALUE...]     only show the command
#
# CONFIG is a file below configs/, without .yaml; DATA is what fairseq-preprocess wrote. Running it again goes on from
# SAVE_DIR/checkpoint_last.pt; a run that has finished leaves SAVE_DIR/finished and is not repeated.
# Environment: LAUNCH, a launcher to put in front for several machines (docs/training.md gives the lines), such as
# LAUNCH="torchrun --nproc_per_node 8 --nnodes 2 --node_rank 0 --master_addr HOST".

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
[[ -d "$DATA" ]] || die "$DATA is not a folder: run prepare.sh first"
has_gpu || set -- common.cpu=true common.fp16=false "$@"
words="$(dcmbr flags "configs/$CONFIG" "task.data=$DATA" "checkpoint.save_dir=$SAVE_DIR" "$@")"
mapfile -t FLAGS <<<"$words"

if [[ -n "$PRINT_ONLY" ]]; then
    printf 'fairseq-train'
    printf ' %q' "${FLAGS[@]}"
    echo
    exit
fi
if [[ -e "$SAVE_DIR/finished" ]]; then
    log "training: done already ($SAVE_DIR)"
    exit
fi
mkdir -p "$SAVE_DIR"
log "training: fairseq-train ${FLAGS[*]}"
log "its log goes to $SAVE_DIR/train.log"
# shellcheck disable=SC2086  # LAUNCH is a command with arguments
${LAUNCH:-} "$VENV/bin/fairseq-train" "${FLAGS[@]}" 2>&1 | tee -a "$SAVE_DIR/train.log" | show_progress
touch "$SAVE_DIR/finished"
log "trained: $SAVE_DIR"
