# shellcheck shell=bash
# Translate the test set with beam search, MBR and DC-MBR.
#
#   scripts/DATASET/decode.sh PAIR LS [ALPHA BETA]      for example: FIRST_PAIR 0.1
#
# Environment: SYSTEMS (beam mbr dcmbr), NUM (50 samples; the paper also has 10), TEMP_HYP and TEMP_REF (0.5), UTILITY
# (chrf; the paper's is bleurt, with UTILITY_ARGS='{"checkpoint": "FOLDER"}'), BEAM_FLAGS (--beam 4 --lenpen 0.6),
# SUBSET (test, or valid), GENERATE_TOKENS (2048 a batch), SEED (1), WORK (work/DATASET), RUN (as for train.sh).

# shellcheck source=scripts/wmt/common.sh
source "$(dirname "$0")/common.sh"
set_data_set "${1:-}" && shift
[[ $# == 2 || $# == 4 ]] || usage "$0"
set_pair "$1"
set_run "${@:2}"
setup_venv
decode
