#!/usr/bin/env bash
# Translate the Multi30k test sets with beam search, MBR and DC-MBR.
#
#   scripts/multi30k/decode.sh SRC TGT LS [TEST...]          for example: en de 0.1 test_2016_flickr
#
# Without TEST all test sets are decoded. Environment: SYSTEMS (beam mbr dcmbr), NUM (50 samples), TEMP_HYP and TEMP_REF
# (0.5), UTILITY (chrf), UTILITY_ARGS ({}), BEAM_FLAGS ("--beam 5"), SEED (1), RUN (lsLS), WORK (work/multi30k).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/multi30k/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# -ge 3 ]] || usage "$0"
set_pair "$1" "$2"
RUN="${RUN:-ls$3}"
CHECKPOINT="$DIR/checkpoints/$RUN/averaged.pt"
setup_venv

[[ $# == 3 ]] || TESTS_WANTED=("${@:4}")
for test in "${TESTS_WANTED[@]:-${TESTS[@]}}"; do
    subset="$(subset_of "$test")"
    [[ -n "$subset" ]] || die "there is no test set $test for $SRC-$TGT: give one of ${TESTS[*]}"
    for system in $SYSTEMS; do
        translate "$test" "$DIR/decode/$RUN/$test" "$DIR/bin" "$subset" "$CHECKPOINT" "$system"
    done
done
