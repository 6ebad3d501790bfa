#!/usr/bin/env bash
# Score all that decode.sh has translated of a direction, and put all directions so far in one table like the paper's
# (Table 2); for newstest2016 with its numbers, which are BLEURT, in parentheses.
#
#   scripts/mbart50/evaluate.sh DIRECTION                      for example: en-de
#
# The tables are printed, and written to WORK/TEST/DIRECTION/results.{text,json,tsv} and WORK/TEST/table-METRIC.text.
# Environment: METRICS (bleu,chrf; for instance bleu,chrf,bleurt) and METRIC_ARGS (such as
# '{"bleurt": {"checkpoint": "FOLDER"}}'), UTILITY (chrf: whose choices the table shows); TEST, LIMIT and WORK as for
# prepare.sh.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/mbart50/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# == 1 ]] || usage "$0"
set_direction "$1"
setup_venv

mapfile -t folders < <(decoded "$DIR/decode")
[[ ${#folders[@]} -gt 0 ]] || die "nothing decoded yet in $DIR/decode: run scripts/mbart50/decode.sh $1 first"
printf '%s %s\n' "$NAME" "$1"
score "$DIR/raw/test.$TARGET" "$DIR/results" "$DIR/decode" "${folders[@]}"
tidy "$DIR/results" "$DIR/decode" "$NAME-$SRC-$TGT" test mBART-50
paper=()
[[ "$TEST" != newstest2016 ]] || paper=(--paper)
mapfile -t metrics < <(column metric "$DIR/results.tsv" | sort -u)
for metric in "${metrics[@]}"; do
    printf '\n%s, all directions so far\n' "$NAME"
    dcmbr table 2 "$WORK/$NAME"/*/results.tsv --where "metric=$metric" --where "utility=$UTILITY" "${paper[@]}" \
        --output "$WORK/$NAME/table-$metric.text"
    cat "$WORK/$NAME/table-$metric.text"
done
