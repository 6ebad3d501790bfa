#!/usr/bin/env bash
# Train a Transformer-base on WMT20 English-German with label smoothing, or fine-tune one with GER
# (configs/wmt20/; on several machines: docs/training.md).
#
#   scripts/wmt20/train.sh PAIR LS [KEY=VALUE...]               for example: en-de 0.1
#   scripts/wmt20/train.sh PAIR LS ALPHA BETA [KEY=VALUE...]    for example: en-de 0.0 0.3 0.2
#
# The second form takes the model that the first has trained with LS 10k updates further. KEY=VALUE changes the config,
# such as optimization.update_freq=[4]. Goes on where it was cut off.
# Environment: WORK (work/wmt20), RUN (lsLS or lsLS-ger-aALPHA-bBETA: the run's name), LAUNCH (see scripts/train.sh).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/wmt20/settings.sh
source "$(dirname "$0")/settings.sh"
# shellcheck source=scripts/wmt.sh
source "$(dirname "$0")/../wmt.sh"
[[ $# -ge 2 ]] || usage "$0"
set_pair "$1"
if [[ $# -ge 4 && "$3" != *=* ]]; then
    ger=("$3" "$4")
    overrides=("${@:5}")
else
    ger=()
    overrides=("${@:3}")
fi
set_run "$2" "${ger[@]}"
setup_venv
train_run "$2" "${ger[0]:-}" "${ger[1]:-}" "${overrides[@]}"
