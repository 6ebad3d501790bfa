#!/usr/bin/env bash
# Score what decode.sh has translated: sacreBLEU and chrF on detokenised text, one table for each test set.
#
#   scripts/multi30k/evaluate.sh SRC TGT LS                  for example: en de 0.1
#
# The tables are printed, and written to WORK/SRC-TGT/results/RUN/TEST.{text,json,tsv}; `dcmbr table` reads the .tsv.
# Environment: METRICS (bleu,chrf), METRIC_ARGS ({}), RUN (lsLS), WORK (work/multi30k).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/multi30k/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# == 3 ]] || usage "$0"
set_pair "$1" "$2"
RUN="${RUN:-ls$3}"
setup_venv

scored=
for test in "${TESTS[@]}"; do
    mapfile -t folders < <(decoded "$DIR/decode/$RUN/$test")
    [[ ${#folders[@]} -gt 0 ]] || continue
    printf '\n%s %s-%s, %s\n' "$test" "$SRC" "$TGT" "$RUN"
    score "$DIR/raw/$test.$TGT" "$DIR/results/$RUN/$test" "$DIR/decode/$RUN/$test" "${folders[@]}"
    tidy "$DIR/results/$RUN/$test" "$DIR/decode/$RUN/$test" "$test-$SRC-$TGT" "$(subset_of "$test")" "$RUN"
    scored=yes
done
[[ -n "$scored" ]] || die "nothing decoded yet in $DIR/decode/$RUN: run scripts/multi30k/decode.sh $* first"
