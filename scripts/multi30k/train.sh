#!/usr/bin/env bash
# Train a small Transformer on Multi30k (configs/multi30k/small.yaml) and average its last epochs.
#
#   scripts/multi30k/train.sh SRC TGT LS [KEY=VALUE...]      for example: en de 0.1
#
# LS is the label smoothing, 0.0 to 0.3; KEY=VALUE changes the config for this run. About half an hour on two idle
# cores. Goes on where it was cut off; what has been trained is not trained again.
# Environment: WORK (work/multi30k), RUN (lsLS: the name of the run, to be changed together with the config), AVERAGE (3
# epochs are averaged; fewer where optimization.max_update leaves fewer).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/multi30k/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# -ge 3 ]] || usage "$0"
set_pair "$1" "$2"
SAVE_DIR="$DIR/checkpoints/${RUN:-ls$3}"
AVERAGE="${AVERAGE:-3}"
setup_venv

"$ROOT/scripts/train.sh" multi30k/small "$DIR/bin" "$SAVE_DIR" "task.source_lang=$SRC" "task.target_lang=$TGT" \
    "criterion.label_smoothing=$3" "${@:4}"
average_run "$SAVE_DIR" "$SAVE_DIR/averaged.pt"
