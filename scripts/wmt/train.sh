# shellcheck shell=bash
# Train a Transformer-base with label smoothing, or fine-tune one with GER (configs/DATASET/; on several machines:
# docs/training.md).
#
#   scripts/DATASET/train.sh PAIR LS [KEY=VALUE...]               for example: FIRST_PAIR 0.1
#   scripts/DATASET/train.sh PAIR LS ALPHA BETA [KEY=VALUE...]    for example: FIRST_PAIR 0.0 0.3 0.2
#
# The second form takes the model that the first has trained with LS 10k updates further. KEY=VALUE changes the config,
# such as optimization.update_freq=[4]. Goes on where it was cut off.
# Environment: WORK (work/DATASET), RUN (lsLS or lsLS-ger-aALPHA-bBETA: the run's name), LAUNCH (see scripts/train.sh).

# shellcheck source=scripts/wmt/common.sh
source "$(dirname "$0")/common.sh"
set_data_set "${1:-}" && shift
# numbers first, then KEY=VALUE: LS alone, or LS ALPHA BETA
numbers=()
for word in "${@:2}"; do
    [[ "$word" != *=* ]] || break
    numbers+=("$word")
done
[[ ${#numbers[@]} == 1 || ${#numbers[@]} == 3 ]] || usage "$0"
set_pair "$1"
set_run "${numbers[@]}"
setup_venv
train_run "${numbers[0]}" "${numbers[1]:-}" "${numbers[2]:-}" "${@:2+${#numbers[@]}}"
