# shellcheck shell=bash
# WMT16 English-Romanian (sourced by scripts/wmt/common.sh): where the data come from, and how large the sets are.
# shellcheck disable=SC2034  # the variables are used by the scripts that source this

DATASET=wmt16
PAIRS=(en-ro)
VALID_SET=wmt16/dev # newsdev2016, by sacreBLEU's name, which fetches it and knows its checksum
TEST_SET=wmt16
# The paper scores this pair with BLEU because "its training corpus is case insensitive": all text is lowercased, and
# the references with it when scoring, for every metric. LOWERCASE= SCORE_FLAGS= keeps the case.
LOWERCASE="${LOWERCASE-1}"
SCORE_FLAGS="${SCORE_FLAGS---lowercase}"

# Training corpora, one a line: file, how to take Romanian and English out of it (see corpus_side), where it is. Their
# publishers give no checksums; the archives' own are verified.
CORPUS_LANGS=(ro en)
CORPORA="
ro-en.tgz  member:europarl-v7.ro-en.ro  member:europarl-v7.ro-en.en  https://www.statmt.org/europarl/v7
en-ro.txt.zip  zip:*.en-ro.ro  zip:*.en-ro.en  https://object.pouta.csc.fi/OPUS-SETIMES/v2/moses
"

# expected_lines PAIR SET: the official number of segments (the paper's table of data sets).
expected_lines() { echo 1999; }
