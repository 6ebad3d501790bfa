#!/usr/bin/env bash
# Score what decode.sh has translated: sacreBLEU and chrF on detokenised text, one table for each test set.
#
#   scripts/multi30k/evaluate.sh SRC TGT LS                  for example: en de 0.1
#
# The tables are printed, and written to WORK/SRC-TGT/results/lsLS/TEST.{text,tsv,json}.
# Environment: SYSTEMS (beam mbr dcmbr), METRICS (bleu,chrf), WORK (work/multi30k).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/multi30k/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# == 3 ]] || usage "$0"
set_pair "$1" "$2"
RUN="ls$3"
setup_venv

for test in "${TESTS[@]}"; do
    folders=()
    for system in $SYSTEMS; do
        [[ ! -d "$DIR/decode/$RUN/$test/$system" ]] || folders+=("$DIR/decode/$RUN/$test/$system")
    done
    [[ ${#folders[@]} -gt 0 ]] || continue
    printf '\n%s %s-%s, label smoothing %s\n' "$test" "$SRC" "$TGT" "$3"
    score "$DIR/raw/$test.$TGT" "$DIR/results/$RUN/$test" "${folders[@]}"
done
[[ -d "$DIR/results/$RUN" ]] || die "nothing decoded yet in $DIR/decode/$RUN: run scripts/multi30k/decode.sh $* first"
