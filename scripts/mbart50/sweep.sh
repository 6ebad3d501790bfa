#!/usr/bin/env bash
# The paper's Figure 6: quality of DC-MBR with 10 samples against the temperature, for all directions swept so far.
#
#   MBART50=DIR scripts/mbart50/sweep.sh DIRECTION             for example: en-de
#
# Decodes at each of TEMPERATURES (T_h = T_r), and draws WORK/TEST/figure6-METRIC.{png,pdf}.
# Environment: TEMPERATURES (0.1 0.3 0.5 0.7 0.9 1.0), and that of decode.sh and evaluate.sh.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/mbart50/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# == 1 ]] || usage "$0"
set_direction "$1"
setup_venv plots
here="$(dirname "$0")"

for temperature in ${TEMPERATURES:-0.1 0.3 0.5 0.7 0.9 1.0}; do
    SYSTEMS=dcmbr SIZES=10 TEMP_HYP="$temperature" TEMP_REF="$temperature" bash "$here/decode.sh" "$1"
done
bash "$here/evaluate.sh" "$1" >"$DIR/results.log"
mapfile -t metrics < <(column metric "$DIR/results.tsv" | sort -u)
for metric in "${metrics[@]}"; do
    figure="$WORK/$NAME/figure6-$metric"
    dcmbr plot 6 "$WORK/$NAME"/*/results.tsv --where decoding=dcmbr --where num_hyp=10 --where "metric=$metric" \
        --where "utility=$UTILITY" --output "$figure"
    log "drawn: $figure.png"
done
