#!/usr/bin/env bash
# Translate the test set with beam search, MBR and DC-MBR.
#
#   scripts/wmt20/decode.sh PAIR LS [ALPHA BETA]      for example: en-de 0.1
#
# Environment: SYSTEMS (beam mbr dcmbr), NUM (50 samples; the paper also has 10), TEMP_HYP and TEMP_REF (0.5), UTILITY
# (chrf; the paper's is bleurt, with UTILITY_ARGS='{"checkpoint": "FOLDER"}'), BEAM_FLAGS (--beam 4 --lenpen 0.6),
# SUBSET (test, or valid), GENERATE_TOKENS (2048 a batch), SEED (1), WORK (work/wmt20), RUN (as for train.sh).

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
decode
