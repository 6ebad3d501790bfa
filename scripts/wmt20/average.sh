#!/usr/bin/env bash
# Average the last checkpoints of a run: five of training from scratch (Vaswani et al. 2017), the very last after GER.
#
#   scripts/wmt20/average.sh PAIR LS [ALPHA BETA]     for example: en-de 0.1
#
# Environment: AVERAGE (5, or 1 with ALPHA and BETA), WORK (work/wmt20), RUN (as for train.sh).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/wmt20/settings.sh
source "$(dirname "$0")/settings.sh"
# shellcheck source=scripts/wmt.sh
source "$(dirname "$0")/../wmt.sh"
[[ $# == 2 || $# == 4 ]] || usage "$0"
set_pair "$1"
set_run "${@:2}"
setup_venv
average
