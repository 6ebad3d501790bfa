# shellcheck shell=bash
# What the Multi30k scripts agree on (sourced after lib.sh): where things lie, the test sets, how to decode.
# shellcheck disable=SC2034  # the variables are used by the scripts that source this

WORK="${WORK:-$ROOT/work/multi30k}"
MERGES="${MERGES:-4000}"
SYSTEMS="${SYSTEMS:-beam mbr dcmbr}"
BEAM_FLAGS="${BEAM_FLAGS:---beam 5}"

# set_pair SRC TGT: the folder and the test sets of a language pair. Czech has no references for 2017.
set_pair() {
    SRC="$1"
    TGT="$2"
    DIR="$WORK/$SRC-$TGT"
    TESTS=(test_2016_flickr test_2017_flickr test_2018_flickr)
    [[ "$SRC $TGT" != *cs* ]] || TESTS=(test_2016_flickr test_2018_flickr)
}

# subset_of TEST: its name in the binarised data: test, test1, test2 in the order of TESTS.
subset_of() {
    local i
    for i in "${!TESTS[@]}"; do
        [[ "${TESTS[i]}" != "$1" ]] || echo "test${i/#0/}"
    done
}
