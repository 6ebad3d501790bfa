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

# tidy OUTPUT: the scores as a table with a row for each system and metric, the settings in columns.
tidy() { python -c "$TIDY" "$NAME-$SRC-$TGT" "$DIR/results.json" >"$1"; }
TIDY='
import json, re, sys
label = re.compile(r"(mbr|dcmbr)-(.+)-n(\d+)(?:-t([\d.]+))?(?:-([\d.]+))?(?:-seed(\d+))?")
print("task decoding utility num_hyp temp_hyp temp_ref seed metric score".replace(" ", "\t"))
for system in json.load(open(sys.argv[2]))["systems"]:
    found = label.fullmatch(system["name"])
    settings = ["beam", "", "", "", "", ""]
    if found:
        decoding, utility, size, hyp, ref, seed = found.groups()
        hyp = hyp or "1"
        settings = [decoding, utility, size, hyp, ref or hyp, seed or "1"]
    for metric, score in system.items():
        if metric not in ("name", "seconds"):
            print(sys.argv[1], *settings, metric, score, sep="\t")
'

mapfile -t folders < <(decoded "$DIR/decode")
[[ ${#folders[@]} -gt 0 ]] || die "nothing decoded yet in $DIR/decode: run scripts/mbart50/decode.sh $1 first"
printf '%s %s\n' "$NAME" "$1"
score "$DIR/raw/test.$TARGET" "$DIR/results" "$DIR/decode" "${folders[@]}"
tidy "$DIR/results.tsv"
paper=()
[[ "$TEST" != newstest2016 ]] || paper=(--paper)
mapfile -t metrics < <(cut -f 8 "$DIR/results.tsv" | sed 1d | sort -u)
for metric in "${metrics[@]}"; do
    printf '\n%s, all directions so far\n' "$NAME"
    dcmbr table 2 "$WORK/$NAME"/*/results.tsv --where "metric=$metric" --where "utility=$UTILITY" "${paper[@]}" \
        --output "$WORK/$NAME/table-$metric.text"
    cat "$WORK/$NAME/table-$metric.text"
done
