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

# tidy LABEL...: the scores as a table with a row for each system and metric, the settings in columns.
tidy() {
    dcmbr evaluate "${@/%//hypotheses.txt}" --references "$DIR/raw/test.$TARGET" --names "$(IFS=, && echo "${*##*/}")" \
        --metrics "$METRICS" --metric-args "$METRIC_ARGS" --format tsv |
        awk -F '\t' -v OFS='\t' -v task="$NAME-$SRC-$TGT" '
            NR == 1 {
                for (i = 2; i <= NF; i++) metric[i] = $i
                print "task", "decoding", "utility", "num_hyp", "temp_hyp", "temp_ref", "seed", "metric", "score"
                next
            }
            {
                count = split($1, part, "-")
                utility = num = hyp = ref = seed = ""
                if (part[1] != "beam") {
                    utility = part[2]; num = substr(part[3], 2); hyp = ref = part[1] == "mbr" ? 1 : substr(part[4], 2); seed = 1
                }
                for (i = 5; i <= count; i++) if (part[i] ~ /^seed/) seed = substr(part[i], 5); else ref = part[i]
                for (i = 2; i <= NF; i++) print task, part[1], utility, num, hyp, ref, seed, metric[i], $i
            }' >"$DIR/results.tsv"
}

mapfile -t folders < <(decoded "$DIR/decode")
[[ ${#folders[@]} -gt 0 ]] || die "nothing decoded yet in $DIR/decode: run scripts/mbart50/decode.sh $1 first"
printf '%s %s\n' "$NAME" "$1"
score "$DIR/raw/test.$TARGET" "$DIR/results" "$DIR/decode" "${folders[@]}"
tidy "${folders[@]/#/$DIR/decode/}"
paper=()
[[ "$TEST" != newstest2016 ]] || paper=(--paper)
for metric in ${METRICS//,/ }; do
    printf '\n%s, all directions so far\n' "$NAME"
    dcmbr table 2 "$WORK/$NAME"/*/results.tsv --where "metric=$metric" --where "utility=$UTILITY" "${paper[@]}" \
        --output "$WORK/$NAME/table-$metric.text"
    cat "$WORK/$NAME/table-$metric.text"
done
