# shellcheck shell=bash
# Average the last checkpoints of a run: five of training from scratch (Vaswani et al. 2017), the very last after GER.
#
#   scripts/DATASET/average.sh PAIR LS [ALPHA BETA]     for example: FIRST_PAIR 0.1
#
# Environment: AVERAGE (5, or 1 with ALPHA and BETA), WORK (work/DATASET), RUN (as for train.sh).

# shellcheck source=scripts/wmt/common.sh
source "$(dirname "$0")/common.sh"
set_data_set "${1:-}" && shift
[[ $# == 2 || $# == 4 ]] || usage "$0"
set_pair "$1"
set_run "${@:2}"
setup_venv
average
