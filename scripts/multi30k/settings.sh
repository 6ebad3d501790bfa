# shellcheck shell=bash
# What the Multi30k scripts agree on (sourced after lib.sh): where things lie and which test sets there are.
# shellcheck disable=SC2034  # the variables are used by the scripts that source this

WORK="${WORK:-$ROOT/work/multi30k}"
MERGES="${MERGES:-4000}"
SEED="${SEED:-1}"

# set_pair SRC TGT: the folder and the test sets of a language pair. Czech has no references for 2017.
set_pair() {
    SRC="$1"
    TGT="$2"
    DIR="$WORK/$SRC-$TGT"
    TESTS=(test_2016_flickr test_2017_flickr test_2018_flickr)
    [[ "$SRC $TGT" != *cs* ]] || TESTS=(test_2016_flickr test_2018_flickr)
}
