# shellcheck shell=bash
# Score all that decode.sh has translated for a pair, in one table: sacreBLEU and chrF on detokenised text (for
# English-Romanian without regard to case, as the paper does).
#
#   scripts/DATASET/evaluate.sh PAIR                    for example: FIRST_PAIR
#
# The table is printed, and written to WORK/PAIR/results/SUBSET.{text,json,tsv}; from the .tsv `dcmbr table` makes the
# paper's tables, and `dcmbr plot 4` Figure 4 (docs/training.md has the commands).
# Environment: METRICS (bleu,chrf; for instance bleu,chrf,bleurt) and METRIC_ARGS (such as
# '{"bleurt": {"checkpoint": "FOLDER"}}'), SUBSET (test, or valid), WORK (work/DATASET).

# shellcheck source=scripts/wmt/common.sh
source "$(dirname "$0")/common.sh"
set_data_set "${1:-}" && shift
[[ $# == 1 ]] || usage "$0"
set_pair "$1"
setup_venv
evaluate
