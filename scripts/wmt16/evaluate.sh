#!/usr/bin/env bash
# Score all that decode.sh has translated for a pair, in one table: sacreBLEU and chrF on detokenised text,
# without regard to case.
#
#   scripts/wmt16/evaluate.sh PAIR                    for example: en-ro
#
# The table is printed, and written to WORK/PAIR/results/SUBSET.{text,json}.
# Environment: METRICS (bleu,chrf; for instance bleu,chrf,bleurt) and METRIC_ARGS (such as
# '{"bleurt": {"checkpoint": "FOLDER"}}'), SUBSET (test, or valid), WORK (work/wmt16).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/wmt16/settings.sh
source "$(dirname "$0")/settings.sh"
# shellcheck source=scripts/wmt.sh
source "$(dirname "$0")/../wmt.sh"
[[ $# == 1 ]] || usage "$0"
set_pair "$1"
setup_venv
evaluate
